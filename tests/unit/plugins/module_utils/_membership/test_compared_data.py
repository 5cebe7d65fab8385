# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members are replaced, and hosts join, only where the comparison of the members' data allows it."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import integrity as membership_integrity
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import plan as membership_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request

from tests.unit.plugins.module_utils._membership.plans import (
    LEADER,
    THREE,
    compared,
    host,
    member,
    own,
    view,
)

SPLIT = compared("undecided", hashes={"n1": "aa", "n2": "bb", "n3": "cc"})


COMPARED = {
    "a healthy member that differs": (compared("differ", "n3"), {"replace": ["n3"]}, ""),
    "a healthy member of the majority": (
        compared("agree"),
        {"replace": ["n3"]},
        "n3 is healthy, and its hash is that of the majority, so there is no need to replace it",
    ),
    "another member differs": (
        compared("differ", "n2"),
        {"replace": ["n3"], "replace_healthy": False},
        "n2 differs from the majority at revision 7: aa (n1, n3); bb (n2). Replace every member that differs: -e etcd_replace=n3,n2",
    ),
    "no majority": (SPLIT, {"replace": ["n3"]}, "no hash has a majority"),
    "no majority, but the user knows": (SPLIT, {"replace": ["n3"], "replace_healthy": True}, ""),
    "a member of the majority, confirmed": (compared("agree"), {"replace": ["n3"], "replace_healthy": True}, ""),
    "not compared": ({}, {"replace": ["n3"]}, "n3 is healthy, so there is no need to replace it"),
    "not compared, but the user knows": ({}, {"replace": ["n3"], "replace_healthy": True}, ""),
}


@pytest.mark.parametrize("case", COMPARED)
def test_hashes_decide_who_may_be_replaced(case):
    comparison, request, problem = COMPARED[case]
    found = membership_plan.plan(view(*THREE), own("n1", "n2", "n3"), Request(**request), "cluster c", comparison)
    assert (problem in " ".join(found.problems)) if problem else (found.problems == [])
    if comparison:
        assert found.lines[2].startswith("Hashes: ")


def test_a_dead_member_is_not_replaced_while_the_others_differ():
    dead = member("n3", healthy=False)
    comparison = compared("undecided", hashes={"n1": "aa", "n2": "bb"})
    request = Request(replace=["n3"])
    found = membership_plan.plan(view(LEADER, member("n2"), dead), own("n1", "n2", "n3"), request, "c", comparison)
    assert "restore a backup that passed its drill" in " ".join(found.problems)


TOO_FEW = compared("unknown", hashes={"n1": "aa"}, unknown={"n2": "no answer in time"})


@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize(
    ("comparison", "found"),
    [
        (TOO_FEW, "too few members could be compared at revision 7: aa (n1); not compared: n2: no answer in time."),
        ({}, "no host of this run saw its own member lead the cluster."),
    ],
    ids=["too few answered", "no host compared them"],
)
def test_a_dead_member_is_not_replaced_before_the_others_are_compared(comparison, found, confirmed):
    hosts = own("n1", "n2", "n3")
    request = Request(replace=["n3"], replace_healthy=confirmed)
    down = view(LEADER, member("n2"), member("n3", healthy=False))
    problems = membership_plan.plan(down, hosts, request, "cluster c", comparison).problems
    if confirmed:
        assert problems == []
        return
    [problem] = problems
    assert problem.startswith(f"cluster c: its members were not compared: {found}")
    assert problem.endswith("confirm it with -e etcd_replace_healthy=true")
    # Another cluster of the same run, and a run that has only the rest to do.
    other = Request(replace=["m3"])
    assert membership_plan.plan(view(*THREE), hosts, other, "cluster d", comparison).problems == []


@pytest.mark.parametrize(
    ("comparison", "request_", "problem"),
    [
        (compared("differ", "n2"), {}, "run 'ansible-playbook etcdops.headroom.replace -e etcd_replace=n2' first"),
        (SPLIT, {}, "restore a backup that passed its drill"),
        (compared("agree"), {}, ""),
        (compared("differ", "n9"), {}, ""),
        (compared("differ", "n2"), {"replace": ["n4", "n5"]}, ""),
    ],
    ids=["differs", "no majority", "agrees", "of a member that left", "replace.yml compares by itself"],
)
def test_no_host_joins_after_a_comparison_that_failed(comparison, request_, problem):
    record = membership_integrity.newest_record(
        [
            {},
            {"result": "skipped", "started_at": "2026-11-23T00:00:00Z"},
            {"started_at": "2026-11-22T00:00:00Z", "comparison": comparison},
            {"started_at": "2026-11-15T00:00:00Z", "comparison": compared("undecided")},
        ]
    )
    hosts = [*own("n1", "n2", "n3"), host("n4"), host("n5")]
    found = membership_plan.plan(view(*THREE), hosts, Request(**request_), "cluster c", compared("agree"), record)
    assert [problem in text for text in found.problems] == ([True] if problem else [])
    assert not membership_plan.plan(view(*THREE), own("n1", "n2", "n3"), Request(), "cluster c", None, record).problems


def test_a_member_that_differs_and_left_does_not_prevent_a_join():
    record = {"comparison": compared("differ", "n4"), "compared_at": "2026-11-22T00:00:00Z"}
    hosts = [*own("n1", "n2", "n3"), host("n5")]
    found = membership_plan.plan(
        view(*THREE, member("n4")), hosts, Request(remove=["n4"], allow_even=True), "cluster c", None, record
    )
    assert (found.problems, list(found.joins), [one.name for one in found.removes]) == ([], ["n5"], ["n4"])


OLD, LATER = "2026-11-15T00:00:00Z", "2026-11-22T00:00:00Z"
DIFFERED = {"comparison": compared("differ", "n2"), "compared_at": OLD}
AGREED = {"result": "done", "started_at": LATER, "comparison": compared("agree")}
INTERRUPTED = {"result": "failed", "started_at": "2026-11-29T00:00:00Z"}
CONTRADICTORY = {**INTERRUPTED, "comparison": compared("unknown", hashes={"n1": "aa"})}


@pytest.mark.parametrize(
    ("records", "refused"),
    [
        ([{**INTERRUPTED, **DIFFERED}], True),
        ([{"result": "skipped", "started_at": LATER, "former_comparison": DIFFERED}, CONTRADICTORY], True),
        ([{"result": "skipped", "started_at": LATER, "former_comparison": DIFFERED}, AGREED], False),
        ([{**INTERRUPTED, **DIFFERED}, {**INTERRUPTED, "last_done": AGREED}], False),
        ([AGREED, {**INTERRUPTED, "comparison": compared("differ", "n2"), "last_done": AGREED}], True),
    ],
    ids=["interrupted", "another leader, contradictory", "another leader, agrees", "agreed, interrupted", "newer"],
)
def test_only_a_comparison_with_a_result_admits_hosts_again(records, refused):
    hosts = [*own("n1", "n2", "n3"), host("n4"), host("n5")]
    for given in (records, records[::-1]):
        record = membership_integrity.newest_record(given)
        problems = membership_plan.plan(view(*THREE), hosts, Request(), "cluster c", None, record).problems
        assert ["etcd_replace=n2' first" in text for text in problems] == [True] * refused
        assert all(record["compared_at"] in text for text in problems)
