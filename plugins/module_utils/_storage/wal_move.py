# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a member's write-ahead log, and move the log of a stopped member to another folder.

Each step leaves a state from which the next run continues:

1. Copy the files to TARGET.moving, flush them, and compare them with what the disk returns. wal_copies finds this copy if the move is abandoned.
2. Rename SOURCE to SOURCE.moved, which stays until the member serves from TARGET.
3. Rename TARGET.moving to TARGET.
4. Link SOURCE to TARGET, so that an etcd started with its old configuration finds its log instead of creating a new one.

Once the member serves, clean_up() removes SOURCE.moved, copies of abandoned moves, and then the link. The link proves that step 3 was
complete: the member may have written to TARGET, so SOURCE.moved is outdated, and is not used again even if TARGET is empty (a replaced
disk).
"""

from __future__ import annotations

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
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import wal
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.bbolt import database_path
from ansible_collections.etcdops.headroom.plugins.module_utils._host import file_locks
from ansible_collections.etcdops.headroom.plugins.module_utils._host.free_space import available_bytes
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_copies import (
    copy_paths,
    remove_path,
    staging_path,
)

_SNAPSHOT = re.compile(r"[0-9a-f]{16}-([0-9a-f]{16})\.snap")
_CONFIG_KEY = re.compile(r"^wal-dir:\s*(['\"]?)(/.*?)\1\s*(?:#.*)?$", re.MULTILINE)


class WalMoveError(ValueError):
    """A log that cannot be moved."""


@dataclass(frozen=True)
class Step:
    """The next step: ``begin`` with the copy, continue after its verification (``swap``, ``link``), or ``done``.

    ``files`` are the names of the log's files, ``size`` is their sum in bytes.
    """

    name: str
    files: tuple[str, ...] = ()
    size: int = 0


def aside_path(source: str) -> str:
    """Return the folder of the old log while the member does not serve from the new one."""
    return f"{source.rstrip('/')}.moved"


def configured_wal_dir(text: str) -> str | None:
    """Return the wal-dir of an etcd config file, None if it sets none."""
    found = _CONFIG_KEY.search(text)
    return found.group(2) if found else None


def log_files(folder: str) -> list[str]:
    """Return the names of the log's files in a folder, oldest first; empty without the folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".wal"))
    except OSError:
        return []


def holds_log(folder: str) -> bool:
    """Return whether a folder holds a log itself, not as a link to another folder."""
    return not os.path.islink(folder) and bool(log_files(folder))


def log_bytes(folder: str) -> int:
    """Return the size of a log's files in bytes."""
    return sum(os.path.getsize(os.path.join(folder, name)) for name in log_files(folder))


def member_facts(data_dir: str, wal_dir: str | None, config: str = "") -> dict[str, Any]:
    """Describe the member in a data dir and its separate WAL dir, and find its log.

    A member has a log from its first start on. ``config`` is the text of the current config file, which may set another WAL
    dir than ``wal_dir``. A link from one of these folders to another is not a second log. etcd_host_info's RETURN documents
    the keys.
    """
    database = database_path(data_dir)
    named = [os.path.join(data_dir, "member", "wal"), wal_dir, configured_wal_dir(config)]
    folders = list(dict.fromkeys(folder.rstrip("/") for folder in named if folder))
    real = {os.path.realpath(folder) for folder in folders if not os.path.islink(folder)}
    dirs = [
        folder
        for folder in folders
        if log_files(folder) and not (os.path.islink(folder) and os.path.realpath(folder) in real)
    ]
    db_size = os.path.getsize(database) if os.path.exists(database) else None
    return {
        "present": db_size is not None or bool(dirs),
        "db_size": db_size,
        "wal_files": sum(len(log_files(folder)) for folder in dirs),
        "wal_size": sum(log_bytes(folder) for folder in dirs),
        "wal_dirs": dirs,
        "wal_asides": [folder for folder in folders if os.path.isdir(aside_path(folder))],
        "wal_links": [folder for folder in folders if os.path.islink(folder)],
        "wal_copies": [folder for folder in folders if copy_paths(folder)],
    }


def next_step(source: str, target: str) -> Step:
    """Return the next step of a move, also of an interrupted one. Raises WalMoveError if the move cannot continue."""
    for name, path in (("source", source), ("target", target)):
        if not os.path.isabs(path):
            raise WalMoveError(
                f"{name} is {path!r}: write an absolute path, for example /var/lib/etcd/data/member/wal."
            )
    if _is_same(source, target):
        raise WalMoveError(f"source and target are the same folder, {os.path.realpath(target)}: set different folders.")
    unmoved = log_files(source) if holds_log(source) else []
    # A link from an earlier move in the other direction is not a log.
    arrived = [] if _links_to(target, source) else log_files(target)
    set_aside = log_files(aside_path(source))
    if unmoved and arrived:
        raise WalMoveError(
            f"{source} and {target} both hold a log: find the newest (ls -l --time-sort), and move the other one away."
        )
    if unmoved and set_aside:
        raise WalMoveError(
            f"{source} holds a log, and an earlier move left another one in {aside_path(source)}: find the "
            "newest (ls -l --time-sort), and move the other one away."
        )
    if unmoved:
        return Step("begin", tuple(unmoved), log_bytes(source))
    if arrived:
        return Step("link" if set_aside and not os.path.lexists(source) else "done", tuple(arrived), log_bytes(target))
    if set_aside:
        _refuse_outdated(source, target)
        return Step("swap", tuple(set_aside), log_bytes(aside_path(source)))
    raise WalMoveError(
        f"{source} holds no log (*.wal), and there is no interrupted move to continue: correct the path."
    )


