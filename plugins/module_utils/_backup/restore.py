# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a member the data of a snapshot: made beside the old data, then swapped by renaming. Private to the collection.

Knows nothing of Ansible. Three steps, each of which may be interrupted anywhere and simply be done again: ``prepare`` makes
the new data while the old may still be in use, ``place`` moves the old aside and the new in, ``finish`` ends the restore.
How far a member is can be seen in the folders alone. Nothing of the old data is ever removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.check import Runner
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import failure_reason, run_etcd_tool

# What etcd writes beside its database: two WAL segments of 64 MB, one of them ahead of need, and growth in steps of 16 MB.
_WAL_BYTES = 128 << 20
_GROWTH = 32 << 20
_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_RECORD = "headroom-restore.json"
_PART = ".part"


class RestoreError(ValueError):
    """A restore that cannot be done; the text is one sentence, and the old data is where it was."""


@dataclass(frozen=True)
class Swap:
    """A folder of etcd's, and where its successor is made, on the same filesystem."""

    live: str
    prepared: str


@dataclass(frozen=True)
class Restore:
    """One restore of one member. ``id`` is the same on all members; ``wal_dir`` is empty if the WAL lies in the data dir."""

    id: str
    data_dir: str
    wal_dir: str

    @property
    def swaps(self) -> list[Swap]:
        """The folders to swap, that of the data last: once that is done, all is."""
        folders = [self.data_dir]
        if self.wal_dir and not _inside(self.wal_dir, self.data_dir):
            folders.insert(0, os.path.dirname(self.wal_dir))
        return [Swap(folder, f"{folder}.restore-{self.id}") for folder in folders]

    @property
    def prepared(self) -> bool:
        """Whether the new data is made and waits to be placed."""
        return os.path.isdir(self.swaps[-1].prepared)

    @property
    def placed(self) -> bool:
        """Whether the new data is where etcd looks."""
        return (read_record(self.data_dir) or {}).get("id") == self.id


@dataclass(frozen=True)
class Request:
    """What the new data is made of, and of which member of which cluster it is.

    ``owner`` and ``group`` are numbers. ``bump_revision`` is by how much revisions rise, so that none is given out twice
    and watchers notice; ``reserve`` is the bytes that stay free.
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


def check_id(name: str) -> None:
    """Raise RestoreError if a restore cannot be called so."""
    if _ID.fullmatch(name) is None:
        raise RestoreError(f"id is {name!r}: write the time at which it began, such as 20261121T101500Z")


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == os.path.normpath(folder)


def read_record(data_dir: str) -> dict[str, Any] | None:
    """Return from which snapshot, and when, the data in a data dir was restored; None if it was not."""
    return _read(os.path.join(data_dir, "member", _RECORD))


def read_marker(marker: str) -> dict[str, Any] | None:
    """Return the restore that was begun on this host and not finished, None if there is none. Raises RestoreError."""
    found = _read(marker)
    if found is None and os.path.lexists(marker):
        raise RestoreError(
            f"{marker} is no record of a restore: look at the folders beside the data dir, then remove it"
        )
    return found


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and isinstance(data.get("id"), str) else None


def check_room(restore: Restore, size: int, reserve: int) -> None:
    """Raise RestoreError if the folders cannot be swapped, or there is no room for ``size`` more bytes beside the old."""
    for swap in restore.swaps:
        parent = os.path.dirname(swap.live)
        if os.path.ismount(swap.live):
            raise RestoreError(
                f"{swap.live} is a mount point and cannot be moved aside: let etcd use a folder below it (etcd_data_dir)"
            )
        if not os.path.isdir(parent):
            raise RestoreError(f"{parent} does not exist: mount its volume, or make it, first")
        is_data = swap.live == restore.data_dir
        needed = (size + _GROWTH if is_data else 0) + (_WAL_BYTES if not is_data or len(restore.swaps) == 1 else 0)
        room = os.statvfs(parent)
        free = room.f_bavail * room.f_frsize
        if free < needed + reserve:
            raise RestoreError(
                f"{parent} has {format_size(free)} free, but the new data beside the old needs {format_size(needed)} and "
                f"{format_size(reserve)} are to stay free: move older data (*.before-*) elsewhere, or lower reserve"
            )


def prepare(restore: Restore, request: Request, *, run: Runner = run_etcd_tool) -> tuple[bool, Metadata]:
    """Make the new data beside the old, once the snapshot is verified. Returns whether that was still to be done.

    Raises RestoreError, SnapshotError or EtcdctlError.
    """
    check_id(restore.id)
    metadata = check.verify(request.path, request.etcdutl_path, request.timeout, run=run)
    if metadata.encryption:
        raise RestoreError(f"{request.path} is encrypted: decrypt it first (etcd_snapshot with state=decrypted)")
    made_from = read_record(restore.data_dir if restore.placed else restore.swaps[-1].prepared)
    if restore.placed or restore.prepared:
        if (made_from or {}).get("snapshot") != metadata.as_dict():
            raise RestoreError(
                f"the restore {restore.id} was begun with another snapshot than {request.path}: finish it with that one"
            )
        return False, metadata
    _remove_unfinished(restore)
    check_room(restore, metadata.size, request.reserve)
    with _clear_errors(restore.data_dir):
        _make(restore, request, run)
        _write_record(restore, metadata)
        for swap in restore.swaps:
            _hand_over(swap.prepared + _PART, request.owner, request.group)
            os.rename(swap.prepared + _PART, swap.prepared)
            sync_path(os.path.dirname(swap.prepared))
    return True, metadata


def _remove_unfinished(restore: Restore) -> None:
    """Remove what earlier preparations made that were never placed: copies of a snapshot, nothing else."""
    for swap in restore.swaps:
        parent, name = os.path.split(swap.live)
        pattern = re.compile(re.escape(name) + r"\.restore-[0-9]{8}T[0-9]{6}Z(?:\.part)?")
        for entry in os.listdir(parent) if os.path.isdir(parent) else ():
            if pattern.fullmatch(entry):
                shutil.rmtree(os.path.join(parent, entry), ignore_errors=True)


def _make(restore: Restore, request: Request, run: Runner) -> None:
    argv = [request.etcdutl_path, "snapshot", "restore", request.path, f"--name={request.name}"]
    argv += [f"--initial-cluster={request.initial_cluster}", f"--initial-cluster-token={request.token}"]
    argv += [f"--initial-advertise-peer-urls={request.peer_url}"]
    argv += [f"--data-dir={restore.swaps[-1].prepared}{_PART}"]
    if len(restore.swaps) > 1:
        wal = restore.swaps[0]
        os.mkdir(wal.prepared + _PART, 0o700)
        argv += [f"--wal-dir={os.path.join(wal.prepared + _PART, os.path.basename(restore.wal_dir))}"]
    if request.bump_revision:
        argv += [f"--bump-revision={request.bump_revision}", "--mark-compacted"]
    answer = run(argv, float(request.timeout), "etcdutl")
    if answer.returncode is None:
        raise RestoreError(f"etcdutl did not restore {request.path} within {request.timeout} s: raise timeout")
    if answer.returncode != 0:
        raise RestoreError(f"etcdutl does not restore {request.path}: {failure_reason(answer)}")


def _write_record(restore: Restore, metadata: Metadata) -> None:
    path = os.path.join(restore.swaps[-1].prepared + _PART, "member", _RECORD)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"id": restore.id, "snapshot": metadata.as_dict()}, stream, indent=2)
        stream.write("\n")


def _hand_over(folder: str, owner: int, group: int) -> None:
    """Give a folder and all in it to etcd's user, and see it on disk."""
    for parent, _folders, files in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in files)):
            os.chown(path, owner, group)
            os.chmod(path, 0o700 if path == parent else 0o600)
            sync_path(path)


