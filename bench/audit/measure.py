"""Audit a known workload while it runs, and compare what was found with what was written and with the memory that etcd took."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate

from bench.audit.workloads import CONNECTIONS, ENTRIES_FLAGS, WORKLOADS, Workload, fill, watching, writing
from bench.common.audit import audit
from bench.common.member import Member, running

PORT = 27410
WINDOW = 10
# A member on loopback is alone.
EXPECTED = {"topology/single_member"}
# No metric shows these figures: the connections of fill, and no range requests except the audit's.
UNMEASURED = {"clients": CONNECTIONS, "range_size": 0}
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
SETTINGS = {"snapshot_count": 10_000, "snapshot_catchup_entries": 5000}


@dataclass(frozen=True)
class Row:
    """One audit of a workload: what was written, and what was measured (None: unknown).

    added: revisions that the audit wrote. invented: rules with findings although nothing is wrong. peak, estimated: the highest RssAnon of
    the member, and the model's estimate for the measured workload, in bytes.
    """

    version: str
    workload: str
    rate: float
    measured_rate: int | None
    value_size: int
    measured_value_size: int | None
    keys: int
    measured_keys: int | None
    watchers: int
    measured_watchers: int | None
    added: int
    invented: list[str]
    peak: int
    estimated: int


@contextmanager
def scratch(parent: str | None = MEMORY) -> Iterator[Path]:
    """Return a folder, by default in memory, where the machine has such a filesystem: a slow disk of this machine would be found too."""
    with tempfile.TemporaryDirectory(prefix="headroom-audit-", dir=parent) as folder:
        yield Path(folder)


def audited(folder: Path, endpoint: str, version: str, **variables: Any) -> tuple[dict[str, Any], str]:
    """Audit a cluster. Return the file that the audit wrote, and what it printed. Raises RuntimeError."""
    output = folder / "audit.json"
    output.unlink(missing_ok=True)
    done = audit(endpoint, version, output=str(output), **variables)
    if not output.exists():
        raise RuntimeError(f"the audit of {version} failed:\n{done.stdout}{done.stderr}")
    found: dict[str, Any] = json.loads(output.read_text())
    return found, done.stdout


def inspecting_this_machine(folder: Path) -> dict[str, Any]:
    """Return the variables of an audit that reads the processes of this machine."""
    inventory = folder / "hosts.ini"
    inventory.write_text(f"host ansible_connection=local ansible_python_interpreter={sys.executable}\n")
    return {"inventory": inventory, "inspect": "host", "ansible_become": False}


def rules(found: dict[str, Any]) -> set[str]:
    """Return the rules that found something."""
    return {finding["rule"] for finding in found["findings"]}


def measure(version: str, workload: Workload, folder: Path) -> Row:
    """Audit a workload while it runs."""
    member = Member(version, folder, PORT, ENTRIES_FLAGS, name="m0")
    with running([member]):
        fill(member, workload)
        with watching(member, workload):
            before = member.mvcc_metric("current_revision")
            with writing(member, workload) as written:
                found, _ = audited(folder, member.endpoint, version, window=WINDOW)
            after = member.mvcc_metric("current_revision")
        assert member.sampler
        peak = member.sampler.peaks.rss_anon
    measured = found["etcd_workload"]
    return Row(
        version,
        workload.name,
        round(written.rate, 1),
        measured.get("puts_per_second"),
        workload.value_size,
        measured.get("value_size"),
        workload.keys,
        measured.get("keys"),
        workload.watchers,
        measured.get("watchers"),
        after - before - len(written.times),
        sorted(rules(found) - EXPECTED - workload.rules),
        peak,
        estimate(version, {**measured, **UNMEASURED}, SETTINGS, 1)["rss_anon_peak"],
    )


def measure_all(versions: list[str]) -> Iterator[Row]:
    """Audit each workload on each release."""
    for version in versions:
        for workload in WORKLOADS:
            with scratch() as folder:
                yield measure(version, workload, folder)
