# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records, and the metrics and texts made of them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import integrity, records

DONE = {
    "operation": "defrag",
    "result": "done",
    "reason": "m0: 2.0 MiB became 1.0 MiB",
    "started_at": "2026-11-21T12:00:00Z",
    "seconds": 2.4,
    "settled": True,
    "before": {"size": 2 << 20, "in_use": 1 << 20},
    "after": {"size": 1 << 20, "in_use": 1 << 20},
}
DEFERRED = {
    "operation": "defrag",
    "result": "skipped",
    "reason": "not every voting member is healthy",
    "started_at": "2026-11-22T12:00:00Z",
    "seconds": 1.0,
    "settled": False,
}


def test_save_record_keeps_the_last_one_that_was_done(tmp_path: Path) -> None:
    state = str(tmp_path)
    saved = records.save_record(state, DONE)
    assert (saved["last_done"], saved["last_settled_at"]) == (DONE, "2026-11-21T12:00:02Z")
    saved = records.save_record(state, DEFERRED)
    assert (saved["last_done"], saved["last_settled_at"]) == (DONE, "2026-11-21T12:00:02Z")
    assert records.read_records(state) == {"defrag": saved}
    assert os.stat(tmp_path / "defrag.json").st_mode & 0o777 == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["defrag.json"]
    (tmp_path / "defrag.json").write_text('{"operation":')
    assert records.read_records(state) == {}


def test_the_age_of_the_newest_backup_grows_while_backups_fail(tmp_path: Path) -> None:
    done = {**DONE, "operation": "snapshot", "newest_at": "2026-11-21T12:00:00Z"}
    failed = {**DEFERRED, "operation": "snapshot", "result": "failed"}
    records.save_record(str(tmp_path), done)
    records.save_record(str(tmp_path), failed)
    saved = records.save_record(str(tmp_path), failed)
    text = records.format_metrics("example", "m0", {"snapshot": saved}, {})
    assert 'headroom_backup_newest_timestamp_seconds{cluster="example",member="m0"} 1795262400' in text


def test_a_bad_backup_stays_bad_until_another_drill_is_carried_out(tmp_path: Path) -> None:
    drill = {**DEFERRED, "operation": "drill"}
    for change, bad in (
        ({"result": "failed"}, 0),
        ({"result": "failed", "backup_bad": True}, 1),
        ({"result": "failed"}, 1),
        ({"result": "skipped"}, 1),
        ({"result": "done", "backup_bad": False}, 0),
        ({"result": "failed"}, 0),
    ):
        saved = records.save_record(str(tmp_path), {**drill, **change})
        text = records.format_metrics("example", "m0", {"drill": saved}, {})
        assert f'headroom_drill_backup_bad{{cluster="example",member="m0"}} {bad}' in text.splitlines(), change


def test_records_of_a_former_cluster_do_not_count(tmp_path: Path) -> None:
    """A host that was retired from cluster A would hold back EtcdBackupTooOld of cluster B with A's newest backup."""
    former = {
        "snapshot": {**DONE, "cluster": "A", "newest_at": "2026-11-21T12:00:00Z"},
        "drill": {**DEFERRED, "cluster": "A", "result": "failed", "backup_bad": True},
        "integrity": {**DONE, "cluster": "A"},
    }
    for operation, record in former.items():
        records.save_record(str(tmp_path), {**record, "operation": operation})
    assert records.read_records(str(tmp_path), "B") == {}
    assert set(records.read_records(str(tmp_path), "A")) == set(records.read_records(str(tmp_path))) == set(former)
    for operation in former:
        saved = records.save_record(
            str(tmp_path), {**DEFERRED, "operation": operation, "cluster": "B", "result": "failed"}
        )
        assert (saved["last_done"], saved["last_settled_at"]) == (None, None)
        assert not {"newest_at", "backup_bad"} & set(saved)
    assert set(records.read_records(str(tmp_path), "B")) == set(former)


def test_a_record_that_already_kept_those_of_a_former_cluster(tmp_path: Path) -> None:
    mixed = {**DEFERRED, "cluster": "B", "newest_at": "2026-11-21T12:00:00Z", "last_done": {**DONE, "cluster": "A"}}
    (tmp_path / "defrag.json").write_text(json.dumps(mixed))
    saved = records.save_record(str(tmp_path), {**DEFERRED, "cluster": "B"})
    assert saved["last_done"] is None and "newest_at" not in saved


def test_a_record_without_a_cluster_counts(tmp_path: Path) -> None:
    records.save_record(str(tmp_path), DONE)
    assert set(records.read_records(str(tmp_path), "B")) == {"defrag"}
    assert records.save_record(str(tmp_path), {**DEFERRED, "cluster": "B"})["last_done"] == DONE


