# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook audit on real etcd: a healthy cluster has no findings, planted defects are found, and nothing is written."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench.common.audit import audit as run_audit
from bench.common.audit import rules
from bench.common.member import Member, metrics, releases, running
from bench.memory import load
from tests.campaign import in_campaign
from tests.integration.client import etcdctl, wait_for_leader, wait_until

OLD, MIDDLE, NEW = releases()
PORT = 25810
# A few large values fill it.
SMALL_QUOTA = 4 << 20


def trio(folder: Path, versions: Sequence[str], *flags: str) -> list[Member]:
    """Return three members of one cluster."""
    peers = {f"m{number}": PORT + 10 * number for number in range(3)}
    return [
        Member(version, folder, port, flags=flags, name=name, peers=peers)
        for version, (name, port) in zip(versions, peers.items(), strict=True)
    ]


def audit(endpoints: str, version: str = NEW, **variables: object) -> subprocess.CompletedProcess[str]:
    """Run the playbook as a user does."""
    return run_audit(endpoints, version, **variables)


def revisions(members: Sequence[Member]) -> list[float]:
    return [metrics(member.metrics_url)["etcd_debugging_mvcc_current_revision"] for member in members]


@pytest.mark.parametrize("version", [OLD, MIDDLE, NEW])
def test_a_sound_cluster_has_no_findings_and_is_not_written_to(version: str, tmp_path: Path) -> None:
    members = trio(tmp_path, [version] * 3)
    with running(members):
        load.gateway(members[0], "kv/put", {"key": "YQ==", "value": "Yg=="})
        before = revisions(members)
        done = audit(members[0].endpoint, version)
        assert revisions(members) == before
    assert done.returncode == 0, done.stdout + done.stderr
    assert rules(done) == set(), done.stdout
    assert "etcd cluster: 3 of 3 members healthy" in done.stdout
    assert "lint: 3 members, 0 denials, 0 warnings" in done.stdout
    assert "--snapshot-catchup-entries=" in done.stdout or "experimental-snapshot-catchup-entries" in done.stdout


def test_planted_defects_are_found(tmp_path: Path) -> None:
    members = trio(tmp_path, [MIDDLE, NEW, NEW], f"--quota-backend-bytes={SMALL_QUOTA}")
    big = base64.b64encode(b"x" * (700 << 10)).decode()
    with running(members):
        # More than fit: puts may also fail because the disk is slow, and the last ones because the alarm is set.
        for number in range(12):
            with contextlib.suppress(OSError):
                load.gateway(members[0], "kv/put", {"key": base64.b64encode(b"%d" % number).decode(), "value": big})
        members[2].stop()
        wait_for_leader(members[:2])
        done = audit(f"{members[0].endpoint},{members[1].endpoint}")
    assert done.returncode == 2
    assert {"live/alarm", "live/unhealthy", "live/quota_use", "memory/large_values", "version/mixed"} <= rules(done), (
        done.stdout
    )
    assert "the alarm NOSPACE is set" in done.stdout


def test_an_endpoint_is_enough_if_the_advertised_url_cannot_be_reached(tmp_path: Path) -> None:
    """As with Compose, whose etcd advertises the name of its service."""
    member = Member(NEW, tmp_path, PORT, flags=["--advertise-client-urls=http://etcd.invalid:2379"], name="m0")
    with running([member]):
        load.gateway(member, "kv/put", {"key": "YQ==", "value": "Yg=="})
        done = audit(member.endpoint)
    assert "etcd cluster: 1 of 1 members healthy, leader m0" in done.stdout, done.stdout
    assert "live/unhealthy" not in rules(done) and "not checked" not in done.stdout, done.stdout


def put(member: Member, key: str, value: bytes) -> None:
    encoded = {"key": base64.b64encode(key.encode()).decode(), "value": base64.b64encode(value).decode()}
    load.gateway(member, "kv/put", encoded)


