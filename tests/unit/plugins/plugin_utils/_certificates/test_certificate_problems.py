# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why certificates of a host can be neither kept nor issued."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import problems

from tests.unit.plugins.plugin_utils._certificates.hosts import (
    LATER,
    authority,
    certificate,
    facts,
    inspection,
    trust,
)

SET_CLOCK = "Set the clock that is wrong (timedatectl shows whether it is synchronized)"
RENEWS = inspection(certificates={"server": certificate("it does not exist"), "client": certificate("a", "b")})
EXPIRES = {"problems": ["it expires on 2026-07-01, in 20 days"]}
BACK = "Headroom creates no new CA, because the members would not trust each other. Put the key of this CA back as /srv/pki/ca.key"
APART = "During the rolling update, members would not trust each other. {}"
PUT_BACK = APART.format(
    "Put the certificates and keys of the CAs of this cluster back into /srv/pki; the playbook rotate_ca replaces a CA"
)
THREE_RUNS = APART.format(
    "Replace a CA in three runs of site.yml: with the old and the new CA in one file (etcd_tls_provided.ca or peer_ca), then with certificates of the new CA,"
    " then with only the new CA; docs/certificates.md says how to leave a CA that Headroom made"
)
LOST = "the installed certificate of server is not signed by a CA that would be trusted"
NEW = "the new certificates are signed by a CA that this host does not trust yet"
# The file on the controller is another one than on the host.
DIFFERS = trust("k1", installed=False)
ALIEN = inspection(ca=trust("k1", "k2", installed=False))


def found_problems(**changes: Any) -> list[str]:
    """Return the problems without their common end."""
    found = problems.certificate_problems(facts(**changes))
    assert all(problem.endswith(". Nothing was changed.") for problem in found)
    return [problem.removesuffix(". Nothing was changed.") for problem in found]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"signs": True}, []),
        ({"signed_from": "2026-06-10T12:00:01Z"}, []),
        (
            {"signs": True, "signed_from": "2026-06-10T12:00:01Z", "controller_clock": "2026-06-11T12:00:01Z"},
            [
                "n1: the clock of the host says 2026-06-10T12:00:00Z, but the clock of the controller says 2026-06-11T12:00:01Z, and certificates that"
                f" Headroom signs are valid from one day earlier. {SET_CLOCK}"
            ],
        ),
        (
            {
                "provided": True,
                "provided_found": inspection(
                    ca=trust("k1", not_before=LATER),
                    peer_ca=trust("p1", not_before=None),
                    certificates={"server": certificate(not_before=LATER), "peer": certificate()},
                ),
            },
            [
                "n1: the clock of the host says 2026-06-10T12:00:00Z, but these certificates of etcd_tls_provided are valid from later on: ca"
                f" (2026-06-20T00:00:00Z), server (2026-06-20T00:00:00Z). {SET_CLOCK}, or provide certificates that are valid"
            ],
        ),
        ({"provided": True, "provided_found": inspection(peer_ca=None)}, []),
    ],
)
def test_clocks(changes: dict[str, Any], expected: list[str]) -> None:
    assert found_problems(**changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"key_offline": True, "ca": authority("ca", "k1", text="")},
            [
                "etcd_tls_ca_key_offline is true, but /srv/pki/ca.crt does not exist. Put the certificate of the CA there, and the certificate of the peers'"
                " CA as peer-ca.crt; without etcd_tls_ca_key_offline, Headroom creates both CAs"
            ],
        ),
        (
            # Nothing else is reported: the role could not judge it.
            {"gets_peer_ca": False, "found": RENEWS, "ca": authority("ca", "k1", has_key=False)},
            [
                "n1 trusts peers by a separate CA (/etc/etcd/tls/peer-ca.crt), but /srv/pki/peer-ca.crt does not exist. Put it and its key, peer-ca.key, back"
            ],
        ),
        (
            {"gets_peer_ca": False, "provided": True, "provided_found": inspection()},
            [
                "n1 trusts peers by a separate CA (/etc/etcd/tls/peer-ca.crt), but etcd_tls_provided has no peer_ca. Set it, even if it is the same file as ca"
            ],
        ),
        ({"gets_peer_ca": False, "found": inspection(peer_ca=None)}, []),
    ],
)
def test_missing_cas(changes: dict[str, Any], expected: list[str]) -> None:
    assert found_problems(**changes) == expected


