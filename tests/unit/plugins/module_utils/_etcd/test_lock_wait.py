# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which errors hold_lock waits for, and how it reaches the members that serve, with a fake etcdctl."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

HOLDER = lock.Holder("host-1", "m1", "backup")
ENDPOINTS = ["http://a:2379", "http://b:2379", "http://c:2379"]
# It sends each request to its first endpoint. The file of an endpoint has the errors of its next requests; the last one stays. The error "late"
# carries out a request without an answer, "ok" is none.
ETCDCTL = """#!{python} -IS
import base64, json, sys
from pathlib import Path
here = Path(__file__).parent
endpoint = next(one for one in sys.argv if one.startswith("--endpoints=")).partition("=")[2].split(",")[0]
kind = next(one for one in sys.argv if one in ("grant", "revoke", "txn", "get"))
with (here / "requests").open("a") as log:
    print(endpoint[7:8], kind, file=log)
plan = here / endpoint[7:8]
errors = plan.read_text().splitlines() if plan.exists() else []
if len(errors) > 1:
    plan.write_text("\\n".join(errors[1:]))
error = errors[0] if errors else "ok"
if error not in ("ok", "late"):
    sys.exit(error)
key = here / "key"
if kind == "grant":
    print(json.dumps({{"ID": 123}}))
elif kind == "revoke":
    key.unlink(missing_ok=True)
    print("{{}}")
else:
    requests = sys.stdin.read()
    kept = key.read_text() if key.exists() else ""
    if not kept:
        put = next(line for line in requests.splitlines() if line.startswith("put "))
        value, _separator, lease = put.partition('"/headroom/lock" ')[2].rpartition(" --lease=")
        key.write_text(json.dumps([json.loads(value), int(lease, 16)]))
    pairs = [dict(value=base64.b64encode(json.loads(kept)[0].encode()).decode(), lease=json.loads(kept)[1], mod_revision=5)] if kept else []
    print(json.dumps({{"succeeded": not kept, "responses": [{{"ResponseRange": {{"kvs": pairs}}}}] if kept else []}}))
if error == "late":
    sys.exit("Error: context deadline exceeded")
"""
SILENT = "Error: context deadline exceeded"
REFUSED = "Error: dial tcp 10.0.0.1:2379: connect: connection refused"
Fail = Callable[..., None]


@pytest.fixture(name="etcdctl")
def a_fake_etcdctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    path = tmp_path / "etcdctl"
    path.write_text(ETCDCTL.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setattr(lock, "POLL_SECONDS", 0)
    return Connection(str(path), None, None, None, 60.0)


@pytest.fixture(name="fail")
def set_errors(tmp_path: Path) -> Fail:
    def fail(endpoint: str, *errors: str) -> None:
        (tmp_path / endpoint).write_text("\n".join(errors))

    return fail


def requests(tmp_path: Path, kind: str) -> str:
    """Return the members that received requests of this kind, in order."""
    lines = (tmp_path / "requests").read_text().splitlines()
    return "".join(line[0] for line in lines if line.endswith(kind))


@pytest.mark.parametrize("error", [SILENT, "Error: etcdserver: rpc not supported for learner"])
def test_a_member_that_does_not_serve_is_passed_over(
    etcdctl: Connection, tmp_path: Path, fail: Fail, error: str
) -> None:
    fail("a", error)
    with lock.hold_lock(etcdctl, ENDPOINTS, HOLDER):
        pass
    assert requests(tmp_path, "grant") == "aab"
    assert not (tmp_path / "key").exists()


def test_errors_that_pass_are_waited_for(etcdctl: Connection, fail: Fail) -> None:
    """The only member is being defragmented, and then restarted."""
    fail("a", SILENT, SILENT, "Error: etcdserver: no leader", REFUSED, "ok")
    with lock.hold_lock(etcdctl, ENDPOINTS[:1], HOLDER, wait=60):
        pass


def test_a_key_that_was_written_without_an_answer_is_the_own_lock(
    etcdctl: Connection, tmp_path: Path, fail: Fail
) -> None:
    fail("a", "ok", "late", "late", "ok")
    with lock.hold_lock(etcdctl, ENDPOINTS, HOLDER):
        assert requests(tmp_path, "txn") == "aab"
        assert (tmp_path / "key").exists()


@pytest.mark.parametrize(
    "error",
    [
        "Error: etcdserver: permission denied",
        "Error: etcdserver: authentication failed, invalid user ID or password",
        "Error: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority",
        REFUSED,
    ],
)
def test_an_error_that_stays_ends_the_wait(etcdctl: Connection, tmp_path: Path, fail: Fail, error: str) -> None:
    fail("a", error)
    with (
        pytest.raises(lock.LockError, match=error.removeprefix("Error: ")),
        lock.hold_lock(etcdctl, ENDPOINTS, HOLDER, wait=3600),
    ):
        pass
    assert requests(tmp_path, "grant") == "a"


def test_the_last_error_is_named_when_the_wait_ends(
    etcdctl: Connection, fail: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 3600, 15))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    fail("a", SILENT, SILENT, "Error: etcdserver: no leader")
    with (
        pytest.raises(lock.TransientLockError, match="granting a lease for the lock: etcdserver: no leader"),
        lock.hold_lock(etcdctl, ENDPOINTS[:1], HOLDER, wait=60),
    ):
        pass
