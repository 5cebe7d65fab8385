#!/usr/bin/env python3
"""Lint inventories of 100, 1,000 and 10,000 hosts with all rules, as a user would, and hold the figures to their limits.

    bench/lint/run.py            both forms, with sixteen workloads in all
    bench/lint/run.py 100 1000   other sizes

Wall time and peak memory are conftest's alone, the latter as the kernel counts it. Exits 1 if a limit is passed. The last rows, a workload
of its own for each cluster, have no limit but that of growth: there the model of memory takes most of the time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from bench.lint.inventory import write_folder, write_listed

PROJECT = Path(__file__).resolve().parent.parent.parent
SIZES = [100, 1000, 10000]
RUNS = 3
# The limits: of the largest size, of growth by ten, and of an inventory as small as the example.
LIMIT_SECONDS = 5.0
LIMIT_BYTES = 1 << 30
LIMIT_GROWTH = 12.0
LIMIT_SMALL_SECONDS = 0.3


@dataclass(frozen=True)
class Run:
    """Seconds, bytes, and findings of one run of conftest."""

    seconds: float
    peak: int
    findings: int


def lint(path: Path) -> Run:
    """Run `conftest test` where conftest.toml says what with."""
    conftest = shutil.which("conftest")
    if conftest is None:
        raise SystemExit("conftest is not on PATH: `. .headroom/activate` puts it there")
    with tempfile.TemporaryFile("w+") as out:
        began = time.monotonic()
        # Not waited for by subprocess: wait4 gives what the kernel counted for this one process.
        process = subprocess.Popen(
            [conftest, "test", str(path), "--output", "json"], cwd=PROJECT, stdout=out, stdin=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if process.returncode not in (0, 1) or not text:
        raise SystemExit(f"conftest ended with {process.returncode} on {path}")
    found = sum(len(entry.get(kind) or []) for entry in json.loads(text) for kind in ("failures", "warnings"))
    return Run(seconds, usage.ru_maxrss * 1024, found)


def best(path: Path, runs: int = RUNS) -> Run:
    """The fastest of several runs: what else the machine does only adds."""
    return min((lint(path) for _ in range(runs)), key=lambda run: run.seconds)


def main() -> int:
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    broken: list[str] = []
    print(f"{os.cpu_count()} CPUs; best of {RUNS}\n")
    print(f"{'hosts':>7}  {'form':<7} {'workloads':>9}  {'seconds':>7}  {'peak RSS':>9}  {'findings':>8}")

    def row(hosts: int, form: str, workloads: int, run: Run) -> None:
        print(
            f"{hosts:>7,}  {form:<7} {workloads:>9,}  {run.seconds:>7.2f}  {run.peak / 2**20:>5.0f} MiB  {run.findings:>8,}",
            flush=True,
        )

    example = best(PROJECT / "inventory", 5)
    row(3, "example", 1, example)
    if example.seconds > LIMIT_SMALL_SECONDS:
        broken.append(f"the example takes {example.seconds:.2f} s, more than {LIMIT_SMALL_SECONDS}")
    with tempfile.TemporaryDirectory(prefix="headroom-lint-") as scratch:
        for form, distinct in (("folder", 16), ("listed", 16), ("folder", 0)):
            before: tuple[int, Run] | None = None
            for hosts in sizes:
                path = Path(scratch) / f"{form}-{hosts}-{distinct}"
                if form == "folder":
                    write_folder(path, hosts, distinct)
                else:
                    path = write_listed(path.with_suffix(".json"), hosts, distinct)
                run = best(path, RUNS if distinct else 1)
                row(hosts, form, distinct or hosts // 5, run)
                if before and run.seconds / before[1].seconds > LIMIT_GROWTH / 10 * hosts / before[0]:
                    times = f"{run.seconds / before[1].seconds:.1f} times what {before[0]:,} take"
                    broken.append(f"{form}: {hosts:,} hosts take {times}")
                if run.seconds > LIMIT_SECONDS and distinct:
                    broken.append(f"{form}: {hosts:,} hosts take {run.seconds:.1f} s, more than {LIMIT_SECONDS:.0f}")
                if run.peak > LIMIT_BYTES and distinct:
                    broken.append(f"{form}: {hosts:,} hosts take {run.peak / 2**30:.2f} GiB, more than 1")
                before = hosts, run
    for line in broken:
        print(f"over the limit: {line}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
