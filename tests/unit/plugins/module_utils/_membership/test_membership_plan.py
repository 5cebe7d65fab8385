# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan from what a cluster answers to the members of the inventory, for each state in which a run may have been killed."""

from __future__ import annotations

from hashlib import sha256

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import plan as membership_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.plan import Join
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request

from tests.unit.plugins.module_utils._membership.plans import (
    CLUSTER,
    DEAD,
    LEADER,
    THREE,
    host,
    learner,
    member,
    own,
    plan,
)

GROW = {
    "two hosts are new": ((LEADER,), [*own("n1"), host("n2"), host("n3")], {"n2": Join("n2"), "n3": Join("n3")}),
    "killed after the first was added": (
        (LEADER, learner("n2", started=False)),
        [*own("n1"), host("n2"), host("n3")],
        {"n2": Join("n2", listed=True), "n3": Join("n3")},
    ),
    "killed after its first start, before it published its name": (
        (LEADER, learner("n2", started=False)),
        [*own("n1", "n2"), host("n3")],
        {"n2": Join("n2", listed=True), "n3": Join("n3")},
    ),
    "killed before the promotion, and the first host joined later": (
        (member("n2", role="leader"), learner("n3")),
        [host("n1"), *own("n2", "n3")],
        {"n3": Join("n3", listed=True), "n1": Join("n1")},
    ),
    "a learner whose volume was replaced": (
        (LEADER, member("n2"), learner("n3")),
        [*own("n1", "n2"), host("n3")],
        {"n3": Join("n3", remove="id-n3")},
    ),
    "nothing to do": (THREE, own("n1", "n2", "n3"), {}),
}


@pytest.mark.parametrize("case", GROW)
def test_growing(case):
    members, hosts, joins = GROW[case]
    found = plan(members, hosts, allow_even=True)
    assert (found.problems, found.joins, list(found.joins)) == ([], joins, list(joins))
    assert found.as_dict()["pending"] == bool(joins)


REPLACE = {
    "a dead disk": (DEAD, [*own("n1", "n3"), host("n2")], Join("n2", remove="id-n2"), ["id-n2"]),
    "a corrupt member": (
        (LEADER, member("n2", alarms=["CORRUPT"]), member("n3")),
        own("n1", "n2", "n3"),
        Join("n2", remove="id-n2", aside=True),
        ["id-n2"],
    ),
    "killed after the removal": ((LEADER, member("n3")), own("n1", "n2", "n3"), Join("n2", aside=True), []),
    "killed after the data was moved": ((LEADER, member("n3")), [*own("n1", "n3"), host("n2")], Join("n2"), []),
    "killed after the learner was added": (
        (LEADER, member("n3"), learner("n2", started=False)),
        [*own("n1", "n3"), host("n2")],
        Join("n2", listed=True),
        [],
    ),
    "a learner was added by hand, and the old data is there": (
        (LEADER, member("n3"), learner("n2", started=False)),
        [*own("n1", "n3"), host("n2", data="id-old")],
        Join("n2", aside=True, listed=True),
        [],
    ),
}


@pytest.mark.parametrize("case", REPLACE)
def test_replacing(case):
    members, hosts, join, removed = REPLACE[case]
    found = plan(members, hosts, replace=["n2"])
    assert (found.problems, found.joins, found.cluster_id) == ([], {"n2": join}, CLUSTER)
    assert [removal.id for removal in found.removes if removal.before_joins] == removed
    assert found.actor == "n1"


def test_a_healthy_member_is_replaced_on_request_only():
    hosts = own("n1", "n2", "n3")
    [problem] = plan(THREE, hosts, replace=["n2"]).problems
    assert problem.startswith("cluster c: n2 is healthy") and problem.endswith("-e etcd_replace_healthy=true")
    found = plan(THREE, hosts, replace=["n2"], replace_healthy=True)
    assert (found.problems, found.removes) == ([], []), "it stays until its turn"
    assert found.joins == {"n2": Join("n2", remove="id-n2", aside=True)}


