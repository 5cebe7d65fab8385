"""Report what bench/plan/run.py measured: docs/proof.md and the pictures, or only the tables with --print.

The report depends only on results.csv and slices.csv. Exits 1 if a claim is not met.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.common.markdown import mib, table
from bench.common.statistics import Spread
from bench.plan.configurations import LIMITED, PLAN, UNLIMITED
from bench.plan.load import quantile
from bench.plan.picture import draw
from bench.plan.results import Row, read
from bench.plan.verdict import MAX_P99, MIN_THROUGHPUT, Verdict, judge

PROJECT = Path(__file__).resolve().parents[2]
RESULTS = PROJECT / "bench" / "plan"
DOCS = PROJECT / "docs"


def percent(spread: Spread) -> str:
    """Format a ratio and its spread in percent."""
    return f"{spread.middle:.0%} ({spread.low:.0%}–{spread.high:.0%})".replace("%–", "–")


def most(rows: Sequence[Row], value: Callable[[Row], float]) -> float:
    """Return the highest value of a figure among the repeats."""
    return max(value(row) for row in rows)


def fate(verdict: Verdict) -> str:
    """How members with default flags ended under the plan's limit."""
    rows = verdict.rows(LIMITED)
    words = []
    for outcome in ("killed", "killed at restart", "stalled"):
        count = sum(row.outcome == outcome for row in rows)
        if count:
            words.append(f"**{outcome}** {count} of {len(rows)}")
    return ", ".join(words) or "survived"


