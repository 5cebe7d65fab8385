"""The published tables, with today's measurement and the model's figures for each row."""

from __future__ import annotations

from collections.abc import Sequence

from bench.common.markdown import table
from bench.memory import published
from bench.memory.predict import predicted
from bench.memory.results import RESULTS, read


def tables(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the published tables with today's measurement and the model's figures."""
    measured = {(row["series"], row["name"]): row for row in rows if row["part"] == "published"}
    sections = (
        ("The raft log", published.RAFT_SOURCE, "heap in use", published.raft_rows, heap_of_log),
        (
            "Keys and versions",
            f"{published.INDEX_SOURCE}; {published.STORAGE_SOURCE}",
            "index, or RSS",
            published.keys_rows,
            memory_of_keys,
        ),
        ("Watches", published.WATCH_SOURCE, "RSS", published.watch_rows, memory_of_watches),
    )
    lines: list[str] = []
    for title, source, what, listed, figures in sections:
        body = []
        for row in listed():
            found = measured.get((row.series, row.name))
            model, today = figures(row, found)
            formula = f"{row.formula_mb:,.0f} MB" if row.formula_mb is not None else "–"
            body.append([row.series, row.name.removeprefix("published-"), row.figure, formula, model, today])
        head = ["series", "row", "the table ", "its formula ", "this model ", f"measured today ({what}) "]
        lines += [f"### {title}", "", f"Source: {source}.", "", *table(head, body), ""]
    return lines


def as_row(row: published.Row, found: dict[str, str] | None) -> dict[str, str]:
    """Return the measured row, or one made from the case if it was not measured."""
    if found:
        return found
    blank = {name: str(value) for name, value in vars(row.case).items()}
    version = next(iter(version for version in published_versions() if version.startswith(row.series)))
    return {**blank, "version": version, "puts_per_second": "1000" if row.case.puts else "0"}


def published_versions() -> list[str]:
    """Return the releases in the results."""
    return sorted({row["version"] for row in read(RESULTS)})


def megabytes(size: float) -> str:
    """Format bytes in MB of 10^6, as the published tables do."""
    return f"{size / 1e6:,.0f} MB"


def heap_of_log(row: published.Row, found: dict[str, str] | None) -> tuple[str, str]:
    """Return the lowest live heap and the heap's peak, and the measurement."""
    estimate = predicted(as_row(row, found))
    log = next(component for component in estimate["components"] if component["name"] == "raft log")
    low = estimate["heap_live"] - log["high"] + log["low"]
    today = f"up to {megabytes(float(found['rss_anon_peak']))} RssAnon" if found else "not measured: too large"
    return f"{megabytes(low)} to {megabytes(estimate['heap_peak'])}", today


def memory_of_keys(row: published.Row, found: dict[str, str] | None) -> tuple[str, str]:
    """Return the index alone or the whole RSS, whichever the row states, and the measurement."""
    estimate = predicted(as_row(row, found))
    if "index" in row.name:
        part_of = next(component for component in estimate["components"] if component["name"] == "index")
        today = f"{megabytes(float(found['heap_live']))} live heap, whole" if found else "not measured: takes too long"
        return megabytes(part_of["high"]), today
    today = f"{megabytes(float(found['rss_peak']))} RSS" if found else "not measured: takes too long"
    return megabytes(estimate["rss_peak"]), today


def memory_of_watches(row: published.Row, found: dict[str, str] | None) -> tuple[str, str]:
    """Return the whole RSS, and the measurement."""
    estimate = predicted(as_row(row, found))
    return megabytes(
        estimate["rss_peak"]
    ), f"{megabytes(float(found['rss_peak']))}" if found else "not measured: too many streams"
