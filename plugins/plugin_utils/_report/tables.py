# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the rows of the report's tables; the first row of each is its header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import NONE, Row
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import (
    LIVE_LATENCIES,
    Member,
    best_view,
    compared_latency,
    io_classes,
    is_deployed,
    live_latency,
    name,
    planned_peak,
    process,
    size,
)


def member_rows(members: Sequence[Member]) -> list[Row]:
    """Return the table of members: their state as etcd reports it, and their memory as planned and as measured."""
    rows: list[Row] = [
        ("member", "version", "role", "health", "db size", "planned peak", "RssAnon", "RSS", "peak RSS", "limit")
    ]
    by_name = {name(member): member for member in members}
    listed = {member["name"] or member["id"]: member for member in best_view(members).get("members", [])}
    for label in [*listed, *(label for label in by_name if label not in listed)]:
        seen, member = listed.get(label, {}), by_name.get(label, {})
        etcd = process(member)
        rows.append(
            (
                label,
                seen.get("version") or NONE,
                seen.get("role") or NONE,
                ("healthy" if seen.get("healthy") else "UNHEALTHY") if is_deployed(members) else NONE,
                size(seen.get("db_size")),
                size(planned_peak(member)),
                size(etcd.get("rss_anon")),
                size(etcd.get("rss")),
                size(etcd.get("rss_peak")),
                size(etcd.get("memory_limit")),
            )
        )
    return rows


def volume_rows(members: Sequence[Member]) -> list[Row]:
    """Return the table of volumes: mounts, p99 latencies of fio and of the running member, the threads' I/O classes."""
    rows: list[Row] = [("member", "volume", "mounted at", "device", "fio p99", "live p99", "I/O class")]
    for member in members:
        for number, (label, mount, measured, operations) in enumerate(_volumes(member)):
            live = [live_latency(member, operation) for operation in operations]
            rows.append(
                (
                    "" if number else name(member),
                    label,
                    mount["mountpoint"] if mount else NONE,
                    f"{mount['device']} ({mount['fstype']})" if mount else NONE,
                    compared_latency(measured),
                    ", ".join(text for text in live if text) or NONE,
                    "" if number else io_classes(member),
                )
            )
    return rows


def _volumes(member: Member) -> Iterator[tuple[str, Any, Any, tuple[str, ...]]]:
    """Return each known volume: its label, mount, fio's result and the operations whose live latency is its own."""
    fio, mounts = member.get("fio") or {}, process(member).get("mounts") or {}
    data, wal = mounts.get("data"), mounts.get("wal")
    if data and wal and (data["mountpoint"], data["device"]) == (wal["mountpoint"], wal["device"]):
        yield "data, WAL", data, fio.get("data") or fio.get("wal"), tuple(LIVE_LATENCIES)
        return
    if data or fio.get("data"):
        yield "data", data, fio.get("data"), ("backend_commit",)
    if wal or fio.get("wal"):
        yield "WAL", wal, fio.get("wal"), ("wal_fsync",)


def flag_rows(members: Sequence[Member]) -> list[Row]:
    """Return the table of flags with their reasons; a row that is not about all members names its members."""
    rows: list[Row] = [("flag", "value", "reason")]
    flags: dict[str, dict[tuple[str, str], list[str]]] = {}
    planned = [member for member in members if member.get("plan")]
    for member in planned:
        for flag in member["plan"].get("flags", []):
            variants = flags.setdefault(str(flag["name"]), {})
            variants.setdefault((_flag_value(flag), _flag_reason(flag)), []).append(name(member))
    for flag_name, variants in flags.items():
        for (value, reason), names in variants.items():
            about = "" if len(names) == len(planned) else f" ({', '.join(names)})"
            rows.append((flag_name, value, reason + about))
    return rows


def _flag_reason(flag: Mapping[str, Any]) -> str:
    reason = str(flag.get("reason", ""))
    return reason or "pinned" if flag.get("source") == "pinned" else reason


def _flag_value(flag: Mapping[str, Any]) -> str:
    """Return the value as it is set; a size also with its unit."""
    text = NONE if flag.get("value") is None else str(flag["value"])
    is_size = str(flag["name"]).endswith("_bytes") or flag["name"] in ("memory_high", "memory_max", "gomemlimit")
    return f"{text} ({format_size(int(text))})" if is_size and text.isdigit() else text
