# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

from tests.unit.plugins.module_utils._membership.members import (
    NO_QUORUM,
    NONE_ANSWERS,
    answered,
    deployed,
    forming,
    member,
    view,
    with_request,
)


def test_new_cluster():
    formed = topology.form_clusters([member("n2"), member("n1")])
    assert formed["etcd"]["state"] == "new"
    assert formed["etcd"]["initial_cluster"] == "n1=https://10.0.0.1:2380,n2=https://10.0.0.2:2380"


@pytest.mark.parametrize(
    ("members", "state"),
    [
        ([member("n1", has_data=True), member("n2", has_data=True)], "existing"),
        ([member("n1", has_data=True, forming=True), member("n2")], "new"),
        ([member("n1", has_data=True, forming=True), member("n2", has_data=True)], "existing"),
        # The first deployment was interrupted: the members' answers decide.
        ([forming("n1", view("n1", "n2", "n3")), forming("n2"), forming("n3")], "existing"),
        ([forming("n1"), forming("n2", view("n1", "n2")), forming("n3", has_data=False)], "existing"),
        ([forming("n1", view(ok=False)), forming("n2", has_data=False), forming("n3", has_data=False)], "new"),
        ([forming("n1", NONE_ANSWERS), forming("n2", NONE_ANSWERS), forming("n3", NONE_ANSWERS)], "new"),
        ([forming("n1", view("n1", "n2", "n3", ok=False)), forming("n2"), forming("n3")], "existing"),
        # A restore gives no view.
        ([forming("n1", {}), forming("n2", {}), forming("n3", {})], "new"),
    ],
)
def test_state(members, state):
    assert topology.form_clusters(members)["etcd"]["state"] == state


def test_members_that_are_where_the_cluster_has_them():
    assert topology.form_clusters([deployed("n1"), deployed("n2"), deployed("n3")])["etcd"]["state"] == "existing"
    moved = member("n1", has_data=True, view={}, configured_peer_url="https://10.0.0.1:2380")
    assert topology.form_clusters([moved])["etcd"]["state"] == "existing"


def test_a_cluster_in_which_a_member_lost_its_data_acts_through_another():
    """Before a downgrade is cancelled, the lost member cannot be replaced."""
    lost = {"view": {}, "has_data": False}
    hosts = [member("n1", **lost), deployed("n2"), deployed("n3")]
    with pytest.raises(topology.TopologyError, match="n1 has no data"):
        topology.form_clusters([dict(host) for host in hosts])
    found = topology.form_clusters([{**host, "data_optional": True} for host in hosts])["etcd"]
    assert (found["state"], found["first_host"]) == ("existing", "n2")
    assert topology.form_clusters([member("n1"), member("n2")])["etcd"]["first_host"] == "n1"


def test_a_member_whose_join_did_not_finish():
    """etcd lists it without a name until it serves, and refuses its start while a downgrade is enabled."""
    answer = view("n1", "n2", "n3")
    answer["members"][2] |= {"name": "", "client_urls": []}
    hosts = [deployed("n1", view=answer), deployed("n2", view=answer), deployed("n3", view={})]
    text = "the join of n3 did not finish: run the playbook that added it again, etcdops.headroom.scale, or 'ansible-playbook etcdops.headroom.replace"
    with pytest.raises(topology.TopologyError, match=text):
        topology.form_clusters([dict(host) for host in hosts])
    found = topology.form_clusters([{**host, "data_optional": True} for host in hosts])["etcd"]
    assert found["state"] == "existing"


