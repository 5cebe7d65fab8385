# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit or container of a process, and the effect of a priority with the schedulers of its disks."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import owners

ID = "4c0f" * 16
# /proc/PID/cgroup -> kind, unit, container
OWNERS = {
    "unit, v2": ("0::/system.slice/etcd.service\n", ("service", "etcd.service", "")),
    "unit, hybrid": (
        "7:blkio:/system.slice/etcd.service\n1:name=systemd:/system.slice/etcd.service\n0::/\n",
        ("service", "etcd.service", ""),
    ),
    "instance of a template": (
        "0::/system.slice/system-etcd.slice/etcd@a.service\n",
        ("service", "etcd@a.service", ""),
    ),
    "unit of a user": (
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/etcd.service\n",
        ("other", "etcd.service", ""),
    ),
    "login": ("0::/user.slice/user-0.slice/session-3.scope\n", ("other", "session-3.scope", "")),
    "docker, systemd": (f"0::/system.slice/docker-{ID}.scope\n", ("container", f"docker-{ID}.scope", ID)),
    "docker, cgroupfs": (f"0::/docker/{ID}\n", ("container", "", ID)),
    "podman": (f"0::/machine.slice/libpod-{ID}.scope/container\n", ("container", f"libpod-{ID}.scope", ID)),
    "unit within a container": (
        f"1:name=systemd:/libpod_parent/libpod-{ID}/system.slice/etcd.service\n",
        ("service", "etcd.service", ID),
    ),
    "pod, systemd": (
        f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podab12.slice/cri-containerd-{ID}.scope\n",
        ("pod", f"cri-containerd-{ID}.scope", ID),
    ),
    "pod, cgroupfs": (f"0::/kubepods/burstable/podab12/{ID}\n", ("pod", "", ID)),
    "pod below containerd": (
        f"0::/system.slice/containerd.service/kubepods-burstable-podab12.slice:cri-containerd:{ID}\n",
        ("pod", "", ID),
    ),
    "root group": ("0::/\n", ("other", "", "")),
    "no control groups": ("", ("other", "", "")),
}


@pytest.mark.parametrize("case", OWNERS)
def test_home(case: str) -> None:
    text, expected = OWNERS[case]
    owner = owners.parse_owner(text)
    assert (owner.kind, owner.unit, owner.container) == expected


MD5 = "f11e314508a00e4ea9bf37d76b82b162"
UUID = "0b0a7d6c-3c0f-4a51-9d3e-5f1c2b7a9e84"


@pytest.mark.parametrize(
    ("path", "pod"),
    [
        (
            f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{MD5}.slice/cri-containerd-{ID}.scope",
            "static",
        ),
        (f"/kubepods/burstable/pod{MD5}/{ID}", "static"),
        (f"/kubepods.slice/kubepods-pod{UUID.replace('-', '_')}.slice/crio-{ID}.scope", "api"),
        (f"/kubepods/besteffort/pod{UUID}/{ID}", "api"),
        (
            f"/system.slice/containerd.service/kubepods-burstable-pod{UUID.replace('-', '_')}.slice:cri-containerd:{ID}",
            "api",
        ),
        (f"/docker/{ID}", ""),
        ("/system.slice/etcd.service", ""),
    ],
)
def test_static_pods_and_those_of_the_api(path: str, pod: str) -> None:
    assert owners.parse_owner(f"0::{path}\n").pod == pod


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("unit, v2", "etcd.service"),
        ("unit within a container", "etcd.service of container 4c0f4c0f4c0f"),
        ("docker, systemd", "container 4c0f4c0f4c0f"),
        ("pod, cgroupfs", "container 4c0f4c0f4c0f"),
        ("root group", "/"),
        ("no control groups", "no control group"),
    ],
)
def test_home_in_words(case: str, text: str) -> None:
    assert str(owners.parse_owner(OWNERS[case][0])) == text


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("unit, v2", "etcd.service sets it again at each start if a drop-in"),
        ("docker, cgroupfs", "does not persist: container 4c0f4c0f4c0f"),
        ("pod, cgroupfs", "does not persist: the pod's container 4c0f4c0f4c0f"),
        ("login", "does not persist: the process is not the main process of a unit"),
    ],
)
def test_lasting(case: str, text: str) -> None:
    assert text in owners.describe_persistence(owners.parse_owner(OWNERS[case][0]))


def test_a_unit_within_a_container_seen_from_outside() -> None:
    owner = owners.parse_owner(OWNERS["unit within a container"][0])
    seen = replace(owner, kind="container")
    assert owners.describe_persistence(seen).startswith("It persists if etcd.service of container 4c0f4c0f4c0f sets it")


def disk(name: str, scheduler: str | None) -> dict[str, Any]:
    return {"volume": "data", "disk": name, "scheduler": scheduler}


