"""The cases of the campaign: each operation undisturbed, with each fault, and killed at each task.

A play is killed when a task begins, and in the middle of each task that has an effect. Kills before the first effect leave the hosts as they
were: they share one case, in which one run after the other is killed, each at the next task. A later kill when a task begins leaves the same state
as at the task before if nothing was changed in between: such tasks are measured last.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from bench.chaos.faults import BY_NAME, FAULTS
from bench.chaos.play import Point, Step

UNDISTURBED, KILL = "none", "killed"
# They change the state of the cluster or take its lock, whether or not they report a change.
EFFECTIVE = ("etcd_member", "etcd_restore", "etcd_rescue")
SHORTEST_SECONDS = 0.3
# In place of a task's name: a case for all of them.
BEFORE = "each task before the first effect"


@dataclass(frozen=True)
class Case:
    """One operation with one fault. at: the moment at which the play was killed, or BEFORE, or the share of its time for a service."""

    operation: str
    fault: str
    at: str = ""

    def __str__(self) -> str:
        return f"{self.operation}: {self.fault}" + (f" at {self.at}" if self.at else "")


def parse_case(text: str) -> Case:
    """Return the case that str() wrote. Raises ValueError if there is none."""
    operation, colon, rest = text.partition(": ")
    fault, _, at = rest.partition(" at ")
    if not colon or fault not in (UNDISTURBED, KILL, *BY_NAME) or bool(at) != (fault == KILL):
        raise ValueError(f"{text} is not a case, such as 'change: disk full' or 'change: killed at Start the member'")
    return Case(operation, fault, at)


def has_effect(step: Step) -> bool:
    """Return whether a step may leave another state behind."""
    return step.changed or step.action.rsplit(".", 1)[-1] in EFFECTIVE


def before_effects(steps: Sequence[Step]) -> list[Point]:
    """Return the beginnings of the steps until one has an effect, that one included."""
    first = next((number for number, step in enumerate(steps) if has_effect(step)), len(steps) - 1)
    return [step.point for step in steps[: first + 1]]


def distinct(steps: Sequence[Step]) -> list[Step]:
    """Return the steps before which something has changed since the step before: a kill there leaves a state of its own."""
    return [step for before, step in zip(steps, steps[1:], strict=False) if has_effect(before)]


def within(steps: Sequence[Step]) -> list[Point]:
    """Return the middle of each step that has an effect and takes long enough to be met: its module is killed at work, or survives the play."""
    return [
        replace(step.point, after=max(round(step.seconds / 2, 1), 0.1))
        for step in steps
        if has_effect(step) and step.seconds >= SHORTEST_SECONDS
    ]


def kills(steps: Sequence[Step], moments: Sequence[float]) -> tuple[list[str], list[str]]:
    """Return where an operation is killed, or at which moments of a service: where it leaves a state of its own, and where not."""
    first = [*(step.point for step in distinct(steps)), *within(steps)]
    begun = before_effects(steps)
    others = [step.point for step in steps if step.point not in first and step.point not in begun]
    return [BEFORE] * bool(begun) + [str(one) for one in first or moments], [str(one) for one in others]


def of_operation(
    operation: str, steps: Sequence[Step], moments: Sequence[float], random_order: random.Random
) -> list[Case]:
    """Return an operation's cases: undisturbed first, then faults and kills in turn, in a random order each."""
    faults = [Case(operation, fault.name) for fault in FAULTS]
    early, late = kills(steps, moments)
    for part in (faults, early, late):
        random_order.shuffle(part)
    turns = chain.from_iterable(zip_longest((Case(operation, KILL, at) for at in early), faults))
    return [
        Case(operation, UNDISTURBED),
        *(case for case in turns if case),
        *(Case(operation, KILL, at) for at in late),
    ]


def in_turn(queues: Sequence[Sequence[Case]]) -> list[Case]:
    """Return the cases of all operations in turn, so that a campaign that is cut short has something of each."""
    return [case for case in chain.from_iterable(zip_longest(*queues)) if case]


def plan(traces: Mapping[str, Sequence[Step]], moments: Mapping[str, Sequence[float]], seed: int) -> list[Case]:
    """Return all cases of the operations in `moments`, in their order. traces: the steps of the undisturbed runs that are known."""
    return in_turn(
        [
            of_operation(operation, traces.get(operation, ()), shares, random.Random(f"{seed} {operation}"))
            for operation, shares in moments.items()
        ]
    )


# The most informative cases for their time: what `make bench-chaos-quick` runs.
SAMPLE = (
    Case("change", KILL, "Start the member (2)"),
    Case("renew", KILL, "Start the member"),
    Case("change", "host stopped"),
    Case("change", "leader cut off"),
)
