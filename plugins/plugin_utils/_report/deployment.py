# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report that ends a deployment, as lines of text. Private to the collection.

Pure: plain data in, lines out. Each member is a dict with ``host``, ``cluster`` (its name), ``name`` (etcd's name, if
it differs from the host's), ``info`` (the result of etcd_cluster_info), ``plan`` (of etcd_memory_plan), ``fio`` (for
"data" and "wal": ``p99_us`` and ``limit_us``), ``live`` (of etcd_disk_live_info), ``warnings`` and ``notes`` (sentences).
Everything but host and cluster may be missing and then shows as "-".
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size

WIDTH = 100
# Above this many clusters, one line each: tables would scroll what matters off the screen.
MOST_TABLES = 4
# A database that fills this share of its quota (percent) leaves little time before etcd refuses writes.
QUOTA_WARNING = 80
LIMIT_WARNING = 90
# The kernel rounds a limit down to whole pages.
LARGEST_PAGE = 64 * 1024
# Fewer samples than this have no 99th percentile.
LEAST_SAMPLES = 100
NONE = "-"
# Latencies of a running member, as etcd_disk_live_info names them, in words.
LIVE = {"wal_fsync": "WAL fsync", "backend_commit": "backend commit"}

PLANNED_NOTE = "planned peak: heap and stacks (RssAnon); the database's pages come on top and give way"

LIVE_NOTE = (
    "fio p99: fdatasync, before etcd ran there; live p99, since the member started: backend commits on the data's volume, "
    f"WAL fsyncs on the WAL's; fewer than {LEAST_SAMPLES} samples have none"
)

Item = Mapping[str, Any]
Row = tuple[str, ...]


def report(items: Sequence[Item]) -> list[str]:
    """Return the report for all clusters, in the order in which they first appear."""
    clusters: dict[str, list[Item]] = {}
    for item in items:
        clusters.setdefault(str(item.get("cluster") or "etcd"), []).append(item)
    if len(clusters) > MOST_TABLES:
        return summary(clusters)
    lines: list[str] = []
    for name, members in clusters.items():
        lines += [*([""] if lines else []), *cluster_report(name, members)]
    return lines


def cluster_report(name: str, items: Sequence[Item]) -> list[str]:
    """Return one cluster's headline, problems, members, volumes and flags."""
    wrong = problems(items)
    lines = [headline(name, items, wrong)]
    for problem in wrong:
        lines += _wrap(problem, "  ! ")
    lines += ["", *_table(member_rows(items))]
    if any(_planned(item) is not None for item in items):
        lines += _wrap(PLANNED_NOTE, "  ")
    volumes = volume_rows(items)
    if len(volumes) > 1:
        lines += ["", *_table(volumes)]
    if any(item.get("live") for item in items):
        lines += _wrap(LIVE_NOTE, "  ")
    flags = flag_rows(items)
    if len(flags) > 1:
        lines += ["", *_table(flags, wrap_last=True)]
    said = [*remarks(items, "warnings", "warning"), *remarks(items, "notes", "note")]
    return lines + ([""] if said else []) + [line for remark in said for line in _wrap(remark, "  ")]


def remarks(items: Sequence[Item], key: str, word: str) -> list[str]:
    """Return the members' warnings or notes, each once, with the members that it is about unless it is about all."""
    about: dict[str, list[str]] = {}
    for item in items:
        for sentence in item.get(key) or []:
            about.setdefault(str(sentence), []).append(_name(item))
    return [
        f"{word}: {sentence}" if len(names) == len(items) else f"{word}: {', '.join(names)}: {sentence}"
        for sentence, names in about.items()
    ]


