# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimate and plan for a release that a user names: modules, filters and reports enter here.

Private to the collection. Pure: bad input raises ValueError. On request a release that is newer than every known one gets the rules of the newest known
one, and the result says so.
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
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags

# The choices for a release of an unknown, newer series.
CHOICES = ("refuse", "newest")
_RELEASE = re.compile(r"(?:0|[1-9][0-9]{0,3})(?:\.(?:0|[1-9][0-9]{0,3})){2}")


def resolve_release(version: Any, unknown_version: str) -> tuple[str, list[str]]:
    """Return the release whose rules apply, and the notes that this calls for.

    unknown_version: refuse, or newest, which applies the rules of the newest known release to a newer series of the same
    major version. Raises UnknownVersion for releases that are older, malformed, or refused; BadInput for another choice.
    """
    if unknown_version not in CHOICES:
        raise BadInput(f"unknown_version is {unknown_version!r}: write {' or '.join(CHOICES)}")
    newest = newest_release()
    if isinstance(version, str) and _RELEASE.fullmatch(version):
        key, last = version_key(version), version_key(newest)
        if key[0] == last[0] and key[:2] > last[:2]:
            if unknown_version == "refuse":
                raise UnknownVersion(
                    f"etcd {version} is not known; known series: {known_versions()}. With unknown_version=newest the "
                    f"model uses the rules of {newest}"
                )
            note = (
                f"etcd {version} is newer than every known release: these are the figures of {newest}, "
                f"without later changes"
            )
            return newest, [note]
    series(version)
    return str(version), []


def estimate_for_release(
    version: Any, workload: Any, settings: Any = None, members: Any = 3, unknown_version: str = "refuse"
) -> dict[str, Any]:
    """Estimate as ``_model.estimate.estimate`` does; with unknown_version=newest also for releases that are newer than the model."""
    release, notes = resolve_release(version, unknown_version)
    return _named(model_estimate.estimate(release, workload, settings, members), version, notes)


def plan_for_release(
    version: Any,
    workload: Any,
    members: Any,
    budget: Any,
    settings: Any = None,
    volume_size: Any = None,
    unknown_version: str = "refuse",
    db_size: int = 0,
) -> dict[str, Any]:
    """Plan as ``plan_flags`` does; with unknown_version=newest also for releases that are newer than the model."""
    release, notes = resolve_release(version, unknown_version)
    try:
        found = plan_flags(release, workload, members, budget, settings, volume_size, db_size)
    except PlanInfeasible as error:
        raise PlanInfeasible(" ".join([str(error), *(f"Note: {note}." for note in notes)])) from error
    return {**_named(found, version, notes), "estimate": _named(found["estimate"], version, [])}


def _named(found: dict[str, Any], version: Any, notes: list[str]) -> dict[str, Any]:
    return {**found, "version": version, "notes": [*notes, *found["notes"]]}
