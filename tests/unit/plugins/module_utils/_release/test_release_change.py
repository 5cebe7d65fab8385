# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The obstacles to a change of the release, and when it may continue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import (
    Cluster,
    Member,
    Quorum,
    unreachable_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._release import change as release_change
from ansible_collections.etcdops.headroom.plugins.module_utils._release.change import Request
from ansible_collections.etcdops.headroom.plugins.module_utils._release.view import MemberRelease
from ansible_collections.etcdops.headroom.plugins.module_utils._release.waits import ReleaseError, Steps

NAMES = ("a", "b", "c")


def release(name: str, server: str, **more: Any) -> MemberRelease:
    at = f"{minor(server)}.0"
    storage = "" if server.startswith("3.5") else at
    return replace(MemberRelease(name, f"https://{name}:2379", server, at, storage), **more)


def members(*servers: str, **more: Any) -> list[MemberRelease]:
    return [release(name, server, **more) for name, server in zip(NAMES, servers)]


def cluster(alarm: str = "", **changed: Any) -> Cluster:
    """Three members that answer; a keyword changes the member of that name."""
    found = [
        replace(
            Member(name, f"{number}", "follower", True, "", f"https://{name}:2379", [], ["https://x"], lag=0),
            **changed.get(name, {}),
        )
        for number, name in enumerate(NAMES)
    ]
    alarms = [{"member": "a", "type": alarm}] if alarm else []
    return Cluster("1", "a", found, Quorum(3, 2, 3, True), alarms)


def blockers(request: Request, *servers: str, view: Cluster | None = None, **more: Any) -> list[str]:
    found = release_change.find_blockers(view or cluster(), members(*servers, **more), request)
    return [blocker.text for blocker in found]


@pytest.mark.parametrize(
    ("running", "target", "direction", "begun"),
    [
        (["3.5.35"], "3.6.16", "upgrade", False),
        (["3.5.35", "3.6.16"], "3.6.16", "upgrade", True),
        (["3.6.10"], "3.6.16", "none", False),
        (["3.6.16", "3.7.3"], "3.6.16", "downgrade", True),
        (["3.7.3"], "3.6.16", "downgrade", False),
        ([], "3.6.16", "none", False),
    ],
)
def test_direction(running: list[str], target: str, direction: str, begun: bool) -> None:
    assert release_change.direction(running, target) == direction
    assert release_change.has_begun(running, target) is begun


@pytest.mark.parametrize(
    ("servers", "request_", "found"),
    [
        (("3.5.35",) * 3, Request("3.6.16", {}), []),
        (("3.5.35", "3.6.16", "3.6.16"), Request("3.6.16", {}), []),
        (("3.5.35",) * 3, Request("3.7.3", {}), ["skips a minor version: go to 3.6.16 first"]),
        (("3.5.19",) * 3, Request("3.6.16", {}), ["supports this upgrade from 3.5.32 on"]),
        (("3.7.3",) * 3, Request("3.6.16", {}), ["Run the playbook downgrade with -e etcd_downgrade_to=3.6.16"]),
        (("3.7.3",) * 3, Request("3.6.16", {}, downgrade=True), []),
        (("3.7.3",) * 3, Request("3.5.35", {}, downgrade=True), ["skips a minor version: downgrade to 3.6.16 first"]),
        (("3.5.35", "3.7.3", "3.7.3"), Request("3.6.16", {}, downgrade=True), ["older and newer than 3.6.16"]),
    ],
)
def test_the_way_is_judged(servers: tuple[str, ...], request_: Request, found: list[str]) -> None:
    texts = blockers(request_, *servers)
    assert len(texts) == len(found), texts
    assert all(part in text for part, text in zip(found, texts))


def test_all_blockers_are_named_at_once() -> None:
    view = cluster("NOSPACE", a={"role": "learner"}, b={"healthy": False, "health_error": "refused"}, c={"lag": 900})
    texts = blockers(Request("3.6.16", {}), "3.5.19", "3.5.19", "3.5.19", view=view)
    expected = ("from 3.5.32 on", "a is a learner", "b is not healthy (refused)", "c is 900 raft entries", "NOSPACE")
    assert len(texts) == len(expected)
    assert all(part in text for part, text in zip(expected, texts))


def test_a_member_that_this_change_took_down_is_no_blocker() -> None:
    view = cluster(b={"healthy": False, "health_error": "refused"})
    started = dict.fromkeys(NAMES, "3.5.35")
    assert not blockers(Request("3.6.16", {**started, "b": "3.6.16"}), "3.5.35", "3.5.35", "3.5.35", view=view)
    assert blockers(Request("3.6.16", started), "3.5.35", "3.5.35", "3.5.35", view=view)


