# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics file has the operations that are switched on, and is removed where no timer updates it."""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import installation, metrics, records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config, parse_config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import CalendarError

CONFIG: dict[str, Any] = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
RECORD = {
    "result": "done",
    "reason": "it was done",
    "started_at": "2026-11-21T12:00:00Z",
    "seconds": 2.4,
    "settled": True,
    "newest_at": "2026-11-21T12:00:00Z",
    "comparison": {"verdict": "agree", "differing": [], "hashes": {"m0": "a"}, "corrupt": []},
}


def config(folder: Path, *enabled: str, directory: str = "metrics") -> Config:
    """Return the configuration with these operations switched on."""
    sections = {name: {**CONFIG[name], "enabled": name in enabled} for name in records.OPERATIONS}
    metrics_dir = str(folder / directory) if directory else ""
    return parse_config({**CONFIG, **sections, "state_dir": str(folder), "metrics_dir": metrics_dir})


def arguments(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the module's arguments for an installation below a folder."""
    monkeypatch.setattr(installation, "choose_interpreter", lambda _candidates: sys.executable)
    paths = {"lib_dir": "lib", "program": "headroom", "config_file": "maintenance.json", "credentials_file": "keys"}
    return {
        **{name: str(folder / path) for name, path in paths.items()},
        "unit_dir": str(folder),
        "units": {},
        "bucket_keys": None,
        "config": {},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A host on which backups and comparisons have run."""
    (tmp_path / "metrics").mkdir()
    for operation in ("snapshot", "integrity"):
        records.save_record(str(tmp_path), {**RECORD, "operation": operation})
    metrics.write_metrics(config(tmp_path, "snapshot", "integrity"))
    return tmp_path


def test_an_operation_that_is_switched_off_has_no_metrics(folder: Path) -> None:
    path = folder / "metrics" / "headroom.prom"
    assert "headroom_backup_newest" in path.read_text() and "headroom_integrity_differs" in path.read_text()
    outdated = metrics.outdated_metrics(config(folder, "integrity"))
    assert list(outdated) == [str(path)]
    text = outdated[str(path)]
    assert "headroom_integrity_differs" in text
    assert "headroom_backup_newest" not in text and "snapshot" not in text
    metrics.write_metrics(config(folder, "integrity"))
    assert path.read_text() == text
    assert metrics.outdated_metrics(config(folder, "integrity")) == {}
    assert metrics.outdated_metrics(config(folder, "integrity", "snapshot")), "before the next backup adds them"


def intervals(calendar: str, count: int) -> list[datetime]:
    """Return runs of a calendar that is a number of days."""
    first = datetime(2026, 11, 25, 1, tzinfo=timezone.utc)
    return [first + timedelta(days=int(calendar)) * number for number in range(min(count, 3))]


def test_changed_settings_are_written_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alerts use them, and the next run may be weeks away."""
    monkeypatch.setattr(metrics, "next_runs", intervals)
    found = config(folder, "snapshot")
    daily, monthly = (replace(found, snapshot=replace(found.snapshot, calendar=days)) for days in ("1", "30"))
    metrics.write_metrics(daily)
    assert metrics.outdated_metrics(daily) == {}
    path = str(folder / "metrics" / "headroom.prom")
    for changed in (monthly, replace(daily, cluster="other"), replace(daily, member="other")):
        assert metrics.outdated_metrics(changed) == {path: metrics.metrics_text(changed)}
    # The end of a run changes no setting.
    records.save_record(str(folder), {**RECORD, "operation": "snapshot", "seconds": 9})
    assert metrics.metrics_text(daily) != Path(path).read_text() and metrics.outdated_metrics(daily) == {}


def test_a_renewed_certificate_is_written_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"server": 1795264800, "peer": 1795264800}
    monkeypatch.setattr(metrics, "expiry_times", lambda _directory: dict(ends))
    wanted = config(folder, "snapshot", "integrity")
    assert metrics.outdated_metrics(wanted) == {}, (
        "the Python of the timers may lack the library that reads certificates"
    )
    metrics.write_metrics(wanted)
    assert metrics.outdated_metrics(wanted) == {}
    ends["peer"] += 86400
    assert f'certificate="peer"}} {ends["peer"]}' in "".join(metrics.outdated_metrics(wanted).values())
    ends.clear()
    assert metrics.outdated_metrics(wanted) == {}, "the Python of the modules may lack the library"


def test_a_host_that_served_another_cluster_has_no_metrics_of_its_runs(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    records.save_record(str(tmp_path), {**RECORD, "operation": "snapshot", "cluster": "former"})
    metrics.write_metrics(config(tmp_path, "snapshot"))
    text = (tmp_path / "metrics" / "headroom.prom").read_text()
    assert "headroom_maintenance_enabled" in text
    assert "headroom_backup_newest" not in text and "last_run_timestamp" not in text


def test_a_host_has_metrics_before_its_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prometheus would report a new host as one without metrics until its first timer elapses."""
    (tmp_path / "metrics").mkdir()
    path, wanted = tmp_path / "metrics" / "headroom.prom", config(tmp_path, "snapshot", "defrag")
    compared = functools.partial(installation.compare, arguments(tmp_path, monkeypatch), wanted, None)
    found = compared()
    text, mode = found.wanted[str(path)]
    assert str(path) in found.changed and mode == 0o644
    assert 'headroom_maintenance_enabled{cluster="example",member="m0",operation="defrag"} 1' in text.splitlines()
    metrics.write_metrics(wanted)
    assert path.read_text() == text, "as the first run without a record"
    assert str(path) not in compared().wanted, "a second run changes nothing"
    for without in (config(tmp_path), config(tmp_path, "snapshot", directory="")):
        path.unlink(missing_ok=True)
        assert metrics.outdated_metrics(without) == {}


def test_the_longest_interval_of_a_timer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alerts wait for two runs: a calendar of workdays has a gap at the weekend."""
    gaps = [timedelta(days=days) for days in (0, 1, 2, 5, 6)]

    def next_runs(calendar: str, count: int) -> list[datetime]:
        if calendar == CONFIG["defrag"]["calendar"]:
            raise CalendarError("systemd-analyze cannot be run")
        return [datetime(2026, 11, 25, 1, tzinfo=timezone.utc) + gap for gap in gaps[:count]]

    monkeypatch.setattr(metrics, "next_runs", next_runs)
    monkeypatch.setitem(CONFIG, "defrag", {**CONFIG["defrag"], "calendar": "unknown"})
    assert metrics.timer_intervals(config(folder, "snapshot", "defrag")) == {"snapshot": 3 * 86400}
    metrics.write_metrics(config(folder, "snapshot"))
    named = 'headroom_maintenance_interval_seconds{cluster="example",member="m0",operation="snapshot"} 259200'
    assert named in (folder / "metrics" / "headroom.prom").read_text()


def test_an_operation_that_never_ran_is_named(folder: Path) -> None:
    metrics.write_metrics(config(folder, "snapshot", "defrag"))
    named = 'headroom_maintenance_{}{{cluster="example",member="m0",operation="defrag"}}'
    text = (folder / "metrics" / "headroom.prom").read_text()
    assert named.format("enabled") + " 1" in text and named.format("last_run_failed") not in text


@pytest.mark.parametrize(
    ("enabled", "directory", "removed"),
    [
        (["integrity"], "metrics", False),
        ([], "metrics", True),
        (["integrity"], "", True),
        (["integrity"], "elsewhere", True),
        ([], "", True),
    ],
    ids=["in use", "all off", "no directory", "another directory", "all off, no directory"],
)
def test_metrics_that_no_timer_updates_are_removed(
    folder: Path, enabled: list[str], directory: str, removed: bool
) -> None:
    wanted = config(folder, *enabled, directory=directory)
    path = str(folder / "metrics" / "headroom.prom")
    assert metrics.obsolete_metrics(wanted, str(folder / "metrics")) == ([path] if removed else [])
    Path(path).unlink()
    assert metrics.obsolete_metrics(wanted, str(folder / "metrics")) == []


def test_the_installed_configuration_names_the_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = arguments(folder, monkeypatch)
    wanted = config(folder, "integrity", directory="")
    for text in ('{"metrics_dir": 1}', "[]", "{"):
        (folder / "maintenance.json").write_text(text)
        assert installation.compare(params, wanted, None).removed_first == []
    (folder / "maintenance.json").write_text(json.dumps({"metrics_dir": str(folder / "metrics")}))
    found = installation.compare(params, wanted, None)
    assert found.removed_first == [str(folder / "metrics" / "headroom.prom")] and found.differs
