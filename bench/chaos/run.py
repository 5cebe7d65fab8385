#!/usr/bin/env python3
"""Disturb every operation with every fault, on lab hosts, and record what a client lost and whether the next run recovers.

    make bench-chaos         the cases that have not been measured yet, for four hours at most
    make bench-chaos-quick   the sample, into .headroom

All cases use the same three lab hosts; deployments begin with new hosts. In each case a client writes unique keys, one each 50 ms through all
endpoints in turn, with a limit of 2 s, while the operation runs with the fault.

A play is killed (SIGKILL to its whole process group) in every state that it passes through. In the first case, successive runs are killed, each at
the next task, until a run changes a host or the cluster. In the second case, successive runs are killed at the task after a change, each after a
change at which no run was killed before. In the third case, they are killed in the middle of each change, while its module runs on the hosts. The
changes of a killed run last, so the next run continues from there, until a run ends by itself. The other faults begin while the play is held at
one task, and last until the play ends or for 20 s. A run that fails is repeated without a fault, and so is a timer's service that left
work for its next run. Finally `site.yml` runs once more, which should change nothing. The client then stops, reads all its keys back, and compares
them with the acknowledged writes.

A write has failed if no endpoint accepted it within 2 s. It counts against the operation if a majority of the voting members served at
each probe during that time: four probes a second ask each member whether it can read its own data. In this sense, a majority without a leader serves while it
elects another one. No write counts before the cluster exists.
For a restore, acknowledged writes between the snapshot and the restored cluster do not count as lost, because the user asked to replace them.

A kill at any other task leaves the same state as a kill at the task before. `python -m bench.chaos.run --seed N` fixes the random order.
Each result is saved at once, and the next campaign continues with the missing cases.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.chaos.cases import BEFORE, SAMPLE, before_effects, middles, plan, seconds_of
from bench.chaos.operations import OPERATIONS
from bench.chaos.services import Service
from bench.common.campaign import results
from bench.common.campaign.case import UNDISTURBED, Case, parse_case
from bench.common.campaign.faults import BY_NAME
from bench.common.campaign.hosts import play_quietly
from bench.common.campaign.measure import EARLY, measure
from bench.common.campaign.operation import Lab, Operation
from bench.common.campaign.results import Row, line
from bench.common.campaign.walk import WALKS
from bench.common.lab import PROJECT, STATE
from bench.common.machine import facts
from bench.common.signals import exit_on_signals

RESULTS = PROJECT / "bench" / "chaos"
QUICK = PROJECT / ".headroom" / "bench-chaos"
MINUTES = 240.0
# The minutes that must be left to begin a case.
CASE_MINUTES = {"deploy": 5.0}
SHORT_CASE_MINUTES = 2.0
# A walk with this many kills makes no progress.
MAX_KILLS = 300


class Campaign:
    """The lab, the results so far, and the cases that are left."""

    def __init__(
        self, folder: Path, chosen: Sequence[Case], *, operations: Sequence[str], faults: Sequence[str], seed: int
    ) -> None:
        self.folder, self.chosen, self.seed, self.faults = folder, list(chosen), seed, set(faults)
        self.operations: dict[str, Operation] = {
            one.name: one for one in (make() for make in OPERATIONS) if not operations or one.name in operations
        }
        self.lab = Lab()
        _, self.rows, self.traces = results.read(folder, Row)
        self.settled = False
        # Cases that could not be set up: another campaign tries them again.
        self.skipped: set[Case] = set()
        for row in self.rows:
            operation = self.operations.get(row.operation)
            if isinstance(operation, Service) and row.fault == UNDISTURBED:
                operation.seconds = row.run_seconds

    def pending(self) -> list[Case]:
        """Return the cases that have no result yet, in their order."""
        cases = self.chosen or plan(
            self.traces, {name: one.moments for name, one in self.operations.items()}, self.seed
        )
        known = {row.case for row in self.rows} | self.skipped
        return [case for case in cases if case not in known and self._wanted(case)]

    def _wanted(self, case: Case) -> bool:
        if not self.faults or case.fault in self.faults:
            return True
        # The tasks of an operation are known from its undisturbed run.
        return case.fault == UNDISTURBED and not self.traces.get(case.operation)

    def minutes(self, case: Case) -> float:
        """Return how long a case may take."""
        minutes = CASE_MINUTES.get(case.operation, SHORT_CASE_MINUTES)
        return minutes + seconds_of(case.at, self.traces.get(case.operation, ())) / 60

    def prepare(self) -> None:
        """Make sure that there are hosts with a healthy cluster on which site.yml changes nothing."""
        if not (STATE / "hosts.json").exists():
            self.lab.rebuild()
        if self.settled or self.lab.settle():
            self.settled = True
            return
        self.lab.rebuild()
        self.settled = self.lab.settle()
        if not self.settled:
            sys.exit("site.yml does not deploy a healthy cluster on new lab hosts")

    def measure(self, case: Case) -> Row | None:
        """Measure a case and save its result. Returns None if it could not be set up."""
        operation = self.operations[case.operation]
        if operation.name not in CASE_MINUTES:
            self.prepare()
        number = int(time.time()) % 4000
        self.settled = False
        points = before_effects(self.traces[case.operation]) if case.at == BEFORE else []
        kills = [case.at] * MAX_KILLS if case.at in WALKS else [str(point) for point in points]
        try:
            seconds = middles(self.traces.get(case.operation, ()))
            row, steps = measure(self.lab, operation, case, number, kills=kills, middles=seconds)
        except (RuntimeError, OSError, subprocess.SubprocessError, AssertionError) as error:
            print(f"{case} could not be measured: {error}", flush=True)
            self.skipped.add(case)
            return None
        self.settled = row.converged and row.unchanged
        if row.kills < len(points) or row.kills == MAX_KILLS:
            row = replace(row, problem=EARLY)
        if case.fault == UNDISTURBED and row.code == "0":
            self.traces[case.operation] = list(steps)
        self.rows.append(row)
        results.write(self.folder, facts(PROJECT), self.rows, self.traces)
        return row


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no case that would end later")
    parser.add_argument("--operation", action="append", default=[], choices=[make().name for make in OPERATIONS])
    parser.add_argument("--fault", action="append", default=[], choices=["none", "killed", *BY_NAME])
    parser.add_argument(
        "--case", action="append", default=[], help="only this one, as it is printed: 'change: disk full'"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order of the cases")
    parser.add_argument("--quick", action="store_true", help="only the sample, into .headroom")
    parser.add_argument("--results", type=Path, help="the folder of the results")
    parser.add_argument("--keep", action="store_true", help="keep the lab for the next campaign")
    arguments = parser.parse_args()
    try:
        chosen = [parse_case(text) for text in arguments.case]
    except ValueError as error:
        parser.error(str(error))
    folder = arguments.results or (QUICK if arguments.quick else RESULTS)
    if arguments.quick:
        (folder / results.ROWS).unlink(missing_ok=True)
    exit_on_signals()
    end = time.monotonic() + 60 * arguments.minutes
    campaign = Campaign(
        folder,
        SAMPLE if arguments.quick else chosen,
        operations=arguments.operation,
        faults=arguments.fault,
        seed=arguments.seed,
    )
    try:
        while cases := campaign.pending():
            case = cases[0]
            if time.monotonic() + 60 * campaign.minutes(case) > end:
                print(f"{len(cases)} cases are left: run this again to go on", flush=True)
                break
            row = campaign.measure(case)
            if row:
                print(line(row), flush=True)
    finally:
        if not arguments.keep:
            play_quietly(["lab/destroy.yml", "-e", f"lab_name={STATE.name}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
