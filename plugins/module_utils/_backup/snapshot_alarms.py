# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read from a snapshot whether etcd would refuse all requests after the restore. Private to the collection.

A restore brings back the alarms. NOSPACE is disarmed once the members serve, but nothing shows whose data is correct if CORRUPT is set.
Source: server/storage/schema/alarm.go, and AlarmMember in api/etcdserverpb/rpc.proto of etcd.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._base import protobuf
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

_BUCKET = b"alarm"
# The number of the field in the key of an alarm, and its value for CORRUPT.
_KIND, _CORRUPT = 2, 2


def corruption_problem(path: str) -> str:
    """Return why the members would refuse all requests after the restore of a snapshot; empty if they would not.

    The text is also empty for a file that is encrypted or damaged. Raises OSError.
    """
    try:
        with open(path, "rb", buffering=0) as database:
            keys = [item.key for item in bbolt.items(database, bbolt.newest_meta(database), _BUCKET)]
        corrupt = any(
            (_KIND, _CORRUPT) == (number, value) for key in keys for number, value, _end in protobuf.fields(key)
        )
    except ValueError:  # the restore refuses such a file
        return ""
    if not corrupt:
        return ""
    return (
        f"{path} was taken while the alarm CORRUPT was set: members had different data, and after the restore etcd would refuse all "
        "requests. Restore a snapshot from before the alarm. No data was changed"
    )
