# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded output of fio 3.33, its command line, and stored results."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio

from tests.unit.plugins.module_utils._storage.recorded_fio import FIGURES, answer, runs

ETCD, OPENSHIFT = fio.PROFILES["etcd"], fio.PROFILES["openshift"]


def test_parse_output_in_microseconds() -> None:
    assert fio.parse_output(answer("loop-ext4")) == FIGURES


def test_warnings_before_the_output_are_skipped() -> None:
    assert fio.parse_output("fio: some warning\n" + answer("loop-ext4")) == FIGURES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (answer("disk-full"), r"error 28, No space left on device"),
        (answer("without-fdatasync"), r"no fdatasync call"),
        ("", r"It printed: nothing"),
        ("fio: unrecognised option", r"It printed: fio: unrecognised option"),
        (answer("loop-ext4")[:2000], r"fio 3\.5 or newer"),
        ("{}", r"fio 3\.5 or newer"),
        ('{"jobs": []}', r"fio 3\.5 or newer"),
        (json.dumps({"jobs": [{"error": 0, "write": {}}]}), r"fio 3\.5 or newer"),
        (json.dumps({"jobs": [{"error": 10**30}]}), r"fio 3\.5 or newer"),
        ('{"jobs": [{"error": 0, "sync": {"lat_ns": {"N": Infinity}}, "write": {}}]}', r"fio 3\.5 or newer"),
    ],
)
def test_unusable_output(text: str, message: str) -> None:
    with pytest.raises(fio.FioError, match=message):
        fio.parse_output(text)


def test_combine_takes_medians() -> None:
    slow = replace(FIGURES, p50_us=900, max_us=9000, iops=1000, bandwidth=2300000, samples=5000, runtime_ms=5000)
    figures = fio.combine([FIGURES, slow]).figures
    assert (figures.p50_us, figures.max_us, figures.iops, figures.bandwidth) == (900, 9000, 1000, 2300000)
    assert (figures.samples, figures.runtime_ms) == (15029, 9941)


@pytest.mark.parametrize(
    ("seconds", "warmup", "repeats", "expected"),
    [
        (30, 1, 3, (1, 3)),
        (10, 0, 1, (0, 1)),
        (1, 1, 3, (0, 1)),
        (2, 1, 3, (1, 1)),
        (3, 1, 3, (1, 2)),
        (5, 60, 3, (4, 1)),
    ],
)
def test_short_time_limits_the_runs(seconds: int, warmup: int, repeats: int, expected: tuple[int, int]) -> None:
    assert fio.plan_runs(seconds, warmup, repeats) == expected


@pytest.mark.parametrize(
    ("profile", "left", "count", "seconds"),
    [("etcd", 29, 3, 9), ("etcd", 20, 1, 20), ("etcd", 0.5, 2, 1), ("openshift", 199, 3, 60), ("openshift", 30, 3, 10)],
)
def test_each_run_gets_its_share_of_the_time(profile: str, left: float, count: int, seconds: int) -> None:
    assert fio.run_seconds(fio.PROFILES[profile], left, count) == seconds


def test_record_is_loaded_for_its_volume_and_pattern_only() -> None:
    record = fio.dump_record(runs(1729, 1800, 1700), "uuid-1", ETCD, 1795239113)
    assert fio.load_record(record, "uuid-1", ETCD) == (runs(1729, 1800, 1700), 1795239113)
    assert fio.load_record(record, "uuid-2", ETCD) is None
    assert fio.load_record(record, "uuid-1", OPENSHIFT) is None


def test_a_record_of_release_0_1_0_is_read() -> None:
    record = {
        "identity": "uuid-1",
        "measured_at": 1795239113,
        "block_bytes": 2300,
        "total_bytes": 23068672,
        "figures": vars(FIGURES),
    }
    assert fio.load_record(json.dumps(record), "uuid-1", ETCD) == (runs(1729), 1795239113)


@pytest.mark.parametrize("text", ["", "[]", "{}", "no json", '{"identity": "uuid-1"}'])
def test_broken_record_is_ignored(text: str) -> None:
    assert fio.load_record(text, "uuid-1", ETCD) is None


@pytest.mark.parametrize(("name", "value"), [("figures", []), ("figures", {"p50_us": "x"}), ("p99_runs_us", 5)])
def test_record_with_broken_figures_is_ignored(name: str, value: object) -> None:
    record = {**json.loads(fio.dump_record(runs(1729), "uuid-1", ETCD, 1)), name: value}
    assert fio.load_record(json.dumps(record), "uuid-1", ETCD) is None


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("etcd", ["--size=23068672", "--bs=2300", "--runtime=30", "--filename=f"]),
        ("rke2", ["--size=104857600", "--bs=2300", "--runtime=30", "--filename=f"]),
        ("openshift", ["--size=104857600", "--bs=8000", "--runtime=30", "--time_based", "--filename=f"]),
    ],
)
def test_command_of_each_profile(profile: str, words: list[str]) -> None:
    assert fio.command(fio.PROFILES[profile], "f", 30) == [
        *("fio", "--name=etcd", "--rw=write", "--ioengine=sync", "--fdatasync=1", "--thread"),
        *words,
        "--output-format=json",
    ]
