# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a disk fast enough for etcd? fio's command line, its answer, and the verdict. Private to the collection.

etcd appends small records to its write-ahead log and calls fdatasync after each; its guide asks for a 99th percentile
below 10 ms (https://etcd.io/docs/v3.6/op-guide/hardware/, "Disks"). Pure: nothing here runs or writes anything.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median_high, median_low
from typing import Any

MIB = 1024 * 1024

# Ten samples lie above the 99th percentile then; the whole pattern of profile etcd gives 10029.
MIN_SAMPLES = 1000

# Runs of one idle disk differ by less; beyond it something else uses the disk, or a limit throttles it.
STEADY_PERCENT = 50

# fdatasync costs nothing on these, or its cost is that of another layer: a measurement would say "fast" of any disk.
REFUSED_FILESYSTEMS = {
    "tmpfs": "memory",
    "ramfs": "memory",
    "devtmpfs": "memory",
    "overlay": "a container's layer",
    "aufs": "a container's layer",
    "fuse.fuse-overlayfs": "a container's layer",
    "squashfs": "read-only",
}

# Of other machines, or of the machine around a virtual one.
NETWORK_FILESYSTEMS = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "ceph",
        "fuse.ceph",
        "glusterfs",
        "fuse.glusterfs",
        "fuse.sshfs",
        "fuse.s3fs",
        "9p",
        "virtiofs",
        "vboxsf",
        "lustre",
        "gpfs",
        "beegfs",
        "afs",
        "ocfs2",
        "gfs2",
    ]
)


class FioError(ValueError):
    """fio's answer cannot be trusted, or it was asked for nonsense; the text says why and what to do."""


@dataclass(frozen=True)
class Profile:
    """A write pattern: the size of a record and of the file in bytes, and how the time is bounded.

    A time-based run writes the file over and over for ``seconds``; any other ends with the file. ``timeout`` is the
    default for all runs together, in seconds.
    """

    name: str
    block_bytes: int
    total_bytes: int
    timeout: int
    seconds: int | None = None


# etcd: mean record size and amount as in the guide that etcd's documentation points to
# (https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd). rke2: the same with
# more data, which reaches further into a disk's cache. openshift: as its image etcd-perf runs fio.
PROFILES = {
    profile.name: profile
    for profile in (
        Profile("etcd", block_bytes=2300, total_bytes=22 * MIB, timeout=30),
        Profile("rke2", block_bytes=2300, total_bytes=100 * MIB, timeout=120),
        Profile("openshift", block_bytes=8000, total_bytes=100 * MIB, timeout=200, seconds=60),
    )
}


@dataclass(frozen=True)
class Figures:
    """What was measured: latencies of fdatasync in microseconds, and the rate of synchronised writes."""

    p50_us: int
    p99_us: int
    p999_us: int
    max_us: int
    samples: int
    iops: int
    bandwidth: int
    runtime_ms: int
    fio_version: str


@dataclass(frozen=True)
class Measurement:
    """The figures of several runs as one, and the 99th percentile of each run in its order."""

    figures: Figures
    p99_runs_us: tuple[int, ...]

    @property
    def spread_percent(self) -> int:
        """How far the runs lie apart: slowest less fastest 99th percentile, as a share of the median."""
        return round(100 * (max(self.p99_runs_us) - min(self.p99_runs_us)) / max(1, self.figures.p99_us))


@dataclass(frozen=True)
class Limits:
    """What is asked of the 99th percentile, in microseconds: it fails above ``fail_us``, warns above ``warn_us``."""

    fail_us: int
    warn_us: int


def limits(max_ms: float, warn_ms: float | None, what: str = "fsync") -> Limits:
    """The limits that were asked for in milliseconds; without one of its own, the warning starts at half the limit.

    ``what`` begins the options' names. Raises FioError where a limit cannot be meant.
    """
    for name, value in ((f"{what}_p99_max_ms", max_ms), (f"{what}_p99_warn_ms", warn_ms)):
        if value is not None and not (math.isfinite(value) and round(value * 1000) > 0):
            raise FioError(f"{name} is {value}, but must be above 0 and a number of milliseconds, for example 10.")
    fail_us = round(max_ms * 1000)
    warn_us = fail_us // 2 if warn_ms is None else round(warn_ms * 1000)
    if warn_us > fail_us:
        raise FioError(
            f"{what}_p99_warn_ms is {warn_ms}, above {what}_p99_max_ms ({max_ms}): the warning comes before the failure."
        )
    return Limits(fail_us, warn_us)


