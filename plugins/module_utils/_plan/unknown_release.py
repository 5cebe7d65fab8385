# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimates and plans of releases that are newer than all that the model knows, for those who ask for them.

Private to the collection. Pure: bad input raises ValueError. The newest known release stands in, and the result says so.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model import estimate as model_estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import (
    UnknownVersion,
    known_versions,
    newest_release,
    series,
    version_key,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import plan as plan_plan

# What to do with a release of a series that is newer than all known ones.
CHOICES = ("refuse", "newest")
_RELEASE = re.compile(r"(?:0|[1-9][0-9]{0,3})(?:\.(?:0|[1-9][0-9]{0,3})){2}")


def stand_in(version: Any, unknown_version: str) -> tuple[str, list[str]]:
    """Return the release whose rules are to be used, and what has to be said of that.

    unknown_version: refuse, or newest, which takes the newest known release for one of a newer series of the same major
    version. Raises UnknownVersion for releases that are older, malformed, or refused; BadInput for another choice.
    """
    if unknown_version not in CHOICES:
        raise BadInput(f"unknown_version is {unknown_version!r}: write {' or '.join(CHOICES)}")
    newest = newest_release()
    if isinstance(version, str) and _RELEASE.fullmatch(version):
        key, last = version_key(version), version_key(newest)
        if key[0] == last[0] and key[:2] > last[:2]:
            if unknown_version == "refuse":
                raise UnknownVersion(
                    f"etcd {version} is not known; known series: {known_versions()}. With unknown_version=newest it is "
                    f"reckoned with as if it were {newest}"
                )
            note = (
                f"etcd {version} is newer than all that are known: this is what {newest} would need, "
                f"and what changed after it is not in it"
            )
            return newest, [note]
    series(version)
    return str(version), []


def estimate(
    version: Any, workload: Any, settings: Any = None, members: Any = 3, unknown_version: str = "refuse"
) -> dict[str, Any]:
    """Return what model_estimate.estimate returns, for releases newer than the model too if unknown_version is newest."""
    release, notes = stand_in(version, unknown_version)
    return _named(model_estimate.estimate(release, workload, settings, members), version, notes)


def plan(
    version: Any,
    workload: Any,
    members: Any,
    budget: Any,
    settings: Any = None,
    volume_size: Any = None,
    unknown_version: str = "refuse",
) -> dict[str, Any]:
    """Return what plan_plan.plan returns, for releases newer than the model too if unknown_version is newest."""
    release, notes = stand_in(version, unknown_version)
    try:
        found = plan_plan.plan(release, workload, members, budget, settings, volume_size)
    except plan_plan.PlanInfeasible as error:
        raise plan_plan.PlanInfeasible(" ".join([str(error), *(f"Note: {note}." for note in notes)])) from error
    return {**_named(found, version, notes), "estimate": _named(found["estimate"], version, [])}


def _named(found: dict[str, Any], version: Any, notes: list[str]) -> dict[str, Any]:
    return {**found, "version": version, "notes": [*notes, *found["notes"]]}
