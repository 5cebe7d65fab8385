# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a change of the cluster's release: its direction, its obstacles, and whether it is complete. Pure.

Source: etcd's upgrade and downgrade guides, https://etcd.io/docs/v3.7/upgrades/ and https://etcd.io/docs/v3.7/downgrades/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import NOSPACE
from ansible_collections.etcdops.headroom.plugins.module_utils._model import release_steps, releases
from ansible_collections.etcdops.headroom.plugins.module_utils._release.view import MemberRelease

UPGRADE, DOWNGRADE, NONE = "upgrade", "downgrade", "none"
# The first series that cannot replay entries of the v2 API; see v2_entries.
WITHOUT_V2 = "3.7"
# The last series that does not answer requests about downgrades.
WITHOUT_CANCEL = "3.5"


@dataclass(frozen=True)
class Request:
    """The change that a play requests.

    started: the release that the unit of each member starts, by the member's name; empty if unknown. downgrade: whether the
    minor version may go down. cancel: whether an enabled downgrade is about to be cancelled. flushing: whether an interrupted
    upgrade enabled the downgrade that is enabled, to make the members save their state. members_planned: whether the play first
    removes or adds members; its plan has judged them and the alarms. max_lag: raft entries.
    """

    release: str
    started: Mapping[str, str]
    downgrade: bool = False
    cancel: bool = False
    flushing: bool = False
    members_planned: bool = False
    max_lag: int = 500


@dataclass(frozen=True)
class Blocker:
    """An obstacle to a change, with its remedy. transient: waiting may help."""

    text: str
    transient: bool = False


def _key(version: str) -> tuple[int, ...]:
    return releases.version_key(minor(version))


def running_releases(members: Sequence[MemberRelease]) -> list[str]:
    """Return the releases that members run, lowest first, each once."""
    return sorted({member.server for member in members if member.server}, key=releases.version_key)


def direction(running: Sequence[str], release: str) -> str:
    """Return in which direction the minor version changes. A cluster of mixed releases is being upgraded or downgraded."""
    if any(_key(version) > _key(release) for version in running):
        return DOWNGRADE
    return UPGRADE if any(_key(version) < _key(release) for version in running) else NONE


def has_begun(running: Sequence[str], release: str) -> bool:
    """Return whether an earlier run began this change: some members run the minor version asked for, others do not yet."""
    return len({minor(version) for version in running} | {minor(release)}) == len({minor(v) for v in running}) > 1


def find_blockers(cluster: Cluster, members: Sequence[MemberRelease], request: Request) -> list[Blocker]:
    """Return all obstacles in the cluster to the change."""
    if not cluster.members:
        why = f" ({cluster.error})" if cluster.error else ""
        return [
            Blocker(f"no member of the cluster answers{why}: start etcd, or deploy the cluster with site.yml", True)
        ]
    found = [Blocker(text) for text in _path_problems(running_releases(members), request)]
    found += [Blocker(text) for text in _downgrade_problems(members, request)]
    # etcd cancels a downgrade with a quorum, and a member that does not start may be the one that the downgrade changed.
    cancels = request.cancel and cluster.quorum.ok
    if not (request.members_planned or cancels):
        found += _member_problems(cluster, request)
    # Once the change has begun, only its completion helps: members of mixed releases cannot be removed.
    if not (request.members_planned or request.cancel or has_begun(running_releases(members), request.release)):
        found += [Blocker(text) for text in _unlisted_problems(cluster, request)]
    if not request.members_planned:
        found += [Blocker(text) for text in _alarm_problems(cluster)]
    return found


def _path_problems(running: Sequence[str], request: Request) -> Iterator[str]:
    """Yield why the running releases cannot be changed to the requested one."""
    target = request.release
    for version in running:
        if _key(version) > _key(target):
            yield from _way_down(version, request)
        elif _key(version) < _key(target):
            problem = release_steps.check_upgrade(version, target)
            if problem:
                yield problem
    keys = [_key(version) for version in running]
    if keys and min(keys) < _key(target) < max(keys):
        yield (
            f"members run {', '.join(running)}, older and newer than {target}: finish the change that was begun, to "
            f"{running[-1]} with the playbook upgrade or to {running[0]} with the playbook downgrade"
        )


def _way_down(version: str, request: Request) -> Iterator[str]:
    target = request.release
    below = release_steps.minor_below(version)
    if minor(target) != below:
        yield (
            f"from etcd {version} to {target} skips a minor version: downgrade to {release_steps.newest_of(below)} first, "
            "one minor version in each run"
        )
    if not request.downgrade:
        yield (
            f"etcd {target} cannot take over the data of {version}: a downgrade has to be enabled in the cluster first. "
            f"Run the playbook downgrade with -e etcd_downgrade_to={target}, or set etcd_version to {minor(version)}.x"
        )


