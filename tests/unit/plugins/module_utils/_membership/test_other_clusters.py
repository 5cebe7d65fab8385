# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of one cluster that serve different ones: a recycled host still runs an etcd of its own."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

from tests.unit.plugins.module_utils._membership.members import answered, member, with_request
from tests.unit.plugins.module_utils._membership.plans import compared


def serving(host, cluster, *names, quorum=True, **other):
    """A host with data whose member answers for a cluster with these members."""
    found = {**answered(*(names or [host])), "id": cluster}
    view = {**found, "quorum": {"ok": quorum, "healthy": len(found["members"]) if quorum else 0}}
    return member(host, has_data=True, view=view, identity={"cluster_id": cluster, "member_id": f"id-{host}"}, **other)


def problem(hosts):
    with pytest.raises(topology.TopologyError) as error:
        topology.form_clusters(hosts)
    return str(error.value)


CHOOSE = (
    "Choose one of them. Take the hosts of the others out of the group, or, if nobody needs that data, stop etcd there "
    "(systemctl disable --now etcd), and run this again"
)


@pytest.mark.parametrize("request_", [None, {"version": "3.7.3"}, {"replace": "n2", "version": "3.7.3"}])
def test_hosts_that_serve_different_clusters_are_refused_alone(request_):
    """No other problem, and no advice to move the data of one of them aside."""
    hosts = [serving("n1", "aaaa"), member("n2"), serving("n3", "bbbb")]
    text = problem(with_request(hosts, **request_) if request_ else hosts)
    assert (
        text
        == f"cluster etcd: its hosts serve different clusters (n1 answers for cluster aaaa, n3 answers for cluster bbbb). {CHOOSE}"
    )


def test_the_larger_cluster_is_not_meant_by_itself():
    hosts = [serving(f"n{number}", "bbbb", "n1", "n2", "n3") for number in (1, 2, 3)]
    text = problem(with_request([*hosts, serving("n4", "aaaa"), member("n5")]))
    assert (
        text
        == f"cluster etcd: its hosts serve different clusters (n1 and n2 and n3 answer for cluster bbbb, n4 answers for cluster aaaa). {CHOOSE}"
    )


def replaced(*hosts, name, **request):
    return with_request(list(hosts), replace=name, version="3.7.3", allow_even=True, **request)


@pytest.mark.parametrize("name", ["n1", "n3"])
def test_a_host_that_serves_another_cluster_is_replaced_only_if_confirmed(name):
    """The hosts that are not named decide which cluster is meant, whatever their order."""
    hosts = [serving("n1", "aaaa"), serving("n3", "bbbb")]
    other, this = ("aaaa", "bbbb") if name == "n1" else ("bbbb", "aaaa")
    text = problem(replaced(*hosts, name=name))
    assert f"{name} runs a member of another cluster ({other}; this one is {this}), which serves and" in text
    assert "confirm its replacement with -e etcd_replace_healthy=true" in text


def test_a_takeover_that_is_confirmed_acts_through_a_host_of_the_cluster():
    hashes = {name: compared("agree", hashes={name: "aa"}) for name in ("n1", "n3")}
    hosts = [serving("n3", "bbbb", comparison=hashes["n3"]), serving("n1", "aaaa", comparison=hashes["n1"])]
    found = topology.form_clusters(replaced(*hosts, name="n1", replace_healthy=True))["etcd"]
    assert found["membership"]["cluster_id"] == "bbbb" and found["first_host"] == "n3"
    assert found["membership"]["joins"]["n1"].items() >= {"remove": "", "aside": True}.items()
    assert not {"view", "comparison"} & set(found["members"]["n1"])


def test_a_host_whose_other_cluster_has_no_quorum_is_replaced_without_a_confirmation():
    hosts = [
        serving("n1", "aaaa", comparison=compared("agree", hashes={"n1": "aa"})),
        serving("n3", "bbbb", quorum=False),
    ]
    found = topology.form_clusters(replaced(*hosts, name="n3"))["etcd"]
    assert found["membership"]["cluster_id"] == "aaaa" and list(found["membership"]["joins"]) == ["n3"]


def test_a_member_of_another_cluster_without_quorum_is_not_sent_to_a_replacement():
    """Its cluster may serve again."""
    hosts = [serving("n1", "aaaa"), member("n2"), serving("n3", "bbbb", quorum=False)]
    text = problem(with_request(hosts))
    assert (
        "n3 holds data of another cluster (bbbb; this one is aaaa); its member runs there. Take the host out of" in text
    )
    assert "etcd_replace" not in text
