"""Audit known workloads and planted defects on real etcd of each release, and write the table of docs/audit.md."""

from __future__ import annotations

import argparse
import base64
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.audit.workloads import WORKLOADS, Workload, figure, fill, watching, writing
from bench.common.audit import PROJECT, audit
from bench.common.markdown import table
from bench.common.member import Member, releases, running
from bench.memory import load

PAGE = PROJECT / "docs" / "audit.md"
BEGIN, END = "<!-- bench-audit: written by make bench-audit -->\n", "<!-- end of bench-audit -->"
PORT = 27410
WINDOW = 5
# A member on loopback is alone.
EXPECTED = {"topology/single_member"}
SMALL_QUOTA = 4 << 20
# Memory, where there is such a folder: a slow disk of this machine would be found too.
FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None
# Flags of a member with defects → the rules that find them. The process is read, so all its flags are judged.
FLAGS = ["--unsafe-no-fsync", f"--quota-backend-bytes={16 << 30}", "--election-timeout=600"]
PLANTED = {
    "flags": {
        "durability/unsafe_no_fsync",
        "memory/quota_over_8_gib",
        "topology/election_ratio",
        "compaction/off",
        "topology/default_name",
        "security/plain_http",
    },
    "database": {"live/alarm", "live/quota_use", "memory/large_values"},
}


class Row(NamedTuple):
    """One audit of a workload: what was written and what was measured. added: revisions that nobody wrote."""

    version: str
    workload: Workload
    rate: float
    measured: dict[str, Any]
    added: int
    invented: list[str]


def measure(version: str, workload: Workload, folder: Path) -> Row:
    """Audit a workload while it runs."""
    member = Member(version, folder, PORT, name="m0")
    output = folder / "audit.json"
    with running([member]):
        fill(member, workload)
        with watching(member, workload):
            before = figure(member, "current_revision")
            with writing(member, workload) as written:
                done = audit(member.endpoint, version, window=WINDOW, output=str(output))
            after = figure(member, "current_revision")
    if not output.exists():
        sys.exit(f"the audit of {version} failed:\n{done.stdout}{done.stderr}")
    found = json.loads(output.read_text())
    rules = {finding["rule"] for finding in found["findings"]}
    added = after - before - len(written.times)
    return Row(version, workload, written.rate, found["etcd_workload"], added, sorted(rules - EXPECTED))


def planted(version: str, kind: str, folder: Path) -> tuple[int, list[str]]:
    """Audit a member with defects. Return the number of planted ones, and those that were not found."""
    urls = f"http://127.0.0.1:{PORT},http://10.9.9.9:2379"
    flags = [*FLAGS, f"--advertise-client-urls={urls}"] if kind == "flags" else [f"--quota-backend-bytes={SMALL_QUOTA}"]
    member = Member(version, folder, PORT, flags, name="default" if kind == "flags" else "m0")
    output, inventory = folder / "audit.json", folder / "hosts.ini"
    inventory.write_text(f"host ansible_connection=local ansible_python_interpreter={sys.executable}\n")
    inspected = {"inspect": "host", "ansible_become": False} if kind == "flags" else {}
    with running([member]):
        fill(member, Workload("large values", 20, 700 << 10, 3, 0))
        if kind == "database":
            _fill_up(member)
        audit(member.endpoint, version, inventory, output=str(output), **inspected)
    found = {finding["rule"] for finding in json.loads(output.read_text())["findings"]}
    return len(PLANTED[kind]), sorted(PLANTED[kind] - found)


def _fill_up(member: Member) -> None:
    """Put values until etcd sets the alarm NOSPACE."""
    value = base64.b64encode(b"v" * (700 << 10)).decode()
    for number in range(20):
        try:
            load.gateway(member, "kv/put", {"key": base64.b64encode(b"%d" % number).decode(), "value": value})
        except OSError:
            return


def lines(rows: Sequence[Row], defects: int, missed: Sequence[str]) -> list[str]:
    """Return the table and the sentences below it."""
    head = (
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
    body = []
    for row in rows:
        work, found = row.workload, row.measured
        pairs = (
            (f"{row.rate:.1f}", found.get("puts_per_second")),
            (work.value_size, found.get("value_size")),
            (work.keys, found.get("keys")),
            (work.watchers, found.get("watchers")),
        )
        body.append([row.version, work.name, *(_text(value) for pair in pairs for value in pair)])
    added = sum(row.added for row in rows)
    lacking = f" (not: {', '.join(missed)})" if missed else ""
    invented = sorted({rule for row in rows for rule in row.invented})
    return [
        "",
        *table(head, body),
        "",
        f"The largest error is {error(rows, 'rate'):.1f} % of the puts a second and {error(rows, 'value'):.1f} % of the value size. "
        f"The audits added {added} revisions.",
        f"Of {defects} planted defects {defects - len(missed)} were found{lacking}; "
        f"beside them, the rules found {', '.join(invented) or 'nothing'} on the members above.",
        "",
    ]


def _text(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def error(rows: Sequence[Row], name: str) -> float:
    """Return the largest error of the rates or of the value sizes in percent."""
    errors = [0.0]
    for row in rows:
        true = row.rate if name == "rate" else row.workload.value_size
        found = row.measured.get("puts_per_second" if name == "rate" else "value_size")
        if true:
            errors.append(abs((found or 0) - true) * 100 / true)
    return max(errors)


def main() -> None:
    """Measure, print the table, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="print the table only")
    options = parser.parse_args()
    rows, defects, missed = [], 0, []
    for version in releases():
        for workload in WORKLOADS:
            with tempfile.TemporaryDirectory(prefix="headroom-audit-", dir=FOLDER) as folder:
                rows.append(measure(version, workload, Path(folder)))
                print(rows[-1], flush=True)
        for kind in PLANTED:
            with tempfile.TemporaryDirectory(prefix="headroom-audit-", dir=FOLDER) as folder:
                number, lacking = planted(version, kind, Path(folder))
                defects += number
                missed += [f"{rule} on {version}" for rule in lacking]
    text = "\n".join(lines(rows, defects, missed))
    print(text)
    if not options.print:
        page = PAGE.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}{text}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
