"""Write what bench.audit.run measured: docs/audit-evidence.md, and its summary in docs/audit.md.

`--check` writes nothing and exits 1 if a page is not current.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.audit.run import RESULTS
from bench.common.lab import PROJECT
from bench.common.markdown import table
from bench.common.page import publish, with_part

PAGE = PROJECT / "docs" / "audit-evidence.md"
TEMPLATE = Path(__file__).parent / "audit-evidence.md.in"
# The page with the summary.
TASKS_PAGE = PROJECT / "docs" / "audit.md"
BEGIN, END = "<!-- bench-audit: written by make bench-audit -->\n", "<!-- end of bench-audit -->"
Rows = Sequence[Mapping[str, Any]]


def workloads(rows: Rows) -> list[str]:
    """Return the tables of the workloads: what was measured, and the memory."""
    names = (
        "etcd",
        "workload",
        "puts/s ",
        "measured ",
        "value ",
        "measured ",
        "keys ",
        "measured ",
        "watchers ",
        "measured ",
    )
    pairs = (
        "rate",
        "measured_rate",
        "value_size",
        "measured_value_size",
        "keys",
        "measured_keys",
        "watchers",
        "measured_watchers",
    )
    body = [[row["version"], row["workload"], *(text(row[name]) for name in pairs)] for row in rows]
    added = sum(row["added"] for row in rows)
    invented = sorted({rule for row in rows for rule in row["invented"]})
    memory = [
        [
            row["version"],
            row["workload"],
            *(f"{row[name] / MIB:.1f}" for name in ("peak", "estimated")),
            f"{memory_error(row):+.0f}",
        ]
        for row in rows
    ]
    return [
        *table(names, body),
        "",
        f"{largest_errors(rows)} The audits added {added} revisions. The rules reported {', '.join(invented) or 'no problems'} on these members.",
        "",
        "The highest RssAnon of each member in MiB, and the model's estimate for the measured workload. The numbers of clients and of range answers",
        "(4 and none), which no metric shows, are those of the benchmark:",
        "",
        *table(("etcd", "workload", "peak ", "estimated ", "error % "), memory),
        "",
        estimates(rows),
    ]  # fmt: skip


def largest_errors(rows: Rows) -> str:
    """Return the sentence about the measured workloads."""
    rate, value_size = error(rows, "rate"), error(rows, "value_size")
    return f"The largest error is {rate:.1f} % of the puts per second and {value_size:.1f} % of the value size."


def estimates(rows: Rows) -> str:
    """Return the sentence about the estimated memory."""
    near = sum(is_near(row) for row in rows)
    low = sum(memory_error(row) < -5 and row["peak"] - row["estimated"] > 10_000_000 for row in rows)
    return f"{near} of {len(rows)} estimates are within 20 % or 32 MB of the peak; {low} are more than 5 % and 10 MB too low."


def text(value: Any) -> str:
    """Return a figure for a table."""
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def error(rows: Rows, name: str) -> float:
    """Return the largest error of a figure in percent. An unknown figure is all of it."""
    errors = [abs((row[f"measured_{name}"] or 0) - row[name]) * 100 / row[name] for row in rows if row[name]]
    return max(errors, default=0.0)


def memory_error(row: Mapping[str, Any]) -> float:
    """Return the error of the estimated memory in percent; negative: too low."""
    return float((row["estimated"] - row["peak"]) * 100 / row["peak"])


def is_near(row: Mapping[str, Any]) -> bool:
    """Return whether an estimate keeps what the model promises."""
    return abs(memory_error(row)) <= 20 or abs(row["estimated"] - row["peak"]) <= 32_000_000


def defects(rows: Rows) -> list[str]:
    """Return the table of planted defects."""
    kinds = {row["kind"]: row["planted"] for row in rows}
    return [
        *table(("planted defects", "rules that must find them"), [[kind, ", ".join(f"`{rule}`" for rule in rules)] for kind, rules in kinds.items()]),
        "",
        found_defects(rows),
    ]  # fmt: skip


def found_defects(rows: Rows) -> str:
    """Return the sentence about the planted defects."""
    missed = [f"{rule} on {row['version']}" for row in rows for rule in row["missed"]]
    planted = sum(len(row["planted"]) for row in rows)
    lacking = f" (not: {', '.join(missed)})" if missed else ""
    distinct = len({rule for row in rows for rule in row["planted"]})
    return (
        f"Of {planted} planted defects ({distinct} kinds on {len({row['version'] for row in rows})} releases) "
        f"{planted - len(missed)} were found{lacking}."
    )


def supervisors(rows: Rows) -> list[str]:
    """Return the table of supervisors."""
    head = (
        "etcd",
        "started by",
        "memory limit",
        "planted ",
        "found ",
        "without defects",
        "planned settings are printed for",
    )
    body = [
        [
            row["version"],
            row["supervisor"],
            row["limit"],
            str(len(row["planted"])),
            str(len(row["planted"]) - len(row["missed"])),
            ", ".join(row["invented"]) or "nothing",
            row["place"],
        ]
        for row in rows
    ]
    return table(head, body)


def cost(rows: Rows) -> list[str]:
    """Return the table of what reading costs the clients."""
    head = ("etcd", "while", "p99 without ", "p99 with ", "added % ", "puts ")
    body = [
        [
            row["version"],
            row["operation"],
            f"{row['without']:.2f} ms",
            f"{row['with_it']:.2f} ms",
            f"{(row['with_it'] / row['without'] - 1) * 100:+.0f}",
            f"{row['puts'] + row['puts_with_it']:,}",
        ]
        for row in rows
    ]
    return [*table(head, body), "", f"Added by audits: {added(rows, 'audit')} %. The aim is at most 10 %."]


def added(rows: Rows, operation: str) -> str:
    """Return by how many percent the 99th percentile rose during an operation: the smallest and the largest share."""
    shares = [(row["with_it"] / row["without"] - 1) * 100 for row in rows if row["operation"] == operation]
    return " to ".join(dict.fromkeys(f"{share:+.0f}" for share in (min(shares), max(shares))))


def follower(rows: Rows) -> list[str]:
    """Return the table of what reading from a follower costs the clients."""
    return [
        *cost(rows)[:-1],
        f"Added by audits: {added(rows, 'audit')} %, by `etcd_keyspace_info`: {added(rows, 'etcd_keyspace_info')} %.",
    ]


def keyspace(rows: Rows) -> list[str]:
    """Return the table of the large database."""
    names = "etcd|database |keys |found |bytes of keys and values |found |predicted |after defragmentation |error % |seconds |memory "
    body = [
        [
            row["version"],
            f"{row['size'] / MIB:,.0f} MiB",
            text(row["keys"]),
            text(row["measured_keys"]),
            text(row["live"]),
            text(row["measured_live"]),
            f"{row['predicted'] / MIB:,.1f} MiB",
            f"{row['defragmented'] / MIB:,.1f} MiB",
            f"{(row['predicted'] / row['defragmented'] - 1) * 100:+.3f}",
            f"{row['seconds']:.0f}",
            f"{row['memory'] / MIB:.0f} MiB",
        ]
        for row in rows
    ]
    return table(names.split("|"), body)


SECTIONS = {
    "workloads": (workloads, "## Workloads", ""),
    "defects": (defects, "## Planted defects", ""),
    "supervisors": (
        supervisors,
        "## etcd under other supervisors",
        'Each etcd is audited twice with `inspect`: without defects (column "without defects": the findings), and with planted defects.',
    ),
    "cost": (
        cost,
        "## Effect on the clients of a single member",
        "100 puts of 1,500 B per second. Member and clients run on one core, and the audit on another, as on a separate machine. Periods of 12 s with and "
        "without it alternate. `etcd_keyspace_info` reads continuously at its default `read_rate`, and here the clients have no other core.",
    ),
    "follower": (
        follower,
        "## Effect on the clients of three members",
        "The same, with keys read from a follower. This follower runs on the audit's core; the leader and the other follower run on the clients' core.",
    ),
    "keyspace": (
        keyspace,
        "## A database of 2 GB",
        "`etcd_keyspace_info` with `read_rate: 100MB` and `max_size: 8GB`, run by Ansible. `memory` is the highest resident memory of the module with "
        "etcdctl.",
    ),
}


CLAIMS: dict[str, Callable[[Rows], list[str]]] = {
    "workloads": lambda rows: [largest_errors(rows), estimates(rows)],
    "defects": lambda rows: [found_defects(rows)],
    "cost": lambda rows: [
        f"Audits change the 99th percentile of a client's puts by {added(rows, 'audit')} % on a single member. The aim is at most 10 %."
    ],
    "follower": lambda rows: [
        f"On three members, audits change it by {added(rows, 'audit')} %, and `etcd_keyspace_info` by {added(rows, 'etcd_keyspace_info')} %."
    ],
}


def claims(results: Mapping[str, Any]) -> str:
    """Return the summary, as list items."""
    return "\n".join(
        f"- {claim}" for part, make in CLAIMS.items() if part in results for claim in make(results[part]["rows"])
    )


def sections(results: Mapping[str, Any]) -> str:
    """Return the sections of the page, one for each part that was measured."""
    lines = []
    for part, (make, title, words) in SECTIONS.items():
        if part in results:
            found = results[part]
            lines += [title, "", *([words, ""] if words else []), *make(found["rows"]), ""]
            lines += [f"Measured on {found['date']}, {found['machine']}.", ""]
    return "\n".join(lines).rstrip("\n")


def document(results: Mapping[str, Any]) -> str:
    """Return docs/audit-evidence.md."""
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("{{ claims }}", claims(results)).replace("{{ sections }}", sections(results))


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page is not current")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    results = json.loads(options.results.read_text())
    pages = {PAGE: document(results), TASKS_PAGE: with_part(TASKS_PAGE, BEGIN, END, claims(results) + "\n")}
    return publish(pages, "python -m bench.audit.report", check=options.check)


if __name__ == "__main__":
    sys.exit(main())
