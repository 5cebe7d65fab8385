# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Search the flags that hold a workload to a memory budget, at the least cost.

Private to the collection. Pure. What is given up, in this order, until the peak fits, in steady state and right after a
restart:

1. catch-up entries beyond 30 s of writes (the default 5,000 where that is more), with snapshot-count first
2. the collector's leisure: GOMEMLIMIT (GOGC before etcd 3.5.8) down to 1.33 times the live heap
3. catch-up entries down to 1,000
4. snapshot-count below what is good for CPU and fsync, and GOMEMLIMIT down to 1.1 times the live heap
5. catch-up entries down to 100 (1 with a single member)

Compaction and quota come first of all: the longest retention whose database fits the quota and whose index fits a share
of the budget; beyond five minutes only as long as the whole database fits the budget too.
Settings that the user gives are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._memory import MIB, divide_up, estimate, permille
from ansible_collections.etcdops.headroom.plugins.module_utils._model import CONSTANTS, PLAN, SERIES, SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._releases import version_key
from ansible_collections.etcdops.headroom.plugins.module_utils._units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._workload import retention_amount

# How hard the collector has to work for a candidate to fit.
FREE, EASY, HARD = 0, 1, 2


class Case(NamedTuple):
    """What is to be planned: the input, read."""

    version: str
    workload: dict[str, Any]
    members: int
    pinned: dict[str, Any]
    budget: int

    @property
    def rules(self) -> dict[str, Any]:
        """The plan's own constants for this series."""
        rules: dict[str, Any] = PLAN[series_of(self.version)]
        return rules

    @property
    def constants(self) -> dict[str, Any]:
        """The model's constants for this series."""
        constants: dict[str, Any] = CONSTANTS[series_of(self.version)]
        return constants

    @property
    def memory_max(self) -> int:
        """MemoryMax: the user's, or the budget."""
        pinned: int | None = self.pinned.get("memory_max")
        return self.budget if pinned is None else pinned

    @property
    def memory_high(self) -> int:
        """MemoryHigh: the user's, or a little below MemoryMax, in whole MiB."""
        pinned: int | None = self.pinned.get("memory_high")
        return self.memory_max * self.constants["memory_high"] // 1000 // MIB * MIB if pinned is None else pinned

    @property
    def has_gomemlimit(self) -> bool:
        """Whether this release was built with a Go that knows GOMEMLIMIT."""
        return version_key(self.version) >= version_key(SERIES[series_of(self.version)]["gomemlimit_since"])


class Choice(NamedTuple):
    """One set of flags and what it leads to."""

    settings: dict[str, Any]
    level: int
    figures: dict[str, Any]


def default_of(case: Case, name: str) -> Any:
    """Return this version's default of a setting."""
    return SETTINGS[name][series_of(case.version)]["default"]


def wanted_catchup(case: Case) -> int:
    """Return the entries that 30 s of writes make, in hundreds; a lone member has no follower to keep them for."""
    rules = case.rules
    least: int = rules["catchup_several"] if case.members > 1 else rules["catchup_floor"]["several"]
    return max(least, divide_up(rules["catchup_seconds"] * case.workload["puts_per_second"], 100) * 100)


