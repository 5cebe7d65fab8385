# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether the maintenance of a host is that of a removed member, where no data shows which member the host had. Pure."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit


def maintains_removed_member(text: str, removed: Collection[str], clusters: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether an installed configuration is that of a removed member, of exactly one of the clusters.

    text: the configuration; without a valid one, the answer is False. removed: names of the removed members. clusters: what each host of the run
    learnt of its cluster after the removal. The addresses tell the cluster, because clusters of two inventories may have the same name.
    """
    try:
        config = json.loads(text)
        member, endpoints = config["member"], set(config["connection"]["endpoints"])
    except (ValueError, TypeError, KeyError):
        return False
    known = [
        cluster
        for cluster in clusters
        if endpoints & {url for one in cluster.get("members") or [] for url in one["client_urls"] if not _is_local(url)}
    ]
    return (
        member in removed
        and len({cluster["id"] for cluster in known}) == 1
        and all(one["name"] != member for cluster in known for one in cluster["members"])
    )


def _is_local(url: str) -> bool:
    """Return whether a URL leads every host to itself."""
    host = urlsplit(url).hostname or "localhost"
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
