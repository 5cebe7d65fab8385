# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a certificate against its key, its CA, its names and its usages.

Pure: bytes and the time are passed in. Needs the Python library cryptography, 3.4 or newer; `IMPORT_ERROR` is None
if it could be imported.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._tls.chains import (
    not_after,
    not_before,
    parse_certificates,
    path_to_authority,
    to_der,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.verification import (
    common_name,
    missing_usages,
    path_problems,
    subject_name,
    subject_names,
    unusable_key,
)

IMPORT_ERROR: str | None = None
try:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
except ImportError:
    IMPORT_ERROR = traceback.format_exc()

_PRIVATE_KEY = re.compile(rb"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----")


@dataclass
class CertificateFinding:
    """What a certificate contains, and every problem with it. Each problem completes "the certificate …: ".

    expired, days_left, not_after: of the certificate or of the CA that signed it, whichever ends first. ca_ends_first: whether it is the CA.
    needs_reverse_lookup: whether etcd accepts it from a member only if the address of the member resolves to a name that a wildcard covers.
    sha256: of the certificate alone. chain_sha256: of all certificates of the file; the same if there is only one.
    """

    problems: list[str] = field(default_factory=list)
    fits: bool = False
    expired: bool = False
    not_yet_valid: bool = False
    days_left: int | None = None
    signed_by: str | None = None
    sha256: str | None = None
    chain_sha256: str | None = None
    not_before: str | None = None
    not_after: str | None = None
    ca_ends_first: bool = False
    common_name: str | None = None
    names: list[str] = field(default_factory=list)
    needs_reverse_lookup: bool = False
    wanted_names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Expected:
    """What is expected of a certificate.

    It must be valid for all ``names``, for none of ``dropped_names`` and, with ``exact_names``, for no others. usages: server, client.
    keep_names: whether a renewed one keeps the names of this one. issuer: the digest of the only key that may have signed it, where several
    authorities are trusted. common_name: None for any.
    """

    names: Sequence[str]
    usages: Sequence[str]
    exact_names: bool
    keep_names: bool = True
    dropped_names: Sequence[str] = ()
    issuer: str | None = None
    common_name: str | None = None


def canonical_name(name: str) -> str:
    """Return a name as certificates contain it: addresses in their shortest form, DNS names in lower case."""
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name.lower()


def _covers(held: Iterable[str], wanted: str) -> bool:
    """Return whether one of the names held matches the wanted one; a wildcard matches one label."""
    return any(name == wanted or (name.startswith("*.") and wanted.partition(".")[2] == name[2:]) for name in held)


def _needs_reverse_lookup(held: Sequence[str]) -> bool:
    """Return whether no name but a wildcard can be that of a remote host.

    etcd compares the address from which another member connects with the addresses of its certificate, with those of its names, and with wildcards only
    by the name that the address resolves to (`checkCertSAN` in client/pkg/transport/listener_tls.go).
    """
    remote = [name for name in held if name != "localhost" and not _is_loopback(name)]
    return bool(remote) and all(name.startswith("*.") for name in remote)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _usage_problems(certificate: Any, usages: Sequence[str]) -> list[str]:
    """Return a problem if the certificate may not be used for one of the usages (server, client)."""
    missing = missing_usages(certificate, usages)
    return [f"it may not be used for {' and '.join(missing)} authentication"] if missing else []


def validity_problems(certificate: Any, now: datetime, renew_before: timedelta) -> list[str]:
    """Return a problem if a certificate is not valid yet, has expired, or will expire before its renewal."""
    start, end = not_before(certificate), not_after(certificate)
    if start > now:
        return [f"it is not valid before {_minute(start)}, and the clock says {_minute(now)}"]
    if end <= now:
        return [f"it expired on {end:%Y-%m-%d}"]
    if end - renew_before <= now:
        return [f"it expires on {end:%Y-%m-%d}, in {(end - now).days} days"]
    return []


def _minute(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M} UTC"


def renewed_names(held: Sequence[str], wanted: Sequence[str], dropped: Sequence[str]) -> list[str]:
    """Return the names of a renewed certificate: the requested names and its current ones, without the dropped ones.

    A name may be missing only temporarily, for example during a DNS outage, so a certificate keeps its names.
    """
    unwanted = {canonical_name(name) for name in dropped}
    kept = [canonical_name(name) for name in wanted]
    kept += [name for name in held if not _covers(kept, name)]
    return [name for name in dict.fromkeys(kept) if name not in unwanted]


def _name_problems(held: Sequence[str], wanted: Sequence[str], dropped: Sequence[str], exact: bool) -> list[str]:
    expected = [canonical_name(name) for name in wanted]
    unwanted = {canonical_name(name) for name in dropped}
    missing = [name for name in expected if name not in unwanted and not _covers(held, name)]
    left = [name for name in held if name in unwanted or (exact and name not in expected)]
    problems = [f"it is not valid for {', '.join(missing)}"] if missing else []
    return problems + ([f"it is valid for {', '.join(left)}, which is no longer requested"] if left else [])


def _public_bytes(key: Any) -> bytes:
    """Return a public key in DER form, which is equal for equal keys."""
    return bytes(key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))


def key_problem(certificate: Any, key: bytes | None) -> str | None:
    """Return why a private key does not belong to a certificate; None if it does."""
    if key is None:
        return "its private key does not exist"
    try:
        private = serialization.load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
        return f"its private key cannot be read: {problem}"
    if _public_bytes(private.public_key()) != _public_bytes(certificate.public_key()):
        return "its private key belongs to another certificate"
    return None


