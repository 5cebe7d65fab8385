# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a member may be added, promoted or removed, by what the cluster answers directly before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import change as membership_change

LAG = 500


def url(name):
    return f"https://10.0.0.{name[-1]}:2380"


def member(name, role="follower", **other):
    known = {"healthy": True, "health_error": "", "lag": 0, "endpoint": f"https://10.0.0.{name[-1]}:2379", **other}
    return Member(
        name=name, id=f"id-{name}", role=role, peer_urls=[url(name)], client_urls=[known["endpoint"]], **known
    )


def down(name):
    return member(name, "unknown", healthy=False, health_error="connection refused", lag=None)


def cluster(*members, alarms=()):
    voters = [one for one in members if one.votes]
    healthy = sum(one.healthy for one in voters)
    leader = next((one.name for one in members if one.role == "leader"), "")
    quorum = Quorum(voters=len(voters), needed=len(voters) // 2 + 1, healthy=healthy, ok=healthy > len(voters) // 2)
    return Cluster(id="cafe", leader=leader, members=list(members), quorum=quorum, alarms=list(alarms))


LEADER = member("n1", "leader")
THREE = cluster(LEADER, member("n2"), member("n3"))
FULL = [{"member": "n2", "type": "NOSPACE"}]
UNREACHABLE = replace(THREE, members=[], error="connection refused")
UNSTARTED = replace(member("n4", "learner"), name="", client_urls=[], endpoint="", healthy=False, lag=None)


def test_adding():
    verdict = membership_change.add_verdict(THREE, "n4", url("n4"), LAG)
    assert verdict.allowed and not verdict.done
    listed = membership_change.add_verdict(cluster(LEADER, UNSTARTED), "n4", url("n4"), LAG)
    assert (listed.done, listed.member_id) == (True, "id-n4"), "an earlier run added it"


@pytest.mark.parametrize(
    ("written_by", "reason"),
    [
        (None, ""),
        ("id-n3", ""),
        (
            "",
            "https://10.0.0.3:2380 is the peer URL of n3 (id-n3), which votes, but this host has no write-ahead log of it",
        ),
        (
            "id-old",
            "https://10.0.0.3:2380 is the peer URL of n3 (id-n3), which votes, but the write-ahead log on this host is of member id-old",
        ),
    ],
    ids=["unknown", "its own log", "no log", "another member's log"],
)
def test_a_voting_member_does_not_start_without_its_log(written_by, reason):
    """Its removal failed, or another play added it. Without its log it would forget its votes."""
    verdict = membership_change.add_verdict(THREE, "n3", url("n3"), LAG, written_by)
    assert verdict.reason.startswith(reason) and (verdict.done, verdict.transient) == (not reason, False)
    learner = cluster(LEADER, UNSTARTED)
    assert membership_change.add_verdict(learner, "n4", url("n4"), LAG, written_by).done


@pytest.mark.parametrize(
    ("found", "transient", "text"),
    [
        (UNREACHABLE, True, "no member of the cluster answers (connection refused)"),
        (cluster(LEADER, down("n2"), member("n3")), True, "not healthy: n2 (connection refused)"),
        (cluster(LEADER, member("n2", lag=501)), True, "n2 is 501 raft entries behind, more than 500"),
        (cluster(LEADER, member("n9", "learner")), False, "n9 is still a learner; etcd accepts one at a time"),
        (
            cluster(LEADER, member("n2"), alarms=FULL),
            False,
            "the alarm NOSPACE is set by n2; run the playbook etcdops.headroom.nospace",
        ),
    ],
)
def test_adding_is_refused(found, transient, text):
    verdict = membership_change.add_verdict(found, "n4", url("n4"), LAG)
    assert text in verdict.reason and verdict.transient is transient


def test_a_name_that_another_member_has_is_refused():
    verdict = membership_change.add_verdict(THREE, "n3", url("n4"), LAG)
    assert "already has a member named n3 (id-n3) at https://10.0.0.3:2380" in verdict.reason


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        (member("n4", "learner", lag=100_000), "n4 is 100000 raft entries behind, more than 500"),
        (UNSTARTED, "n4 does not answer yet"),
        (
            member("n4", "learner", healthy=False, health_error="it knows no leader"),
            "n4 is not healthy: it knows no leader",
        ),
    ],
)
def test_a_learner_is_not_promoted_before_it_has_caught_up(learner, text):
    """100,000 entries of 10 million are one percent: etcd itself would promote it."""
    verdict = membership_change.promote_verdict(cluster(LEADER, learner), "n4", url("n4"), LAG)
    assert text in verdict.reason and verdict.transient


