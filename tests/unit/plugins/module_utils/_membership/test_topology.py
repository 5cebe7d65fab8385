# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology


def member(host, **other):
    number = host[-1]
    return {
        "host": host,
        "cluster": "etcd",
        "name": host,
        "address": f"10.0.0.{number}",
        "client_port": 2379,
        "peer_port": 2380,
        "tls": True,
        "has_data": False,
        "forming": False,
        **other,
    }


def view(*started, all_of=("n1", "n2", "n3"), ok=True):
    """What a member answers: all members by name, and the client URLs of those that have joined."""
    return {
        "quorum": {"ok": ok, "healthy": len(started) if ok else 0},
        "members": [
            {
                "id": f"id-{name}",
                "name": name,
                "peer_urls": [f"https://10.0.0.{name[-1]}:2380"],
                "client_urls": [f"https://10.0.0.{name[-1]}:2379"] if name in started else [],
            }
            for name in all_of
        ],
    }


NO_QUORUM = view("n1", "n2", "n3", ok=False)
NONE_ANSWERS = {"quorum": {"ok": False, "healthy": 0}, "members": []}


def forming(host, answered=None, has_data=True, **other):
    return member(host, has_data=has_data, forming=True, view=answered or {}, **other)


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


def deployed(host, address=None, **other):
    """A member with data whose cluster answers with the addresses of its deployment."""
    answer = other.pop("view", view("n1", "n2", "n3"))
    return member(host, has_data=True, view=answer, **({"address": address} if address else {}), **other)


def test_members_that_are_where_the_cluster_has_them():
    assert topology.form_clusters([deployed("n1"), deployed("n2"), deployed("n3")])["etcd"]["state"] == "existing"
    moved = member("n1", has_data=True, view={}, configured_peer_url="https://10.0.0.1:2380")
    assert topology.form_clusters([moved])["etcd"]["state"] == "existing"


def moves(*members):
    found = topology.form_clusters(list(members))["etcd"]["members"]
    return [host for host, one in found.items() if one["moves"]]


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


def test_members_that_move():
    assert moves(deployed("n1"), deployed("n2", "10.9.9.2"), deployed("n3")) == ["n2"]
    assert moves(*(deployed(host, peer_port=12380) for host in ("n1", "n2", "n3"))) == ["n1", "n2", "n3"]
    assert moves(deployed("n1", peer_address="10.9.9.1"), deployed("n2"), deployed("n3")) == ["n1"]
    assert moves(member("n1"), member("n2")) == []
    # It has started there, whatever the host says now.
    assert moves(*(deployed(host, host_addresses=["10.8.8.8"]) for host in ("n1", "n2", "n3"))) == []


def test_members_answer_at_their_former_client_port_until_their_update():
    former = view("n1", "n2", "n3", "n4", all_of=("n1", "n2", "n3", "n4"))
    hosts = [member(host, has_data=True, client_port=2479, view=former) for host in ("n1", "n2", "n3")]
    formed = topology.form_clusters(hosts)["etcd"]
    assert formed["former_client_urls"] == [f"https://10.0.0.{number}:2379" for number in (1, 2, 3)]
    unchanged = [deployed("n1"), deployed("n2"), deployed("n3")]
    assert topology.form_clusters(unchanged)["etcd"]["former_client_urls"] == []


