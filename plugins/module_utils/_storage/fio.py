# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build fio's command line, parse its output, and store its results.

fio writes as etcd writes its write-ahead log: small records with an fdatasync after each. Pure: runs and writes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median_high, median_low
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

# On these an fdatasync does not reach a disk, so that any disk would look fast.
REFUSED_FILESYSTEMS = {
    "tmpfs": "memory",
    "ramfs": "memory",
    "devtmpfs": "memory",
    "overlay": "a container's layer",
    "aufs": "a container's layer",
    "fuse.fuse-overlayfs": "a container's layer",
    "squashfs": "read-only",
}

# The disk belongs to another machine, or to the hypervisor's host.
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
    """Unusable output of fio, or invalid limits."""


@dataclass(frozen=True)
class Profile:
    """A write pattern.

    ``block_bytes`` is the size of a record, ``total_bytes`` that of the file. With ``seconds`` a run rewrites the file for that
    long, otherwise it ends with the file. ``timeout`` is the default for all runs together, in seconds.
    """

    name: str
    block_bytes: int
    total_bytes: int
    timeout: int
    seconds: int | None = None


# etcd: record size and amount of the guide that etcd's documentation links to
# (https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd). rke2: the same with
# more data, which exceeds more disk caches. openshift: the options of its image etcd-perf.
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
    """Latencies of fdatasync in microseconds, writes per second (``iops``) and bytes per second (``bandwidth``)."""

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
    """The combined figures of several runs, and the 99th percentile of each run in order."""

    figures: Figures
    p99_runs_us: tuple[int, ...]

    @property
    def spread_percent(self) -> int:
        """The slowest minus the fastest 99th percentile of the runs, in percent of the median."""
        return round(100 * (max(self.p99_runs_us) - min(self.p99_runs_us)) / max(1, self.figures.p99_us))


def plan_runs(seconds: int, warmup: int, repeats: int) -> tuple[int, int]:
    """Return the seconds of warm-up and the number of runs that fit into ``seconds``, at least one second each.

    One run has priority over the warm-up, and the warm-up over further runs.
    """
    warmup = min(warmup, seconds - 1)
    return warmup, max(1, min(repeats, seconds - warmup))


def run_seconds(profile: Profile, left: float, runs: int) -> int:
    """Return the seconds of one run if ``left`` seconds remain for ``runs`` runs."""
    share = max(1, int(left / runs))
    return share if profile.seconds is None else min(share, profile.seconds)


def command(profile: Profile, filename: str, seconds: int) -> list[str]:
    """Return fio's command line for a pattern; fio stops after ``seconds`` even if the file is not complete.

    ``filename`` is relative to fio's working directory, because fio splits absolute names at colons.
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


def parse_output(text: str) -> Figures:
    """Parse fio's JSON output (fio 3.5 or newer), skipping warnings before it. Raises FioError.

    fio reports fdatasync as ``sync.lat_ns``, with the number of samples in ``N``; ``sync.total_ios`` is 0.
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
            f"fio's output has no latencies of fdatasync ({type(problem).__name__}: {problem}): "
            f"install fio 3.5 or newer. It printed: {shown}"
        ) from problem
    if error:
        raise FioError(f"fio could not write (error {error}, {reason}): check the disk and the kernel's log.")
    raise FioError("fio reported no fdatasync call: install fio 3.5 or newer, and measure again.")


def combine(runs: Sequence[Figures]) -> Measurement:
    """Combine runs: medians (the worse one of an even number), the maximum latency, and the sum of samples and times."""
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


def dump_record(measured: Measurement, identity: str, profile: Profile, measured_at: int) -> str:
    """Return a measurement as JSON, with the volume's identity and the time of measurement (seconds since 1970)."""
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
    """Return a stored measurement and its time; None if the text is not one of this volume and pattern.

    Release 0.1.0 measured once and stored no list of runs.
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