@pytest.mark.parametrize(
    ("replaced", "alarms", "replaces"),
    [("", [], True), ("n2", [], True), ("another", [], False), ("another", ["CORRUPT"], True)],
    ids=["no mark", "killed before the removal", "killed after the promotion", "corrupt again"],
)
@pytest.mark.parametrize("healthy", [True, False])
def test_an_interrupted_replacement_is_not_begun_again(replaced, alarms, replaces, healthy):
    members = (LEADER, member("n2", alarms=alarms), member("n3"))
    mark = {"n2": THREE[1]["id"], "another": "beef", "": ""}[replaced]
    hosts = own("n1", "n2", "n3")
    hosts[1]["replaced"] = sha256(mark.encode()).hexdigest() if mark else ""
    found = plan(members, hosts, replace=["n2"], replace_healthy=healthy)
    assert bool(found.joins) == (replaces and (healthy or bool(alarms)))
    assert bool(found.problems) == (replaces and not found.joins)
    assert any("n2 was replaced already" in line for line in found.lines) == (not replaces)
    once_more = plan(members, hosts, replace=["n2"], replace_healthy=True, replace_again=True)
    assert once_more.joins == {"n2": Join("n2", remove="id-n2", aside=True)}


def test_two_of_five_are_replaced_in_one_run():
    members = (*DEAD, member("n4"), member("n5", healthy=False))
    hosts = [*own("n1", "n3", "n4"), host("n2"), host("n5")]
    found = plan(members, hosts, replace=["n2", "n5"])
    assert found.problems == []
    assert [removal.id for removal in found.removes] == ["id-n2", "id-n5"], "both before another one is added"
    assert list(found.joins) == ["n2", "n5"]


def test_a_member_of_an_even_number_is_replaced_without_a_confirmation():
    """The number stays: only a change to an even number is questioned."""
    found = plan((*DEAD, member("n4")), [*own("n1", "n3", "n4"), host("n2")], replace=["n2"])
    assert (found.problems, found.joins) == ([], {"n2": Join("n2", remove="id-n2")})


def test_a_replacement_continues_the_join_of_a_host_that_it_does_not_name():
    members = (LEADER, member("n3"), learner("n4", started=False))
    found = plan(members, [*own("n1", "n3"), host("n2"), host("n4")], replace=["n2"], allow_even=True)
    assert (found.problems, list(found.joins)) == ([], ["n4", "n2"])


@pytest.mark.parametrize(
    ("members", "hosts", "left", "order"),
    [
        # An aborted scale left the learner, whose host was taken out of the inventory.
        ((*DEAD, learner("n9", started=False, healthy=False)), [], "id-n9", ["id-n2", "id-n9"]),
        ((*DEAD, learner("n9")), [], "n9", ["id-n2", "id-n9"]),
        ((*DEAD, member("n4"), member("n5", healthy=False)), own("n4"), "n5", ["id-n2", "id-n5"]),
    ],
    ids=["a learner", "a learner that runs", "another dead member"],
)
def test_a_member_that_left_is_removed_in_the_run_that_replaces_another(members, hosts, left, order):
    """Neither is possible without the other: a removal needs the dead member's host, and a new learner needs the old one's place."""
    wanted = [*own("n1", "n3"), host("n2"), *hosts]
    problems = plan(members, wanted, replace=["n2"], allow_even=True).problems
    assert f'add -e \'{{"etcd_scale_remove": ["{left}"]}}\'' in problems[0]
    found = plan(members, wanted, replace=["n2"], remove=[left], allow_even=True)
    assert (found.problems, found.joins) == ([], {"n2": Join("n2", remove="id-n2")})
    assert [removal.id for removal in found.removes if removal.before_joins] == order, "before the new one is added"
    what = "a learner" if "n9" in left else "not healthy"
    assert any(line.endswith(f", which is {what}") and left in line for line in found.lines), found.lines


def test_hosts_whose_volumes_were_swapped_are_told_from_hosts_with_data_of_a_removed_member():
    """The advice for the latter, to replace the member, would move the data of a member aside."""
    problems = plan(THREE, [*own("n1"), host("n2", data="id-n3"), host("n3", data="id-n2")]).problems
    assert len(problems) == 2 and all("change one thing at a time" in problem for problem in problems), problems