@pytest.mark.parametrize(
    ("members", "absent", "text"),
    [
        (
            [deployed("n2", "10.9.9.2", view=NO_QUORUM), deployed("n3", view=NO_QUORUM)],
            [],
            r"members reach n2 at https://10\.0\.0\.2:2380, but the inventory makes that https://10\.9\.9\.2:2380, and only a cluster "
            "with quorum can change it. Set etcd_address, etcd_peer_address and etcd_peer_port of n2 back, and run site.yml first",
        ),
        (
            [deployed("n1", "10.0.0.2", client_port=1), deployed("n2", "10.0.0.1", client_port=1), deployed("n3")],
            [],
            "and that is where its members reach n2. Set .* of n1 back; to swap two addresses, move one member to a third",
        ),
        (
            [deployed("n1"), deployed("n2", tls=False), deployed("n3")],
            [],
            "n2 at https://.*makes that http://.*, and TLS cannot be switched",
        ),
        (
            [member("n1", listen_addresses=["n1.example.net"])],
            [],
            "n1: etcd_listen_addresses has n1.example.net, which is not an IP address",
        ),
        (
            [member("n1", listening=["0.0.0.0:22", "127.0.0.1:2379"])],
            [],
            r"n1: etcd cannot listen on https://127\.0\.0\.1:2379, because another process listens on 127\.0\.0\.1:2379; .* etcd_client_port",
        ),
        (
            [member("n1", listening=["[::]:2380"])],
            [],
            r"n1: etcd cannot listen on https://10\.0\.0\.1:2380, because another process listens on \[::\]:2380; .* etcd_peer_port",
        ),
        (
            [member("n1", host_addresses=["10.0.0.9"])],
            [],
            r"n1: etcd cannot listen on 10\.0\.0\.1, which is not an address of the host \(10\.0\.0\.9\)\. .* set etcd_listen_addresses",
        ),
        (
            [member("n1", peer_address="10.1.0.1", host_addresses=["10.0.0.1"])],
            [],
            r"n1: etcd cannot listen on 10\.1\.0\.1",
        ),
        (
            [deployed("n1", name="m1"), deployed("n2"), deployed("n3")],
            [],
            "n1 has data, but the cluster has no member m1; its members are n1, n2, n3. Set etcd_name",
        ),
        # No member answers: the config file on the host says at which URL it was started.
        (
            [member("n1", has_data=True, configured_peer_url="https://10.1.1.1:2380")],
            [],
            r"reach n1 at https://10\.1\.1\.1:2380, but the inventory makes that https://10\.0\.0\.1:2380, and the cluster, which has to change it, "
            "did not answer in time. Run site.yml again, or start its members. Set etcd_address, .* of n1 back if they cannot be started",
        ),
        (
            [member("n1"), member("n2", name="n1")],
            [],
            "cluster etcd: n1 and n2 have the same name n1; give each host its own etcd_name",
        ),
        (
            [member("n1"), member("n2", address="10.0.0.1")],
            [],
            r"inventory: n1 and n2 have the same address 10\.0\.0\.1:2379; .* own etcd_address",
        ),
        (
            [member("n1")],
            [{"host": "n2", "cluster": "etcd"}],
            "cluster etcd: this run leaves out n2; run without --limit",
        ),
        (
            [member("n1", has_data=True, view=view("n1", "n2", "n3")), forming("n2", has_data=False)],
            [],
            "exists on n1, but n2 has no data; check that its volume is mounted",
        ),
        (
            [member("n1", has_data=True, view=view("n1")), member("n2")],
            [],
            "exists on n1, but n2 has no data; check that its volume is mounted",
        ),
        (
            [member("n1", has_data=True), member("n2")],
            [],
            "exists on n1, but n2 has no data; check that its volume is mounted",
        ),
    ],
)
def test_problems(members, absent, text):
    with pytest.raises(topology.TopologyError, match=text):
        topology.form_clusters(members, absent)


def releases(*wanted, running=()):
    """Return a member for each wanted release; each answers with the running ones."""
    names = [f"n{number}" for number in range(1, len(running) + 1)]
    answer = view(*names, all_of=names)
    answer["members"] = [{**one, "version": version} for one, version in zip(answer["members"], running)]
    return [member(f"n{number}", release=release, view=answer) for number, release in enumerate(wanted, 1)]


ONE_RELEASE = (
    "; a change of the minor version is one change of the whole cluster, so set the same etcd_version for all its hosts. "
    "A host may have another patch release only while the minor version of the cluster stays"
)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (
            releases("3.5.35", "3.5.35", "3.7.3", running=["3.5.35"]),
            "3.5.35 on n1, n2, and 3.7.3 on n3, and its members run 3.5.35",
        ),
        (releases("3.7.3", "3.6.16"), "3.7.3 on n1, and 3.6.16 on n2"),
        # The verification after the update waits for one release.
        (
            releases("3.6.16", "3.6.15", running=["3.5.35"]),
            "3.6.16 on n1, and 3.6.15 on n2, and its members run 3.5.35",
        ),
    ],
    ids=["canary", "new cluster", "patch during an upgrade"],
)
def test_a_change_of_the_minor_version_to_several_releases(members, text):
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters(members)
    assert str(error.value) == f"cluster etcd: etcd_version is {text}{ONE_RELEASE}"


@pytest.mark.parametrize(
    "members",
    [
        releases("3.6.16", "3.6.15", running=["3.6.15", None]),
        releases("3.7.3", "3.7.3", running=["3.6.16"]),
        releases("", "", running=["3.6.16", "3.5.35"]),
        [member("n1", release="3.6.16"), member("m2", cluster="other", release="3.7.3")],
    ],
    ids=["patch release of one host", "one release", "chosen later", "two clusters"],
)
def test_releases_of_hosts_that_are_accepted(members):
    assert topology.form_clusters(members)


def test_one_machine_may_hold_members_on_other_ports_and_other_clusters_may_be_absent():
    members = [member("n1"), member("n2", address="10.0.0.1", client_port=12379, peer_port=12380)]
    assert len(topology.form_clusters(members, [{"host": "m1", "cluster": "other"}])["etcd"]["members"]) == 2


