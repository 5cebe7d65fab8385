# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of members that are refused, and what the message says."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import plan as membership_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request

from tests.unit.plugins.module_utils._membership.plans import (
    DEAD,
    LEADER,
    THREE,
    compared,
    host,
    learner,
    member,
    own,
    plan,
    view,
)


def test_an_alarm_of_an_unknown_member_prevents_a_change():
    found = view(LEADER, member("n2"), member("n3"))
    found["alarms"] = [{"member": "an unknown member", "type": "NOSPACE"}]
    planned = membership_plan.plan(found, [*own("n1", "n2", "n3"), host("n4"), host("n5")], Request(), "cluster c")
    assert any("the alarm NOSPACE is set by an unknown member" in problem for problem in planned.problems)


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
    "a corrupt member stays": (
        (LEADER, member("n2", alarms=["CORRUPT"]), member("n3")),
        [*own("n1", "n2", "n3"), host("n4"), host("n5")],
        {},
        "the alarm CORRUPT is set for n2; replace that member first",
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


def test_a_namesake_of_a_kept_member_is_removed_by_its_id():
    """The name would mean the member that stays."""
    members = (*THREE, member("n3", id="id-old", peer_urls=["https://10.0.0.9:2380"], healthy=False))
    [problem] = plan(members, own("n1", "n2", "n3")).problems
    assert (
        'its member n3 (id-old) is not in the inventory. To remove it, add -e \'{"etcd_scale_remove": ["id-old"]}\''
        in problem
    )
    found = plan(members, own("n1", "n2", "n3"), remove=["id-old"])
    assert (found.problems, [removal.id for removal in found.removes]) == ([], ["id-old"])
    assert not any("is not a member of this cluster" in line for line in found.lines), found.lines


def test_a_dead_member_is_removed_while_a_downgrade_is_enabled():
    members = (member("n1", role="leader", downgrade_to="3.6"), *DEAD[1:])
    found = plan(members, own("n1", "n3"), remove=["n2"], allow_even=True)
    assert (found.problems, [removal.name for removal in found.removes]) == ([], ["n2"])


def mixed(*versions, **other):
    """Members whose change of the release was interrupted, the last one dead."""
    running = [member(f"n{number}", version=version) for number, version in enumerate(versions, 1)]
    last = f"n{len(versions) + 1}"
    return [*running, member(last, healthy=False, version=None, **other)]


LOST = {"replace": ["n3"]}, [*own("n1", "n2"), host("n3")]


LEFT = {"remove": ["n3"], "allow_even": True}, own("n1", "n2")


ONLY_DEAD = "n1 runs etcd 3.7.3, n2 3.6.16. Until site.yml has completed the change of the release, only dead members are removed or replaced"


MINORS, PATCHES = mixed("3.7.3", "3.6.16"), mixed("3.7.3", "3.7.2")
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
    nothing_compared = membership_plan.plan(
        view(*members), [*own("n1", "n2"), host("n3")], Request(replace=["n3"]), "cluster c", None
    )
    assert nothing_compared.problems == [problem]


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
