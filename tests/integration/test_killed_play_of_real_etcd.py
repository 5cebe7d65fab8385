# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play is killed while it holds the lock of a real etcd: the next one of the same controller takes the lock over."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock

from bench.common.member import Member, binary, metrics, releases, running
from bench.common.processes import kill_with_descendants
from tests.integration.client import EVENT_SECONDS, REQUEST_SECONDS, connection, wait_until

PROJECT = Path(__file__).resolve().parents[2]
PORT = 25890
LOCK_SECONDS = 800


@pytest.fixture
def member(tmp_path: Path) -> Iterator[Member]:
    with running([Member(releases()[-1], tmp_path, PORT)]) as [started]:
        yield started


def play(member: Member, *, pause: int, state: str = "drained", unit: str = "") -> subprocess.Popen[str]:
    """Begin a play that takes the lock, or releases it, and then pauses. unit: the ActiveState that its systemctl reports for etcd's unit."""
    path = str(binary(member.version, "etcdctl"))
    access = {"endpoints": [member.endpoint], "etcdctl_path": path, "request_timeout": REQUEST_SECONDS}
    task = {"name": "default", "state": state, "lock_seconds": LOCK_SECONDS, "timeout": 5}
    tasks = [{"etcdops.headroom.etcd_member": {**access, **task}}, {"ansible.builtin.pause": {"seconds": pause}}]
    playbook = member.folder / f"play-{state}-{pause}.yml"
    tools = member.folder / f"tools-{unit or 'none'}"
    tools.mkdir(exist_ok=True)
    if unit:
        (tools / "systemctl").write_text(f"#!/bin/sh\nprintf 'LoadState=loaded\\nActiveState={unit}\\n'\n")
        (tools / "systemctl").chmod(0o755)
    playbook.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    local = ["-i", "localhost,", "-c", "local", "-e", "ansible_python_interpreter={{ ansible_playbook_python }}"]
    return subprocess.Popen(
        ["ansible-playbook", *local, str(playbook)],
        cwd=PROJECT,
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"),
            "PATH": f"{tools}:{os.environ['PATH']}",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def held_by(member: Member) -> str:
    held = lock.read_lock(connection(member.version), [member.endpoint])
    return held.holder.play if held else ""


def hold(member: Member, holder: subprocess.Popen[str]) -> str:
    """Wait until a play holds the lock, and return its identity."""
    wait_until(lambda: holder.poll() is not None or held_by(member), "the play did not take the lock")
    return held_by(member)


def granted(member: Member) -> float:
    """Return how many leases etcd has granted: each attempt to take the lock needs one."""
    return metrics(member.metrics_url)["etcd_debugging_lease_granted_total"]


def test_a_play_with_nothing_to_do_releases_the_lock_of_a_killed_one(member: Member) -> None:
    with play(member, pause=600) as first:
        holder = hold(member, first)
        with play(member, pause=0, state="unlocked") as second:
            output = second.communicate(timeout=EVENT_SECONDS)[0]
        assert second.returncode == 0 and "changed=0" in output and held_by(member) == holder, "the first play runs"
        kill_with_descendants(first.pid)
    for changed in (1, 0):
        with play(member, pause=0, state="unlocked") as third:
            output = third.communicate(timeout=EVENT_SECONDS)[0]
        assert third.returncode == 0 and f"changed={changed}" in output and not held_by(member), output


def test_the_next_play_takes_the_lock_over(member: Member) -> None:
    with play(member, pause=600) as first:
        holder = hold(member, first)
        assert holder.split(":")[2] == str(first.pid)
        before = granted(member)
        with play(member, pause=1) as second:
            # After its first attempt the controller finds that the first play runs. Two more show that the second play waits.
            wait_until(lambda: granted(member) >= before + 3, "the second play did not wait for the lock")
            assert second.poll() is None and held_by(member) == holder, "the first play runs"
            kill_with_descendants(first.pid)
            killed = time.monotonic()
            # The second play knew the first one as running: it waits for the lease. A third one does not.
            with play(member, pause=2) as third:
                output = third.communicate(timeout=EVENT_SECONDS)[0]
            kill_with_descendants(second.pid)
    assert third.returncode == 0, output
    assert held_by(member).split(":")[2] == str(third.pid)
    assert time.monotonic() - killed < LOCK_SECONDS / 4


def test_a_member_that_is_down_is_left_to_the_play_that_holds_the_lock_for_it(member: Member) -> None:
    """The first play may have stopped the member to move its log. Its own systemctl is real, so it sees no stopped unit and takes the lock."""
    with play(member, pause=600) as first:
        holder = hold(member, first)
        with play(member, pause=0, unit="inactive") as second:
            with pytest.raises(subprocess.TimeoutExpired):
                second.wait(10)
            assert held_by(member) == holder, "the first play runs"
            kill_with_descendants(second.pid)
        kill_with_descendants(first.pid)
    with play(member, pause=0, unit="inactive") as third:
        output = third.communicate(timeout=EVENT_SECONDS)[0]
    assert third.returncode == 0, output
    assert held_by(member) != holder, "the lock of the killed play is taken over"
    member.stop()
    with play(member, pause=0, unit="failed") as last:
        output = last.communicate(timeout=EVENT_SECONDS)[0]
    assert last.returncode == 0, f"a cluster without quorum grants no lock, and its members must be startable: {output}"
