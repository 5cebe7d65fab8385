"""An operation that is prepared, run with a fault, and run again if it failed.

Variables that an operation changed stay for the next ones, as in an inventory that is edited.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.common.campaign import hosts, play
from bench.common.campaign.client import Write
from bench.common.campaign.faults import Injection
from bench.common.campaign.play import Outcome, Point
from bench.common.lab import addresses

BACKUPS = "/var/backups/etcd"


@dataclass
class Lab:
    """The hosts under test, and the variables that site.yml is run with."""

    variables: dict[str, Any] = field(default_factory=dict)
    fresh: Callable[[], None] = hosts.rebuild

    def arguments(self, playbook: str = "site.yml", **more: Any) -> list[str]:
        """Return the arguments of ansible-playbook."""
        variables = {**self.variables, **more}
        return [playbook, *(["-e", json.dumps(variables)] if variables else [])]

    def rebuild(self) -> None:
        """Begin with bare hosts."""
        self.variables = {}
        self.fresh()

    def settle(self) -> bool:
        """Run site.yml until it changes nothing, twice at most; return whether the cluster is healthy then."""
        for _ in range(2):
            if play.run(self.arguments()).unchanged:
                break
        return hosts.wait_healthy(30, self.members())

    def members(self) -> tuple[str, ...]:
        """Return the hosts that have a member now."""
        return tuple(addresses())


class Operation:
    """An operation to disturb. point: the task at whose beginning a fault begins; moments: when a service is killed, as shares of its duration."""

    name = ""
    about = ""
    point: Point | None = None
    moments: tuple[float, ...] = ()
    killable = True
    # The smallest number of voting members during the operation, which decides how many are a majority; 0: all hosts.
    voters = 0
    # The client has a cluster to write to when the operation begins.
    serves_before = True

    def prepare(self, lab: Lab, number: int) -> None:
        """Bring the hosts into the state before the operation."""

    def prepare_under_load(self, lab: Lab) -> None:
        """Prepare what needs the client's writes, just before the operation."""

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        """Run it with a fault."""
        raise NotImplementedError

    def rerun(self, lab: Lab, kill: str = "") -> Outcome:
        """Run it again as its user or its timer would after a failure. kill: the moment at which to kill it, empty for none."""
        return self.run(lab, kill=kill)

    def has_work_left(self) -> bool:
        """Return whether a successful run left work for the next one, as a timer's service may."""
        return False

    def must_survive(self, write: Write) -> bool:
        """Return whether the cluster must still have this acknowledged write afterwards."""
        return True

    def is_complete(self) -> bool:
        """Return whether its result exists, whatever it reported."""
        return True


class Play(Operation):
    """A run of a playbook."""

    def arguments(self, lab: Lab) -> list[str]:
        """Return the arguments of ansible-playbook."""
        return lab.arguments()

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        if injection:
            return play.run(self.arguments(lab), hold=self.point, fault=injection.begin)
        return play.run(self.arguments(lab), kill=play.parse_point(kill) if kill else None)
