# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a disk fast enough for etcd? fio's command line, its answer, and the verdict. Private to the collection.

etcd appends small records to its write-ahead log and calls fdatasync after each; its guide asks for a 99th percentile
below 10 ms (https://etcd.io/docs/v3.6/op-guide/hardware/, "Disks"). Pure: nothing here runs or writes anything.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from typing import Any

# The write pattern of etcd's WAL: mean record size and the amount written, as in the guide that etcd's documentation
# points to (https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd).
BLOCK_BYTES = 2300
TOTAL_BYTES = 22 * 1024 * 1024

# Ten samples lie above the 99th percentile then; the whole pattern gives 10029.
MIN_SAMPLES = 1000

# fdatasync costs nothing on these, or its cost is that of another layer: a measurement would say "fast" of any disk.
REFUSED_FILESYSTEMS = {
    "tmpfs": "memory",
    "ramfs": "memory",
    "overlay": "a container's layer",
    "aufs": "a container's layer",
    "squashfs": "read-only",
}

NETWORK_FILESYSTEMS = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "ceph",
        "glusterfs",
        "fuse.glusterfs",
        "fuse.sshfs",
        "9p",
        "lustre",
        "ocfs2",
        "gfs2",
    ]
)


class FioError(ValueError):
    """fio's answer cannot be trusted; the text says why and what to do."""


@dataclass(frozen=True)
class Figures:
    """What one run measured: latencies of fdatasync in microseconds, and the rate of synchronised writes."""

    p50_us: int
    p99_us: int
    p999_us: int
    max_us: int
    samples: int
    iops: int
    bandwidth: int
    runtime_ms: int
    fio_version: str


def command(filename: str, seconds: int) -> list[str]:
    """fio's arguments for etcd's pattern; it stops after `seconds` even if the whole amount is not yet written.

    The name is relative to the directory that fio is started in: fio splits absolute names at colons.
    """
    return [
        "fio",
        "--name=etcd",
        "--rw=write",
        "--ioengine=sync",
        "--fdatasync=1",
        "--thread",
        f"--size={TOTAL_BYTES}",
        f"--bs={BLOCK_BYTES}",
        f"--runtime={seconds}",
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
    except (KeyError, IndexError, TypeError, ValueError) as problem:
        shown = " ".join(text.split())[:200] or "nothing"
        raise FioError(
            f"fio's answer has no latencies of fdatasync ({type(problem).__name__}: {problem}). "
            f"fio 3.5 or newer is needed; it printed: {shown}"
        ) from problem
    if error:
        raise FioError(
            f"fio could not write (error {error}, {os.strerror(error)}): look at the disk and at the kernel's log."
        )
    raise FioError("fio measured no fdatasync at all: its figures say nothing about this disk.")


def milliseconds(microseconds: int) -> str:
    """Microseconds as people read them: '0.42 ms', '10 ms', '12.3 ms', '240 ms'."""
    value = microseconds / 1000
    digits = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}."
    return f"{digits.rstrip('0').rstrip('.') if value >= 10 else digits} ms"


def judge(figures: Figures, limit_us: int, place: str) -> tuple[str, str]:
    """The verdict, 'ok' or 'fail', and the sentence that explains it. `place` names the disk.

    Raises FioError if there are too few samples to say that the disk is fast; that it is slow needs fewer.
    """
    if figures.samples < MIN_SAMPLES and figures.p50_us <= limit_us:
        raise FioError(
            f"fio measured only {figures.samples} fdatasync calls on {place}, {MIN_SAMPLES} are needed for a 99th "
            "percentile: allow it more time."
        )
    measured = (
        f"99 % of {figures.samples} fdatasync calls on {place} took at most {milliseconds(figures.p99_us)} "
        f"(half of them {milliseconds(figures.p50_us)}, the slowest {milliseconds(figures.max_us)}); "
        f"the limit is {milliseconds(limit_us)}"
    )
    if figures.p99_us <= limit_us:
        return "ok", f"{measured}: fast enough."
    return "fail", (
        f"{measured}: too slow. etcd would answer slowly and lose its leader under load. "
        "Give it an SSD that it shares with nobody."
    )


def dump_record(figures: Figures, identity: str, measured_at: int) -> str:
    """What is kept of a measurement, as JSON: the figures, the volume's identity, the date (seconds since 1970)."""
    record = {
        "identity": identity,
        "measured_at": measured_at,
        "block_bytes": BLOCK_BYTES,
        "total_bytes": TOTAL_BYTES,
        "figures": asdict(figures),
    }
    return json.dumps(record, indent=2, sort_keys=True) + "\n"


def load_record(text: str, identity: str) -> tuple[Figures, int] | None:
    """The kept figures and their date; None where there are none for this volume and this pattern."""
    try:
        record = json.loads(text)
        same = (record["identity"], record["block_bytes"], record["total_bytes"])
        if same != (identity, BLOCK_BYTES, TOTAL_BYTES):
            return None
        values = {field.name: record["figures"][field.name] for field in fields(Figures)}
        return Figures(**values), int(record["measured_at"])
    except (KeyError, TypeError, ValueError):
        return None
