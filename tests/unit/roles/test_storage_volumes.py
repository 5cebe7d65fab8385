# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which volumes role etcd_storage plans, and what it does with new filesystems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.erase_list import ETCD_LABELS

ROLES = Path(releases.__file__).parents[3] / "roles"


@pytest.mark.parametrize(
    ("settings", "volumes"),
    [
        ({}, [("data", "/var/lib/etcd/data")]),
        (
            {"etcd_storage_wal_device": "/dev/vdc"},
            [("data", "/var/lib/etcd/data"), ("wal", "/var/lib/etcd-wal/member")],
        ),
        ({"etcd_wal_dir": "/srv/log/wal"}, [("data", "/var/lib/etcd/data"), ("wal", "/srv/log")]),
        # Without a directory, the filter refuses the volume.
        ({"etcd_storage_wal_device": "/dev/vdc", "etcd_wal_dir": ""}, [("data", "/var/lib/etcd/data"), ("wal", "")]),
    ],
)
def test_planned_volumes(settings: dict[str, str], volumes: list[tuple[str, str]]) -> None:
    loader = DataLoader()
    files = (ROLES / "etcd_host" / "vars", ROLES / "etcd_storage" / "defaults", ROLES / "etcd_storage" / "vars")
    given: dict[str, Any] = {"inventory_hostname": "etcd-1"}
    for folder in files:
        given.update(loader.load_from_file(str(folder / "main.yml"), trusted_as_template=True))
    given.update(settings)
    planned = Templar(loader=loader, variables=given).template(given["_etcd_storage_wanted"])
    assert [(volume["name"], volume["directory"]) for volume in planned] == volumes
    required = Templar(loader=loader, variables=given).template(given["etcd_host_managed_mounts"])
    assert set(required) <= {volume["mount"] for volume in planned}


def task_of(name: str) -> dict[str, Any]:
    """Return a task of volumes.yml."""
    tasks = DataLoader().load_from_file(str(ROLES / "etcd_storage" / "tasks" / "volumes.yml"), trusted_as_template=True)
    [found] = [task for task in tasks if task["name"] == name]
    return dict(found)


@pytest.mark.parametrize(
    ("sources", "formatted", "reads"),
    [
        (["/dev/disk/by-id/data"], [True], False),
        (["/dev/disk/by-id/data", "UUID=(made with the filesystem)"], [True, True], True),
        # A filesystem that is there has its UUID already.
        (["/dev/disk/by-id/data", "UUID=0d7e4f3a"], [True, False], False),
    ],
)
def test_uuids_are_read_only_where_a_volume_is_mounted_by_a_new_one(
    sources: list[str], formatted: list[bool], reads: bool
) -> None:
    volumes = [{"source": source, "format": new} for source, new in zip(sources, formatted, strict=True)]
    condition = task_of("Read the UUIDs of the new filesystems")["when"][1]
    given = {"etcd_storage_plan": {"volumes": volumes}}
    assert Templar(loader=DataLoader(), variables=given).evaluate_conditional(condition) is reads


def volume(name: str, mounted: bool, attach: bool = True) -> dict[str, Any]:
    source = {"device": f"/dev/{name}", "source": f"UUID={name}", "fstype": "ext4", "options": [], "passno": "2"}
    return {"name": name, "mount": f"/srv/{name}", "mounted": mounted, "attach": attach, **source}


def storage_variables(*volumes: dict[str, Any], in_fstab: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the variables of the role, with a plan of these volumes; those that are named have an entry in fstab."""
    role = DataLoader().load_from_file(str(ROLES / "etcd_storage" / "vars" / "main.yml"), trusted_as_template=True)
    mounts = {one["mount"]: {"fstab": {"source": "UUID=old"} if one["name"] in in_fstab else None} for one in volumes}
    return {
        **role,
        "etcd_storage_plan": {"volumes": list(volumes)},
        "etcd_host_facts": {"systemd": {"running": True}, "mounts": mounts},
    }


def test_systemd_knows_another_device_before_the_volume_is_mounted() -> None:
    """Otherwise old systemd unmounts it at once (systemd issue 17487). One that is not in fstab yet is unmounted if systemd has no unit of its device."""
    tasks = DataLoader().load_from_file(str(ROLES / "etcd_storage" / "tasks" / "volumes.yml"), trusted_as_template=True)
    names = [task["name"] for task in tasks]
    order = [
        "Correct the entries in fstab of volumes that are not mounted",
        "Reload systemd for the corrected entries",
        "Mount the volumes, now and at boot",
    ]
    assert [name for name in names if name in order] == order
    write, mount = task_of(order[0]), task_of(order[2])
    entry = [
        {key: task["ansible.posix.mount"][key] for key in ("path", "src", "fstype", "opts", "passno")}
        for task in (write, mount)
    ]
    assert write["ansible.posix.mount"]["state"] == "present" and entry[0] == entry[1]
    volumes = (volume("first", False), volume("new", False), volume("changed", True), volume("same", True, False))
    given = storage_variables(*volumes, in_fstab=("new", "changed", "same"))
    templar = Templar(loader=DataLoader(), variables=given)
    looped = [[item["name"] for item in templar.template(task["loop"])] for task in (write, mount)]
    # A changed option takes effect because the second task remounts the volume.
    assert looped == [["new"], ["first", "new", "changed"]]


@pytest.mark.parametrize(
    ("one", "in_fstab", "before", "after"),
    [
        (volume("first", False), (), False, True),
        (volume("new", False), ("new",), True, True),
        (volume("changed", True), ("changed",), False, True),
        (volume("same", True, False), ("same",), False, False),
    ],
)
def test_systemd_is_reloaded_for_what_changes(
    one: dict[str, Any], in_fstab: tuple[str, ...], before: bool, after: bool
) -> None:
    templar = Templar(loader=DataLoader(), variables=storage_variables(one, in_fstab=in_fstab))
    kinds = ("corrected entries", "changed mount units")
    conditions = [task_of(f"Reload systemd for the {kind}")["when"] for kind in kinds]
    assert [templar.evaluate_conditional(condition) for condition in conditions] == [before, after]


def test_volumes_that_were_unmounted_again_are_named() -> None:
    given = storage_variables(volume("data", False), volume("wal", True))
    check = task_of("Assert that the volumes are mounted")["ansible.builtin.assert"]
    templar = Templar(loader=DataLoader(), variables={**given, "inventory_hostname": "n1"})
    assert templar.evaluate_conditional(check["that"]) is False
    said = templar.template(check["fail_msg"])
    assert "n1: the data volume at /srv/data was mounted by this run" in said and "journalctl -u '*.mount'" in said


def test_the_mount_point_of_a_new_filesystem_belongs_to_root_already() -> None:
    volumes = [{"mount": mount, "secure": True} for mount in ("/new", "/old")]
    results = [{"changed": True, "item": {"mount": "/new"}}, {"changed": False, "item": {"mount": "/old"}}]
    given = {"etcd_storage_plan": {"volumes": volumes}, "_etcd_storage_formatted": {"results": results}}
    loop = task_of("Make root the owner of the mount points")["loop"]
    assert [item["mount"] for item in Templar(loader=DataLoader(), variables=given).template(loop)] == ["/old"]


def test_the_labels_are_those_that_a_leftover_id_does_not_erase() -> None:
    variables = DataLoader().load_from_file(str(ROLES / "etcd_storage" / "vars" / "main.yml"))
    assert (variables["_etcd_storage_data"]["label"], variables["_etcd_storage_wal"]["label"]) == ETCD_LABELS
