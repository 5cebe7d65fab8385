# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which members check mode takes as healthy: those that the run would have repaired before it changes another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate


def repaired(updated: list[str], **more: Any) -> dict[str, Any]:
    return {
        "_etcd_updated": updated,
        "_etcd_expired_hosts": [],
        "_etcd_unrestarted_hosts": [],
        "_etcd_membership": {},
        "etcd_name": "m3",
        "etcd_cluster": {
            "members": {f"h{number}": {"host": f"h{number}", "name": f"m{number}"} for number in (1, 2, 3)}
        },
        **more,
    }


# By case: the variables on the host of m3, and the members that check mode takes as healthy.
REPAIRED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "first step": (repaired([]), []),
    "one was down": (repaired(["m1"]), ["m1"]),
    "all others were down": (repaired(["m1", "m2"]), ["m1", "m2", "m3"]),
    "all certificates expired": (repaired([], _etcd_expired_hosts=["h1", "h2", "h3"]), ["m1", "m2", "m3"]),
    "own certificate expired": (repaired([], _etcd_expired_hosts=["h3"]), ["m3"]),
    "expired CA was replaced": (repaired(["m1"], _etcd_unrestarted_hosts=["h1"]), ["m1"]),
    "removes members": (
        repaired(
            [],
            _etcd_membership={"removes": [{"name": "m4", "before_joins": True}, {"name": "m5", "before_joins": False}]},
        ),
        ["m4"],
    ),
    "only member": (repaired([], etcd_cluster={"members": {"h3": {"host": "h3", "name": "m3"}}}), []),
}


def test_which_members_check_mode_takes_as_healthy(tmp_path: Path) -> None:
    given = {case: variables for case, (variables, _names) in REPAIRED.items()}
    # As the tasks read it.
    read = "lookup('ansible.builtin.vars', '_etcd_assumed_healthy')"
    assert evaluate(tmp_path, "etcd", read, given) == {case: names for case, (_variables, names) in REPAIRED.items()}
