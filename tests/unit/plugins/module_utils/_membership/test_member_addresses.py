# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where members are: moves, ports and addresses to listen on."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

from tests.unit.plugins.module_utils._membership.members import deployed, member, view


def moves(*members):
    found = topology.form_clusters(list(members))["etcd"]["members"]
    return [host for host, one in found.items() if one["moves"]]


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
