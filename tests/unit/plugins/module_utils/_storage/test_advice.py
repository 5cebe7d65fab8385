# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room, neighbours, rotating disks and I/O schedulers."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import advice, volumes
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.advice import advise

MIB, GIB = 1024**2, 1024**3
LOG = 7 * 64_000_000


def a_disk(**other: Any) -> dict[str, Any]:
    """A disk below a volume."""
    links = ["/dev/disk/by-id/virtio-etcd-data"]
    return {"name": "sdb", "links": links, "rotational": False, "scheduler": "none", "schedulers": ["none"], **other}


def a_host(size: int, available: int, device: dict[str, Any] | None = None, **member: Any) -> dict[str, Any]:
    """A host with its data volume mounted."""
    described = {
        "resolved": "/dev/sdb",
        "exists": True,
        "is_block": True,
        "number": "8:16",
        "size": size,
        "filesystem_size": size,
        "partitions": [],
        "holders": [],
        "swap": False,
        "busy": True,
        "read_only": False,
        "mounted_at": ["/var/lib/etcd"],
        "signature": "ext4 filesystem",
        "probe_error": None,
        "nonzero_at": None,
        "has_erased_mark": False,
        "usage": "filesystem",
        "partition_table": None,
        "fstype": "ext4",
        "label": "etcd-data",
        "uuid": "5c14",
        "links": ["/dev/disk/by-id/virtio-etcd-data"],
        "disks": [a_disk()],
        "neighbours": [],
        **(device or {}),
    }
    mount = {
        "mounted": True,
        "entries": 1,
        "number": "8:16",
        "source": "/dev/sdb",
        "mode": "0755",
        "uid": 0,
        "fstab": None,
        "size": size,
        "available": available,
    }
    return {
        "devices": {"/dev/sdb": described},
        "mounts": {"/var/lib/etcd": mount},
        "member": {"present": bool(member), "wal_dirs": ["/var/lib/etcd/data/member/wal"] if member else [], **member},
    }


DATA = {
    "name": "data",
    "device": "/dev/sdb",
    "mount": "/var/lib/etcd",
    "directory": "/var/lib/etcd/data",
    "label": "etcd-data",
    "fstype": "ext4",
    "options": ["noatime"],
    "min_size": MIB,
}


