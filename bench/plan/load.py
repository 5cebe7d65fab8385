"""Run etcd's benchmark tool and parse its report."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.common.member import BENCHMARK
from bench.plan.workloads import KEY_SIZE, Workload

# A slice takes seconds. After this time the member only reclaims memory.
SLICE_SECONDS = 90


@dataclass(frozen=True)
class Slice:
    """One run of the benchmark. quantiles: (share of the puts, seconds) from the fastest put (0) to the slowest (1)."""

    puts: int
    seconds: float
    quantiles: tuple[tuple[float, float], ...]
    errors: int = 0


def parse(output: str) -> Slice:
    """Parse the report of a benchmark that ran with --precise. Raises ValueError."""

    def number(pattern: str) -> float:
        found = re.search(pattern, output)
        if not found:
            raise ValueError(f"the benchmark's report has no {pattern!r}:\n{output[-500:]}")
        return float(found[1])

    seconds, rate = number(r"Total:\s+(\S+) secs"), number(r"Requests/sec:\s+(\S+)")
    points = {0.0: number(r"Fastest:\s+(\S+) secs"), 1.0: number(r"Slowest:\s+(\S+) secs")}
    for share, value in re.findall(r"^\s+([0-9.]+)% in (\S+) secs\.$", output, re.M):
        points[round(float(share) / 100, 4)] = float(value)
    distribution = output.partition("Error distribution:")[2]
    errors = sum(int(count) for count in re.findall(r"^\s+\[(\d+)\]\t", distribution, re.M))
    return Slice(round(seconds * rate), seconds, tuple(sorted(points.items())), errors)


def quantile(slices: Sequence[Slice], share: float) -> float:
    """Return the latency in seconds that this share of all puts does not exceed.

    Interpolates linearly between the percentiles that the benchmark prints for each slice (… 95, 99, 99.9 %).
    """
    puts = sum(part.puts for part in slices)
    low, high = min(part.quantiles[0][1] for part in slices), max(part.quantiles[-1][1] for part in slices)
    for _ in range(60):
        middle = (low + high) / 2
        if sum(part.puts * below(part.quantiles, middle) for part in slices) < share * puts:
            low = middle
        else:
            high = middle
    return high


def below(quantiles: Sequence[tuple[float, float]], seconds: float) -> float:
    """Return the share of a slice's puts that took no longer than this."""
    if seconds < quantiles[0][1]:
        return 0.0
    for (low, from_), (high, to) in zip(quantiles, quantiles[1:]):
        if seconds < to:
            return low + (high - low) * (seconds - from_) / (to - from_)
    return 1.0


def put_command(endpoints: Sequence[str], workload: Workload, puts: int) -> list[str]:
    """Return the command that puts values to one key after the other, and ends with this process."""
    command = ["setpriv", "--pdeathsig", "KILL", "--", str(BENCHMARK), "--precise", "--endpoints", ",".join(endpoints)]
    command += ["--conns", str(workload.connections), "--clients", str(workload.clients)]
    command += ["put", "--sequential-keys", "--key-size", str(KEY_SIZE), "--val-size", str(workload.value_size)]
    command += ["--key-space-size", str(workload.keys), "--total", str(puts)]
    if workload.paced:
        command += ["--rate", str(workload.rate)]
    return command


def put(endpoints: Sequence[str], workload: Workload, puts: int, alive: Callable[[], bool]) -> Slice | None:
    """Put values to one key after the other. Returns None if the members died or did not answer for SLICE_SECONDS."""
    command = put_command(endpoints, workload, puts)
    with tempfile.TemporaryFile() as out:
        tool = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + SLICE_SECONDS
            while tool.poll() is None:
                if not alive() or time.monotonic() > deadline:
                    return None
                time.sleep(0.02)
        finally:
            if tool.poll() is None:
                tool.kill()
            tool.wait()
        # Members that die at the end leave a report with errors.
        if not alive():
            return None
        out.seek(0)
        report = out.read().decode(errors="replace")
    if tool.returncode:
        raise RuntimeError(f"etcd's benchmark ended with {tool.returncode}:\n{report[-500:]}")
    return parse(report)
