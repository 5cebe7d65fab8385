# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disable authentication in the database file of a stopped temporary member.

A restored copy has the users of its cluster, and their certificates and passwords are not at hand. etcd keeps the switch as one byte,
the value of the key authEnabled in the bucket auth. bbolt has checksums in its meta pages only, so that the byte can be overwritten
where it is. Source: server/storage/schema/auth.go of etcd.
"""

from __future__ import annotations

import os
from io import FileIO

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

_BUCKET, _KEY, _ON, _OFF = b"auth", b"authEnabled", b"\x01", b"\x00"


def disable_authentication(path: str) -> bool:
    """Disable authentication in a database that no process uses. Returns whether it was enabled.

    A malformed file stays unchanged: etcd then reports its problem. Raises OSError.
    """
    with open(path, "r+b", buffering=0) as database:
        try:
            switch = _find_switch(database)
        except bbolt.FormatError:
            return False
        if switch is None or switch.value != _ON:
            return False
        database.seek(switch.position)
        database.write(_OFF)
        os.fsync(database.fileno())
        return True


def is_authentication_on(database: FileIO) -> bool:
    """Return whether authentication is on in a database. Raises bbolt.FormatError."""
    switch = _find_switch(database)
    return switch is not None and switch.value == _ON


def _find_switch(database: FileIO) -> bbolt.Item | None:
    """Return the item with the switch, None if the database has none. Raises bbolt.FormatError."""
    found = bbolt.items(database, bbolt.newest_meta(database), _BUCKET)
    return next((item for item in found if item.key == _KEY and len(item.value) == 1), None)
