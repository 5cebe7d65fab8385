# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of etcd's checks of its own data role etcd switches on, in the spelling of each release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.config_file import CORRUPTION_CHECKS
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
BOTH = list(CORRUPTION_CHECKS)
STOP = "StopGRPCServiceOnDefrag=true"
GATES = f"{STOP},InitialCorruptCheck=true,CompactHashCheck=true"
OLD = {"experimental-stop-grpc-service-on-defrag": True}
OLD_CHECKS = {**OLD, "experimental-initial-corrupt-check": True, "experimental-compact-hash-check-enabled": True}


def rendered(version: str, wanted: Any, installed: list[str] | None, extra: dict[str, Any]) -> Any:
    """Return what the role adds to the configuration. installed: the checks of a member that is there; None without one."""
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "defaults" / "main.yml"), trusted_as_template=True),
        **loader.load_from_file(str(ROLE / "vars" / "main" / "settings.yml"), trusted_as_template=True),
        "etcd_version": version,
        "etcd_extra_config": extra,
        "etcd_host_facts": {"member": {"present": installed is not None, "corruption_checks": installed or []}},
    }
    if wanted is not None:
        given["etcd_corruption_checks"] = wanted
    return {**extra, **Templar(loader=loader, variables=given).template(given["_etcd_health"])}


@pytest.mark.parametrize(
    ("version", "wanted", "installed", "extra", "expected"),
    [
        ("3.7.3", None, None, {}, {"feature-gates": GATES}),
        ("3.6.16", None, None, {}, {"feature-gates": GATES}),
        ("3.5.35", None, None, {}, OLD_CHECKS),
        # Deployed before there was the setting: the configuration stays as it is.
        ("3.7.3", None, [], {}, {"feature-gates": STOP}),
        ("3.5.35", None, [], {}, OLD),
        ("3.7.3", None, [], {"feature-gates": "A=true"}, {"feature-gates": f"{STOP},A=true"}),
        # The second run, and a member whose release changes.
        ("3.7.3", None, BOTH, {}, {"feature-gates": GATES}),
        ("3.5.35", None, BOTH, {}, OLD_CHECKS),
        ("3.7.3", True, [], {}, {"feature-gates": GATES}),
        ("3.7.3", "true", [], {"feature-gates": "A=true"}, {"feature-gates": f"{GATES},A=true"}),
        ("3.7.3", False, BOTH, {}, {"feature-gates": STOP}),
        ("3.5.35", False, None, {}, OLD),
        # The user's own settings win, and those of a member that is there are rendered as before.
        (
            "3.7.3",
            None,
            BOTH,
            {"feature-gates": "InitialCorruptCheck=true,CompactHashCheck=true"},
            {"feature-gates": GATES},
        ),
        (
            "3.7.3",
            None,
            ["InitialCorruptCheck"],
            {"feature-gates": "InitialCorruptCheck=true"},
            {"feature-gates": f"{STOP},InitialCorruptCheck=true"},
        ),
        (
            "3.7.3",
            None,
            None,
            {"feature-gates": "InitialCorruptCheck=false"},
            {"feature-gates": f"{STOP},CompactHashCheck=true,InitialCorruptCheck=false"},
        ),
        (
            "3.7.3",
            None,
            ["CompactHashCheck"],
            {"feature-gates": "InitialCorruptCheck=false"},
            {"feature-gates": f"{STOP},CompactHashCheck=true,InitialCorruptCheck=false"},
        ),
        (
            "3.5.35",
            None,
            ["InitialCorruptCheck"],
            {"experimental-initial-corrupt-check": True},
            {**OLD, "experimental-initial-corrupt-check": True},
        ),
        (
            "3.5.35",
            True,
            [],
            {"experimental-initial-corrupt-check": False},
            {**OLD_CHECKS, "experimental-initial-corrupt-check": False},
        ),
        # 3.6 exits if a setting of 3.5 is beside the gate that replaces it. After an upgrade the user may still have it.
        ("3.6.16", None, [], OLD, OLD),
        (
            "3.6.16",
            True,
            None,
            {"experimental-initial-corrupt-check": True},
            {"experimental-initial-corrupt-check": True, "feature-gates": f"{STOP},CompactHashCheck=true"},
        ),
        ("3.6.16", True, None, OLD_CHECKS, OLD_CHECKS),
        ("3.6.16", True, None, {**OLD_CHECKS, "feature-gates": "A=true"}, {**OLD_CHECKS, "feature-gates": "A=true"}),
    ],
)
def test_checks(version: str, wanted: Any, installed: list[str] | None, extra: dict[str, Any], expected: Any) -> None:
    assert rendered(version, wanted, installed, extra) == expected


def test_the_role_and_the_module_know_the_same_checks() -> None:
    given = DataLoader().load_from_file(str(ROLE / "vars" / "main" / "settings.yml"))
    assert given["_etcd_corruption_flags"] == CORRUPTION_CHECKS


@pytest.mark.parametrize("version", ["3.5.35", "3.6.16", "3.7.3"])
def test_every_release_knows_its_spelling(version: str) -> None:
    releases.render_config(version, {"name": "n1"}, rendered(version, True, None, {}))
