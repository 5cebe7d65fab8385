# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which volumes role etcd_storage plans: all that etcd's unit requires to be mounted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

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
