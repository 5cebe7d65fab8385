# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CA signed a certificate, by its key and its name."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import chains

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, rsa
from cryptography.x509.oid import NameOID

from tests.unit.plugins.module_utils._tls.test_inspection import CA, CA_KEY, KEY, LEAF, NOW, ec_key, make


@pytest.mark.parametrize(
    "signer", [ec_key(), rsa.generate_private_key(65537, 2048), ed25519.Ed25519PrivateKey.generate()]
)
def test_signatures_of_all_kinds_of_keys(signer: Any) -> None:
    authority = make(signer, name="other", authority=True)
    leaf = make(KEY, issuer=(authority, signer))
    assert chains.is_issued_by(leaf, authority)
    assert not chains.is_issued_by(LEAF, authority)
    # The same name, another key: the signature decides.
    assert not chains.is_issued_by(leaf, make(ec_key(), name="other", authority=True))


@pytest.mark.parametrize("algorithm", [hashes.SHA256(), hashes.SHA384(), hashes.SHA512()], ids=lambda it: it.name)
def test_signatures_with_rsassa_pss(algorithm: Any) -> None:
    """As some company CAs sign. etcd (Go) accepts a salt of the length of the hash only."""
    key = rsa.generate_private_key(65537, 2048)
    authority = make(key, name="pss", authority=True)
    builder = x509.CertificateBuilder(authority.subject, LEAF.subject, LEAF.public_key(), 1, NOW, NOW)

    def sign(salt_length: int) -> Any:
        return builder.sign(key, algorithm, rsa_padding=padding.PSS(padding.MGF1(algorithm), salt_length))

    leaf = sign(algorithm.digest_size)
    assert chains.is_issued_by(leaf, authority) and not chains.is_issued_by(sign(20), authority)
    other = make(rsa.generate_private_key(65537, 2048), name="pss", authority=True)
    assert not chains.is_issued_by(leaf, other)


def test_the_encoding_of_an_issuer_matters() -> None:
    """For etcd, a PrintableString is another name than a UTF8String with the same text."""
    name = x509.NameAttribute(NameOID.COMMON_NAME, "ca", x509.name._ASN1Type.PrintableString)
    builder = x509.CertificateBuilder(CA.subject, x509.Name([name]), CA_KEY.public_key(), 1, NOW, NOW)
    assert not chains.is_issued_by(LEAF, builder.sign(CA_KEY, hashes.SHA256()))
    assert chains.is_issued_by(LEAF, CA)
