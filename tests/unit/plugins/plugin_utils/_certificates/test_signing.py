# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CA signs which certificate, and what must be signed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import signing

from tests.unit.plugins.plugin_utils._certificates.hosts import PKI, authority, certificate, facts, inspection, trust

MISSING = "it does not exist"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({}, {"ca": [], "peer_ca": []}),
        (
            {
                "ca": trust("k1", problems=["it expires on 2026-07-01, in 20 days"]),
                "certificates": {"server": certificate("a", "b"), "peer": certificate("c"), "client": certificate()},
            },
            {"ca": ["CA: it expires on 2026-07-01, in 20 days", "server: a, b"], "peer_ca": ["peer: c"]},
        ),
        # One CA for all.
        ({"peer_ca": None, "certificates": {"peer": certificate("c")}}, {"ca": ["peer: c"]}),
        # Only the mode of its key is wrong.
        (
            {"certificates": {"server": {**certificate("its private key has 0600"), "fits": True}}},
            {"ca": [], "peer_ca": []},
        ),
        (
            {"readable": False, "certificates": {"server": certificate("unread"), "client": certificate(MISSING)}},
            {"ca": [f"client: {MISSING}"], "peer_ca": []},
        ),
    ],
)
def test_reasons_to_sign(found: dict[str, Any], expected: dict[str, list[str]]) -> None:
    assert signing.reasons_to_sign(facts(found=inspection(**found))) == expected


def test_keys_that_sign() -> None:
    own = facts(peer_ca=authority("peer-ca", "p1", can_sign=False))
    assert signing.issuing_keys(own, "ca") == {"k1"} and signing.issuing_keys(own, "peer_ca") == set()
    signed = {"server": certificate(signed_by="k2"), "client": certificate(signed_by=None), "peer": certificate()}
    # The keys on the controller are not read: they may be of another CA.
    provided = facts(provided=True, provided_found=inspection(certificates=signed), ca={}, peer_ca={})
    assert signing.issuing_keys(provided, "ca") == {"k2"} and signing.issuing_keys(provided, "peer_ca") == {"k1"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"ca": authority("ca", "k1", "k2")}, True),
        ({"ca": authority("ca", "k2")}, True),
        ({"peer_ca": authority("peer-ca", "p2")}, True),
        # Another of the trusted CAs signs now.
        ({"found": inspection(ca=trust("k1", "k2")), "ca": authority("ca", "k2", "k1")}, True),
        ({"found": inspection(ca=trust("k1", "k2")), "ca": authority("ca", "k2", "k1", can_sign=False)}, False),
        # A host without certificates; those of CAs on the controller need not be read.
        ({"found": inspection(ca=trust(), peer_ca=None), "ca": {}, "peer_ca": {}}, False),
        ({"found": inspection(certificates={"server": certificate(MISSING, signed_by=None)})}, False),
    ],
)
def test_runs_that_change_a_ca(changes: dict[str, Any], expected: bool) -> None:
    assert signing.changes_authorities(facts(**changes)) is expected


def test_unsigned_requests() -> None:
    staged: Any = {"server": certificate(MISSING), "peer": certificate(), "client": certificate("a", "b")}
    signers = {"server": f"{PKI}/ca.crt", "peer": f"{PKI}/peer-ca.crt", "client": f"{PKI}/ca.crt"}
    paths = (f"{PKI}/requests/n1-", f"{PKI}/certificates/n1-")
    assert signing.unsigned_requests(["server", "peer", "client"], staged, signers, *paths) == [
        "/srv/pki/requests/n1-server.csr for /srv/pki/ca.crt, expected as /srv/pki/certificates/n1-server.crt (it does not exist)",
        "/srv/pki/requests/n1-client.csr for /srv/pki/ca.crt, expected as /srv/pki/certificates/n1-client.crt (a, b)",
    ]
    assert signing.unsigned_requests(["peer"], staged, signers, *paths) == []
