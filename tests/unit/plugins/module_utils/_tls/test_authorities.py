# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CAs that a member trusts: one, several during a rotation, and steps that would break the trust between members."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import authorities, inspection

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)
MONTH = timedelta(days=30)


def ec_key() -> Any:
    """A key as the role makes it."""
    return ec.generate_private_key(ec.SECP256R1())


def pem(certificate: Any) -> bytes:
    """A certificate in PEM form."""
    return bytes(certificate.public_bytes(serialization.Encoding.PEM))


def make(key: Any, name: str = "ca", issuer: tuple[Any, Any] | None = None, days: int = 3650) -> Any:
    """A certificate: a CA's, or one that a pair of certificate and key issues."""
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = x509.CertificateBuilder(issuer[0].subject if issuer else subject, subject, key.public_key(), 1)
    builder = builder.not_valid_before(NOW - MONTH).not_valid_after(NOW + timedelta(days=days))
    builder = builder.add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256())


CA_KEY, NEW_KEY, KEY = ec_key(), ec_key(), ec_key()
CA, NEW = make(CA_KEY), make(NEW_KEY, "new")
LEAF, NEW_LEAF = make(KEY, "n1", (CA, CA_KEY)), make(KEY, "n1", (NEW, NEW_KEY))
OLD_AND_NEW = pem(CA) + pem(NEW)


def test_authorities_that_are_not_valid_yet() -> None:
    """One valid CA is enough, as during a rotation."""
    before = NOW - MONTH - timedelta(minutes=1)
    finding, trust = authorities.inspect_trust(authorities.Trust(pem(CA), pem(CA)), {}, before, MONTH)
    assert finding.problems == ["it is not valid before 2026-10-22 00:00 UTC, and the clock says 2026-10-21 23:59 UTC"]
    assert trust["not_yet_valid"] and not trust["expired"]
    assert not authorities.inspect_trust(authorities.Trust(pem(CA), pem(CA)), {}, NOW - MONTH, MONTH)[1][
        "not_yet_valid"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (pem(CA), None),
        (b"", "it contains no certificate"),
        (pem(CA)[:100] + pem(CA)[140:], "it cannot be read"),
        (pem(LEAF), "it is not a CA certificate"),
        (pem(make(ec_key(), days=10)), "it expires on 2026-12-01, in 10 days"),
        (pem(make(ec.generate_private_key(ec.SECP224R1()))), None),
        # etcd does not start with it, also if it trusts another one.
        (
            pem(CA) + pem(make(ec.generate_private_key(ec.BrainpoolP256R1()))),
            "etcd cannot use its key (curve brainpoolP256r1)",
        ),
    ],
)
def test_authorities(text: bytes, problem: str | None) -> None:
    problems = authorities.inspect_authority(text, NOW, MONTH).problems
    assert (problems == []) if problem is None else problems[0].startswith(problem)


def test_an_authority_renewed_with_its_key_is_the_same() -> None:
    renewed = make(CA_KEY, days=9999)
    assert authorities.is_same_authority(pem(CA), pem(renewed))
    assert not authorities.is_same_authority(pem(CA), pem(make(ec_key())))
    assert not authorities.is_same_authority(pem(CA), b"")
    assert not authorities.is_same_authority(pem(CA), pem(CA)[:100] + pem(CA)[140:])
    # What it signed before stays valid.
    assert inspect(renewed).problems == []


def test_the_digest_covers_all_authorities_in_any_order() -> None:
    def digest(text: bytes) -> str | None:
        return authorities.inspect_authority(text, NOW, MONTH).sha256

    assert digest(OLD_AND_NEW) == digest(pem(NEW) + pem(CA)) == digest(OLD_AND_NEW + pem(CA))
    assert len({digest(OLD_AND_NEW), digest(pem(CA)), digest(pem(NEW))}) == 3
    # Members that trust one CA have this digest in their configuration already: it stays, so that they do not restart.
    assert digest(pem(CA)) == hashlib.sha256(inspection.to_der(CA)).hexdigest() == digest(pem(CA) + pem(CA))


def test_an_expired_authority_beside_a_valid_one_is_no_problem() -> None:
    expired = make(ec_key(), days=-1)
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
    assert authorities.loses_authority(pem(certificate), installed, wanted) is parted


def test_what_is_not_a_certificate_parts_nothing() -> None:
    broken = pem(CA)[:100] + pem(CA)[140:]
    assert not authorities.loses_authority(broken, pem(CA), pem(CA)) and not authorities.loses_authority(
        None, pem(CA), pem(NEW)
    )
    assert authorities.authority_keys(broken) == []


def inspect(*trusted: Any, leaf: Any = LEAF, issuer: str | None = None) -> inspection.CertificateFinding:
    """The finding on a certificate, with these CAs."""
    key = KEY.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return inspection.inspect_certificate(
        pem(leaf),
        key,
        b"".join(map(pem, trusted)),
        inspection.Expected(names=[], usages=[], exact_names=False, issuer=issuer),
        now=NOW,
        renew_before=MONTH,
    )


def test_only_one_of_several_authorities_issues() -> None:
    old, new = authorities.authority_keys(OLD_AND_NEW)
    assert inspect(CA, NEW).problems == []
    assert inspect(CA, NEW, issuer=old).problems == []
    assert inspect(CA, NEW, issuer=new).problems == ["it is signed by the CA that is being replaced"]
    assert inspect(CA, NEW, leaf=NEW_LEAF).signed_by == new
