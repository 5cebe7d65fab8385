# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report when certificates expire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import Member, name

# Days: certificates that Headroom makes are renewed before, unless nobody runs site.yml.
EXPIRY_WARNING = 14


def _expiries(member: Member) -> dict[str, Mapping[str, Any]]:
    """Return the certificates whose end is known, the CAs' included."""
    found = member.get("certificates") or {}
    authorities = {"CA": found.get("ca") or {}, "peer CA": found.get("peer_ca") or {}}
    ends = {finding.get("not_after") for finding in authorities.values()}
    known = {
        label: finding
        for label, finding in (found.get("certificates") or {}).items()
        # The end of the CA itself is reported once, and not for each certificate.
        if not (finding.get("ca_ends_first") and finding.get("not_after") in ends)
    }
    return {
        label: finding for label, finding in {**known, **authorities}.items() if finding.get("days_left") is not None
    }


def expiry_problems(member: Member) -> Iterator[str]:
    """Report certificates that are not valid yet, expired or are about to."""
    for label, finding in _expiries(member).items():
        days, end = finding["days_left"], finding["not_after"]
        if finding.get("ca_ends_first") and days < EXPIRY_WARNING:
            ends = f"expired on {end[:10]}" if days < 0 else f"expires on {end[:10]}, in {days} days"
            yield f"the CA that signed the certificate {label} {ends}, and another CA is trusted too: continue with the playbook rotate_ca"
            continue
        if finding.get("not_yet_valid"):
            start = finding["not_before"]
            yield f"the certificate {label} is valid from {start} on, later than the clock of the host: set the clock that is wrong, and run site.yml"
        elif days < 0:
            yield f"the certificate {label} expired on {end[:10]}: run site.yml"
        elif days < EXPIRY_WARNING:
            yield f"the certificate {label} expires on {end[:10]}, in {days} days: run site.yml, or provide another one"


def shared_ca_warning(members: Sequence[Member]) -> list[str]:
    """Return a warning if the CA that signs the clients' certificates is trusted for peers as well."""
    found = [member.get("certificates") or {} for member in members]
    if not any((one.get("ca") or {}).get("sha256") and not one.get("peer_ca") for one in found):
        return []
    return [
        "warning: clients and peers share one CA, so every client certificate also gives access to the peer port. Run the playbook rotate_ca"
        " with -e etcd_rotate_ca_of=peers, or set etcd_tls_provided.peer_ca (docs/certificates.md)."
    ]


def expiry_note(members: Sequence[Member]) -> list[str]:
    """Return a sentence about the certificate that expires first; nothing without certificates, or if it has expired, which is a problem."""
    ends = [
        (finding["not_after"], finding["days_left"], label, name(member))
        for member in members
        for label, finding in _expiries(member).items()
    ]
    end, days, label, host = min(ends, default=("", -1, "", ""))
    if days < 0:
        return []
    return [f"certificates are valid until {end[:10]}, for {days} days ({label} of {host} expires first)."]
