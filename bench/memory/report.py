#!/usr/bin/env python3
"""Compare the model with the measurements: docs/accuracy.md and a picture for each component.

The report depends only on results.csv and the model. `--check` writes nothing and exits 1 if the promised accuracy is not
kept or docs/accuracy.md is not current.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench.common.markdown import mib, signed_percent, table
from bench.memory import pictures
from bench.memory.compaction import RESULTS as COMPACTION_RESULTS
from bench.memory.compaction import compaction_table
from bench.memory.points import ABOVE, BELOW, PEAKS, TYPICAL, Point, highest, part, points, runs
from bench.memory.predict import number, predicted
from bench.memory.published_report import tables
from bench.memory.random_workloads import report as random_report
from bench.memory.random_workloads.cases import FILLS, FIRST_UNSEEN, SECONDS, SEEDS, WRITES_OF_A_KEY
from bench.memory.random_workloads.cases import cases as cases_of_seeds
from bench.memory.random_workloads.points import random_points
from bench.memory.random_workloads.run import RESULTS as RANDOM_RESULTS
from bench.memory.results import RESULTS, read
from bench.memory.starts import BUSY, starts_table
from bench.memory.starts import RESULTS as STARTS_RESULTS

PROJECT = Path(__file__).resolve().parent.parent.parent
PAGE = PROJECT / "docs" / "accuracy.md"
IMAGES = PROJECT / "docs" / "images" / "accuracy"


def kept(of_part: Sequence[Point]) -> bool:
    """Return whether these cases keep the promise, in the median and each of them."""
    return median(abs(point.error) for point in of_part) <= TYPICAL and all(point.kept for point in of_part)


def summary(found: Sequence[Point]) -> tuple[list[str], bool]:
    """Return the table of errors by version, and whether both parts together keep the promise for every version."""
    rows, whole = [], True
    checked = [(name, highest(part(found, name))) for name in ("check", "unseen")]
    checked.append(("both", [point for _, of_part in checked for point in of_part]))
    for version in sorted({point.row["version"] for point in found}):
        for what, _, _ in PEAKS:
            for name, of_part in checked:
                here = [p for p in of_part if p.row["version"] == version and p.what == what]
                if not here:
                    continue
                good = kept(here)
                whole = whole and (good or name != "both")
                rows.append([version, what, name, str(len(here)), *errors(here), str(sum(p.varies for p in here))])
                rows[-1] += errors([p for p in here if not p.varies])[1:]
                rows[-1].append(("yes" if good else "**no**") if name == "both" else "")
    head = ["version", "figure", "part", "cases ", "median error ", "highest above ", "lowest ", "varying "]
    head += ["highest above of the others ", "lowest of the others ", "kept"]
    return table(head, rows), whole


def errors(here: Sequence[Point]) -> list[str]:
    """Return the median error, the highest and the lowest."""
    found = [point.error for point in here]
    return (
        [f"{100 * median(map(abs, found)):.0f} %", signed_percent(max(found)), signed_percent(min(found))]
        if found
        else ["–"] * 3
    )


def cases(found: Sequence[Point]) -> list[str]:
    """Return the table of measured cases and the model's figures."""
    rows = []
    for point in found:
        row = point.row
        load = (
            f"{number(row, 'puts_per_second'):,} puts/s of {number(row, 'value_size'):,} B"
            if number(row, "puts")
            else "held"
        )
        rows.append(
            [
                row["version"],
                row["name"],
                row["component"],
                load,
                point.what,
                mib(point.measured),
                mib(point.model),
                signed_percent(point.error),
            ]
        )
    head = ["version", "case", "component", "load", "figure", "measured, MiB ", "model, MiB ", "error "]
    return table(head, rows)


def spread(found: Sequence[Point]) -> list[str]:
    """Return the table of repeated cases, which shows how much etcd itself varies."""
    rows = []
    for (version, name, what), same in runs(found).items():
        count = sum(point.times for point in same)
        if count > 1:
            low, high = min(point.least for point in same), max(point.measured for point in same)
            model = max(point.model for point in same)
            rows.append(
                [version, name, what, str(count), mib(low), mib(high), signed_percent(low / high - 1), mib(model)]
            )
    head = [
        "version",
        "case",
        "figure",
        "runs ",
        "lowest, MiB ",
        "highest, MiB ",
        "lowest against highest ",
        "model, MiB ",
    ]
    return table(head, rows)


