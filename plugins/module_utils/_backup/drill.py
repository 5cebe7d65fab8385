# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a restore drill: restore a backup into a scratch member and compare it with its cluster.

Independent of Ansible, because the timers' program uses it too. ``plan_drill`` restores nothing, ``run_drill`` restores. Errors raise
ValueError with one sentence. The cluster is only read, and the backups stay unchanged.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    auth_flag,
    check,
    compare,
    key_listing,
    retention,
    snapshot,
    store,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_folder import (
    OVERHEAD,
    check_scratch_dir,
    scratch_folder,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import ScratchMemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import program_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.bbolt import database_path
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_serving_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcd_tool,
)

_DATA = "data"
_NAME = "drill"


class DrillError(ScratchMemberError):
    """A backup that cannot be drilled, or a drill that cannot run."""


class MissingKeyError(DrillError):
    """The backup is encrypted and its key is not on this host, so the drill proves nothing."""


class NoBackupError(DrillError):
    """The directory has no backup of this cluster, and no damaged one."""


class BadBackupError(DrillError):
    """The backup is damaged, cannot be restored, or contradicts its records or the cluster. Other errors say nothing about it."""


@dataclass(frozen=True)
class Request:
    """A request for a drill.

    ``path`` is the backup, empty for the newest in ``directory`` whose name starts with ``prefix``. ``memory_max`` and ``reserve``
    (which stays free in ``scratch_dir``) are in bytes, ``timeout`` is the time limit of the drill in seconds. Without ``live`` the
    backup is restored and read, but not compared with the cluster. ``identity_file`` decrypts an encrypted backup. Messages name
    ``timeout_option`` as the option with the time limit.
    """

    directory: str
    prefix: str
    path: str
    scratch_dir: str
    memory_max: int
    reserve: int
    timeout: int
    live: bool
    identity_file: str = ""
    timeout_option: str = "timeout"


@dataclass(frozen=True)
class Tools:
    """The connection to the cluster, and the programs of its release."""

    connection: Connection
    etcd_path: str
    etcdutl_path: str