def schedule(seconds: int, warmup: int, repeats: int) -> tuple[int, int]:
    """How long the warm-up takes and how many runs there are, if each gets at least one of all the seconds.

    A time too short for all is for one run first, then for the warm-up, then for more runs.
    """
    warmup = min(warmup, seconds - 1)
    return warmup, max(1, min(repeats, seconds - warmup))


def run_seconds(profile: Profile, left: float, runs: int) -> int:
    """What one run may take if ``left`` seconds are for ``runs`` of them."""
    share = max(1, int(left / runs))
    return share if profile.seconds is None else min(share, profile.seconds)


def command(profile: Profile, filename: str, seconds: int) -> list[str]:
    """fio's arguments for a pattern; it stops after `seconds` even if the whole amount is not yet written.

    The name is relative to the directory that fio is started in: fio splits absolute names at colons.
    """
    return [
        "fio",
        "--name=etcd",
        "--rw=write",
        "--ioengine=sync",
        "--fdatasync=1",
        "--thread",
        f"--size={profile.total_bytes}",
        f"--bs={profile.block_bytes}",
        f"--runtime={seconds}",
        *(["--time_based"] if profile.seconds is not None else []),
        f"--filename={filename}",
        "--output-format=json",
    ]


def _microseconds(nanoseconds: float) -> int:
    return int((nanoseconds + 500) // 1000)


def parse(text: str) -> Figures:
    """The figures in fio's JSON output (fio 3.5 or newer), with warnings before it or not.

    fdatasync is reported as `sync.lat_ns`; `sync.total_ios` is 0 there, the samples are counted in `N`.
    """
    start = text.find("{")
    try:
        document = json.loads(text[start:]) if start >= 0 else None
        job: dict[str, Any] = document["jobs"][0]  # type: ignore[index]
        error = int(job["error"])
        reason = os.strerror(error)
        sync, write = job["sync"]["lat_ns"], job["write"]
        samples = int(sync["N"])
        if error == 0 and samples > 0:
            percentiles = sync["percentile"]
            return Figures(
                p50_us=_microseconds(percentiles["50.000000"]),
                p99_us=_microseconds(percentiles["99.000000"]),
                p999_us=_microseconds(percentiles["99.900000"]),
                max_us=_microseconds(sync["max"]),
                samples=samples,
                iops=round(write["iops"]),
                bandwidth=int(write["bw_bytes"]),
                runtime_ms=int(write["runtime"]),
                fio_version=str(document["fio version"]),  # type: ignore[index]
            )
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as problem:
        shown = " ".join(text.split())[:200] or "nothing"
        raise FioError(
            f"fio's answer has no latencies of fdatasync ({type(problem).__name__}: {problem}). "
            f"fio 3.5 or newer is needed; it printed: {shown}"
        ) from problem
    if error:
        raise FioError(f"fio could not write (error {error}, {reason}): look at the disk and at the kernel's log.")
    raise FioError("fio measured no fdatasync at all: its figures say nothing about this disk.")


def combine(runs: Sequence[Figures]) -> Measurement:
    """One measurement of one or more runs: medians, of an even number the worse one; the slowest call of all."""
    return Measurement(
        Figures(
            p50_us=median_high([run.p50_us for run in runs]),
            p99_us=median_high([run.p99_us for run in runs]),
            p999_us=median_high([run.p999_us for run in runs]),
            max_us=max(run.max_us for run in runs),
            samples=sum(run.samples for run in runs),
            iops=median_low([run.iops for run in runs]),
            bandwidth=median_low([run.bandwidth for run in runs]),
            runtime_ms=sum(run.runtime_ms for run in runs),
            fio_version=runs[-1].fio_version,
        ),
        tuple(run.p99_us for run in runs),
    )


def milliseconds(microseconds: int) -> str:
    """Microseconds as people read them: '0.42 ms', '10 ms', '12.3 ms', '240 ms'."""
    value = microseconds / 1000
    digits = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}."
    return f"{digits.rstrip('0').rstrip('.') if value >= 10 else digits} ms"


