# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run etcd_disk_live_info against a server on loopback that serves two readings of etcd's metrics."""

from __future__ import annotations

import http.server
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import live_latency
from ansible_collections.etcdops.headroom.plugins.modules import etcd_disk_live_info


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_disk_live_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def page(fsyncs: int, commits: int, slow: int) -> str:
    """Metrics of a member whose fsyncs all took 1 to 2 ms and whose commits took 4 to 8 ms."""
    return "".join(
        [
            f'{live_latency.WAL_FSYNC}_bucket{{le="0.001"}} 0\n',
            f'{live_latency.WAL_FSYNC}_bucket{{le="0.002"}} {fsyncs}\n',
            f'{live_latency.WAL_FSYNC}_bucket{{le="+Inf"}} {fsyncs}\n',
            f'{live_latency.BACKEND_COMMIT}_bucket{{le="0.004"}} 0\n',
            f'{live_latency.BACKEND_COMMIT}_bucket{{le="0.008"}} {commits}\n',
            f'{live_latency.BACKEND_COMMIT}_bucket{{le="+Inf"}} {commits}\n',
            f"{live_latency.SLOW_APPLIES} {slow}\n{live_latency.LEADER_CHANGES} 1\n{live_latency.STARTED} 1.7e+09\n",
        ]
    )


class Member:
    """A server that answers /metrics with one page after the other, and repeats the last one."""

    def __init__(self) -> None:
        self.pages = [page(1000, 500, 2), page(3000, 700, 2)]
        self.status = 200
        member = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = self.path == "/metrics"
                body = member.pages.pop(0) if len(member.pages) > 1 else member.pages[0]
                self.send_response(member.status if found else 404)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_arguments: Any) -> None:
                """Say nothing."""

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture(name="member")
def running_member() -> Iterator[Member]:
    """A member that served 2000 fsyncs and 200 commits between two readings."""
    found = Member()
    thread = threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def test_latencies_of_an_interval(capsys: pytest.CaptureFixture[str], member: Member) -> None:
    result = run(capsys, endpoint=member.url + "/", interval=1)
    assert (result["changed"], result["verdict"], result["endpoint"]) == (False, "ok", member.url)
    assert result["wal_fsync"] == {
        "samples": 2000,
        "p50_us": 1500,
        "p99_us": 1990,
        "p99_from_us": 1000,
        "p99_to_us": 2000,
        "limit_us": 10000,
        "warn_us": 5000,
    }
    assert (result["backend_commit"]["samples"], result["backend_commit"]["p99_us"]) == (200, 7960)
    assert (result["slow_applies"], result["leader_changes"]) == (0, 0) and 1 <= result["seconds"] < 3


def test_latencies_since_the_start_in_check_mode(capsys: pytest.CaptureFixture[str], member: Member) -> None:
    result = run(capsys, endpoint=member.url, interval=0, _ansible_check_mode=True)
    assert (result["changed"], result["verdict"], result["wal_fsync"]["samples"]) == (False, "ok", 1000)
    assert result["slow_applies"] == 2 and result["seconds"] > 10**6


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"fsync_p99_max_ms": 1}, "fail"),
        ({"fsync_p99_max_ms": 3}, "warn"),
        ({"fsync_p99_warn_ms": 1.5}, "warn"),
        ({"commit_p99_max_ms": 7}, "fail"),
        ({"commit_p99_warn_ms": 7}, "warn"),
        ({"commit_p99_max_ms": 8}, "ok"),
    ],
)
def test_limits(capsys: pytest.CaptureFixture[str], member: Member, arguments: dict[str, Any], verdict: str) -> None:
    result = run(capsys, endpoint=member.url, interval=0, **arguments)
    assert (result["verdict"], "failed" in result) == (verdict, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"endpoint": "127.0.0.1:2379"}, "endpoint is '127.0.0.1:2379'; write it like https://127.0.0.1:2379"),
        ({"endpoint": "http://127.0.0.1:port"}, "write it like https://127.0.0.1:2379"),
        ({"interval": -1}, "interval is -1, but must be 0 to 600 seconds"),
        ({"interval": 601}, "interval is 601, but must be 0 to 600 seconds"),
        ({"request_timeout": 0}, "request_timeout is 0.0, but must be"),
        ({"fsync_p99_max_ms": 0}, "fsync_p99_max_ms is 0.0, but must be a number of milliseconds above 0"),
        ({"commit_p99_max_ms": "nan"}, "commit_p99_max_ms is nan, but must be a number"),
        ({"commit_p99_warn_ms": 26}, "commit_p99_warn_ms is 26.0, above commit_p99_max_ms (25.0)"),
        (
            {"endpoint": "https://127.0.0.1:1", "ca_cert": "/no/ca.crt"},
            "ca_cert is /no/ca.crt, which cannot be read (No such",
        ),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: dict[str, Any], message: str) -> None:
    result = run(capsys, **{"endpoint": "http://127.0.0.1:1", "interval": 0, **arguments})
    assert result["failed"] and message in result["msg"]


def test_closed_port(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    result = run(capsys, endpoint=url, interval=0)
    assert result["failed"] and result["msg"].startswith(f"{url}/metrics: ") and "refused" in result["msg"]


def test_server_that_is_not_etcd(capsys: pytest.CaptureFixture[str], member: Member) -> None:
    member.pages = ["<html></html>"]
    result = run(capsys, endpoint=member.url, interval=0)
    assert result["msg"] == (
        f"{member.url}/metrics: the metrics have no etcd_disk_wal_fsync_duration_seconds: is this an etcd member of 3.5 or newer?"
    )
    member.status = 403
    assert run(capsys, endpoint=member.url, interval=0)["msg"] == f"{member.url}/metrics: HTTP status 403"


def test_restart_during_the_interval(capsys: pytest.CaptureFixture[str], member: Member) -> None:
    member.pages.reverse()
    result = run(capsys, endpoint=member.url, interval=1)
    assert result["msg"] == f"{member.url}: the member restarted during the measurement: run it again"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    key = tmp_path / "client.key"
    key.touch(mode=0o000)
    files = {"ca_cert": "/dev/null", "client_cert": "/dev/null", "client_key": str(key)}
    result = run(capsys, endpoint="https://127.0.0.1:1", **files)
    assert f"client_key is {key}, which cannot be read (Permission denied): become root" in result["msg"]
