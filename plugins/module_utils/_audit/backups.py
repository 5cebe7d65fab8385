# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the newest backup in directories of a host, by Headroom's records, else by the times of the files: other programs have names of their own."""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store

# Files next to backups: records, digests, and unfinished files.
_BESIDE = (*store.SIDECARS, ".sha256sum", ".md5", ".log", ".tmp", ".part", ".partial")
# If each backup has its own directory, search at most this many of them, the most recently changed first.
_MAX_FOLDERS = 1000


def newest_backups(directories: Sequence[str], now: float) -> list[dict[str, Any]]:
    """Return the newest file of each directory and the directories in it, with its age in seconds; path and age are None if there is none.

    now: seconds since 1970. A directory that cannot be read has the reason in ``problem``.
    """
    return [_newest(directory, now) for directory in directories]


def _newest(directory: str, now: float) -> dict[str, Any]:
    found: dict[str, Any] = {
        "hostname": platform.node(),
        "directory": directory,
        "path": None,
        "age": None,
        "problem": "",
    }
    try:
        files, folders = _listed(directory)
    except OSError as error:
        return {**found, "problem": f"{directory} cannot be read: {error.strerror}"}
    problem = ""
    for folder in sorted(folders, key=lambda path: folders[path], reverse=True)[:_MAX_FOLDERS]:
        try:
            files.update(_listed(folder)[0])
        except OSError as error:
            problem = f"{folder} cannot be read: {error.strerror}"
    if not files:
        return {**found, "problem": problem}
    newest = max(files, key=lambda path: (files[path], path))
    return {**found, "path": newest, "age": max(0, round(now - files[newest]))}


def _listed(directory: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return the files of a directory that may be backups, with the time of each backup, and its directories, with the time of their last change.

    Raises OSError.
    """
    files, folders = {}, {}
    for name in os.listdir(directory):
        if name.startswith(".") or name.endswith(_BESIDE):
            continue
        path = os.path.join(directory, name)
        try:
            status = os.stat(path)
        except OSError:  # it was removed
            continue
        if stat.S_ISDIR(status.st_mode):
            folders[path] = status.st_mtime
        elif stat.S_ISREG(status.st_mode) and status.st_size:
            files[path] = _taken_at(path, status.st_mtime)
    return files, folders


def _taken_at(path: str, changed: float) -> float:
    """Return when a backup was taken. A file that was fetched or decrypted is newer than its content, which the record describes."""
    if not os.path.isfile(path + store.METADATA):
        return changed
    try:
        return float(store.read_metadata(path).taken_at)
    except (store.SnapshotError, OSError):
        return changed
