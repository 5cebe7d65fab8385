# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert measurements of a cluster into the workload of a plan. Pure.

A figure that could not be measured is left out of the workload and listed as unknown, with the reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.history import LOG_ENTRIES, History
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sample import Sample
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import COUNTERS, Load, Scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sizes import summarize
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size

# With fewer puts in the window, the mean of all puts since the member started is more accurate.
ENOUGH_PUTS = 100
_NO_METRICS = "no member's metrics could be read"
_EMPTY = "the database has no keys"


@dataclass(frozen=True)
class MemberReading:
    """The metrics of one member. ``load`` is None if there is a ``problem``; ``last`` is its newest page, if one was read."""

    name: str
    leads: bool
    last: Scrape | None
    load: Load | None
    problem: str = ""


@dataclass(frozen=True)
class Readings:
    """All measurements. ``sample`` and ``leases`` are the reason if they could not be read, ``history`` is None if none was asked for."""

    members: list[MemberReading]
    sample: Sample | str
    leases: int | str
    tls: bool
    history: History | None = None


@dataclass
class Measured:
    """The workload, the origin of each figure, and what is unknown."""

    workload: dict[str, Any] = field(default_factory=dict)
    basis: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)

    def add_figure(self, name: str, value: int | bool, basis: str) -> None:
        """Add a figure and how it was measured."""
        self.workload[name] = value
        self.basis[name] = basis

    def add_unknown(self, name: str, reason: str) -> None:
        """Add a figure that is unknown."""
        self.unknown[name] = reason

    def unknown_list(self) -> list[dict[str, str]]:
        """Return what is unknown as a module's result."""
        return [{"name": name, "reason": reason} for name, reason in sorted(self.unknown.items())]


def measured_workload(readings: Readings) -> Measured:
    """Return the workload according to the readings."""
    measured = Measured()
    reference = reference_member(readings.members)
    _measure_sizes(measured, readings.sample, reference)
    _measure_writes(measured, reference)
    _measure_keys(measured, readings.sample, reference)
    _measure_watches(measured, readings.members)
    if readings.history:
        _raise_to_peaks(measured, readings.history)
        _raise_revisions(measured, readings.history, reference)
    if isinstance(readings.leases, int):
        measured.add_figure("leases", readings.leases, "the list of leases")
    else:
        measured.add_unknown("leases", readings.leases)
    measured.add_figure("tls", readings.tls, "the client URLs that members advertise")
    _explain_unmeasurable(measured, readings.members)
    return measured


def reference_member(members: list[MemberReading]) -> MemberReading | None:
    """Return the member whose counters represent the cluster: the leader, or the one that has applied most; None if unknown."""
    read = [member for member in members if member.last is not None]
    return max(
        read,
        key=lambda one: (one.load is not None, one.leads, one.last.count("revision") or 0 if one.last else 0),
        default=None,
    )


def _measure_sizes(measured: Measured, sample: Sample | str, reference: MemberReading | None) -> None:
    """Add sizes of keys and values: keys from the sample, values from the counters of puts, else from the sample."""
    if isinstance(sample, str):
        mean = _mean_put(reference)
        put = f"; a put has {format_size(mean[0])} on average, key included" if mean else ""
        for name in ("key_size", "value_size"):
            measured.add_unknown(name, f"keys could not be sampled: {sample}{put}")
        return
    names = summarize((len(key.name), weight) for key, weight in sample.keys)
    values = summarize((key.value_size, weight) for key, weight in sample.keys)
    if names is None or values is None:
        for name in ("key_size", "value_size"):
            measured.add_unknown(name, _EMPTY)
        return
    measured.sizes = {"key": names.as_dict(), "value": values.as_dict()}
    read = "all keys" if sample.complete else f"a sample of {format_count(len(sample.keys))} keys"
    measured.add_figure("key_size", max(1, names.mean), read)
    mean = _mean_put(reference)
    if mean:
        measured.add_figure("value_size", max(0, round(mean[0] - names.mean)), mean[1])
    else:
        measured.add_figure("value_size", values.mean, f"{read}, because no put was counted")


def _mean_put(reference: MemberReading | None) -> tuple[int, str] | None:
    """Return the mean bytes of a put, key included, and the basis; None without puts."""
    load = reference.load if reference else None
    last = reference.last if reference else None
    if load and load.increase.get("puts", 0) >= ENOUGH_PUTS and "put_bytes" in load.increase:
        puts = load.increase["puts"]
        return round(load.increase["put_bytes"] / puts), f"{format_count(round(puts))} puts in the window"
    total, size = (last.count("puts"), last.count("put_bytes")) if last else (None, None)
    if not total or size is None:
        return None
    return round(size / total), f"{format_count(total)} puts since the member started"


def _measure_writes(measured: Measured, reference: MemberReading | None) -> None:
    load = reference.load if reference else None
    if reference is None or load is None:
        measured.add_unknown("puts_per_second", reference.problem if reference else _NO_METRICS)
        return
    rates = {name: load.rate(name) for name in COUNTERS if name != "revision"}
    measured.rates = {name: round(rate, 3) for name, rate in rates.items() if rate is not None}
    puts = load.rate("puts") or 0.0
    text = f"the mean of {load.seconds:.1f} s; metrics show no peak within a window"
    measured.add_figure("puts_per_second", 0 if puts == 0 else max(1, round(puts)), text)