def moments(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the table of peaks while saving a snapshot and defragmenting, shortly after a restart."""
    lines = []
    for row in rows:
        if float(row["defrag_rss_anon_peak"]):
            model = predicted(row, "defragmentation")["defrag_rss_anon_peak"]
            measured = float(row["defrag_rss_anon_peak"])
            lines.append(
                [
                    *(
                        row["version"],
                        row["name"],
                        mib(float(row["defrag_db_size"])),
                        mib(float(row["restart_rss_anon_peak"])),
                    ),
                    *(
                        mib(float(row["snapshot_rss_anon_peak"])),
                        mib(measured),
                        mib(model),
                        signed_percent(model / measured - 1),
                    ),
                ]
            )
    head = [
        "version",
        "case",
        "db afterwards, MiB ",
        "RssAnon before ",
        "saving a snapshot ",
        "defragmenting ",
        "model, defragmenting ",
        "error ",
    ]
    return table(head, lines)


def components(found: Sequence[Point]) -> list[str]:
    """Return the components that have points, in the order of the cases."""
    return list(dict.fromkeys(point.row["component"] for point in found))


def page(
    rows: Sequence[dict[str, str]], found: Sequence[Point], random_rows: Sequence[dict[str, str]]
) -> tuple[str, bool]:
    """Return the page, and whether the promise is kept. rows, found: the chosen cases; random_rows: the random ones."""
    drawn = random_points(random_rows)
    stated, whole = summary(found)
    dates = sorted({row["date"] for row in rows})
    machines = sorted({row["machine"] for row in rows})
    versions = sorted({row["version"] for row in rows})
    text = (Path(__file__).parent / "accuracy.md.in").read_text()
    values: dict[str, Callable[[], str]] = {
        "versions": lambda: ", ".join(versions),
        "machine": lambda: "; ".join(machines),
        "dates": lambda: " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "limits": lambda: (
            f"{TYPICAL:.0%} in the median, at most {ABOVE:.0%} above and never more than {BELOW:.0%} below the highest run"
        ),
        "band": lambda: f"{(1 + ABOVE) / (1 - BELOW) - 1:.0%}",
        "summary": lambda: "\n".join(stated),
        "check_cases": lambda: "\n".join(cases(highest(part(found, "check")))),
        "unseen_cases": lambda: "\n".join(cases(highest(part(found, "unseen")))),
        "fit_cases": lambda: "\n".join(cases(highest(part(found, "fit")))),
        "spread": lambda: "\n".join(spread(found)),
        "moments": lambda: "\n".join(moments(rows)),
        "random_seeds": lambda: str(SEEDS[-1]),
        "random_measured": lambda: (
            f"{len({(p.row['version'], p.row['name']) for p in drawn})} of {len(cases_of_seeds())}"
        ),
        "random_seconds": lambda: str(SECONDS),
        "random_fills": lambda: str(FILLS),
        "random_first_unseen": lambda: str(FIRST_UNSEEN),
        "random_writes": lambda: str(WRITES_OF_A_KEY),
        "random_aim": random_report.aim,
        "single_runs": lambda: "\n".join(random_report.single_runs(found)),
        "random_summary": lambda: "\n".join(random_report.summary(drawn)),
        "random_distribution": lambda: "\n".join(random_report.distribution(drawn)),
        "random_cases": lambda: "\n".join(random_report.cases(drawn)),
        "busy": lambda: str(BUSY),
        "compaction": lambda: "\n".join(compaction_table(read(COMPACTION_RESULTS))),
        "starts": lambda: "\n".join(starts_table(read(STARTS_RESULTS))),
        "tables": lambda: "\n".join(tables(rows)).rstrip(),
        "pictures": lambda: "\n\n".join(
            f"![{name}: predicted against measured](images/accuracy/{pictures.file_name(name)})"
            for name in components(found)
        ),
    }
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value())
    return text, whole


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the model with the measurements.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the figures to report")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if the page is stale or the promise broken"
    )
    parser.add_argument("--print", action="store_true", help="print the table of errors instead of writing the page")
    options = parser.parse_args()
    rows = read(options.results)
    if not rows:
        raise SystemExit(f"{options.results} has no figures: run `make bench-memory`")
    found = points(row for row in rows if row["part"] in ("fit", "check", "unseen"))
    if options.print:
        stated, whole = summary(found)
        print("\n".join([*stated, "", *cases(sorted(found, key=lambda p: (p.row["part"], p.what)))]))
        return 0 if whole else 1
    random_rows = read(RANDOM_RESULTS)
    drawn = random_points(random_rows)
    text, whole = page(rows, found, random_rows)
    if options.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(
                f"{PAGE.relative_to(PROJECT)} is not current: run `make accuracy`",
                file=sys.stderr,
            )
            return 1
        if not whole:
            print("the model does not keep its promised accuracy, see docs/accuracy.md", file=sys.stderr)
        return 0 if whole else 1
    PAGE.write_text(text)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in components([*found, *drawn]):
        pictures.draw(
            IMAGES / pictures.file_name(name),
            name,
            [
                (p.measured, p.model, p.row["series"], p.row["part"], p.what)
                for p in [*found, *drawn]
                if p.row["component"] == name
            ],
            (BELOW, ABOVE),
        )
    print(f"{PAGE.relative_to(PROJECT)}: accuracy {'kept' if whole else 'NOT kept'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
