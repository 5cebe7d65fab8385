# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook nospace waits for the slowest member's compaction on real etcd of each series, before it copies the databases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bench.common.member import Member, binary, metrics, releases, running
from tests.integration.client import etcdctl

PROJECT = Path(__file__).resolve().parents[2]
PORT = 27210
ENDED = "etcd_debugging_mvcc_db_compaction_total_duration_milliseconds_count"
REVISIONS = 60
# Of 60 revisions, six batches: at least three seconds.
SLOW = ("compaction-batch-limit=10", "compaction-sleep-interval=500ms")


@pytest.fixture(name="members", params=releases())
def a_cluster_with_a_slow_member(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Member]]:
    prefix = "--experimental-" if request.param.startswith("3.5.") else "--"
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    slow = {"m2": tuple(f"{prefix}{flag}" for flag in SLOW)}
    started = [
        Member(request.param, tmp_path, port, slow.get(name, ()), name=name, peers=ports)
        for name, port in ports.items()
    ]
    with running(started):
        yield started


def play_of_the_compaction(members: list[Member]) -> list[dict[str, object]]:
    """Return the tasks of the playbook from the measurement to the first defragmentation, as a play on this host."""
    *_targets, play, _report = yaml.safe_load((PROJECT / "playbooks" / "nospace.yml").read_text(encoding="utf-8"))
    found = [task for outer in play["tasks"] for task in outer.get("block", [outer])]
    names = [task["name"] for task in found]
    before = found[: names.index("Defragment the followers, one at a time")]
    tasks = [task for task in before if {"etcdops.headroom.etcd_space_info", "ansible.builtin.command"} & set(task)]
    etcdctl_path = str(binary(members[0].version, "etcdctl"))
    for task in tasks:
        if "ansible.builtin.command" in task:
            assert task["ansible.builtin.command"]["argv"][0] == "/usr/local/bin/etcdctl"
            task["ansible.builtin.command"]["argv"][0] = etcdctl_path
    endpoints = [member.endpoint for member in members]
    return [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "vars": {
                **play["vars"],
                "etcd_endpoints": endpoints,
                "_etcd_voter_urls": endpoints,
                "etcd_etcdctl_environment": {},
                "etcd_cluster": {"first_host": "localhost"},
            },
            "module_defaults": {
                "group/etcdops.headroom.etcdctl": {"endpoints": endpoints, "etcdctl_path": etcdctl_path}
            },
            "tasks": tasks,
        }
    ]


def test_compaction_of_a_slow_member_has_ended_before_it_is_defragmented(members: list[Member], tmp_path: Path) -> None:
    for number in range(REVISIONS):
        etcdctl(members[0], "put", "key", f"value-{number}")
    (tmp_path / "play.yml").write_text(json.dumps(play_of_the_compaction(members)))
    command = ["ansible-playbook", "-c", "local", "-i", "localhost,"]
    variables = json.dumps({"ansible_python_interpreter": sys.executable})

    def run() -> str:
        done = subprocess.run(
            [*command, "-e", variables, str(tmp_path / "play.yml")],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run()
    assert [metrics(member.metrics_url)[ENDED] for member in members] == [1, 1, 1]
    # Nothing is left to compact, so nothing has to be waited for.
    assert "changed=0" in run()
