# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Search the flags that hold a workload to a memory budget, at the least cost.

Private to the collection. Pure. What is given up, in this order, until the peak fits, in steady state and right after a
restart; docs/plan.md says why in this order:

1. catch-up entries beyond 30 s of writes (the default 5,000 where that is more; 100 for a single member, which nobody has
   to catch up with)
2. the collector's leisure: GOMEMLIMIT (GOGC before etcd 3.5.8) down to 1.33 times the live heap
3. five seconds of writes between two disk snapshots, down to what is good for CPU and fsync at any rate
4. catch-up entries down to 1,000
5. room for the whole database in the page cache: from here on some of it is read from the disk again and again
6. GOMEMLIMIT down to 1.1 times the live heap, and snapshot-count below what is good for CPU and fsync
7. history shorter than five minutes
8. catch-up entries down to 100 (1 with a single member)

For each number of catch-up entries snapshot-count is lowered first, then the history shortened, as far as the step allows.
Each step is a superset of the one before and the order does not depend on the budget, so a larger budget never leads to
fewer catch-up entries. Settings that the user gives are never changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import (
    CONSTANTS_HIGH,
    ESTIMATE_SETTINGS,
    PLAN,
    SERIES,
    SETTINGS,
    Constants,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import version_key
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import retention_amount

# How hard the collector has to work for a candidate to fit.
FREE, EASY, HARD = 0, 1, 2


class Case(NamedTuple):
    """What is to be planned: the input, read."""

    version: str
    workload: dict[str, Any]
    members: int
    pinned: dict[str, Any]
    budget: int
    volume: int | None = None

    @property
    def rules(self) -> dict[str, Any]:
        """The plan's own constants for this series."""
        rules: dict[str, Any] = PLAN[series_of(self.version)]
        return rules

    @property
    def constants(self) -> Constants:
        """The model's constants for this series."""
        return CONSTANTS_HIGH[series_of(self.version)]

    @property
    def memory_max(self) -> int:
        """MemoryMax: the user's, or the budget."""
        pinned: int | None = self.pinned.get("memory_max")
        return self.budget if pinned is None else pinned

    @property
    def memory_high(self) -> int:
        """MemoryHigh: the user's, or a little below MemoryMax, in whole MiB."""
        pinned: int | None = self.pinned.get("memory_high")
        return self.memory_max * self.constants.memory_high // 1000 // MIB * MIB if pinned is None else pinned

    @property
    def quota_ceiling(self) -> int:
        """The largest quota that the plan may choose: etcd's own advice, or what a smaller volume has room for."""
        advised = self.constants.quota_max
        return advised if self.volume is None else min(advised, self.volume_room // MIB * MIB)

    @property
    def volume_room(self) -> int:
        """What the database may take of the volume, in bytes; nothing where the volume is not known."""
        return permille_down(self.volume or 0, self.rules["volume_share"])

    @property
    def has_gomemlimit(self) -> bool:
        """Whether this release was built with a Go that knows GOMEMLIMIT."""
        return version_key(self.version) >= version_key(SERIES[series_of(self.version)]["gomemlimit_since"])


class Choice(NamedTuple):
    """One set of flags, what it leads to, and on which rung of the ladder it was found (0: nothing was given up)."""

    settings: dict[str, Any]
    level: int
    figures: dict[str, Any]
    rung: int = 0


class Rung(NamedTuple):
    """Candidates of one step, each list from the dearest to the cheapest in memory, and how hard the collector may work.

    cached: whether the whole database has to fit beside Go's memory, so that nothing is read from the disk twice.
    """

    entries: list[int]
    compactions: list[dict[str, Any]]
    snapshots: list[int]
    level: int
    cached: bool


def permille_down(number: int, factor: int) -> int:
    """Return number × factor / 1000, rounded down."""
    return number * factor // 1000


class History(NamedTuple):
    """Settings of compaction and quota, and what they lead to, in bytes."""

    settings: dict[str, Any]
    seconds: int | None  # None in revision mode
    db_size: int
    db_in_use: int
    index_size: int


def default_of(case: Case, name: str) -> Any:
    """Return this version's default of a setting."""
    return SETTINGS[name][series_of(case.version)]["default"]


def wanted_catchup(case: Case) -> int:
    """Return the entries that 30 s of writes make, in hundreds; a lone member has no follower to keep them for."""
    rules = case.rules
    if case.members == 1:
        lone: int = rules["catchup_floor"]["several"]
        return lone
    least: int = rules["catchup_several"]
    return max(least, divide_up(rules["catchup_seconds"] * case.workload["puts_per_second"], 100) * 100)


def descending(top: int, bottom: int) -> list[int]:
    """Return round numbers from top down to bottom, each about a fifth less than the one before, both ends included."""
    found = [top]
    while found[-1] > bottom:
        after = found[-1] * 4 // 5
        step = 10 ** max(len(str(after)) - 2, 0)
        found.append(max(after // step * step, bottom))
    return found


def ladder(case: Case, sound: list[History]) -> list[Rung]:
    """Return the candidates in the order in which they are tried: what is cheapest to give up is given up first.

    sound: the histories to choose from, as histories() returns them.
    """
    rules, pinned = case.rules, case.pinned
    wanted = wanted_catchup(case)
    several = min(wanted, rules["catchup_several"])
    floor = rules["catchup_floor"]["several" if case.members > 1 else "single"]
    generous = wanted if case.members == 1 else max(wanted, default_of(case, "snapshot_catchup_entries"))
    put = case.workload["value_size"] + case.workload["key_size"]
    soft = rules["snapshot_count_soft"]
    # More than this would be too much log on disk, to be replayed at a start.
    counts = [count for count in rules["snapshot_counts"] if count <= soft or count * put <= rules["wal_bytes"]]
    easy = [count for count in counts if count >= soft]
    # Each disk snapshot makes the puts of that moment wait for two more syncs: rarer, and p99 does not see them.
    rare = min(rules["snapshot_seconds"] * case.workload["puts_per_second"], easy[0])
    calm = [count for count in easy if count >= rare]
    if "snapshot_count" in pinned:
        counts = easy = calm = [pinned["snapshot_count"]]
    long, short = compactions(case, sound)
    rungs = [
        Rung(descending(generous, wanted), long, calm, FREE, True),
        Rung([wanted], long, calm, EASY, True),
        Rung(descending(wanted, several), long, easy, EASY, True),
        Rung([several], long, easy, EASY, False),
        Rung([several], long, counts, HARD, False),
        Rung(descending(several, floor), short, counts, HARD, False),
    ]
    if "snapshot_catchup_entries" in pinned:
        rungs = [rung._replace(entries=[pinned["snapshot_catchup_entries"]]) for rung in rungs]
    return rungs


def duration_text(seconds: int) -> str:
    """Return whole hours, minutes or seconds as Go reads them, with their unit."""
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def retentions(case: Case) -> list[str]:
    """Return the retentions to choose from, the longest first."""
    if "auto_compaction_retention" in case.pinned:
        return [case.pinned["auto_compaction_retention"]]
    if case.pinned.get("auto_compaction_mode") == "revision":
        return [str(count) for count in case.rules["revisions"]]
    return [duration_text(seconds) for seconds in case.rules["retentions"]]


def histories(case: Case) -> list[History]:
    """Return those whose database fits the quota with room to spare, the longest first; the shortest if none does."""
    rules, constants, pinned = case.rules, case.constants, case.pinned
    mode = pinned.get("auto_compaction_mode", "periodic")
    quota: int | None = pinned.get("quota_backend_bytes")
    ceiling, room = case.quota_ceiling, rules["quota_room"]
    if quota is not None:
        ceiling, room = quota or constants.quota_default, 1000
    found: list[History] = []
    for retention in retentions(case):
        settings = {"auto_compaction_mode": mode, "auto_compaction_retention": retention}
        trial = {**pinned, **settings, "quota_backend_bytes": -1}
        figures = estimate(case.version, case.workload, trial, case.members)
        size = figures["db_size"]
        roomy = divide_up(permille(size, rules["quota_room"]), rules["quota_step"]) * rules["quota_step"]
        computed = min(max(roomy, constants.quota_default), case.quota_ceiling)
        settings["quota_backend_bytes"] = computed if quota is None else quota
        index = next(part["high"] for part in figures["components"] if part["name"] == "index")
        seconds = retention_amount(mode, retention) if mode == "periodic" else None
        found.append(History(settings, seconds, size, figures["db_in_use"], index))
    sound = [one for one in found if ceiling < 0 or permille(one.db_size, room) <= ceiling]
    return sound or found[-1:]


def compactions(case: Case, sound: list[History]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the settings of compaction and quota to choose from at first, and all of them; the longest history first.

    At first: down to five minutes (in revision mode: all), and beyond that only where the whole database fits MemoryMax and
    the index takes no more than its share. Which is the shortest of these does not depend on the budget.
    """
    rules = case.rules
    enough = [one for one in sound if one.seconds is None or one.seconds >= rules["retention_enough"]] or sound[:1]
    share = permille(case.memory_max, rules["index_share"])
    modest = [one for one in enough[:-1] if one.db_size <= case.memory_max and one.index_size <= share]
    first = [one.settings for one in [*modest, enough[-1]]]
    return first, first + [one.settings for one in sound[len(enough) :]]


def fits(case: Case, figures: dict[str, Any], cached: bool) -> bool:
    """Tell whether both peaks and all that has to stay beside Go's memory are below MemoryHigh."""
    return needs(figures, cached) <= case.memory_high


def needs(figures: dict[str, Any], cached: bool = False) -> int:
    """Return what has to fit below MemoryHigh, in bytes."""
    peak: int = max(figures["rss_anon_peak"], figures["restart_rss_anon_peak"])
    return peak + beside(figures, cached)


def beside(figures: dict[str, Any], cached: bool) -> int:
    """Return what has to stay beside Go's memory, in bytes: with the whole database, or with its hot pages only."""
    least: int = figures["beside_go"]
    return least - figures["db_hot"] + figures["db_size"] if cached else least


def evaluate(case: Case, settings: dict[str, Any], hardest: int, cached: bool) -> Choice | None:
    """Return the least strained Go settings with which these flags fit, or None."""
    if not case.has_gomemlimit or "gomemlimit" in case.pinned:
        steps = [case.pinned["gogc"]] if "gogc" in case.pinned else case.rules["gogc_steps"][: hardest + 1]
        for level, gogc in enumerate(steps):
            trial = {**settings, "gogc": gogc}
            figures = estimate(case.version, case.workload, trial, case.members)
            if fits(case, figures, cached):
                return Choice(trial, level, figures)
        return None
    free = estimate(case.version, case.workload, settings, case.members)
    limit = (case.memory_high - beside(free, cached)) // MIB * MIB
    if limit < 16 * MIB:
        return None
    trial = {**settings, "gomemlimit": limit}
    figures = estimate(case.version, case.workload, trial, case.members)
    level = FREE if fits(case, free, cached) else EASY if strain(figures) >= case.rules["gomemlimit_easy"] else HARD
    return Choice(trial, level, figures) if level <= hardest and fits(case, figures, cached) else None


def strain(figures: dict[str, Any]) -> int:
    """Return GOMEMLIMIT in permille of the live heap, at the worse of a steady member and one that restarts."""
    worst: int = max(figures["heap_live"], figures["restart_heap_live"])
    limit: int = figures["settings"]["gomemlimit"]
    return limit * 1000 // worst


def search(case: Case) -> Choice | None:
    """Return the cheapest flags that fit, or None."""
    limits = {**case.pinned, "memory_max": case.memory_max, "memory_high": case.memory_high}
    sound = histories(case)
    if overfull(case, sound) is not None:
        return None
    rungs = ladder(case, sound)

    def attempt(rung: Rung, compaction: dict[str, Any], catchup: int, snapshot: int) -> Choice | None:
        log = {"snapshot_catchup_entries": catchup, "snapshot_count": snapshot}
        return evaluate(case, {**limits, **compaction, **log}, rung.level, rung.cached)

    def smallest(rung: Rung, catchup: int) -> Choice | None:
        return attempt(rung, rung.compactions[-1], catchup, rung.snapshots[-1])

    if smallest(rungs[-1], rungs[-1].entries[-1]) is None:
        return None
    for number, rung in enumerate(rungs):
        for catchup in rung.entries:
            # Fewer never need more, so if the smallest do not fit with so many entries, none do.
            if smallest(rung, catchup) is None:
                continue
            for compaction in rung.compactions:
                for snapshot in rung.snapshots:
                    choice = attempt(rung, compaction, catchup, snapshot)
                    if choice is not None:
                        return choice._replace(rung=number)
    return None


def overfull(case: Case, sound: list[History]) -> str | None:
    """Return why the database cannot fit its quota even with the shortest history, or None."""
    settings, size = sound[-1].settings, sound[-1].db_in_use
    quota: int = settings["quota_backend_bytes"] or case.constants.quota_default
    what = "the quota is"
    if case.volume is not None and (quota < 0 or quota == case.quota_ceiling):
        quota = case.volume_room if quota < 0 else quota
        what = f"a volume of {format_size(case.volume)} has room for"
    if quota < 0 or size <= quota:
        return None
    return (
        f"live keys and the history of {settings['auto_compaction_retention']} take {format_size(size)} of database, "
        f"{what} {format_size(quota)}"
    )


def least(case: Case) -> dict[str, Any]:
    """Return the estimate for the smallest flags that are sound."""
    rung = ladder(case, histories(case))[-1]
    smallest = {
        **case.pinned,
        **rung.compactions[-1],
        "snapshot_catchup_entries": rung.entries[-1],
        "snapshot_count": rung.snapshots[-1],
    }
    if "gogc" not in case.pinned:
        smallest["gogc"] = 100 if case.has_gomemlimit else case.rules["gogc_steps"][-1]
    if case.has_gomemlimit and "gomemlimit" not in case.pinned:
        smallest["gomemlimit"] = ESTIMATE_SETTINGS["gomemlimit"]["min"]
    smallest.pop("memory_high", None)
    smallest.pop("memory_max", None)
    return estimate(case.version, case.workload, smallest, case.members)
