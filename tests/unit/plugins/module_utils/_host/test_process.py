# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process as the kernel sees it: files captured from etcd 3.7.3 in a sandboxed unit on a hybrid host, and our own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import cgroup, process
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts

PROC = Path(__file__).parent.parent / "fixtures" / "proc"
PID = 685
GROUP = "sys/fs/cgroup/memory/libpod_parent/libpod-685be6c98708/system.slice/etcd.service"


def mounts(name: str) -> list[host_mounts.Mount]:
    return host_mounts.parse_mountinfo((PROC / name).read_text())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The captured /proc, and the memory controller's files of a unit with MemoryMax=300M."""
    folder = tmp_path / "proc" / str(PID)
    (folder / "task").mkdir(parents=True)
    (tmp_path / "proc" / "self").mkdir()
    for name in ("status", "stat", "environ", "cgroup", "mountinfo"):
        shutil.copy(PROC / name, folder / name)
    shutil.copy(PROC / "self_mountinfo", tmp_path / "proc" / "self" / "mountinfo")
    files(
        tmp_path / GROUP,
        {
            "memory.limit_in_bytes": "314572800\n",
            "memory.usage_in_bytes": "8081408\n",
            "memory.max_usage_in_bytes": "8499200\n",
            "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            "memory.stat": "cache 40960\nhierarchical_memory_limit 209715200\nhierarchical_memsw_limit 9\n",
        },
    )
    return tmp_path


def files(folder: Path, contents: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        (folder / name).write_text(text)


def test_read_process(root: Path) -> None:
    found = process.read_process(root, PID)
    assert found is not None
    expected: dict[str, Any] = {
        "pid": PID,
        "nice": -5,
        "swap": 0,
        "locked": 0,
        "memory_limit": 209715200,
        "memory_high": None,
        "memory_current": 8081408,
        "memory_peak": 8499200,
        "oom_kills": 2,
        "cgroup": f"/{GROUP}",
        "environment": {"GOMEMLIMIT": "200MiB"},
        "digest": "d2",
        "threads": [],
        "io_classes": {},
    }
    assert {name: found[name] for name in expected} == expected
    assert found["rss"] == found["rss_anon"] + found["rss_file"] + found["rss_shmem"]
    assert found["rss_peak"] >= found["rss"] > 20_000_000


def test_a_process_that_ended(root: Path) -> None:
    assert process.read_process(root, PID + 1) is None


def test_a_process_that_is_ending() -> None:
    ending = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ending.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert Path(f"/proc/{ending.pid}/status").exists(), "nobody has asked for its exit status yet"
        assert process.read_process(Path("/"), ending.pid) is None
    finally:
        ending.wait()


def test_own_process() -> None:
    found = process.read_process(Path("/"), os.getpid())
    assert found is not None
    assert found["rss"] > 0
    assert os.getpid() in [thread["tid"] for thread in found["threads"]]
    assert sum(found["io_classes"].values()) == len(found["threads"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, ("none", None)),
        (1 << 13, ("realtime", 0)),
        ((2 << 13) + 7, ("best-effort", 7)),
        (3 << 13, ("idle", None)),
        ((2 << 13) + (5 << 3) + 4, ("best-effort", 4)),
    ],
)
def test_decode_io_priority(value: int, expected: tuple[str, int | None]) -> None:
    assert process.decode_io_priority(value) == expected


def test_count_io_classes() -> None:
    threads = [{"tid": tid, "io_class": "best-effort", "io_level": 0} for tid in range(14)]
    threads += [{"tid": 20, "io_class": "none", "io_level": None}]
    assert list(process.count_io_classes(threads).items()) == [("best-effort/0", 14), ("none", 1)]


@pytest.mark.parametrize(
    ("stat", "nice"), [("1 (a) b) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 -5 7 0", -5), ("1 (x) S", None)]
)
def test_nice(stat: str, nice: int | None) -> None:
    assert process.parse_nice(stat) == nice


