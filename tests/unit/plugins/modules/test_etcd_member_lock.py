# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_member beside other plays: the cluster's lock, plans that are no longer true, and members that others stopped or started."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import (
    lock,
    member_drain,
    play_lock,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.modules import etcd_member

from tests.unit.plugins.modules.fake_cluster import run

BOOT = "boot:4026531836"


OTHER_PLAY = lock.HeldLock(
    lock.Holder("host-2", "m2", "change by Ansible", f"{BOOT}:20:5"), "2026-11-26T08:00:00Z", "7b", 12
)


@pytest.fixture(name="down")
def a_member_that_is_down(
    cluster: dict[str, Any], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> dict[str, Any]:
    """Arguments to drain m2, whose unit is inactive, while the lock is held as the test says."""
    held: lock.HeldLock | None = getattr(request, "param", OTHER_PLAY)

    def acquire(*_arguments: Any, ended_play: str, **_more: Any) -> str:
        if held is None:
            raise lock.LockError("granting a lease for the lock: context deadline exceeded")
        if held.holder.play == ended_play:
            return "7c"
        raise lock.LockBusyError(str(held), held)

    shown = systemd.parse_show("etcd.service", "LoadState=loaded\nActiveState=inactive\nSubState=dead\n")
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: shown)
    monkeypatch.setattr(member_drain, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(lock, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(lock, "acquire_lock", acquire)
    monkeypatch.setattr(lock, "remaining_seconds", lambda *_arguments: 1)
    return {**cluster, "name": "m2", "state": "drained", "timeout": 0, "lock_seconds": 30, "play": f"{BOOT}:10:4"}


def test_a_member_that_another_play_stopped_is_left_to_it(
    capsys: pytest.CaptureFixture[str], down: dict[str, Any]
) -> None:
    """It may be moving the log. The action finds out whether that play still runs."""
    assert run(etcd_member, capsys, **down)["unjudged_play"] == OTHER_PLAY.holder.play
    refused = run(etcd_member, capsys, **down, running_play=OTHER_PLAY.holder.play)
    assert refused["failed"] and refused["msg"] == (
        "m2 is down, and host-2 holds the cluster's lock since 2026-11-26T08:00:00Z for a change by Ansible of m2: that play may be changing it. "
        "Wait until that play has ended, and run this one again (waited 1 s; the lock's lease expires in 1 s unless its holder renews it)"
    )


def test_a_member_that_a_play_left_down_is_repaired(capsys: pytest.CaptureFixture[str], down: dict[str, Any]) -> None:
    assert not run(etcd_member, capsys, **down, ended_play=OTHER_PLAY.holder.play).get("failed")


@pytest.mark.parametrize(
    "down",
    [
        pytest.param(None, id="no quorum, no lock"),
        replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m3")),
        replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, operation="backup", play="")),
        replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, play=f"{BOOT}:10:4")),
    ],
    indirect=True,
)
def test_a_member_that_is_down_is_repaired_unless_another_play_changes_it(
    capsys: pytest.CaptureFixture[str], down: dict[str, Any]
) -> None:
    assert not run(etcd_member, capsys, **down).get("failed")


def test_a_member_that_is_down_needs_no_lock_in_check_mode_or_without_etcdctl(
    capsys: pytest.CaptureFixture[str], down: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not run(etcd_member, capsys, **down, _ansible_check_mode=True).get("failed")
    monkeypatch.undo()
    shown = systemd.parse_show("etcd.service", "LoadState=loaded\nActiveState=failed\n")
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: shown)
    assert not run(etcd_member, capsys, **{**down, "etcdctl_path": "/nowhere/etcdctl"}).get("failed")


