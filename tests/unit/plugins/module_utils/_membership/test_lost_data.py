# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts whose data is lost or not mounted: what is refused, and the way out that is named."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import recovery, topology

from tests.unit.plugins.module_utils._membership.members import (
    NO_QUORUM,
    NONE_ANSWERS,
    REPLACE,
    answered,
    deployed,
    forming,
    member,
    view,
    with_request,
)

RESCUE = (
    "If most members are lost for good, run 'ansible-playbook etcdops.headroom.restore_lost_quorum "
    "-e etcd_restore_confirm=etcd'"
)


NOT_RUNNING = (
    "start etcd on the other hosts until they have a quorum (if they were reinstalled: take n2 out of the group, run site.yml, and put n2 "
    f"back), and replace the member: run '{REPLACE}n2'. {RESCUE}"
)


@pytest.mark.parametrize(
    ("answer", "hosts", "advice"),
    [
        (
            view("n1", "n2", "n3"),
            ("n2",),
            f"replace the member, which the cluster lists with the id id-n2: run '{REPLACE}n2'",
        ),
        (
            view("n1", "n2", "n3"),
            ("n2", "n3"),
            f"replace the members, which the cluster lists with the ids id-n2 and id-n3: run '{REPLACE}n2,n3'",
        ),
        # All hosts were reinstalled or their members are stopped, and replace needs a quorum.
        ({}, ("n2",), NOT_RUNNING),
        (NONE_ANSWERS, ("n2",), NOT_RUNNING),
        (
            view("n1"),
            ("n4",),
            f"Add new members with the playbook etcdops.headroom.scale. If the data of a member is lost, replace the member: run '{REPLACE}n4'",
        ),
        (
            NO_QUORUM,
            ("n2",),
            f"start etcd on the other hosts until they have a quorum, and replace the member, which the cluster lists with the id id-n2: run "
            f"'{REPLACE}n2'. {RESCUE}",
        ),
    ],
)
def test_way_out_for_hosts_without_data(answer, hosts, advice):
    members = [member("n1", has_data=True, view=answer), *(member(host) for host in hosts)]
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters(members)
    assert str(error.value).endswith(advice)


def test_cluster_that_lost_all_its_data_is_not_formed_again():
    for hosts in (["n1"], ["n1", "n2", "n3"]):
        with pytest.raises(topology.TopologyError) as error:
            topology.form_clusters([member(host, deployed=True) for host in hosts])
        assert f"was deployed on {', '.join(hosts)}, but no host has data, so a run would form an empty cluster" in str(
            error.value
        )
        assert "If the data is lost, restore a backup: run 'ansible-playbook etcdops.headroom.restore " in str(
            error.value
        )


@pytest.mark.parametrize(
    "hosts",
    [
        [member("n1", deployed=False)],
        # An old host in a new cluster.
        [member("n1", deployed=True), member("n2"), member("n3")],
        [member("n1", deployed=True), member("n2")],
        # Its first deployment was interrupted before a quorum had started.
        [forming("n1", deployed=True), member("n2", deployed=True), member("n3", deployed=True)],
        [forming("n1", has_data=False, deployed=False)],
    ],
)
def test_cluster_that_never_served_is_formed(hosts):
    assert topology.form_clusters(hosts)["etcd"]["state"] == "new"


MOUNT = "mkdir -p /var/lib/etcd && mount /dev/vdb /var/lib/etcd"


@pytest.mark.parametrize(
    "hosts",
    [
        [member("n1", unmounted=[MOUNT]), member("n2", unmounted=[MOUNT]), member("n3", new_devices=["/dev/vdb"])],
        # The disk of the log is known, and that of the data is new.
        [member("n1", unmounted=[MOUNT], new_devices=["/dev/vdb"])],
        [forming("n1"), member("n2", unmounted=[MOUNT]), member("n3", new_devices=["/dev/vdb"])],
    ],
)
def test_new_disk_among_unmounted_volumes_forms_no_cluster(hosts):
    """Its member would vote without its log: acknowledged writes would be lost."""
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters(hosts)
    old = next(host["host"] for host in hosts if host.get("unmounted"))
    text = str(error.value)
    assert f"/dev/vdb of {hosts[-1]['host']} is not a volume of etcd yet" in text and f"'{MOUNT}' on {old}" in text


