# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a play, without a cluster. tests/integration uses real etcd."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PlayLock

SINCE = "2026-11-27T05:08:14Z"
WITHOUT_ETCDCTL = Connection("/nowhere/etcdctl", None, None, None, 1.0)
HOLDER = lock.Holder("host", "m1", "change by Ansible", "play")


def test_a_release_that_fails_does_not_hide_why_the_task_failed() -> None:
    with pytest.raises(EtcdctlError):
        lock.release_lock_of(WITHOUT_ETCDCTL, ["http://127.0.0.1:1"], HOLDER)
    PlayLock(WITHOUT_ETCDCTL, ["http://127.0.0.1:1"], HOLDER, seconds=30).release()


@pytest.mark.parametrize(
    ("holder", "text"),
    [
        (HOLDER, "; the lock's lease expires in 56 s unless its holder renews it"),
        (
            lock.Holder("host-2", "m2", "backup"),
            "; the lock's lease expires in 56 s unless its holder renews it. If it is stuck, end it on host-2: systemctl stop 'headroom-*.service'",
        ),
    ],
    ids=["a play", "a timer"],
)
def test_a_stuck_backup_can_be_ended(monkeypatch: pytest.MonkeyPatch, holder: lock.Holder, text: str) -> None:
    monkeypatch.setattr(lock, "remaining_seconds", lambda *_arguments: 56)
    waiting = PlayLock(WITHOUT_ETCDCTL, [], HOLDER, seconds=30, held=lock.HeldLock(holder, SINCE, "7c", 3))
    assert waiting.outlook() == text