def test_a_request_lets_hosts_join():
    hosts = with_request([member("n1", has_data=True, view=answered("n1")), member("n2"), member("n3")])
    formed = topology.form_clusters(hosts)["etcd"]
    assert formed["state"] == "existing" and formed["initial_cluster"].count("=") == 3
    assert list(formed["membership"]["joins"]) == ["n2", "n3"] and formed["membership"]["pending"]


def test_each_cluster_of_a_request_has_its_own_release():
    other = {"cluster": "other", "address": "10.0.1.1"}
    hosts = [
        *with_request([member("n1", has_data=True, view=answered("n1")), member("n2"), member("n3")], version="3.7.3"),
        *with_request([member("n4", has_data=True, view=answered("n4"), **other)], version="3.6.16"),
        *with_request([member(f"n{number}", **other | {"address": f"10.0.1.{number}"}) for number in (5, 6)]),
    ]
    hosts[3]["view"]["id"] = "f00d"
    hosts[3]["view"]["members"][0].update(
        version="3.6.16", peer_urls=["https://10.0.1.1:2380"], client_urls=["https://10.0.1.1:2379"]
    )
    formed = topology.form_clusters(hosts)
    assert [list(formed[cluster]["membership"]["joins"]) for cluster in ("etcd", "other")] == [
        ["n2", "n3"],
        ["n5", "n6"],
    ]


def test_a_member_leaves_one_of_two_clusters_with_the_same_names():
    """The hosts differ in their domain, and the names of the members do not."""

    def hosts(cluster, octet, *names):
        answer = answered("n1", "n2", "n3", "n4")
        for entry in answer["members"]:
            for urls in ("peer_urls", "client_urls"):
                entry[urls] = [url.replace("10.0.0.", f"10.0.{octet}.") for url in entry[urls]]
        return [
            {
                **member(
                    name,
                    cluster=cluster,
                    has_data=True,
                    view=answer,
                    identity={"member_id": f"id-{name}", "cluster_id": "cafe"},
                ),
                "host": f"{name}.{cluster}",
                "address": f"10.0.{octet}.{name[-1]}",
            }
            for name in names
        ]

    both = [*hosts("a", 1, "n1", "n2", "n3"), *hosts("b", 2, "n1", "n2", "n3", "n4")]
    formed = topology.form_clusters(with_request(both, remove=["n4"], allow_even=True, version="3.7.3"))
    assert [one["name"] for one in formed["a"]["membership"]["removes"]] == ["n4"]
    assert formed["b"]["membership"]["pending"] is False
    assert formed["b"]["membership"]["lines"][-1] == "n4 stays a member of this cluster"
    alone = with_request(hosts("b", 2, "n1", "n2", "n3", "n4"), remove=["n4"], version="3.7.3")
    with pytest.raises(
        topology.TopologyError,
        match=r"etcd_scale_remove names n4, whose host is still in the inventory; take it out of the group first$",
    ):
        topology.form_clusters(alone)


def test_without_a_request_the_error_names_the_playbooks():
    hosts = [member("n1", has_data=True, view=answered("n1")), member("n2")]
    with pytest.raises(
        topology.TopologyError,
        match=r"the playbook etcdops.headroom.scale\. .*etcdops\.headroom\.replace -e etcd_replace=n2",
    ):
        topology.form_clusters(hosts)


@pytest.mark.parametrize(
    ("hosts", "request_", "text"),
    [
        (
            [member("n1"), member("n2")],
            {"version": "3.7.3"},
            "cluster etcd: it does not exist yet; deploy it with site.yml",
        ),
        ([member("n1", has_data=True, view=answered("n1"))], {"replace": "n9"}, "etcd_replace names n9"),
        ([member("n1", has_data=True, view=answered("n1"))], {"remove": 5}, "etcd_scale_remove is 5"),
        ([member("n1", has_data=True), member("n2")], {"version": "3.7.3"}, "no member answers"),
        (
            [member("n1", has_data=True, peer_port=2390, view=answered("n1")), member("n2"), member("n3")],
            {"version": "3.7.3"},
            r"n1 would move to https://10\.0\.0\.1:2390: change one thing at a time, and run site\.yml first",
        ),
        (
            [member("n1", has_data=True, client_port=2378, view=answered("n1")), member("n2"), member("n3")],
            {"version": "3.7.3"},
            r"n1 would move to https://10\.0\.0\.1:2378: change one thing at a time, and run site\.yml first",
        ),
    ],
)
def test_requests_that_cannot_be_met(hosts, request_, text):
    with pytest.raises(topology.TopologyError, match=text):
        topology.form_clusters(with_request(hosts, **request_))
