# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide which CA signs which certificate of a host, and what must be signed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.facts import (
    AuthorityName,
    Certificate,
    Facts,
    trusts,
)


def _signer(facts: Facts, certificate: str) -> AuthorityName:
    """Return the CA that signs a certificate."""
    return "peer_ca" if certificate == "peer" and "peer_ca" in trusts(facts) else "ca"


def _signed_by(facts: Facts, name: AuthorityName, certificates: Mapping[str, Certificate]) -> list[str]:
    """Return the digests of the keys that signed those of the certificates that a CA must sign."""
    found = [one["signed_by"] for kind, one in certificates.items() if _signer(facts, kind) == name]
    return [digest for digest in found if digest]


def issuing_keys(facts: Facts, name: AuthorityName) -> set[str]:
    """Return the digests of the keys that sign the certificates to install; none if the CA cannot sign."""
    if facts["provided"]:
        return set(_signed_by(facts, name, facts["provided_found"]["certificates"]))
    return {facts[name]["issuing_key"]} if facts[name]["can_sign"] else set()


def reasons_to_sign(facts: Facts) -> dict[AuthorityName, list[str]]:
    """Return why each CA must sign a certificate, or must be renewed itself."""
    found = facts["found"]
    return {
        name: [f"CA: {problem}" for problem in trust["problems"]]
        + [
            f"{kind}: {', '.join(certificate['problems'])}"
            for kind, certificate in found["certificates"].items()
            if _signer(facts, kind) == name and _needs_signature(certificate, found["readable"])
        ]
        for name, trust in trusts(facts).items()
    }


def _needs_signature(certificate: Certificate, readable: bool) -> bool:
    """Return whether a certificate must be signed. Without the library that reads certificates, only one that does not exist is known to need it."""
    return not certificate["fits"] and (readable or certificate["problems"] == ["it does not exist"])


def changes_authorities(facts: Facts) -> bool:
    """Return whether this run would change the trusted keys of this host, or the issuer of a certificate. A host without certificates has none."""
    return any(trust["trusted_keys"] and _changes(facts, name) for name, trust in trusts(facts).items())


def _changes(facts: Facts, name: AuthorityName) -> bool:
    if set(trusts(facts)[name]["trusted_keys"]) != set(facts[name]["keys"]):
        return True
    issuers = issuing_keys(facts, name)
    return bool(issuers and set(_signed_by(facts, name, facts["found"]["certificates"])) - issuers)


def unsigned_requests(
    kinds: Iterable[str], staged: Mapping[str, Certificate], authorities: Mapping[str, str], requests: str, signed: str
) -> list[str]:
    """Return the requests that have no valid certificate yet, in words.

    staged: the certificates of the staged set. authorities: the file of the CA for each kind. requests, signed: how the paths of requests and signed
    certificates begin.
    """
    return [
        f"{requests}{kind}.csr for {authorities[kind]}, expected as {signed}{kind}.crt ({', '.join(staged[kind]['problems'])})"
        for kind in kinds
        if not staged[kind]["fits"]
    ]