def test_a_sandbox_does_not_hide_the_mount_point(root: Path) -> None:
    inside = host_mounts.mount_of("/var/lib/etcd/data", mounts("mountinfo"))
    assert inside is not None
    assert (inside.mountpoint, inside.root) == ("/var/lib/etcd/data", "/data")
    assert process.read_mounts(root, PID, {"data": "/var/lib/etcd/data"}) == {
        "data": {
            "path": "/var/lib/etcd/data",
            "mountpoint": "/var/lib/etcd",
            "device": "/dev/loop13",
            "fstype": "ext4",
        }
    }


def test_a_mount_that_the_process_does_not_see() -> None:
    before = [mount for mount in mounts("mountinfo") if mount.fstype != "ext4"]
    found = host_mounts.describe("/var/lib/etcd/data", before, mounts("self_mountinfo"))
    assert found is not None
    assert (found["mountpoint"], found["fstype"]) == ("/", "overlay")
    assert host_mounts.describe("/data", [], mounts("self_mountinfo")) is None


V2 = "36 24 0:31 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.mark.parametrize(
    ("parent", "parent_high", "own", "limit", "high", "parent_limit"),
    [
        ("max", "max", "max", None, None, None),
        ("max", "max", "1000", 1000, None, None),
        ("500", "max", "1000", 500, None, 500),
        ("500", "max", "max", 500, 400, 500),
        ("500", "450", "1000", 500, 400, 450),
        ("max", "450", "1000", 1000, 400, 450),
    ],
)
def test_cgroup_v2(
    tmp_path: Path,
    parent: str,
    parent_high: str,
    own: str,
    limit: int | None,
    high: int | None,
    parent_limit: int | None,
) -> None:
    files(tmp_path / "proc" / "7", {"cgroup": "0::/system.slice/etcd.service\n"})
    files(tmp_path / "proc" / "self", {"mountinfo": V2})
    slice_ = tmp_path / "sys/fs/cgroup/system.slice"
    files(slice_, {"memory.max": parent, "memory.high": parent_high})
    files(
        slice_ / "etcd.service",
        {
            "memory.max": own,
            "memory.high": str(high or "max"),
            "memory.current": "70",
            "memory.peak": "90",
            "memory.events": "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 0\n",
        },
    )
    assert cgroup.read_memory_cgroup(tmp_path, 7) == {
        "version": 2,
        "path": "/sys/fs/cgroup/system.slice/etcd.service",
        "limit": limit,
        "high": high,
        "parent_limit": parent_limit,
        "current": 70,
        "peak": 90,
        "oom_kills": 4,
    }


def test_no_limit_in_v1(root: Path) -> None:
    files(root / GROUP, {"memory.limit_in_bytes": "9223372036854771712\n", "memory.stat": ""})
    assert cgroup.read_memory_cgroup(root, PID)["limit"] is None


def test_no_memory_controller(tmp_path: Path) -> None:
    files(tmp_path / "proc" / "7", {"cgroup": "0::/\n"})
    files(tmp_path / "proc" / "self", {"mountinfo": V2})
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    assert set(cgroup.read_memory_cgroup(tmp_path, 7).values()) == {None}
    assert set(cgroup.read_memory_cgroup(tmp_path, 8).values()) == {None}


@pytest.mark.parametrize(
    ("mount_root", "path", "below"),
    [
        ("/", "/system.slice/etcd.service", "system.slice/etcd.service"),
        ("/docker/1", "/docker/1/system.slice/etcd.service", "system.slice/etcd.service"),
        ("/docker/1", "/system.slice/etcd.service", "system.slice/etcd.service"),
        ("/..", "/system.slice", "system.slice"),
    ],
)
def test_find_memory_cgroup(mount_root: str, path: str, below: str) -> None:
    mount = host_mounts.Mount("0:31", mount_root, "/sys/fs/cgroup", "cgroup2", "cgroup2", "rw")
    assert cgroup.find_memory_cgroup(f"0::{path}\n", [mount]) == [(2, "/sys/fs/cgroup", below)]
