# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore a backup for a moment, and hold it against the cluster that it is of. Private to the collection.

Knows nothing of Ansible: a timer's program uses it too. ``plan`` only looks, ``hold`` restores. Everything that goes wrong
is a ValueError whose text is one sentence; the cluster is only read, and the backups stay as they are.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check, compare, snapshot, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import DrillError
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcd_tool,
)

_DATA = "data"
_NAME = "drill"


class KeyNeededError(DrillError):
    """The backup is encrypted, and there is no key for it here: nothing is known against it."""


@dataclass(frozen=True)
class Request:
    """What to restore and what it may cost.

    ``path`` is the backup, empty for the newest in ``directory`` whose name starts with ``prefix``. ``memory_max`` and
    ``reserve`` (what stays free in ``scratch_dir``) are bytes, ``timeout`` is seconds for the whole. Without ``live``
    the cluster is not asked: the backup is restored and read, and that is all. ``identity_file`` decrypts it if need be.
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


@dataclass(frozen=True)
class Tools:
    """How to ask the cluster, and the programs of its release."""

    connection: Connection
    etcd_path: str
    etcdutl_path: str


@dataclass(frozen=True)
class Plan:
    """Which backup would be restored, beside which member it would be held (None: none), and the bytes that takes."""

    path: str
    metadata: Metadata
    member: Member | None
    needed: int


@dataclass(frozen=True)
class Report:
    """A drill that was passed. ``seconds`` is what restoring and starting took, and ``drilled_at`` is in seconds since 1970."""

    plan: Plan
    finding: compare.Finding
    seconds: float
    drilled_at: int

    @property
    def reason(self) -> str:
        """The whole in one sentence."""
        metadata = self.plan.metadata
        return (
            f"{self.plan.path} (revision {metadata.revision}, {format_size(metadata.size)}) restored and served after "
            f"{self.seconds:.1f} s; {self.finding.sentence}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what is recorded beside the backup."""
        return {
            "drilled_at": time.strftime(store.DATE, time.gmtime(self.drilled_at)),
            "etcd_version": self.plan.metadata.etcd_version,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
            **self.finding.as_dict(),
        }


def etcd_beside(etcdutl_path: str) -> str:
    """Return the etcd of the same release: in the folder that holds etcdutl, once links are followed."""
    return os.path.join(os.path.dirname(os.path.realpath(shutil.which(etcdutl_path) or etcdutl_path)), "etcd")


def plan(request: Request, tools: Tools, endpoints: list[str]) -> Plan:
    """Choose the backup and the member, and see whether there is room. Restores nothing.

    Raises DrillError, SnapshotError or EtcdctlError for whatever would stop the drill.
    """
    _check(request, tools)
    cluster_id, member = "", None
    if request.live:
        cluster, answered_by = observe_cluster(tools.connection, endpoints)
        member = snapshot.choose_member(cluster, "", answered_by)
        cluster_id = cluster.id
    path, metadata = choose(request, cluster_id)
    if metadata.encryption == "age" and not request.identity_file:
        raise KeyNeededError(f"{path} is encrypted: set identity_file to the key that it can be decrypted with")
    needed = (3 if metadata.encryption else 2) * metadata.size + scratch.OVERHEAD + request.reserve
    scratch.check_parent(request.scratch_dir, needed)
    return Plan(path, metadata, member, needed)


def _check(request: Request, tools: Tools) -> None:
    check.check_timeout(request.timeout)
    if request.memory_max < scratch.LEAST_MEMORY:
        raise DrillError(
            f"memory_max is {format_size(request.memory_max)}, but etcd needs at least {format_size(scratch.LEAST_MEMORY)}"
        )
    for name, path in (("etcd", tools.etcd_path), ("etcdutl", tools.etcdutl_path)):
        if shutil.which(path) is None:
            raise DrillError(f"{path} is no program that can be run: install {name} or set {name}_path")


