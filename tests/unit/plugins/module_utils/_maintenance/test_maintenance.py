# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program on the hosts: its configuration, whose backup it is, its reports."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import (
    configuration,
    program,
    records,
    timers,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import snapshot as maintenance_snapshot

CONFIG: dict[str, Any] = {
    "cluster": "example",
    "member": "m0",
    "connection": {
        "etcdctl_path": "/does/not/exist/etcdctl",
        "endpoints": ["http://127.0.0.1:1"],
        "ca_cert": None,
        "client_cert": None,
        "client_key": None,
        "request_timeout": 1,
    },
    "etcdutl_path": "/usr/local/bin/etcdutl",
    "unit": "etcd.service",
    "data_dir": "/var/lib/etcd/data",
    "state_dir": "/var/lib/headroom",
    "metrics_dir": "",
    "defrag": {
        "enabled": True,
        "calendar": "daily",
        "free_share": 45,
        "free_size": "100MB",
        "pause": 30,
        "wait": 0,
        "timeout": 1800,
        "raise_memory": True,
    },
    "snapshot": {
        "enabled": True,
        "calendar": "daily",
        "directory": "/backups",
        "prefix": "etcd",
        "keep": "14",
        "keep_days": "",
        "encrypt_to": [],
        "copy_dir": "",
        "bucket": None,
        "reserve": "256MB",
        "timeout": 1800,
    },
    "drill": {"enabled": False, "calendar": "weekly", "scratch_dir": "/tmp", "memory_max": "2GB", "timeout": 1800},
}
BUCKET = {
    "name": "etcd-backups",
    "prefix": "",
    "endpoint_url": "http://127.0.0.1:1",
    "region": "",
    "ca_cert": "",
    "credentials_file": "",
}
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


def changed(section: str, **entries: Any) -> dict[str, Any]:
    data = copy.deepcopy(CONFIG)
    data[section].update(entries)
    return data


