# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain what the inspection of the members' hosts did not find, or found in excess, before an audit. Pure.

Processes are as etcd_process_info returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Process = Mapping[str, Any]


def unread_hosts(inspected: Mapping[str, Mapping[str, Any] | None]) -> dict[str, str]:
    """Return why hosts have no process of etcd. inspected: the result of etcd_process_info by host, None for a host that was not inspected."""
    return {
        host: found.get("msg") or "no process named etcd was found"
        for host, found in inspected.items()
        if found is not None and not found.get("processes")
    }


def endpoint_problem(processes: Sequence[Process]) -> str:
    """Return why the processes advertise no endpoints, as the end of a sentence."""
    if not processes:
        return ", and no etcd process was found on the hosts of inspect"
    named = ", ".join(
        f"{one['name']} on {one['hostname']}{' (' + one['problem'] + ')' if one['problem'] else ''}"
        for one in processes
    )
    return f", and the etcd processes on the hosts of inspect have no advertise-client-urls: {named}"


def other_processes(processes: Sequence[Process], members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the processes that belong to another cluster than the measured members, with their URLs.

    As process_of matches them: by client URL, or by a name that only one of them has.
    """
    urls = {url for member in members for url in member["client_urls"]}
    names = {member["name"] for member in members}
    running = [one["name"] for one in processes]
    return [
        f"{one['name']} on {one['hostname']} ({', '.join(one['client_urls'])})"
        for one in processes
        if one["client_urls"]
        and not urls.intersection(one["client_urls"])
        and (running.count(one["name"]) > 1 or one["name"] not in names)
    ]
