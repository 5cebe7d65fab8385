# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read from a snapshot whether etcd would accept a client after the restore. Private to the collection.

A restore brings back the users and whether authentication is on. The common name of a client certificate that was issued since, or for new
hosts, may be none of these users. Source: server/storage/schema/auth.go and auth_users.go, and api/authpb/auth.proto of etcd.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import auth_flag
from ansible_collections.etcdops.headroom.plugins.module_utils._base import protobuf
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

_BUCKET = b"authUsers"
_ROLES = 3  # number of the field
ROOT = "root"


def read_administrators(path: str) -> tuple[list[str], list[str]] | None:
    """Return the users with the role root, and the other ones, in order; None while authentication is off. Raises OSError or ValueError."""
    with open(path, "rb", buffering=0) as database:
        if not auth_flag.is_authentication_on(database):
            return None
        found = {
            item.key.decode("utf-8", "replace"): ROOT in _roles(item.value)
            for item in bbolt.items(database, bbolt.newest_meta(database), _BUCKET)
        }
    return sorted(name for name in found if found[name]), sorted(name for name in found if not found[name])


def _roles(user: bytes) -> list[str]:
    return [
        user[value:end].decode("utf-8", "replace")
        for number, value, end in protobuf.fields(user)
        if number == _ROLES and end >= 0
    ]


def access_problem(path: str, client_name: str) -> str:
    """Return why etcd would refuse a client after the restore of a snapshot; an empty text if it would accept it.

    The text is also empty for a file that is encrypted or damaged. ``client_name`` is the common name of the client's certificate, empty
    without one. Raises OSError.
    """
    try:
        found = read_administrators(path)
    except ValueError:  # the restore refuses such a file
        return ""
    if found is None or client_name in found[0]:
        return ""
    administrators, others = found
    lack = (
        "Headroom would present no client certificate with a common name"
        if not client_name
        else f"user {client_name}, as which Headroom would log in by its client certificate, "
        + ("lacks the role root" if client_name in others else "does not exist")
    )
    return (
        f"{path} has authentication on, but {lack}, so that etcd would refuse Headroom after the restore. Users with the role root: "
        f"{', '.join(administrators) or 'none'}. Set etcd_tls_client_name to one of them, or provide a client certificate with its common name. "
        "No data was changed"
    )
