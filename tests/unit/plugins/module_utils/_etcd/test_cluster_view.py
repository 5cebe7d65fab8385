# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a cluster through an etcdctl that prints captured answers."""

from __future__ import annotations

import contextlib
import json
import os
import socketserver
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import cluster_view, etcdctl
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum

FIXTURES = Path(__file__).parent.parent / "fixtures"


# An etcdctl that answers what was captured, and only at the ports that the test listens on.
ETCDCTL = """#!{python}
import json, os, sys
answers = json.load(open({answers!r}))
words = sys.argv[1:]
endpoints = words[0].partition("=")[2].split(",")
what = {{"member": "members --consistency=s", "status": "status", "health": "health"}}[
    next(word for word in words if word in ("member", "status", "health"))
]
if what.startswith("members") and "--consistency=s" not in words:
    what = "members"
answer = answers[what]
text = answer["stdout"]
if what in ("status", "health"):
    key = "Endpoint" if what == "status" else "endpoint"
    text = json.dumps([entry for entry in json.loads(text) if entry[key] in endpoints])
print(text)
print(answer["stderr"], file=sys.stderr)
sys.exit(answer["returncode"])
"""


@contextlib.contextmanager
def listening(count: int) -> Iterator[list[int]]:
    """Listen on this many ports, and close each connection without an answer."""
    with contextlib.ExitStack() as stack:
        ports = []
        for _number in range(count):
            server = stack.enter_context(socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler))
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            ports.append(server.server_address[1])
        yield ports


@pytest.mark.parametrize("version", ["3.5", "3.6", "3.7"])
def test_observe_cluster(tmp_path: Path, version: str) -> None:
    """Members m1 and m2 listen, m3 does not; etcdctl 3.5 falls back where it lacks a flag."""
    text = (FIXTURES / f"etcdctl-{version}.json").read_text().replace("https://", "http://")
    prefix = {"3.5": 325, "3.6": 326, "3.7": 327}[version]
    with listening(3) as ports:
        for number, port in enumerate(ports, 1):
            text = text.replace(f"127.0.0.1:{prefix}{number}0", f"127.0.0.1:{port}")
        answers = tmp_path / "answers.json"
        answers.write_text(text)
        path = tmp_path / "etcdctl"
        path.write_text(ETCDCTL.format(python=os.path.realpath(sys.executable), answers=str(answers)))
        path.chmod(0o755)
        link = etcdctl.Connection(str(path), None, None, None, 60.0)
        found, answered_by = cluster_view.observe_cluster(link, [f"http://127.0.0.1:{ports[0]}"])
        assert (len(found.members), found.quorum.healthy, answered_by) == (3, 3, "m1")
        nobody, _name = cluster_view.observe_cluster(link, ["http://127.0.0.1:1"])
    assert (nobody.members, nobody.error) == ([], "http://127.0.0.1:1: connection refused")
    gone, _name = cluster_view.observe_cluster(link, [f"http://127.0.0.1:{port}" for port in ports])
    assert gone.error.count("connection refused") == 3


@pytest.mark.parametrize("version", ["3.5", "3.6", "3.7"])
def test_a_member_that_only_a_given_endpoint_reaches(tmp_path: Path, version: str) -> None:
    """Such as a member in a container, or behind a forwarded port. Only its id tells which member answers there."""
    data = json.loads((FIXTURES / f"etcdctl-{version}.json").read_text().replace("https://", "http://"))
    prefix = {"3.5": 325, "3.6": 326, "3.7": 327}[version]
    own = f"http://127.0.0.1:{prefix}30"
    with listening(1) as (port,):
        spare = f"http://127.0.0.1:{port}"
        for what in ("status", "health"):
            data[what]["stdout"] = data[what]["stdout"].replace(own, spare)
        answers = tmp_path / "answers.json"
        answers.write_text(json.dumps(data))
        path = tmp_path / "etcdctl"
        path.write_text(ETCDCTL.format(python=os.path.realpath(sys.executable), answers=str(answers)))
        path.chmod(0o755)
        link = etcdctl.Connection(str(path), None, None, None, 60.0)
        strict, _name = cluster_view.observe_cluster(link, [spare])
        found, _name = cluster_view.observe_cluster(link, [spare], read_at_endpoints=True)
    assert [(one.endpoint, one.healthy) for one in strict.members if one.endpoint == own] == [(own, False)]
    assert not any(one.healthy for one in strict.members)
    assert [(one.name, one.endpoint, one.healthy) for one in found.members if one.version] == [("m3", spare, True)]
    assert [one.health_error for one in found.members if one.name != "m3"] == ["connection refused"] * 2


@pytest.mark.parametrize(
    ("healths", "asked"),
    [([True], 1), ([False, False, True], 3), ([False] * 9, 4), ([None] * 9, 1)],
    ids=["healthy", "soon", "never", "no answer"],
)
def test_a_cluster_without_a_healthy_voter_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, healths: list[bool | None], asked: int
) -> None:
    """As during an election, or while a disk is busy; for a limited time, and not if nobody answers."""
    clock, answers = [0.0], []

    def answer(*_arguments: object) -> tuple[Cluster, str]:
        healthy = healths[len(answers)]
        answers.append(healthy)
        voters = [] if healthy is None else [Member("1", "m1", "leader", healthy, "", "http://m1:2379", [], [])]
        return Cluster("7", "1", voters, Quorum(len(voters), 1, int(bool(healthy)), bool(healthy)), []), "m1"

    monkeypatch.setattr(cluster_view, "observe_cluster", answer)
    monkeypatch.setattr(cluster_view, "GRACE_SECONDS", 3.0)
    monkeypatch.setattr(cluster_view.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(cluster_view.time, "sleep", lambda seconds: clock.append(clock.pop() + seconds))
    link = etcdctl.Connection("/nowhere/etcdctl", None, None, None, 1.0)
    cluster, answered_by = cluster_view.observe_serving_cluster(link, ["http://m1:2379"])
    assert (len(answers), answered_by, cluster.quorum.ok) == (asked, "m1", bool(answers[-1]))