def test_a_member_that_left_is_removed_by_name_only():
    hosts = own("n1", "n2", "n3")
    members = (*THREE, member("n4"), member("n5", healthy=False))
    problems = plan(members, hosts).problems
    assert len(problems) == 2 and 'etcd_scale_remove": ["n4"]' in problems[0]
    found = plan(members, hosts, remove=["n4", "n5"])
    assert found.problems == []
    assert [(removal.name, removal.before_joins) for removal in found.removes] == [("n4", False), ("n5", True)]
    again = plan(THREE, hosts, remove=["n4", "n5"])
    assert (again.problems, again.removes) == ([], []) and "n4 is not a member of this cluster" in again.lines


@pytest.mark.parametrize(
    ("removed", "state"),
    [
        (member("n4", healthy=False), "not healthy"),
        (member("n4", alarms=["CORRUPT"]), "corrupt"),
        (member("n4", healthy=False, alarms=["CORRUPT"]), "not healthy"),
        (learner("n4"), "a learner"),
    ],
    ids=["not healthy", "corrupt", "corrupt and not healthy", "learner"],
)
def test_the_plan_says_why_a_member_is_removed_before_others_join(removed, state):
    lines = plan((*THREE, removed), [*own("n1", "n2", "n3"), host("n5")], remove=["n4"], allow_even=True).lines
    assert lines[2] == f"Step 1: remove n4 (id-n4), which is {state}"


def test_names_to_replace_are_in_one_cluster():
    names = {"a": ["n1", "n2"], "b": ["n2", "n3"]}
    [unknown, shared] = membership_plan.replaced_problems(names, Request(replace=["n3", "n7", "n2"]))
    assert unknown.startswith("etcd_replace names n7, but no host of the inventory has that name (n1, n2, n2, n3)")
    assert shared == "etcd_replace names n2, which the clusters a, b have; choose one with --limit"


IN_THE_INVENTORY = (
    "cluster {}: etcd_scale_remove names {}, whose host is still in the inventory; take it out of the group first"
)
OF_ANOTHER = ", or, if a member of another cluster is meant, give its id, or choose that cluster with --limit"


@pytest.mark.parametrize(
    ("clusters", "remove", "problems"),
    [
        # The names of the hosts that are kept, and of the members that are removed, by cluster.
        ({"c": ("n1 n2 n3", "")}, ["n3"], [IN_THE_INVENTORY.format("c", "n3")]),
        ({"c": ("n1 n2 n3", "n4")}, ["n4"], []),
        ({"a": ("n1 n2 n3", "n4 n5"), "b": ("n1 n2 n3 n4 n5", "")}, ["n4", "n5"], []),
        (
            {"a": ("n1 n2 n3", "n4"), "b": ("n1 n2 n3 n4 n5", "")},
            ["n4", "n5"],
            [IN_THE_INVENTORY.format("b", "n5") + OF_ANOTHER],
        ),
        ({"a": ("n1 n2 n3", ""), "b": ("n1 n2 n3 n4", "")}, ["n4"], [IN_THE_INVENTORY.format("b", "n4") + OF_ANOTHER]),
        # Cluster b would remove a namesake of the member that it keeps.
        ({"a": ("n1", "n4"), "b": ("n1 n4", "n4")}, ["n4"], [IN_THE_INVENTORY.format("b", "n4") + OF_ANOTHER]),
    ],
)
def test_names_to_remove_are_not_in_the_inventory(clusters, remove, problems):
    """Members of two clusters may have the same name, and one of them leaves."""
    plans = {
        cluster: {"kept": kept.split(), "removes": [{"id": f"id-{name}", "name": name} for name in removed.split()]}
        for cluster, (kept, removed) in clusters.items()
    }
    assert membership_plan.kept_problems(plans, Request(remove=remove)) == problems


def test_the_plan_in_words():
    lines = plan((*THREE, member("n9")), [*own("n1", "n2", "n3"), host("n4"), host("n5")], remove=["n9"]).lines
    assert lines == [
        "Members now: n1 (leader), n2, n3, n9",
        "Members wanted: n1, n2, n3, n4, n5",
        "Step 1: n4: add n4 as a learner, start it, promote it once it has caught up",
        "Step 2: n5: add n5 as a learner, start it, promote it once it has caught up",
        "Step 3: move the leadership away from n9 if it leads, and remove it (id-n9)",
    ]
