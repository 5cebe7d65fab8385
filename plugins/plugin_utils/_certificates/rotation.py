# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why a CA cannot be replaced by the playbook rotate_ca, or must not be removed from a host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.facts import AuthorityName, Facts, trusts
from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates.settings import separate_cas

# What the playbook rotate_ca can replace, and the steps at which it can end.
_CHOICES = ("all", "peers", "clients")
_STEPS = ("trust", "issue", "end")

# A new ca.key would then belong to a CA that no peer trusts.
_PEERS_FIRST = (
    "the peers are being moved to a CA of their own, and until they are, ca.key also signs their certificates. Finish the move first: run rotate_ca with"
    " etcd_rotate_ca_of=peers or without etcd_rotate_ca_of"
)


def rotation_problems(facts: Facts, choice: str, until: str) -> list[str]:
    """Explain why the playbook rotate_ca cannot replace CAs: choice and until are its options. Empty if it can."""
    problems = [*_option_problems(facts, choice, until), *_lacking_files(facts)]
    problems += [text] if (text := separate_cas(facts["cluster"], facts["cluster_cas"])) else []
    problems += [_PEERS_FIRST] if choice == "clients" and facts["peers_move"] else []
    if not facts["provided"]:
        problems += [text for name in trusts(facts) if (text := untrusted_problem(facts, name))]
    left = facts["members_without_host"]
    return problems + ([members_without_host_problem(left)] if left else [])


def _option_problems(facts: Facts, choice: str, until: str) -> Iterator[str]:
    if facts["provided"]:
        yield "its certificates are provided (etcd_tls_provided): docs/certificates.md says how to replace their CA"
    if until not in _STEPS:
        yield f"etcd_rotate_ca_until is {until}; it can be trust, issue or end"
    if choice not in _CHOICES:
        yield f"etcd_rotate_ca_of is {choice}; it can be all, peers or clients"


def _lacking_files(facts: Facts) -> Iterator[str]:
    if facts["provided"]:
        return
    if not (facts["ca"]["text"] and facts["ca"]["has_key"]):
        yield f"{facts['directory']} lacks ca.crt or ca.key"
    if facts["peer_ca"]["text"] and not facts["peer_ca"]["has_key"]:
        yield f"{facts['directory']} lacks peer-ca.key"


def untrusted_problem(facts: Facts, name: AuthorityName) -> str:
    """Explain why a CA that this host trusts must not be removed; empty if it may.

    A rotation on this controller keeps the key of the CA that it replaces, and in its last step, X.crt is X-next.crt. The peers move away from the CA
    of the clients.
    """
    trust, authority = trusts(facts)[name], facts[name]
    if facts["new_ca_confirmed"] or trust["replaces"] or authority["retires"]:
        return ""
    known = {*facts["ca"]["keys"], *facts["replaced_keys"], *(authority["keys"] if name == "peer_ca" else [])}
    removed = [key for key in dict.fromkeys(trust["trusted_keys"]) if key not in known]
    if not removed:
        return ""
    return (
        f"it also trusts a CA that is not in {authority['file']} (SHA-256 of its public key: {', '.join(removed)}), and {facts['directory']} has no sign of"
        " a rotation that replaced it. Another controller is replacing the CA, and this one has an older copy. Run the playbook there, or copy its"
        f" directory here. If the copy here is right, confirm it with -e etcd_tls_new_ca={facts['cluster']}"
    )


def members_without_host_problem(members: Sequence[str]) -> str:
    """Explain why a CA must not change while running members are on no host of the run."""
    return (
        f"the cluster has members that are on no host of this run ({', '.join(members)}). They would get no certificates of the new CA, and the others"
        " would no longer trust them. Put their hosts into the inventory and run without --limit, or remove them with scale.yml first"
    )