def summary(clusters: Mapping[str, Sequence[Item]]) -> list[str]:
    """Return one line a cluster, each followed by its problems; those without any come first."""
    rows: list[Row] = [("cluster", "version", "healthy", "leader", "RssAnon", "planned", "limit")]
    trouble: list[str] = []
    for name, items in clusters.items():
        cluster = _view(items)
        quorum = cluster.get("quorum", {})
        rows.append(
            (
                name,
                _versions(cluster),
                f"{quorum.get('healthy', 0)} of {quorum.get('voters', 0) or len(items)}",
                cluster.get("leader") or NONE,
                _size(_largest(_process(item).get("rss_anon") for item in items)),
                _size(_largest(_planned(item) for item in items)),
                _size(_largest(_process(item).get("memory_limit") for item in items)),
            )
        )
        for problem in problems(items):
            trouble += _wrap(f"{name}: {problem}", "  ! ")
        for warning in remarks(items, "warnings", "warning"):
            trouble += _wrap(f"{name}: {warning}", "  ")
    ok = "no problems" if not any(problems(items) for items in clusters.values()) else "problems:"
    return [*_table(rows), "", f"{len(clusters)} clusters, {ok}", *trouble]


def headline(name: str, items: Sequence[Item], wrong: Sequence[str]) -> str:
    """Say in one line what the cluster is and whether it is well."""
    cluster = _view(items)
    quorum = cluster.get("quorum", {})
    voters = quorum.get("voters", 0)
    if not voters:
        return f"etcd cluster {name}: {'no member answers' if _was_asked(items) else 'planned, not deployed yet'}"
    parts = [f"{quorum['healthy']} of {voters} members healthy", f"quorum needs {quorum['needed']}"]
    parts.append(f"leader {cluster['leader']}" if cluster.get("leader") else "no leader")
    parts.append("no problems" if not wrong else f"{len(wrong)} problem{'s'[: len(wrong) != 1]}")
    return f"etcd cluster {name}, {_versions(cluster)}: {', '.join(parts)}"


def problems(items: Sequence[Item]) -> list[str]:
    """Return what a person has to look at, the cluster's first, then each member's."""
    cluster = _view(items)
    found = []
    if not cluster.get("members"):
        if _was_asked(items):
            found.append(cluster.get("error") or "no member answers")
    elif not cluster["quorum"]["ok"]:
        found.append("the cluster has no quorum: it takes no writes")
    for alarm in cluster.get("alarms", []):
        found.append(f"alarm {alarm['type']} is set by {alarm['member']}")
    versions = {member["version"] for member in cluster.get("members", []) if member["version"]}
    if len(versions) > 1:
        found.append(f"members run different versions: {', '.join(sorted(versions))}")
    for member in cluster.get("members", []):
        name = member["name"] or member["id"]
        if not member["healthy"]:
            found.append(f"{name} is not healthy: {member['health_error']}")
        if member["db_quota"] and member["db_size"] * 100 >= member["db_quota"] * QUOTA_WARNING:
            share = member["db_size"] * 100 // member["db_quota"]
            found.append(f"{name}: the database fills {share} % of its quota of {_size(member['db_quota'])}")
    for item in items:
        found += [f"{_name(item)}: {problem}" for problem in _host_problems(item)]
    return found


def _host_problems(item: Item) -> list[str]:
    process = _process(item)
    found = []
    if process and not process.get("running"):
        found.append(f"unit {process.get('unit')} is {process.get('active_state')} ({process.get('result') or NONE})")
    if process.get("restarts"):
        found.append(f"systemd restarted etcd {process['restarts']} times by itself")
    if process.get("oom_kills"):
        found.append(f"the kernel killed {process['oom_kills']} of its processes for want of memory")
    anon, planned, limit = process.get("rss_anon"), _planned(item), process.get("memory_limit")
    if anon and planned and anon > planned:
        found.append(f"RssAnon {_size(anon)} is above the planned peak of {_size(planned)}")
    if anon and limit and anon * 100 >= limit * LIMIT_WARNING:
        found.append(f"RssAnon {_size(anon)} is {anon * 100 // limit} % of the memory limit {_size(limit)}")
    meant = (item.get("plan") or {}).get("memory_max")
    if process.get("running") and meant and abs((limit or 0) - int(meant)) >= LARGEST_PAGE:
        found.append(f"the memory limit in force is {_size(limit) if limit else 'none'}, planned is {_size(meant)}")
    if len(process.get("io_classes", {})) > 1:
        found.append(f"its threads have different I/O classes: {_io_classes(process)}")
    for volume, measured in (item.get("fio") or {}).items():
        if (
            measured
            and measured.get("p99_us")
            and measured["p99_us"] > (measured.get("limit_us") or measured["p99_us"])
        ):
            found.append(f"fdatasync on the {volume} volume is too slow: p99 {_latency(measured)}")
    for what, words in LIVE.items():
        live = (item.get("live") or {}).get(what) or {}
        if live.get("samples", 0) >= LEAST_SAMPLES and live["p99_us"] > live["limit_us"]:
            found.append(f"{words}s of the running member are too slow: p99 {_latency(live)}")
    return found