def _measure_keys(measured: Measured, sample: Sample | str, reference: MemberReading | None) -> None:
    """Add the number of live keys, and of revisions that are kept of each."""
    last = reference.last if reference else None
    keys = last.count("keys") if last else None
    basis = "metrics"
    if keys is None and not isinstance(sample, str):
        keys, basis = sample.total, "the count of keys"
    if not keys:
        reason = _NO_METRICS if keys is None else f"{_EMPTY}, and a plan takes 1 or more"
        measured.add_unknown("keys", reason)
        measured.add_unknown("revisions_per_key", reason)
        return
    measured.add_figure("keys", keys, basis)
    kept = kept_revisions(reference) if reference else None
    if kept is None:
        measured.add_unknown("revisions_per_key", _NO_METRICS)
    else:
        text = f"about {format_count(keys + kept)} revisions since the last compaction, at the time of the measurement"
        measured.add_figure("revisions_per_key", _revisions_per_key(keys, kept), text)


def _revisions_per_key(keys: int, kept: int) -> int:
    """Return the revisions of a key in a whole number, rounded up, so that a plan has room for all. A hundredth is noise."""
    return math.ceil(round((keys + kept) / keys, 2))


@dataclass(frozen=True)
class Versions:
    """How many versions of keys a member keeps: those since a compaction, or before the first one ``all`` of them, with those of the live keys."""

    count: int
    all: bool

    def beyond(self, keys: int) -> int:
        """Return how many there are in addition to those of the live keys."""
        return max(0, self.count - keys) if self.all else self.count


def kept_revisions(reference: MemberReading) -> int | None:
    """Estimate how many revisions a member keeps in addition to those of the live keys; None if its metrics lack them."""
    found = _versions(reference)
    return found.beyond(reference.last.count("keys") or 0) if found and reference.last else None


def _versions(reference: MemberReading) -> Versions | None:
    """Estimate the versions that a member keeps; None if its metrics lack them.

    A transaction with several puts has one revision: the window's puts for each revision correct for it.
    """
    last, load = reference.last, reference.load
    revision = last.count("revision") if last else None
    if last is None or revision is None:
        return None
    compacted = last.count("compact_revision") or 0
    writes = 1.0
    if load and load.increase.get("revision", 0) >= ENOUGH_PUTS:
        changes = load.increase.get("puts", 0) + load.increase.get("deletes", 0)
        writes = max(1.0, changes / load.increase["revision"])
    if compacted > 0:
        return Versions(round((revision - compacted) * writes), all=False)
    return Versions(round((revision - 1) * writes), all=True)


def _measure_watches(measured: Measured, members: list[MemberReading]) -> None:
    """Add streams and watchers of the member that has most of them: a plan takes those of one member."""
    for name in ("watch_streams", "watchers"):
        counts = [
            (count, member.name)
            for member in members
            if member.last is not None and (count := member.last.count(name)) is not None
        ]
        if counts:
            most, of = max(counts)
            measured.add_figure(name, most, f"{of}, which has most of them")
        else:
            measured.add_unknown(name, _NO_METRICS)


def _raise_to_peaks(measured: Measured, history: History) -> None:
    """Replace current figures by the highest past figures if those are higher."""
    span = _span(history)
    if history.puts_peak is not None and history.puts_peak_at is not None:
        text = f"the peak {span}, at {format_utc(history.puts_peak_at)}, in steps of {history.step:.0f} s"
        _raise(measured, "puts_per_second", math.ceil(history.puts_peak), text)
    if history.put_size_peak is not None and "key_size" in measured.workload:
        size = max(0, history.put_size_peak - measured.workload["key_size"])
        _raise(measured, "value_size", size, f"the largest mean of {format_count(LOG_ENTRIES)} puts in a row {span}")
    for name in ("keys", "watchers", "watch_streams"):
        _raise(measured, name, history.highest.get(name, 0), f"the most {span}")


def _raise_revisions(measured: Measured, history: History, reference: MemberReading | None) -> None:
    """Compute the revisions of a key for the highest number of keys, and the most versions that were kept then or now."""
    keys = measured.workload.get("keys")
    if not keys:
        return
    span = _span(history)
    found = []
    now = _versions(reference) if reference else None
    if now:
        text = f"about {format_count(now.count)} versions of keys since the last compaction, at the time of the measurement"
        found.append((now.beyond(keys), text))
    for name, when in (("revisions", "between two compactions"), ("all_revisions", "before the first compaction")):
        if name in history.highest:
            versions = Versions(round(history.highest[name] * history.revision_writes), all=name == "all_revisions")
            found.append(
                (versions.beyond(keys), f"at most {format_count(versions.count)} versions of keys {when} {span}")
            )
    if found:
        kept, text = max(found, key=lambda one: one[0])
        measured.unknown.pop("revisions_per_key", None)
        measured.add_figure("revisions_per_key", _revisions_per_key(keys, kept), text)


def _span(history: History) -> str:
    return f"from {format_utc(history.begin)} to {format_utc(history.end)} in Prometheus"


def _raise(measured: Measured, name: str, value: int, basis: str) -> None:
    if value > measured.workload.get(name, 0):
        measured.unknown.pop(name, None)
        measured.add_figure(name, value, basis)


def _explain_unmeasurable(measured: Measured, members: list[MemberReading]) -> None:
    """List the figures that no metric of etcd has, with related figures."""
    files = [count for member in members if member.last and (count := member.last.count("open_files")) is not None]
    bound = f"; no member has more than {format_count(max(files))}, its open files" if files else ""
    measured.add_unknown("clients", f"etcd has no metric of client connections{bound}")
    measured.add_unknown("writers", "etcd has no metric of the clients that put at once; at most as many as clients")
    measured.add_unknown(
        "watched_ranges", "etcd has no metric of the distinct ranges that are watched; at most as many as watchers"
    )
    sent = measured.rates.get("sent_bytes")
    answers = f"; it sends {format_size(round(sent))} a second, watch events included" if sent is not None else ""
    measured.add_unknown("range_size", f"etcd has no metric of the range answers that are in flight at once{answers}")