@dataclass(frozen=True)
class Plan:
    """The backup to restore, the member to compare it with (None: none), and the bytes needed.

    ``abandoned``: folders of killed drills, which the drill removes first.
    """

    path: str
    metadata: Metadata
    member: Member | None
    needed: int
    abandoned: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """A passed drill. ``seconds`` is the time to restore and start; ``drilled_at`` is in seconds since 1970."""

    plan: Plan
    finding: compare.Finding
    seconds: float
    drilled_at: int

    @property
    def reason(self) -> str:
        """Summary in one sentence."""
        metadata = self.plan.metadata
        return (
            f"{self.plan.path} (revision {metadata.revision}, {format_size(metadata.size)}) restored and served after "
            f"{self.seconds:.1f} s; {self.finding.sentence}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the content of the backup's drill record."""
        return {
            "drilled_at": format_utc(self.drilled_at),
            "etcd_version": self.plan.metadata.etcd_version,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
            **self.finding.as_dict(),
        }


def etcd_next_to(etcdutl_path: str) -> str:
    """Return the path of the etcd in the same folder as etcdutl, with links resolved."""
    return os.path.join(os.path.dirname(os.path.realpath(shutil.which(etcdutl_path) or etcdutl_path)), "etcd")


def plan_drill(request: Request, tools: Tools, endpoints: list[str]) -> Plan:
    """Choose the backup and the member, and check the free space. Changes nothing.

    Raises ScratchMemberError, SnapshotError or EtcdctlError for anything that would stop the drill.
    """
    _check(request, tools)
    cluster, answered_by = observe_serving_cluster(tools.connection, endpoints) if request.live else (None, "")
    path, metadata = choose_backup(request, cluster.id if cluster else "")
    # Compared with the member that it was taken from, a backup of a member that differs from the others would pass.
    member = snapshot.choose_member(cluster, "", answered_by, metadata.member) if cluster else None
    if metadata.encryption and not request.identity_file and crypt.requires_identity_file(metadata.encryption):
        raise MissingKeyError(f"{path} is encrypted: set identity_file to its secret key")
    needed = (3 if metadata.encryption else 2) * metadata.size + OVERHEAD + request.reserve
    abandoned = check_scratch_dir(request.scratch_dir, needed)
    return Plan(path, metadata, member, needed, abandoned)


def _check(request: Request, tools: Tools) -> None:
    check.check_timeout(request.timeout)
    problem = (
        scratch.memory_problem(request.memory_max)
        or program_problem(tools.etcd_path, "etcd")
        or program_problem(tools.etcdutl_path, "etcdutl")
    )
    if problem:
        raise DrillError(problem)


def choose_backup(request: Request, cluster_id: str) -> tuple[str, Metadata]:
    """Return path and metadata of the requested backup, or of the cluster's newest (empty id: any cluster's).

    Raises SnapshotError or DrillError, also if a damaged backup is newer than every good one.
    """
    if request.path:
        metadata = store.read_metadata(request.path)
        check.check_restorable(metadata, cluster_id=cluster_id, etcd_version="")
        return request.path, metadata
    if not os.path.isdir(request.directory):
        raise DrillError(
            f"{request.directory} is not a directory on this host: take a backup first, or mount its volume"
        )
    stored = store.scan_directory(request.directory, request.prefix)
    good = retention.newest_first(stored, cluster_id, time.time())
    newest = good[0] if good else None
    damaged = retention.problems_after(stored, newest)
    if damaged:
        raise BadBackupError(
            f"the newest backup is damaged: {damaged[-1].path}: {damaged[-1].problem}. Take a new backup"
        )
    if newest is None or newest.metadata is None:
        of = f" of the cluster {cluster_id}" if cluster_id else ""
        raise NoBackupError(f"there is no backup{of} named {request.prefix}-… in {request.directory}: take one first")
    return newest.path, newest.metadata


def run_drill(
    request: Request, tools: Tools, endpoints: list[str], *, clock: Callable[[], float] = time.time
) -> Report:
    """Restore the backup, compare it with the cluster, and record that it passed.

    Raises BadBackupError if the backup is bad, and another DrillError, SnapshotError or EtcdctlError if the drill could not be
    carried out, for example with a wrong key. Removes an earlier record only if the backup is proved to be bad.
    """
    planned = plan_drill(request, tools, endpoints)
    began = time.monotonic()
    limits = scratch.Limits(request.memory_max, request.timeout, request.timeout_option, began)
    try:
        check.verify_snapshot(planned.path, tools.etcdutl_path, request.timeout)
        with scratch_folder(request.scratch_dir, planned.needed) as folder:
            plain = _decrypted(request, planned, tools, folder)
            data = restore_copy(plain, folder, tools.etcdutl_path, limits)
            etcdctl = tools.connection.etcdctl_path
            with scratch.run_member(tools.etcd_path, etcdctl, folder, data, limits, name=_NAME) as url:
                seconds = time.monotonic() - began
                copy = key_listing.Endpoint(
                    scratch.connection(etcdctl, min(60.0, limits.seconds_left())), url, "the backup"
                )
                finding = compare.check_copy(copy, planned.metadata)
                if planned.member is not None:
                    live = key_listing.Endpoint(tools.connection, planned.member.endpoint, planned.member.name)
                    finding = compare.compare_with_cluster(copy, live, database_path(data), finding, limits)
    except crypt.MissingKeyError as error:
        raise MissingKeyError(str(error)) from error
    except (ScratchMemberError, store.SnapshotError) as error:
        proved = isinstance(error, (compare.ContradictionError, store.DamagedError))
        if proved:
            _record(planned.path, None)
        kind = BadBackupError if proved or isinstance(error, (BadBackupError, scratch.StartError)) else DrillError
        raise kind(f"{planned.path} failed its drill: {error}") from error
    report = Report(planned, finding, seconds, int(clock()))
    if planned.member is not None:
        _record(planned.path, report.as_dict())
    return report


def _record(path: str, record: dict[str, Any] | None) -> None:
    try:
        store.record_drill(path, record)
    except OSError as error:
        raise DrillError(f"the result of the drill cannot be recorded next to {path}: {error.strerror}") from error


def _decrypted(request: Request, planned: Plan, tools: Tools, folder: str) -> str:
    """Return the path of the decrypted backup, in the scratch folder if it is encrypted."""
    if not planned.metadata.encryption:
        return planned.path
    target = os.path.join(folder, "snapshot.db")
    check.decrypt(planned.path, planned.metadata, target, request.identity_file, tools.etcdutl_path, request.timeout)
    return target


def restore_copy(path: str, folder: str, etcdutl_path: str, limits: scratch.Limits) -> str:
    """Restore a snapshot with etcdutl into a data dir in ``folder``, and disable authentication there. Returns the data dir. Raises DrillError."""
    data = os.path.join(folder, _DATA)
    argv = [etcdutl_path, "snapshot", "restore", path, f"--data-dir={data}", f"--name={_NAME}"]
    argv += [f"--initial-cluster={_NAME}={scratch.PEER_URL}", f"--initial-advertise-peer-urls={scratch.PEER_URL}"]
    answer = run_etcd_tool(argv, limits.seconds_left(), "etcdutl")
    if answer.returncode is None:
        raise DrillError("etcdutl did not restore it within the time limit: raise timeout")
    if answer.returncode != 0:
        kind = DrillError if check.is_host_problem(answer) else BadBackupError
        raise kind(f"etcdutl cannot restore it: {failure_reason(answer)}")
    # The copy would require credentials of its cluster. Only this process can enter its folder.
    auth_flag.disable_authentication(database_path(data))
    return data