def memory(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of memory peaks and limits, the highest of the repeats."""
    head = [
        "workload",
        "MemoryMax",
        "plan: RssAnon peak (planned)",
        "after a restart (planned)",
        "defaults under MemoryMax",
    ]
    head.append("defaults without a limit: RssAnon peak")
    rows = []
    for verdict in verdicts:
        ours, theirs = verdict.rows(PLAN), verdict.rows(UNLIMITED)
        steady, restart = most(ours, lambda row: row.rss_anon_peak), most(ours, lambda row: row.restart_rss_anon_peak)
        rows.append(
            [
                verdict.name,
                mib(ours[0].memory_max),
                f"{mib(int(steady))} ({mib(ours[0].planned_rss_anon_peak)})",
                f"{mib(int(restart))} ({mib(ours[0].planned_restart_rss_anon_peak)})",
                fate(verdict),
                mib(int(most(theirs, lambda row: row.rss_anon_peak))),
            ]
        )
    return table(head, rows)


def speed(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of the plan's throughput and latency, and their ratios to defaults without a limit."""
    head = ["workload", "puts/s", "ratio to the defaults (quartiles)", "p50, p99, slowest put in ms", "defaults: ms"]
    head += ["p99 against theirs (lowest–highest)", "restart in s"]
    rows = []
    for verdict in verdicts:
        ours, theirs = verdict.slices(PLAN), verdict.slices(UNLIMITED)
        rows.append(
            [
                verdict.name,
                f"{sum(part.puts for part in ours) / sum(part.seconds for part in ours):,.0f}" if ours else "–",
                mark(percent(verdict.throughput), verdict.fast_enough),
                *(
                    " / ".join(f"{quantile(parts, share) * 1000:.1f}" for share in (0.5, 0.99, 1.0)) if parts else "–"
                    for parts in (ours, theirs)
                ),
                mark(percent(verdict.p99), verdict.prompt_enough),
                f"{most(verdict.rows(PLAN), lambda row: row.restart_seconds):.1f}",
            ]
        )
    return table(head, rows)


def mark(text: str, good: bool) -> str:
    """Mark the text if the claim is not met."""
    return text if good else f"{text} ✗"


def settings(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of loads and of the flags that the plan chose."""
    head = [
        "workload",
        "etcd",
        "members",
        "clients",
        "puts to each",
        "stated puts/s",
        "catch-up",
        "snapshot-count",
        "Go runtime",
    ]
    rows = []
    for verdict in verdicts:
        row = verdict.rows(PLAN)[0]
        go = [f"{name}={value}" for name, value in (("GOGC", row.gogc), ("GOMEMLIMIT", row.gomemlimit)) if value]
        rows.append(
            [
                row.workload,
                row.version,
                str(row.members),
                str(row.clients),
                f"{row.puts:,}",
                f"{row.stated_puts_per_second:,}{', paced' if row.paced else ''}",
                f"{row.snapshot_catchup_entries:,}",
                f"{row.snapshot_count:,}",
                " ".join(go) or "defaults",
            ]
        )
    return table(head, rows)


def claims(verdicts: Sequence[Verdict]) -> list[str]:
    """Return each claim and how often it is met."""
    every = len(verdicts)
    plans = [row for verdict in verdicts for row in verdict.rows(PLAN)]
    limited = [row for verdict in verdicts for row in verdict.rows(LIMITED)]
    lost = sum(row.outcome != "survived" for row in plans)
    killed, workloads = sum(verdict.killed for verdict in verdicts), sum(verdict.killed > 0 for verdict in verdicts)
    lines = [
        f"- The plan's members were killed or stalled by their MemoryMax in {lost} of {len(plans)} runs, "
        f"{sum(row.restart_entries > 0 for row in plans)} of them with a restart over a full WAL.",
        f"- At least {MIN_THROUGHPUT:.0%} of the throughput of default flags without a limit: "
        f"{sum(verdict.fast_enough for verdict in verdicts)} of {every} workloads.",
        f"- p99 put latency at most {MAX_P99 - 1:.0%} above theirs: {sum(verdict.prompt_enough for verdict in verdicts)} of {every} workloads.",
        f"- Default flags under the same MemoryMax were killed in {killed} of {len(limited)} runs, {workloads} of {every} workloads.",
    ]
    lines += [
        f"- {verdict.name}: the load exceeded the rate that the plan's workload states."
        for verdict in verdicts
        if not verdict.covered
    ]
    lines += [f"- {verdict.name}: {verdict.errors} puts were refused." for verdict in verdicts if verdict.errors]
    return lines


def method() -> list[str]:
    """Return the description of the measurement, from the docstring of the program that measures."""
    text = (Path(__file__).parent / "run.py").read_text().split('"""')[1]
    return text[text.index("Three configurations") : text.index("Needs root")].strip().splitlines()


def document(machine: dict[str, str], verdicts: Sequence[Verdict]) -> str:
    """docs/proof.md."""
    dates = sorted({run.row.date for verdict in verdicts for run in verdict.runs})
    repeats = max(len(verdict.rows(PLAN)) for verdict in verdicts)
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    where = f"{machine['cores']} cores, {machine['memory']}, Linux {machine['kernel']}, {machine['filesystem']}, cgroup {machine['cgroup']}"
    return "\n".join(
        [
            "<!-- Generated by bench/plan/report.py from bench/plan/results.csv and slices.csv: do not edit. `make bench-plan` measures again. -->",
            "# The plan on real etcd, inside its memory limit",
            "",
            *claims(verdicts),
            "",
            f"Measured {when}, {repeats} repeats, on {where}. Memory of one member in MiB, the highest of all members and repeats:",
            "",
            *memory(verdicts),
            "",
            "![RssAnon against the limit, throughput and p99 latency of the plan and of the defaults](images/proof.svg)",
            "",
            "Throughput and latency. Ratios compare the plan under MemoryMax with default flags without a limit, side by side; ✗ marks a "
            "claim that is not met:",
            "",
            *speed(verdicts),
            "",
            "The load, and the flags that the plan chose for it:",
            "",
            *settings(verdicts),
            "",
            "## How it is measured",
            "",
            *method(),
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="where run.py left its files")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the tables, write nothing")
    arguments = parser.parse_args()
    machine, runs = read(arguments.results)
    verdicts = judge(runs)
    print("\n".join([*claims(verdicts), "", *memory(verdicts), "", *speed(verdicts), "", *settings(verdicts)]))
    if not arguments.only_print:
        (DOCS / "proof.md").write_text(document(machine, verdicts))
        draw(verdicts, DOCS / "images")
    return int(not all(verdict.holds for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
