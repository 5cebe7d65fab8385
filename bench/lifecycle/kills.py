"""Kill every operation of a cluster's life at random points, and record what a client lost and whether the next run recovers.

    make bench-lifecycle-kills MINUTES=60

Five lab hosts are used for all cases. Each operation is killed ten times with all its processes (SIGKILL): a run is killed at a random moment
after its first change of a host, the same command runs again and is killed as well, and so on until a run ends before its kill, or ten were
killed. Then the command runs to its end; at last `site.yml` runs once more, which should change nothing. A kill comes within a quarter of the
time that the operation takes after its first change, so that the kills of a case spread over it. A first run that ends before its kill counts as
undisturbed, and says how long the operation takes. The client is that of `make bench-chaos`: a unique key each 50 ms through all hosts in turn,
with a limit of 2 s.

Each result is saved at once, and the next campaign goes on with the operation that was killed least.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.common.campaign import results
from bench.common.campaign.case import KILL, UNDISTURBED, Case
from bench.common.campaign.hosts import destroy
from bench.common.campaign.measure import EARLY, measure
from bench.common.campaign.play import ANY, Point, Step
from bench.common.campaign.results import line
from bench.common.lab import PROJECT
from bench.common.machine import facts
from bench.common.signals import exit_on_signals
from bench.lifecycle.lab import MADE_WITH, LifecycleLab
from bench.lifecycle.operations import OPERATIONS, Change

RESULTS = PROJECT / "bench" / "lifecycle"
KILLS = 10
CASE_MINUTES = 9.0
# Runs are killed within this share of the operation's duration.
SHARE = 0.25


@dataclass(frozen=True)
class Row(results.Row):
    """The result of a case. members: how they differ from the inventory's afterwards, empty if they do not."""

    members: str


def length(steps: Sequence[Step]) -> float:
    """Return the seconds of a run after its first task that changed something."""
    changing = [index for index, step in enumerate(steps) if step.changed]
    return sum(step.seconds for step in steps[changing[0] + 1 :]) if changing else 0.0


def next_case(rows: Sequence[Row], names: Sequence[str]) -> tuple[str, int] | None:
    """Return the operation that was killed least and the number of its kills. None if each has all of them."""
    killed = {name: sum(row.kills for row in rows if row.operation == name) for name in names}
    return min(
        ((name, count) for name, count in killed.items() if count < KILLS), key=lambda pair: pair[1], default=None
    )


def draw(name: str, killed: int, seconds: float, seed: int) -> list[Point]:
    """Return the kills that an operation still needs, each at a random moment after the first change of its run."""
    shares = [random.Random(f"{seed} {name} {number}").random() for number in range(killed, KILLS)]
    return [Point(ANY, after=max(0.1, round(share * SHARE * seconds, 1))) for share in shares]


class Campaign:
    """The lab, and the results so far."""

    def __init__(self, folder: Path, names: Sequence[str], seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.operations: dict[str, Change] = {one.name: one for one in (make() for make in OPERATIONS)}
        self.names = [name for name in self.operations if not names or name in names]
        self.lab = LifecycleLab()
        _, self.rows, self.traces = results.read(folder, Row)
        self.settled = False

    def prepare(self) -> None:
        """Make sure that there is a healthy cluster on which site.yml changes nothing. Raises RuntimeError if there is none."""
        if not self.settled and self.lab.resume():
            self.settled = True
        if not self.settled:
            self.lab.rebuild()
            self.settled = self.lab.settle()
        if not self.settled:
            raise RuntimeError("site.yml does not deploy a healthy cluster on new lab hosts")

    def measure(self, name: str, killed: int) -> Row:
        """Kill an operation and save the result."""
        operation = self.operations[name]
        points = draw(name, killed, length(self.traces.get(name, ())) or operation.seconds, self.seed)
        self.prepare()
        self.settled = False
        self.lab.forget()
        row, steps = measure(
            self.lab, operation, Case(name, KILL, str(points[0])), killed + 1, kills=[str(point) for point in points]
        )
        self.settled = row.converged and row.unchanged
        if self.settled:
            self.lab.keep()
        if row.problem == EARLY:
            row = replace(row, fault=UNDISTURBED, at="", problem="")
            self.traces[name] = list(steps)
            self.rows = [one for one in self.rows if one.operation != name or one.kills]
        found = Row(**asdict(row), members=operation.difference())
        self.rows.append(found)
        results.write(self.folder, facts(PROJECT), self.rows, self.traces, Row)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120.0, help="begin no case that would end later")
    parser.add_argument("--operation", action="append", default=[], choices=[make().name for make in OPERATIONS])
    parser.add_argument("--seed", type=int, default=1, help="of the points")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    parser.add_argument("--keep", action="store_true", help="keep the lab and use it again next time")
    arguments = parser.parse_args()
    exit_on_signals()
    end = time.monotonic() + 60 * arguments.minutes
    campaign = Campaign(arguments.results, arguments.operation, arguments.seed)
    try:
        while case := next_case(campaign.rows, campaign.names):
            if time.monotonic() + 60 * CASE_MINUTES > end:
                print("cases are left: run this again to go on", flush=True)
                break
            try:
                row = campaign.measure(*case)
            except (RuntimeError, OSError, subprocess.SubprocessError, AssertionError) as error:
                sys.exit(f"{case[0]} could not be measured: {error}")
            print(f"{line(row)}; {row.kills} kills; members: {row.members or 'right'}", flush=True)
    finally:
        if not arguments.keep:
            destroy(**MADE_WITH)
    return 0


if __name__ == "__main__":
    sys.exit(main())