def test_configuration() -> None:
    config = configuration.parse_config(CONFIG)
    assert (config.defrag.free_size, config.snapshot.keep, config.snapshot.keep_days) == (100 << 20, 14, None)
    assert config.link.timeout == 1.0
    assert configuration.parse_config(changed("snapshot", keep_days="30")).snapshot.keep_days == 30


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "the configuration is no map"),
        ({**CONFIG, "extra": 1}, "extra is not known"),
        ({**CONFIG, "cluster": 5}, "cluster is 5, which is no text"),
        ({name: value for name, value in CONFIG.items() if name != "drill"}, "drill is missing"),
        (changed("connection", endpoints=[]), "endpoints: the list is empty"),
        (changed("defrag", free_share=120), "etcd_maintenance_defrag_free_share is 120, but must be 0 to 99 percent"),
        (
            changed("defrag", free_share="half"),
            "etcd_maintenance_defrag_free_share is 'half', which is no whole number",
        ),
        (changed("defrag", free_size="lots"), "etcd_maintenance_defrag_free_size is 'lots', which is no size"),
        (changed("defrag", free_size=-1), "etcd_maintenance_defrag_free_size is -1"),
        (changed("defrag", pause=-1), "etcd_maintenance_defrag_pause is -1"),
        (changed("defrag", timeout=0), "etcd_maintenance_defrag_timeout is 0, but must be 1 to 86400 seconds"),
        (changed("defrag", raise_memory="yes"), "etcd_maintenance_defrag_raise_memory is 'yes', which is no boolean"),
        (changed("snapshot", keep=0), "etcd_maintenance_backup_keep is 0, but must be 1 to"),
        (changed("snapshot", keep_days=0), "etcd_maintenance_backup_keep_days is 0, but must be 1 to"),
        (changed("snapshot", directory=""), "backups are enabled, but etcd_maintenance_backup_dir is empty"),
        (changed("snapshot", encrypt_to="age1"), "etcd_maintenance_backup_encrypt_to is 'age1', which is no list"),
        (changed("snapshot", directory=None), "etcd_maintenance_backup_dir is None, which is no text"),
        (
            changed("snapshot", bucket="etcd-backups"),
            "etcd_maintenance_backup_bucket is 'etcd-backups', which is no map",
        ),
        (changed("snapshot", bucket={"name": "b"}), "snapshot.bucket.ca_cert is missing"),
        (changed("snapshot", bucket={**BUCKET, "secret_key": "x"}), "snapshot.bucket.secret_key is not known"),
        (changed("snapshot", bucket={**BUCKET, "name": 1}), "etcd_maintenance_backup_bucket is 1, which is no text"),
        (changed("snapshot", bucket={**BUCKET, "region": None}), "etcd_maintenance_backup_bucket_region is None"),
        (changed("drill", memory_max=""), "etcd_maintenance_drill_memory_max is ''"),
    ],
)
def test_bad_configuration(data: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        configuration.parse_config(data)


def test_bucket() -> None:
    """Without a name there is none; what cannot be meant is said before anybody is asked."""
    for nothing in (None, {}, {**BUCKET, "name": ""}):
        config = configuration.parse_config(changed("snapshot", bucket=nothing))
        assert config.snapshot.bucket is None
    bucket = configuration.parse_config(changed("snapshot", bucket=BUCKET)).snapshot.bucket
    assert bucket == Bucket("etcd-backups", endpoint_url="http://127.0.0.1:1")
    assert configuration.bucket_problems(None, installed=True) == []
    for change, text in (
        ({"name": "Etcd"}, "etcd_maintenance_backup_bucket: the bucket's name is 'Etcd', but must be 3 to 63 "),
        ({"prefix": "/a"}, "etcd_maintenance_backup_bucket: prefix is '/a': write folders with a slash after each"),
        (
            {"secret_key": "x"},
            "etcd_maintenance_backup_bucket: access_key is missing: access_key and secret_key belong",
        ),
    ):
        (found,) = configuration.bucket_problems(replace(bucket, **change), installed=False)
        assert found.startswith(text)


def test_folders(tmp_path: Path) -> None:
    data = changed("snapshot", directory=str(tmp_path / "missing"), copy_dir="relative")
    data["defrag"]["enabled"] = data["snapshot"]["enabled"] = False
    assert configuration.host_problems(configuration.parse_config({**data, "metrics_dir": str(tmp_path)})) == []
    (tmp_path / "file").write_text("")
    found = configuration.host_problems(configuration.parse_config({**data, "metrics_dir": str(tmp_path / "file")}))
    assert found == [
        f"etcd_maintenance_metrics_dir: {tmp_path}/file is no directory on this host: make it, or mount its volume, first"
    ]
    found = configuration.host_problems(configuration.parse_config({**data, "metrics_dir": "/proc/sys"}))
    assert found == [
        "etcd_maintenance_metrics_dir: /proc/sys cannot be written to: it is mounted read-only, or belongs to another system"
    ]
    found = configuration.host_problems(configuration.parse_config({**data, "metrics_dir": "relative"}))
    assert found == ["etcd_maintenance_metrics_dir is 'relative', but must be an absolute path"]


# As systemd 252 and 257 print them.
CALENDAR = """  Original form: daily
Normalized form: *-*-* 00:00:00
    Next elapse: Sun 2026-11-22 00:00:00 UTC
       From now: 11h left
   Iteration #2: Mon 2026-11-23 00:00:00 UTC
       From now: 1 day 11h left
       Iter. #3: Mon 2026-11-23 06:00:00 UTC
"""


def test_calendar() -> None:
    found = timers.parse_next_runs(CALENDAR)
    assert found[0] == datetime(2026, 11, 22, tzinfo=timezone.utc)
    assert timers.shortest_interval(found) == 6 * 3600
    assert timers.shortest_interval(found[:1]) is None
    assert timers.parse_next_runs("Next elapse: never\n") == []


@pytest.mark.parametrize(("seconds", "window"), [(3600, 1800), (86400, 43200), (30 * 86400, 43200), (None, 43200)])
def test_how_long_a_backup_counts(seconds: int | None, window: int) -> None:
    assert maintenance_snapshot.due_window(seconds) == window


def member(name: str, role: str, healthy: bool = True) -> Member:
    return Member(name, name, role, healthy, "", f"http://{name}:2379", [], [], version="3.6.16", lag=0)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([member("m0", "follower"), member("m1", "leader")], False),
        ([member("m0", "leader"), member("m1", "follower")], True),
        ([member("m0", "leader"), member("m1", "follower", healthy=False)], False),  # there is nobody else
        ([member("m0", "follower", healthy=False), member("m1", "follower"), member("m2", "leader")], True),
        ([member("m0", "learner"), member("m1", "follower"), member("m2", "leader")], True),
        ([member("m1", "follower"), member("m2", "leader")], True),
        ([member("m0", "leader")], False),
        ([], False),
    ],
)
def test_who_leaves_the_backup_to_others(members: list[Member], expected: bool) -> None:
    cluster = Cluster("1", "", members, Quorum(len(members), 1, len(members), True), [])
    assert maintenance_snapshot.should_yield(cluster, "m0") is expected