def member_rows(items: Sequence[Item]) -> list[Row]:
    """Return the table of members, its header first: what etcd says, and memory as planned and as measured."""
    rows: list[Row] = [
        ("member", "version", "role", "health", "db size", "planned peak", "RssAnon", "RSS", "peak RSS", "limit")
    ]
    by_name = {_name(item): item for item in items}
    listed = {member["name"] or member["id"]: member for member in _view(items).get("members", [])}
    for name in [*listed, *(name for name in by_name if name not in listed)]:
        member, item = listed.get(name, {}), by_name.get(name, {})
        process = _process(item)
        rows.append(
            (
                name,
                member.get("version") or NONE,
                member.get("role") or NONE,
                ("healthy" if member.get("healthy") else "UNHEALTHY") if _was_asked(items) else NONE,
                _size(member.get("db_size")),
                _size(_planned(item)),
                _size(process.get("rss_anon")),
                _size(process.get("rss")),
                _size(process.get("rss_peak")),
                _size(process.get("memory_limit")),
            )
        )
    return rows


def volume_rows(items: Sequence[Item]) -> list[Row]:
    """Return the table of mounts, latency as fio measured it and as the member sees it, and its threads' I/O class."""
    rows: list[Row] = [("member", "volume", "mounted at", "device", "fio p99", "live p99", "I/O class")]
    for item in items:
        process, fio = _process(item), item.get("fio") or {}
        mounts = process.get("mounts") or {}
        data, wal = mounts.get("data"), mounts.get("wal")
        shared = data and wal and (data["mountpoint"], data["device"]) == (wal["mountpoint"], wal["device"])
        volumes = [("data, WAL", data, fio.get("data") or fio.get("wal"), tuple(LIVE))] if shared else []
        volumes = volumes or [
            ("data", data, fio.get("data"), ("backend_commit",)),
            ("WAL", wal, fio.get("wal"), ("wal_fsync",)),
        ]
        first = True
        for label, mount, measured, seen in volumes:
            if not mount and not measured:
                continue
            rows.append(
                (
                    _name(item) if first else "",
                    label,
                    mount["mountpoint"] if mount else NONE,
                    f"{mount['device']} ({mount['fstype']})" if mount else NONE,
                    _against_limit(measured),
                    ", ".join(text for text in (_live(item, what) for what in seen) if text) or NONE,
                    _io_classes(process) if first else "",
                )
            )
            first = False
    return rows


def flag_rows(items: Sequence[Item]) -> list[Row]:
    """Return the table of flags with their reasons. What differs between members names them."""
    rows: list[Row] = [("flag", "value", "reason")]
    flags: dict[str, dict[tuple[str, str], list[str]]] = {}
    planned = [item for item in items if item.get("plan")]
    for item in planned:
        for flag in item["plan"].get("flags", []):
            name, reason = str(flag["name"]), str(flag.get("reason", ""))
            if flag.get("source") == "pinned":
                reason = reason or "pinned"
            variants = flags.setdefault(name, {})
            variants.setdefault((_flag_value(name, flag.get("value")), reason), []).append(_name(item))
    for name, variants in flags.items():
        for (value, reason), members in variants.items():
            who = "" if len(members) == len(planned) else f" ({', '.join(members)})"
            rows.append((name, value, reason + who))
    return rows


