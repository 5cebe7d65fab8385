# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook audit on real etcd: a sound cluster has no findings, planted defects are found, and nothing is written."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.common.member import Member, binary, metrics, releases, running
from bench.memory import load

PROJECT = Path(__file__).resolve().parents[2]
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
    given = {
        "endpoints": endpoints,
        "window": 1,
        "request_timeout": 15,
        "etcdctl_path": str(binary(version, "etcdctl")),
        **variables,
    }
    command = ["ansible-playbook", "playbooks/audit.yml", "-e", json.dumps(given)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=240, check=False)


def rules(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the rules that found something."""
    return set(re.findall(r"^(?:WARN|DENY) ([a-z]+/[a-z_]+):", done.stdout, re.M))


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
    big = load.base64.b64encode(b"x" * (700 << 10)).decode()
    with running(members):
        for number in range(8):
            try:
                load.gateway(
                    members[0], "kv/put", {"key": load.base64.b64encode(b"%d" % number).decode(), "value": big}
                )
            except OSError:
                break
        members[2].stop()
        time.sleep(1)
        done = audit(f"{members[0].endpoint},{members[1].endpoint}")
    assert done.returncode == 2
    assert {"live/alarm", "live/unhealthy", "live/quota_use", "memory/large_values", "version/mixed"} <= rules(done), (
        done.stdout
    )
    assert "the alarm NOSPACE is set" in done.stdout


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