@pytest.mark.parametrize(
    ("text", "cluster"), [('{"cluster": "B"}', "B"), ('{"cluster": 1}', ""), ("[]", ""), ("{", ""), (None, "")]
)
def test_installed_cluster(tmp_path: Path, text: str | None, cluster: str) -> None:
    if text is not None:
        (tmp_path / "maintenance.json").write_text(text)
    assert records.installed_cluster(str(tmp_path / "maintenance.json")) == cluster


def test_format_metrics() -> None:
    record = {**DEFERRED, "last_done": DONE, "last_settled_at": "2026-11-21T12:00:02Z"}
    text = records.format_metrics('ex"ample', "m0", {"defrag": record}, {"peer": 1795239113})
    labels = r'{cluster="ex\"ample",member="m0",operation="defrag"}'
    lines = text.splitlines()
    assert f"headroom_maintenance_last_run_timestamp_seconds{labels} 1795348801" in lines
    assert f"headroom_maintenance_last_run_failed{labels} 0" in lines
    assert f"headroom_maintenance_last_settled_timestamp_seconds{labels} 1795262402.0" in lines
    assert r'headroom_defrag_freed_bytes{cluster="ex\"ample",member="m0"} 1048576' in lines
    assert not any(line.startswith("headroom_backup") for line in lines)
    assert len([line for line in lines if line.startswith("# TYPE")]) == len(
        {line for line in lines if "# HELP" in line}
    )


def test_summarize() -> None:
    record = {**DEFERRED, "last_done": DONE}
    lines = records.summarize({"defrag": record}, {"defrag": "Sun 03:30", "snapshot": ""})
    assert [re.sub(" +", " ", line) for line in lines] == [
        "defrag skipped 2026-11-22T12:00:00Z not every voting member is healthy; next: Sun 03:30",
        " before 2026-11-21T12:00:00Z m0: 2.0 MiB became 1.0 MiB",
        "snapshot has not run yet; next: off",
    ]
    drill = {**DONE, "operation": "drill", "reason": "the backup was restored; its keys are equal."}
    assert records.summarize({"drill": drill}, {"drill": "Sun 05:00"}) == [
        "drill     done    2026-11-21T12:00:00Z  the backup was restored; its keys are equal; next: Sun 05:00"
    ]


def test_metrics_of_a_comparison() -> None:
    found = {"verdict": "differ", "differing": ["m3"], "hashes": {"m1": "a", "m2": "a", "m3": "b"}, "corrupt": ["m3"]}
    record = {**DEFERRED, "operation": "integrity", "comparison": found}
    lines = records.format_metrics("c", "m1", {"integrity": record}, {}).splitlines()
    for name, value in (("m1", 0), ("m2", 0), ("m3", 1)):
        assert f'headroom_integrity_differs{{cluster="c",member="m1",compared="{name}"}} {value}' in lines
    assert 'headroom_integrity_corrupt_alarms{cluster="c",member="m1"} 1' in lines
    undecided = {**record, "comparison": {**found, "verdict": "undecided", "differing": []}}
    text = records.format_metrics("c", "m1", {"integrity": undecided}, {})
    assert text.count("} 1\n") == 4, text


def test_metrics_of_members_that_were_not_compared() -> None:
    """The comparison of the others succeeds: m1 and m2 of three are a majority."""
    reason = {"m3": "returned no status"}
    found = {"verdict": "agree", "differing": [], "hashes": {"m1": "a", "m2": "a"}, "corrupt": [], "unknown": reason}
    record = {**DONE, "operation": "integrity", "comparison": found}
    lines = records.format_metrics("c", "m1", {"integrity": record}, {}).splitlines()
    for name, value in (("m1", 0), ("m2", 0), ("m3", 1)):
        assert f'headroom_integrity_not_compared{{cluster="c",member="m1",compared="{name}"}} {value}' in lines
    assert not any("integrity_differs" in line and 'compared="m3"' in line for line in lines)


VOTERS = ["m1", "m2", "m3"]
AGREES = hashes.judge(VOTERS, {name: hashes.Hash("a", 5) for name in VOTERS}, 100)
DIFFERS = hashes.judge(VOTERS, {name: hashes.Hash("b" if name == "m3" else "a", 5) for name in VOTERS}, 100)
CORRUPT = replace(AGREES, corrupt=["m3"])
UNKNOWN = hashes.Comparison(hashes.UNKNOWN, unknown=dict.fromkeys(VOTERS, "returned no status"))
FAILED = {"result": "failed", "reason": "SIGTERM ended it before it had finished", "settled": False}
SKIPPED = {"result": "skipped", "reason": "m2 leads, and its host compares the members", "settled": True}
ONLY_VOTER = {**SKIPPED, "last_done": None}


