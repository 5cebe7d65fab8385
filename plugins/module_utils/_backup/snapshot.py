# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a snapshot of a cluster that can be trusted. Private to the collection.

Knows nothing of Ansible: a timer's program uses it too. ``plan`` only looks, ``save`` does what it planned. Everything that
goes wrong is one SnapshotError or EtcdctlError; the snapshots kept are untouched then.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    bucket_copies,
    check,
    directory_copies,
    store,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    command_line,
    failure_reason,
    run_etcd_tool,
)


@dataclass(frozen=True)
class Request:
    """What to take and what to keep.

    ``member`` is the name of the member to take it from, empty for a healthy follower. ``keep_days`` None: only the
    number counts. ``reserve`` is the bytes that have to stay free; ``timeout`` the seconds for each long step.
    With ``encrypt_to`` nobody but those recipients can read the snapshot; ``copy_dir`` and ``bucket`` each get a copy, with the
    same retention.
    """

    directory: str
    prefix: str
    member: str
    keep: int
    keep_days: int | None
    reserve: int
    timeout: int
    encrypt_to: tuple[str, ...] = ()
    copy_dir: str = ""
    bucket: backup_bucket.Bucket | None = None


@dataclass(frozen=True)
class Tools:
    """How to ask etcd, and the program that reads snapshots."""

    connection: Connection
    etcdutl_path: str


@dataclass(frozen=True)
class Plan:
    """What would be done: from whom, where to, about how large, and what it would replace. Sizes are bytes."""

    cluster_id: str
    member: Member
    path: str
    size: int
    stored: list[store.Stored]
    removed: list[str]
    left_alone: list[dict[str, str]]
    encryption: str = ""


@dataclass(frozen=True)
class Saved:
    """What was done. ``failures`` says in sentences what was not: old ones not removed, no copy; ``duration`` is in seconds.

    ``copies`` are the path and the URL of those that were made.
    """

    plan: Plan
    metadata: Metadata
    duration: float
    removed: list[str]
    failures: list[str]
    copies: list[str]


def check_request(request: Request) -> None:
    """Raise SnapshotError for a request that cannot be meant."""
    store.check_prefix(request.prefix)
    if request.keep < 1:
        raise SnapshotError(f"keep is {request.keep}, but must be at least 1: the newest snapshot is always kept")
    if request.keep_days is not None and request.keep_days < 1:
        raise SnapshotError(f"keep_days is {request.keep_days}, but must be at least 1; leave it out to keep by number")
    check.check_timeout(request.timeout)
    if request.copy_dir and os.path.realpath(request.copy_dir) == os.path.realpath(request.directory):
        raise SnapshotError(
            f"copy_dir is {request.copy_dir}, where the snapshots are: name another directory, or leave it out"
        )
    if request.bucket:
        try:
            backup_bucket.check(request.bucket)
        except backup_bucket.BucketError as error:
            raise SnapshotError(f"bucket: {error}") from error


def check_copies(request: Request, size: int) -> None:
    """Raise SnapshotError if a snapshot of so many bytes could not be copied, as it is now. Changes nothing."""
    try:
        if request.copy_dir:
            directory_copies.check(request.copy_dir, size)
        if request.bucket:
            backup_bucket.connect(request.bucket).entries()
    except SnapshotError as error:
        raise SnapshotError(f"there would be no copy in {request.copy_dir}: {error}") from error
    except backup_bucket.BucketError as error:
        raise SnapshotError(f"there would be no copy in the bucket: {error}") from error


