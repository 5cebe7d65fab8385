"""Kill one run after the other, each at an effect at which none was killed before, until a run ends by itself.

What a play has done lasts, so the next run goes on from there: such a walk meets every state of the hosts that the play passes through. An effect
is a task on a host that changed it, or that may have changed the cluster or taken its lock. Which effects were met is kept in a file between the runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

# In place of a task's name: the moments at which the runs of a walk are killed.
AFTER, MIDDLE = "the task after each effect", "the middle of each effect"
WALKS = (AFTER, MIDDLE)
# They change the state of the cluster or take its lock, whether or not they report a change.
EFFECTIVE = ("etcd_member", "etcd_restore", "etcd_rescue")


def is_effective(action: str) -> bool:
    """Return whether an action may change the cluster without a word."""
    return action.rsplit(".", 1)[-1] in EFFECTIVE


def begin(path: Path, seconds: Mapping[str, float]) -> None:
    """Forget what was met. seconds: how long after its beginning a task is in its middle."""
    path.write_text(json.dumps({"seconds": dict(seconds), "met": []}))


class Walk:
    """The effects that were met, in a file, and those of this run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text()) if path.exists() else {"seconds": {}, "met": []}
        self.seconds: dict[str, float] = kept["seconds"]
        self.met: set[tuple[str, str, int]] = {(task, host, number) for task, host, number in kept["met"]}
        self.seen: Counter[tuple[str, str]] = Counter()

    def meet(self, task: str, host: str) -> bool:
        """Note an effect of this run; return whether no run has met it before."""
        self.seen[task, host] += 1
        effect = (task, host, self.seen[task, host])
        if effect in self.met:
            return False
        self.met.add(effect)
        self.path.write_text(json.dumps({"seconds": self.seconds, "met": sorted(self.met)}))
        return True
