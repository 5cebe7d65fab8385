# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates in the report."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.deployment import deployment_report


def certificates(days: int, end: str) -> dict[str, Any]:
    """What etcd_tls_info returns, with one certificate that expires and a CA that is valid for long."""
    peer = {"days_left": days, "not_after": f"{end}T06:00:00Z"}
    unknown = {"days_left": None, "not_after": None}
    return {
        "certificates": {"peer": peer, "client": unknown},
        "ca": {"days_left": 3000, "not_after": "2035-02-08T06:00:00Z"},
    }


def report(*found: dict[str, Any]) -> str:
    """Return the report on members with these certificates, as one line."""
    members = [{"host": host, "cluster": "c", "certificates": one} for host, one in zip("abc", found)]
    return " ".join(" ".join(deployment_report(members, 0)).split())


@pytest.mark.parametrize(
    ("days", "end", "said"),
    [
        (-2, "2026-11-20", "! b: the certificate peer expired on 2026-11-20: run site.yml"),
        (13, "2026-12-05", "! b: the certificate peer expires on 2026-12-05, in 13 days: run site.yml, or"),
        (14, "2026-12-06", "note: certificates are valid until 2026-12-06, for 14 days (peer of b expires first)."),
    ],
)
def test_the_certificate_that_expires_first(days: int, end: str, said: str) -> None:
    text = report(certificates(1800, "2031-10-27"), certificates(days, end))
    assert said in text and (" ! " in text) is (days < 14)
    assert ("note: certificates are valid until" in text) is (days >= 0)


@pytest.mark.parametrize(
    ("ca", "said"),
    [
        (
            "2035-02-08",
            "! a: the CA that signed the certificate peer expires on 2026-12-05, in 13 days, and another CA is trusted too",
        ),
        ("2026-12-05", "! a: the certificate CA expires on 2026-12-05, in 13 days"),
    ],
)
def test_a_ca_that_ends_before_what_it_signed(ca: str, said: str) -> None:
    """The end of the only CA is one line; that of one of two CAs asks for the end of the rotation."""
    found = certificates(13, "2026-12-05")
    found["certificates"]["peer"]["ca_ends_first"] = True
    found["ca"] = {"days_left": 13 if ca == "2026-12-05" else 3000, "not_after": f"{ca}T06:00:00Z"}
    text = report(found)
    assert said in text and text.count("2026-12-05, in 13 days") == 1


def test_a_certificate_that_is_not_valid_yet() -> None:
    early = {
        "days_left": 90,
        "not_after": "2027-03-01T06:00:00Z",
        "not_before": "2026-12-01T06:00:00Z",
        "not_yet_valid": True,
    }
    text = report({"certificates": {"server": early}})
    assert "! a: the certificate server is valid from 2026-12-01T06:00:00Z on, later than the clock of the host" in text


def test_nothing_is_said_without_certificates() -> None:
    assert "certificate" not in report({}, {})


def test_one_ca_for_clients_and_peers_is_a_warning_of_the_cluster() -> None:
    shared = {"ca": {"sha256": "77aa01"}, "peer_ca": {}}
    text = report(shared, shared)
    assert text.count("warning: clients and peers share one CA") == 1 and "etcd_rotate_ca_of=peers" in text
    assert "one CA" not in report({**shared, "peer_ca": {"sha256": "1b9a02"}})
    # Before the first deployment there is none.
    assert "one CA" not in report({"ca": {"sha256": None}, "peer_ca": {}})