def advice_on(host: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """The advice for one data volume."""
    decided = volumes.plan_volumes(host, [DATA], "/var/lib/etcd/data", erase=asked.get("erase", []))
    return advise(host, [DATA], decided, asked)


@pytest.mark.parametrize(
    ("host", "asked", "problem", "warning"),
    [
        (a_host(16 * GIB, 15 * GIB), {"quota": 2 * GIB}, None, None),
        (a_host(16 * GIB, 15 * GIB), {"quota": "2GB"}, None, None),
        (a_host(16 * GIB, 15 * GIB), {}, None, None),
        (
            a_host(4 * GIB, 4 * GIB),
            {"quota": 2 * GIB},
            None,
            "leaves no room to defragment",
        ),
        (a_host(2 * GIB, 2 * GIB), {"quota": 2 * GIB}, None, "a full disk would stop etcd before its quota"),
        (a_host(16 * GIB, 2 * GIB, db_size=3 * GIB), {}, None, "less than the database's 3.0 GiB"),
        (a_host(16 * GIB, 12 * MIB, db_size=GIB), {}, "is full: 12.0 MiB of 16.0 GiB are free", None),
        # Without a member nothing has stopped yet.
        (a_host(16 * GIB, 12 * MIB), {"quota": GIB}, None, None),
        # The device has grown, and this run will grow the filesystem.
        (a_host(16 * GIB, 12 * MIB, {"size": 20 * GIB, "filesystem_size": 16 * GIB}, db_size=GIB), {}, None, None),
    ],
)
def test_capacity(host: dict[str, Any], asked: dict[str, Any], problem: str | None, warning: str | None) -> None:
    found = advice_on(host, **asked)
    for sentences, part in ((found["problems"], problem), (found["warnings"], warning)):
        assert len(sentences) == (1 if part else 0), sentences
        assert part is None or part in sentences[0]


def test_full_disk_names_the_fixes() -> None:
    (problem,) = advice_on(a_host(16 * GIB, 0, db_size=GIB))["problems"]
    assert "without losing acknowledged writes" in problem
    assert "'du -xsh /var/lib/etcd/*'" in problem and "make the device (/dev/sdb) larger" in problem


def test_the_log_has_to_fit_its_own_volume() -> None:
    host = a_host(GIB, GIB)
    host["mounts"]["/var/lib/etcd-wal"] = {"size": 300 * MIB, "available": 300 * MIB}
    wal = {**DATA, "name": "wal", "device": "", "mount": "/var/lib/etcd-wal", "directory": "/var/lib/etcd-wal/member"}
    decided = volumes.plan_volumes(host, [{**DATA}, wal], "/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    found = advise(host, [DATA, wal], decided, {"quota": 256 * MIB})
    assert len(found["warnings"]) == 1 and "the write-ahead log may need 427.2 MiB" in found["warnings"][0]


def test_neighbours_on_the_disk() -> None:
    users = [
        {"name": "PostgreSQL", "path": "/var/lib/postgresql", "disk": "sdb"},
        {"name": "Docker", "path": "/var/lib/docker", "disk": "sdb"},
    ]
    (warning,) = advice_on(a_host(16 * GIB, 15 * GIB, {"neighbours": users}))["warnings"]
    assert "shares disk sdb with PostgreSQL (/var/lib/postgresql), Docker (/var/lib/docker)" in warning


@pytest.mark.parametrize(("name", "warned"), [("sdb", True), ("vdb", False), ("loop3", False)])
def test_rotating_disks(name: str, warned: bool) -> None:
    found = advice_on(a_host(16 * GIB, 15 * GIB, {"disks": [a_disk(name=name, rotational=True)]}))
    assert any("rotates" in warning for warning in found["warnings"]) is warned
    assert any("as most virtual disks do" in note for note in found["notes"]) is not warned


@pytest.mark.parametrize(
    ("scheduler", "text"),
    [("none", "it ignores priorities"), ("mq-deadline", "neither their levels"), ("bfq", "honours I/O class")],
)
def test_current_scheduler_is_explained(scheduler: str, text: str) -> None:
    found = advice_on(a_host(16 * GIB, 15 * GIB, {"disks": [a_disk(scheduler=scheduler)]}))
    assert found["scheduler"] == {"rules": "", "pending": []}
    assert f"I/O scheduler {scheduler}, unchanged" in found["notes"][0] and text in found["notes"][0]


@pytest.mark.parametrize(
    ("links", "match"),
    [
        (["/dev/disk/by-id/virtio-etcd-data"], 'SYMLINK=="disk/by-id/virtio-etcd-data"'),
        (["/dev/disk/by-path/pci-0"], 'SYMLINK=="disk/by-path/pci-0"'),
        (["/dev/disk/by-uuid/5c14"], 'ENV{ID_FS_UUID}=="5c14"'),
        # Created by rules that run after the role's.
        (
            ["/dev/disk/by-id/google-etcd-data", "/dev/disk/by-id/scsi-0Google_PersistentDisk_etcd-data"],
            'SYMLINK=="disk/by-id/scsi-0Google_PersistentDisk_etcd-data"',
        ),
        (["/dev/disk/by-id/lvm-pv-uuid-Zy9a", "/dev/disk/by-path/pci-0"], 'SYMLINK=="disk/by-path/pci-0"'),
    ],
)
def test_udev_rule_for_a_scheduler(links: list[str], match: str) -> None:
    found = advice_on(a_host(16 * GIB, 15 * GIB, {"disks": [a_disk(links=links)]}), scheduler="bfq")
    head, rule, end = found["scheduler"]["rules"].split("\n")
    assert head.startswith("# Managed by") and end == "" and match in rule
    assert rule.endswith('ATTR{queue/scheduler}="bfq"') and found["scheduler"]["pending"] == ["sdb"]
    done = advice_on(a_host(16 * GIB, 15 * GIB, {"disks": [a_disk(links=links, scheduler="bfq")]}), scheduler="bfq")
    assert done["scheduler"]["rules"] == found["scheduler"]["rules"] and done["scheduler"]["pending"] == []


def test_scheduler_without_a_device_has_no_effect() -> None:
    """The disk below may be that of the operating system."""
    host = a_host(16 * GIB, 15 * GIB)
    host["mounts"]["/var/lib/etcd"]["disks"] = [a_disk()]
    unnamed = {**DATA, "device": ""}
    decided = volumes.plan_volumes(host, [unnamed], "/var/lib/etcd/data")
    found = advise(host, [unnamed], decided, {"scheduler": "bfq"})
    assert found["scheduler"] == {"rules": "", "pending": []} and found["problems"] == []
    assert found["warnings"][-1].startswith(
        "etcd_storage_scheduler is bfq, but the scheduler below /var/lib/etcd stays unchanged, because etcd_storage_data_device is empty"
    )
    assert not any("etcd_storage_scheduler" in warning for warning in advise(host, [unnamed], decided, {})["warnings"])


@pytest.mark.parametrize("links", [[], ["/dev/disk/by-id/google-etcd-data"]])
def test_disk_without_a_stable_name_has_no_rule(links: list[str]) -> None:
    found = advice_on(a_host(16 * GIB, 15 * GIB, {"disks": [a_disk(links=links)]}), scheduler="bfq")
    assert found["scheduler"] == {"rules": "", "pending": []}
    assert "disk sdb has no stable name below /dev/disk" in found["problems"][0]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"scheduler": "cfq"}, "etcd_storage_scheduler"),
        ({"fsync_p99_max_ms": 0}, "etcd_storage_fsync_p99_max_ms"),
        ({"fsync_p99_max_ms": "fast"}, "etcd_storage_fsync_p99_max_ms"),
        ({"fsync_p99_max_ms": float("nan")}, "etcd_storage_fsync_p99_max_ms"),
        ({"check_seconds": 0}, "etcd_storage_check_seconds"),
        ({"check_seconds": "soon"}, "etcd_storage_check_seconds"),
        ({"check_seconds": "²"}, "etcd_storage_check_seconds"),
    ],
)
def test_invalid_settings(asked: dict[str, Any], name: str) -> None:
    (problem,) = advice.setting_problems(asked)
    assert problem.startswith(name)


