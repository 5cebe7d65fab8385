# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The storage benchmark: the load, the ratios, the results file, the page and the picture."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.common.tables import read_rows
from bench.storage import report, results, verdict
from bench.storage.disk import extents
from bench.storage.load import Load
from bench.storage.matrix import (
    ALONE,
    DEFAULT,
    HEAVY_UNIT,
    LAYOUTS,
    OWN_DEVICE,
    REFERENCE,
    SCHEDULERS,
    SHARED,
    UNIT,
    Combination,
    combinations,
    rotated,
)
from bench.storage.picture import draw


def row(
    combination: Combination = REFERENCE, repeat: int = 0, put_p99: float = 100.0, fsync_p99: float = 50.0
) -> results.Row:
    kinds = {"int": 1, "float": 1.0, "str": ""}
    values: dict[str, Any] = {item.name: kinds[str(item.type)] for item in fields(results.Row)}
    named = {
        "scheduler": combination.scheduler,
        "priority": combination.priority,
        "layout": combination.layout,
        "date": "2026-01-02",
    }
    return results.Row(**{**values, **named, "repeat": repeat, "put_p99": put_p99, "fsync_p99": fsync_p99})


def every() -> list[results.Row]:
    """Three repeats of all combinations; bfq halves every latency, and repeats differ by a factor that ratios must not show."""
    found = []
    for repeat, drift in enumerate((1.0, 1.3, 0.8)):
        for layout in (*LAYOUTS, ALONE):
            for combination in combinations(layout):
                found.append(
                    row(combination, repeat, 100 * drift * (0.5 if combination.scheduler == "bfq" else 1), 40 * drift)
                )
    return found


class Server(http.server.ThreadingHTTPServer):
    """Answers puts, each after a time."""

    request_queue_size = 128  # all workers connect at once

    def __init__(self, seconds: float) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(seconds)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    with Server(request.param) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()


@pytest.mark.parametrize("server", [0.05], indirect=True)
def test_load_counts_what_is_due_after_the_warm_up(server: str) -> None:
    begin = time.monotonic() + 0.05
    load = Load(server, 100, begin, 1.0)
    load.start()
    puts = load.result(begin + 0.5)
    assert (len(puts.latencies), puts.unanswered) == (50, 0)
    assert 0.05 <= puts.quantile(0.0) <= puts.quantile(0.5) <= puts.quantile(0.99) <= puts.latencies[-1]


@pytest.mark.parametrize("server", [0.8], indirect=True)
def test_waiting_for_a_slow_server_counts(server: str) -> None:
    """64 workers do 80 puts a second here: of 120 a second the later ones wait, and that is part of their latency."""
    begin = time.monotonic()
    load = Load(server, 120, begin, 1.5)
    load.start()
    puts = load.result(begin)
    assert puts.unanswered == 0 and puts.quantile(0.0) >= 0.8
    assert puts.quantile(0.99) > 1.1, "180 puts are three rounds of the workers, 2.4 s, and the last is due after 1.5 s"


def test_load_on_nobody() -> None:
    with Server(0) as gone:
        port = gone.server_port
    begin = time.monotonic()
    load = Load(f"http://127.0.0.1:{port}", 50, begin, 0.4)
    load.start()
    puts = load.result(begin)
    assert puts.unanswered == len(puts.latencies) == 20 and puts.quantile(0.0) > 1


def test_partitions_lie_one_after_the_other() -> None:
    assert extents([4 * MIB, 6 * MIB]) == [(2048, 8192), (10240, 12288)]


def test_cells() -> None:
    assert REFERENCE in combinations(SHARED)
    assert [combination.scheduler for combination in combinations(SHARED) if combination.priority == HEAVY_UNIT] == [
        "bfq"
    ]
    assert {combination.priority for combination in combinations(OWN_DEVICE)} == {DEFAULT, UNIT}
    assert len(combinations(SHARED, quick=True)) < len(combinations(SHARED))
    assert [rotated(SCHEDULERS, turn)[0] for turn in range(4)] == [*SCHEDULERS, SCHEDULERS[0]]


def test_ratios_are_of_one_repeat() -> None:
    found = verdict.ratio(every(), Combination("bfq", DEFAULT, SHARED), REFERENCE, verdict.put_p99)
    assert found == verdict.Spread(0.5, 0.5, 0.5)
    assert verdict.ratio(every(), Combination("kyber", DEFAULT, SHARED), REFERENCE, verdict.put_p99) is None
    assert verdict.level(every(), REFERENCE, verdict.put_p99) == verdict.Spread(100, 80, 130)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.5, 0.9, "helps"),
        (0.5, 0.95, "no effect shown"),
        (0.95, 1.05, "no effect shown"),
        (1.1, 2, "harms"),
        (0.2, 3, "no effect shown"),
    ],
)
def test_words_need_every_repeat(low: float, high: float, expected: str) -> None:
    assert verdict.word(verdict.Spread((low + high) / 2, low, high)) == expected


def test_every_remedy_compares_measured_combinations() -> None:
    measured = {found.combination for found in every()}
    for remedy in verdict.remedies():
        assert {remedy.after, remedy.before} <= measured, remedy.name
    assert len({remedy.name for remedy in verdict.remedies()}) == len(verdict.remedies())


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    results.write(path, {"machine": "2 cores", "etcd": "3.7.3"}, every())
    assert read_rows(path, results.Row) == ({"machine": "2 cores", "etcd": "3.7.3"}, every())


def test_page_and_picture(tmp_path: Path) -> None:
    text = report.page({"machine": "2 cores, 24 GiB"}, every())
    assert "{{" not in text and "| bfq alone | 0.50 (0.50–0.50) |" in " ".join(text.split())
    draw(every(), tmp_path)
    first = (tmp_path / "evidence.svg").read_bytes()
    draw(every(), tmp_path)
    assert (tmp_path / "evidence.svg").read_bytes() == first and (tmp_path / "evidence.png").stat().st_size > 10000


@pytest.mark.parametrize(("load", "warned"), [("0.4", False), ("9.0", True)])
def test_the_page_warns_of_a_busy_machine(load: str, warned: bool) -> None:
    text = report.page({"machine": "2 cores, 24 GiB", "load of other work before": load}, every())
    assert ("Measured on a busy machine" in text) is warned
    assert ("(helps)" not in text and "| not judged |" in " ".join(text.split())) is warned


@pytest.fixture(params=["here", "below a private home directory"])
def clone(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The project's folder, or a copy of what the benchmark imports below a folder that only its owner can enter."""
    if request.param == "here":
        return report.PROJECT
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for folder in ("bench", "plugins", "model", ".collections"):
        shutil.copytree(report.PROJECT / folder, home / "clone" / folder, symlinks=True)
    return home / "clone"


# Another user could not read a private clone, so root only pretends.
WITHOUT_ROOT = """
import os, sys
os.geteuid = lambda: 65534
from bench.storage.run import main
sys.exit(main())
"""


def test_storage_run_without_root_says_what_it_needs(clone: Path) -> None:
    """The benchmark prints one message and exits before it creates anything."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROOT],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": f"{clone}/.collections"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert (
        done.stderr.strip() == "bench/storage needs root, for loop devices, mounts and negative nice: run it with sudo"
    )
    assert clone == report.PROJECT or not (clone / ".headroom").exists()
