# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore a member from a snapshot: create the new data next to the old, then swap them by renaming.

Independent of Ansible. Each of the three steps can be interrupted at any point and repeated: ``prepare`` creates the new data while the
old may still be in use, ``activate`` renames the old data and then the new, ``finish`` ends the restore. The folders alone show the
progress. The old data is never removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check, restore_revisions, restore_space
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.check import Runner
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import (
    Restore,
    RestoreError,
    check_id,
    read_json,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path
from ansible_collections.etcdops.headroom.plugins.module_utils._base.locks import try_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.bbolt import database_path
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import failure_reason, run_etcd_tool

_PART = ".part"
# In a marker: the data is prepared, but not yet replaced, so that another snapshot may still be chosen.
BEGUN = "begun"


@dataclass(frozen=True)
class Request:
    """The snapshot to restore, and the member and cluster to restore it for.

    ``owner`` and ``group`` are numeric ids. The new data begins ``bump_revision`` above the snapshot's revision and above ``known_revision``, so
    that none is used twice and watchers notice the restore. ``reserve`` is the bytes that stay free, ``timeout`` the time limit of etcdutl in
    seconds. ``source``, ``generation`` and ``initial_cluster`` are kept in the record: a resumed restore finds the snapshot there, the members
    that may hold newer writes, and the members that the new data names.
    """

    path: str
    name: str
    peer_url: str
    initial_cluster: str
    token: str
    owner: int
    group: int
    bump_revision: int
    reserve: int
    etcdutl_path: str
    timeout: int
    source: dict[str, str] | None = None
    generation: int = 0
    known_revision: int = 0


def read_marker(marker: str) -> dict[str, Any] | None:
    """Return the unfinished restore of this host, None if there is none. Raises RestoreError for an invalid marker."""
    found = read_json(marker)
    if found is None and os.path.lexists(marker):
        raise RestoreError(
            f"{marker} is not the marker of a restore: check the folders next to the data dir, then remove it"
        )
    return found


def verify(restore: Restore, request: Request, *, run: Runner = run_etcd_tool) -> tuple[Metadata, int]:
    """Verify the snapshot. Returns its metadata, and what to add to its revision. Raises RestoreError, SnapshotError or EtcdctlError."""
    check_id(restore.id)
    metadata = check.verify_snapshot(request.path, request.etcdutl_path, request.timeout, run=run)
    if metadata.encryption:
        raise RestoreError(f"{request.path} is encrypted: decrypt it first (etcd_snapshot with state=decrypted)")
    return metadata, restore_revisions.required_bump(metadata.revision, request.known_revision, request.bump_revision)


def prepare(restore: Restore, request: Request, marker: str, *, run: Runner = run_etcd_tool) -> tuple[bool, Metadata]:
    """Verify the snapshot and create the new data next to the old. Returns whether anything changed, and the metadata.

    Raises RestoreError, SnapshotError or EtcdctlError.
    """
    metadata, bump = verify(restore, request, run=run)
    if restore.is_ready:
        if restore.record.get("snapshot") != metadata.as_dict():
            raise RestoreError(
                f"the restore {restore.id} was started with another snapshot than {request.path}: finish it with that snapshot"
            )
        return False, metadata
    check_alone(restore, marker)  # only now, since to verify a large snapshot takes minutes
    for path in restore_space.leftovers(restore):
        shutil.rmtree(path, ignore_errors=True)
    restore_space.check_free_space(restore, metadata.size, request.reserve)
    with _translate_os_errors(restore.data_dir):
        _make(restore, request, bump, run)
        record = {
            "id": restore.id,
            "snapshot": metadata.as_dict(),
            "bump": bump,
            "source": request.source,
            "generation": request.generation,
            "initial_cluster": request.initial_cluster,
        }
        for swap in restore.swaps:
            _write_json(restore.record_path(swap, swap.prepared + _PART), record)
            _set_owner_and_flush(swap.prepared + _PART, request.owner, request.group)
            os.rename(swap.prepared + _PART, swap.prepared)
            sync_path(os.path.dirname(swap.prepared))
    return True, metadata


def _make(restore: Restore, request: Request, bump: int, run: Runner) -> None:
    argv = [request.etcdutl_path, "snapshot", "restore", request.path, f"--name={request.name}"]
    argv += [f"--initial-cluster={request.initial_cluster}", f"--initial-cluster-token={request.token}"]
    argv += [f"--initial-advertise-peer-urls={request.peer_url}"]
    argv += [f"--data-dir={restore.swaps[-1].prepared}{_PART}"]
    if restore.has_separate_wal:
        os.makedirs(os.path.dirname(restore.wal_dir_below(_PART)), 0o700, exist_ok=True)
    argv += [f"--wal-dir={restore.wal_dir_below(_PART)}"]
    if bump:
        argv += [f"--bump-revision={bump}", "--mark-compacted"]
    answer = run(argv, float(request.timeout), "etcdutl")
    if answer.returncode is None:
        raise RestoreError(f"etcdutl did not restore {request.path} within {request.timeout} s: raise timeout")
    if answer.returncode != 0:
        raise RestoreError(f"etcdutl cannot restore {request.path}: {failure_reason(answer)}")


def _write_json(path: str, record: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(record, stream, indent=2)
        stream.write("\n")


def _set_owner_and_flush(folder: str, owner: int, group: int) -> None:
    """Change the owner of a folder and its content to etcd's user, and flush them to the disk.

    Files first, and without following links: in a folder that is its own, etcd's user could put a link to any file in place of one.
    """
    if os.path.islink(folder):
        raise RestoreError(f"{folder} was replaced by a link, so nothing was activated: find out by whom")
    for _parent, _folders, files, inside in os.fwalk(folder, topdown=False):
        for name in files:
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=inside)
            try:
                _hand_over(opened, owner, group, 0o600)
            finally:
                os.close(opened)
        _hand_over(inside, owner, group, 0o700)


def _hand_over(opened: int, owner: int, group: int, mode: int) -> None:
    """Change owner and mode of an open file or folder, and flush it to the disk."""
    os.fchown(opened, owner, group)
    os.fchmod(opened, mode)
    os.fsync(opened)


def begin(restore: Restore, marker: str) -> None:
    """Write the marker before etcd stops, so that nothing else changes the cluster until the restore is finished. Raises RestoreError."""
    check_id(restore.id)
    check_alone(restore, marker)
    if not restore.is_ready:
        raise RestoreError(_unprepared(restore))
    if (read_marker(marker) or {}).get("id") != restore.id:
        with _translate_os_errors(marker):
            _write_marker(marker, {"id": restore.id, "step": BEGUN, **restore.folders})


def _unprepared(restore: Restore) -> str:
    missing = [swap.prepared for swap in restore.swaps if not os.path.isdir(swap.prepared)]
    return f"{' and '.join(missing)} {'does' if len(missing) == 1 else 'do'} not exist: prepare the restore first"


def pending_id(marker: str) -> str:
    """Return the id of the restore to resume; empty without one, or before it replaces data. Raises RestoreError."""
    found = read_marker(marker) or {}
    return "" if found.get("step") == BEGUN else str(found.get("id", ""))


def check_alone(restore: Restore, marker: str) -> None:
    """Raise RestoreError while another restore is replacing the data of this host, for example that of another controller."""
    other = pending_id(marker)
    if other not in ("", restore.id):
        raise RestoreError(
            f"the restore {other} is replacing the data of this host ({marker}), and this is {restore.id}: wait until the other one has finished, or if "
            "it was interrupted, run the playbook again, which resumes it"
        )
    check_same_folders(restore, marker)


def check_same_folders(restore: Restore, marker: str) -> None:
    """Raise RestoreError if this restore began with another data dir or WAL dir on this host. In others its new data seems to be missing."""
    found = read_marker(marker) or {}
    began = {name: found.get(name, "") for name in restore.folders}  # older releases did not record them
    if found.get("id") == restore.id and all(began.values()) and began != restore.folders:
        now = restore.folders
        raise RestoreError(
            f"the restore {restore.id} began with the data dir {began['data_dir']} and the WAL dir {began['wal_dir']} on this host, and now they are "
            f"{now['data_dir']} and {now['wal_dir']}: set etcd_data_dir and etcd_wal_dir back to resume it. Nothing was changed"
        )


def activate(restore: Restore, marker: str) -> list[str]:
    """Rename the old data and then the new. Returns the new paths of the old data, empty if nothing was left to do.

    From now on the marker records an unfinished restore. Raises RestoreError.
    """
    check_id(restore.id)
    check_same_folders(restore, marker)
    if not restore.is_activated:
        if not restore.is_prepared:
            raise RestoreError(_unprepared(restore))
        check_stopped(restore.data_dir)
    aside = []
    with _translate_os_errors(restore.data_dir):
        if pending_id(marker) != restore.id:
            _write_marker(marker, {"id": restore.id, **restore.folders})
        for swap in restore.swaps:
            if not os.path.isdir(swap.prepared):
                continue
            if os.path.lexists(swap.live):
                aside.append(_unused_name(f"{swap.live}.before-{restore.id}"))
                os.rename(swap.live, aside[-1])
            os.rename(swap.prepared, swap.live)
            sync_path(os.path.dirname(swap.live))
    return aside


def _unused_name(path: str) -> str:
    number, name = 1, path
    while os.path.lexists(name):
        number += 1
        name = f"{path}-{number}"
    return name


def check_stopped(data_dir: str) -> None:
    """Raise RestoreError while a process has the database open, which bbolt locks."""
    try:
        handle = os.open(database_path(data_dir), os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        if not try_lock(handle):
            raise RestoreError(f"etcd is running on {data_dir}: stop every member of the cluster first")
    finally:
        os.close(handle)


def _write_marker(marker: str, record: dict[str, str]) -> None:
    with open(f"{marker}{_PART}", "w", encoding="utf-8") as stream:
        json.dump(record, stream)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(f"{marker}{_PART}", marker)
    sync_path(os.path.dirname(marker))


def finish(marker: str) -> bool:
    """Remove the marker of the restore. Returns whether there was one."""
    with _translate_os_errors(marker):
        try:
            os.unlink(marker)
        except FileNotFoundError:
            return False
        sync_path(os.path.dirname(marker))
    return True


@contextlib.contextmanager
def _translate_os_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RestoreError(f"{error.filename or path}: {error.strerror}; correct that and run it again") from error