@pytest.fixture(name="running")
def a_member_that_runs(cluster: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Arguments to drain the leader m1, whose process has the digest d2; ``released`` has the holders that released the lock."""
    with subprocess.Popen(["sleep", "600"], env={"PATH": "/usr/bin:/bin", "HEADROOM_DIGEST": "d2"}) as process:
        shown = systemd.parse_show("etcd.service", f"LoadState=loaded\nActiveState=active\nMainPID={process.pid}\n")
        released: list[lock.Holder] = []
        monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: shown)
        monkeypatch.setattr(lock, "acquire_lock", lambda *_arguments, **_more: "7c")
        monkeypatch.setattr(
            lock, "release_lock_of", lambda _link, _endpoints, holder, _patience: released.append(holder)
        )
        arguments = {**cluster, "name": "m1", "state": "drained", "lock_seconds": 30, "play": f"{BOOT}:10:4"}
        yield {"arguments": arguments, "released": released}
        process.kill()


@pytest.mark.parametrize("restart", [True, False])
def test_a_plan_from_before_another_plays_change_is_refused(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], tmp_path: Path, restart: bool
) -> None:
    arguments = {**running["arguments"], "restart": restart, "planned_digest": "d1"}
    refused = run(etcd_member, capsys, **arguments)
    assert refused["failed"] and refused["msg"] == (
        "another play has changed m1 since this run was planned: it runs with configuration d2 instead of d1. Nothing was changed on this member: "
        "run the playbook again, to plan from its current state"
    )
    assert (tmp_path / "leader").read_text() == "1", "the leadership stays"
    assert [holder.play for holder in running["released"]] == [f"{BOOT}:10:4"]
    assert run(etcd_member, capsys, **arguments, _ansible_check_mode=True)["failed"]


@pytest.mark.parametrize("planned", ["d2", ""], ids=["unchanged", "not deployed by this role"])
def test_a_current_plan_is_carried_out(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], tmp_path: Path, planned: str
) -> None:
    kept = run(etcd_member, capsys, **running["arguments"], planned_digest=planned, restart=False)
    assert (kept["changed"], (tmp_path / "leader").read_text()) == (False, "1"), "it keeps running, so it keeps leading"
    moved = run(etcd_member, capsys, **running["arguments"], planned_digest=planned)
    assert (moved["changed"], moved["moved_to"], running["released"]) == (True, "m2", [])


@pytest.mark.parametrize("restart", [True, False])
def test_a_member_that_was_started_since_the_plan_is_not_changed(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], tmp_path: Path, restart: bool
) -> None:
    """Another play had stopped it. The plan's checks did not see the release with which it runs now."""
    arguments = {**running["arguments"], "restart": restart, "planned_digest": "down"}
    refused = run(etcd_member, capsys, **arguments)
    assert refused["failed"] and refused["msg"] == (
        "m1 was started since this run was planned: another play may have changed it. Nothing was changed on this member: run the playbook again, "
        "to plan from its current state"
    )
    assert (tmp_path / "leader").read_text() == "1", "the leadership stays"
    assert [holder.play for holder in running["released"]] == [f"{BOOT}:10:4"]


@pytest.mark.parametrize("planned", ["down", "d2"])
def test_a_member_that_systemd_started_since_the_plan_needs_no_restart(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], tmp_path: Path, planned: str
) -> None:
    result = run(etcd_member, capsys, **running["arguments"], planned_digest=planned, digest="d2")
    assert (result.get("failed", False), result["started"], result["changed"]) == (False, True, False)
    assert ((tmp_path / "leader").read_text(), running["released"]) == ("1", []), "the lock is held until it serves"
    other = run(etcd_member, capsys, **running["arguments"], planned_digest="down", digest="d3")
    assert other["failed"] and other["msg"].startswith("m1 was started since this run was planned")


@pytest.mark.parametrize("state", ["active", "activating"])
def test_a_member_that_starts_during_the_wait_for_its_turn_is_left_alone(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """A start that replays a long log would begin again."""
    started = replace(systemd.show("etcd.service", 1), active_state=state)
    seen = [replace(started, active_state="activating", pid=None)]
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: seen.pop(0) if seen else started)
    result = run(etcd_member, capsys, **running["arguments"], planned_digest="down", digest="d2")
    assert (result.get("failed", False), result["started"]) == (False, True)