def choose_member(cluster: Cluster, name: str, near: str) -> Member:
    """Choose whom to take the snapshot from. Raises SnapshotError if nobody is fit.

    name: the member that was asked for, or empty: then a healthy follower, rather the one named ``near``, then the one
    that lags least; the leader only if no follower is healthy.
    While the alarm CORRUPT is set it is not known whose data is right, and a wrong snapshot would in time push out
    the right ones. A learner and a member without quorum may be behind the cluster by any amount.
    """
    if not cluster.members:
        raise SnapshotError(f"no member of the cluster answers ({cluster.error}); start etcd, or set endpoints")
    corrupt = [alarm["member"] for alarm in cluster.alarms if alarm["type"] == "CORRUPT"]
    if corrupt:
        raise SnapshotError(f"the alarm CORRUPT is set for {', '.join(corrupt)}; restore or replace that member first")
    voters = [member for member in cluster.members if member.votes]
    if name:
        wanted = cluster.member(name)
        if wanted is None or not wanted.votes:
            names = ", ".join(member.name or member.id for member in voters)
            raise SnapshotError(f"the cluster has no voting member named {name!r}; those are {names}")
        if not wanted.healthy or wanted.version is None:
            raise SnapshotError(f"{name} is not healthy: {wanted.health_error}; choose another member, or none")
        return wanted
    fit = [member for member in voters if member.healthy and member.version is not None]
    if not fit:
        ill = "; ".join(f"{member.name or member.id}: {member.health_error}" for member in voters)
        raise SnapshotError(f"no voting member is healthy ({ill}); repair the cluster first")
    return min(fit, key=lambda one: (one.role == "leader", one.name != near, one.lag or 0, one.name))


def plan(request: Request, tools: Tools, endpoints: list[str], now: float) -> Plan:
    """Look at the directory and the cluster, and say what a backup would do. Changes nothing.

    now: seconds since 1970. Raises SnapshotError or EtcdctlError for whatever would stop the backup.
    """
    check_request(request)
    _check_directory(request.directory)
    check.check_program(tools.etcdutl_path)
    encryption = crypt.method(request.encrypt_to)
    cluster, answered_by = observe_cluster(tools.connection, endpoints)
    at_first = (member.name for member in cluster.members if member.endpoint == endpoints[0])
    near = answered_by if len(endpoints) == 1 else next(at_first, "")
    member = choose_member(cluster, request.member, near)
    size = (member.db_size or 0) + check.DIGEST_BYTES
    with check.clear_errors(request.directory):
        room = os.statvfs(request.directory)
        stored = store.scan(request.directory, request.prefix)
    free = room.f_bavail * room.f_frsize
    needed = 2 * size if encryption else size  # in the clear for the moment in which it is verified
    if free < needed + request.reserve:
        raise SnapshotError(
            f"{request.directory} has {format_size(free)} free, but the snapshot needs {format_size(needed)} and "
            f"{format_size(request.reserve)} are to stay free: free some space, or lower keep or reserve"
        )
    return Plan(
        cluster_id=cluster.id,
        member=member,
        path=store.new_path(request.directory, request.prefix, now, encryption),
        size=size,
        stored=stored,
        removed=store.removable(stored, cluster_id=cluster.id, keep=request.keep, keep_days=request.keep_days, now=now),
        left_alone=store.left_alone(stored, cluster.id),
        encryption=encryption,
    )


def _check_directory(directory: str) -> None:
    if not os.path.isdir(directory):
        raise SnapshotError(f"{directory} is no directory on this host: make it, or mount its volume, first")
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise SnapshotError(
            f"{directory} cannot be read and written by user {os.geteuid()}: choose another directory or user (become: true)"
        )


