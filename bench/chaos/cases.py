"""The cases of the campaign: each operation undisturbed, with each fault, and killed in every state that it passes through.

An effect is a task that changes a host or the cluster. A kill before the first effect leaves the hosts unchanged: successive runs are killed, each
at the next task. After it, runs are killed at the task after each effect and, in a separate case, in the middle of each effect (walk.py). A kill at
any other task leaves the same state as a kill at the task before.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, zip_longest

from bench.common.campaign.case import KILL, UNDISTURBED, Case
from bench.common.campaign.faults import FAULTS
from bench.common.campaign.play import Point, Step
from bench.common.campaign.walk import WALKS, is_effective

MIN_SECONDS = 0.3
# Until the first task of a play begins.
STARTUP_SECONDS = 2.0
# In place of a task's name: a case for all of them.
BEFORE = "each task before the first effect"


def has_effect(step: Step) -> bool:
    """Return whether a step may leave another state behind."""
    return step.changed or is_effective(step.action)


def before_effects(steps: Sequence[Step]) -> list[Point]:
    """Return the beginnings of the steps until one has an effect, that one included."""
    first = next((number for number, step in enumerate(steps) if has_effect(step)), len(steps) - 1)
    return [step.point for step in steps[: first + 1]]


def middles(steps: Sequence[Step]) -> dict[str, float]:
    """Return when each task is in its middle, in seconds after its beginning, for those that have an effect and take long enough to be met."""
    found: dict[str, float] = {}
    for step in steps:
        if has_effect(step) and step.seconds >= MIN_SECONDS:
            found[step.point.task] = min(found.get(step.point.task, step.seconds), round(step.seconds / 2, 2))
    return found


def seconds_of(at: str, steps: Sequence[Step]) -> float:
    """Return how long the runs that BEFORE or a walk kills take at most: each to its kill. 0 for any other moment."""
    early = len(before_effects(steps))
    begun = accumulate((step.seconds for step in steps), initial=STARTUP_SECONDS)
    return sum(
        reached
        for number, (reached, step) in enumerate(zip(begun, steps, strict=False))
        if (at == BEFORE and number < early) or (at in WALKS and has_effect(step))
    )


def kills(steps: Sequence[Step], moments: Sequence[float]) -> list[str]:
    """Return where an operation is killed, or at which moments of a service."""
    return [BEFORE, *WALKS] if steps else [str(one) for one in moments]


def of_operation(
    operation: str, steps: Sequence[Step], moments: Sequence[float], random_order: random.Random
) -> list[Case]:
    """Return an operation's cases: undisturbed first, then faults and kills in turn, in a random order each."""
    faults = [Case(operation, fault.name) for fault in FAULTS]
    killed = [Case(operation, KILL, at) for at in kills(steps, moments)]
    for part in (faults, killed):
        random_order.shuffle(part)
    turns = chain.from_iterable(zip_longest(killed, faults))
    return [Case(operation, UNDISTURBED), *(case for case in turns if case)]


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