def test_two_members_of_a_step_that_were_started_do_not_wait_for_each_other(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This play holds the lock for the other member, and releases it only after the task has ended on all hosts of the step."""
    own = replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m2", play=running["arguments"]["play"]))

    def acquire(*_arguments: Any, **_more: Any) -> str:
        raise lock.LockBusyError("busy", own)

    monkeypatch.setattr(lock, "acquire_lock", acquire)
    monkeypatch.setattr(lock, "remaining_seconds", lambda *_arguments: 480)
    began = time.monotonic()
    wanted = run(etcd_member, capsys, **running["arguments"], planned_digest="d2", digest="d2")
    assert (wanted.get("failed", False), wanted["started"]) == (False, True)
    other = run(etcd_member, capsys, **running["arguments"], planned_digest="d2", digest="d3")
    assert other["failed"] and other["msg"] == (
        "m1 was started since this run was planned, and so was another member: they are changed one at a time. Nothing was changed on this member: "
        "run the playbook again, to plan from its current state"
    )
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_lock_whose_release_got_no_answer_does_not_end_the_play(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    """m2 was changed in an earlier step, and still has the lock. It is released for m1, in the second attempt if the first gets no answer either."""
    own = replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m2", play=running["arguments"]["play"]))
    revoked: list[str] = []

    def acquire(*_arguments: Any, **_more: Any) -> str:
        if len(revoked) < attempts:
            raise lock.LockBusyError("busy", own)
        return "7c"

    def revoke(_link: Any, _endpoints: Any, lease: str) -> None:
        revoked.append(lease)
        if len(revoked) < attempts:
            raise lock.LockError("releasing the lock: context deadline exceeded")

    monkeypatch.setattr(lock, "acquire_lock", acquire)
    monkeypatch.setattr(lock, "release_lock", revoke)
    monkeypatch.setattr(lock, "remaining_seconds", lambda *_arguments: 480)
    monkeypatch.setattr(member_drain, "POLL_SECONDS", 0.1)
    arguments = {**running["arguments"], "planned_digest": "d2", "digest": "d3"}
    result = run(etcd_member, capsys, **arguments, prefer=["m2"])
    assert (result.get("failed", False), result.get("moved_to"), revoked) == (False, "m2", ["7b"] * attempts), result
    # m3 is another member of the same step.
    revoked.clear()
    assert (
        run(etcd_member, capsys, **arguments, prefer=["m3"])["msg"].startswith("m1 was started since") and not revoked
    )


def test_a_member_that_another_play_starts_during_the_wait_is_not_changed(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = systemd.show("etcd.service", 1)
    seen = [replace(started, active_state=state, pid=None) for state in ("inactive", "inactive", "activating")]
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: seen.pop(0) if seen else started)
    monkeypatch.setattr(member_drain, "POLL_SECONDS", 0.1)

    def acquire(*_arguments: Any, **_more: Any) -> str:
        if seen:
            raise lock.LockBusyError("busy", replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m1")))
        return "7c"

    monkeypatch.setattr(lock, "acquire_lock", acquire)
    monkeypatch.setattr(lock, "remaining_seconds", lambda *_arguments: 5)
    arguments = {**running["arguments"], "planned_digest": "down", "running_play": OTHER_PLAY.holder.play}
    assert run(etcd_member, capsys, **arguments)["msg"].startswith("m1 was started since this run was planned")


@pytest.mark.parametrize("planned", ["d1", "down"])
@pytest.mark.parametrize("state", ["inactive", "failed", "activating"])
def test_a_member_that_is_down_is_repaired_whatever_was_planned(
    capsys: pytest.CaptureFixture[str],
    down: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    planned: str,
    state: str,
) -> None:
    """For example a crash loop, an OOM kill at each start, or the rest of a killed run."""
    shown = systemd.parse_show("etcd.service", f"LoadState=loaded\nActiveState={state}\n")
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: shown)
    result = run(etcd_member, capsys, **down, ended_play=OTHER_PLAY.holder.play, planned_digest=planned)
    assert not result.get("failed")


@pytest.mark.parametrize("state", ["not-found", "masked", "bad-setting", "error"])
@pytest.mark.parametrize("down", [pytest.param(None, id="no quorum, no lock")], indirect=True)
def test_a_member_whose_unit_cannot_be_loaded_is_repaired(
    capsys: pytest.CaptureFixture[str], down: dict[str, Any], monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """For example on a new operating system that kept the data. Without the member, the cluster may have no quorum."""
    shown = f"LoadState={state}\nActiveState=inactive\n"
    monkeypatch.setattr(systemd, "show", lambda unit, _timeout: systemd.parse_show(unit, shown))
    dead = {**down, "endpoints": ["http://127.0.0.1:1"]}
    assert not run(etcd_member, capsys, **dead, planned_digest="down").get("failed")
    # Nobody has planned the start of this member: etcd may run outside of the unit, in a container for example.
    assert run(etcd_member, capsys, **dead)["failed"]
    shown = f"LoadState={state}\nActiveState=active\n"
    assert run(etcd_member, capsys, **dead, planned_digest="down")["failed"], "masked after its start"
    shown = ""
    refused = run(etcd_member, capsys, **dead, planned_digest="down")
    assert refused["msg"].startswith("no member of the cluster answers"), "systemctl may be slow, and the member run"


def test_a_host_without_a_unit_has_no_stale_plan(capsys: pytest.CaptureFixture[str], cluster: dict[str, Any]) -> None:
    result = run(etcd_member, capsys, name="m2", state="drained", planned_digest="down", **cluster)
    assert not result.get("failed")


@pytest.mark.parametrize(
    "down", [OTHER_PLAY, replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m1"))], indirect=True
)
def test_files_are_not_written_while_another_play_changes_a_member(
    capsys: pytest.CaptureFixture[str], down: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next member may be this one."""
    shown = systemd.parse_show("etcd.service", "LoadState=loaded\nActiveState=active\n")
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: shown)
    refused = run(etcd_member, capsys, **down, restart=False, running_play=OTHER_PLAY.holder.play)
    assert refused["msg"].startswith("m2 cannot be changed now: host-2 holds the cluster's lock since")


