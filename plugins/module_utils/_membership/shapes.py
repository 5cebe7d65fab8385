# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the hosts of the inventory that have or get a member.

An entry of a cluster's own list of members has the fields of ``_etcd.cluster.Member``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class _RequiredOfHost(TypedDict):
    """The keys that each host has."""

    host: str  # the inventory's name of the host
    cluster: str
    name: str  # etcd's name of the member
    address: str
    client_port: int
    peer_port: int
    tls: bool
    has_data: bool  # whether the data dir or the WAL dir contains a member
    forming: bool  # whether no run has seen the first start of the cluster succeed


class Host(_RequiredOfHost, total=False):
    """A host of this run. Role etcd composes it: etcd_member in tasks/describe.yml."""

    peer_address: str  # the address that the other members use, if it is not ``address``
    # IP addresses, a list or text with commas; empty for the advertised address and loopback
    listen_addresses: Sequence[str] | str
    host_addresses: Sequence[str]  # the addresses of the host, empty if they are unknown
    only_ipv6: bool  # whether the host has no IPv4 address
    listening: Sequence[str]  # the addresses with ports on which other processes listen
    release: str  # to which the run changes the member; empty if the play chooses it later, or if its checks are switched off
    data_optional: bool  # whether the play also goes on if a member has lost its data, or has not finished its join
    deployed: bool  # whether the host has the unit of a member that a run has seen serve, and no volume that may hold its data
    # the commands that mount volumes of the host that are not mounted and may hold a member's data
    unmounted: Sequence[str]
    new_devices: Sequence[str]  # devices of the host that become volumes in this run
    view: Mapping[str, Any]  # the cluster as the member on the host described it, as ``Cluster.as_dict`` returns it
    configured_peer_url: str  # the peer URL in the config file on the host
    data_dirs: Sequence[str]  # the folders that hold the member's data
    request: Mapping[str, Any]  # of the playbooks that change members, for ``parse_request``; empty for the others
    identity: Mapping[str, str] | None  # the member that wrote the log on the host, as ``read_identity`` found it
    replaced: str  # the SHA-256 of the mark that the last replacement left on the host, empty without one
    comparison: Mapping[str, Any]  # of the members' hashes, from the host that compared them
    integrity_record: Mapping[str, Any]  # the last comparison by the timer of the host


class Urls(TypedDict):
    """The URLs of a member; the last two are lists with commas."""

    client_url: str
    peer_url: str
    listen_client_urls: str
    listen_peer_urls: str


class HostWithUrls(Host, Urls):
    """A host and the URLs of its member."""


class FormedHost(HostWithUrls):
    """A host in the result of ``topology.form_clusters``."""

    moves: bool  # whether the rolling update changes the member's peer URL in the cluster
    recovery: str  # how to go on if a part of its data is lost; empty if it needs none, because it is new or joins