def run_integrity(state: Path, day: int, found: dict[str, Any] | hashes.Comparison) -> dict[str, Any]:
    """Save the record of a run on a day of November as the program does it."""
    found = integrity.record_of(found) if isinstance(found, hashes.Comparison) else found
    started = {"operation": "integrity", "started_at": f"2026-11-{day:02}T04:15:00Z", "seconds": 2.0, "cluster": "c"}
    return records.save_record(str(state), {**started, **found})


def alarming(record: dict[str, Any]) -> list[str]:
    """Return the members for which EtcdMembersDiffer fires, and the name of the gauge on which EtcdCorruptAlarm fires."""
    samples = parse_samples(records.format_metrics("c", "m1", {"integrity": record}, {}))
    names = ("headroom_integrity_differs", "headroom_integrity_corrupt_alarms")
    found = [sample for sample in samples if sample.name in names and sample.value == 1]
    return [sample.label("compared") or "corrupt_alarms" for sample in found]


@pytest.mark.parametrize("run", [FAILED, UNKNOWN], ids=["interrupted", "too few answered"])
@pytest.mark.parametrize(("found", "gauge"), [(DIFFERS, "m3"), (CORRUPT, "corrupt_alarms")], ids=["hashes", "alarm"])
def test_a_run_without_a_result_keeps_what_an_earlier_one_found(
    tmp_path: Path, found: hashes.Comparison, gauge: str, run: dict[str, Any] | hashes.Comparison
) -> None:
    run_integrity(tmp_path, 1, AGREES)
    assert alarming(run_integrity(tmp_path, 8, found)) == [gauge]
    for day in (15, 22):
        assert alarming(run_integrity(tmp_path, day, run)) == [gauge], day
    for cleared in (AGREES, ONLY_VOTER):
        run_integrity(tmp_path, 23, found)
        run_integrity(tmp_path, 24, run)
        assert alarming(run_integrity(tmp_path, 25, cleared)) == []
        assert alarming(run_integrity(tmp_path, 26, run)) == []


def test_an_alarm_that_a_run_without_a_result_found_is_added(tmp_path: Path) -> None:
    run_integrity(tmp_path, 8, DIFFERS)
    saved = run_integrity(tmp_path, 15, replace(UNKNOWN, corrupt=["m3"]))
    assert alarming(saved) == ["m3", "corrupt_alarms"]
    assert alarming(run_integrity(tmp_path, 22, FAILED)) == ["m3", "corrupt_alarms"]
    assert (saved["compared_at"], saved["started_at"]) == ("2026-11-08T04:15:00Z", "2026-11-15T04:15:00Z")


def test_the_status_shows_what_an_earlier_comparison_found_before_an_older_success(tmp_path: Path) -> None:
    run_integrity(tmp_path, 1, AGREES)
    run_integrity(tmp_path, 8, replace(DIFFERS, corrupt=["m3"]))
    for run in (FAILED, SKIPPED):
        last, found, done = records.summarize({"integrity": run_integrity(tmp_path, 15, run)}, {})
        assert run["reason"] in last
        assert " ".join(found.split()) == (
            "before 2026-11-08T04:15:00Z m3 differs from the majority at revision 100: a (m1, m2); b (m3); the alarm CORRUPT is set for m3"
        )
        assert "2026-11-01T04:15:00Z" in done and "have the same hash" in done


def test_the_metrics_of_a_host_that_compares_no_longer_report_what_it_found(tmp_path: Path) -> None:
    """Another host may have compared the repaired members since: the alert takes the maximum of all hosts."""
    run_integrity(tmp_path, 8, DIFFERS)
    assert alarming(run_integrity(tmp_path, 15, SKIPPED)) == []
    saved = run_integrity(tmp_path, 22, FAILED)
    assert alarming(saved) == [] and "comparison" not in saved
    assert saved["former_comparison"] == {"comparison": DIFFERS.as_dict(), "compared_at": "2026-11-08T04:15:00Z"}
    assert alarming(run_integrity(tmp_path, 23, replace(UNKNOWN, corrupt=["m3"]))) == ["corrupt_alarms"]
    assert "former_comparison" in run_integrity(tmp_path, 24, FAILED)
    assert "former_comparison" not in run_integrity(tmp_path, 25, AGREES)
