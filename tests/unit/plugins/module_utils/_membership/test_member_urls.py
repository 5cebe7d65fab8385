# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.member_urls import member_urls


def urls(address, **other):
    """Return the URLs of a member without TLS: for clients, for members, and those on which it listens for both."""
    given = {"address": address, "client_port": 1, "peer_port": 2, "tls": False, **other}
    found = member_urls(given)
    return [
        found[name].replace("http://", "")
        for name in ("client_url", "peer_url", "listen_client_urls", "listen_peer_urls")
    ]


@pytest.mark.parametrize(
    ("address", "other", "expected"),
    [
        ("10.0.0.1", {}, ["10.0.0.1:1", "10.0.0.1:2", "10.0.0.1:1,127.0.0.1:1", "10.0.0.1:2"]),
        ("127.0.0.1", {}, ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:1", "127.0.0.1:2"]),
        ("fd00::1", {}, ["[fd00::1]:1", "[fd00::1]:2", "[fd00::1]:1,127.0.0.1:1", "[fd00::1]:2"]),
        ("n1.example.net", {}, ["n1.example.net:1", "n1.example.net:2", "0.0.0.0:1", "0.0.0.0:2"]),
        ("n1.example.net", {"only_ipv6": True}, ["n1.example.net:1", "n1.example.net:2", "[::]:1", "[::]:2"]),
        # The members have a network of their own.
        (
            "10.0.0.1",
            {"peer_address": "10.1.0.1"},
            ["10.0.0.1:1", "10.1.0.1:2", "10.0.0.1:1,127.0.0.1:1", "10.1.0.1:2"],
        ),
        ("n1.example.net", {"peer_address": "10.1.0.1"}, ["n1.example.net:1", "10.1.0.1:2", "0.0.0.0:1", "10.1.0.1:2"]),
        # Behind NAT.
        (
            "203.0.113.1",
            {"listen_addresses": ["10.0.0.1"]},
            ["203.0.113.1:1", "203.0.113.1:2", "10.0.0.1:1,127.0.0.1:1", "10.0.0.1:2"],
        ),
        (
            "203.0.113.1",
            {"listen_addresses": ["0.0.0.0"]},
            ["203.0.113.1:1", "203.0.113.1:2", "0.0.0.0:1", "0.0.0.0:2"],
        ),
        # IPv4 and IPv6.
        (
            "n1.example.net",
            {"listen_addresses": ["10.0.0.1", "fd00::1"]},
            ["n1.example.net:1", "n1.example.net:2", "10.0.0.1:1,[fd00::1]:1,127.0.0.1:1", "10.0.0.1:2,[fd00::1]:2"],
        ),
    ],
)
def test_urls(address, other, expected):
    assert urls(address, **other) == expected


def test_the_scheme_is_that_of_tls():
    secure = member_urls({"address": "10.0.0.1", "client_port": 1, "peer_port": 2, "tls": True})
    assert {url.partition(":")[0] for value in secure.values() for url in value.split(",")} == {"https"}