def test_ports_that_others_have_elsewhere_are_free():
    others = ["10.0.0.9:2379", "[fd00::1]:2380", "0.0.0.0:22379", "127.0.0.1:2380"]
    assert topology.form_clusters([member("n1", listening=others)])["etcd"]["state"] == "new"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"client_port": 70000}, "n1: etcd_client_port is 70000, and a port is 1 to 65535"),
        ({"peer_port": 0}, "n1: etcd_peer_port is 0, and a port is 1 to 65535"),
        (
            {"address": "10.0.0.11:2379"},
            "n1: etcd_address is 10.0.0.11:2379, which is neither an IP address nor a DNS name; write it without scheme and port",
        ),
        ({"address": "https://10.0.0.11"}, "n1: etcd_address is https://10.0.0.11, which is neither"),
        ({"address": "10.0.0.256"}, "n1: etcd_address is 10.0.0.256, which is neither"),
        ({"address": "n1.example..net"}, "n1: etcd_address is n1.example..net, which is neither"),
        ({"address": "n1 .example.net"}, "n1: etcd_address is n1 .example.net, which is neither"),
        ({"address": "n" * 64}, f"n1: etcd_address is {'n' * 64}, which is neither"),
        (
            {"address": "0.0.0.0"},
            "n1: etcd_address is 0.0.0.0, and other hosts cannot reach a member there; write the address of its host",
        ),
        ({"peer_address": "[::]"}, "n1: etcd_peer_address is [::], and other hosts cannot reach a member there"),
        ({"peer_address": "10.1.0.11/24"}, "n1: etcd_peer_address is 10.1.0.11/24, which is neither"),
        (
            {"name": "a=b"},
            "n1: etcd_name is a=b; choose a name without comma and =, which separate the members in etcd's initial-cluster",
        ),
        ({"name": "a,b"}, "n1: etcd_name is a,b; choose"),
        # Also of a member that serves, before its restart.
        ({"client_port": 70000, "has_data": True, "view": view("n1")}, "n1: etcd_client_port is 70000"),
    ],
)
def test_settings_with_which_etcd_does_not_start(given, text):
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters([member("n1", **given)])
    assert str(error.value).startswith(text), str(error.value)
    assert str(error.value).count("n1: ") == 1, str(error.value)


@pytest.mark.parametrize(
    "address", ["n1", "n_1.example.net", "n1.example.net.", "fd00::1", "[fd00::1]", "12.example.net", "1and1"]
)
def test_addresses_of_members(address):
    assert topology.form_clusters([member("n1", address=address)])["etcd"]["state"] == "new"


@pytest.mark.parametrize(
    "members",
    [
        [member(host, peer_address="10.1.0.9") for host in ("n1", "n2", "n3")],
        [
            member("n1", address="10.1.0.9"),
            member("n2", address="10.1.0.9", client_port=2479),
            member("n3", peer_address="10.1.0.9"),
        ],
    ],
)
def test_members_with_one_peer_url(members):
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters(members)
    assert str(error.value) == (
        "n1 and n2 and n3 have the same peer URL https://10.1.0.9:2380; give each host an etcd_peer_address or an etcd_peer_port of its own"
    )


@pytest.mark.parametrize("given", ["10.0.0.1", "10.0.0.1, fd00::1", ["10.0.0.1"], "", []])
def test_addresses_to_listen_on_are_a_list_or_text(given):
    own = ["10.0.0.1", "fd00::1"]
    [formed] = topology.form_clusters([member("n1", listen_addresses=given, host_addresses=own)])["etcd"][
        "members"
    ].values()
    second = ",https://[fd00::1]:2380" if "fd00" in given else ""
    assert formed["listen_peer_urls"] == f"https://10.0.0.1:2380{second}"


def test_text_that_is_no_address_to_listen_on_is_named_once():
    text = "n1: etcd_listen_addresses has eth0, which is not an IP address; etcd binds to nothing else"
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters([member("n1", listen_addresses="10.0.0.1,eth0")])
    assert str(error.value) == text


def test_clients_and_peers_need_ports_of_their_own():
    with pytest.raises(
        topology.TopologyError, match=r"n1: etcd cannot listen on https://10\.0\.0\.1:2380 for clients and peers"
    ):
        topology.form_clusters([member("n1", client_port=2380)])


def test_a_learner_does_not_move():
    answer = view("n1", "n2", "n3")
    answer["members"][1]["role"] = "learner"
    with pytest.raises(topology.TopologyError, match=r"10\.9\.9\.2:2380, and it is a learner"):
        moves(deployed("n1", view=answer), deployed("n2", "10.9.9.2", view=answer), deployed("n3", view=answer))


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