@pytest.mark.parametrize(
    "hosts",
    [
        # All volumes are there: the storage role mounts them, and looks at them again.
        [member("n1", unmounted=[MOUNT]), member("n2", unmounted=[MOUNT])],
        # A first deployment.
        [member("n1", new_devices=["/dev/vdb"]), member("n2", new_devices=["/dev/vdb"])],
        # A first deployment that was interrupted after mkfs on n2.
        [member("n1", new_devices=["/dev/vdb"]), member("n2")],
    ],
)
def test_volumes_of_which_none_was_replaced_form_a_cluster(hosts):
    assert topology.form_clusters(hosts)["etcd"]["state"] == "new"


def test_the_other_hosts_start_without_the_one_that_lost_its_data():
    """The advice for reinstalled hosts: form_clusters accepts them while the host is out of the group, and keeps what exists."""
    found = topology.form_clusters([member("n1", has_data=True, view={}), member("n3", has_data=True, view={})])["etcd"]
    assert (found["state"], list(found["members"])) == ("existing", ["n1", "n3"])


def recoveries(*members):
    return {host: one["recovery"] for host, one in topology.form_clusters(list(members))["etcd"]["members"].items()}


def test_way_out_if_a_part_of_the_data_is_lost():
    found = recoveries(deployed("n1"), deployed("n2", identity={"member_id": "id-n2"}), deployed("n3"))
    assert found["n2"] == f"replace the member, which the cluster lists with the id id-n2: run '{REPLACE}n2'"
    assert recoveries(member("n1", has_data=True)) == {
        "n1": "restore a backup: run 'ansible-playbook etcdops.headroom.restore -e etcd_restore_snapshot=PATH -e etcd_restore_confirm=etcd'"
    }


def test_no_way_out_is_needed_for_members_that_are_new_or_join():
    assert recoveries(forming("n1"), forming("n2"), forming("n3", has_data=False)) == {"n1": "", "n2": "", "n3": ""}
    hosts = with_request([member("n1", has_data=True, view=answered("n1")), member("n2"), member("n3")])
    assert [bool(text) for text in recoveries(*hosts).values()] == [True, False, False]


def voting(*names, learners=()):
    """What a member answers without a quorum."""
    members = [
        {**one, "role": "learner" if one["name"] in learners else "follower"} for one in view(all_of=names)["members"]
    ]
    return {"members": members, "quorum": {"voters": len(names) - len(learners), "healthy": 0, "ok": False}}


THREE = voting("n1", "n2", "n3")


@pytest.mark.parametrize(
    ("hosts", "active", "answers", "majority"),
    [
        ("n1 n2 n3", "n1", [THREE], ""),
        ("n1 n2 n3", "n3 n1", [THREE], "n1 n3"),
        # The hosts of the lost members are no longer in the inventory.
        ("n1", "n1", [THREE], ""),
        ("n1 n2", "n1 n2", [voting("n1", "n2", "n3", "n4", "n5")], ""),
        # New hosts are in it.
        ("n1 n2 n6 n7 n8", "n1 n2", [THREE], "n1 n2"),
        ("n1 n2 n3", "n1 n2", [{"members": [], "quorum": {"voters": 0}}, voting("n1", "n2", "n3", "n4")], ""),
        # A learner does not vote.
        ("n1 n4", "n1 n4", [voting("n1", "n2", "n3", "n4", learners=["n4"])], ""),
        # No member answers.
        ("n1 n2 n3", "n1 n2", [NONE_ANSWERS], "n1 n2"),
        ("n1 n2 n3", "n1", [], ""),
    ],
)
def test_a_majority_of_the_voting_members_that_runs(hosts, active, answers, majority):
    members = {host: {"name": host, "peer_url": f"https://10.0.0.{host[-1]}:2380"} for host in hosts.split()}
    assert recovery.running_majority(members, active.split(), answers) == majority.split()
