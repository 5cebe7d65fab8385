# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where members are: moves, ports and addresses to listen on."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

from tests.unit.plugins.module_utils._membership.members import deployed, forming, member, view


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


@pytest.mark.parametrize(
    ("wrong", "given", "former"),
    [
        (
            ("n1", "n2", "n3"),
            {},
            "https://10.9.9.1:2380 of n1; https://10.9.9.2:2380 of n2; https://10.9.9.3:2380 of n3",
        ),
        (("n2",), {}, "https://10.9.9.2:2380 of n2"),
        (("n2",), {"view": view(ok=False)}, "https://10.0.0.2:2380 of n2"),
        ((), {"tls": False}, "https://10.0.0.1:2380 of n1; https://10.0.0.2:2380 of n2; https://10.0.0.3:2380 of n3"),
    ],
    ids=["all addresses", "one address", "a member answers", "TLS"],
)
def test_addresses_that_were_wrong_at_the_first_start(wrong, given, former):
    """Such a cluster never has the quorum that could change them, and with data it does not start again as a new one."""
    dirs = ["/var/lib/etcd/data/member", "/var/lib/etcd-wal/wal"]
    hosts = [
        {
            **forming(
                host,
                data_dirs=dirs,
                configured_peer_url=f"https://10.{'9.9' if host in wrong else '0.0'}.{host[-1]}:2380",
            ),
            **given,
            **({"address": f"10.5.5.{host[-1]}"} if "view" in given and host in wrong else {}),
        }
        for host in ("n1", "n2", "n3")
    ]
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters(hosts)
    assert str(error.value) == (
        f"cluster etcd: its first start has not been seen to succeed, and its data has only the former peer URLs: {former}. If no client has ever written "
        "to this cluster, stop etcd on n1, n2, n3, remove /var/lib/etcd/data/member and /var/lib/etcd-wal/wal there, and run this again. Otherwise set "
        "etcd_address, etcd_peer_address, etcd_peer_port and etcd_tls_enabled back, run site.yml, and change them afterwards"
    )


def test_a_first_start_with_the_addresses_of_the_inventory_goes_on():
    hosts = [forming(host, configured_peer_url=f"https://10.0.0.{host[-1]}:2380") for host in ("n1", "n2")]
    assert topology.form_clusters([*hosts, forming("n3", has_data=False)])["etcd"]["state"] == "new"
    # Its members answer that they have formed: they move, although the mark is still there.
    hosts = [forming(host, view("n1", "n2", "n3")) for host in ("n1", "n3")]
    assert moves(*hosts, forming("n2", view("n1", "n2", "n3"), address="10.9.9.2")) == ["n2"]


def test_a_name_that_was_changed_after_the_first_start():
    hosts = [forming("n1", view(ok=False)), forming("n2"), forming("n3", name="n4")]
    with pytest.raises(topology.TopologyError, match="n3 has data, but the cluster has no member n4"):
        topology.form_clusters(hosts)


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
