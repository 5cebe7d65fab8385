# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe what role etcd_tls knows of a host, its CAs on the controller, and the certificates found.

Ansible computes a value of `Facts` or `Authority` when a function reads it. Some are slow (those of keys), and some are undefined in a run that does
not need them. So read none before it is needed.
"""

from __future__ import annotations

from typing import Literal, TypedDict

# The CA of the clients, which is also the peers' unless they have a separate one, and the separate CA of the peers.
AuthorityName = Literal["ca", "peer_ca"]


class Certificate(TypedDict):
    """A certificate, as module etcd_tls_info describes it. signed_by: the digest of the key."""

    problems: list[str]
    fits: bool
    signed_by: str | None
    not_before: str | None


class Trust(TypedDict):
    """A CA on a host, compared with the one on the controller, as module etcd_tls_info describes it. trusted_keys: digests."""

    problems: list[str]
    sha256: str | None
    not_before: str | None
    installed: bool
    replaces: bool
    parts: list[str]
    trusted_keys: list[str]


class Inspection(TypedDict):
    """The result of module etcd_tls_info."""

    readable: bool
    clock: str
    ca: Trust
    peer_ca: Trust | None
    certificates: dict[str, Certificate]


class Authority(TypedDict):
    """A CA on the controller.

    keys: the digests of the keys of its certificates. has_several: whether there is more than one certificate. issuing_key: the digest of the key that
    signs. has_key: whether the file of that key exists. can_sign: whether it exists here or offline. retires: whether the last step of a rotation has
    removed the previous certificate.
    """

    text: str
    file: str
    key_file: str
    has_key: bool
    can_sign: bool
    has_several: bool
    keys: list[str]
    issuing_key: str
    retires: bool


class ClusterAuthority(TypedDict):
    """The CAs that one host of a cluster uses: their source in words, their directory, and the digests of their certificates."""

    source: str
    directory: str
    clients: list[str]
    peers: list[str]


class Facts(TypedDict):
    """Everything that decides about certificates of a host; roles/etcd_tls/vars/main/facts.yml has the expressions.

    found: what is on the host. provided_found: the provided certificates. ca_files: the texts of the files of CAs, by path. cluster_cas: by host.
    unit_group: the group of a running member. gives_directory: whether etcd_tls_ca_dir is set. gets_peer_ca: whether the controller has, or will
    have, a separate CA for peers. signs: whether the run must sign anything. peers_move: whether the peers move to a CA of their own.
    members_without_host: running members that are on no host of the run. checks_members: whether this role must refuse to leave them behind.
    """

    host: str
    cluster: str
    provided: bool
    gives_directory: bool
    directory: str
    tls_dir: str
    group: str
    unit_group: str
    key_offline: bool
    new_ca_confirmed: bool
    member_runs: bool
    found: Inspection
    provided_found: Inspection
    controller_clock: str
    signed_from: str
    signs: bool
    ca_files: dict[str, str]
    cluster_cas: dict[str, ClusterAuthority]
    gets_peer_ca: bool
    ca: Authority
    peer_ca: Authority
    replaced_keys: list[str]
    peers_move: bool
    members_without_host: list[str]
    checks_members: bool


def trusts(facts: Facts) -> dict[AuthorityName, Trust]:
    """Return the CAs of a host: that of the clients, and that of the peers if they have or will get a separate one."""
    found = facts["found"]
    peers = found.get("peer_ca")
    return {"ca": found["ca"], "peer_ca": peers} if peers else {"ca": found["ca"]}
