# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the members of a run for the update order and for the report, from the variables of their hosts. Pure.

Facts of role etcd: ``etcd_member`` and ``etcd_clusters`` describe the host and all clusters, ``_etcd_differences`` says whether the member changes,
``_etcd_observed`` is a second answer of the cluster, and ``etcd_host_facts.etcd`` the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.host_variables import value_of

Variables = Mapping[str, Any]


def update_candidate(variables: Variables) -> dict[str, Any]:
    """Return a member in the form that ``topology.update_order`` takes."""
    host, member = variables["inventory_hostname"], variables["etcd_member"]
    cluster = variables["etcd_clusters"][member["cluster"]]
    answer = _answer(variables, "quorum").get("cluster") or {}
    status: Mapping[str, Any] = next(
        (one for one in answer.get("members") or [] if one.get("name") == member["name"]), {}
    )
    joining = list((cluster.get("membership") or {}).get("joins") or {})
    return {
        "host": host,
        "cluster": member["cluster"],
        "state": cluster["state"],
        "changes": variables["_etcd_differences"]["changes"],
        "down": variables["etcd_host_facts"]["unit"]["active_state"] != "active",
        "healthy": status.get("healthy", False),
        "leads": status.get("role") == "leader",
        "quorum": (answer.get("quorum") or {}).get("ok", False),
        "later": host in value_of(variables, "etcd_restore_start_later", []),
        "joins": joining.index(host) + 1 if host in joining else 0,
    }


def report_member(variables: Variables) -> dict[str, Any]:
    """Return a member in the form that module etcd_report takes."""
    facts, member = variables["etcd_host_facts"], variables["etcd_member"]
    messages = [value_of(variables, name, {}) for name in ("etcd_storage_plan", "etcd_maintenance_messages")]
    return {
        "host": variables["inventory_hostname"],
        "cluster": member["cluster"],
        "name": member["name"],
        "info": _answer(variables, "members"),
        "plan": variables["etcd_plan"],
        "fio": value_of(variables, "etcd_storage_latencies", {}),
        "live": facts.get("disk_live") or {},
        "maintenance": messages[1].get("records", {}),
        "certificates": facts.get("certificates") or {},
        **{kind: [text for found in messages for text in found.get(kind) or []] for kind in ("warnings", "notes")},
    }


def _answer(variables: Variables, wanted: str) -> Mapping[str, Any]:
    """Return the first answer of the cluster if it has what is wanted, or else the second one, if there is one.

    wanted: ``quorum``, or ``members`` that answered.
    """
    own: Mapping[str, Any] = variables["etcd_host_facts"].get("etcd") or {}
    if own and (own["cluster"]["quorum"]["ok"] if wanted == "quorum" else own["cluster"]["members"]):
        return own
    observed: Mapping[str, Any] = value_of(variables, "_etcd_observed", own)
    return observed