def _links_to(link: str, folder: str) -> bool:
    return os.path.islink(link) and os.path.realpath(link) == os.path.realpath(folder)


def _is_same(source: str, target: str) -> bool:
    """Return whether both are one folder, and not because a move left a link."""
    if os.path.realpath(source) != os.path.realpath(target):
        return False
    return not (log_files(aside_path(source)) or _links_to(target, source))


def _refuse_outdated(source: str, target: str) -> None:
    """Raise WalMoveError if the member may have written to the target since its old log was set aside."""
    aside = aside_path(source)
    remedy = (
        "Mount the volume of the log. If the log is lost, remove the member from the cluster, empty its data directory, "
        "and add the member again."
    )
    if os.path.islink(source):
        raise WalMoveError(
            f"{target} holds no log, and {aside} is older than the log that was there: {source} is a link, so the move "
            f"was complete, and the member may have written since. {remedy}"
        )
    last = wal.last_index(aside)
    for parent in (os.path.dirname(source), os.path.dirname(target)):
        snapshot = newest_snapshot(os.path.join(parent, "snap"))
        if snapshot > last:
            raise WalMoveError(
                f"{aside} ends with raft entry {last}, but the member has a snapshot at entry {snapshot} in {parent}/snap: "
                f"the log is older than the member's data. {remedy}"
            )


def newest_snapshot(folder: str) -> int:
    """Return the raft index of the newest snapshot in a member's snap folder, 0 without one. Source: snap/snapshotter.go."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return max((int(found.group(1), 16) for found in map(_SNAPSHOT.fullmatch, names) if found), default=0)


def move_problem(source: str, target: str, step: Step) -> str | None:
    """Return why the move cannot start or continue, None if it can."""
    for folder in (source, target):
        busy = locked_file(folder)
        if busy:
            return f"a running member has {busy} locked: stop the member first."
    parent = os.path.dirname(target.rstrip("/"))
    if not os.path.isdir(parent):
        return f"{parent} does not exist: mount the volume and create the folder first."
    if os.path.isdir(target) and not os.path.islink(target) and os.listdir(target):
        if step.name in ("begin", "swap"):
            return f"{target} is not empty ({len(os.listdir(target))} entries): move them away first."
    if step.name != "begin":
        return None
    free = available_bytes(parent) + (log_bytes(staging_path(target)) if os.path.isdir(staging_path(target)) else 0)
    if free < step.size + wal.NEW_LOG_BYTES:
        return (
            f"{parent} has {format_size(free)} free, and the log needs {format_size(step.size)} and "
            f"{format_size(wal.NEW_LOG_BYTES)} for new files: use a larger volume."
        )
    return None


def locked_file(folder: str) -> str | None:
    """Return a file of the log that a running etcd has locked, None if there is none."""
    return file_locks.locked_file(folder, ["*.wal"])


def move_log(source: str, target: str, step: Step) -> None:
    """Move the log, starting with ``step``. Raises WalMoveError if the copy differs; the log is then still in ``source``."""
    if step.name == "done":
        return
    if step.name == "begin":
        for path in copy_paths(source):
            remove_path(path)
        os.symlink(staging_path(target), staging_path(source))
        sync_path(os.path.dirname(source))
        _copy(source, staging_path(target))
        busy = locked_file(source)
        if busy:
            raise WalMoveError(
                f"a member was started during the copy, and has {busy} locked: stop the member first. Its log is still in {source}."
            )
        os.rename(source, aside_path(source))
        sync_path(os.path.dirname(source))
    if step.name == "swap" and not _equal(aside_path(source), staging_path(target)):
        _copy(aside_path(source), staging_path(target))
    if step.name in ("begin", "swap"):
        if os.path.islink(target):
            os.unlink(target)
        elif os.path.isdir(target):
            os.rmdir(target)
        os.rename(staging_path(target), target)
        sync_path(os.path.dirname(target))
    if os.path.islink(staging_path(source)):
        os.unlink(staging_path(source))
    if not os.path.lexists(source):
        os.symlink(target, source)
        sync_path(os.path.dirname(source))


def leftovers(source: str, target: str) -> list[str]:
    """Return the leftovers of moves: old logs, copies, and the link, which is removed last because it proves that the old logs are outdated."""
    # TARGET.moved is of an earlier move in the other direction.
    left = [path for path in dict.fromkeys((aside_path(source), aside_path(target))) if os.path.isdir(path)]
    left += dict.fromkeys((*copy_paths(source), *copy_paths(target)))
    if _links_to(source, target):
        left.append(source)
    return left


def clean_up(source: str, target: str) -> None:
    """Remove the leftovers of moves. Raises WalMoveError unless a running member writes its log in ``target``."""
    if locked_file(target) is None:
        raise WalMoveError(
            f"no running member uses the log in {target}, so {aside_path(source)} stays: start the member first."
        )
    for path in leftovers(source, target):
        remove_path(path)


def _digest(path: str) -> str:
    """Return the SHA-256 of a file as read from the disk, not from the page cache."""
    drop_page_cache(path)
    return sha256_of_file(path)[1]


def _equal(folder: str, copy: str) -> bool:
    names = log_files(folder)
    return names == log_files(copy) and all(
        _digest(os.path.join(folder, name)) == _digest(os.path.join(copy, name)) for name in names
    )


def _copy(source: str, copy: str) -> None:
    """Copy a log's files with owner and mode, and flush them; replace the copy of an earlier attempt."""
    if os.path.isdir(copy):
        shutil.rmtree(copy)
    os.mkdir(copy, 0o700)
    for name in [*log_files(source), ""]:
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
        raise WalMoveError(
            f"the copy in {copy} differs from {source}: the new disk loses data, or something "
            f"writes to the log. Check the disk; the member's log is unchanged in {source}."
        )