REPLACE = "ansible-playbook etcdops.headroom.replace -e etcd_replace="


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
        # It is not known whether the cluster lists it.
        ({}, ("n2",), f"replace the member: run '{REPLACE}n2'"),
        (
            view("n1"),
            ("n4",),
            f"Add new members with the playbook etcdops.headroom.scale. If the data of a member is lost, replace the member: run '{REPLACE}n4'",
        ),
        (
            NO_QUORUM,
            ("n2",),
            f"start etcd on the other hosts until they have a quorum, and replace the member, which the cluster lists with the id id-n2: run "
            f"'{REPLACE}n2'. If most members are lost for good, run 'ansible-playbook etcdops.headroom.restore_lost_quorum "
            "-e etcd_restore_confirm=etcd'",
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


def test_one_machine_may_hold_members_on_other_ports_and_other_clusters_may_be_absent():
    members = [member("n1"), member("n2", address="10.0.0.1", client_port=12379, peer_port=12380)]
    assert len(topology.form_clusters(members, [{"host": "m1", "cluster": "other"}])["etcd"]["members"]) == 2


def change(host, cluster="etcd", **other):
    usual = {"state": "existing", "changes": True, "down": False, "healthy": True, "leads": False, "quorum": True}
    return {"host": host, "cluster": cluster, **usual, **other}


def lost(host, **other):
    return change(host, quorum=False, healthy=False, **other)


@pytest.mark.parametrize(
    ("members", "order"),
    [
        ([], {}),
        ([change("n1", changes=False)], {}),
        ([change("n1", leads=True), change("n2"), change("n3")], {"n2": 0, "n3": 1, "n1": 2}),
        ([change("n1", leads=True), change("n2"), change("n3", healthy=False)], {"n3": 0, "n2": 1, "n1": 2}),
        (
            [change("n1", leads=True), change("n2", healthy=False), change("n3", healthy=False, down=True)],
            {"n3": 0, "n2": 1, "n1": 2},
        ),
        # Without quorum all members that are down start together, and none of the others with them.
        ([lost("n1", down=True)], {"n1": 0}),
        ([lost("n1"), lost("n2", down=True), lost("n3", down=True)], {"n2": 0, "n3": 0, "n1": 1}),
        ([lost("n1", changes=False), lost("n2", down=True), lost("n3", down=True)], {"n2": 0, "n3": 0}),
        ([lost("n1"), lost("n2"), lost("n3")], {"n1": 1, "n2": 2, "n3": 3}),
        ([change("n1", state="new"), change("n2", state="new")], {"n1": 0, "n2": 0}),
        ([change("n1", state="new"), change("n2", state="new", later=True)], {"n1": 0, "n2": 1}),
        ([change("n1"), change("m1", cluster="other"), change("m2", cluster="other")], {"n1": 0, "m1": 0, "m2": 1}),
    ],
)
def test_update_order(members, order):
    assert topology.update_order(members) == order


def with_request(hosts, **request):
    return [{**one, "request": request or {"version": "3.7.3"}} for one in hosts]


def answered(*names):
    """What a member answers, in full."""
    members = [
        {
            **one,
            "role": "leader" if one["name"] == names[0] else "follower",
            "healthy": True,
            "health_error": "",
            "lag": 0,
        }
        for one in view(*names, all_of=names)["members"]
    ]
    members = [{**one, "version": "3.7.3", "alarms": []} for one in members]
    return {"id": "cafe", "quorum": {"ok": True, "healthy": len(names)}, "members": members}


def test_a_request_lets_hosts_join():
    hosts = with_request([member("n1", has_data=True, view=answered("n1")), member("n2"), member("n3")])
    formed = topology.form_clusters(hosts)["etcd"]
    assert formed["state"] == "existing" and formed["initial_cluster"].count("=") == 3
    assert list(formed["membership"]["joins"]) == ["n2", "n3"] and formed["membership"]["pending"]


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


def test_members_that_join_come_before_restarts():
    common = {"cluster": "etcd", "state": "existing", "healthy": True, "quorum": True}
    members = [
        {**common, "host": "n1", "changes": True, "down": False, "leads": True},
        {**common, "host": "n2", "changes": True, "down": True, "leads": False, "joins": 2, "quorum": False},
        {**common, "host": "n3", "changes": False, "down": False, "leads": False, "joins": 1, "quorum": False},
    ]
    assert topology.update_order(members) == {"n3": 0, "n2": 1, "n1": 2}
