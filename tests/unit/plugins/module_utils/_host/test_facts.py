# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a host."""

from __future__ import annotations

import hashlib
import ipaddress
import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts


@pytest.mark.parametrize(
    ("text", "family", "version"),
    [
        ('ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n', "debian", "12"),
        ('ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n', "debian", "24.04"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n', "redhat", "9.4"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.6"\n', "suse", "15.6"),
        ("ID=nixos\n", None, None),
        ("", None, None),
    ],
)
def test_os_release(text: str, family: str | None, version: str | None) -> None:
    found = host_facts.parse_os_release(text)
    assert (found["family"], found["version"]) == (family, version)


FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.0.0/24 2 0 2
        |-- 10.0.0.0
           /24 link UNICAST
        |-- 10.0.0.11
           /32 host LOCAL
        |-- 10.0.0.255
           /32 link BROADCAST
     +-- 127.0.0.0/8 2 0 2
           |-- 127.0.0.1
              /32 host LOCAL
     |-- 9.9.9.9
        /32 host LOCAL
Local:
        |-- 10.0.0.11
           /32 host LOCAL
"""


def test_own_ipv4_addresses_once_each_without_loopback() -> None:
    assert host_facts.parse_fib_trie(FIB_TRIE) == ["9.9.9.9", "10.0.0.11"]


def test_own_ipv6_addresses_without_loopback_and_link_local() -> None:
    text = (
        "00000000000000000000000000000001 01 80 10 80       lo\n"
        "fe80000000000000000000000000abcd 02 40 20 80     eth0\n"
        "20010db8000000000000000000000011 02 40 00 80     eth0\n"
    )
    assert host_facts.parse_if_inet6(text) == ["2001:db8::11"]


STABLE, PRIVATE, OTHER = "2001:db8::11", "2001:db8::aaaa:bbbb", "2001:db8:1::11"


def inet6(*entries: tuple[str, int, str]) -> str:
    """The lines of /proc/net/if_inet6 for addresses, their flags and interfaces."""
    lines = [
        f"{ipaddress.IPv6Address(address).packed.hex()} 02 40 00 {flags:02x} {name:>8}\n"
        for address, flags, name in entries
    ]
    return "fe80000000000000000000000000abcd 02 40 20 80     eth0\n" + "".join(lines)


@pytest.mark.parametrize(
    ("source", "entries", "address"),
    [
        (None, [], None),
        (STABLE, [(STABLE, 0x80, "eth0")], STABLE),
        (PRIVATE, [(PRIVATE, 0x01, "eth0"), (OTHER, 0x80, "eth0"), (STABLE, 0x00, "eth0")], STABLE),
        (PRIVATE, [(PRIVATE, 0x01, "eth0"), (OTHER, 0x80, "eth0"), (STABLE, 0x20, "eth0")], OTHER),
        (PRIVATE, [(PRIVATE, 0x21, "eth0"), (STABLE, 0x40, "eth0"), (OTHER, 0x80, "eth1")], None),
        ("fd00::5", [(STABLE, 0x80, "eth0")], "fd00::5"),
    ],
)
def test_an_ipv6_address_that_lasts(
    source: str | None, entries: list[tuple[str, int, str]], address: str | None
) -> None:
    assert host_facts.lasting_ipv6(source, inet6(*entries)) == address


def test_meminfo_in_bytes() -> None:
    text = "MemTotal:       24684084 kB\nMemFree: 1 kB\nSwapTotal:             4 kB\n"
    assert host_facts.parse_meminfo(text) == {"memory_total": 24684084 * 1024, "swap_total": 4096}


def test_environment_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/environ").write_bytes(b"XHEADROOM_DIGEST=no\0HEADROOM_DIGEST=ab=c\0GOGC=50\0")
    assert host_facts.process_environment(7, "HEADROOM_DIGEST", str(tmp_path)) == "ab=c"
    assert host_facts.process_environment(7, "NONE", str(tmp_path)) is None
    assert host_facts.process_environment(8, "HEADROOM_DIGEST", str(tmp_path)) is None


def test_executable_of_this_process() -> None:
    assert host_facts.process_executable(os.getpid()) == os.path.realpath("/proc/self/exe")


def test_file_facts(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"text")
    path.chmod(0o640)
    facts = host_facts.file_facts(str(path))
    assert (facts["type"], facts["mode"], facts["size"], facts["target"]) == ("file", "0640", 4, None)
    assert facts["sha256"] == hashlib.sha256(b"text").hexdigest()
    assert host_facts.file_facts(str(path), 4)["sha256"] == facts["sha256"]
    assert host_facts.file_facts(str(path), 3)["sha256"] is None
    (tmp_path / "link").symlink_to(path)
    assert host_facts.file_facts(str(tmp_path / "link"))["target"] == str(path)
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    assert host_facts.file_facts(str(tmp_path / "dead")) == {
        "exists": False,
        "type": None,
        "target": str(tmp_path / "gone"),
    }
    assert host_facts.file_facts(str(tmp_path))["type"] == "directory"


def test_group_facts() -> None:
    assert host_facts.group_facts("root") == {"exists": True, "gid": 0}
    assert host_facts.group_facts("no-such-group") == {"exists": False}


def test_user_facts() -> None:
    assert host_facts.user_facts("root")["uid"] == 0
    assert host_facts.user_facts("no-such-user") == {"exists": False}


@pytest.mark.parametrize(("name", "there"), [("json", True), ("no_such_module", False), ("no_such.child", False)])
def test_python_modules(name: str, there: bool) -> None:
    assert host_facts.has_python_module(name) is there


def test_versions_are_folders_with_an_executable_server(tmp_path: Path) -> None:
    for name, mode in {"3.7.3": 0o755, "3.10.0": 0o755, "3.7.0-rc.1": 0o755, "3.7.0": 0o755, "3.5.1": 0o644}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "etcd").touch(mode=mode)
        (tmp_path / name / "etcd").chmod(mode)
    (tmp_path / "current").mkdir()
    (tmp_path / "3.6.0").mkdir()
    assert host_facts.installed_versions(str(tmp_path)) == ["3.7.0-rc.1", "3.7.0", "3.7.3", "3.10.0"]
    assert host_facts.installed_versions(str(tmp_path / "none")) == []
    # etcdctl before 3.6 does not show that a downgrade is enabled, and the link in /usr/local/bin may be that of an older release.
    assert host_facts.newest_program(str(tmp_path), "etcdctl") == ""
    for name in ("3.7.0", "3.7.3"):
        (tmp_path / name / "etcdctl").touch()
        (tmp_path / name / "etcdctl").chmod(0o755)
    assert host_facts.newest_program(str(tmp_path), "etcdctl") == str(tmp_path / "3.7.3" / "etcdctl")


def test_cgroup_version(tmp_path: Path) -> None:
    assert host_facts.cgroup_version(str(tmp_path)) is None
    (tmp_path / "systemd").mkdir()
    assert host_facts.cgroup_version(str(tmp_path)) == 1
    (tmp_path / "cgroup.controllers").touch()
    assert host_facts.cgroup_version(str(tmp_path)) == 2
