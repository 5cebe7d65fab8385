# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow a certificate to the CA that it leads to, as etcd (Go) does. Pure, like `inspection`, and with the same library."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._tls.verification import path_problems

with contextlib.suppress(ImportError):
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

# Of a chain, leaf to root; longer ones are not built for etcd.
MAX_CHAIN = 5

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_RSASSA_PSS = "1.2.840.113549.1.1.10"


def parse_certificates(text: bytes) -> list[Any]:
    """Return the certificates of a PEM file in order. Raises ValueError if one or its key cannot be parsed."""
    found = [x509.load_pem_x509_certificate(block + b"\n") for block in _PEM.findall(text)]
    for certificate in found:
        try:
            certificate.public_key()
        except UnsupportedAlgorithm as problem:
            raise ValueError(str(problem)) from problem
    return found


def not_after(certificate: Any) -> datetime:
    """Return when a certificate expires. cryptography 42 renamed the attribute and added a time zone."""
    if hasattr(certificate, "not_valid_after_utc"):
        value: datetime = certificate.not_valid_after_utc
        return value
    return certificate.not_valid_after.replace(tzinfo=timezone.utc)  # type: ignore[no-any-return]


def not_before(certificate: Any) -> datetime:
    """Return when the validity of a certificate begins, like `not_after`."""
    if hasattr(certificate, "not_valid_before_utc"):
        value: datetime = certificate.not_valid_before_utc
        return value
    return certificate.not_valid_before.replace(tzinfo=timezone.utc)  # type: ignore[no-any-return]


def to_der(certificate: Any) -> bytes:
    """Return a certificate in DER form."""
    return bytes(certificate.public_bytes(serialization.Encoding.DER))


def is_issued_by(certificate: Any, issuer: Any) -> bool:
    """Return whether the issuer's key signed the certificate."""
    # As etcd (Go) compares them, with the encoding of each part; x509.Name ignores it.
    if certificate.issuer.public_bytes() != issuer.subject.public_bytes():
        return False
    content = certificate.tbs_certificate_bytes
    try:
        key = issuer.public_key()
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(certificate.signature, content, ec.ECDSA(certificate.signature_hash_algorithm))
        elif isinstance(key, rsa.RSAPublicKey):
            if certificate.signature_algorithm_oid.dotted_string == _RSASSA_PSS:
                return _is_signed_with_pss(key, certificate)
            key.verify(certificate.signature, content, padding.PKCS1v15(), certificate.signature_hash_algorithm)
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(certificate.signature, content)
        else:
            return False
    except (InvalidSignature, TypeError, UnsupportedAlgorithm):
        # TypeError: the signature's algorithm does not match the issuer's key.
        return False
    return True


def _is_signed_with_pss(key: Any, certificate: Any) -> bool:
    """Return whether an RSA key signed a certificate with one of the three forms of RSASSA-PSS that etcd (Go) accepts.

    Only cryptography 41 and newer can read the parameters.
    """
    for algorithm in (hashes.SHA256(), hashes.SHA384(), hashes.SHA512()):
        scheme = padding.PSS(mgf=padding.MGF1(algorithm), salt_length=algorithm.digest_size)
        with contextlib.suppress(InvalidSignature):
            key.verify(certificate.signature, certificate.tbs_certificate_bytes, scheme, algorithm)
            return True
    return False


def path_to_authority(chain: Sequence[Any], authorities: Sequence[Any], usages: Sequence[str] = ()) -> list[Any]:
    """Return the certificates from a chain's first one, the leaf, to an authority that it leads to; empty without one.

    Any path is accepted whose CAs allow the leaf and the usages. Of several certificates of an intermediate or of the authority, the one that is valid
    longest counts.
    """
    paths = _continue_path([chain[0]], chain[1:], authorities)
    return min(paths, key=lambda path: bool(path_problems(path, usages)), default=[])


def _continue_path(path: list[Any], intermediates: Sequence[Any], authorities: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield all paths, those that are preferred first."""
    for authority in _issuers(path[-1], authorities):
        yield [*path, authority]
    if len(path) < MAX_CHAIN:
        for other in _issuers(path[-1], [item for item in intermediates if item not in path]):
            yield from _continue_path([*path, other], intermediates, authorities)


def _issuers(certificate: Any, candidates: Sequence[Any]) -> list[Any]:
    return sorted((item for item in candidates if is_issued_by(certificate, item)), key=not_after, reverse=True)


def signer(chain: Sequence[Any], authorities: Sequence[Any]) -> Any | None:
    """Return the authority that a chain leads to; None without one."""
    path = path_to_authority(chain, authorities)
    return path[-1] if path else None
