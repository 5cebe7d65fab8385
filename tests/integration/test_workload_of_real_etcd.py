# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_workload_info measures a known workload of real etcd of each series within the bytes that it reports."""

from __future__ import annotations

import base64
import contextlib
import http.client
import http.server
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.modules import etcd_memory_plan, etcd_workload_info

from bench.common.member import Member, binary, metrics, releases, running
from bench.memory import load
from tests.integration.client import command_line, etcdctl, wait_for_leader, wait_until

VERSIONS = {version.rpartition(".")[0]: version for version in releases()}
PORT = 25710
KEYS, LEASES, STREAMS, WATCHERS = 1500, 7, 2, 13
VALUE, RATE, SECONDS = 3000, 150, 3

Run = Callable[..., dict[str, Any]]


@pytest.fixture(name="run")
def module_of(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return the function that runs a module as Ansible does."""

    def run(members: list[Member], module: Any = etcd_workload_info, **arguments: Any) -> dict[str, Any]:
        if module is etcd_workload_info:
            tls = members[0].tls
            files = {"ca_cert": "ca.crt", "client_cert": "client.crt", "client_key": "client.key"}
            defaults = {
                "etcdctl_path": str(binary(members[0].version, "etcdctl")),
                "endpoints": [members[0].endpoint],
                "window": SECONDS,
                "request_timeout": 15,
                **({name: f"{tls}/{file}" for name, file in files.items()} if tls else {}),
            }
            arguments = {**defaults, **arguments}
        with patch_module_args(arguments), pytest.raises(SystemExit):
            module.main()
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    return run


def trio(folder: Path, version: str, **more: Any) -> list[Member]:
    """Return three members of one cluster."""
    peers = {f"m{number}": PORT + 10 * number for number in range(3)}
    return [Member(version, folder, port, name=name, peers=peers, **more) for name, port in peers.items()]


def put_keys(member: Member, names: list[bytes], value: bytes) -> None:
    """Put a value to each key, a hundred in a transaction."""
    for first in range(0, len(names), 100):
        puts = [
            {
                "request_put": {
                    "key": base64.b64encode(name).decode(),
                    "value": base64.b64encode(value).decode(),
                }
            }
            for name in names[first : first + 100]
        ]
        load.gateway(member, "kv/txn", {"success": puts})


@contextlib.contextmanager
def watching(member: Member) -> Iterator[None]:
    """Hold streams with watchers on a member: the first stream has all but one for each of the others."""
    command = command_line(member, "watch", "-i")
    clients = []
    try:
        for number in range(STREAMS):
            count = 1 if number else WATCHERS - STREAMS + 1
            client = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            clients.append(client)
            assert client.stdin
            client.stdin.write(b"watch watched-%d\n" % number * count)
            client.stdin.flush()
        wait_until(lambda: member.mvcc_metric("watcher_total") >= WATCHERS, "the watchers are not there")
        yield
    finally:
        for client in clients:
            client.kill()
            client.communicate()


@contextlib.contextmanager
def writing(member: Member, names: list[bytes], value: bytes) -> Iterator[list[float]]:
    """Put to the keys in turn, at RATE a second. The list gets the time of each put."""
    done, times = threading.Event(), []
    connection = http.client.HTTPConnection("127.0.0.1", member.port, timeout=60)

    def write() -> None:
        began = time.monotonic()
        for number in range(1_000_000):
            if done.wait(max(0.0, began + number / RATE - time.monotonic())):
                return
            name = names[number % len(names)]
            body = {"key": base64.b64encode(name).decode(), "value": base64.b64encode(value).decode()}
            connection.request("POST", "/v3/kv/put", json.dumps(body))
            connection.getresponse().read()
            times.append(time.monotonic())

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield times
    finally:
        done.set()
        thread.join()
        connection.close()


@pytest.fixture(name="fetches")
def recorded_fetches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Record begin and end of each request for metrics that the module sends."""
    found: list[tuple[float, float]] = []
    fetch = http_api.fetch_metrics

    def record(*arguments: Any) -> str:
        began = time.monotonic()
        page = fetch(*arguments)
        found.append((began, time.monotonic()))
        return page

    monkeypatch.setattr(http_api, "fetch_metrics", record)
    return found


@pytest.mark.parametrize("series", sorted(VERSIONS))
def test_a_known_workload(series: str, run: Run, tmp_path: Path, fetches: list[tuple[float, float]]) -> None:
    members = trio(tmp_path, VERSIONS[series])
    names = [b"/registry/pods/%06d" % number for number in range(KEYS)]
    with running(members):
        put_keys(members[0], names, b"v" * VALUE)
        load.grant(members[1], LEASES)
        with watching(members[2]), writing(members[0], names, b"w" * VALUE) as times:
            found = run(members)
            early, late = fetches[: len(members)], fetches[len(members) : 2 * len(members)]
        assert not found.get("failed"), found
        before = members[0].mvcc_metric("current_revision")
        sent = [metrics(member.metrics_url)["etcd_network_client_grpc_sent_bytes_total"] for member in members]
        idle = run(members, window=1)
        grown = [
            metrics(member.metrics_url)["etcd_network_client_grpc_sent_bytes_total"] - bytes_sent
            for member, bytes_sent in zip(members, sent)
        ]
        assert members[0].mvcc_metric("current_revision") == before, "it wrote to the cluster"
        plan = run(members, etcd_memory_plan, version=VERSIONS[series], budget="4GB", workload=found["etcd_workload"])
    workload = found["etcd_workload"]
    exact = {"keys": KEYS, "leases": LEASES, "watch_streams": STREAMS, "watchers": WATCHERS, "tls": False}
    assert found["unreadable"] == [] and found["leader"], found
    assert {name: workload.get(name) for name in exact} == exact, found
    assert workload["key_size"] == len(names[0])
    assert abs(workload["value_size"] - VALUE) <= VALUE * 0.05, found["basis"]
    # Each request read the counter at some time between its begin and its end: milliseconds, unless the machine is busy.
    inner = max(end for _begin, end in early), min(begin for begin, _end in late)
    outer = min(begin for begin, _end in early), max(end for _begin, end in late)
    least, most = (sum(begin <= put <= end for put in times) for begin, end in (inner, outer))
    measured = found["rates"]["puts"]
    assert 0.95 * least / (outer[1] - outer[0]) <= measured <= 1.05 * most / (inner[1] - inner[0]), (least, most)
    assert workload["puts_per_second"] == max(1, round(measured))
    assert found["sizes"]["value"] == dict.fromkeys(("mean", "p50", "p90", "p99", "max"), VALUE)
    assert {item["name"] for item in found["unknown"]} == {"clients", "writers", "range_size", "watched_ranges"}
    # It reads from a follower, and no more than it says.
    sample = idle["sample"]
    assert sample["member"] != idle["leader"] and 0 < sample["bytes"] <= sample["bytes_limit"]
    assert sample["bytes"] <= max(grown) <= sample["bytes_limit"]
    assert idle["etcd_workload"]["puts_per_second"] == 0
    assert not plan.get("failed"), plan


NEWEST = VERSIONS[max(VERSIONS)]


def reason(found: dict[str, Any], name: str) -> str:
    """Return why a figure is unknown."""
    return next(str(item["reason"]) for item in found["unknown"] if item["name"] == name)


def test_a_member_that_does_not_answer_is_named(run: Run, tmp_path: Path) -> None:
    members = trio(tmp_path, NEWEST)
    with running(members):
        put_keys(members[0], [b"a\0b", b"\xff\xfe", b'"quoted\\', b" space ", b"-dash"], b"1234")
        members[2].stop()
        wait_for_leader(members[:2])
        found = run(members, window=1, metrics_urls=[member.metrics_url + "/metrics" for member in members])
    assert not found.get("failed"), found
    assert found["etcd_workload"]["keys"] == 5 and found["sample"]["complete"]
    assert found["etcd_workload"]["value_size"] == 4 and found["sizes"]["key"]["max"] == 8
    assert len(found["unreadable"]) == 1 and found["unreadable"][0].startswith("m2: "), found["unreadable"]
    assert "refused" in found["unreadable"][0]
    assert [member["healthy"] for member in found["members"]] == [True, True, False]


def test_an_empty_database(run: Run, tmp_path: Path) -> None:
    member = Member(NEWEST, tmp_path, PORT)
    with running([member]):
        found = run([member], window=1)
        silent = run([member], window=1, metrics_urls=["http://127.0.0.1:9"])
        short = run([member], window=0)
    assert "the database has no keys" in reason(found, "keys") and "no keys" in reason(found, "value_size")
    assert found["etcd_workload"]["puts_per_second"] == 0 and found["sample"]["complete"]
    assert not silent.get("failed") and "no member's metrics" in reason(silent, "puts_per_second"), silent
    assert "http://127.0.0.1:9/metrics" in silent["unreadable"][0]
    assert short["failed"] and "window is 0, but must lie between 1 and 3600" in short["msg"]


def test_authentication_and_certificates(run: Run, tmp_path: Path) -> None:
    folder = load.certificates(tmp_path / "tls")
    for name in ("reader", "nobody"):
        load.issue(folder, name, f"/CN={name}", load.SIGNED)
    load.issue(folder, "stranger", "/CN=stranger", [])
    member = Member(NEWEST, tmp_path, PORT, tls=folder)

    def by(name: str, **more: Any) -> dict[str, Any]:
        files = {"client_cert": f"{folder}/{name}.crt", "client_key": f"{folder}/{name}.key"}
        return run([member], window=1, **files, **more)

    with running([member]):
        for key in ("/shop/a", "/shop/b", "/other/c"):
            etcdctl(member, "put", key, "secret-value")
        for words in (
            "role add shop",
            "role grant-permission shop read --prefix=true /shop/",
            "user add --no-password reader",
        ):
            etcdctl(member, *words.split())
        for words in (
            "user grant-role reader shop",
            "user add root:Root-Secret",
            "user grant-role root root",
            "auth enable",
        ):
            etcdctl(member, *words.split())
        denied, part = by("reader"), by("reader", prefix="/shop/")
        root = by("nobody", login_user="root", login_password="Root-Secret")
        wrong = by("nobody", login_user="root", login_password="Wrong-Secret")
        strange = by("stranger", request_timeout=2)
    assert "denies this user" in reason(denied, "value_size") and "a put has" in reason(denied, "value_size"), denied
    assert denied["etcd_workload"]["keys"] == 3 and denied["etcd_workload"]["tls"] is True
    assert denied["etcd_workload"]["leases"] == 0 and denied["members"][0]["db_size"] > 0
    assert part["sample"]["keys"] == 2 and part["etcd_workload"]["key_size"] == 7, part
    assert root["sample"]["keys"] == 3 and root["etcd_workload"]["value_size"] == len("secret-value"), root
    assert wrong["failed"] and "authentication failed" in wrong["msg"], wrong
    assert strange["failed"] and "client_cert" in strange["msg"], strange
    assert "secret-value" not in json.dumps([denied, part, root]) and "Root-Secret" not in json.dumps([root, wrong])


def test_an_endpoint_that_is_no_etcd(run: Run, tmp_path: Path) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        member = Member(NEWEST, tmp_path, PORT)
        found = run([member], endpoints=[f"http://127.0.0.1:{server.server_port}"], request_timeout=1)
        closed = run([member])
    finally:
        server.shutdown()
        server.server_close()
    for result in (found, closed):
        assert result["failed"] and result["msg"].startswith("no etcd answers: http://127.0.0.1:"), result
        assert "Set endpoints to client URLs" in result["msg"]
