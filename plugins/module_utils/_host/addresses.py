# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the addresses and the full name of a host. Private to the collection. Nothing here writes."""

from __future__ import annotations

import ipaddress
import re
import socket

_LOCAL = re.compile(r"^\s*/32 host LOCAL\b")
_LEAF = re.compile(r"^\s*\|-- (\d+\.\d+\.\d+\.\d+)$")


def parse_fib_trie(text: str) -> list[str]:
    """Return the host's own IPv4 addresses in /proc/net/fib_trie, without loopback."""
    found, leaf = set(), ""
    for line in text.splitlines():
        match = _LEAF.match(line)
        if match:
            leaf = match.group(1)
        elif _LOCAL.match(line) and not ipaddress.ip_address(leaf).is_loopback:
            found.add(leaf)
    return sorted(found, key=lambda address: int(ipaddress.ip_address(address)))


# Flags of an address that a member must not have. Source: include/uapi/linux/if_addr.h.
UNFIT_IPV6 = 0x01 | 0x08 | 0x20 | 0x40  # temporary, duplicate address detected, deprecated, tentative


def parse_if_inet6(text: str) -> list[str]:
    """Return the host's own IPv6 addresses in /proc/net/if_inet6, without loopback and link-local ones."""
    addresses = {ipaddress.IPv6Address(bytes.fromhex(line.split()[0])) for line in text.splitlines() if line.strip()}
    return [str(address) for address in sorted(addresses) if not (address.is_loopback or address.is_link_local)]


def route_source(family: int, target: str) -> str | None:
    """Return the source address that the host would use for a target. Connecting a UDP socket sends no packet."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 53))
            return str(probe.getsockname()[0])
    except OSError:
        return None


def lasting_ipv6(source: str | None, text: str) -> str | None:
    """Return a permanent address for the host's source address, because a privacy address is replaced after a day.

    text: /proc/net/if_inet6. From the same interface the address of the same network is taken if there is one. None if all
    addresses there are temporary, deprecated or not usable yet.
    """
    entries = [line.split() for line in text.splitlines() if line.strip()]
    own = next(
        (
            entry
            for entry in entries
            if source and ipaddress.IPv6Address(bytes.fromhex(entry[0])) == ipaddress.IPv6Address(source)
        ),
        None,
    )
    if own is None or not int(own[4], 16) & UNFIT_IPV6:
        return source
    network = int(own[0], 16) >> (128 - int(own[2], 16))
    fit = [
        entry for entry in entries if entry[3] == own[3] and entry[5] == own[5] and not int(entry[4], 16) & UNFIT_IPV6
    ]
    fit.sort(key=lambda entry: (int(entry[0], 16) >> (128 - int(own[2], 16)) != network, entry[0]))
    return str(ipaddress.IPv6Address(bytes.fromhex(fit[0][0]))) if fit else None


def full_name(hostname: str) -> str:
    """Return the host's fully qualified name from its resolver, or else the name itself."""
    if "." in hostname:
        return hostname
    try:
        name = socket.getaddrinfo(hostname, None, flags=socket.AI_CANONNAME)[0][3]
    except OSError:
        return hostname
    return name if name.startswith(hostname + ".") else hostname
