# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded answers of fio 3.33, for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio

ANSWERS = Path(__file__).parent / "fio"
# Of the answer loop-ext4.
FIGURES = fio.Figures(
    p50_us=420,
    p99_us=1729,
    p999_us=3162,
    max_us=5754,
    samples=10029,
    iops=2030,
    bandwidth=4668427,
    runtime_ms=4941,
    fio_version="fio-3.33",
)


def answer(name: str) -> str:
    """One recorded answer."""
    return (ANSWERS / f"3.33-{name}.json").read_text(encoding="utf-8")


def runs(*p99_us: int) -> fio.Measurement:
    """A measurement whose runs differ in this figure only."""
    return fio.combine([replace(FIGURES, p99_us=value) for value in p99_us])