def save(
    request: Request,
    tools: Tools,
    endpoints: list[str],
    *,
    run: check.Runner = run_etcd_tool,
    clock: Callable[[], float] = time.time,
) -> Saved:
    """Take a snapshot, verify it, put it in place, and only then remove what retention no longer wants.

    Raises SnapshotError or EtcdctlError; no snapshot has been removed then, and no new one is in sight.
    """
    began = time.monotonic()
    check_request(request)
    _check_directory(request.directory)
    with check.clear_errors(request.directory), store.locked(request.directory):
        store.remove_leftovers(request.directory, request.prefix)
        now = clock()
        planned = plan(request, tools, endpoints, now)
        with store.workplace(request.directory) as folder:
            temporary = os.path.join(folder, "snapshot.db")
            _download(planned.member, temporary, tools, request.timeout, run)
            metadata = _examine(temporary, planned, tools, request.timeout, run, int(now))
            if planned.encryption:
                temporary, metadata = _encrypt(temporary, planned.encryption, metadata, request)
            store.publish(temporary, planned.path, metadata)
        removed, failures = store.remove(planned.removed)
        failures = [f"an old one could not be removed: {failure}" for failure in failures]
    copies, problems = _copy(request, planned.path, metadata, now)
    return Saved(planned, metadata, time.monotonic() - began, removed, failures + problems, copies)


def _copy(request: Request, path: str, metadata: Metadata, now: float) -> tuple[list[str], list[str]]:
    """Copy a snapshot wherever it is wanted. Returns the copies and what went wrong."""
    unwanted = functools.partial(
        store.removable, cluster_id=metadata.cluster_id, keep=request.keep, keep_days=request.keep_days, now=now
    )
    made = []
    if request.copy_dir:
        made.append(directory_copies.copy(path, metadata, request.copy_dir, request.prefix, unwanted))
    if request.bucket:
        made.append(bucket_copies.copy(path, metadata, request.bucket, request.prefix, unwanted, request.timeout, now))
    return [copy for copy, _problems in made if copy], [problem for _copy, problems in made for problem in problems]


def _encrypt(path: str, program: str, metadata: Metadata, request: Request) -> tuple[str, Metadata]:
    """Replace a verified snapshot by its encrypted form."""
    target = f"{path}.{program}"
    try:
        crypt.encrypt(program, request.encrypt_to, path, target, request.timeout)
    except SnapshotError as error:
        raise SnapshotError(f"{error}; the snapshots kept are untouched") from error
    os.unlink(path)
    size, sha256 = crypt.sha256_of(target)
    return target, replace(metadata, encryption=program, encrypted_size=size, encrypted_sha256=sha256)


def _download(member: Member, path: str, tools: Tools, timeout: int, run: check.Runner) -> None:
    """Let etcdctl save a snapshot of one member. It writes beside ``path``, synchronises and renames."""
    link = replace(tools.connection, timeout=float(timeout))
    answer = run([*command_line(link, [member.endpoint]), "snapshot", "save", path], timeout + 1.0, "etcdctl")
    if answer.returncode != 0:
        # Beside the reason why the file could not be written, etcdctl logs a closed pipe, which says nothing.
        refused = (
            line for line in answer.stderr.splitlines() if line.startswith("Error: ") and f"{path}.part: " in line
        )
        cause = next((line.rpartition(".part: ")[2] for line in refused), failure_reason(answer))
        late = answer.returncode is None or "deadline exceeded" in cause
        hint = f" (it had {timeout} s: raise timeout)" if late else ""
        raise SnapshotError(f"no snapshot of {member.name}: {cause}{hint}; the snapshots kept are untouched")
    os.chmod(path, 0o600)


def _examine(path: str, planned: Plan, tools: Tools, timeout: int, run: check.Runner, now: int) -> Metadata:
    """Verify what arrived and describe it."""
    try:
        size, sha256 = check.digest(path)
        status = check.read_status(path, tools.etcdutl_path, timeout, run)
    except SnapshotError as error:
        # Its name is a passing one.
        text = str(error).replace(path, f"the snapshot from {planned.member.name}")
        raise SnapshotError(f"{text}; the snapshots kept are untouched") from error
    return Metadata(
        cluster_id=planned.cluster_id,
        member=planned.member.name,
        member_id=planned.member.id,
        etcd_version=planned.member.version or "",
        size=size,
        sha256=sha256,
        taken_at=now,
        **asdict(status),
    )