def conclusive(measured: Measurement, asked: Limits) -> bool:
    """Whether there are samples enough for a verdict: that a disk is slow needs fewer than that it is fast."""
    return measured.figures.samples >= MIN_SAMPLES or measured.figures.p50_us > asked.fail_us


def judge(measured: Measurement, asked: Limits, place: str, *, network: str = "") -> tuple[str, str]:
    """The verdict, 'ok', 'warn' or 'fail', and the sentences that explain it.

    `place` names the disk, `network` its filesystem's type if that is a remote one. Raises FioError if it is not
    conclusive.
    """
    figures, runs = measured.figures, measured.p99_runs_us
    if not conclusive(measured, asked):
        raise FioError(
            f"fio measured only {figures.samples} fdatasync calls on {place}, {MIN_SAMPLES} are needed for a 99th "
            "percentile: allow it more time."
        )
    several = (
        f"median of {len(runs)} runs, {milliseconds(min(runs))} to {milliseconds(max(runs))}; " if len(runs) > 1 else ""
    )
    sentence = (
        f"99 % of {figures.samples} fdatasync calls on {place} took at most {milliseconds(figures.p99_us)} "
        f"({several}half of them {milliseconds(figures.p50_us)}, the slowest {milliseconds(figures.max_us)}); "
        f"the limit is {milliseconds(asked.fail_us)}"
    )
    unsteady = measured.spread_percent > STEADY_PERCENT
    if figures.p99_us > asked.fail_us:
        verdict, sentence = (
            "fail",
            (
                f"{sentence}: too slow. etcd would answer slowly and lose its leader under load. "
                "Give it an SSD that it shares with nobody."
            ),
        )
    elif figures.p99_us > asked.warn_us:
        verdict, sentence = (
            "warn",
            (f"{sentence}: fast enough, but above {milliseconds(asked.warn_us)} little is left for busy hours."),
        )
    else:
        verdict, sentence = "ok", f"{sentence}: fast enough."
        if unsteady and max(runs) > asked.warn_us:
            verdict = "warn"
    if unsteady:
        sentence += (
            f" The runs lie {measured.spread_percent} % apart: something else uses this disk, or it is throttled. "
            "Measure again when it is idle."
        )
    if network:
        verdict = "fail" if verdict == "fail" else "warn"
        sentence += f" {network} is a network filesystem, which etcd's documentation advises against: use a local disk."
    return verdict, sentence


def dump_record(measured: Measurement, identity: str, profile: Profile, measured_at: int) -> str:
    """What is kept of a measurement, as JSON: the figures, the volume's identity, the date (seconds since 1970)."""
    record = {
        "identity": identity,
        "measured_at": measured_at,
        "block_bytes": profile.block_bytes,
        "total_bytes": profile.total_bytes,
        "figures": asdict(measured.figures),
        "p99_runs_us": measured.p99_runs_us,
    }
    return json.dumps(record, indent=2, sort_keys=True) + "\n"


def load_record(text: str, identity: str, profile: Profile) -> tuple[Measurement, int] | None:
    """The kept measurement and its date; None where there is none for this volume and this pattern.

    Release 0.1.0 measured once and kept no list of runs.
    """
    try:
        record = json.loads(text)
        same = (record["identity"], record["block_bytes"], record["total_bytes"])
        if same != (identity, profile.block_bytes, profile.total_bytes):
            return None
        kept = record["figures"]
        numbers = {field.name: int(kept[field.name]) for field in fields(Figures) if field.name != "fio_version"}
        figures = Figures(**numbers, fio_version=str(kept["fio_version"]))
        runs = tuple(int(value) for value in record.get("p99_runs_us") or [figures.p99_us])
        return Measurement(figures, runs), int(record["measured_at"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
