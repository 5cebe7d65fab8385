# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a host."""

from __future__ import annotations

import hashlib
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


@pytest.mark.parametrize(("name", "there"), [("json", True), ("no_such_module", False), ("no_such.child", False)])
def test_python_modules(name: str, there: bool) -> None:
    assert host_facts.has_python_module(name) is there


def test_cgroup_version(tmp_path: Path) -> None:
    assert host_facts.cgroup_version(str(tmp_path)) is None
    (tmp_path / "systemd").mkdir()
    assert host_facts.cgroup_version(str(tmp_path)) == 1
    (tmp_path / "cgroup.controllers").touch()
    assert host_facts.cgroup_version(str(tmp_path)) == 2
