# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the steps of a change of the release that are requests to etcd, and wait for their effect."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_steps import minor_below
from ansible_collections.etcdops.headroom.plugins.module_utils._release import change
from ansible_collections.etcdops.headroom.plugins.module_utils._release.view import MemberRelease, observe_releases

PAUSE = 0.5
# While this key exists, an upgrade has enabled a downgrade to make the members save their state, and has to cancel it.
FLUSH_KEY = "/headroom/flush"


class ReleaseError(ValueError):
    """etcd refused a step, or its effect did not come in time; the text says why."""


@dataclass(frozen=True)
class Steps:
    """The cluster, its connection, and the time limit of each wait in seconds."""

    link: Connection
    endpoints: list[str]
    timeout: float

    def observe(self) -> tuple[Cluster, list[MemberRelease]]:
        """Return the cluster and the releases of its members."""
        cluster, _answered_by = observe_cluster(self.link, self.endpoints)
        return cluster, observe_releases(self.link, cluster)

    def enable(self, release: str, *, check: bool = False) -> bool:
        """Enable the downgrade to a release's minor version unless that has been done, and wait for every member's storage.

        Once a member runs the lower release, etcd refuses to enable it again, and the cluster stays at the lower version.
        Returns whether this enabled it.
        """
        self._members()
        if not check:  # the key of an interrupted flush must not mark this downgrade as the flush's
            self._ctl(self.endpoints, "del", FLUSH_KEY)
        return self._enable(release, check=check)

    def _enable(self, release: str, *, check: bool = False) -> bool:
        members = self._members()
        running = change.running_releases(members)
        target = minor(release)
        enabled = target in {member.downgrade_to for member in members}
        changes = not enabled and not change.has_begun(running, release)
        if changes:
            self._downgrade(members, "validate", target)
        if check:
            return changes
        if changes:
            self._downgrade(members, "enable", target)
        self.wait(lambda found: change.enabled_problem(found, release))
        return changes

    def cancel(self, *, check: bool = False) -> bool:
        """Cancel an enabled downgrade. Returns whether one was enabled. Raises ReleaseError if the members that answer do not know."""
        members = self._members()
        problem = change.cancel_problem(members)
        if problem:
            raise ReleaseError(problem)
        enabled = any(member.downgrade_to for member in members)
        if enabled and not check:
            self._downgrade(members, "cancel")
            self.wait(_enabled)
        return enabled

    def withdraw(self, *, check: bool = False) -> bool:
        """Cancel an enabled downgrade, and drop the key of an interrupted flush. Returns whether there was one of them."""
        cancelled = self.cancel(check=check)
        flushing = self.is_flushing()
        if flushing and not check:
            self._ctl(self.endpoints, "del", FLUSH_KEY)
        return cancelled or flushing

    def is_flushing(self) -> bool:
        """Return whether an interrupted flush must be finished."""
        return '"kvs"' in self._ctl(self.endpoints, "get", FLUSH_KEY)

    def flush(self) -> None:
        """Make every member save its state to disk, so that its next start replays no entries of the v2 API.

        etcd does so on its own only after snapshot-count writes, or when the cluster's version goes down. So this enables a
        downgrade and cancels it at once: no member restarts, and a key says that this is under way.
        """
        members = self._members()
        running = change.running_releases(members)
        lower = f"{minor_below(running[-1])}.0"
        self._ctl(self.endpoints, "put", FLUSH_KEY, lower)
        self._enable(lower)
        self.cancel()
        self.wait(lambda found: _cluster_problem(found, f"{minor(running[-1])}.0"))
        self._ctl(self.endpoints, "del", FLUSH_KEY)

    def wait(self, problem: Callable[[list[MemberRelease]], str]) -> None:
        """Wait until the members have no problems. Raises ReleaseError with the last problem."""
        deadline = time.monotonic() + self.timeout
        while True:
            text = problem(self.observe()[1])
            if not text:
                return
            if time.monotonic() >= deadline:
                raise ReleaseError(f"{text} (waited {self.timeout:g} s)")
            time.sleep(PAUSE)

    def _members(self) -> list[MemberRelease]:
        cluster, members = self.observe()
        if not any(member.server for member in members):
            raise ReleaseError(f"no member of the cluster answers{f' ({cluster.error})' if cluster.error else ''}")
        return members

    def _downgrade(self, members: list[MemberRelease], *words: str) -> None:
        """Run etcdctl downgrade through a member of the newest release: 3.5 does not answer."""
        answering = [member for member in members if member.server]
        newest = max(answering, key=lambda member: releases.version_key(member.server))
        self._ctl([newest.endpoint], "downgrade", *words)

    def _ctl(self, endpoints: list[str], *words: str) -> str:
        answer = run_etcdctl(self.link, endpoints, *words)
        if answer.returncode != 0:
            raise ReleaseError(f"etcdctl {' '.join(words)}: {failure_reason(answer)}")
        return answer.stdout


def _enabled(members: list[MemberRelease]) -> str:
    names = [member.name for member in members if member.downgrade_to]
    return f"the downgrade is still enabled on {', '.join(names)}" if names else ""


def _cluster_problem(members: list[MemberRelease], target: str) -> str:
    behind = [member.name for member in members if member.cluster != target or member.storage not in ("", target)]
    return f"cluster and storage version of {', '.join(behind)} are not yet at {target}" if behind else ""
