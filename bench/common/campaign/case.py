"""A case of a campaign: one operation with one fault."""

from __future__ import annotations

from dataclasses import dataclass

from bench.common.campaign.faults import BY_NAME

UNDISTURBED, KILL = "none", "killed"


@dataclass(frozen=True)
class Case:
    """One operation with one fault. at: where the play was killed, or the share of its time for a service."""

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
