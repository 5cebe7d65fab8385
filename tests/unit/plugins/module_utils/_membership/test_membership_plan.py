# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan from what a cluster answers to the members of the inventory, for each state in which a run may have been killed."""

from __future__ import annotations

from hashlib import sha256

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import integrity as membership_integrity
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import plan as membership_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.plan import Join
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request

CLUSTER = "cafe"


def url(name):
    return f"https://10.0.0.{name[-1]}:2380"


def client_url(name):
    return f"https://10.0.0.{name[-1]}:2379"


def member(name, *, role="follower", started=True, healthy=True, **other):
    """A member as the cluster answers it; its id is that of its name."""
    return {
        "id": f"id-{name}",
        "name": name if started else "",
        "role": role,
        "healthy": healthy,
        "health_error": "" if healthy else "no answer in time",
        "peer_urls": [url(name)],
        "client_urls": [client_url(name)] if started else [],
        "version": "3.7.3",
        "lag": 0,
        "alarms": [],
        **other,
    }


def learner(name, **other):
    return member(name, role="learner", **other)


def view(*members):
    voters = [one for one in members if one["role"] != "learner"]
    healthy = sum(one["healthy"] for one in voters)
    return {"id": CLUSTER, "members": list(members), "quorum": {"ok": healthy > len(voters) // 2}}


def host(name, *, data=None, cluster=CLUSTER):
    """A host of the inventory; data: the id of the member that wrote its log."""
    identity = {"member_id": data, "cluster_id": cluster} if data else None
    return {
        "host": name,
        "name": name,
        "peer_url": url(name),
        "client_url": client_url(name),
        "has_data": bool(data),
        "identity": identity,
    }


def own(*names):
    return [host(name, data=f"id-{name}") for name in names]


def test_an_alarm_of_an_unknown_member_prevents_a_change():
    found = view(LEADER, member("n2"), member("n3"))
    found["alarms"] = [{"member": "an unknown member", "type": "NOSPACE"}]
    planned = membership_plan.plan(found, [*own("n1", "n2", "n3"), host("n4"), host("n5")], Request(), "cluster c")
    assert any("the alarm NOSPACE is set by an unknown member" in problem for problem in planned.problems)


def compared(verdict, *differing, hashes=None, unknown=None):
    hashes = hashes or {name: "bb" if name in differing else "aa" for name in ("n1", "n2", "n3")}
    agreeing = [name for name in hashes if name not in differing] if verdict in ("agree", "differ") else []
    return {
        "verdict": verdict, "revision": 7, "agreeing": agreeing, "differing": list(differing), "hashes": hashes, "unknown": unknown or {}, "corrupt": [],
    }  # fmt: skip


def plan(members, hosts, **request):
    comparison = compared("agree", hashes={"n1": "aa", "n3": "aa"}) if "replace" in request else None
    return membership_plan.plan(view(*members), hosts, Request(**request), "cluster c", comparison)


LEADER = member("n1", role="leader")
THREE = (LEADER, member("n2"), member("n3"))

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


DEAD = (LEADER, member("n2", healthy=False), member("n3"))

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
    assert [removal.id for removal in found.removes if removal.down] == removed
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
    assert [removal.id for removal in found.removes if removal.down] == order, "before the new one is added"
    what = "a learner" if "n9" in left else "down"
    assert any(line.endswith(f", which is {what}") and left in line for line in found.lines), found.lines


def test_a_member_that_left_is_removed_by_name_only():
    hosts = own("n1", "n2", "n3")
    members = (*THREE, member("n4"), member("n5", healthy=False))
    problems = plan(members, hosts).problems
    assert len(problems) == 2 and 'etcd_scale_remove": ["n4"]' in problems[0]
    found = plan(members, hosts, remove=["n4", "n5"])
    assert found.problems == []
    assert [(removal.name, removal.down) for removal in found.removes] == [("n4", False), ("n5", True)]
    again = plan(THREE, hosts, remove=["n4", "n5"])
    assert (again.problems, again.removes) == ([], []) and "n4 is not a member of this cluster" in again.lines


REFUSED = {
    "no member answers": ((), own("n1"), {}, "no member answers"),
    "another cluster's data": (
        (LEADER,),
        [*own("n1"), host("n2", data="x", cluster="beef"), host("n3")],
        {},
        "n2 holds data of another cluster (beef; this one is cafe)",
    ),
    "a removed member's data": (
        THREE,
        [*own("n1", "n2", "n3"), host("n4", data="id-old"), host("n5")],
        {},
        "n4 holds the data of member id-old, which was removed from this cluster and cannot return",
    ),
    "a member lost its data": (
        THREE,
        [*own("n1", "n3"), host("n2")],
        {},
        "n2 is a voting member, but n2 holds no data; check that its volume is mounted",
    ),
    "an even number": (
        THREE,
        [*own("n1", "n2", "n3"), host("n4")],
        {},
        "4 voting members tolerate no more failures than 3",
    ),
    "an unhealthy member": (
        DEAD,
        [*own("n1", "n2", "n3"), host("n4"), host("n5")],
        {},
        "n2 is not healthy (no answer in time); repair it, or replace it first",
    ),
    "a lagging member": (
        (LEADER, member("n2", lag=9999), member("n3")),
        [*own("n1", "n2", "n3"), host("n4"), host("n5")],
        {},
        "n2 is 9999 raft entries behind, more than 5000",
    ),
    "no space": (
        (LEADER, member("n2", alarms=["NOSPACE"]), member("n3")),
        [*own("n1", "n2", "n3"), host("n4"), host("n5")],
        {},
        "the alarm NOSPACE is set by n2; run the playbook etcdops.headroom.nospace first",
    ),
    "a stranger's learner": (
        (*THREE, learner("n9")),
        [*own("n1", "n2", "n3"), host("n4"), host("n5")],
        {},
        "its learner n9 is not in the inventory",
    ),
    "another version": (
        THREE,
        [*own("n1", "n2", "n3"), host("n4"), host("n5")],
        {"version": "3.7.4"},
        "n1, n2, n3 run etcd 3.7.3, but etcd_version is 3.7.4. Change one thing at a time: keep the release in this run with -e etcd_version=3.7.3, "
        "or change it with site.yml first",
    ),
    "another version while a member is dead, so that site.yml cannot change it": (
        DEAD,
        [*own("n1", "n3"), host("n2")],
        {"replace": ["n2"], "version": "3.7.4"},
        "n1, n3 run etcd 3.7.3, but etcd_version is 3.7.4. Change one thing at a time: keep the release in this run with -e etcd_version=3.7.3",
    ),
    "a downgrade is enabled": (
        (member("n1", role="leader", downgrade_to="3.6"), *DEAD[1:]),
        [*own("n1", "n3"), host("n2")],
        {"replace": ["n2"]},
        "a downgrade to 3.6 is enabled, and etcd lets no member join before it ends: finish it, or, if a member is lost, cancel it with "
        "'ansible-playbook etcdops.headroom.downgrade -e etcd_downgrade_cancel=true'",
    ),
    "no quorum without the dead": (
        (LEADER, member("n2", healthy=False), member("n3", healthy=False)),
        [*own("n1"), host("n2"), host("n3")],
        {"replace": ["n2", "n3"]},
        "1 of 3 voting members would be healthy during the change and quorum needs 2",
    ),
    "the only member": (
        (LEADER,),
        own("n1"),
        {"replace": ["n1"], "replace_healthy": True},
        "no voting member would remain",
    ),
    "removal of a member in the inventory": (
        THREE,
        own("n1", "n2", "n3"),
        {"remove": ["n3"]},
        "etcd_scale_remove names n3, whose host is still in the inventory",
    ),
    "removal that costs quorum": (
        DEAD,
        own("n1", "n2"),
        {"remove": ["n3"], "allow_even": True},
        "n2 is not healthy",
    ),
    "replacing while others have left": (
        (*DEAD, member("n4")),
        [*own("n1", "n3"), host("n2")],
        {"replace": ["n2"]},
        'its member n4 is not in the inventory. To remove it, add -e \'{"etcd_scale_remove": ["n4"]}\'; to keep it, put its host into the inventory',
    ),
    "replacing while a host waits for a later scale": (
        DEAD,
        [*own("n1", "n3"), host("n2"), host("n4")],
        {"replace": ["n2"], "allow_even": True},
        "its host n4 has not joined the cluster: remove it from the group for this run, and add it afterwards with the playbook "
        "etcdops.headroom.scale, or name it too: -e etcd_replace=n2,n4",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_the_cause(case):
    members, hosts, request, text = REFUSED[case]
    problems = plan(members, hosts, **request).problems
    assert any(text in problem for problem in problems), problems
    assert all(problem.startswith("cluster c: ") for problem in problems)


def test_a_dead_member_is_removed_while_a_downgrade_is_enabled():
    members = (member("n1", role="leader", downgrade_to="3.6"), *DEAD[1:])
    found = plan(members, own("n1", "n3"), remove=["n2"], allow_even=True)
    assert (found.problems, [removal.name for removal in found.removes]) == ([], ["n2"])


def mixed(*versions, **other):
    """Members whose change of the release was interrupted, the last one dead."""
    running = [member(f"n{number}", version=version) for number, version in enumerate(versions, 1)]
    last = f"n{len(versions) + 1}"
    return [*running, member(last, healthy=False, version=None, **other)]


MINORS, PATCHES = mixed("3.7.3", "3.6.16"), mixed("3.7.3", "3.7.2")
LOST = {"replace": ["n3"]}, [*own("n1", "n2"), host("n3")]
LEFT = {"remove": ["n3"], "allow_even": True}, own("n1", "n2")
ONLY_DEAD = "n1 runs etcd 3.7.3, n2 3.6.16. Until site.yml has completed the change of the release, only dead members are removed or replaced"
MIXED = {
    "replaced": (MINORS, *LOST, "3.7.3", ""),
    "replaced, patch releases": (PATCHES, *LOST, "3.7.3", ""),
    "replaced on the way back, patch releases": (PATCHES, *LOST, "3.7.2", ""),
    "replaced with the older release, which site.yml cannot give the others": (
        MINORS,
        *LOST,
        "3.6.16",
        "n1 runs etcd 3.7.3, n2 3.6.16, but etcd_version is 3.6.16. Use the newest of them in this run: -e etcd_version=3.7.3",
    ),
    "replaced with a release that no member runs": (
        PATCHES,
        *LOST,
        "3.7.4",
        "n1 runs etcd 3.7.3, n2 3.7.2, but etcd_version is 3.7.4. Use the newest of them in this run: -e etcd_version=3.7.3",
    ),
    "removed": (MINORS, *LEFT, "3.7.3", ""),
    "killed after the removal": (MINORS[:2], *LOST, "3.7.3", ""),
    "killed after the learner was added": (
        [*MINORS[:2], learner("n3", started=False, healthy=False)],
        {},
        [*own("n1", "n2"), host("n3")],
        "3.7.3",
        "",
    ),
    "another one is added": ([*MINORS[:2]], {}, [*own("n1", "n2"), host("n3")], "3.7.3", ONLY_DEAD),
    "a healthy one is removed": ([*MINORS[:2], member("n3")], *LEFT, "3.7.3", ONLY_DEAD),
    "another one is added in the same run": (
        MINORS,
        {"remove": ["n3"], "allow_even": True},
        [*own("n1", "n2"), host("n4")],
        "3.7.3",
        ONLY_DEAD,
    ),
}


@pytest.mark.parametrize("case", MIXED)
def test_a_dead_member_in_the_middle_of_a_change_of_the_release(case):
    """The playbooks that change the release refuse a dead member, so its replacement comes first."""
    members, request, hosts, version, problem = MIXED[case]
    comparison = compared("agree", hashes={"n1": "aa", "n2": "aa"})
    found = membership_plan.plan(view(*members), hosts, Request(version=version, **request), "cluster c", comparison)
    assert found.problems == ([f"cluster c: {problem}"] if problem else [])


def test_a_member_that_is_only_stopped_is_started_before_a_rescue():
    """A rescue loses writes. Without a quorum nothing else helps, so nothing else is advised."""
    members = (
        member("n1", healthy=False, health_error="it knows no leader"),
        member("n2", healthy=False, health_error="connection refused"),
        member("n3", healthy=False, health_error="connection refused"),
    )
    [problem] = plan(members, [*own("n1", "n2"), host("n3")], replace=["n3"]).problems
    assert "start or repair n1, n2 first (journalctl -u etcd), and only if most members are lost for good" in problem
    assert "not healthy: n1 (it knows no leader), n2 (connection refused), n3 (connection refused)." in problem


def test_names_to_replace_are_in_one_cluster():
    names = {"a": ["n1", "n2"], "b": ["n2", "n3"]}
    [unknown, shared] = membership_plan.replaced_problems(names, Request(replace=["n3", "n7", "n2"]))
    assert unknown.startswith("etcd_replace names n7, but no host of the inventory has that name (n1, n2, n2, n3)")
    assert shared == "etcd_replace names n2, which the clusters a, b have; choose one with --limit"


def test_the_plan_in_words():
    lines = plan((*THREE, member("n9")), [*own("n1", "n2", "n3"), host("n4"), host("n5")], remove=["n9"]).lines
    assert lines == [
        "Members now: n1 (leader), n2, n3, n9",
        "Members wanted: n1, n2, n3, n4, n5",
        "Step 1: n4: add n4 as a learner, start it, promote it once it has caught up",
        "Step 2: n5: add n5 as a learner, start it, promote it once it has caught up",
        "Step 3: move the leadership away from n9 if it leads, and remove it (id-n9)",
    ]


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


def test_full_databases_do_not_prevent_the_removal_of_a_dead_member():
    """The playbook nospace needs all voting members."""
    full = member("n1", role="leader", alarms=["NOSPACE"])
    dead = member("n2", healthy=False)
    removal = plan((full, dead, member("n3")), own("n1", "n3"), remove=["n2"], allow_even=True)
    assert (removal.problems, [one.name for one in removal.removes]) == ([], ["n2"])
    healthy = plan((full, member("n2"), member("n3")), own("n1", "n3"), remove=["n2"], allow_even=True)
    assert healthy.problems == [
        "cluster c: the alarm NOSPACE is set by n1; run the playbook etcdops.headroom.nospace first"
    ]
    own_alarm = (LEADER, member("n2", alarms=["NOSPACE"]), member("n3"))
    problem = "cluster c: the alarm NOSPACE is set by n2; run the playbook etcdops.headroom.nospace first"
    assert plan(own_alarm, own("n1", "n3"), remove=["n2"], allow_even=True).problems == [problem]
    assert plan(own_alarm, own("n1", "n2", "n3"), replace=["n2"], replace_healthy=True).problems == [problem]
    dead_alarm = (LEADER, member("n2", healthy=False, alarms=["NOSPACE"]), member("n3"))
    assert plan(dead_alarm, own("n1", "n3"), remove=["n2"], allow_even=True).problems == []
    corrupt = plan(
        (full, member("n2", alarms=["CORRUPT"]), member("n3")), own("n1", "n3"), remove=["n2"], allow_even=True
    )
    assert corrupt.problems == [
        "cluster c: the alarm NOSPACE is set by n1; run the playbook etcdops.headroom.nospace first"
    ]
    replaced = plan((full, dead, member("n3")), [*own("n1", "n3"), host("n2")], replace=["n2"])
    (problem,) = (text for text in replaced.problems if "NOSPACE" in text)
    assert problem.endswith(
        "take the hosts of dead ones out of the inventory and remove them with 'ansible-playbook etcdops.headroom.scale "
        "-e etcd_scale_allow_even=true', then run nospace, and then add hosts"
    )