def choose(request: Request, cluster_id: str) -> tuple[str, Metadata]:
    """Return the backup to restore: the one asked for, else the newest of the cluster (empty id: of any).

    What is damaged is not passed over in silence if it is newer than every good one. Raises SnapshotError or DrillError.
    """
    if request.path:
        metadata = store.read_metadata(request.path)
        check.check_fits(metadata, cluster_id=cluster_id, etcd_version="")
        return request.path, metadata
    if not os.path.isdir(request.directory):
        raise DrillError(f"{request.directory} is no directory on this host: take a backup first, or mount its volume")
    stored = store.scan(request.directory, request.prefix)
    good = store.newest_first(stored, cluster_id)
    newest = good[0] if good else None
    damaged = [item for item in stored if item.problem and (newest is None or item.path > newest.path)]
    if damaged:
        raise DrillError(f"the newest backup does not count: {damaged[-1].path}: {damaged[-1].problem}")
    if newest is None or newest.metadata is None:
        of = f" of the cluster {cluster_id}" if cluster_id else ""
        raise DrillError(f"there is no backup{of} named {request.prefix}-… in {request.directory}: take one first")
    return newest.path, newest.metadata


def hold(request: Request, tools: Tools, endpoints: list[str], *, clock: Callable[[], float] = time.time) -> Report:
    """Restore the backup, compare it, and record beside it that it passed.

    Raises DrillError, SnapshotError or EtcdctlError; the record that it once passed is gone then if it is the backup's fault.
    """
    planned = plan(request, tools, endpoints)
    began = time.monotonic()
    bounds = scratch.Bounds(request.memory_max, began + request.timeout)
    try:
        check.verify(planned.path, tools.etcdutl_path, request.timeout)
        with scratch.scratch_folder(request.scratch_dir, planned.needed) as folder:
            plain = _decrypted(request, planned, tools, folder)
            data = _restore(plain, folder, tools.etcdutl_path, bounds)
            etcdctl = tools.connection.etcdctl_path
            with scratch.member(tools.etcd_path, etcdctl, folder, data, bounds, name=_NAME) as url:
                seconds = time.monotonic() - began
                copy = compare.Side(scratch.connection(etcdctl, min(60.0, bounds.left())), url, "the backup")
                finding = compare.alone(copy, planned.metadata)
                if planned.member is not None:
                    live = compare.Side(tools.connection, planned.member.endpoint, planned.member.name)
                    finding = compare.with_cluster(copy, live, planned.metadata, finding, bounds)
    except (DrillError, store.SnapshotError) as error:
        if isinstance(error, (compare.ContradictionError, store.SnapshotError)):
            _record(planned.path, None)
        raise DrillError(f"{planned.path} failed its drill: {error}") from error
    report = Report(planned, finding, seconds, int(clock()))
    if planned.member is not None:
        _record(planned.path, report.as_dict())
    return report


def _record(path: str, record: dict[str, Any] | None) -> None:
    try:
        store.record_drill(path, record)
    except OSError as error:
        raise DrillError(f"what the drill of {path} found cannot be recorded beside it: {error.strerror}") from error


def _decrypted(request: Request, planned: Plan, tools: Tools, folder: str) -> str:
    """Return the backup in the clear, which is in the scratch folder if it is encrypted."""
    if not planned.metadata.encryption:
        return planned.path
    target = os.path.join(folder, "snapshot.db")
    check.decrypt(planned.path, planned.metadata, target, request.identity_file, tools.etcdutl_path, request.timeout)
    return target


def _restore(path: str, folder: str, etcdutl_path: str, bounds: scratch.Bounds) -> str:
    """Let etcdutl make a data dir of the backup; returns it."""
    data = os.path.join(folder, _DATA)
    argv = [etcdutl_path, "snapshot", "restore", path, f"--data-dir={data}", f"--name={_NAME}"]
    argv += [f"--initial-cluster={_NAME}={scratch.PEER_URL}", f"--initial-advertise-peer-urls={scratch.PEER_URL}"]
    answer = run_etcd_tool(argv, bounds.left(), "etcdutl")
    if answer.returncode is None:
        raise DrillError("etcdutl did not restore it in time: raise timeout")
    if answer.returncode != 0:
        raise DrillError(f"etcdutl does not restore it: {failure_reason(answer)}")
    return data
