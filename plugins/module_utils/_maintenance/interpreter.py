# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the Python interpreter of the timers. They run as root, so only root may be able to replace it."""

from __future__ import annotations

import os
import stat

ROOT = 0


def choose_interpreter(candidates: list[str], owner: int = ROOT) -> str:
    """Return the first candidate that only its owner can replace. Raises ValueError if there is none.

    owner: the user id that must own the program and each directory above it.
    """
    reasons = []
    for candidate in candidates:
        reason = untrusted(candidate, owner)
        if not reason:
            return candidate
        reasons.append(f"{candidate}: {reason}")
    raise ValueError(
        f"no Python that only root can replace ({'; '.join(reasons)}), and the timers run it as root: "
        "install the distribution's python3, or set ansible_python_interpreter to one that root owns"
    )


def stable_names(executable: str, unversioned: str, *, virtual: bool) -> list[str]:
    """Return the names of a running Python, first the one that stays after an upgrade of the distribution.

    virtual: whether it runs in a virtual environment, whose packages the unversioned name would not find.
    """
    if not virtual and os.path.realpath(executable) == os.path.realpath(unversioned):
        return [unversioned, executable]
    return [executable]


def untrusted(path: str, owner: int = ROOT) -> str:
    """Return why somebody other than the owner could replace the program; empty if nobody can.

    Checks the path as given and the file that its links lead to, with each directory above both.
    """
    if not os.path.isabs(path) or not os.access(path, os.X_OK):
        return "is not the absolute path of a program"
    for start in (path, os.path.realpath(path)):
        part = start
        while True:
            reason = _replaceable(part, owner)
            if reason:
                return reason
            parent = os.path.dirname(part)
            if parent == part:
                break
            part = parent
    return ""


def _replaceable(path: str, owner: int) -> str:
    status = os.lstat(path)
    if status.st_uid not in (ROOT, owner):
        return f"{path} belongs to user {status.st_uid}"
    # In a directory with the sticky bit, such as /tmp, others cannot rename or remove what they do not own.
    if not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        return f"{path} is writable by others ({stat.S_IMODE(status.st_mode):04o})"
    return ""
