# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why certificates of a host can be neither kept nor issued."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.clocks import host_clock_problem
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.facts import AuthorityName, Facts, trusts
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.rotation import (
    members_without_host_problem,
    untrusted_problem,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.signing import (
    changes_authorities,
    issuing_keys,
    reasons_to_sign,
)


def certificate_problems(facts: Facts) -> list[str]:
    """Explain why certificates can be neither kept nor issued; empty if they can."""
    return [f"{problem}. Nothing was changed." for problem in _problems(facts)]


def _problems(facts: Facts) -> Iterator[str]:
    host = facts["host"]
    if clock := host_clock_problem(facts):
        yield clock
    if facts["key_offline"] and not facts["provided"] and not facts["ca"]["text"]:
        yield (
            f"etcd_tls_ca_key_offline is true, but {facts['ca']['file']} does not exist. Put the certificate of the CA there, and the certificate of the"
            " peers' CA as peer-ca.crt; without etcd_tls_ca_key_offline, Headroom creates both CAs"
        )
    if "peer_ca" in trusts(facts) and not facts["gets_peer_ca"]:
        yield f"{host} trusts peers by a separate CA ({facts['tls_dir']}/peer-ca.crt), but {_missing_peer_ca(facts)}"
        return
    for name in trusts(facts):
        if problem := _authority_problem(facts, name):
            yield f"{host}: {problem}"
        if expired := _expired_authorities(facts, name):
            yield expired
    left = facts["members_without_host"]
    if left and facts["checks_members"] and changes_authorities(facts):
        yield f"{host}: {members_without_host_problem(left)}"


def _missing_peer_ca(facts: Facts) -> str:
    if facts["provided"]:
        return "etcd_tls_provided has no peer_ca. Set it, even if it is the same file as ca"
    return f"{facts['peer_ca']['file']} does not exist. Put it and its key, peer-ca.key, back"


def _authority_problem(facts: Facts, name: AuthorityName) -> str:
    """Return the first problem with a CA.

    Only a running member whose CA changes loses trust, and the keys to compare take a while to read. Without the library that reads certificates,
    nothing is known of the trust; request_certificates.yml repeats the check with it.
    """
    trust, authority = trusts(facts)[name], facts[name]
    if facts["found"]["readable"] and facts["member_runs"] and not trust["installed"] and not trust["replaces"]:
        lost = _lost_trust(facts, name)
        if lost:
            return f"{'; '.join(lost)}. During the rolling update, members would not trust each other. {_three_steps(facts)}"
    if trust["trusted_keys"] and not trust["installed"] and not facts["provided"] and not facts["key_offline"]:
        untrusted = untrusted_problem(facts, name)
        if untrusted:
            return untrusted
    if facts["key_offline"] and trust["problems"] and authority["text"] and not authority["has_key"]:
        return (
            f"the CA {authority['file']} must be renewed ({'; '.join(trust['problems'])}), and its key is offline. Renew the certificate where the key is, with"
            f" the same key and subject, and replace {authority['file']} by it; docs/certificates.md has the command"
        )
    reasons = reasons_to_sign(facts)[name]
    key_problem = _key_problem(facts, name) if reasons else ""
    if not key_problem:
        return ""
    # A CA without its key is never replaced by a new one.
    return (
        f"{key_problem}, but the CA {authority['file']} must sign ({'; '.join(reasons)}). Headroom creates no new CA, because the members would not trust"
        f" each other. Put the key of this CA back as {authority['key_file']}"
    )


def _lost_trust(facts: Facts, name: AuthorityName) -> list[str]:
    """Return which certificates other members would not accept while the members restart one at a time."""
    trust = trusts(facts)[name]
    lost = [
        f"the installed certificate of {kind} is not signed by a CA that would be trusted" for kind in trust["parts"]
    ]
    if issuing_keys(facts, name).difference(trust["trusted_keys"]):
        lost.append("the new certificates are signed by a CA that this host does not trust yet")
    return lost


def _three_steps(facts: Facts) -> str:
    """Return how to replace a CA, so that members trust each other in each step: trust both CAs, issue new certificates, trust the new CA."""
    if facts["provided"]:
        return (
            "Replace a CA in three runs of site.yml: with the old and the new CA in one file (etcd_tls_provided.ca or peer_ca), then with certificates of"
            " the new CA, then with only the new CA; docs/certificates.md says how to leave a CA that Headroom made"
        )
    return f"Put the certificates and keys of the CAs of this cluster back into {facts['directory']}; the playbook rotate_ca replaces a CA"


def _key_problem(facts: Facts, name: AuthorityName) -> str:
    """Explain why the key of a CA that must sign cannot."""
    trust, authority = trusts(facts)[name], facts[name]
    if facts["provided"] or not authority["text"]:
        return ""
    if not authority["has_key"]:
        return "" if facts["key_offline"] else f"{authority['key_file']} does not exist"
    if not trust["sha256"] or authority["issuing_key"] in authority["keys"]:
        return ""
    return f"{authority['key_file']} belongs to another certificate"


def _expired_authorities(facts: Facts, name: AuthorityName) -> str:
    """Explain that Headroom cannot choose which of several certificates to renew."""
    trust, authority = trusts(facts)[name], facts[name]
    if facts["provided"] or not trust["problems"] or not authority["has_several"]:
        return ""
    return (
        f"{authority['file']} has several certificates, and none is valid for long enough ({'; '.join(trust['problems'])}). Leave the one that signed the"
        " members' certificates there"
    )
