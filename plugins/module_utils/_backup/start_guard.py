# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prevent etcd from starting during a restore, also after a reboot. Private to the collection.

A drop-in of the unit allows a start only without the marker of a restore, or with a permission that the playbook gives once all hosts
have their new data. The permission is below /run, so a reboot withdraws it: then the playbook has to finish the restore.
"""

from __future__ import annotations

import contextlib
import os

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path, write_atomically

PERMISSION = "/run/headroom-restore-may-start"


def drop_in_text(marker: str) -> str:
    """Return the drop-in. Conditions with a bar are alternatives (systemd.unit(5))."""
    return (
        "# A restore replaces etcd's data. Run the playbook restore again to finish it; it removes this file.\n"
        "[Unit]\n"
        f"ConditionPathExists=|!{marker}\n"
        f"ConditionPathExists=|{PERMISSION}\n"
    )


def is_blocked(drop_in: str, marker: str) -> bool:
    """Return whether the drop-in is there, with its content."""
    try:
        with open(drop_in, encoding="utf-8") as stream:
            return stream.read() == drop_in_text(marker)
    except OSError:
        return False


def block(drop_in: str, marker: str) -> bool:
    """Write the drop-in and withdraw the permission. Returns whether the drop-in was missing. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(PERMISSION)
    if is_blocked(drop_in, marker):
        return False
    folder = os.path.dirname(drop_in)
    os.makedirs(folder, mode=0o755, exist_ok=True)
    write_atomically(drop_in, drop_in_text(marker))
    for path in (drop_in, folder, os.path.dirname(folder)):
        sync_path(path)
    return True


def permit() -> bool:
    """Permit etcd to start until the next reboot. Returns whether that changed anything. Raises OSError."""
    if os.path.exists(PERMISSION):
        return False
    write_atomically(PERMISSION, "")
    return True


def remove(drop_in: str) -> bool:
    """Remove the drop-in, its folder if empty, and the permission. Returns whether there was a drop-in. Raises OSError."""
    found = os.path.lexists(drop_in)
    for path in (drop_in, PERMISSION):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    with contextlib.suppress(OSError):  # somebody else's drop-ins are there
        os.rmdir(os.path.dirname(drop_in))
    return found