UNLISTED = (
    "c is a member, but not in the inventory: put its host into the group, or remove it with the playbook scale first"
)


@pytest.mark.parametrize(
    ("request_", "servers", "problem"),
    [
        (Request("3.6.16", {"a": "3.5.35", "b": ""}), ("3.5.35",) * 3, [UNLISTED]),
        (Request("3.5.35", {"a": "3.6.16", "b": ""}, downgrade=True), ("3.6.16",) * 3, [UNLISTED]),
        (Request("3.5.35", {"a": "3.5.34", "b": ""}), ("3.5.34",) * 3, [UNLISTED]),
        (Request("3.6.16", {"a": "3.5.35", "b": "", "c": ""}), ("3.5.35",) * 3, []),
        # The units are unknown.
        (Request("3.6.16", {}), ("3.5.35",) * 3, []),
        # The play removes it first.
        (Request("3.6.16", {"a": "", "b": ""}, members_planned=True), ("3.5.35",) * 3, []),
        # Begun by an earlier release of this collection: scale refuses to remove a healthy member until all others run one release.
        (Request("3.6.16", {"a": "", "b": ""}), ("3.6.16", "3.5.35", "3.5.35"), []),
        (Request("3.6.16", {"a": "", "b": ""}, cancel=True), ("3.6.16",) * 3, []),
    ],
)
def test_a_member_that_the_change_would_not_reach(
    request_: Request, servers: tuple[str, ...], problem: list[str]
) -> None:
    assert blockers(request_, *servers) == problem


def test_a_member_that_the_play_removes_first_is_no_blocker() -> None:
    """The plan of the members judges them: the playbook replace is the remedy for a member that is lost in the middle of an upgrade."""
    dead = {"healthy": False, "health_error": "refused"}
    view = cluster("CORRUPT", a={"role": "learner"}, b=dead)
    assert len(blockers(Request("3.6.16", {}), "3.5.35", "3.6.16", view=view)) == len(("learner", "dead", "alarm"))
    assert not blockers(Request("3.6.16", {}, members_planned=True), "3.5.35", "3.6.16", view=view)
    [text] = blockers(Request("3.5.35", {}, members_planned=True), "3.5.35", "3.6.16", view=view)
    assert "a downgrade has to be enabled" in text


def test_a_downgrade_is_cancelled_although_a_member_does_not_start() -> None:
    """etcd cancels it with a quorum. The member that does not start may be the one that the downgrade changed."""
    down = {"a": {"healthy": False, "health_error": "refused"}, "b": {"role": "learner"}, "c": {"lag": 900}}
    request = Request("3.7.3", {"a": "3.6.16", "b": "3.7.3", "c": "3.7.3"}, cancel=True)
    assert not blockers(request, "3.7.3", "3.7.3", "3.7.3", view=cluster(**down), downgrade_to="3.6")
    view = replace(cluster(**down), quorum=Quorum(3, 2, 0, False))
    assert blockers(request, "3.7.3", "3.7.3", "3.7.3", view=view, downgrade_to="3.6")


def test_members_that_this_change_took_down_are_the_repair_of_a_lost_quorum() -> None:
    down = {"healthy": False, "health_error": "refused"}
    alone = {"healthy": False, "health_error": "it knows no leader", "version": "3.5.35"}
    view = replace(cluster(a=down, b=down, c=alone), quorum=Quorum(3, 2, 0, False))
    started = {"a": "3.6.16", "b": "3.6.16", "c": "3.5.35"}
    assert not blockers(Request("3.6.16", started), "3.5.35", view=view)
    [text] = blockers(Request("3.6.16", {**started, "b": "3.5.35"}), "3.5.35", view=view)
    assert text.startswith("b is not healthy")


def test_an_unhealthy_member_that_answers_is_a_blocker_beside_a_quorum() -> None:
    refused = {"healthy": False, "health_error": "refused"}
    alone = {"healthy": False, "health_error": "it knows no leader", "version": "3.5.35"}
    started = {"a": "3.6.16", "b": "3.5.35", "c": "3.5.35"}
    [text] = blockers(Request("3.6.16", started), *("3.5.35",) * 3, view=cluster(a=refused, b=alone))
    assert text.startswith("b is not healthy (it knows no leader)")


def test_a_quorum_that_this_change_did_not_cost_is_a_blocker() -> None:
    alone = {"healthy": False, "health_error": "it knows no leader", "version": "3.5.35"}
    view = replace(cluster(a=alone, b=alone, c=alone), quorum=Quorum(3, 2, 0, False))
    texts = blockers(Request("3.6.16", dict.fromkeys(NAMES, "3.5.35")), *("3.5.35",) * 3, view=view)
    assert [text.split(" (")[0] for text in texts] == [f"{name} is not healthy" for name in NAMES]


