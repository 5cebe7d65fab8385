# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster answers, its hosts, and the plan of a change of its members, for the tests of this folder."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import plan as membership_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request

CLUSTER = "cafe"


def url(name):
    return f"https://10.0.0.{name[-1]}:2380"


def client_url(name):
    return f"https://10.0.0.{name[-1]}:2379"


def member(name, *, role="follower", started=True, healthy=True, **other):
    """A member as the cluster answers it; its id is that of its name."""
    return {
        "id": f"id-{name}",
        "name": name if started else "",
        "role": role,
        "healthy": healthy,
        "health_error": "" if healthy else "no answer in time",
        "peer_urls": [url(name)],
        "client_urls": [client_url(name)] if started else [],
        "version": "3.7.3",
        "lag": 0,
        "alarms": [],
        **other,
    }


def learner(name, **other):
    return member(name, role="learner", **other)


def view(*members):
    voters = [one for one in members if one["role"] != "learner"]
    healthy = sum(one["healthy"] for one in voters)
    return {"id": CLUSTER, "members": list(members), "quorum": {"ok": healthy > len(voters) // 2}}


def host(name, *, data=None, cluster=CLUSTER):
    """A host of the inventory; data: the id of the member that wrote its log."""
    identity = {"member_id": data, "cluster_id": cluster} if data else None
    return {
        "host": name,
        "name": name,
        "peer_url": url(name),
        "client_url": client_url(name),
        "has_data": bool(data),
        "identity": identity,
    }


def own(*names):
    return [host(name, data=f"id-{name}") for name in names]


def compared(verdict, *differing, hashes=None, unknown=None):
    hashes = hashes or {name: "bb" if name in differing else "aa" for name in ("n1", "n2", "n3")}
    agreeing = [name for name in hashes if name not in differing] if verdict in ("agree", "differ") else []
    return {
        "verdict": verdict, "revision": 7, "agreeing": agreeing, "differing": list(differing), "hashes": hashes, "unknown": unknown or {}, "corrupt": [],
    }  # fmt: skip


def plan(members, hosts, **request):
    comparison = compared("agree", hashes={"n1": "aa", "n3": "aa"}) if "replace" in request else None
    return membership_plan.plan(view(*members), hosts, Request(**request), "cluster c", comparison)


LEADER = member("n1", role="leader")


THREE = (LEADER, member("n2"), member("n3"))
DEAD = (LEADER, member("n2", healthy=False), member("n3"))