def descending(top: int, bottom: int) -> list[int]:
    """Return round numbers from top down to bottom, each about a fifth less than the one before, both ends included."""
    found = [top]
    while found[-1] > bottom:
        after = found[-1] * 4 // 5
        step = 10 ** max(len(str(after)) - 2, 0)
        found.append(max(after // step * step, bottom))
    return found


def tiers(case: Case) -> Iterator[tuple[list[int], list[int], int]]:
    """Yield (catch-up entries, snapshot counts, hardest level), cheapest first."""
    rules = case.rules
    wanted = wanted_catchup(case)
    several = min(wanted, rules["catchup_several"])
    floor = rules["catchup_floor"]["several" if case.members > 1 else "single"]
    counts: list[int] = rules["snapshot_counts"]
    put = case.workload["value_size"] + case.workload["key_size"]
    soft = rules["snapshot_count_soft"]
    easy = [count for count in counts if count >= soft and (count == soft or count * put <= rules["wal_bytes"])]
    generous = max(wanted, default_of(case, "snapshot_catchup_entries"))
    ladder: list[tuple[list[int], list[int], int]] = [
        (descending(generous, wanted), easy, FREE),
        (descending(wanted, several), easy, EASY),
        (descending(wanted, several), counts, HARD),
        (descending(several, floor), counts, HARD),
    ]
    for entries, snapshots, level in ladder:
        yield (
            [case.pinned["snapshot_catchup_entries"]] if "snapshot_catchup_entries" in case.pinned else entries,
            [case.pinned["snapshot_count"]] if "snapshot_count" in case.pinned else snapshots,
            level,
        )


def duration_text(seconds: int) -> str:
    """Return whole hours, minutes or seconds as Go reads them, with their unit."""
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def compaction(case: Case) -> dict[str, Any]:
    """Return auto_compaction_mode, auto_compaction_retention and quota_backend_bytes."""
    rules, constants, pinned = case.rules, case.constants, case.pinned
    mode = pinned.get("auto_compaction_mode", "periodic")
    if "auto_compaction_retention" in pinned:
        retentions = [pinned["auto_compaction_retention"]]
    elif mode == "revision":
        retentions = [str(count) for count in rules["revisions"]]
    else:
        retentions = [duration_text(seconds) for seconds in rules["retentions"]]
    ceiling: int = pinned.get("quota_backend_bytes") or constants["quota_max"]
    room = 1000 if "quota_backend_bytes" in pinned else rules["quota_room"]
    retention, size = retentions[-1], 0
    for retention in retentions:
        enough = mode == "revision" or retention_amount(mode, retention) <= rules["retention_enough"]
        trial = {
            **pinned,
            "auto_compaction_mode": mode,
            "auto_compaction_retention": retention,
            "quota_backend_bytes": -1,
        }
        figures = estimate(case.version, case.workload, trial, case.members)
        index = next(part["high"] for part in figures["components"] if part["name"] == "index")
        size = figures["db_size"]
        small = (ceiling < 0 or permille(size, room) <= ceiling) and (enough or size <= case.memory_max)
        if small and index <= permille(case.memory_max, rules["index_share"]):
            break
    quota = pinned.get("quota_backend_bytes")
    if quota is None:
        roomy = divide_up(permille(size, rules["quota_room"]), rules["quota_step"]) * rules["quota_step"]
        quota = min(max(roomy, constants["quota_default"]), constants["quota_max"])
    return {"auto_compaction_mode": mode, "auto_compaction_retention": retention, "quota_backend_bytes": quota}


def fits(case: Case, figures: dict[str, Any]) -> bool:
    """Tell whether both peaks and all that has to stay beside Go's memory are below MemoryHigh."""
    return needs(figures) <= case.memory_high


def needs(figures: dict[str, Any]) -> int:
    """Return what has to fit below MemoryHigh, in bytes."""
    peak: int = max(figures["rss_anon_peak"], figures["restart_rss_anon_peak"])
    beside: int = figures["beside_go"]
    return peak + beside


def evaluate(case: Case, settings: dict[str, Any], hardest: int) -> Choice | None:
    """Return the least strained Go settings with which these flags fit, or None."""
    if not case.has_gomemlimit or "gomemlimit" in case.pinned:
        steps = [case.pinned["gogc"]] if "gogc" in case.pinned else case.rules["gogc_steps"][: hardest + 1]
        for level, gogc in enumerate(steps):
            trial = {**settings, "gogc": gogc}
            figures = estimate(case.version, case.workload, trial, case.members)
            if fits(case, figures):
                return Choice(trial, level, figures)
        return None
    free = estimate(case.version, case.workload, settings, case.members)
    limit = (case.memory_high - free["beside_go"]) // MIB * MIB
    if limit < 16 * MIB:
        return None
    trial = {**settings, "gomemlimit": limit}
    figures = estimate(case.version, case.workload, trial, case.members)
    level = FREE if fits(case, free) else EASY if strain(figures) >= case.rules["gomemlimit_easy"] else HARD
    return Choice(trial, level, figures) if level <= hardest and fits(case, figures) else None


def strain(figures: dict[str, Any]) -> int:
    """Return GOMEMLIMIT in permille of the live heap, at the worse of a steady member and one that restarts."""
    worst: int = max(figures["heap_live"], figures["restart_heap_live"])
    limit: int = figures["settings"]["gomemlimit"]
    return limit * 1000 // worst


def search(case: Case) -> Choice | None:
    """Return the cheapest flags that fit, or None."""
    base = {**case.pinned, **compaction(case), "memory_max": case.memory_max, "memory_high": case.memory_high}
    if overfull(case, base) is not None:
        return None
    ladder = list(tiers(case))
    # Fewer entries never need more, so if the smallest flags do not fit, none do.
    if evaluate(case, with_log(base, ladder[-1][0][-1], ladder[-1][1][-1]), HARD) is None:
        return None
    for entries, snapshots, level in ladder:
        for catchup in entries:
            for snapshot in snapshots:
                choice = evaluate(case, with_log(base, catchup, snapshot), level)
                if choice is not None:
                    return choice
    return None


def with_log(settings: dict[str, Any], catchup: int, snapshot: int) -> dict[str, Any]:
    """Return the settings with these two for the raft log."""
    return {**settings, "snapshot_catchup_entries": catchup, "snapshot_count": snapshot}


def overfull(case: Case, settings: dict[str, Any]) -> str | None:
    """Return why the database cannot fit its quota, or None."""
    quota = settings["quota_backend_bytes"]
    unlimited = estimate(case.version, case.workload, {**settings, "quota_backend_bytes": -1}, case.members)
    if quota < 0 or unlimited["db_in_use"] <= (quota or case.constants["quota_default"]):
        return None
    return (
        f"live keys and the history of {settings['auto_compaction_retention']} take "
        f"{format_size(unlimited['db_in_use'])} of database, the quota is {format_size(quota or case.constants['quota_default'])}"
    )


def least_need(case: Case) -> int:
    """Return the MemoryMax that even the smallest flags need."""
    entries, snapshots, _level = list(tiers(case))[-1]
    smallest = {
        **case.pinned,
        **compaction(case),
        "snapshot_catchup_entries": entries[-1],
        "snapshot_count": snapshots[-1],
    }
    if "gogc" not in case.pinned:
        smallest["gogc"] = 100 if case.has_gomemlimit else case.rules["gogc_steps"][-1]
    if case.has_gomemlimit and "gomemlimit" not in case.pinned:
        smallest["gomemlimit"] = 16 * MIB
    smallest.pop("memory_high", None)
    smallest.pop("memory_max", None)
    figures = estimate(case.version, case.workload, smallest, case.members)
    needed: int = figures["memory_max_recommended"]
    return needed
