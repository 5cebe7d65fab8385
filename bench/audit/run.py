"""Audit known workloads, planted defects and other people's etcds, and measure what that costs.

    make bench-audit               all parts
    make bench-audit PARTS=cost    one part; the others stay as they were measured

The results are in results.json, which bench.audit.report turns into docs/audit-evidence.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.audit import cost, defects, keyspace, measure, supervisors
from bench.common.machine import one_line
from bench.common.member import releases
from bench.common.signals import exit_on_signals

RESULTS = Path(__file__).parent / "results.json"
# Part → what yields its rows, which are dataclasses, for the releases.
PARTS: dict[str, Callable[[list[str]], Iterator[Any]]] = {
    "workloads": measure.measure_all,
    "defects": defects.measure_all,
    "supervisors": supervisors.measure_all,
    "cost": cost.measure_single,
    "follower": cost.measure_follower,
    "keyspace": keyspace.measure_all,
}


def main(arguments: list[str] | None = None) -> None:
    """Measure, and save each part as soon as it is complete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; by default all")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write")
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    for part in options.parts or PARTS:
        rows = []
        for row in PARTS[part](releases()):
            print(row, flush=True)
            rows.append(asdict(row))
        results = json.loads(options.results.read_text()) if options.results.exists() else {}
        measured_on = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "machine": one_line()}
        results[part] = {**measured_on, "rows": rows}
        options.results.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    exit_on_signals()
    main()