@pytest.mark.parametrize(
    "down",
    [
        pytest.param(None, id="no quorum, no lock"),
        replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m1", play=f"{BOOT}:10:4")),
        replace(OTHER_PLAY, holder=replace(OTHER_PLAY.holder, member="m1", operation="backup", play="")),
    ],
    indirect=True,
)
def test_files_are_written_while_no_other_play_changes_a_member(
    capsys: pytest.CaptureFixture[str], down: dict[str, Any]
) -> None:
    assert not run(etcd_member, capsys, **down, restart=False).get("failed")


def test_the_leader_has_time_to_hand_over_after_the_wait_for_the_lock(
    capsys: pytest.CaptureFixture[str], running: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The lease of a play on another controller expires after 300 s. The lock is free at 315 s, and the members answer after 5 s."""
    clock = [1000.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    def observe(*arguments: Any) -> Any:
        sleep(5)
        return observe_cluster(*arguments)

    def acquire(*_arguments: Any, **_more: Any) -> str:
        if clock[0] < 1300:
            raise lock.LockBusyError(str(OTHER_PLAY), OTHER_PLAY)
        return "7c"

    simulated = SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep)
    monkeypatch.setattr(member_drain, "POLL_SECONDS", 100)
    monkeypatch.setattr(member_drain, "time", simulated)
    monkeypatch.setattr(play_lock, "time", simulated)
    monkeypatch.setattr(member_drain, "observe_cluster", observe)
    monkeypatch.setattr(lock, "acquire_lock", acquire)
    monkeypatch.setattr(lock, "remaining_seconds", lambda *_arguments: 300)
    arguments = {**running["arguments"], "timeout": 60, "lock_seconds": 480, "running_play": OTHER_PLAY.holder.play}
    moved = run(etcd_member, capsys, **arguments)
    assert (moved.get("failed", False), moved.get("moved_to")) == (False, "m2"), moved
    # A lease that is shorter than the time of the drain ends it.
    (tmp_path / "leader").write_text("1")
    clock[0] = 1000.0
    late = run(etcd_member, capsys, **{**arguments, "timeout": 60, "lock_seconds": 1})
    assert late["failed"] and re.fullmatch(
        r"m1 still leads: its leadership could not be moved in time \(waited 31\d s\)", late["msg"]
    ), late
    assert (tmp_path / "leader").read_text() == "1"
