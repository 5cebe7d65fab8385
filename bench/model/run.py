"""Time the memory model and the plan in Python. Prints a table; exits 1 if a limit of the project is exceeded.

The workloads are random with a fixed seed: all magnitudes that the model accepts, all settings, valid ones only. A plan is timed with the
budget that the estimate recommends, which fits, and with a quarter of it, which mostly does not fit, so that the plan searches for remedies.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SERIES
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.remedies import MIN_BUDGET

ONE_ESTIMATE = 0.050  # seconds, for the slowest run
MANY, ALL_ESTIMATES = 10_000, 5.0  # workloads, seconds
PLANS = 200
SEED = 3
VERSIONS = [series["newest"] for series in SERIES.values()]


def any_case(rng: random.Random) -> tuple[str, dict[str, Any], dict[str, Any], int]:
    """Draw version, workload, settings and members."""

    def count(digits: int) -> int:
        return rng.randint(1, 10 ** rng.randint(0, digits))

    workload = {
        "value_size": count(6),
        "key_size": rng.randint(1, 1024),
        "keys": count(8),
        "puts_per_second": count(5),
        "clients": count(5),
        "watch_streams": count(6),
        "watchers": count(8),
        "leases": count(6),
        "range_size": count(9),
    }
    settings = {
        "snapshot_count": rng.choice([500, 5_000, 10_000, 100_000]),
        "snapshot_catchup_entries": rng.choice([100, 1_000, 5_000]),
        "gogc": rng.choice([50, 100]),
        "auto_compaction_retention": rng.choice(["30s", "5m", "1h", "8h"]),
        "quota_backend_bytes": rng.choice(["2GiB", "8GiB"]),
    }
    return rng.choice(VERSIONS), workload, settings, rng.choice([1, 3, 5])


def seconds(work: Callable[..., object], *arguments: Any) -> float:
    """Return how long a call takes, in seconds."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def attempt(version: str, workload: dict[str, Any], members: int, budget: int) -> bool:
    """Compute a plan and return whether any flags fit."""
    try:
        plan_flags(version, workload, members, budget)
    except PlanInfeasible:
        return False
    return True


def row(what: str, times: Sequence[float], limit: str) -> str:
    """Return a line of the table, in milliseconds."""
    ordered = sorted(times)
    middle, high, most = (ordered[int(share * (len(ordered) - 1))] * 1000 for share in (0.5, 0.99, 1.0))
    return f"| {what} | {len(times):,} | {middle:.2f} | {high:.2f} | {most:.2f} | {sum(times):.2f} | {limit} |"


def main() -> int:
    rng = random.Random(SEED)
    cases = [any_case(rng) for _ in range(MANY)]
    estimates = [seconds(estimate, *case) for case in cases]
    fitting: list[float] = []
    tight: list[float] = []
    for version, workload, _settings, members in cases[:PLANS]:
        needed = estimate(version, workload, None, members)["memory_max_recommended"]
        for times, budget in ((fitting, needed), (tight, max(needed // 4, MIN_BUDGET))):
            times.append(seconds(attempt, version, workload, members, budget))
    print("| what | number | median ms | p99 ms | slowest ms | all, s | limit |\n|---|---|---|---|---|---|---|")
    print(
        row(
            "estimate of a random workload",
            estimates,
            f"{ONE_ESTIMATE * 1000:.0f} ms each, {ALL_ESTIMATES:.0f} s in all",
        )
    )
    print(row("plan, budget as recommended", fitting, ""))
    print(row("plan, a quarter of that", tight, ""))
    return int(max(estimates) > ONE_ESTIMATE or sum(estimates) > ALL_ESTIMATES)


if __name__ == "__main__":
    sys.exit(main())
