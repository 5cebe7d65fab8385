# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a verified snapshot of a cluster.

Independent of Ansible, because the timers' program uses it too. ``plan_snapshot`` changes nothing, ``save_snapshot`` carries the
plan out, ``copy_snapshot`` makes the copies, and ``take_snapshot`` does both.
Errors raise SnapshotError or EtcdctlError and leave existing snapshots unchanged.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    bucket_copies,
    check,
    directory_copies,
    drilled_copies,
    retention,
    store,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, SnapshotError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_and_drop_cache
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_serving_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    command_line,
    failure_reason,
    run_etcd_tool,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import unmounted_problem


@dataclass(frozen=True)
class Request:
    """A request for a snapshot, with its retention.

    ``member`` is the member to take it from, empty for a healthy follower. Without ``keep_days`` only the number ``keep`` counts.
    ``reserve`` is the bytes that must stay free, ``timeout`` the time limit of each long step in seconds. Only the recipients in
    ``encrypt_to`` can decrypt the snapshot. ``copy_dir`` and ``bucket`` each get a copy, with the same retention.
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
    """The connection to etcd, and the program that verifies snapshots."""

    connection: Connection
    etcdutl_path: str


@dataclass(frozen=True)
class Plan:
    """The planned snapshot: its member, path and approximate size in bytes, and the snapshots that retention removes."""

    cluster_id: str
    member: Member
    path: str
    size: int
    stored: list[store.StoredSnapshot]
    removed: list[str]
    left_alone: list[dict[str, str]]
    encryption: str = ""


@dataclass(frozen=True)
class SavedSnapshot:
    """The result of a backup.

    ``failures`` are sentences about old snapshots that were not removed and copies that failed. ``copies`` are the paths and URLs
    of the copies. ``duration`` is in seconds.
    """

    plan: Plan
    metadata: Metadata
    duration: float
    removed: list[str]
    failures: list[str]
    copies: list[str]


def check_request(request: Request) -> None:
    """Raise SnapshotError for an invalid request."""
    store.check_prefix(request.prefix)
    if request.keep < 1:
        raise SnapshotError(
            f"keep is {request.keep}, but must be at least 1, because the newest snapshot is always kept"
        )
    if request.keep_days is not None and request.keep_days < 1:
        raise SnapshotError(
            f"keep_days is {request.keep_days}, but must be at least 1: leave it out to keep by number only"
        )
    check.check_timeout(request.timeout)
    # Without resolving links: a share whose server does not answer must not stop the backup.
    if request.copy_dir and os.path.abspath(request.copy_dir) == os.path.abspath(request.directory):
        raise SnapshotError(
            f"copy_dir is {request.copy_dir}, the directory of the snapshots: set another directory, or leave it out"
        )
    if request.bucket:
        try:
            backup_bucket.check_bucket(request.bucket)
        except backup_bucket.BucketError as error:
            raise SnapshotError(f"bucket: {error}") from error


def check_copies(request: Request, size: int) -> None:
    """Raise SnapshotError if a snapshot of ``size`` bytes could not be copied now. Changes nothing."""
    try:
        if request.copy_dir:
            directory_copies.check_copy_dir(request.copy_dir, size, request.directory)
        if request.bucket:
            backup_bucket.connect(request.bucket).entries()
    except SnapshotError as error:
        raise SnapshotError(f"a copy to {request.copy_dir} would fail: {error}") from error
    except OSError as error:
        raise SnapshotError(f"a copy to {request.copy_dir} would fail: {error.strerror}") from error
    except backup_bucket.BucketError as error:
        raise SnapshotError(f"a copy to the bucket would fail: {error}") from error


def choose_member(cluster: Cluster, name: str, near: str, avoid: str = "") -> Member:
    """Choose the member to take the snapshot from, or to compare it with. Raises SnapshotError if there is none.

    ``name`` is the requested member. If it is empty, prefer a healthy follower: the one named ``near``, then the one with the
    smallest lag; the leader only if no follower is healthy, and ``avoid`` only if no other member is.
    With the alarm CORRUPT set it is unknown whose data is correct, and retention would replace correct snapshots by wrong ones.
    Learners and members without quorum may lag by any amount.
    """
    if cluster.unreachable:
        raise SnapshotError(cluster.unreachable)
    if cluster.corruption:
        raise SnapshotError(cluster.corruption)
    voters = [member for member in cluster.members if member.votes]
    if name:
        wanted = cluster.member(name)
        if wanted is None or not wanted.votes:
            names = ", ".join(member.name or member.id for member in voters)
            raise SnapshotError(f"the cluster has no voting member named {name!r}; those are {names}")
        if not wanted.healthy or wanted.version is None:
            raise SnapshotError(
                f"{name} is not healthy: {wanted.health_error}; choose another member, or leave member out"
            )
        return wanted
    candidates = [member for member in voters if member.healthy and member.version is not None]
    if not candidates:
        unhealthy = "; ".join(f"{member.name or member.id}: {member.health_error}" for member in voters)
        raise SnapshotError(f"no voting member is healthy ({unhealthy}); repair the cluster first")
    return min(
        candidates, key=lambda one: (one.name == avoid, one.role == "leader", one.name != near, one.lag or 0, one.name)
    )


def plan_snapshot(request: Request, tools: Tools, endpoints: list[str], now: float) -> Plan:
    """Plan a backup from the state of the directory and the cluster. Changes nothing.

    ``now`` is in seconds since 1970. Raises SnapshotError or EtcdctlError for anything that would stop the backup.
    """
    check_request(request)
    _check_directory(request.directory)
    check.check_etcdutl(tools.etcdutl_path)
    encryption = crypt.choose_program(request.encrypt_to)
    cluster, answered_by = observe_serving_cluster(tools.connection, endpoints)
    at_first = (member.name for member in cluster.members if member.endpoint == endpoints[0])
    near = answered_by if len(endpoints) == 1 else next(at_first, "")
    member = choose_member(cluster, request.member, near)
    size = (member.db_size or 0) + check.DIGEST_BYTES
    with check.translate_os_errors(request.directory):
        filesystem = os.statvfs(request.directory)
        stored = store.scan_directory(request.directory, request.prefix)
    free = filesystem.f_bavail * filesystem.f_frsize
    needed = 2 * size if encryption else size  # the unencrypted file exists while it is verified
    if free < needed + request.reserve:
        raise SnapshotError(
            f"{request.directory} has {format_size(free)} free, but the snapshot needs {format_size(needed)} and "
            f"{format_size(request.reserve)} must stay free: free some space, or lower keep or reserve"
        )
    return Plan(
        cluster_id=cluster.id,
        member=member,
        path=store.new_path(request.directory, request.prefix, now, encryption),
        size=size,
        stored=stored,
        removed=retention.expired_paths(
            stored, cluster_id=cluster.id, keep=request.keep, keep_days=request.keep_days, now=now
        ),
        left_alone=retention.untouched(stored, cluster.id, now),
        encryption=encryption,
    )


def _check_directory(directory: str) -> None:
    """Raise SnapshotError if the directory cannot be used, or its volume is not mounted and would hide the snapshots later."""
    if not os.path.isdir(directory):
        raise SnapshotError(f"{directory} is not a directory on this host: create it, or mount its volume")
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise SnapshotError(
            f"{directory} cannot be read and written by user {os.geteuid()}: choose another directory or user (become: true)"
        )
    with check.translate_os_errors(directory):
        os.statvfs(directory)  # mounts an automount
    problem = unmounted_problem(directory)
    if problem:
        raise SnapshotError(f"{directory}: {problem}")


def take_snapshot(
    request: Request,
    tools: Tools,
    endpoints: list[str],
    *,
    run: check.Runner = run_etcd_tool,
    clock: Callable[[], float] = time.time,
) -> SavedSnapshot:
    """Save a snapshot and copy it. Raises SnapshotError or EtcdctlError before anything is published or removed."""
    return copy_snapshot(request, save_snapshot(request, tools, endpoints, run=run, clock=clock))


def save_snapshot(
    request: Request,
    tools: Tools,
    endpoints: list[str],
    *,
    run: check.Runner = run_etcd_tool,
    clock: Callable[[], float] = time.time,
) -> SavedSnapshot:
    """Take a snapshot, verify and publish it, and only then apply retention in its directory.

    Raises SnapshotError or EtcdctlError before anything is published or removed.
    """
    began = time.monotonic()
    check_request(request)
    _check_directory(request.directory)
    with check.translate_os_errors(request.directory), store.lock_directory(request.directory):
        store.remove_leftovers(request.directory, request.prefix)
        now = clock()
        planned = plan_snapshot(request, tools, endpoints, now)
        with store.staging_folder(request.directory) as folder:
            temporary = os.path.join(folder, "snapshot.db")
            _download(planned.member, temporary, tools, request.timeout, run)
            metadata = _verify(temporary, planned, tools, request.timeout, run, int(now))
            if planned.encryption:
                temporary, metadata = _encrypt(temporary, planned.encryption, metadata, request)
            store.publish(temporary, planned.path, metadata)
        lost = retention.lost_revisions(planned.stored, metadata)
        removed, failures = store.remove_snapshots([] if lost else planned.removed)
        failures = [lost] * bool(lost) + [f"an old snapshot could not be removed: {failure}" for failure in failures]
    return SavedSnapshot(planned, metadata, time.monotonic() - began, removed, failures, [])


def copy_snapshot(request: Request, saved: SavedSnapshot) -> SavedSnapshot:
    """Make the requested copies of a saved snapshot. Needs no lock of the cluster: the directory has its own, and names in a bucket are claimed."""
    began = time.monotonic()
    path, metadata, now = saved.plan.path, saved.metadata, saved.metadata.taken_at

    def expired(stored: list[store.StoredSnapshot]) -> list[str]:
        if retention.lost_revisions(stored, metadata):
            return []
        return retention.expired_paths(
            stored, cluster_id=metadata.cluster_id, keep=request.keep, keep_days=request.keep_days, now=now
        )

    passed = drilled_copies.newest_passed(saved.plan.stored, metadata.cluster_id, now)
    results = []
    if request.bucket:  # first, because a share whose server does not answer takes until the time limit
        results.append(
            bucket_copies.copy_to_bucket(
                path, metadata, request.bucket, request.prefix, expired, request.timeout, now, passed
            )
        )
    if request.copy_dir:
        results.append(
            directory_copies.copy_to_directory(
                path, metadata, request.copy_dir, request.prefix, expired, request.timeout, passed
            )
        )
    return replace(
        saved,
        duration=saved.duration + time.monotonic() - began,
        failures=[*saved.failures, *(problem for _copy, problems in results for problem in problems)],
        copies=[copy for copy, _problems in results if copy],
    )


def _encrypt(path: str, program: str, metadata: Metadata, request: Request) -> tuple[str, Metadata]:
    """Encrypt a verified snapshot and remove the unencrypted file. Returns the new path and metadata."""
    target = f"{path}.{program}"
    try:
        crypt.encrypt(program, request.encrypt_to, path, target, request.timeout)
    except SnapshotError as error:
        raise SnapshotError(f"{error}; existing snapshots are unchanged") from error
    os.unlink(path)
    size, sha256 = crypt.sync_and_hash(target)
    return target, replace(metadata, encryption=program, encrypted_size=size, encrypted_sha256=sha256)


def _download(member: Member, path: str, tools: Tools, timeout: int, run: check.Runner) -> None:
    """Save a snapshot of one member with etcdctl, which writes ``path``.part, flushes and renames it."""
    link = replace(tools.connection, timeout=float(timeout))
    answer = run([*command_line(link, [member.endpoint]), "snapshot", "save", path], timeout + 1.0, "etcdctl")
    if answer.returncode != 0:
        # If the file cannot be written, etcdctl reports the cause and a closed pipe, which is useless.
        reasons = (
            line for line in answer.stderr.splitlines() if line.startswith("Error: ") and f"{path}.part: " in line
        )
        cause = next((line.rpartition(".part: ")[2] for line in reasons), failure_reason(answer))
        timed_out = answer.returncode is None or "deadline exceeded" in cause
        hint = f" (time limit {timeout} s: raise timeout)" if timed_out else ""
        raise SnapshotError(f"no snapshot of {member.name}: {cause}{hint}; existing snapshots are unchanged")
    os.chmod(path, 0o600)


def _verify(path: str, planned: Plan, tools: Tools, timeout: int, run: check.Runner, now: int) -> Metadata:
    """Verify the downloaded snapshot and return its metadata."""
    try:
        sync_and_drop_cache(path)
        size, sha256 = check.verify_digest(path)
        status = check.read_status(path, tools.etcdutl_path, timeout, run)
    except SnapshotError as error:
        # Messages must not contain the name of the temporary file.
        text = str(error).replace(path, f"the snapshot from {planned.member.name}")
        raise SnapshotError(f"{text}; existing snapshots are unchanged") from error
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
