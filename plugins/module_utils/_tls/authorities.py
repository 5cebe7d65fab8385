# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the certificates of CAs that a member trusts, one or several in a file, and compare two such files. Pure, like `inspection`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._tls.chains import (
    not_after,
    not_before,
    parse_certificates,
    signer,
    to_der,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.inspection import (
    CertificateFinding,
    format_time,
    key_digest,
    validity_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.verification import is_authority, unusable_key


@dataclass(frozen=True)
class Trust:
    """The CA that must sign certificates, and what the host trusts now; PEM texts, empty without one.

    issuer: digest of the only key that may have signed them. is_in_place: whether the host's file has just the text; None compares.
    has_file: whether the host has a file of its own for this CA.
    """

    wanted: bytes
    installed: bytes
    issuer: str | None = None
    is_in_place: bool | None = None
    has_file: bool = True


def inspect_trust(
    trust: Trust, certificates: Mapping[str, bytes | None], now: datetime, renew_before: timedelta
) -> tuple[CertificateFinding, dict[str, Any]]:
    """Check a CA, and the effect of replacing the installed CA by it on the certificates, given by name."""
    wanted, installed = trust.wanted, trust.installed
    finding = inspect_authority(wanted, now, renew_before) if wanted else CertificateFinding(["it does not exist"])
    present = inspect_authority(installed, now, renew_before) if installed else CertificateFinding()
    same = bool(installed) and installed.strip() == wanted.strip()
    return finding, {
        "installed": same if trust.is_in_place is None else trust.is_in_place,
        "differs": not trust.has_file or finding.sha256 != present.sha256,
        "replaces": bool(installed) and not is_same_authority(installed, wanted),
        "expired": present.expired,
        "not_yet_valid": present.not_yet_valid,
        "parts": [name for name, text in certificates.items() if not same and loses_authority(text, installed, wanted)],
        "trusted_keys": authority_keys(installed),
    }


def inspect_authority(text: bytes, now: datetime, renew_before: timedelta) -> CertificateFinding:
    """Check the certificates of trusted CAs: each must be a CA certificate with a key that etcd can use, and at least one valid for long enough."""
    try:
        found = parse_certificates(text)
    except ValueError as problem:
        return CertificateFinding([f"it cannot be read: {problem}"])
    if not found:
        return CertificateFinding(["it contains no certificate in PEM form"])
    digests = sorted({hashlib.sha256(to_der(item)).hexdigest() for item in found})
    validity = [validity_problems(item, now, renew_before) for item in found]
    others = (
        []
        if all(is_authority(item) for item in found)
        else ["it is not a CA certificate (basicConstraints lacks CA:TRUE)"]
    )
    unusable = {problem: None for problem in (unusable_key(item, of_ca=True) for item in found) if problem}
    return CertificateFinding(
        problems=[*others, *unusable] + (validity[0] if all(validity) else []),
        expired=all(not_after(item) <= now for item in found),
        not_yet_valid=all(not_before(item) > now for item in found),
        days_left=max((not_after(item) - now).days for item in found),
        # A single certificate's digest is its own; for several, the order does not matter.
        sha256=digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        not_before=format_time(min(not_before(item) for item in found)),
        not_after=format_time(max(not_after(item) for item in found)),
    )


def is_same_authority(first: bytes, second: bytes) -> bool:
    """Return whether two PEM files share a CA's key: a CA certificate renewed with its key is the same CA."""
    return bool(set(authority_keys(first)) & set(authority_keys(second)))


def authority_keys(text: bytes) -> list[str]:
    """Return the digests of the keys of a PEM file's certificates; none if one of them cannot be parsed."""
    try:
        return [key_digest(item) for item in parse_certificates(text)]
    except ValueError:
        return []


def loses_authority(certificate: bytes | None, installed: bytes, wanted: bytes) -> bool:
    """Return whether one of the installed authorities signed a certificate, but none of the wanted ones did."""
    try:
        chain = parse_certificates(certificate or b"")
        return (
            bool(chain)
            and bool(signer(chain, parse_certificates(installed)))
            and not signer(chain, parse_certificates(wanted))
        )
    except ValueError:
        return False
