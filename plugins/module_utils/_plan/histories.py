# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a history the database may keep: the candidates for compaction and quota.

Private to the collection. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import permille
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.quota import quota_with_margin
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case


@dataclass(frozen=True)
class History:
    """The case's settings with a compaction and a quota, and the bytes that the history then takes."""

    settings: Settings
    db_size: int
    db_in_use: int
    index_size: int

    @property
    def seconds(self) -> int | None:
        """The length of the history; None in revision mode."""
        return self.settings.retention if self.settings.auto_compaction_mode == "periodic" else None


def duration_text(seconds: int) -> str:
    """Return whole hours, minutes or seconds as Go reads them, with their unit."""
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def retentions(case: Case) -> list[str]:
    """Return the retentions to choose from, the longest first."""
    if "auto_compaction_retention" in case.pinned:
        return [case.settings.auto_compaction_retention]
    if case.pinned.get("auto_compaction_mode") == "revision":
        return [str(count) for count in case.rules["revisions"]]
    return [duration_text(seconds) for seconds in case.rules["retentions"]]


def histories(case: Case) -> list[History]:
    """Return the viable histories, whose database fits the quota with a margin, the longest first.

    If none is viable, return only the shortest.
    """
    mode = case.pinned.get("auto_compaction_mode", "periodic")
    found = [history(case, case.settings.with_compaction(mode, retention)) for retention in retentions(case)]
    ceiling, margin = case.quota_ceiling, case.rules["quota_room"]
    if "quota_backend_bytes" in case.pinned:
        ceiling, margin = case.settings.quota_backend_bytes or case.constants.quota_default, 1000
    viable = [one for one in found if ceiling < 0 or permille(one.db_size, margin) <= ceiling]
    return viable or found[-1:]


def planned_workload(case: Case, settings: Settings) -> Workload:
    """Return the workload with the history that this compaction leads to, if that is longer than the workload's own.

    revisions_per_key describes the history of the cluster as it is, so a compaction that the plan chooses must be paid for. With a
    pinned retention the workload's own history counts: something else may compact, as the API server of Kubernetes does.
    """
    given = case.workload
    if given.revisions_per_key is None or "auto_compaction_retention" in case.pinned:
        return given
    computed = replace(given, revisions_per_key=None)
    return max((given, computed), key=lambda one: storage.kept_revisions(case.constants, one, settings, 0))


def history(case: Case, settings: Settings) -> History:
    """Return the history that this compaction leads to, with the pinned quota or one with a margin."""
    constants, rules = case.constants, case.rules
    workload = planned_workload(case, settings)
    db = storage.database(constants, workload, replace(settings, quota_backend_bytes=-1))
    quota = settings.quota_backend_bytes
    if "quota_backend_bytes" not in case.pinned:
        margin, step = rules["quota_room"], rules["quota_step"]
        # A compaction frees pages inside the file, and only a defragmentation makes the file smaller.
        quota = quota_with_margin(constants, margin, step, max(db.size, case.db_size), case.quota_ceiling)
    index = storage.index(constants, workload, db.history)
    return History(replace(settings, quota_backend_bytes=quota), db.size, db.in_use, index)


def compactions(case: Case, viable: list[History]) -> tuple[list[Settings], list[Settings]]:
    """Return the settings to choose from at first, and all of them; the longest history first.

    At first: down to five minutes (all of them in revision mode). Longer histories are among them only if the whole database
    fits MemoryMax and the index its share. The shortest of these does not depend on the budget.
    """
    rules = case.rules
    enough = [one for one in viable if one.seconds is None or one.seconds >= rules["retention_enough"]] or viable[:1]
    share = permille(case.memory_max, rules["index_share"])
    modest = [one for one in enough[:-1] if one.db_size <= case.memory_max and one.index_size <= share]
    first = [one.settings for one in [*modest, enough[-1]]]
    return first, first + [one.settings for one in viable[len(enough) :]]