def key_digest(certificate: Any) -> str:
    """Return the SHA-256 of a certificate's public key, which a CA keeps when its certificate is renewed."""
    return hashlib.sha256(_public_bytes(certificate.public_key())).hexdigest()


def format_time(value: datetime) -> str:
    """Return a time as results contain it."""
    return f"{value:%Y-%m-%dT%H:%M:%SZ}"


def inspect_certificate(
    certificate: bytes | None,
    key: bytes | None,
    authorities: bytes,
    expected: Expected,
    *,
    now: datetime,
    renew_before: timedelta,
) -> CertificateFinding:
    """Check a certificate: its key, its chain, its validity, its names and usages, and, if given, its common name.

    certificate, key, authorities: the contents of the files, None for one that does not exist.
    """
    if certificate is None:
        return _unread_finding("it does not exist", expected)
    try:
        chain, trusted = _read(certificate, authorities)
    except ValueError as problem:
        return _unread_finding(str(problem), expected)
    path = path_to_authority(chain, trusted, expected.usages)
    mismatch = key_problem(chain[0], key)
    return _finding(
        chain,
        path,
        expected,
        now,
        [
            *([mismatch] if mismatch else []),
            *_key_problems(chain),
            *_path_problems(chain[0], path, expected, now, renew_before),
            *_leaf_problems(chain[0], expected),
            *_file_problems(certificate),
        ],
    )


def _unread_finding(problem: str, expected: Expected) -> CertificateFinding:
    return CertificateFinding([problem], wanted_names=renewed_names((), expected.names, expected.dropped_names))


def _read(certificate: bytes, authorities: bytes) -> tuple[list[Any], list[Any]]:
    """Return the certificates of the file, at least one, and the trusted CAs. Raises ValueError, with the problem."""
    try:
        chain, trusted = parse_certificates(certificate), parse_certificates(authorities)
    except ValueError as problem:
        raise ValueError(f"it cannot be read: {problem}") from problem
    if not chain:
        raise ValueError("it contains no certificate in PEM form")
    return chain, trusted


def _path_problems(
    leaf: Any, path: Sequence[Any], expected: Expected, now: datetime, renew_before: timedelta
) -> list[str]:
    """Return what is wrong with the signatures up to the CA, the limits of CAs, and the validity of the certificate and of intermediate CAs."""
    problems = []
    if not path:
        problems.append("it is not signed by the CA")
    elif expected.issuer and key_digest(path[-1]) != expected.issuer:
        problems.append("it is signed by the CA that is being replaced")
    problems += path_problems(path, expected.usages) if path else []
    problems += validity_problems(leaf, now, renew_before)
    # Not of the CA: it is trusted whether or not it expires soon, and the CA's own inspection judges that.
    for item in path[1:-1]:
        problems += [
            f"its intermediate CA, {subject_name(item)}: {one}" for one in validity_problems(item, now, renew_before)
        ]
    return problems


def _key_problems(chain: Sequence[Any]) -> list[str]:
    """Return which keys of a file etcd cannot use. It parses also certificates that do not lead to the CA."""
    own = unusable_key(chain[0], of_ca=False)
    others = [(item, unusable_key(item, of_ca=True)) for item in chain[1:]]
    return ([own] if own else []) + [
        f"its intermediate CA, {subject_name(item)}: {problem}" for item, problem in others if problem
    ]


def _leaf_problems(leaf: Any, expected: Expected) -> list[str]:
    """Return what is wrong with the names and the usages of a certificate."""
    problems = _name_problems(subject_names(leaf), expected.names, expected.dropped_names, expected.exact_names)
    problems += _usage_problems(leaf, expected.usages)
    found = common_name(leaf)
    if expected.common_name and found != expected.common_name:
        problems.append(f"its common name is {json.dumps(found or '')}, not {json.dumps(expected.common_name)}")
    return problems


def _file_problems(certificate: bytes) -> list[str]:
    held_keys = _PRIVATE_KEY.findall(certificate)
    if not held_keys:
        return []
    return [
        f"its file also contains a private key ({held_keys[0].decode()}), but other users may read it. Keep the key in a file of its own"
    ]


def _finding(
    chain: Sequence[Any], path: Sequence[Any], expected: Expected, now: datetime, problems: list[str]
) -> CertificateFinding:
    leaf, held = chain[0], subject_names(chain[0])
    # Peers and clients reject a certificate as soon as one of its path has expired.
    end = min(not_after(item) for item in path or [leaf])
    below_authority = path[:-1] or [leaf]
    kept = held if expected.keep_names and not expected.exact_names else ()
    return CertificateFinding(
        problems=problems,
        expired=end <= now,
        not_yet_valid=any(not_before(item) > now for item in below_authority),
        days_left=(end - now).days,
        signed_by=key_digest(path[-1]) if path else None,
        sha256=hashlib.sha256(to_der(leaf)).hexdigest(),
        chain_sha256=hashlib.sha256(b"".join(to_der(item) for item in chain)).hexdigest(),
        not_before=format_time(max(not_before(item) for item in below_authority)),
        not_after=format_time(end),
        ca_ends_first=end < not_after(leaf),
        common_name=common_name(leaf),
        names=held,
        needs_reverse_lookup=_needs_reverse_lookup(held),
        wanted_names=renewed_names(kept, expected.names, expected.dropped_names),
    )


def combined_fingerprint(parts: Sequence[str | None]) -> str | None:
    """Return one SHA-256 over the digests of several certificates, None if one of them is missing."""
    if None in parts:
        return None
    return hashlib.sha256("\n".join(str(part) for part in parts).encode()).hexdigest()
