"""The part of docs/accuracy.md about random workloads: how the errors are distributed, and every case."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.common.markdown import signed_percent, table
from bench.memory.points import PEAKS, Point, part, runs
from bench.memory.predict import number
from bench.memory.random_workloads.cases import PARTS
from bench.memory.random_workloads.points import (
    LOW_BYTES,
    LOW_SHARE,
    NEAR,
    NEAR_BYTES,
    NEAR_SHARE,
    TYPICAL,
    is_low,
    is_near,
    is_reached,
    near_share,
    percentile,
)

# A chosen case with this many runs shows how far they differ.
REPEATED = 3
# The upper ends of the classes of errors; the last class has none.
CLASSES = (-0.20, -0.10, -0.05, 0.0, 0.05, 0.10, 0.20, 0.40)


def aim() -> str:
    """Return the aim in words."""
    return (
        f"a median error of at most {TYPICAL:.0%}, {NEAR:.0%} of the cases within {NEAR_SHARE:.0%} or "
        f"{NEAR_BYTES // MIB} MiB, and none more than {LOW_SHARE:.0%} and {LOW_BYTES // MIB} MiB too low beyond etcd's own spread"
    )


def single_runs(found: Sequence[Point]) -> list[str]:
    """Return the table of how far single runs are below the highest run of their case. found: all runs of the chosen cases."""
    rows = []
    for what, _, _ in PEAKS:
        repeated = [same for key, same in runs(found).items() if key[2] == what and len(same) >= REPEATED]
        errors = [max(p.measured for p in same) / one.measured - 1 for same in repeated for one in same]
        if errors:
            ends = (f"{100 * error:.1f} %" for error in (median(errors), percentile(errors, 0.95), max(errors)))
            rows.append([what, str(len(repeated)), str(len(errors)), *ends])
    return table(["figure", "cases ", "runs ", "median error ", "5 % of runs above ", "highest "], rows)


def summary(found: Sequence[Point]) -> list[str]:
    """Return the table of errors by release, part and figure."""
    rows = []
    for version in [*sorted({point.row["version"] for point in found}), "all"]:
        for what, _, _ in PEAKS:
            here = [p for p in found if p.what == what and version in ("all", p.row["version"])]
            parts = {name: part(here, name) for name in PARTS}
            parts["never fitted"] = [point for name in PARTS[1:] for point in parts[name]]
            rows += [[version, what, name, *figures(group)] for name, group in [*parts.items(), ("all", here)] if group]
    head = [
        "version",
        "figure",
        "part",
        "cases ",
        "median error ",
        "near ",
        "5 % of cases below ",
        "5 % of cases above ",
    ]
    return table([*head, "lowest ", "highest ", "too low ", "aim reached"], rows)


def figures(found: Sequence[Point]) -> list[str]:
    """Return the cells of one line of the summary."""
    errors = [point.error for point in found]
    typical = median(map(abs, errors))
    ends = [percentile(errors, 0.05), percentile(errors, 0.95), min(errors), max(errors)]
    low = sum(map(is_low, found))
    reached = "yes" if is_reached(found) else "no"
    return [
        str(len(found)),
        f"{100 * typical:.1f} %",
        f"{100 * near_share(found):.0f} %",
        *map(signed_percent, ends),
        str(low),
        reached,
    ]


def distribution(found: Sequence[Point]) -> list[str]:
    """Return how many cases of each part have an error of each class."""
    columns = [(name, what) for name in PARTS if part(found, name) for what, _, _ in PEAKS]
    rows = []
    for low, high in zip((None, *CLASSES), (*CLASSES, None), strict=True):
        cells = []
        for name, what in columns:
            errors = [p.error for p in part(found, name) if p.what == what]
            cells.append(str(sum((low is None or e > low) and (high is None or e <= high) for e in errors)))
        title = (
            f"up to {signed_percent(CLASSES[0])}"
            if low is None
            else f"above {signed_percent(low)}" + ("" if high is None else f", up to {signed_percent(high)}")
        )
        rows.append([title, *cells])
    return table(["error", *(f"{name}: {what} " for name, what in columns)], rows)


def cases(found: Sequence[Point]) -> list[str]:
    """Return the table of all cases, the largest amount too low first."""
    rows = []
    for point in sorted(found, key=lambda p: (p.model - p.measured, p.row["version"], p.row["name"], p.what)):
        verdict = "too low" if is_low(point) else "" if is_near(point) else "not near"
        mib = [f"{size / MIB:,.0f}" for size in (point.lowest, point.measured, point.model)]
        name = point.row["name"].removeprefix("seed-")
        rows.append(
            [point.row["version"], name, describe(point.row), point.what, *mib, signed_percent(point.error), verdict]
        )
    head = [
        "version",
        "seed ",
        "workload",
        "figure",
        "lowest run, MiB ",
        "highest run, MiB ",
        "model, MiB ",
        "error ",
        "",
    ]
    return table(head, rows)


def describe(row: dict[str, str]) -> str:
    """Return a workload in one line."""
    text = f"{number(row, 'keys'):,} keys of {row['key_size']} B, {number(row, 'puts'):,} puts of {number(row, 'value_size'):,} B"
    text += f", {number(row, 'puts_per_second'):,}/s, {row['clients']} clients"
    text += f", snapshot-count {row['snapshot_count']}, catch-up {row['catchup']}"
    if row["members"] != "1":
        text += f", {row['members']} members"
    if number(row, "streams"):
        text += f", {number(row, 'streams') * number(row, 'watchers_per_stream'):,} watchers"
    if row["gogc"] != "100":
        text += f", GOGC {row['gogc']}"
    if number(row, "gomemlimit"):
        text += f", GOMEMLIMIT {number(row, 'gomemlimit') // MIB} MiB"
    return text + (", TLS" if row["tls"] == "True" else "")
