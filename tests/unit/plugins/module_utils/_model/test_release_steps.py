# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release may follow which, and the steps in between."""

from __future__ import annotations

import re

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model import release_steps


@pytest.mark.parametrize(
    ("running", "target", "problem"),
    [
        ("3.7.3", "3.7.3", ""),
        ("3.7.3", "3.7.1", ""),
        ("3.6.16", "3.7.3", ""),
        ("3.5.35", "3.6.16", ""),
        ("3.4.40", "3.5.35", ""),
        (
            "3.7.3",
            "3.6.16",
            "a downgrade has to be enabled in the cluster first .*playbook downgrade.* or set etcd_version to 3.7.x",
        ),
        ("3.5.35", "3.7.3", "skips a minor version: go to 3.6.16 first, or in one run .* etcd_upgrade_to=3.7.3"),
        ("3.5.32", "3.6.16", ""),
        ("3.5.31", "3.6.16", "supports this upgrade from 3.5.32 on .*; go to 3.5.35 first"),
        ("3.5.25", "3.6.16", "may bring removed members back; go to 3.5.35 first"),
        ("3.6.11", "3.7.3", ""),
        ("3.6.10", "3.7.3", "supports this upgrade from 3.6.11 on .*; go to 3.6.16 first"),
        ("3.6.10", "3.6.16", ""),
        ("3.7.3", "3.8.0", ""),
    ],
)
def test_upgrades(running: str, target: str, problem: str) -> None:
    found = release_steps.check_upgrade(running, target)
    assert re.search(problem, found) if problem else found == ""


@pytest.mark.parametrize(
    ("running", "target", "steps"),
    [
        (["3.5.35"], "3.7.3", ["3.6.16", "3.7.3"]),
        (["3.5.35", "3.6.14"], "3.7.3", ["3.6.16", "3.7.3"]),
        (["3.6.14", "3.7.3"], "3.7.3", ["3.7.3"]),
        (["3.7.3"], "3.7.3", ["3.7.3"]),
        (["3.7.3"], "3.6.16", ["3.6.16"]),
        ([], "3.6.16", ["3.6.16"]),
    ],
)
def test_steps_go_through_each_series(running: list[str], target: str, steps: list[str]) -> None:
    assert release_steps.upgrade_steps(running, target) == steps


@pytest.mark.parametrize("target", ["3.8.0", "3.7", "", "newest"])
def test_an_unknown_target_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="known series"):
        release_steps.upgrade_steps(["3.6.16"], target)


def test_series_below() -> None:
    assert release_steps.minor_below("3.7.3") == "3.6"
    assert release_steps.newest_of("3.9") == "3.9.x"
