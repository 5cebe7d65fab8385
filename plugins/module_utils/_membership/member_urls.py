# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The URLs that a member advertises, and those on which it listens. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership.shapes import Host, Urls

# As URLs contain them.
EVERY_ADDRESS = ("0.0.0.0", "[::]")
# Resolvers accept underscores. Digits and dots alone are a wrong IPv4 address.
_DNS_NAME = re.compile(r"(?![0-9.]+\Z)(?=.{1,254}\Z)(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?")


def host_in_url(address: str) -> str:
    """Return an address as URLs contain it: IPv6 in brackets, anything else unchanged."""
    try:
        return f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
    except ValueError:
        return address


def member_urls(member: Host) -> Urls:
    """Return the URLs that a member advertises, and those on which it listens.

    etcd binds to IP addresses only, so without ``listen_addresses`` a member with a DNS name listens on every IPv4 address, and on a host with
    ``only_ipv6`` on every address ([::] accepts IPv4 too). Source: ``VerifyBootstrap`` and ``checkBindURLs`` in server/embed/config.go, 3.5 to 3.7.
    """
    scheme = "https" if member["tls"] else "http"
    client, peer = member["client_port"], member["peer_port"]
    peer_address = member.get("peer_address") or member["address"]
    clients, peers = _bind_addresses(member, member["address"]), _bind_addresses(member, peer_address)
    if not set(clients) & set(EVERY_ADDRESS):
        clients = [*clients, "127.0.0.1"]
    return {
        "client_url": f"{scheme}://{host_in_url(member['address'])}:{client}",
        "peer_url": f"{scheme}://{host_in_url(peer_address)}:{peer}",
        "listen_client_urls": ",".join(f"{scheme}://{address}:{client}" for address in dict.fromkeys(clients)),
        "listen_peer_urls": ",".join(f"{scheme}://{address}:{peer}" for address in dict.fromkeys(peers)),
    }


def _listen_addresses(member: Mapping[str, Any]) -> list[str]:
    """Return ``listen_addresses`` as a list. Ansible also accepts text with commas for the elements of a list."""
    given = member.get("listen_addresses") or []
    return [address.strip() for address in given.split(",")] if isinstance(given, str) else list(given)


def _bind_addresses(member: Mapping[str, Any], advertised: str) -> list[str]:
    """Return the addresses to listen on, as URLs contain them."""
    given = _listen_addresses(member)
    if given:
        return [host_in_url(address) for address in given]
    if _is_address(advertised):
        return [host_in_url(advertised)]
    return ["[::]" if member.get("only_ipv6") else "0.0.0.0"]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_unspecified(text: str) -> bool:
    return _is_address(text.strip("[]")) and ipaddress.ip_address(text.strip("[]")).is_unspecified


def _is_host(text: str) -> bool:
    """Return whether a URL can contain an address: IP (IPv6 also in brackets) or DNS name."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return _is_address(bare) or _DNS_NAME.fullmatch(text) is not None


def value_problems(members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names, addresses and ports of a cluster's members with which etcd does not start, or nobody reaches it.

    Source: ``NewURLsMap`` in client/pkg/types/urlsmap.go and ``checkDuplicateURL`` in server/config/config.go, 3.5 to 3.7.
    """
    problems = []
    sharing: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for member in members:
        host = member["host"]
        if re.search("[,=]", str(member["name"])):
            problems.append(
                f"{host}: etcd_name is {member['name']}; choose a name without comma and =, which separate the members in etcd's initial-cluster"
            )
        problems += [
            f"{host}: etcd_{kind} is {member[kind]}, which is neither an IP address nor a DNS name; write it without scheme and port"
            for kind in ("address", "peer_address")
            if member.get(kind) and not _is_host(str(member[kind]))
        ]
        problems += [
            f"{host}: etcd_{kind} is {member[kind]}, and other hosts cannot reach a member there; write the address of its host. "
            "etcd_listen_addresses says where etcd listens"
            for kind in ("address", "peer_address")
            if _is_unspecified(str(member.get(kind) or ""))
        ]
        problems += [
            f"{host}: etcd_{kind} is {member[kind]}, and a port is 1 to 65535"
            for kind in ("client_port", "peer_port")
            if not 1 <= member[kind] <= 65535
        ]
        sharing[member["peer_url"]].append(member)
    problems += [
        f"{' and '.join(member['host'] for member in own)} have the same peer URL {url}; give each host an etcd_peer_address or an etcd_peer_port of its own"
        for url, own in sharing.items()
        # Hosts with the same client URL have a problem of their own.
        if len({member["client_url"] for member in own}) > 1
    ]
    return problems


def address_problems(members: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the addresses and ports to listen on that etcd could not bind to. Skips the addresses that a member already uses.

    members: with ``moves``, and with ``host_addresses``: the addresses of the host, empty if they are unknown.
    """
    problems = []
    for member in members:
        shared = set(member["listen_client_urls"].split(",")) & set(member["listen_peer_urls"].split(","))
        problems += [
            f"{member['host']}: etcd cannot listen on {url} for clients and peers; give etcd_client_port and etcd_peer_port different values"
            for url in sorted(shared)
        ]
        names = [address for address in _listen_addresses(member) if not _is_address(address)]
        problems += [
            f"{member['host']}: etcd_listen_addresses has {name}, which is not an IP address; etcd binds to nothing else"
            for name in names
        ]
        own = {ipaddress.ip_address(address) for address in member.get("host_addresses") or []}
        if names or not own or (member["has_data"] and not member["moves"]):
            continue
        wanted = [ipaddress.ip_address(address) for address in _addresses_to_bind(member)]
        foreign = [
            address for address in wanted if not (address.is_unspecified or address.is_loopback or address in own)
        ]
        problems += [
            f"{member['host']}: etcd cannot listen on {address}, which is not an address of the host ({', '.join(sorted(map(str, own)))}). If it is "
            "translated to one of them (NAT) or comes and goes, set etcd_listen_addresses to the host's own"
            for address in dict.fromkeys(foreign)
        ]
    return problems


def port_problems(members: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the addresses to listen on that other processes have.

    members: with ``listening``: the addresses with ports on which processes of the host listen, other than the member's own.
    """
    problems = []
    for member in members:
        taken = [listener.rpartition(":") for listener in member.get("listening") or []]
        for kind in ("client", "peer"):
            for url in member[f"listen_{kind}_urls"].split(","):
                address, _colon, port = url.partition("://")[2].rpartition(":")
                other = next((one for one, _colon, used in taken if used == port and _overlap(address, one)), None)
                if other is not None:
                    problems.append(
                        f"{member['host']}: etcd cannot listen on {url}, because another process listens on {other}:{port}; stop it (ss -ltnp shows it), "
                        f"or give etcd_{kind}_port another value"
                    )
                    break
    return problems


def _overlap(one: str, other: str) -> bool:
    """Return whether two processes cannot listen on the same port of these addresses. [::] accepts IPv4 too."""
    if one == other or "[::]" in (one, other):
        return True
    return "0.0.0.0" in (one, other) and not (one.startswith("[") or other.startswith("["))


def _addresses_to_bind(member: Mapping[str, Any]) -> list[str]:
    """Return the IP addresses of the URLs to listen on."""
    advertised = [member["address"], member.get("peer_address") or member["address"]]
    return _listen_addresses(member) or [address for address in advertised if _is_address(address)]
