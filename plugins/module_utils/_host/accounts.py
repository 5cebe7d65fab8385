# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look up the users and groups of a host. Private to the collection. Nothing here writes."""

from __future__ import annotations

import grp
import pwd
from typing import Any


def owner_name(uid: int) -> str:
    """Return the name of a user, the id if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def group_name(gid: int) -> str:
    """Return the name of a group, the id if it has none."""
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def user_facts(name: str) -> dict[str, Any]:
    """Return the facts of a user: exists, uid, gid, group, home, shell."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return {"exists": False}
    return {
        "exists": True,
        "uid": entry.pw_uid,
        "gid": entry.pw_gid,
        "group": group_name(entry.pw_gid),
        "home": entry.pw_dir,
        "shell": entry.pw_shell,
    }


def group_facts(name: str) -> dict[str, Any]:
    """Return the facts of a group: exists, gid."""
    try:
        return {"exists": True, "gid": grp.getgrnam(name).gr_gid}
    except KeyError:
        return {"exists": False}
