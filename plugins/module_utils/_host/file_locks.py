# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find files that a process has locked. Private to the collection.

/proc/locks shows the locks of all processes to every user, including those in containers. It names a file by its inode and by the device number
of its filesystem as in mountinfo. stat(2) returns another number on btrfs, where each subvolume has its own.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount, mount_of, read_mounts

# Device (hexadecimal) and inode in a line of /proc/locks. etcd's locks have no process id there (-1).
_LOCK = re.compile(r" ([0-9a-f]+):([0-9a-f]+):(\d+) ")


def parse_locks(text: str) -> set[tuple[str, int]]:
    """Return device number (as in mountinfo: "254:16") and inode of each file locked in /proc/locks."""
    found = (_LOCK.search(line) for line in text.splitlines())
    return {(f"{int(lock[1], 16)}:{int(lock[2], 16)}", int(lock[3])) for lock in found if lock}


def locked_file(
    folder: str, patterns: Iterable[str], locks: str = "/proc/locks", mounts: Sequence[Mount] | None = None
) -> str | None:
    """Return a file that matches a pattern below the folder and that a process has locked, None if there is none."""
    locked = parse_locks(read_text(locks))
    if not locked:
        return None
    seen = read_mounts() if mounts is None else mounts
    for pattern in patterns:
        for name in glob.iglob(os.path.join(glob.escape(folder), pattern)):
            mount = mount_of(os.path.realpath(name), seen)
            try:
                if mount and (mount.device_number, os.stat(name).st_ino) in locked:
                    return name
            except OSError:
                continue  # removed since
    return None
