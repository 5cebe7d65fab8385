"""Time site.yml in a lab of its own: the floor (one task that does nothing), a cold run, and runs that change nothing.

Each run without changes follows a run of the floor, and is compared with it: how fast the machine is changes within minutes.
Prints a table; exits 1 if a limit of the project is exceeded.
"""

from __future__ import annotations

import re
import sys
from statistics import median

from bench.common.playbook import timed_play

LAB = "bench-site"
LIMITS = {"cold": 60, "second": 6}  # multiples of the floor: how fast the machine is cancels out
REPEATS = 5


def play(*arguments: str) -> tuple[float, str]:
    """Run a playbook in the lab and return seconds and output."""
    return timed_play(*arguments, LAB_NAME=LAB)


def main() -> int:
    play("lab/create.yml")
    try:
        play("bench/site/floor.yml")  # opens the connections
        before = play("bench/site/floor.yml")[0]
        cold, _ = play("site.yml")
        floors, seconds = [], []
        for _ in range(REPEATS):
            floors.append(play("bench/site/floor.yml")[0])
            took, output = play("site.yml")
            if set(re.findall(r"changed=(\d+)", output)) != {"0"}:
                sys.exit(f"a second run changed something:\n{output}")
            seconds.append(took)
    finally:
        play("lab/destroy.yml")
    floor = median(floors)
    pairs = [took / least for took, least in zip(seconds, floors, strict=True)]
    multiples = {"cold": 2 * cold / (before + floors[0]), "second": median(pairs)}
    print("| run | seconds | × floor | limit |\n|---|---|---|---|")
    print(f"| floor: one task that does nothing, median of {REPEATS} | {floor:.1f} | 1 | |")
    print(f"| site.yml on bare hosts | {cold:.1f} | {multiples['cold']:.1f} | {LIMITS['cold']} |")
    print(
        f"| site.yml again, nothing changes, median of {REPEATS} | {median(seconds):.1f} | {multiples['second']:.1f} "
        f"| {LIMITS['second']} |"
    )
    return int(any(multiples[run] > limit for run, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