def test_promoting():
    ready = membership_change.promote_verdict(cluster(LEADER, member("n4", "learner", lag=500)), "n4", url("n4"), LAG)
    assert ready.allowed and ready.member_id == "id-n4"
    assert membership_change.promote_verdict(cluster(LEADER, member("n4")), "n4", url("n4"), LAG).done
    gone = membership_change.promote_verdict(THREE, "n4", url("n4"), LAG)
    assert "the cluster has no member named n4" in gone.reason and not gone.transient
    mute = cluster(member("n1"), member("n4", "learner"))
    assert membership_change.promote_verdict(mute, "n4", url("n4"), LAG).reason == "the cluster has no leader"


REMOVALS = {
    "a follower": (THREE, "n2", "", ""),
    "the leader hands over first": (THREE, "n1", "n2", ""),
    "a dead member": (cluster(LEADER, member("n2"), down("n3")), "n3", "", ""),
    "one of two dead members of five": (
        cluster(LEADER, member("n2"), down("n3"), member("n4"), down("n5")),
        "n3",
        "",
        "",
    ),
    "a learner, whoever else is down": (
        cluster(LEADER, down("n2"), member("n3"), member("n4", "learner")),
        "n4",
        "",
        "",
    ),
    "a healthy one beside a dead one": (cluster(LEADER, member("n2"), down("n3")), "n2", "", "not healthy: n3"),
    "a healthy one of five beside a dead one": (
        cluster(LEADER, member("n2"), member("n3"), member("n4"), down("n5")),
        "n2",
        "",
        "not healthy: n5",
    ),
    "without a quorum": (
        cluster(LEADER, down("n2"), down("n3")),
        "n3",
        "",
        "1 of 3 voting members are healthy and quorum needs 2",
    ),
    "an unhealthy leader whose followers are behind": (
        cluster(member("n1", "leader", healthy=False), member("n2", lag=501), member("n3", lag=None)),
        "n1",
        "",
        "n1 leads, and no other healthy member is within 500 raft entries of it",
    ),
    "the last one": (cluster(LEADER), "n1", "", "n1 is the only voting member"),
}


@pytest.mark.parametrize("case", REMOVALS)
def test_removing(case):
    found, name, move_to, text = REMOVALS[case]
    verdict = membership_change.remove_verdict(found, name, f"id-{name}", LAG)
    assert (verdict.allowed, verdict.move_to) == (not text, move_to)
    assert text in verdict.reason


def test_a_member_that_is_gone_needs_no_removal():
    assert membership_change.remove_verdict(THREE, "n4", "", LAG).done
    assert membership_change.remove_verdict(THREE, "n2", "id-of-the-one-before", LAG).done, (
        "another one has its name now"
    )


def test_the_configuration_of_a_member_that_joins_lists_what_the_cluster_lists():
    found = membership_change.initial_cluster(cluster(LEADER, member("n2"), UNSTARTED), "n4", url("n4"))
    assert found == f"n1={url('n1')},n2={url('n2')},n4={url('n4')}"


def test_requests_go_to_the_leader_first_and_to_no_learner():
    found = cluster(member("n1"), member("n2", "leader"), member("n4", "learner"), down("n3"))
    assert membership_change.voter_endpoints(found) == ["https://10.0.0.2:2379", "https://10.0.0.1:2379"]


def test_alarms_of_removed_members_only_may_be_disarmed():
    assert not membership_change.orphaned_alarms(THREE)
    left = [{"member": "id-n9", "type": "CORRUPT"}]
    assert membership_change.orphaned_alarms(replace(THREE, alarms=left))
    assert not membership_change.orphaned_alarms(replace(THREE, alarms=[*left, *FULL]))
    # Without any status, the alarm of a current member looks like this.
    unknown = [{"member": "an unknown member", "type": "NOSPACE"}]
    assert not membership_change.orphaned_alarms(replace(THREE, alarms=unknown))
    assert not membership_change.orphaned_alarms(replace(THREE, alarms=[{"member": "id-n2", "type": "CORRUPT"}]))