@pytest.mark.parametrize(
    ("scheduler", "io_class", "ignored", "text"),
    [
        ("bfq", "best-effort", False, "bfq on sda honours the I/O priority within a control group"),
        ("mq-deadline", "best-effort", True, "mq-deadline on sda distinguishes only I/O classes: best-effort"),
        ("mq-deadline", "idle", False, "mq-deadline on sda honours the class idle."),
        ("none", "best-effort", True, "The I/O scheduler none on sda ignores I/O priorities"),
        ("kyber", "idle", True, "The I/O scheduler kyber on sda ignores I/O priorities"),
        (None, "best-effort", False, "of etcd's data volume is not visible"),
    ],
)
def test_effect(scheduler: str | None, io_class: str, ignored: bool, text: str) -> None:
    found = [disk("sda", scheduler)]
    assert owners.ignores_io_class(found, io_class) is ignored
    assert [text in sentence for sentence in owners.describe_effects(found, io_class)] == [True]


def test_effect_of_two_disks() -> None:
    found = [disk("sda", "none"), {**disk("sda", "none"), "volume": "wal"}, disk("sdb", "bfq")]
    assert len(owners.describe_effects(found, "best-effort")) == 2
    assert owners.ignores_io_class(found, "best-effort") is False
    assert owners.ignores_io_class([], "best-effort") is False and owners.describe_effects([], "best-effort") == []


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """dm-0 (LVM) over a partition of vda and the whole of vdb."""
    devices = {
        "devices/vda": {"dev": "8:0", "queue/scheduler": "none [mq-deadline] bfq"},
        "devices/vda/vda2": {"dev": "8:2", "partition": "2"},
        "devices/vdb": {"dev": "8:16", "queue/scheduler": "[none] bfq"},
        "devices/dm-0": {"dev": "253:0", "slaves/vda2": "", "slaves/vdb": "", "queue/scheduler": "none"},
        "devices/md126": {"dev": "9:126", "slaves/vda": "", "slaves/vdb": "", "queue/scheduler": "none"},
        "devices/md126/md126p3": {"dev": "259:3", "partition": "3"},
    }
    for folder, files in devices.items():
        for name, text in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        device = tmp_path / folder
        for link in (tmp_path / "dev/block" / files["dev"], tmp_path / "class/block" / device.name):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(device)
    return tmp_path


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("8:0", [("vda", "mq-deadline")]),
        ("8:2", [("vda", "mq-deadline")]),
        ("253:0", [("vda", "mq-deadline"), ("vdb", "none")]),
        ("259:3", [("vda", "mq-deadline"), ("vdb", "none")]),
        ("0:42", [(None, None)]),
    ],
)
def test_bottom(sysfs: Path, number: str, expected: list[tuple[str | None, str | None]]) -> None:
    assert owners.physical_disks(number, str(sysfs)) == expected


def test_disks_of_open_files(sysfs: Path, tmp_path: Path) -> None:
    """The disks are found by open files, whatever their paths are in the process's mounts."""
    folder = tmp_path / "etcd" / "member"
    fds = tmp_path / "proc" / "7" / "fd"
    for directory in (folder / "snap", folder / "wal", fds):
        directory.mkdir(parents=True)
    for number, name in enumerate(("snap/db", "wal/0000000000000000-0000000000000000.wal", "wal/0.tmp")):
        (folder / name).write_text("")
        (fds / str(number)).symlink_to(folder / name)
    (fds / "9").symlink_to("socket:[1]")
    device = os.stat(folder).st_dev
    link = sysfs / "dev/block" / f"{os.major(device)}:{os.minor(device)}"
    link.symlink_to(sysfs / "devices/vdb")
    found = owners.etcd_disks(7, str(tmp_path / "proc"), str(sysfs))
    assert found == [{"volume": name, "disk": "vdb", "scheduler": "none"} for name in ("data", "wal")]
    assert owners.etcd_disks(8, str(tmp_path / "proc"), str(sysfs)) == []


def test_find_by_name(tmp_path: Path) -> None:
    for pid, name in ((30, "etcd"), (4, "etcd"), (5, "etcdctl"), (6, "kworker/0:1")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "comm").write_text(f"{name}\n")
        (tmp_path / str(pid) / "cmdline").write_text(f"/opt/{name}\0--name\0a\0")
        (tmp_path / str(pid) / "cgroup").write_text("0::/system.slice/a.service\n")
    (tmp_path / "self").mkdir()
    found = owners.find_by_name("etcd", str(tmp_path))
    assert [(item.pid, item.command, item.owner.unit) for item in found] == [
        (4, "/opt/etcd --name a", "a.service"),
        (30, "/opt/etcd --name a", "a.service"),
    ]
    assert owners.find_by_name("etcdctl-of-somebody", str(tmp_path)) == []


def test_shares_pid_namespace() -> None:
    assert owners.shares_pid_namespace(os.getpid())
    assert not owners.shares_pid_namespace(1 << 30), "nobody has this number"
