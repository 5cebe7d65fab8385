# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why CAs cannot be replaced, and when a CA must not be removed from a host."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import rotation

from tests.unit.plugins.plugin_utils._certificates.hosts import authority, facts, inspection, trust

USES = {"directory": "", "clients": ["1"], "peers": ["1"]}
UNTRUSTED = (
    "it also trusts a CA that is not in /srv/pki/{}.crt (SHA-256 of its public key: {}), and /srv/pki has no sign of a rotation that replaced it. Another"
    " controller is replacing the CA, and this one has an older copy. Run the playbook there, or copy its directory here. If the copy here is right, confirm"
    " it with -e etcd_tls_new_ca=north"
)
WITHOUT_HOST = (
    "the cluster has members that are on no host of this run (etcd-3, etcd-4). They would get no certificates of the new CA, and the others would no longer"
    " trust them. Put their hosts into the inventory and run without --limit, or remove them with scale.yml first"
)
TWO = {"ca": trust("k1", "k2", "k3")}


@pytest.mark.parametrize(
    ("changes", "options", "expected"),
    [
        ({}, ("all", "end"), []),
        ({}, ("clients", "trust"), []),
        ({}, ("peers", "issue"), []),
        (
            {"provided": True, "ca": {}, "peer_ca": {}},
            ("all", "end"),
            ["its certificates are provided (etcd_tls_provided): docs/certificates.md says how to replace their CA"],
        ),
        ({}, ("all", "stop"), ["etcd_rotate_ca_until is stop; it can be trust, issue or end"]),
        ({}, ("servers", "end"), ["etcd_rotate_ca_of is servers; it can be all, peers or clients"]),
        ({"ca": authority("ca", "k1", text="")}, ("all", "end"), ["/srv/pki lacks ca.crt or ca.key"]),
        ({"ca": authority("ca", "k1", has_key=False)}, ("all", "end"), ["/srv/pki lacks ca.crt or ca.key"]),
        ({"peer_ca": authority("peer-ca", "p1", has_key=False)}, ("all", "end"), ["/srv/pki lacks peer-ca.key"]),
        ({"peer_ca": authority("peer-ca", "p1", has_key=False, text="")}, ("all", "end"), []),
        (
            {"cluster_cas": {"n1": {**USES, "source": "a"}, "n2": {**USES, "source": "b", "clients": []}}},
            ("all", "end"),
            [
                "cluster north would have several CAs, and its members would not trust each other: a (n1); b (n2). By default, etcd_tls_ca_dir is in the"
                " folder of the inventory that has the host. Set the same CA for all hosts of the cluster"
            ],
        ),
        (
            {"peers_move": True},
            ("clients", "end"),
            [
                "the peers are being moved to a CA of their own, and until they are, ca.key also signs their certificates. Finish the move first: run"
                " rotate_ca with etcd_rotate_ca_of=peers or without etcd_rotate_ca_of"
            ],
        ),
        ({"peers_move": True}, ("all", "end"), []),
        ({"found": inspection(**TWO)}, ("all", "end"), [UNTRUSTED.format("ca", "k2, k3")]),
        ({"members_without_host": ["etcd-3", "etcd-4"]}, ("all", "end"), [WITHOUT_HOST]),
    ],
)
def test_problems(changes: dict[str, Any], options: tuple[str, str], expected: list[str]) -> None:
    assert rotation.rotation_problems(facts(**changes), *options) == expected


@pytest.mark.parametrize(
    ("found", "changes", "expected"),
    [
        (TWO, {"replaced_keys": ["k2", "k3"]}, ""),
        (TWO, {"replaced_keys": ["k2"]}, UNTRUSTED.format("ca", "k3")),
        (TWO, {"ca": authority("ca", "k3", "k2", "k1")}, ""),
        (TWO, {"new_ca_confirmed": True}, ""),
        (TWO, {"ca": authority("ca", "k1", retires=True)}, ""),
        ({"ca": trust("k2", replaces=True)}, {}, ""),
        # Peers move away from the CA of the clients, but not the other way round.
        ({"peer_ca": trust("p1", "k1")}, {}, ""),
        ({"peer_ca": trust("p1", "p2")}, {}, UNTRUSTED.format("peer-ca", "p2")),
        ({"ca": trust("k1", "p1")}, {}, UNTRUSTED.format("ca", "p1")),
    ],
)
def test_cas_that_must_stay_on_a_host(found: dict[str, Any], changes: dict[str, Any], expected: str) -> None:
    known = facts(found=inspection(**found), **changes)
    assert rotation.untrusted_problem(known, "peer_ca" if "peer_ca" in found else "ca") == expected
