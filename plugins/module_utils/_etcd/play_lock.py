# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's lock as a play takes it: one task acquires it, and a later task of the same play releases it.

No process renews its lease in between, so a play that is killed leaves the lock until the lease expires.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError

OPERATION = "change by Ansible"
# Documented in plugins/doc_fragments/etcdctl.py.
PLAY_ARGUMENTS: dict[str, dict[str, Any]] = {
    "lock_seconds": {"type": "int", "default": 0},
    **{name: {"type": "str", "default": ""} for name in ("play", "ended_play", "running_play")},
}


@dataclass
class PlayLock:
    """The cluster's lock for one play.

    seconds: the lifetime of its lease, 0 for no lock at all. ended_play, running_play: another play of the same controller
    that has ended or still runs. busy: why the lock is unavailable, empty if it is held. held: the lock of the other holder.
    """

    link: Connection
    endpoints: list[str]
    holder: lock.Holder
    seconds: int
    ended_play: str = ""
    running_play: str = ""
    busy: str = ""
    held: lock.HeldLock | None = None
    wait: float = 0
    acquired: float = 0

    @classmethod
    def from_params(cls, link: Connection, params: dict[str, Any]) -> PlayLock:
        """Return the lock that a module's parameters describe: its holder is the same in all tasks of a play for one member."""
        holder = lock.Holder(socket.gethostname(), params["name"], OPERATION, params["play"])
        return cls(
            link,
            params["endpoints"],
            holder,
            params["lock_seconds"],
            ended_play=params["ended_play"],
            running_play=params["running_play"],
        )

    def acquire(self) -> bool:
        """Acquire the lock. While the alarm NOSPACE or CORRUPT is set, it is unavailable and not needed."""
        self.busy, self.held = "", None
        try:
            lock.acquire_lock(
                self.link, self.endpoints, self.holder, self.seconds, again=True, ended_play=self.ended_play
            )
        except (lock.NoSpaceError, lock.CorruptError):
            pass
        except lock.LockError as error:
            self.busy = str(error)
            self.held = error.held if isinstance(error, lock.LockBusyError) else None
        self.acquired = 0 if self.busy else time.monotonic()
        return not self.busy

    def find(self) -> lock.HeldLock | None:
        """Return the lock if this play has it, or the ended one. Raises LockError or EtcdctlError."""
        self.held = lock.read_lock(self.link, self.endpoints)
        self.busy = str(self.held) if self.held else ""
        plays = {play for play in (self.holder.play, self.ended_play) if play}
        return self.held if self.held and self.held.holder.play in plays else None

    def is_held_for_another_change(self, *, any_member: bool = False) -> bool:
        """Return whether another play, which is not known to have ended, holds the lock to change this member, or any member."""
        holder = self.held.holder if self.held else None
        return (
            holder is not None
            and holder.operation == OPERATION
            and (any_member or holder.member == self.holder.member)
            and holder.play not in (self.holder.play, self.ended_play)
        )

    def is_held_by_this_play(self) -> bool:
        """Return whether this play holds the lock for another member. Waiting does not help: the play continues only after this task has ended."""
        return bool(self.held and self.holder.play and self.held.holder.play == self.holder.play)

    def is_fresh(self) -> bool:
        """Return whether less than a quarter of the lock's lifetime has passed, so that it needs no renewal."""
        return bool(self.acquired) and time.monotonic() < self.acquired + self.seconds / 4

    def unjudged_play(self) -> str:
        """Return the play of this controller that holds the lock, if it is unknown whether it has ended."""
        play = self.held.holder.play if self.held else ""
        same = play.rsplit(":", 2)[0] == self.holder.play.rsplit(":", 2)[0]
        return play if play and same and play not in (self.holder.play, self.ended_play, self.running_play) else ""

    def longest_wait(self, waited: float) -> float:
        """Return how long waiting helps, in seconds since the first attempt: until the lease of another play expires.

        Read once: a play that runs gets another lease for its next member. 0 if there is no lease to wait for.
        """
        if self.held and self.held.holder.operation == OPERATION and not self.wait:
            self.wait = waited + self._remaining() + lock.POLL_SECONDS * 2
        return self.wait

    def outlook(self) -> str:
        """Describe when the lease of the other holder expires, and how to end a timer's operation; empty without a holder.

        An operation whose process is stuck, as on a share that does not answer, renews its lease for hours.
        """
        if self.held is None:
            return ""
        holder = self.held.holder
        timer = holder.operation != OPERATION
        stop = f". If it is stuck, end it on {holder.host}: systemctl stop 'headroom-*.service'" if timer else ""
        return f"; the lock's lease expires in {self._remaining()} s unless its holder renews it{stop}"

    def _remaining(self) -> int:
        try:
            return lock.remaining_seconds(self.link, self.endpoints, self.held.lease) if self.held else 0
        except lock.LockError:
            return 0

    def release(self, patience: float = 0) -> None:
        """Release the lock if this play holds it; try again for ``patience`` seconds. If the cluster does not answer, the lease expires."""
        if self.seconds > 0:
            with contextlib.suppress(lock.LockError, EtcdctlError):
                lock.release_lock_of(self.link, self.endpoints, self.holder, patience)

    def release_for(self, members: Sequence[str]) -> bool:
        """Release the lock that this play still holds for one of these members, because its release failed.

        Returns whether the play holds it for one of them. If the release fails again, the next attempt to acquire the lock finds it still held.
        """
        if not (self.held and self.is_held_by_this_play() and self.held.holder.member in members):
            return False
        with contextlib.suppress(lock.LockError, EtcdctlError):
            lock.release_lock(self.link, self.endpoints, self.held.lease)
        return True
