# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How role etcd tells a host on which a member served before from a new one. tests/unit has what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate

FORMING = "/etc/etcd/forming"
# It does not run.
UNIT = {"enabled_state": "enabled", "starts": "/opt/etcd/3.7.3/etcd", "managed": True, "digest": None}
MOUNTED = {"exists": True, "signature": "ext4 filesystem", "mounted_at": ["/var/lib/etcd"]}
BLANK = {"exists": True, "signature": None, "mounted_at": []}


def host(unit: dict[str, Any] | None = None, forming: bool = False, *devices: dict[str, Any]) -> dict[str, Any]:
    facts = {
        "unit": unit,
        "files": {FORMING: {"exists": forming}},
        "devices": {f"/dev/vd{number}": device for number, device in enumerate(devices)},
    }
    return {"etcd_host_facts": facts, "etcd_host_forming_file": FORMING}


# By case: the facts, and whether a member served there.
CASES = {
    "served": (host(UNIT), True),
    "blank_disk": (host(UNIT, False, BLANK, MOUNTED), True),
    "lost_disk": (host(UNIT, False, {"exists": False}), True),
    "unmounted": (host(UNIT, False, {**MOUNTED, "mounted_at": []}), False),
    "new": (host(), False),
    "foreign": (host({**UNIT, "starts": "/usr/bin/etcd", "managed": False}), False),
    "changed_folder": ({**host(UNIT), "etcd_install_dir": "/srv/etcd"}, True),
    "retired": (host({**UNIT, "enabled_state": "disabled"}), False),
    "forming": (host(UNIT, True), False),
    "restored": ({**host(UNIT), "etcd_restore_active": True}, False),
}


def test_hosts_on_which_a_member_served_before(tmp_path: Path) -> None:
    found = evaluate(
        tmp_path, "etcd", "_etcd_deployed_before", {case: given for case, (given, _served) in CASES.items()}
    )
    assert found == {case: served for case, (_given, served) in CASES.items()}
