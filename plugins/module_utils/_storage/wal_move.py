# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a member's write-ahead log is, and how a stopped member's is moved elsewhere. Private to the collection.

The way, each step of which leaves a state that the next run recognises:

1. Copy the files to TARGET.moving, write them through, and compare them with what the disk gives back.
2. Rename SOURCE to SOURCE.moved: the log as it was, kept until the member serves from its new place.
3. Rename TARGET.moving to TARGET.
4. Leave a link to TARGET at SOURCE, so that an etcd that is started with its old configuration finds its log all the
   same, or cannot start; it never begins a new one.

Afterwards, with the member serving, settle() removes SOURCE.moved and the link.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import (
    drop_page_cache,
    sha256_of_file,
    sync_path,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import disk_check

# etcd allocates a segment of 64 MB at a time (SegmentSizeBytes in server/storage/wal/wal.go), one ahead of need.
SEGMENT_BYTES = 64_000_000
ROOM_BYTES = 2 * SEGMENT_BYTES

_CONFIG_KEY = re.compile(r"^wal-dir:\s*(['\"]?)(/.*?)\1\s*(?:#.*)?$", re.MULTILINE)


class WalError(ValueError):
    """Why a log cannot be moved, in a sentence for people."""


@dataclass(frozen=True)
class Step:
    """What is to be done: ``begin`` with the copy, or go on after it was verified (``swap``, ``link``), or nothing."""

    name: str
    files: tuple[str, ...] = ()
    size: int = 0


def aside(source: str) -> str:
    """Where the log stays until the member serves from its new place."""
    return f"{source.rstrip('/')}.moved"


def staging(target: str) -> str:
    """Where the copy is made: a neighbour, so that it takes its place by a rename."""
    return f"{target.rstrip('/')}.moving"


def configured(text: str) -> str | None:
    """The WAL dir that a config file of etcd names, None where it names none (or is no file of simple keys)."""
    found = _CONFIG_KEY.search(text)
    return found.group(2) if found else None


def segments(folder: str) -> list[str]:
    """The names of the log's files in a folder, oldest first; none where there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".wal"))
    except OSError:
        return []


def holds(folder: str) -> bool:
    """Whether a folder itself, not one that it is a link to, holds a log."""
    return not os.path.islink(folder) and bool(segments(folder))


def size(folder: str) -> int:
    """Bytes of a log's files."""
    return sum(os.path.getsize(os.path.join(folder, name)) for name in segments(folder))


def member_facts(data_dir: str, wal_dir: str | None, config: str = "") -> dict[str, Any]:
    """Whether a data dir, or the WAL dir beside it, holds a member of a cluster, and where its log is.

    A member has a WAL from its first start on; with a WAL dir of its own there is none below the data dir. config: the
    text of the config file that is in place, which may name another WAL dir than the one asked for. A link to another
    one of these folders is no second log. The keys are documented in etcd_host_info's RETURN.
    """
    database = os.path.join(data_dir, "member", "snap", "db")
    named = [os.path.join(data_dir, "member", "wal"), wal_dir, configured(config)]
    folders = list(dict.fromkeys(folder.rstrip("/") for folder in named if folder))
    real = {os.path.realpath(folder) for folder in folders if not os.path.islink(folder)}
    dirs = [
        folder
        for folder in folders
        if segments(folder) and not (os.path.islink(folder) and os.path.realpath(folder) in real)
    ]
    db_size = os.path.getsize(database) if os.path.exists(database) else None
    return {
        "present": db_size is not None or bool(dirs),
        "db_size": db_size,
        "wal_files": sum(len(segments(folder)) for folder in dirs),
        "wal_size": sum(size(folder) for folder in dirs),
        "wal_dirs": dirs,
        "wal_asides": [folder for folder in folders if os.path.isdir(aside(folder))],
    }


def next_step(source: str, target: str) -> Step:
    """Where an interrupted move stands. Raises WalError where it cannot be gone on with."""
    for name, path in (("source", source), ("target", target)):
        if not os.path.isabs(path):
            raise WalError(f"{name} is {path!r}: write the whole path, for example /var/lib/etcd/data/member/wal.")
    if os.path.realpath(source) == os.path.realpath(target) and not segments(aside(source)):
        raise WalError(f"source and target are one folder, {os.path.realpath(target)}: there is nothing to move.")
    there = segments(source) if holds(source) else []
    arrived, kept = segments(target), segments(aside(source))
    if there and arrived:
        raise WalError(
            f"{source} and {target} both hold a log: find out which one the member wrote last (ls -l --time-sort), and "
            "move the other one away."
        )
    if there and kept:
        raise WalError(
            f"{source} holds a log although an earlier move set one aside in {aside(source)}: find out which one the "
            "member wrote last (ls -l --time-sort), and move the other one away."
        )
    if there:
        return Step("begin", tuple(there), size(source))
    if arrived:
        return Step("link" if kept and not os.path.lexists(source) else "done", tuple(arrived), size(target))
    if kept:
        return Step("swap", tuple(kept), size(aside(source)))
    raise WalError(f"{source} holds no log (*.wal), and no interrupted move is known: correct the path.")


def obstacle(source: str, target: str, step: Step) -> str | None:
    """What forbids the move, None if nothing does."""
    for folder in (source, target):
        busy = running(folder)
        if busy:
            return f"a running member holds {busy} locked: stop it first."
    parent = os.path.dirname(target.rstrip("/"))
    if not os.path.isdir(parent):
        return f"{parent} does not exist: mount the volume and make the folder first."
    if os.path.isdir(target) and os.listdir(target):
        if step.name in ("begin", "swap"):
            return f"{target} is not empty ({len(os.listdir(target))} entries): move them away first."
    if step.name != "begin":
        return None
    room = os.statvfs(parent)
    free = room.f_bavail * room.f_frsize + (size(staging(target)) if os.path.isdir(staging(target)) else 0)
    if free < step.size + ROOM_BYTES:
        return (
            f"{parent} has {format_size(free)} free, the log needs {format_size(step.size)} and room for new files "
            f"{format_size(ROOM_BYTES)}: take a larger volume."
        )
    return None


def running(folder: str) -> str | None:
    """A file of the folder that a running etcd holds locked, None if there is none."""
    locked = disk_check.parse_locks(facts.read_text("/proc/locks"))
    for name in glob.iglob(os.path.join(glob.escape(folder), "*.wal")):
        status = os.stat(name)
        if (f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}", status.st_ino) in locked:
            return name
    return None


def move(source: str, target: str, step: Step) -> None:
    """Do what is left. Raises WalError if a copy is not what was copied; the log is then still where it was."""
    if step.name == "done":
        return
    if step.name == "begin":
        _copy(source, staging(target))
        os.rename(source, aside(source))
        sync_path(os.path.dirname(source))
    if step.name == "swap" and not _equal(aside(source), staging(target)):
        _copy(aside(source), staging(target))
    if step.name in ("begin", "swap"):
        if os.path.isdir(target):
            os.rmdir(target)
        os.rename(staging(target), target)
        sync_path(os.path.dirname(target))
    if not os.path.lexists(source):
        os.symlink(target, source)
        sync_path(os.path.dirname(source))


def unsettled(source: str, target: str) -> list[str]:
    """What a finished move has left: the log set aside and the link."""
    left = [aside(source)] if os.path.isdir(aside(source)) else []
    if os.path.islink(source) and os.path.realpath(source) == os.path.realpath(target):
        left.append(source)
    return left


def settle(source: str, target: str) -> None:
    """Remove what a finished move has left. Raises WalError unless a running member writes its log in the target."""
    if running(target) is None:
        raise WalError(
            f"no running member holds the log in {target}: {aside(source)} stays until it serves. Start it first."
        )
    for path in unsettled(source, target):
        if os.path.islink(path):
            os.unlink(path)
        else:
            shutil.rmtree(path)


def _digest(path: str) -> str:
    """SHA-256 of a file as the disk has it: what the page cache holds of it is dropped before."""
    drop_page_cache(path)
    return sha256_of_file(path)[1]


def _equal(folder: str, copy: str) -> bool:
    names = segments(folder)
    return names == segments(copy) and all(
        _digest(os.path.join(folder, name)) == _digest(os.path.join(copy, name)) for name in names
    )


def _copy(source: str, copy: str) -> None:
    """Copy a log's files with owner and mode, through to the disk; what an earlier attempt left is made anew."""
    if os.path.isdir(copy):
        shutil.rmtree(copy)
    os.mkdir(copy, 0o700)
    for name in [*segments(source), ""]:
        origin, made = os.path.join(source, name), os.path.join(copy, name)
        if name:
            shutil.copyfile(origin, made)
        status = os.stat(origin)
        os.chown(made, status.st_uid, status.st_gid)
        shutil.copystat(origin, made)
        if name:
            sync_path(made)
    sync_path(copy)
    sync_path(os.path.dirname(copy))
    if not _equal(source, copy):
        raise WalError(
            f"the copy in {copy} is not what is in {source}: the new disk does not keep what it is given, or something "
            f"writes to the log. The member's log is unchanged in {source}."
        )
