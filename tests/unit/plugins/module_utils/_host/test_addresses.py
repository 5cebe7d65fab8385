# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses of a host, from what Linux shows."""

from __future__ import annotations

import ipaddress

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import addresses

FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.0.0/24 2 0 2
        |-- 10.0.0.0
           /24 link UNICAST
        |-- 10.0.0.11
           /32 host LOCAL
        |-- 10.0.0.255
           /32 link BROADCAST
     +-- 127.0.0.0/8 2 0 2
           |-- 127.0.0.1
              /32 host LOCAL
     |-- 9.9.9.9
        /32 host LOCAL
Local:
        |-- 10.0.0.11
           /32 host LOCAL
"""


def test_own_ipv4_addresses_once_each_without_loopback() -> None:
    assert addresses.parse_fib_trie(FIB_TRIE) == ["9.9.9.9", "10.0.0.11"]


def test_own_ipv6_addresses_without_loopback_and_link_local() -> None:
    text = (
        "00000000000000000000000000000001 01 80 10 80       lo\n"
        "fe80000000000000000000000000abcd 02 40 20 80     eth0\n"
        "20010db8000000000000000000000011 02 40 00 80     eth0\n"
    )
    assert addresses.parse_if_inet6(text) == ["2001:db8::11"]


STABLE, PRIVATE, OTHER = "2001:db8::11", "2001:db8::aaaa:bbbb", "2001:db8:1::11"


def inet6(*entries: tuple[str, int, str]) -> str:
    """The lines of /proc/net/if_inet6 for addresses, their flags and interfaces."""
    lines = [
        f"{ipaddress.IPv6Address(address).packed.hex()} 02 40 00 {flags:02x} {name:>8}\n"
        for address, flags, name in entries
    ]
    return "fe80000000000000000000000000abcd 02 40 20 80     eth0\n" + "".join(lines)


@pytest.mark.parametrize(
    ("source", "entries", "address"),
    [
        (None, [], None),
        (STABLE, [(STABLE, 0x80, "eth0")], STABLE),
        (PRIVATE, [(PRIVATE, 0x01, "eth0"), (OTHER, 0x80, "eth0"), (STABLE, 0x00, "eth0")], STABLE),
        (PRIVATE, [(PRIVATE, 0x01, "eth0"), (OTHER, 0x80, "eth0"), (STABLE, 0x20, "eth0")], OTHER),
        (PRIVATE, [(PRIVATE, 0x21, "eth0"), (STABLE, 0x40, "eth0"), (OTHER, 0x80, "eth1")], None),
        ("fd00::5", [(STABLE, 0x80, "eth0")], "fd00::5"),
    ],
)
def test_an_ipv6_address_that_lasts(
    source: str | None, entries: list[tuple[str, int, str]], address: str | None
) -> None:
    assert addresses.lasting_ipv6(source, inet6(*entries)) == address