def place(restore: Restore, marker: str, now: float) -> list[str]:
    """Move the old data aside and the new in. Returns where the old now is; empty if all was done before.

    From here on the marker says that a restore is under way. Raises RestoreError.
    """
    check_id(restore.id)
    if not restore.placed:
        if not restore.prepared:
            raise RestoreError(f"{restore.swaps[-1].prepared} does not exist: prepare the restore first")
        check_stopped(restore.data_dir)
    aside = []
    with _clear_errors(restore.data_dir):
        _write_marker(marker, restore.id, now)
        for swap in restore.swaps:
            if not os.path.isdir(swap.prepared):
                continue
            if os.path.lexists(swap.live):
                aside.append(_free_name(f"{swap.live}.before-{restore.id}"))
                os.rename(swap.live, aside[-1])
            os.rename(swap.prepared, swap.live)
            sync_path(os.path.dirname(swap.live))
    return aside


def _free_name(path: str) -> str:
    number, name = 1, path
    while os.path.lexists(name):
        number += 1
        name = f"{path}-{number}"
    return name


def check_stopped(data_dir: str) -> None:
    """Raise RestoreError while a process has the database open; bbolt locks it for as long as it does."""
    try:
        handle = os.open(os.path.join(data_dir, "member", "snap", "db"), os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RestoreError(f"etcd is running on {data_dir}: stop every member of the cluster first") from error
    finally:
        os.close(handle)


def _write_marker(marker: str, name: str, now: float) -> None:
    if (_read(marker) or {}).get("id") == name:
        return
    record = {"id": name, "placed_at": time.strftime(store.DATE, time.gmtime(now))}
    with open(f"{marker}{_PART}", "w", encoding="utf-8") as stream:
        json.dump(record, stream)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(f"{marker}{_PART}", marker)
    sync_path(os.path.dirname(marker))


def finish(marker: str) -> bool:
    """Say that the restore is over. Returns whether it was not said before."""
    with _clear_errors(marker):
        try:
            os.unlink(marker)
        except FileNotFoundError:
            return False
        sync_path(os.path.dirname(marker))
    return True


@contextlib.contextmanager
def _clear_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RestoreError(
            f"{error.filename or path}: {error.strerror}; run it again once that is put right"
        ) from error
