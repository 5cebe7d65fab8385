# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare measured latencies with their limits and explain the verdict.

etcd's hardware guide asks for a 99th percentile of fdatasync below 10 ms (https://etcd.io/docs/v3.6/op-guide/hardware/,
"Disks"). Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._storage.fio import FioError, Measurement

# With this many samples ten lie above the 99th percentile; a whole run of profile etcd has 10029.
MIN_SAMPLES = 1000

# Runs on an idle disk differ by less than this; above it, another writer or a rate limit interferes.
STEADY_PERCENT = 50


@dataclass(frozen=True)
class Limits:
    """Limits of a 99th percentile in microseconds: fail above ``fail_us``, warn above ``warn_us``."""

    fail_us: int
    warn_us: int


def parse_limits(max_ms: float, warn_ms: float | None, prefix: str = "fsync") -> Limits:
    """Convert limits from milliseconds; ``warn_ms`` defaults to half of ``max_ms``.

    ``prefix`` starts the options' names in messages. Raises FioError for an invalid limit.
    """
    for name, value in ((f"{prefix}_p99_max_ms", max_ms), (f"{prefix}_p99_warn_ms", warn_ms)):
        if value is not None and not (math.isfinite(value) and round(value * 1000) > 0):
            raise FioError(f"{name} is {value}, but must be a number of milliseconds above 0, for example 10.")
    fail_us = round(max_ms * 1000)
    warn_us = fail_us // 2 if warn_ms is None else round(warn_ms * 1000)
    if warn_us > fail_us:
        raise FioError(
            f"{prefix}_p99_warn_ms is {warn_ms}, above {prefix}_p99_max_ms ({max_ms}): lower it, so that the warning comes before the failure."
        )
    return Limits(fail_us, warn_us)


def format_milliseconds(microseconds: int) -> str:
    """Format microseconds as '0.42 ms', '10 ms', '12.3 ms' or '240 ms'."""
    value = microseconds / 1000
    digits = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}."
    return f"{digits.rstrip('0').rstrip('.') if value >= 10 else digits} ms"


def format_distinctly(value_us: int, limit_us: int) -> tuple[str, str]:
    """Format a latency and its limit in milliseconds, exactly if the rounded texts of different values are equal."""
    value, limit = format_milliseconds(value_us), format_milliseconds(limit_us)
    if value == limit and value_us != limit_us:
        return f"{value_us / 1000:.3f} ms", f"{limit_us / 1000:.3f} ms"
    return value, limit


def is_conclusive(measured: Measurement, limits: Limits) -> bool:
    """Return whether there are enough samples for a verdict. Failing needs fewer samples than passing."""
    return measured.figures.samples >= MIN_SAMPLES or measured.figures.p50_us > limits.fail_us


def judge(measured: Measurement, limits: Limits, place: str, *, network: str = "") -> tuple[str, str]:
    """Return the verdict, 'ok', 'warn' or 'fail', with the sentences that explain it.

    ``place`` names the disk in the sentences; ``network`` is its filesystem's type if that is a network filesystem. Raises
    FioError if the measurement is not conclusive.
    """
    figures, runs = measured.figures, measured.p99_runs_us
    if not is_conclusive(measured, limits):
        raise FioError(
            f"fio measured only {figures.samples} fdatasync calls on {place}, and a 99th percentile needs {MIN_SAMPLES}: "
            "measure when the machine is idle, or raise timeout, which is etcd_storage_check_seconds in role etcd_storage."
        )
    p99, limit = format_distinctly(figures.p99_us, limits.fail_us)
    several = (
        f"median of {len(runs)} runs, {format_milliseconds(min(runs))} to {format_milliseconds(max(runs))}; "
        if len(runs) > 1
        else ""
    )
    sentence = (
        f"99 % of {figures.samples} fdatasync calls on {place} took at most {p99} "
        f"({several}half of them {format_milliseconds(figures.p50_us)}, the slowest {format_milliseconds(figures.max_us)}); "
        f"the limit is {limit}"
    )
    unsteady = measured.spread_percent > STEADY_PERCENT
    if figures.p99_us > limits.fail_us:
        verdict, sentence = (
            "fail",
            (
                f"{sentence}: too slow. etcd would answer slowly and lose its leader under load. "
                "Give it an SSD of its own."
            ),
        )
    elif figures.p99_us > limits.warn_us:
        verdict, sentence = (
            "warn",
            (
                f"{sentence}: fast enough, but above {format_milliseconds(limits.warn_us)} there is little reserve for peak load."
            ),
        )
    else:
        verdict, sentence = "ok", f"{sentence}: fast enough."
        if unsteady and max(runs) > limits.warn_us:
            verdict = "warn"
    if unsteady:
        sentence += (
            f" The runs differ by {measured.spread_percent} %: something else uses this disk, or it is throttled. "
            "Measure again when it is idle."
        )
    if network:
        verdict = "fail" if verdict == "fail" else "warn"
        sentence += f" {network} is a network filesystem, which etcd's documentation advises against: use a local disk."
    return verdict, sentence
