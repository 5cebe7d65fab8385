# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on hosts with the CA of a former deployment."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.former import former_problems


def host(name: str = "n1", **changes: Any) -> Any:
    """A stopped host whose CA the controller lost."""
    state = {"runs": False, "lost": True, "replaces": True, "given": "", "confirmed": False, "provided": False}
    files = {
        "files": ["/etc/etcd/tls/ca.crt"],
        "directory": "/pki",
        "ca_file": "/pki/ca.crt",
        "peer_ca_file": "/pki/peer-ca.crt",
    }
    return {"host": name, "cluster": "north", **state, **files, **changes}


BACK = (
    "Put the CAs of this cluster (ca.crt, ca.key, peer-ca.crt, peer-ca.key) back into /pki. If their keys are kept elsewhere, put ca.crt and peer-ca.crt there,"
    " which each host has too, and set etcd_tls_ca_key_offline to true"
)
LOST = "all members get certificates of a new CA, and each application needs the new ca.crt and a new certificate"
RIGHT = "If it is right, because the hosts belonged to another cluster or missed a change of the CA, "
CONFIRM = "with -e etcd_tls_new_ca=north (it is not set)"
NO_TRUST = "Members and clients with different CAs do not trust each other"


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        (
            [host()],
            "n1 trusts the CA of a former deployment (/etc/etcd/tls/ca.crt), but /pki/ca.crt does not exist. "
            f"{NO_TRUST}. {BACK}. If the CA is lost for good, confirm a new CA {CONFIRM}: {LOST}",
        ),
        (
            [host(), host("n2", files=["/etc/etcd/tls/ca.crt", "/x/peer-ca.crt"], runs=True)],
            "n1, n2 trust the CA of a former deployment (/etc/etcd/tls/ca.crt, /x/peer-ca.crt), but /pki/ca.crt does not exist. "
            f"{NO_TRUST}. {BACK}. If the CA is lost for good, stop etcd on all hosts of the cluster, and confirm a new CA {CONFIRM}: {LOST}",
        ),
        (
            [host(lost=False, given="south")],
            "n1 trusts the CA of a former deployment (/etc/etcd/tls/ca.crt), but /pki/ca.crt is another CA. "
            f"{NO_TRUST}. {BACK}. {RIGHT}confirm it with -e etcd_tls_new_ca=north (it is south): these hosts get new certificates",
        ),
        (
            [host(lost=False, replaces=False, provided=True, runs=True)],
            "n1 trusts the CA of a former deployment (/etc/etcd/tls/ca.crt), but /pki/ca.crt is their CA, but /pki/peer-ca.crt is another one. "
            f"{NO_TRUST}. Set etcd_tls_provided.ca and peer_ca to the CAs of this cluster; docs/certificates.md says how to replace a CA without"
            f" downtime. {RIGHT}stop etcd there, and confirm it {CONFIRM}: these hosts get new certificates",
        ),
        (
            [host(confirmed=True, given="north", runs=True)],
            "n1 trusts the CA of a former deployment (/etc/etcd/tls/ca.crt), but /pki/ca.crt does not exist. "
            f"{NO_TRUST}. {BACK}. etcd_tls_new_ca confirms a new CA, but etcd still runs on n1: stop it there first",
        ),
    ],
)
def test_one_cluster(hosts: list[Any], expected: str) -> None:
    assert former_problems(hosts) == [f"Cluster north: {expected}. Nothing was changed."]


def test_each_cluster_has_one_message() -> None:
    found = former_problems([host("s1", cluster="South"), host("n1"), host("s2", cluster="South")])
    assert [text.partition(" the CA")[0] for text in found] == [
        "Cluster north: n1 trusts",
        "Cluster South: s1, s2 trust",
    ]
    assert former_problems([]) == []
