# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge keys, and the CAs above a certificate, as etcd (Go) does: their extensions, but neither signatures nor validity. Pure, like `inspection`.

Follows `isValid`, `CheckSignatureFrom`, `checkChainForKeyUsage` and `checkChainConstraints` of Go's crypto/x509.
"""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Sequence
from typing import Any

with contextlib.suppress(ImportError):
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

# NIST's curves, as cryptography names them. TLS 1.3 has no signatures with P-224, so only the key of a CA may use it.
_CURVES = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"}
_CA_CURVES = {"secp224r1": "P-224", **_CURVES}
# Go's limit.
_MINIMAL_RSA_BITS = 1024
# Extended key usages by the names of the modules' options.
_USAGES = {"server": "1.3.6.1.5.5.7.3.1", "client": "1.3.6.1.5.5.7.3.2"}
_ANY_USAGE = "2.5.29.37.0"


def common_name(certificate: Any) -> str | None:
    """Return the common name. The last one counts, as for etcd (Go)."""
    found = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(found[-1].value) if found else None


def subject_name(certificate: Any) -> str:
    """Return the name of a certificate for messages."""
    return common_name(certificate) or str(certificate.subject.rfc4514_string())


def subject_names(certificate: Any) -> list[str]:
    """Return the DNS names and addresses that a certificate is valid for."""
    value = _extension(certificate, x509.SubjectAlternativeName)
    if value is None:
        return []
    return [name.lower() for name in value.get_values_for_type(x509.DNSName)] + [
        str(address) for address in value.get_values_for_type(x509.IPAddress)
    ]


def is_authority(certificate: Any) -> bool:
    """Return whether a certificate is that of a CA."""
    value = _extension(certificate, x509.BasicConstraints)
    return bool(value and value.ca)


def missing_usages(certificate: Any, usages: Sequence[str]) -> list[str]:
    """Return those of the usages (server, client) that the extended key usage of a certificate rules out."""
    value = _extension(certificate, x509.ExtendedKeyUsage)
    if value is None:
        return []
    allowed = {usage.dotted_string for usage in value}
    return [] if _ANY_USAGE in allowed else [usage for usage in usages if _USAGES[usage] not in allowed]


def unusable_key(certificate: Any, *, of_ca: bool) -> str | None:
    """Return why etcd cannot use the key of a certificate; None if it can. It does not start with a CA whose curve it does not know."""
    key = certificate.public_key()
    curves = _CA_CURVES if of_ca else _CURVES
    if isinstance(key, ec.EllipticCurvePublicKey):
        found = None if key.curve.name in curves else f"curve {_CA_CURVES.get(key.curve.name, key.curve.name)}"
    elif isinstance(key, rsa.RSAPublicKey):
        found = None if key.key_size >= _MINIMAL_RSA_BITS else f"RSA with {key.key_size} bits"
    else:
        found = None if isinstance(key, ed25519.Ed25519PublicKey) else _algorithm(key)
    if found is None:
        return None
    return f"etcd cannot use its key ({found}): use Ed25519, RSA with at least {_MINIMAL_RSA_BITS} bits, or a curve of {', '.join(curves.values())}"


def _algorithm(key: Any) -> str:
    """Return the algorithm of a key from the name of its class, such as DSAPublicKey; old versions of cryptography have a backend's _DSAPublicKey."""
    return type(key).__name__.strip("_").replace("PublicKey", "")


def path_problems(path: Sequence[Any], usages: Sequence[str]) -> list[str]:
    """Return why a certificate, the first one of a path, is not accepted because of the CAs above it; its subject is the certificate."""
    names = subject_names(path[0])
    problems = []
    for below, item in enumerate(path[1:]):
        is_last = below == len(path) - 2
        label = f"its {'' if is_last else 'intermediate '}CA, {subject_name(item)}"
        # Whether the last one is a CA, `authorities` judges.
        if not is_last and not is_authority(item):
            problems.append(f"{label}: it is not a CA certificate (basicConstraints lacks CA:TRUE)")
        problems += [f"{label}: {problem}" for problem in _authority_problems(item, below, names, usages)]
    return problems


def _authority_problems(authority: Any, below: int, names: Sequence[str], usages: Sequence[str]) -> list[str]:
    """Return why a CA may not stand above a certificate with these names and usages, and this number of intermediate CAs below it."""
    problems = []
    key_usage = _extension(authority, x509.KeyUsage)
    if key_usage is not None and not key_usage.key_cert_sign:
        problems.append("it may not sign certificates (its key usage lacks keyCertSign)")
    basic = _extension(authority, x509.BasicConstraints)
    if basic and basic.path_length is not None and below > basic.path_length:
        problems.append(f"its path length allows {basic.path_length} intermediate CAs below it, and there are {below}")
    missing = missing_usages(authority, usages)
    if missing:
        problems.append(f"it may not sign for {' and '.join(missing)} authentication (its extended key usage)")
    forbidden = [name for name in names if not _may_sign_for(authority, name)]
    if forbidden:
        problems.append(f"it may not sign for {', '.join(forbidden)} (its name constraints)")
    return problems


def _may_sign_for(authority: Any, name: str) -> bool:
    """Return whether the name constraints of a CA allow a DNS name or an address; each kind is judged by the constraints of that kind."""
    value = _extension(authority, x509.NameConstraints)
    if value is None:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        permitted, excluded = _subtrees(value, x509.DNSName)
        # A wildcard is excluded if a name that it matches is.
        if any(_is_below(name, limit) or _matches_wildcard(name, limit) for limit in excluded):
            return False
        return not permitted or any(_is_below(name, limit) for limit in permitted)
    permitted, excluded = _subtrees(value, x509.IPAddress)
    return not any(address in limit for limit in excluded) and (
        not permitted or any(address in limit for limit in permitted)
    )


def _subtrees(constraints: Any, kind: Any) -> tuple[list[Any], list[Any]]:
    """Return the permitted and the excluded values of a kind."""
    found = [
        [item.value for item in subtrees or [] if isinstance(item, kind)]
        for subtrees in (constraints.permitted_subtrees, constraints.excluded_subtrees)
    ]
    return found[0], found[1]


def _is_below(name: str, domain: str) -> bool:
    """Return whether a DNS name is a domain or below it; only below it if the domain begins with a dot."""
    domain = domain.lower()
    return not domain or name == domain or name.endswith(domain if domain.startswith(".") else f".{domain}")


def _matches_wildcard(name: str, other: str) -> bool:
    return name.startswith("*.") and other.lower().partition(".")[2] == name[2:]


def _extension(certificate: Any, kind: Any) -> Any | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None