def test_records(tmp_path: Path) -> None:
    state = str(tmp_path)
    kept = records.save_record(state, DONE)
    assert (kept["last_done"], kept["last_settled_at"]) == (DONE, "2026-11-21T12:00:02Z")
    kept = records.save_record(state, DEFERRED)
    assert (kept["last_done"], kept["last_settled_at"]) == (DONE, "2026-11-21T12:00:02Z")
    assert records.read_records(state) == {"defrag": kept}
    assert os.stat(tmp_path / "defrag.json").st_mode & 0o777 == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["defrag.json"]
    (tmp_path / "defrag.json").write_text('{"operation":')
    assert records.read_records(state) == {}


def test_metrics() -> None:
    record = {**DEFERRED, "last_done": DONE, "last_settled_at": "2026-11-21T12:00:02Z"}
    text = records.format_metrics('ex"ample', "m0", {"defrag": record})
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


def test_summary() -> None:
    record = {**DEFERRED, "last_done": DONE}
    lines = records.summarize({"defrag": record}, {"defrag": "Sun 03:30", "snapshot": ""})
    assert [re.sub(" +", " ", line) for line in lines] == [
        "defrag skipped 2026-11-22T12:00:00Z not every voting member is healthy; next: Sun 03:30",
        " before 2026-11-21T12:00:00Z m0: 2.0 MiB became 1.0 MiB",
        "snapshot has not run yet; next: off",
    ]


def test_a_run_that_fails_is_kept_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = {**CONFIG, "state_dir": str(tmp_path), "metrics_dir": str(tmp_path)}
    path = tmp_path / "maintenance.json"
    path.write_text(json.dumps(data))
    assert program.main(["--config", str(path), "snapshot"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["operation"], record["result"]) == ("snapshot", "failed")
    kept = records.read_record(str(tmp_path / "snapshot.json"))
    assert kept is not None and kept["reason"] == record["reason"]
    assert (
        'headroom_maintenance_last_run_failed{cluster="example",member="m0",operation="snapshot"} 1'
        in (tmp_path / "headroom.prom").read_text()
    )
    assert program.main(["--config", str(tmp_path / "missing"), "snapshot"]) == 1
    assert "the role etcd_maintenance writes it" in capsys.readouterr().err


HOLDER = lock.Holder("host-1", "m1", "backup")


def answer(value: bytes) -> str:
    pair = {"key": "", "value": base64.b64encode(value).decode(), "mod_revision": 7, "lease": 255}
    return json.dumps({"header": {}, "kvs": [pair]})


def test_lock_record() -> None:
    value = json.dumps({"host": "host-1", "member": "m1", "operation": "backup", "since": "2026-11-21T12:00:00Z"})
    held = lock.parse_lock(answer(value.encode()))
    assert held == lock.HeldLock(HOLDER, "2026-11-21T12:00:00Z", "ff", 7)
    assert str(held) == "host-1 holds the cluster's lock since 2026-11-21T12:00:00Z for a backup of m1"
    assert lock.parse_lock('{"header":{}}') is None
    with pytest.raises(lock.LockError, match="the value of the key /headroom/lock was not written by Headroom"):
        lock.parse_lock(answer(b"something else"))


def test_lock_request() -> None:
    text = lock.lock_transaction(replace(HOLDER, host='a"b'), "ff", 0, 0.0)
    first, _empty, put, _empty2, get, _empty3, _end = text.split("\n")
    assert first == 'mod("/headroom/lock") = "0"'
    value = json.loads(json.loads(put[len('put "/headroom/lock" ') : -len(" --lease=ff")]))
    assert value == {"host": 'a"b', "member": "m1", "operation": "backup", "since": "1970-01-01T00:00:00Z"}
    assert get == 'get "/headroom/lock"'
