"""Kill successive runs of a play, each at an effect at which no run was killed before, until a run ends by itself.

The changes of a killed run last, so the next run continues from there: such a walk passes through every state of the hosts that the play passes
through. An effect is a task on a host that changed it, or that may have changed the cluster or taken its lock. A file keeps the effects between runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

# In place of a task's name: the moments at which the runs of a walk are killed.
AFTER, MIDDLE = "the task after each effect", "the middle of each effect"
WALKS = (AFTER, MIDDLE)
# Modules that may change the cluster or take its lock without reporting a change.
EFFECTIVE = ("etcd_member", "etcd_restore", "etcd_rescue")


def is_effective(action: str) -> bool:
    """Return whether an action may change the cluster without reporting a change."""
    return action.rsplit(".", 1)[-1] in EFFECTIVE


def begin(path: Path, seconds: Mapping[str, float]) -> None:
    """Begin a walk. seconds: the time from the beginning of each task to its middle."""
    path.write_text(json.dumps({"seconds": dict(seconds), "met": []}))


class Walk:
    """The effects at which runs were killed, in a file, and the effects of this run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text()) if path.exists() else {"seconds": {}, "met": []}
        self.seconds: dict[str, float] = kept["seconds"]
        self.met: set[tuple[str, str, int]] = {(task, host, number) for task, host, number in kept["met"]}
        self.seen: Counter[tuple[str, str]] = Counter()

    def record(self, task: str, host: str) -> bool:
        """Record an effect of this run; return whether no earlier run was killed at it."""
        self.seen[task, host] += 1
        effect = (task, host, self.seen[task, host])
        if effect in self.met:
            return False
        self.met.add(effect)
        self.path.write_text(json.dumps({"seconds": self.seconds, "met": sorted(self.met)}))
        return True
