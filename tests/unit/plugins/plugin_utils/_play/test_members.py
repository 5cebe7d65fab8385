# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members for the update order and for the report, by the variables of their hosts."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.members import report_member, update_candidate
from jinja2 import StrictUndefined


def answer(ok: bool = True, *members: dict[str, Any]) -> dict[str, Any]:
    return {"cluster": {"quorum": {"ok": ok}, "members": list(members)}}


LEADER = {"name": "etcd-1", "healthy": True, "role": "leader"}
OTHER = {"name": "etcd-2", "healthy": True, "role": "follower"}
GOOD, ALONE = answer(True, OTHER, LEADER), answer(False)


def host(*answers: Any, membership: Any = None, **variables: Any) -> dict[str, Any]:
    """Return the variables of host n1, whose member is etcd-1. answers: its first answer, GOOD if it is not given."""
    etcd = answers[0] if answers else GOOD
    return {
        "inventory_hostname": "n1",
        "etcd_member": {"cluster": "north", "name": "etcd-1"},
        "etcd_clusters": {"north": {"state": "existing", **({"membership": membership} if membership else {})}},
        "etcd_host_facts": {"etcd": etcd, "unit": {"active_state": "active"}},
        "_etcd_differences": {"changes": True},
        "etcd_plan": {"memory_max": 1},
        **variables,
    }


CANDIDATE = {
    "host": "n1",
    "cluster": "north",
    "state": "existing",
    "changes": True,
    "down": False,
    "healthy": True,
    "leads": True,
    "quorum": True,
    "later": False,
    "joins": 0,
}
SILENT = {"healthy": False, "leads": False, "quorum": False}


@pytest.mark.parametrize(
    ("variables", "changed"),
    [
        (host(), {}),
        (host(answer(True, OTHER)), {"healthy": False, "leads": False}),
        (host(answer(True, {**LEADER, "role": "follower"})), {"leads": False}),
        # The second answer counts if the first has no quorum.
        (host(ALONE, _etcd_observed=GOOD), {}),
        (host(None, _etcd_observed=GOOD), {}),
        (host(GOOD, _etcd_observed=ALONE), {}),
        (host(ALONE), SILENT),
        (host(None), SILENT),
        (host(ALONE, _etcd_observed={"skipped": True}), SILENT),
        (
            host(
                etcd_host_facts={"etcd": None, "unit": {"active_state": "failed"}}, _etcd_differences={"changes": False}
            ),
            {**SILENT, "down": True, "changes": False},
        ),
        (host(etcd_restore_start_later=["n1"]), {"later": True}),
        (host(etcd_restore_start_later=["n2"]), {}),
        (host(etcd_restore_start_later=StrictUndefined(name="later")), {}),
        (host(membership={"joins": {"n3": {}, "n1": {}}}), {"joins": 2}),
        (host(membership={"joins": {"n3": {}}}), {}),
        (host(membership={"removes": []}), {}),
    ],
)
def test_candidates_of_an_update(variables: dict[str, Any], changed: dict[str, Any]) -> None:
    assert update_candidate(variables) == {**CANDIDATE, **changed}


REPORTED = {
    "host": "n1",
    "cluster": "north",
    "name": "etcd-1",
    "info": GOOD,
    "plan": {"memory_max": 1},
    "fio": {},
    "live": {},
    "maintenance": {},
    "certificates": {},
    "warnings": [],
    "notes": [],
}


@pytest.mark.parametrize(
    ("variables", "changed"),
    [
        (host(), {}),
        (host(None), {"info": {}}),
        (host(answer(False, OTHER), _etcd_observed=GOOD), {"info": answer(False, OTHER)}),
        (host(ALONE, _etcd_observed=GOOD), {}),
        (host(ALONE), {"info": ALONE}),
        (
            host(etcd_host_facts={"etcd": GOOD, "disk_live": {"wal": 1}, "certificates": {"ca": {}}}),
            {"live": {"wal": 1}, "certificates": {"ca": {}}},
        ),
        (host(etcd_storage_latencies={"data": {"p99_us": 900}}), {"fio": {"data": {"p99_us": 900}}}),
        (
            host(
                etcd_storage_plan={"warnings": ["slow"], "notes": ["one volume"]},
                etcd_maintenance_messages={"warnings": ["no backup"], "notes": [], "records": {"backup": 1}},
            ),
            {"warnings": ["slow", "no backup"], "notes": ["one volume"], "maintenance": {"backup": 1}},
        ),
        (host(etcd_storage_plan={}, etcd_maintenance_messages={"notes": ["n"]}), {"notes": ["n"]}),
    ],
)
def test_members_of_the_report(variables: dict[str, Any], changed: dict[str, Any]) -> None:
    assert report_member(variables) == {**REPORTED, **changed}
