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


def test_the_mount_point_of_a_new_filesystem_belongs_to_root_already() -> None:
    volumes = [{"mount": mount, "secure": True} for mount in ("/new", "/old")]
    results = [{"changed": True, "item": {"mount": "/new"}}, {"changed": False, "item": {"mount": "/old"}}]
    given = {"etcd_storage_plan": {"volumes": volumes}, "_etcd_storage_formatted": {"results": results}}
    loop = task_of("Give the mount points to root alone")["loop"]
    assert [item["mount"] for item in Templar(loader=DataLoader(), variables=given).template(loop)] == ["/old"]


def test_the_labels_are_those_that_a_leftover_id_does_not_erase() -> None:
    variables = DataLoader().load_from_file(str(ROLES / "etcd_storage" / "vars" / "main.yml"))
    assert (variables["_etcd_storage_data"]["label"], variables["_etcd_storage_wal"]["label"]) == ETCD_LABELS
    host = DataLoader().load_from_file(str(ROLES / "etcd_host" / "vars" / "main.yml"))
    assert tuple(host["_etcd_host_labels"]) == ETCD_LABELS