def _downgrade_problems(members: Sequence[MemberRelease], request: Request) -> Iterator[str]:
    """Yield the enabled downgrade if it contradicts the request."""
    enabled = sorted({member.downgrade_to for member in members if member.downgrade_to})
    wanted = minor(request.release)
    if not enabled or request.cancel or request.flushing:
        return
    if enabled != [wanted]:
        yield (
            f"a downgrade to {', '.join(enabled)} is enabled in the cluster: finish it with the playbook downgrade and "
            f"-e etcd_downgrade_to={release_steps.newest_of(enabled[0])}, or go back with -e etcd_downgrade_cancel=true"
        )


def _member_problems(cluster: Cluster, request: Request) -> Iterator[Blocker]:
    # Without quorum no member is healthy. Updating the members that the change stopped is the repair.
    repairs = not cluster.quorum.ok and any(_was_changed(member, request) for member in cluster.members)
    for member in cluster.members:
        name = member.name or member.id
        if member.role == "learner":
            yield Blocker(f"{name} is a learner: promote it (etcdctl member promote {member.id}), or remove it")
        if not member.healthy and not _was_changed(member, request) and not (repairs and member.version):
            yield Blocker(
                f"{name} is not healthy ({member.health_error}): start it, or replace it, before the release changes",
                transient=bool(member.client_urls),
            )
        elif member.healthy and (member.lag or 0) > request.max_lag:
            yield Blocker(
                f"{name} is {member.lag} raft entries behind, at most {request.max_lag} are allowed: wait until it has "
                "caught up, and check its disk and network if it does not",
                transient=True,
            )


def _unlisted_problems(cluster: Cluster, request: Request) -> Iterator[str]:
    """Yield members that no host of the inventory has: they would keep their release, and the cluster would stay mixed."""
    for member in cluster.members:
        if request.started and member.role != "learner" and member.name not in request.started:
            yield (
                f"{member.name or member.id} is a member, but not in the inventory: put its host into the group, or remove it with the playbook scale first"
            )


def _was_changed(member: Member, request: Request) -> bool:
    """Return whether this change stopped the member: its unit already starts the requested release."""
    return request.started.get(member.name) == request.release


def _alarm_problems(cluster: Cluster) -> Iterator[str]:
    full = cluster.with_alarm(NOSPACE)
    if full:
        yield f"the alarm NOSPACE is set for {', '.join(full)}: free space with the playbook nospace first"
    if cluster.corruption:
        yield cluster.corruption


def cancel_problem(members: Sequence[MemberRelease]) -> str:
    """Return why an enabled downgrade cannot be cancelled now: 3.5 neither tells of one nor cancels it. Empty if it can, or none can be enabled."""
    silent = [f"{member.name} ({member.error})" for member in members if not member.server]
    running = running_releases(members)
    if not (silent and running) or _key(running[-1]) > _key(WITHOUT_CANCEL):
        return ""
    return (
        f"no member above etcd {WITHOUT_CANCEL} answers, and {WITHOUT_CANCEL} cannot cancel a downgrade: start {', '.join(silent)} first, or finish the "
        "downgrade. To replace a lost member, a cluster whose other members run it needs no cancellation"
    )


def enabled_problem(members: Sequence[MemberRelease], release: str) -> str:
    """Return why no member may be downgraded yet: cluster and storage of each newer member must be at the target. Empty if one may."""
    target = f"{minor(release)}.0"
    for member in members:
        if member.error:
            return f"{member.name} does not answer ({member.error})"
        if _key(member.server) > _key(release) and not (member.cluster == member.storage == target):
            return f"{member.name} is at cluster version {member.cluster} and storage version {member.storage}, not yet at {target}"
    return ""


def settled_problem(members: Sequence[MemberRelease], release: str) -> str:
    """Return why the change is not complete: every member, the cluster and its storage must be at the release. Empty if it is."""
    target = f"{minor(release)}.0"
    for member in members:
        if member.error:
            return f"{member.name} does not answer ({member.error})"
        if member.server != release:
            return f"{member.name} runs {member.server}, not {release}"
    for member in members:  # after the releases of all: the cluster version waits for them
        if member.cluster != target:
            return f"{member.name} is at cluster version {member.cluster}, not yet at {target}"
        if member.storage and member.storage != target:
            return f"{member.name} is at storage version {member.storage}, not yet at {target}"
        if member.downgrade_to:
            return f"a downgrade to {member.downgrade_to} is still enabled"
    return "" if members else "no member of the cluster answers"