def test_id_to_erase_that_remains_in_the_inventory() -> None:
    found = advice_on(a_host(16 * GIB, 15 * GIB), erase=["/dev/disk/by-id/virtio-etcd-data"])
    assert "etcd_storage_erase_devices still names /dev/disk/by-id/virtio-etcd-data" in found["warnings"][0]


def test_pending_wal_move_is_announced() -> None:
    host = a_host(16 * GIB, 15 * GIB, db_size=1)
    decided = volumes.plan_volumes(host, [DATA], "/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    found = advise(host, [DATA], decided, {})
    assert "moves from /var/lib/etcd/data/member/wal to /var/lib/etcd-wal/member/wal" in found["notes"][0]


@pytest.mark.parametrize(
    ("fstype", "device", "present", "enabled", "refused"),
    [
        ("overlay", "", False, True, True),
        ("tmpfs", "", False, True, True),
        ("overlay", "", False, False, False),
        # It is not measured again.
        ("overlay", "", True, True, False),
        # The volume is not mounted yet.
        ("overlay", "/dev/sdb", False, True, False),
        ("ext4", "", False, True, False),
        (None, "", False, True, False),
    ],
)
def test_container_without_a_volume_is_refused_before_it_is_changed(
    fstype: str | None, device: str, present: bool, enabled: bool, refused: bool
) -> None:
    host = a_host(16 * GIB, 15 * GIB)
    host["mounts"]["/var/lib/etcd"]["fstype"] = fstype
    host["member"]["present"] = present
    asked = {**DATA, "device": device}
    decided = volumes.plan_volumes(host, [asked], "/var/lib/etcd/data")
    problems = advise(host, [asked], decided, {"check_enabled": enabled})["problems"]
    if refused:
        (problem,) = problems
        assert problem.startswith(f"/var/lib/etcd is on {fstype}, which is ") and problem.endswith(
            "Name a device in etcd_storage_data_device, set etcd_storage_data_mount to the mount point of a volume, or set "
            "etcd_storage_check_enabled: false."
        )
    else:
        assert problems == []
