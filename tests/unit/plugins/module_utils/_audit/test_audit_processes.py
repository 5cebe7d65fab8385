# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of a host from a tree of files like /proc."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.processes import describe_processes
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import server_certificate
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.server_certificate import Validity

ID = "5a" * 32
CONTAINER = f"0::/system.slice/docker-{ID}.scope\n"
POD = f"0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-{ID}.scope\n"
UNIT = "0::/system.slice/etcd.service\n"
STATUS = "VmSize:\t 900 kB\nVmHWM:\t 300 kB\nVmRSS:\t 200 kB\nRssAnon:\t 90 kB\n"


def add(root: Path, pid: int, comm: str, words: list[str], cgroup: str = UNIT) -> Path:
    """Add a process, whose own root is a folder with a data directory and a text file in place of a certificate."""
    folder = root / "proc" / str(pid)
    (folder / "root" / "data").mkdir(parents=True)
    (folder / "root" / "server.crt").write_text("nothing")
    (folder / "cwd").symlink_to("/")
    texts = {"comm": comm, "status": STATUS, "stat": f"{pid} ({comm}) S" + " 0" * 30, "cgroup": cgroup}
    texts.update(cmdline="".join(f"{word}\0" for word in words), environ="ETCD_CERT_FILE=/server.crt\0HOME=/root\0")
    texts["mountinfo"] = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("cgroup", "supervisor"),
    [
        (UNIT, {"kind": "service", "unit": "etcd.service", "container": "", "engine": "", "pod": ""}),
        (
            CONTAINER,
            {"kind": "container", "unit": f"docker-{ID}.scope", "container": ID[:12], "engine": "docker", "pod": ""},
        ),
        (
            POD,
            {
                "kind": "pod",
                "unit": f"cri-containerd-{ID}.scope",
                "container": ID[:12],
                "engine": "containerd",
                "pod": "static",
            },
        ),
        ("0::/\n", {"kind": "process", "unit": "", "container": "", "engine": "", "pod": ""}),
    ],
)
def test_a_process_is_described_with_its_supervisor(tmp_path: Path, cgroup: str, supervisor: dict[str, str]) -> None:
    add(tmp_path, 7, "etcd", ["etcd", "--data-dir=/data", "--advertise-client-urls=http://a:1, http://b:1"], cgroup)
    (found,) = describe_processes(str(tmp_path))
    assert found["supervisor"] == supervisor
    assert (found["name"], found["client_urls"], found["problem"]) == ("default", ["http://a:1", "http://b:1"], "")
    assert found["memory"]["rss_anon"] == 90 * 1024 and found["memory"]["memory_limit"] is None
    assert found["disks"]["data"]["path"] == "/data" and found["disks"]["data"]["fstype"] == "ext4"
    assert found["environment"] == {"ETCD_CERT_FILE": "/server.crt"}
    problem = "it contains no certificate in PEM form"
    file = {
        "flag": "cert-file",
        "path": "/server.crt",
        "days_left": None,
        "not_after": None,
        "valid_from": None,
        "problem": problem,
    }
    assert found["certificates"] == [file]


def test_a_bundle_counts_by_what_the_flag_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain is valid until its first end, trusted CAs until the last one."""
    ends = {"old": 1e9, "new": 4e9}
    monkeypatch.setattr(server_certificate, "parse_der", lambda der: Validity(0.0, ends[der.decode()], []))
    monkeypatch.setattr(server_certificate.ssl, "PEM_cert_to_DER_cert", lambda text: text.split()[2].encode())
    monkeypatch.setattr(server_certificate, "_PEM", re.compile("begin certificate (?:old|new)"))
    flags = ["cert-file", "trusted-ca-file", "peer-cert-file", "peer-trusted-ca-file"]
    folder = add(tmp_path, 7, "etcd", ["etcd", *(f"--{flag}=/bundle.crt" for flag in flags)])
    (folder / "root" / "bundle.crt").write_text("begin certificate new\nbegin certificate old\n")
    (found,) = describe_processes(str(tmp_path))
    ended = {one["flag"]: one["days_left"] < 0 for one in found["certificates"]}
    assert ended == {flag: "trusted" not in flag for flag in flags}


def test_other_processes_and_those_that_end_are_left_out(tmp_path: Path) -> None:
    add(tmp_path, 7, "postgres", ["postgres"])
    add(tmp_path, 8, "etcd", [])
    (add(tmp_path, 9, "etcd", ["etcd"]) / "status").unlink()
    assert describe_processes(str(tmp_path)) == []


def test_a_data_directory_that_is_gone_has_no_disk(tmp_path: Path) -> None:
    add(tmp_path, 7, "etcd", ["etcd", "--name=m0", "--wal-dir=/wal"])
    (found,) = describe_processes(str(tmp_path))
    assert found["disks"] == {} and found["name"] == "m0"
