# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A private folder for a scratch member, with enough free space.

The folders of killed processes have the same prefix, by which the next run finds and removes them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import owned_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import SOCKET, ScratchMemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import GROWTH_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import NEW_LOG_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._host.free_space import allocated_bytes, available_bytes

# Bytes that etcd writes in addition to its database.
OVERHEAD = NEW_LOG_BYTES + GROWTH_BYTES
_PREFIX = ".headroom-drill-"
# On Linux sun_path has 108 bytes, including the terminating NUL.
_MAX_SOCKET_PATH = 107


@contextlib.contextmanager
def scratch_folder(parent: str, needed: int, option: str = "scratch_dir") -> Iterator[str]:
    """Yield a private folder with ``needed`` bytes of free space, and always remove it. Messages name the module's ``option``.

    Removes the folders of killed drills first. Raises ScratchMemberError without enough free space.
    """
    _check_parent(parent, option)
    remove_abandoned(parent)
    _check_space(parent, available_bytes(parent), needed, option)
    with owned_folder.owned_folder(parent, _PREFIX) as folder:
        yield folder


def check_scratch_dir(parent: str, needed: int, option: str = "scratch_dir") -> list[str]:
    """Return the folders of killed drills that ``scratch_folder`` would remove from ``parent``. Changes nothing.

    Raises ScratchMemberError if ``parent`` is unsuitable for a scratch member, even without these folders.
    """
    _check_parent(parent, option)
    abandoned = owned_folder.find_abandoned(parent, _PREFIX)
    _check_space(parent, available_bytes(parent) + sum(map(allocated_bytes, abandoned)), needed, option)
    return abandoned


def remove_abandoned(parent: str) -> None:
    """Remove the folders of killed drills in ``parent``. Raises OSError."""
    owned_folder.remove_abandoned(parent, _PREFIX)


def removal_notice(abandoned: list[str]) -> str:
    """Return a sentence that says which folders a run would remove first; empty without any."""
    return f" Would first remove {', '.join(abandoned)}, left by a killed run." if abandoned else ""


def _check_parent(parent: str, option: str) -> None:
    if not os.path.isdir(parent) or not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
        raise ScratchMemberError(
            f"{option} {parent} is not a directory that user {os.geteuid()} can write to: choose another"
        )
    longest = len(os.fsencode(os.path.join(parent, _PREFIX + "x" * 8, SOCKET)))
    if longest > _MAX_SOCKET_PATH:
        raise ScratchMemberError(
            f"{option} {parent} is {longest - _MAX_SOCKET_PATH} bytes too long for a socket's path: choose a shorter one"
        )


def _check_space(parent: str, free: int, needed: int, option: str) -> None:
    if free < needed:
        has, needs = format_sizes_distinctly(free, needed)
        raise ScratchMemberError(
            f"{option} {parent} has {has} free, but the temporary member needs {needs}: "
            f"free some space, or set {option} to a larger volume"
        )
