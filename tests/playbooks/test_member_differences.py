# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which differences of a member restart it, and which only write a file. Without etcd."""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from typing import Any

from tests.playbooks.variables import PROJECT, evaluate

CONFIG = {"name": "etcd-1", "quota-backend-bytes": 2147483648, "initial-cluster-state": "new"}
# Of CONFIG and of the unit below. If a change of the role changes this, it restarts every member of every cluster that was deployed before.
DIGEST = "9f58916695290972"
PEER_URL = "https://192.0.2.11:2380"
UNIT = "[Service]\nEnvironment=HEADROOM_DIGEST=\nExecStart=/opt/etcd/3.7.3/etcd\n"
SHA256 = {
    "config": hashlib.sha256(b"the configuration").hexdigest(),
    "unit": hashlib.sha256(UNIT.replace("DIGEST=", f"DIGEST={DIGEST}").encode()).hexdigest(),
}


def member(**changed: Any) -> dict[str, Any]:
    """Return the variables of a member that is as configured, but for what is changed: a fact of the unit, a file or a variable."""
    variables: dict[str, Any] = {
        "_etcd_config": CONFIG,
        "_etcd_config_text": "the configuration",
        "etcd_tls_fingerprint": "f1",
        "etcd_cluster": {"members": {"localhost": {"moves": False, "peer_url": PEER_URL}}},
        "etcd_config_file": "/etc/etcd/etcd.yml",
        "etcd_host_unit_file": "/etc/systemd/system/etcd.service",
        "etcd_host_forming_file": "/etc/etcd/forming",
        "etcd_host_renewing_file": "/etc/etcd/renewing",
        "etcd_host_facts": {
            "etcd": None,
            "unit": {
                "digest": DIGEST,
                "active_state": "active",
                "enabled_state": "enabled",
                "needs_reload": False,
            },
            "files": {
                "/etc/etcd/forming": {"exists": False},
                "/etc/etcd/renewing": {"exists": False},
                "/etc/etcd/etcd.yml": {"sha256": SHA256["config"]},
                "/etc/systemd/system/etcd.service": {"sha256": SHA256["unit"]},
            },
        },
    }
    variables = copy.deepcopy(variables)
    facts = variables["etcd_host_facts"]
    for name, value in changed.items():
        target = facts["unit"] if name in facts["unit"] else facts if name in facts else variables
        if name.startswith("/"):
            target = facts["files"]
        target[name] = value
    return variables


def advertises(url: str) -> dict[str, Any]:
    """Return the answer of a member that was started with this peer URL."""
    return {"process": {"running": True, "settings": {"initial_advertise_peer_urls": [url]}}}


# By case: the variables, and whether the member restarts and whether anything changes.
CASES: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "as configured": (member(), False, False),
    "bootstrap setting": (member(_etcd_config={**CONFIG, "initial-cluster-state": "existing"}), False, False),
    "setting": (member(_etcd_config={**CONFIG, "quota-backend-bytes": 1}), True, True),
    "other certificates": (member(etcd_tls_fingerprint="f2"), True, True),
    "staged certificates": (member(etcd_tls_staged=True), True, True),
    "moves": (member(etcd_cluster={"members": {"localhost": {"moves": True, "peer_url": PEER_URL}}}), True, True),
    "runs with the former peer URL": (member(etcd=advertises("https://192.0.2.1:2380")), True, True),
    "runs with its peer URL": (member(etcd=advertises(PEER_URL)), False, False),
    "does not answer": (member(etcd=None), False, False),
    "process without settings": (member(etcd={"process": {"running": True, "settings": {}}}), False, False),
    "stopped": (member(active_state="inactive"), True, True),
    "crashed": (member(active_state="failed", digest=None), True, True),
    "starting": (member(active_state="activating"), True, True),
    "stopped with staged certificates": (member(active_state="inactive", etcd_tls_staged=True), True, True),
    "never started": (member(digest=None), True, True),
    "forming": (member(**{"/etc/etcd/forming": {"exists": True}}), False, True),
    # It has restarted since its expired CA was replaced, as its digest shows; only the mark is left.
    "renewing": (member(**{"/etc/etcd/renewing": {"exists": True}}), False, True),
    "disabled": (member(enabled_state="disabled"), False, True),
    "unread unit": (member(needs_reload=True), False, True),
    "changed config file": (member(**{"/etc/etcd/etcd.yml": {"sha256": "0"}}), False, True),
    "changed unit file": (member(**{"/etc/systemd/system/etcd.service": {"exists": False}}), False, True),
}


def test_what_restarts_a_member(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "etcd.service.j2").write_text(UNIT)
    given = {case: variables for case, (variables, _restarts, _changes) in CASES.items()}
    found = evaluate(tmp_path, "etcd", "_etcd_member_differences", given)
    assert found["as configured"]["digest"] == DIGEST
    assert found["as configured"]["unit"] == UNIT.replace("DIGEST=", f"DIGEST={DIGEST}")
    for case, (_variables, restarts, changes) in CASES.items():
        assert (found[case]["restarts"], found[case]["changes"]) == (restarts, changes), (case, found[case])
    others = {"staged certificates", "moves", "stopped with staged certificates", "runs with the former peer URL"}
    assert {case for case in CASES if not found[case]["decided_by_digest"]} == others


def test_the_unit_has_a_place_for_the_digest() -> None:
    text = (PROJECT / "roles" / "etcd" / "templates" / "etcd.service.j2").read_text()
    assert text.count("\nEnvironment=HEADROOM_DIGEST=\n") == 1
