"""The operations of the campaign: plays, and the services that timers start."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.chaos.plays import Change, Deploy, Renew, Replace, Restore, Upgrade
from bench.chaos.services import BackUp, Defragment
from bench.common.campaign.faults import Injection
from bench.common.campaign.operation import Lab, Operation
from bench.common.campaign.play import Outcome

IDLE_SECONDS = 25.0


class Idle(Operation):
    """No operation: what a fault costs by itself."""

    name, about = (
        "nothing",
        f"no operation for {IDLE_SECONDS:.0f} s, for comparison: the effect of the fault alone",
    )
    killable = False

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        if injection:
            injection.begin()
        time.sleep(IDLE_SECONDS)
        return Outcome(0, "", seconds=IDLE_SECONDS)


OPERATIONS: tuple[Callable[[], Operation], ...] = (
    Idle,
    Change,
    Renew,
    Restore,
    Upgrade,
    Replace,
    BackUp,
    Defragment,
    Deploy,
)
