"""Compare the linter of this clone with that of another one, in pairs: `python -m bench.lint.pairs ANOTHER_CLONE [PAIRS]`.

Each clone lints its own example inventory, and both one generated inventory of 3,000 hosts, in turn, with this clone's conftest. Prints the
median of the ratios, this clone to the other, of wall time and of CPU time (the kernel's accounting of the process).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.lint.inventory import write_folder
from bench.lint.run import CONFTEST, PROJECT

HOSTS = 3000
PAIRS = 12


def lint(clone: Path, path: Path) -> tuple[float, float]:
    """Run `conftest test` in a clone; return seconds of wall time and of CPU time."""
    began = time.monotonic()
    process = subprocess.Popen([*CONFTEST, str(path), "--output", "json"], cwd=clone, stdout=subprocess.DEVNULL)
    _pid, _status, usage = os.wait4(process.pid, 0)
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime


def compare(name: str, paths: dict[Path, Path], pairs: int) -> None:
    """Lint each clone's path in turn, and print the ratios. The first clone is this one; who begins alternates."""
    this, other = paths
    found = []
    for number in range(pairs):
        order = (this, other) if number % 2 else (other, this)
        found.append({clone: lint(clone, paths[clone]) for clone in order})
    wall, cpu = ([pair[this][kind] / pair[other][kind] for pair in found] for kind in (0, 1))
    fastest = {clone: min(pair[clone][0] for pair in found) for clone in paths}
    print(
        f"| {name} | {pairs} | {median(wall):.2f} | {median(cpu):.2f} | {fastest[this]:.2f} s | {fastest[other]:.2f} s |",
        flush=True,
    )


def main(arguments: list[str]) -> int:
    """Compare, and print a table."""
    if not arguments or not (Path(arguments[0]) / "policies").is_dir():
        print(f"{__doc__}\nNo clone of this project: {' '.join(arguments[:1]) or 'none given'}", file=sys.stderr)
        return 2
    other = Path(arguments[0]).resolve()
    pairs = int(arguments[1]) if len(arguments) > 1 else PAIRS
    print(
        "| inventory | pairs | wall time, ratio | CPU time, ratio | fastest here | fastest there |\n|---|---|---|---|---|---|"
    )
    compare("example", {clone: clone / "inventory" for clone in (PROJECT, other)}, pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = write_folder(Path(folder) / "inventory", HOSTS)
        compare(f"{HOSTS:,} hosts", {PROJECT: path, other: path}, max(1, pairs // 4))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
