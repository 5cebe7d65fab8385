# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of the timers that role etcd_maintenance passes to the report."""

from __future__ import annotations

from pathlib import Path

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd_maintenance"
FAILURE = {"at": "2026-11-22T01:00:00Z", "result": "exit-code, status 226"}
FOUND: dict[str, dict[str, str]] = {"snapshot": FAILURE, "drill": FAILURE, "defrag": {}, "integrity": {}}


def test_failure_of_a_service_is_part_of_the_record() -> None:
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True),
        "_etcd_maintenance_wanted": {f"headroom-{name}.timer": name != "drill" for name in FOUND},
        "etcd_host_facts": {
            "etcd": {"maintenance": {"defrag": {"result": "done"}, "drill": {"result": "done"}}},
            "maintenance": {
                "timers": {f"headroom-{name}.timer": {"failure": failure} for name, failure in FOUND.items()},
                "intervals": {"snapshot": 86400},
            },
        },
    }
    assert Templar(loader=loader, variables=given).template(given["_etcd_maintenance_records"]) == {
        "snapshot": {"failure": FAILURE, "interval": 86400},
        "defrag": {"result": "done"},
        "integrity": {},
    }
