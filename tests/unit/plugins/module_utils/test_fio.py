# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""fio's answers, as fio 3.33 gave them, and the verdict on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils import _fio

ANSWERS = Path(__file__).parent / "fio"

FIGURES = _fio.Figures(
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


def test_latencies_of_fdatasync_in_microseconds() -> None:
    assert _fio.parse(answer("loop-ext4")) == FIGURES


def test_warnings_before_the_answer_do_not_matter() -> None:
    assert _fio.parse("fio: some warning\n" + answer("loop-ext4")) == FIGURES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (answer("disk-full"), r"error 28, No space left on device"),
        (answer("without-fdatasync"), r"no fdatasync at all"),
        ("", r"it printed: nothing"),
        ("fio: unrecognised option", r"it printed: fio: unrecognised option"),
        (answer("loop-ext4")[:2000], r"fio 3\.5 or newer"),
        ("{}", r"fio 3\.5 or newer"),
        ('{"jobs": []}', r"fio 3\.5 or newer"),
        (json.dumps({"jobs": [{"error": 0, "write": {}}]}), r"fio 3\.5 or newer"),
    ],
)
def test_answers_that_cannot_be_trusted(text: str, message: str) -> None:
    with pytest.raises(_fio.FioError, match=message):
        _fio.parse(text)


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(7, "0.01 ms"), (420, "0.42 ms"), (9990, "9.99 ms"), (10000, "10 ms"), (12340, "12.3 ms"), (240400, "240 ms")],
)
def test_milliseconds(microseconds: int, text: str) -> None:
    assert _fio.milliseconds(microseconds) == text


@pytest.mark.parametrize(
    ("p99_us", "verdict"),
    [(1729, "ok"), (10000, "ok"), (10001, "fail"), (250000, "fail")],
)
def test_verdict_and_its_sentence(p99_us: int, verdict: str) -> None:
    found, sentence = _fio.judge(replace(FIGURES, p99_us=p99_us), 10000, "/dev/vdb")
    assert found == verdict
    assert sentence.startswith("99 % of 10029 fdatasync calls on /dev/vdb took at most")
    assert "the limit is 10 ms" in sentence


def test_few_samples_are_enough_to_call_a_disk_slow_but_not_to_call_it_fast() -> None:
    partial = _fio.parse(answer("one-second"))
    assert partial.samples < _fio.MIN_SAMPLES
    with pytest.raises(_fio.FioError, match="1000 are needed"):
        _fio.judge(partial, 10000, "/dev/vdb")
    assert _fio.judge(partial, partial.p50_us - 1, "/dev/vdb")[0] == "fail"


def test_a_record_comes_back_for_its_own_volume_only() -> None:
    record = _fio.dump_record(FIGURES, "uuid-1", 1795239113)
    assert _fio.load_record(record, "uuid-1") == (FIGURES, 1795239113)
    assert _fio.load_record(record, "uuid-2") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "no json", '{"identity": "uuid-1"}'])
def test_a_broken_record_counts_as_none(text: str) -> None:
    assert _fio.load_record(text, "uuid-1") is None


def test_a_record_of_another_pattern_counts_as_none() -> None:
    record = json.loads(_fio.dump_record(FIGURES, "uuid-1", 1))
    record["block_bytes"] = 8000
    assert _fio.load_record(json.dumps(record), "uuid-1") is None


def test_the_pattern_is_that_of_etcds_guide() -> None:
    assert _fio.command("f", 30)[1:8] == [
        "--name=etcd",
        "--rw=write",
        "--ioengine=sync",
        "--fdatasync=1",
        "--thread",
        "--size=23068672",
        "--bs=2300",
    ]
