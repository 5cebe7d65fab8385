# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores of snapshots with alarms: the last steps with NOSPACE, and the refusal of CORRUPT."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot_alarms

from bench.common.member import PROJECT, Member, binary, releases
from tests.integration.client import etcdctl, run, wait_until

PORT = 28990
QUOTA = 2 << 20
TASKS = PROJECT / "roles" / "etcd" / "tasks"


def start(member: Member) -> None:
    """Start a member and wait until it answers: with the alarm it does not report that it is healthy."""
    member.start()
    wait_until(lambda: run(member, "endpoint", "status").returncode == 0, "the member did not answer")


def restored(member: Member, quota: int) -> Member:
    """Fill a member's database, and return a member with this quota that was restored from a snapshot of it."""
    start(member)
    try:
        number = 0
        while run(member, "put", f"key-{number}", "v" * 100_000).returncode == 0:
            number += 1
        path = member.folder / "full.db"
        etcdctl(member, "snapshot", "save", str(path))
    finally:
        member.stop()
    folder = member.folder / "restored"
    argv = [str(binary(member.version, "etcdutl")), "snapshot", "restore", str(path), f"--data-dir={folder}"]
    subprocess.run(argv, check=True, capture_output=True, timeout=120)
    return replace(
        member, name="restored", flags=(f"--quota-backend-bytes={quota}",), process=None, sampler=None, peers={}
    )


@pytest.fixture(name="full", params=releases())
def full_member(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Member]:
    """A member that reaches its quota soon."""
    member = Member(request.param, tmp_path, PORT, flags=(f"--quota-backend-bytes={QUOTA}",))
    yield member


def verify(member: Member, **variables: object) -> str:
    """Run the tasks with which role etcd ends an update, but for those that need the host's own etcd; return the output."""
    etcdctl_path = str(binary(member.version, "etcdctl"))
    tasks = yaml.safe_load((TASKS / "verify_update.yml").read_text(encoding="utf-8"))
    needed = [task for task in tasks if "etcd_alarm" in str(task) or "verify_writes.yml" in str(task)]
    text = (TASKS / "verify_writes.yml").read_text(encoding="utf-8")
    text = text.replace("/usr/local/bin/etcdctl", etcdctl_path).replace("delay: 3", "delay: 0")
    (member.folder / "verify_writes.yml").write_text(text)
    play = {
        "name": "Verify the update",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "module_defaults": {"etcdops.headroom.etcd_alarm": {"etcdctl_path": etcdctl_path}},
        "vars": {
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "etcd_cluster": {"first_host": "localhost"},
            "etcd_cluster_name": "example",
            "etcd_name": member.name,
            "etcd_endpoints": [member.endpoint],
            "_etcd_voter_urls": [member.endpoint],
            "_etcd_verifying_host": "localhost",
            "_etcd_learners": [],
            "etcd_tls_dir": "/none",
            "etcd_etcdctl_environment": {},
            **variables,
        },
        "tasks": needed,
    }
    path = member.folder / "play.json"
    path.write_text(json.dumps([play]))
    words = ["ansible-playbook", "-i", "localhost,", str(path)]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, timeout=240, check=False)
    return done.stdout + done.stderr


def test_a_snapshot_with_the_alarm_corrupt_is_refused(full: Member) -> None:
    """As it is read from the snapshot, before anything changes."""
    start(full)
    try:
        paths = []
        for kind in ("NOSPACE", "CORRUPT"):
            body = json.dumps({"action": "ACTIVATE", "memberID": "7", "alarm": kind}).encode()
            urllib.request.urlopen(f"{full.endpoint}/v3/maintenance/alarm", body, timeout=30).close()
            paths.append(str(full.folder / f"{kind}.db"))
            etcdctl(full, "snapshot", "save", paths[-1])
    finally:
        full.stop()
    problems = [snapshot_alarms.corruption_problem(path) for path in paths]
    assert problems[0] == "" and problems[1].startswith(f"{paths[1]} was taken while the alarm CORRUPT was set")


def test_a_restored_alarm_does_not_end_the_restore(full: Member) -> None:
    """The database is smaller than the quota, and etcdutl keeps the alarm of the snapshot."""
    member = restored(full, quota=1 << 30)
    start(member)
    try:
        said = verify(member)
        assert "failed=1" in said and "run the playbook nospace" in said, said
        said = verify(member, etcd_restore_active=True)
        assert "failed=0" in said and "changed=1" in said, said
        assert etcdctl(member, "alarm", "list") == ""
        said = verify(member, etcd_restore_active=True)
        assert "failed=0" in said and "changed=0" in said, said
    finally:
        member.stop()


def test_a_quota_that_the_restored_database_reaches_is_named(full: Member) -> None:
    """The playbook nospace refuses a restore that is not finished, so the message must not name it."""
    member = restored(full, quota=QUOTA // 2)
    start(member)
    try:
        said = verify(member, etcd_restore_active=True)
        assert "failed=1" in said and "raise etcd_quota_backend_bytes, and run the playbook again" in said, said
    finally:
        member.stop()
