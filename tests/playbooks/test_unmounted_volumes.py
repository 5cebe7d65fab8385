# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes that are not mounted, and may hold the data of members: which ones a host has, and that no member starts if one turns out to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate

POINT, DEVICE, UUID = "/var/lib/etcd", "/dev/disk/by-id/data", "0d7e4f3a"
MOUNT = f"mkdir -p {POINT} && mount {DEVICE} {POINT}"


def host(fstab: bool = False, **device: Any) -> dict[str, Any]:
    """The variables of a host with a data device, by default with an ext4 filesystem of etcd."""
    found = {"exists": True, "is_block": True, "signature": "ext4 filesystem", "label": "etcd-data", "uuid": UUID}
    found.update(mounted_at=[], was_mounted=True)
    facts = {
        "devices": {DEVICE: {**found, **device}},
        "mounts": {POINT: {"fstab": {"source": DEVICE} if fstab else None}},
    }
    return {
        "etcd_host_facts": facts,
        "etcd_storage_data_device": DEVICE,
        "etcd_storage_data_mount": POINT,
    }


BLANK = {"signature": None, "label": None, "uuid": None, "was_mounted": None}

# By case: the variables, the commands that mount used volumes, and the devices that become volumes.
CASES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "used": (host(), [MOUNT], []),
    "mounted": (host(mounted_at=[POINT]), [], []),
    # A first deployment was interrupted between mkfs and mount: it must go on.
    "never_mounted": (host(was_mounted=False), [], []),
    "never_mounted_in_fstab": (host(True, was_mounted=False), [], []),
    # XFS records nothing of the kind: what it holds is seen once it is mounted.
    "xfs": (host(was_mounted=None), [], []),
    "xfs_in_fstab": (host(True, was_mounted=None), [MOUNT], []),
    "blank": (host(**BLANK), [], [DEVICE]),
    "foreign": (host(label="precious"), [], [DEVICE]),
    "foreign_mounted": (host(label="precious", mounted_at=[POINT]), [], []),
    "missing": ({**host(), "etcd_host_facts": {"devices": {DEVICE: {"exists": False, "is_block": False}}}}, [], []),
    "none": ({**host(), "etcd_storage_data_device": ""}, [], []),
}


def test_volumes_of_a_host_that_may_hold_data(tmp_path: Path) -> None:
    expression = "[etcd_host_unmounted_volumes, etcd_host_new_devices]"
    found = evaluate(tmp_path, "etcd_host", expression, {case: given for case, (given, _old, _new) in CASES.items()})
    assert found == {case: [old, new] for case, (_given, old, new) in CASES.items()}
