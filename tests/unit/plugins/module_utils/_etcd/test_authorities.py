# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CAs that a member trusts: one, several during a rotation, and steps that would part the members."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import authorities, tls
from test_tls import CA, CA_KEY, KEY, LEAF, MONTH, NOW, ec_key, inspect, make, pem

NEW_KEY = ec_key()
NEW = make(NEW_KEY, name="new", authority=True, days=3650)
NEW_LEAF = make(KEY, issuer=(NEW, NEW_KEY), sans=("n1", "10.0.0.11", "::1"))
OLD_AND_NEW = pem(CA) + pem(NEW)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (pem(CA), None),
        (b"", "it contains no certificate"),
        (pem(CA)[:100] + pem(CA)[140:], "it cannot be read"),
        (pem(LEAF), "it is not a CA certificate"),
        (pem(make(ec_key(), authority=True, days=10)), "it expires on 2026-12-01, in 10 days"),
    ],
)
def test_authorities(text: bytes, problem: str | None) -> None:
    problems = authorities.inspect_authority(text, NOW, MONTH).problems
    assert (problems == []) if problem is None else problems[0].startswith(problem)


def test_an_authority_renewed_with_its_key_is_the_same() -> None:
    renewed = make(CA_KEY, name="ca", authority=True, days=9999)
    assert authorities.is_same_authority(pem(CA), pem(renewed))
    assert not authorities.is_same_authority(pem(CA), pem(make(ec_key(), name="ca", authority=True)))
    assert not authorities.is_same_authority(pem(CA), b"")
    assert not authorities.is_same_authority(pem(CA), pem(CA)[:100] + pem(CA)[140:])
    # What it signed before stays valid.
    assert inspect(pem(LEAF), authorities=pem(renewed)).problems == []


def test_the_digest_covers_all_authorities_in_any_order() -> None:
    def digest(text: bytes) -> str | None:
        return authorities.inspect_authority(text, NOW, MONTH).sha256

    assert digest(OLD_AND_NEW) == digest(pem(NEW) + pem(CA)) == digest(OLD_AND_NEW + pem(CA))
    assert len({digest(OLD_AND_NEW), digest(pem(CA)), digest(pem(NEW))}) == 3
    # Members that trust one CA have this digest in their configuration already: it stays, so that they do not restart.
    assert digest(pem(CA)) == tls.hashlib.sha256(tls.to_der(CA)).hexdigest() == digest(pem(CA) + pem(CA))


def test_an_expired_authority_beside_a_valid_one_is_no_problem() -> None:
    expired = make(ec_key(), authority=True, days=-1)
    both = authorities.inspect_authority(pem(expired) + pem(NEW), NOW, MONTH)
    assert both.problems == [] and not both.expired
    alone = authorities.inspect_authority(pem(expired), NOW, MONTH)
    assert alone.problems == ["it expired on 2026-11-20"] and alone.expired


@pytest.mark.parametrize(
    ("certificate", "installed", "wanted", "parted"),
    [
        (LEAF, pem(CA), OLD_AND_NEW, False),
        (LEAF, OLD_AND_NEW, pem(CA), False),
        (LEAF, OLD_AND_NEW, pem(NEW), True),
        (LEAF, pem(CA), pem(NEW), True),
        (NEW_LEAF, OLD_AND_NEW, pem(NEW), False),
        (NEW_LEAF, OLD_AND_NEW, pem(CA), True),
        (NEW_LEAF, pem(CA), pem(CA), False),
        (LEAF, b"", pem(CA), False),
    ],
)
def test_steps_that_part_the_members(certificate: object, installed: bytes, wanted: bytes, parted: bool) -> None:
    assert authorities.is_parted(pem(certificate), installed, wanted) is parted


def test_what_is_not_a_certificate_parts_nothing() -> None:
    broken = pem(CA)[:100] + pem(CA)[140:]
    assert not authorities.is_parted(broken, pem(CA), pem(CA)) and not authorities.is_parted(None, pem(CA), pem(NEW))
    assert authorities.authority_keys(broken) == []


def test_only_one_of_several_authorities_issues() -> None:
    old, new = authorities.authority_keys(OLD_AND_NEW)
    assert inspect(pem(LEAF), authorities=OLD_AND_NEW).problems == []
    assert inspect(pem(LEAF), authorities=OLD_AND_NEW, issuer=old).problems == []
    assert inspect(pem(LEAF), authorities=OLD_AND_NEW, issuer=new).problems == [
        "it is signed by the CA that is being replaced"
    ]
    assert inspect(pem(NEW_LEAF), authorities=OLD_AND_NEW).signed_by == new