SIGNS = "but the CA /srv/pki/ca.crt must sign (server: it does not exist; client: a, b). " + BACK


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ca": authority("ca", "k1", has_key=False)}, []),
        (
            {"ca": authority("ca", "k1", has_key=False), "found": RENEWS},
            [f"n1: /srv/pki/ca.key does not exist, {SIGNS}"],
        ),
        ({"ca": authority("ca", "k1", has_key=False, text=""), "found": RENEWS}, []),
        ({"ca": authority("ca", "k1", has_key=False), "found": RENEWS, "key_offline": True}, []),
        (
            {
                "ca": authority("ca", "k1", has_key=False),
                "found": inspection(ca=trust("k1", **EXPIRES)),
                "key_offline": True,
            },
            [
                "n1: the CA /srv/pki/ca.crt must be renewed (it expires on 2026-07-01, in 20 days), and its key is offline. Renew the certificate where the"
                " key is, with the same key and subject, and replace /srv/pki/ca.crt by it; docs/certificates.md has the command"
            ],
        ),
        (
            {"ca": authority("ca", "k1", issuing_key="k9"), "found": RENEWS},
            [f"n1: /srv/pki/ca.key belongs to another certificate, {SIGNS}"],
        ),
        ({"ca": authority("ca", "k1", issuing_key="k9"), "found": {**RENEWS, "ca": trust("k1", sha256=None)}}, []),
        (
            {
                "ca": {**authority("ca", "k1", has_key=False)},
                "found": RENEWS,
                "provided": True,
                "provided_found": inspection(),
            },
            [],
        ),
    ],
)
def test_keys_that_cannot_sign(changes: dict[str, Any], expected: list[str]) -> None:
    assert found_problems(**changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"found": inspection(ca=DIFFERS)}, []),
        ({"found": inspection(ca={**DIFFERS, "parts": ["server"]})}, [f"n1: {LOST}. {PUT_BACK}"]),
        (
            {"found": inspection(ca={**DIFFERS, "parts": ["server"]}), "ca": authority("ca", "k2", "k1")},
            [f"n1: {LOST}; {NEW}. {PUT_BACK}"],
        ),
        (
            {
                "provided": True,
                "found": inspection(ca=DIFFERS),
                "provided_found": inspection(certificates={"server": certificate(signed_by="k2")}),
            },
            [f"n1: {NEW}. {THREE_RUNS}"],
        ),
        # A CA of another cluster is refused elsewhere; and without the library, nothing is known.
        ({"found": inspection(ca={**DIFFERS, "parts": ["server"], "replaces": True})}, []),
        ({"found": inspection(ca={**DIFFERS, "parts": ["server"]}, readable=False)}, []),
        ({"found": inspection(ca={**DIFFERS, "parts": ["server"]}), "member_runs": False}, []),
        ({"found": inspection(ca=trust("k1", parts=["server"]))}, []),
    ],
)
def test_members_that_would_lose_trust(changes: dict[str, Any], expected: list[str]) -> None:
    assert found_problems(**changes) == expected


def test_a_ca_that_another_controller_replaces() -> None:
    (problem,) = found_problems(found=ALIEN)
    assert problem.startswith("n1: it also trusts a CA that is not in /srv/pki/ca.crt (SHA-256 of its public key: k2)")
    assert found_problems(found=ALIEN, key_offline=True) == []
    assert found_problems(found=ALIEN, provided=True, provided_found=inspection()) == []
    assert found_problems(found=inspection(ca=trust("k1", "k2"))) == []


def test_several_certificates_that_end() -> None:
    several = {"ca": authority("ca", "k1", has_several=True), "found": inspection(ca=trust("k1", **EXPIRES))}
    assert found_problems(**several) == [
        "/srv/pki/ca.crt has several certificates, and none is valid for long enough (it expires on 2026-07-01, in 20 days). Leave the one that signed the"
        " members' certificates there"
    ]
    assert found_problems(**{**several, "ca": authority("ca", "k1")}) == []
    assert found_problems(**several, provided=True, provided_found=inspection()) == []


def test_members_that_a_new_ca_leaves_behind() -> None:
    changes = {"ca": authority("ca", "k1", "k2"), "members_without_host": ["etcd-3"]}
    (problem,) = found_problems(**changes)
    assert problem.startswith("n1: the cluster has members that are on no host of this run (etcd-3). They would get")
    assert found_problems(**changes, checks_members=False) == []
    assert found_problems(members_without_host=["etcd-3"]) == []