def test_an_enabled_downgrade_stops_an_upgrade() -> None:
    enabled = {"downgrade_to": "3.6"}
    [text] = blockers(Request("3.7.3", {}), "3.6.16", "3.7.3", "3.7.3", **enabled)
    assert "finish it with the playbook downgrade and -e etcd_downgrade_to=3.6.16" in text
    [text] = blockers(Request("3.7.3", {}), "3.7.3", "3.7.3", "3.7.3", **enabled)
    assert text.startswith("a downgrade to 3.6 is enabled in the cluster"), "before the first member changed"
    assert not blockers(Request("3.7.3", {}, cancel=True), "3.6.16", "3.7.3", "3.7.3", **enabled)
    assert not blockers(Request("3.7.3", {}, flushing=True), "3.6.16", "3.6.16", "3.6.16", downgrade_to="3.5")
    assert not blockers(Request("3.6.16", {}, downgrade=True), "3.6.16", "3.7.3", "3.7.3", **enabled)


def test_a_cluster_that_does_not_answer() -> None:
    found = release_change.find_blockers(unreachable_cluster("refused"), [], Request("3.6.16", {}))
    assert [blocker.transient for blocker in found] == [True]
    assert "no member of the cluster answers (refused)" in found[0].text


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (
            ("3.5.35", "3.5.35", ""),
            "no member above etcd 3.5 answers, and 3.5 cannot cancel a downgrade: start c (down) first",
        ),
        (("3.5.35", "3.5.35", "3.5.35"), ""),
        (("3.5.35", "3.6.16", ""), ""),
        (("3.6.16", "3.6.16", ""), ""),
        (("", "", ""), ""),
    ],
)
def test_a_downgrade_is_cancelled_only_through_a_member_that_knows_of_it(
    answers: tuple[str, ...], problem: str
) -> None:
    given = [
        release(name, server) if server else MemberRelease(name, "", error="down")
        for name, server in zip(NAMES, answers)
    ]
    found = release_change.cancel_problem(given)
    assert found.startswith(problem) and bool(found) == bool(problem)


def test_an_unknown_downgrade_does_not_count_as_cancelled() -> None:
    class Answered(Steps):
        def observe(self) -> tuple[Cluster, list[MemberRelease]]:
            return cluster(), [*members("3.5.35", "3.5.35"), MemberRelease("c", "", error="down")]

    steps = Answered(Connection("/none/etcdctl", None, None, None, 1.0), [], 1.0)
    with pytest.raises(ReleaseError, match=r"start c \(down\) first"):
        steps.cancel()


def test_members_are_downgraded_once_every_storage_has_followed() -> None:
    at_once = members("3.7.3", "3.7.3", "3.7.3", cluster="3.6.0", storage="3.6.0")
    assert release_change.enabled_problem(at_once, "3.6.16") == ""
    late = [*at_once[:2], release("c", "3.7.3", cluster="3.6.0")]
    assert "c is at cluster version 3.6.0 and storage version 3.7.0" in release_change.enabled_problem(late, "3.6.16")
    mixed = [release("a", "3.5.35"), *members("3.6.16", "3.6.16", cluster="3.5.0", storage="3.5.0")]
    assert release_change.enabled_problem(mixed, "3.5.35") == ""
    assert "does not answer" in release_change.enabled_problem([MemberRelease("a", "", error="down")], "3.5.35")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (members("3.6.16", "3.6.16", "3.6.16"), ""),
        (members("3.5.35", "3.5.35", "3.5.35"), "a runs 3.5.35, not 3.6.16"),
        (members("3.6.16", "3.6.16", "3.5.35", cluster="3.5.0"), "c runs 3.5.35, not 3.6.16"),
        (members("3.6.16", "3.6.16", cluster="3.5.0"), "a is at cluster version 3.5.0, not yet at 3.6.0"),
        (members("3.6.16", "3.6.16", storage="3.5.0"), "a is at storage version 3.5.0"),
        (members("3.6.16", "3.6.16", downgrade_to="3.6"), "a downgrade to 3.6 is still enabled"),
        ([MemberRelease("a", "", error="down")], "a does not answer"),
        ([], "no member of the cluster answers"),
    ],
)
def test_a_change_has_settled(given: list[MemberRelease], problem: str) -> None:
    assert release_change.settled_problem(given, "3.6.16").startswith(problem)
    assert bool(problem) == bool(release_change.settled_problem(given, "3.6.16"))


def test_storage_is_unknown_in_3_5() -> None:
    assert release_change.settled_problem(members("3.5.35", "3.5.35", "3.5.35"), "3.5.35") == ""