@contextlib.contextmanager
def slow_and_written_to(member: Member) -> Iterator[None]:
    """Write to a member that gets a third of a CPU, so that its fsyncs seem slow."""
    assert member.process
    ended = threading.Event()
    pid = member.process.pid

    def pause() -> None:
        while not ended.wait(0.01):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.06)
            os.kill(pid, signal.SIGCONT)

    def write() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):
                put(member, "a", b"b")

    threads = [threading.Thread(target=work) for work in (pause, write, write, write, write)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def fsyncs(member: Member) -> float:
    return metrics(member.metrics_url)["etcd_disk_wal_fsync_duration_seconds_count"]


def test_a_slow_disk_a_default_name_and_plain_http_are_found(tmp_path: Path) -> None:
    member = Member(
        NEW, tmp_path, PORT, flags=[f"--advertise-client-urls=http://127.0.0.1:{PORT},http://10.9.9.9:2379"]
    )
    with running([member]):
        before = fsyncs(member)
        with slow_and_written_to(member):
            # More than a 99th percentile needs.
            wait_until(lambda: fsyncs(member) > before + 150, "the member did not synchronize its log often enough")
            done = audit(member.endpoint, window=8)
    assert {"live/slow_disk", "topology/default_name", "security/plain_http"} <= rules(done), done.stdout
    assert re.search(r"the 99th percentile of its WAL fsyncs is [0-9.]+ ms, over the limit of 10 ms", done.stdout)


@pytest.mark.campaign
def test_a_leader_that_keeps_changing_and_different_data_are_found(tmp_path: Path) -> None:
    members = trio(tmp_path, [NEW] * 3)
    with running(members):
        put(members[0], "key", b"the-value-that-is-corrupted")
        ids = {member.name: f"{member_id(member):x}" for member in members}
        for target in [*ids.values(), *ids.values()]:
            for member in members:
                etcdctl(member, "move-leader", target, check=False)
            time.sleep(0.3)
        last = members[2]
        last.stop()
        database = last.folder / last.name / "member" / "snap" / "db"
        database.write_bytes(database.read_bytes().replace(b"corrupted", b"CORRUPTED"))
        last.start()
        last.wait_ready()
        done = audit(members[0].endpoint)
    assert {"live/leader_changes", "live/hash_mismatch"} <= rules(done), done.stdout
    assert "m2 differs from the majority at revision" in done.stdout and done.returncode == 2


def member_id(member: Member) -> int:
    return int(json.loads(etcdctl(member, "endpoint", "status", "-w", "json"))[0]["Status"]["header"]["member_id"])


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def issue(folder: Path, name: str, days: int) -> None:
    """Issue a certificate for loopback."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")
    names = ("-addext", "subjectAltName=IP:127.0.0.1,DNS:etcd-1", "-addext", "extendedKeyUsage=serverAuth,clientAuth")
    openssl(folder, "req", *key, "-out", f"{name}.csr", "-subj", f"/CN={name}", *names)
    signer = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copyall")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", "-days", str(days), *signer)


@pytest.mark.parametrize(("days", "found"), [(9, True), in_campaign(90, False)])
def test_a_certificate_that_expires_soon_is_found(days: int, found: bool, tmp_path: Path) -> None:
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key")
    openssl(tmp_path, "req", "-x509", *key, "-out", "ca.crt", "-days", "99", "-subj", "/CN=ca")
    issue(tmp_path, "server", days)
    issue(tmp_path, "client", days)
    files = {"ca_cert": "ca.crt", "client_cert": "client.crt", "client_key": "client.key"}
    given = {name: str(tmp_path / file) for name, file in files.items()}
    member = Member(NEW, tmp_path, PORT, name="m0", tls=tmp_path)
    with running([member]):
        etcdctl(member, "put", "a", "b")
        done = audit(member.endpoint, **given)
        refused = audit(member.endpoint, ca_cert=given["ca_cert"])
    assert ("live/certificate_expiry" in rules(done)) == found, done.stdout
    assert not found or "the certificate for 127.0.0.1, etcd-1 until" in done.stdout
    assert refused.returncode == 2 and "no etcd answers" in refused.stdout and "Traceback" not in refused.stdout


def test_a_cluster_without_a_majority_is_judged(tmp_path: Path) -> None:
    members = trio(tmp_path, [NEW] * 3)
    with running(members):
        put(members[0], "a", b"b")
        for member in members[1:]:
            member.stop()
        wait_until(lambda: not metrics(members[0].metrics_url)["etcd_server_has_leader"], "m0 did not lose its leader")
        # Short, because without a majority a linearizable read takes all of it.
        done = audit(members[0].endpoint, request_timeout=4)
    assert done.returncode == 2 and "Traceback" not in done.stdout + done.stderr
    assert "live/unhealthy" in rules(done), done.stdout
    assert re.search(r"DENY live/unhealthy: .*m0.*", done.stdout), done.stdout


def test_a_cluster_without_a_plan_is_judged(tmp_path: Path) -> None:
    members = trio(tmp_path, [NEW] * 3)
    report, output = tmp_path / "plan.html", tmp_path / "audit.json"
    with running(members):
        put(members[0], "a", b"b")
        members[2].stop()
        wait_for_leader(members[:2])
        done = audit(members[0].endpoint, etcd_memory_budget="50MB", report=str(report), output=str(output))
    assert done.returncode == 2 and "live/unhealthy" in rules(done), done.stdout + done.stderr
    assert re.search(r"no plan for m0, m1: .*50\.0 MiB", done.stdout), done.stdout
    assert re.search(r"no plan for m2: the release could not be read", done.stdout), done.stdout
    assert "etcd cluster: 2 of 3 members healthy" in done.stdout and "measured memory" in done.stdout
    assert f"report: {report}, not written" in done.stdout and not report.exists()
    plan, unknown = json.loads(output.read_text())["plans"]
    assert plan["settings"] is None and "50.0 MiB" in plan["problem"]
    assert (unknown["members"], unknown["settings"]) == (["m2"], None)


@pytest.mark.parametrize(
    ("endpoints", "reason"),
    [
        ("", "endpoints is not set"),
        (f"http://127.0.0.1:{PORT}", "connection refused"),
        ("127.0.0.1:2379", "write them like https://127.0.0.1:2379"),
    ],
)
def test_what_cannot_be_measured_is_one_clear_error(endpoints: str, reason: str) -> None:
    done = audit(endpoints)
    assert done.returncode == 2 and reason in " ".join(done.stdout.split()), done.stdout
    assert "Traceback" not in done.stdout + done.stderr
