# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compose the report that ends a deployment. Pure: members as ``member.py`` describes them in, lines of text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._storage.live_latency import MIN_SAMPLES
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.certificates import (
    expiry_note,
    shared_ca_warning,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import NONE, Row, table_lines, wrap
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import (
    Member,
    best_view,
    is_deployed,
    largest,
    name,
    planned_peak,
    process,
    size,
    versions,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.problems import cluster_problems
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.tables import flag_rows, member_rows, volume_rows
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.upkeep import backup_note

# Above this many clusters each takes one line, so that problems do not scroll off the screen.
MAX_TABLES = 4

PLANNED_NOTE = "planned peak: heap and stacks (RssAnon); the page cache is extra, and reclaimable"

LIVE_NOTE = (
    "fio p99: fdatasync, measured before etcd started there; live p99: backend commits on the data volume and WAL fsyncs on "
    f"the WAL volume since the member started, shown from {MIN_SAMPLES} samples on"
)


def deployment_report(members: Sequence[Member], now: float) -> list[str]:
    """Report on all clusters, in the order in which they first appear. now: seconds since 1970."""
    clusters: dict[str, list[Member]] = {}
    for member in members:
        clusters.setdefault(str(member.get("cluster") or "etcd"), []).append(member)
    if len(clusters) > MAX_TABLES:
        return summary(clusters, now)
    lines: list[str] = []
    for cluster, cluster_members in clusters.items():
        lines += [*([""] if lines else []), *cluster_report(cluster, cluster_members, now)]
    return lines


def cluster_report(cluster: str, members: Sequence[Member], now: float) -> list[str]:
    """Return one cluster's headline, problems, members, volumes, flags, warnings and notes."""
    problems = cluster_problems(members, now)
    lines = [headline(cluster, members, problems)]
    for problem in problems:
        lines += wrap(problem, "  ! ")
    lines += ["", *table_lines(member_rows(members))]
    if any(planned_peak(member) is not None for member in members):
        lines += wrap(PLANNED_NOTE, "  ")
    volumes = volume_rows(members)
    if len(volumes) > 1:
        lines += ["", *table_lines(volumes)]
    if any(member.get("live") for member in members):
        lines += wrap(LIVE_NOTE, "  ")
    flags = flag_rows(members)
    if len(flags) > 1:
        lines += ["", *table_lines(flags, wrap_last=True)]
    messages = [
        *remarks(members, "warnings", "warning"),
        *shared_ca_warning(members),
        *remarks(members, "notes", "note"),
    ]
    messages += [f"note: {sentence}" for sentence in [*backup_note(members), *expiry_note(members)]]
    return lines + ([""] if messages else []) + [line for message in messages for line in wrap(message, "  ")]


def remarks(members: Sequence[Member], key: str, label: str) -> list[str]:
    """Return the members' sentences under ``key``, each once; one that is not about all members names its members."""
    about: dict[str, list[str]] = {}
    for member in members:
        for sentence in member.get(key) or []:
            about.setdefault(str(sentence), []).append(name(member))
    return [
        f"{label}: {sentence}" if len(names) == len(members) else f"{label}: {', '.join(names)}: {sentence}"
        for sentence, names in about.items()
    ]


def headline(cluster: str, members: Sequence[Member], problems: Sequence[str]) -> str:
    """Summarize the cluster's state in one line."""
    view = best_view(members)
    quorum = view.get("quorum", {})
    voters = quorum.get("voters", 0)
    if not voters:
        return f"etcd cluster {cluster}: {'no member answers' if is_deployed(members) else 'planned, not deployed yet'}"
    parts = [f"{quorum['healthy']} of {voters} members healthy", f"quorum needs {quorum['needed']}"]
    parts.append(f"leader {view['leader']}" if view.get("leader") else "no leader")
    parts.append("no problems" if not problems else f"{len(problems)} problem{'s'[: len(problems) != 1]}")
    return f"etcd cluster {cluster}, {versions(view)}: {', '.join(parts)}"


def summary(clusters: Mapping[str, Sequence[Member]], now: float) -> list[str]:
    """Return one line for each cluster, then all problems and warnings."""
    rows: list[Row] = [("cluster", "version", "healthy", "leader", "RssAnon", "planned", "limit")]
    details: list[str] = []
    has_problems = False
    for cluster, members in clusters.items():
        rows.append(_summary_row(cluster, members))
        problems = cluster_problems(members, now)
        has_problems = has_problems or bool(problems)
        for problem in problems:
            details += wrap(f"{cluster}: {problem}", "  ! ")
        for warning in [*remarks(members, "warnings", "warning"), *shared_ca_warning(members)]:
            details += wrap(f"{cluster}: {warning}", "  ")
    verdict = "problems:" if has_problems else "no problems"
    return [*table_lines(rows), "", f"{len(clusters)} clusters, {verdict}", *details]


def _summary_row(cluster: str, members: Sequence[Member]) -> Row:
    view = best_view(members)
    quorum = view.get("quorum", {})
    return (
        cluster,
        versions(view),
        f"{quorum.get('healthy', 0)} of {quorum.get('voters', 0) or len(members)}",
        view.get("leader") or NONE,
        size(largest(process(member).get("rss_anon") for member in members)),
        size(largest(planned_peak(member) for member in members)),
        size(largest(process(member).get("memory_limit") for member in members)),
    )
