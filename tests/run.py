#!/usr/bin/env python3
"""Run the project's checks and count them; the last line is `N passed, N failed`.

`run.py check` runs the fast ones, `run.py all` every one, `run.py NAME…` the named ones; `run.py --list` lists them. Two checks with lab
hosts run side by side, as they wait for hosts most of the time. Their parts that count failed writes follow, one at a time. The others run
beside all of these, at low priority.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.checks import ALL, CPU, FAST, HOSTS, Check

PROJECT = Path(__file__).resolve().parent.parent
STATE = PROJECT / ".headroom"
LOGS = STATE / "logs"
HOSTS_AT_ONCE = 2
SLOWEST = 10
SLOWEST_TESTS = 3
SKIP = re.compile(r"^SKIPPED \[\d+\] \S+: (.*)", re.MULTILINE)  # as pytest -rs prints it
REASON = re.compile(r"\s*(FAILED |ERROR |\[ERROR\]: |E +\w*(Error|Exception)\b)")
MAX_REASONS, MAX_REASON = 12, 300
HELD: list[int] = []  # the descriptor of the lock of labs, while it is held


@dataclass
class Result:
    """The outcome of one check.

    seconds, cpu_seconds: its time and that of processors, hosts' excluded. tests: its slowest ones as (seconds, name). skips: why tests were skipped.
    """

    check: Check
    seconds: float
    cpu_seconds: float
    passed: int
    failed: int
    tests: list[tuple[float, str]] = field(default_factory=list)
    skipped: int = 0
    skips: list[str] = field(default_factory=list)


def environment(durations: Path) -> dict[str, str]:
    """Return the environment of a check: the pinned tools, and no cache or configuration outside the project."""
    return {
        **os.environ,
        "PYTHONPATH": str(PROJECT / ".collections"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": "-p tests.durations",
        "HEADROOM_DURATIONS": str(durations),
        "HEADROOM_ARCHIVES": str(STATE / "archives"),
        "XDG_CONFIG_HOME": str(STATE / "config"),
        "XDG_DATA_HOME": str(STATE / "data"),
        "MYPY_CACHE_DIR": str(STATE / "mypy"),
        "RUFF_CACHE_DIR": str(STATE / "ruff"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(STATE / "hypothesis"),
        "MPLCONFIGDIR": str(STATE / "matplotlib"),
        "ANSIBLE_HOME": str(STATE / "ansible"),
        "NO_COLOR": "1",
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "200",
    }


def count(output: str, pattern: str, *, several: bool = False) -> int:
    """Return the last number that the pattern finds, or the sum of several; 0 if there is none."""
    found = [int(number) for number in re.findall(pattern, output)] if pattern else []
    return sum(found) if several else sum(found[-1:])


def slowest_tests(durations: Path) -> list[tuple[float, str]]:
    """Read what the plugin tests.durations wrote; the slowest first."""
    if not durations.exists():
        return []
    split = (line.split(" ", 1) for line in durations.read_text().splitlines())
    return sorted(((float(seconds), name) for seconds, name in split), reverse=True)[:SLOWEST_TESTS]


def run(check: Check, *, nice: bool = False) -> Result:
    """Run one check and print a line, with the end of its output if it failed."""
    began = time.monotonic()
    log = LOGS / f"{check.name.replace(' ', '-')}.log"
    durations = log.with_suffix(".durations")
    durations.unlink(missing_ok=True)
    with log.open("w") as out:
        done = subprocess.Popen(
            [*(["nice"] if nice else []), "sh", "-c", check.command],
            cwd=PROJECT,
            env=environment(durations),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            pass_fds=HELD,
        )
        _, status, used = os.wait4(done.pid, 0)
        done.returncode = os.waitstatus_to_exitcode(status)
    output = log.read_text(errors="replace")
    passed, failed, skipped = (
        count(output, pattern, several=check.several) for pattern in (check.passed, check.failed, check.skipped)
    )
    if done.returncode == 0:
        passed, failed = passed if skipped else max(passed, 1), 0
    else:
        failed = max(failed, 1)
    result = Result(
        check,
        time.monotonic() - began,
        used.ru_utime + used.ru_stime,
        passed,
        failed,
        slowest_tests(durations),
        skipped,
        list(dict.fromkeys(SKIP.findall(output))) if skipped else [],
    )
    print(describe(result, output, log), end="", flush=True)  # one write, since other threads print too
    return result


def describe(result: Result, output: str, log: Path) -> str:
    tests = f", {result.passed} tests" if result.passed > 1 else ""
    tests += f", {result.skipped} skipped" if result.skipped else ""
    mark = "FAILED" if result.failed else "ok    "
    lines = [
        f"{mark}  {result.check.name} ({result.seconds:.0f} s, {result.cpu_seconds:.0f} s of processor time{tests})"
    ]
    if result.failed:
        lines += [*output.splitlines()[-60:], f"  … full log: {log}"]
        lines += [f"  {line}" for line in reasons(output)] + [""]
    return "\n".join(lines) + "\n"


def reasons(output: str) -> list[str]:
    """Return the first failed tests, since one failure causes the next, and the last errors: the end of an output is often a recap."""
    found = dict.fromkeys(line.strip()[:MAX_REASON] for line in output.splitlines() if REASON.match(line))
    tests = [line for line in found if line.startswith("FAILED ")]
    return [*tests[:MAX_REASONS], *[line for line in found if line not in tests][-MAX_REASONS:]]


def run_all(hosts: list[Check], others: list[Check]) -> list[Result]:
    """Run checks with hosts in lanes of their own, then their parts that need the machine, one at a time; the others all along, at low priority."""
    shared, alone = deque(hosts), deque(check.alone for check in hosts if check.alone)
    waiting = deque(others)
    results: list[Result] = []

    def lane(queue: deque[Check], *, nice: bool = False) -> None:
        while queue:
            try:
                check = queue.popleft()
            except IndexError:  # another lane took the last one
                break
            results.append(run(check, nice=nice))

    cpus = os.cpu_count() or 1
    host_lanes = min(HOSTS_AT_ONCE, len(shared))
    with ThreadPoolExecutor() as pool:
        try:
            # Without hosts one more than there are processors, since some checks wait.
            lanes = cpus + 1 if not hosts else max(1, cpus - host_lanes)
            beside = [pool.submit(lane, waiting, nice=bool(hosts)) for _ in range(lanes)]
            for ended in [pool.submit(lane, shared) for _ in range(host_lanes)]:
                ended.result()
            lane(alone)
            beside += [pool.submit(lane, waiting) for _ in range(host_lanes)]  # their cores are free now
            for ended in beside:
                ended.result()
        except BaseException:  # such as Ctrl-C: no further check begins
            for queue in (shared, alone, waiting):
                queue.clear()
            raise
    return results


@contextlib.contextmanager
def lock_of_labs() -> Iterator[None]:
    """Wait for other runs with hosts in this clone: they make and remove labs of the same names.

    The checks hold the lock too, because they go on if this process is killed.
    """
    with (STATE / "tests.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waits for another run of checks with hosts, which holds {lock.name}", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        HELD.append(lock.fileno())
        try:
            yield
        finally:
            HELD.clear()


def print_slowest(results: list[Result]) -> None:
    print(f"\nThe {min(SLOWEST, len(results))} slowest checks, with their slowest tests:")
    for result in sorted(results, key=lambda one: -one.seconds)[:SLOWEST]:
        print(f"{result.seconds:6.0f} s  {result.check.name}")
        for seconds, name in result.tests:
            print(f"{seconds:10.0f} s  {name}")
    print()


def print_skipped(results: list[Result]) -> None:
    for result in results:
        if result.skipped:
            print(f"{result.check.name}: {result.skipped} skipped ({'; '.join(result.skips)})")


def chosen(names: list[str]) -> tuple[list[Check], list[Check]]:
    """Return the checks with hosts and the others; raise ValueError for an unknown name."""
    groups = {"check": FAST, "all": ALL}
    unknown = sorted(set(names) - {check.name for check in [*HOSTS, *CPU, *FAST]} - groups.keys())
    if unknown:
        raise ValueError(f"no check is called {', '.join(unknown)}; --list lists them")
    wanted = {check.name for name in names for check in groups.get(name, [])} | set(names)
    return [check for check in HOSTS if check.name in wanted], [
        check for check in [*CPU, *FAST] if check.name in wanted
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the project's checks and count them.")
    parser.add_argument("names", nargs="*", default=["check"], help="check (the fast ones), all, or names of checks")
    parser.add_argument("--list", action="store_true", help="list the checks")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(check.name for check in [*FAST, *CPU, *HOSTS]))
        return 0
    try:
        hosts, others = chosen(arguments.names)
    except ValueError as error:
        parser.error(str(error))
    LOGS.mkdir(parents=True, exist_ok=True)
    with lock_of_labs() if hosts else contextlib.nullcontext():
        results = run_all(hosts, others)
    if "all" in arguments.names:
        print_slowest(results)
    print_skipped(results)
    passed, failed = sum(one.passed for one in results), sum(one.failed for one in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
