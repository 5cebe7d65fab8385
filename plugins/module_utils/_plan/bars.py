# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bars in the picture of a plan: memory with etcd's default flags and with the planned ones.

Private to the collection. Pure: estimates in, numbers and labels out; plugin_utils/_plan/picture.py draws them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import ASSUMED, Report

# The parts of a bar from left to right with their components; components that are not listed belong to etcd itself.
ITSELF = "etcd itself, peers, free list"
GARBAGE = "garbage before it is collected"
OUTSIDE_GO = "hot pages, program, kernel"
STARTUP = "start-up"
_PARTS = {
    "raft log": ("raft log",),
    "index": ("index",),
    "connections, watches, leases": ("connections", "watches", "leases"),
    "requests and answers in flight": ("requests", "write batch", "range answers", "watch events"),
}
PARTS = (*_PARTS, STARTUP, ITSELF, GARBAGE, OUTSIDE_GO)


class Bar(NamedTuple):
    """One moment of a member: bytes of each part, at most and at least."""

    label: str
    high: dict[str, int]
    low: dict[str, int]


class Group(NamedTuple):
    """The bars of one set of flags."""

    label: str
    bars: list[Bar]


def groups(report: Report) -> list[Group]:
    """Return the bars of the default flags and of the plan."""
    return [
        Group("etcd's default flags", moments(report.defaults)),
        Group("this plan", moments(report.plan["estimate"])),
    ]


def moments(figures: dict[str, Any]) -> list[Bar]:
    """Return the bars of one estimate: running, right after a restart, and, with several members, of a leader that sends a snapshot.

    At most: the estimate's peaks, garbage included. At least: what is live, without garbage. If a restart needs no more than a
    running member, its peak is that of the running member, and has the same parts.
    """
    running = _part_sizes(figures, ("heap", "spike"))
    starting = _part_sizes(figures, ("heap", "restart"), without=("raft log", "write batch"))
    others = sum(starting["high"].values()) - starting["high"].get(STARTUP, 0)
    starting["high"]["raft log"] = max(figures["restart_heap_live"] - others, 0)
    steady = _bar("running", running, figures["rss_anon_peak"], figures["outside_go"])
    restart = _bar("after a restart", starting, figures["restart_rss_anon_peak"], figures["outside_go"])
    if figures["restart_rss_anon_peak"] <= figures["rss_anon_peak"]:
        restart = restart._replace(high=steady.high)
    if figures["members"] == 1:
        return [steady, restart]
    sending = {bound: dict(parts) for bound, parts in running.items()}
    sending["high"]["raft log"] += figures["raft_log_growth"]
    peak = figures["follower_snapshot_rss_anon_peak"]
    return [steady, restart, _bar("sending a snapshot", sending, peak, figures["outside_go"])]


def _part_sizes(
    figures: dict[str, Any], kinds: tuple[str, ...], without: tuple[str, ...] = ()
) -> dict[str, dict[str, int]]:
    """Return low and high of each part, summed over its components of these kinds, without those named."""
    belongs = {component: part for part, names in _PARTS.items() for component in names}
    sizes: dict[str, dict[str, int]] = {"low": {}, "high": {}}
    for component in figures["components"]:
        if component["kind"] in kinds and component["name"] not in without:
            part = STARTUP if component["kind"] == "restart" else belongs.get(component["name"], ITSELF)
            for bound in ("low", "high"):
                sizes[bound][part] = sizes[bound].get(part, 0) + component[bound]
    return sizes


def _bar(label: str, sizes: dict[str, dict[str, int]], peak: int, outside_go: int) -> Bar:
    high = {**sizes["high"], GARBAGE: max(peak - sum(sizes["high"].values()), 0), OUTSIDE_GO: outside_go}
    return Bar(label, high, sizes["low"])


def caption(report: Report) -> tuple[str, str]:
    """Return the picture's title and the line below it."""
    figures, found = report.plan["estimate"], report.plan
    work, assumed = figures["workload"], figures["assumed"]
    texts = {
        "value_size": f"values of {format_size(work['value_size'])}",
        "keys": f"{format_count(work['keys'])} keys",
        "puts_per_second": f"{format_count(work['puts_per_second'])} writes a second",
        "clients": f"{format_count(work['clients'])} clients",
        "watchers": f"{format_count(work['watchers'])} watchers",
    }
    stated = [f"{text} ({ASSUMED})" if name in assumed else text for name, text in texts.items()]
    members = found["members"]
    members_text = f"one of {format_count(members)} members" if members > 1 else "a single member"
    return f"Memory of {members_text}, etcd {found['version']}", ", ".join(stated)
