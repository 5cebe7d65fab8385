# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release of the lock whose answer is lost, with a fake etcdctl."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PlayLock

HOLDER = lock.Holder("host", "m1", "change by Ansible", "play")
# It has no answer to its first requests of the kind in the file "lost", as many as there are lines, and keeps the key until its lease is revoked.
ETCDCTL = """#!{python} -IS
import base64, json, sys
from pathlib import Path
here = Path(__file__).parent
kind = "revoke" if "revoke" in sys.argv else "get"
with (here / "requests").open("a") as log:
    log.write(kind + "\\n")
lost = (here / "lost").read_text().split()
if kind in lost:
    lost.remove(kind)
    (here / "lost").write_text("\\n".join(lost))
    sys.exit("Error: context deadline exceeded")
key = here / "key"
if kind == "revoke":
    if not key.exists():
        sys.exit("Error: etcdserver: requested lease not found")
    key.unlink()
    print("null")
else:
    value = base64.b64encode(key.read_bytes()).decode() if key.exists() else ""
    print(json.dumps({{"kvs": [{{"value": value, "lease": 123, "mod_revision": 5}}] if value else []}}))
"""


@pytest.fixture(name="etcdctl")
def a_fake_etcdctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    path = tmp_path / "etcdctl"
    path.write_text(ETCDCTL.format(python=sys.executable))
    path.chmod(0o755)
    (tmp_path / "lost").write_text("")
    transaction = lock.lock_transaction(HOLDER, "7b", 0, 0.0)
    value = transaction.partition('put "/headroom/lock" ')[2].partition(" --lease")[0]
    (tmp_path / "key").write_text(value[1:-1].replace('\\"', '"'))
    monkeypatch.setattr(lock, "RELEASE_PAUSE", 0)
    return Connection(str(path), None, None, None, 60.0)


@pytest.mark.parametrize("lost", ["revoke", "get", "get revoke revoke"])
def test_a_release_is_tried_again(etcdctl: Connection, tmp_path: Path, lost: str) -> None:
    (tmp_path / "lost").write_text(lost)
    PlayLock(etcdctl, ["http://127.0.0.1:1"], HOLDER, seconds=30).release(lock.RELEASE_SECONDS)
    assert not (tmp_path / "key").exists()


def test_a_task_that_fails_does_not_wait_for_a_release(etcdctl: Connection, tmp_path: Path) -> None:
    (tmp_path / "lost").write_text("revoke")
    PlayLock(etcdctl, ["http://127.0.0.1:1"], HOLDER, seconds=30).release()
    assert (tmp_path / "requests").read_text().split() == ["get", "revoke"]


def test_a_lease_that_has_expired_is_released(etcdctl: Connection, tmp_path: Path) -> None:
    (tmp_path / "key").unlink()
    lock.release_lock(etcdctl, ["http://127.0.0.1:1"], "7b", lock.RELEASE_SECONDS)
    assert (tmp_path / "requests").read_text().split() == ["revoke"]


def test_a_lease_that_stays_is_reported(etcdctl: Connection, tmp_path: Path) -> None:
    (tmp_path / "lost").write_text("revoke")
    with pytest.raises(lock.LockError, match="releasing the lock: context deadline exceeded"):
        lock.release_lock(etcdctl, ["http://127.0.0.1:1"], "7b")
