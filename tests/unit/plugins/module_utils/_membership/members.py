# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of the inventory, and what a cluster answers, for the tests of this folder."""

from __future__ import annotations


def member(host, **other):
    number = host[-1]
    return {
        "host": host,
        "cluster": "etcd",
        "name": host,
        "address": f"10.0.0.{number}",
        "client_port": 2379,
        "peer_port": 2380,
        "tls": True,
        "has_data": False,
        "forming": False,
        **other,
    }


def view(*started, all_of=("n1", "n2", "n3"), ok=True):
    """What a member answers: all members by name, and the client URLs of those that have joined."""
    return {
        "quorum": {"ok": ok, "healthy": len(started) if ok else 0},
        "members": [
            {
                "id": f"id-{name}",
                "name": name,
                "peer_urls": [f"https://10.0.0.{name[-1]}:2380"],
                "client_urls": [f"https://10.0.0.{name[-1]}:2379"] if name in started else [],
            }
            for name in all_of
        ],
    }


NO_QUORUM = view("n1", "n2", "n3", ok=False)


NONE_ANSWERS = {"quorum": {"ok": False, "healthy": 0}, "members": []}


def forming(host, answered=None, has_data=True, **other):
    return member(host, has_data=has_data, forming=True, view=answered or {}, **other)


def deployed(host, address=None, **other):
    """A member with data whose cluster answers with the addresses of its deployment."""
    answer = other.pop("view", view("n1", "n2", "n3"))
    return member(host, has_data=True, view=answer, **({"address": address} if address else {}), **other)


REPLACE = "ansible-playbook etcdops.headroom.replace -e etcd_replace="


def with_request(hosts, **request):
    return [{**one, "request": request or {"version": "3.7.3"}} for one in hosts]


def answered(*names):
    """What a member answers, in full."""
    members = [
        {
            **one,
            "role": "leader" if one["name"] == names[0] else "follower",
            "healthy": True,
            "health_error": "",
            "lag": 0,
        }
        for one in view(*names, all_of=names)["members"]
    ]
    members = [{**one, "version": "3.7.3", "alarms": []} for one in members]
    return {"id": "cafe", "quorum": {"ok": True, "healthy": len(names)}, "members": members}