def _flag_value(name: str, value: Any) -> str:
    """Return a value as it is set, and a size also as a person reads it."""
    text = NONE if value is None else str(value)
    sizes = name.endswith("_bytes") or name in ("memory_high", "memory_max", "gomemlimit")
    return f"{text} ({format_size(int(text))})" if sizes and text.isdigit() else text


def _view(items: Sequence[Item]) -> Mapping[str, Any]:
    """Return the cluster as the best informed member sees it: with a quorum, then with the most healthy members."""
    views = [cluster for cluster in ((item.get("info") or {}).get("cluster") for item in items) if cluster]
    return max(
        views, key=lambda view: (view["quorum"]["ok"], view["quorum"]["healthy"], len(view["members"])), default={}
    )


def _process(item: Item) -> Mapping[str, Any]:
    return (item.get("info") or {}).get("process") or {}


def _name(item: Item) -> str:
    return str(item.get("name") or (item.get("info") or {}).get("member") or item.get("host") or NONE)


def _was_asked(items: Sequence[Item]) -> bool:
    return any((item.get("info") or {}).get("cluster") for item in items)


def _planned(item: Item) -> int | None:
    """Return the planned peak of what cannot be reclaimed, in bytes: heap and stacks, at work or after a restart."""
    estimate = (item.get("plan") or {}).get("estimate") or {}
    peaks = [estimate.get(name) for name in ("rss_anon_peak", "restart_rss_anon_peak")]
    return max((int(peak) for peak in peaks if peak is not None), default=None)


def _versions(cluster: Mapping[str, Any]) -> str:
    return ", ".join(sorted({member["version"] for member in cluster.get("members", []) if member["version"]})) or NONE


def _largest(values: Any) -> int | None:
    return max((value for value in values if value), default=None)


def _size(value: int | None) -> str:
    return NONE if value is None else format_size(int(value))


def _latency(measured: Mapping[str, Any] | None) -> str:
    """Return a latency and its limit in milliseconds."""
    if not measured or measured.get("p99_us") is None:
        return NONE
    text = f"{measured['p99_us'] / 1000:.1f} ms"
    return f"{text} (limit {measured['limit_us'] / 1000:g})" if measured.get("limit_us") else text


def _against_limit(measured: Mapping[str, Any] | None) -> str:
    """Return a latency beside its limit, short enough for a table: 1.7 ms (< 10)."""
    if not measured or measured.get("p99_us") is None:
        return NONE
    value, limit = measured["p99_us"], measured.get("limit_us")
    return f"{value / 1000:.1f} ms" + (f" ({'>' if value > limit else '<'} {limit / 1000:g})" if limit else "")


def _live(item: Item, what: str) -> str:
    """Return a latency of the running member, or how few samples it has; nothing where it was not asked."""
    live = (item.get("live") or {}).get(what)
    if not live:
        return ""
    return f"{live['samples']} samples" if live["samples"] < LEAST_SAMPLES else f"{live['p99_us'] / 1000:.1f} ms"


def _io_classes(process: Mapping[str, Any]) -> str:
    """Return the classes of all threads and how many have each."""
    return ", ".join(f"{name} ×{count}" for name, count in (process.get("io_classes") or {}).items()) or NONE


def _table(rows: Sequence[Row], *, wrap_last: bool = False) -> list[str]:
    """Align columns, two blanks apart and two from the edge; columns that hold sizes are aligned to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    right = [all(_is_amount(row[column]) for row in rows[1:]) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(row, widths, right)
        ]
        if wrap_last:
            lines += _wrap(row[-1], "  " + "  ".join(cells[:-1]) + "  ")
        else:
            lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _is_amount(cell: str) -> bool:
    return cell == NONE or cell.endswith(("iB", " B"))


def _wrap(text: str, lead: str) -> list[str]:
    """Wrap a text behind a lead, the following lines below its first word."""
    width = max(WIDTH, len(lead) + 30)
    return textwrap.wrap(
        text, width, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False
    ) or [lead.rstrip()]
