# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_restore, etcd_restore_drill and etcd_rescue as Ansible runs them, as far as no etcd is needed."""

from __future__ import annotations

import fcntl
import grp
import hashlib
import json
import os
import pwd
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import start_guard, store
from ansible_collections.etcdops.headroom.plugins.modules import etcd_rescue, etcd_restore, etcd_restore_drill

ID = "20261121T101500Z"
# Makes of a snapshot what the real one does, as far as a restore looks at it.
ETCDUTL = """#!{python}
import sys
from pathlib import Path
flags = dict(word.partition("=")[::2] for word in sys.argv if word.startswith("--"))
if "--version" in sys.argv:
    print("etcd Version: 3.6.16")
elif "status" in sys.argv:
    print('{{"hash":3016699658,"revision":8123,"totalKey":2000,"totalSize":8192,"version":"3.6.0"}}')
else:
    snap = Path(flags["--data-dir"], "member", "snap")
    snap.mkdir(parents=True)
    (snap / "db").write_text(" ".join(sorted(flags)))
    Path(flags["--wal-dir"] if "--wal-dir" in flags else snap.parent / "wal").mkdir(parents=True)
"""


def run(capsys: pytest.CaptureFixture[str], module: ModuleType, **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        module.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments for a member with old data, and a snapshot."""
    monkeypatch.setattr(start_guard, "PERMISSION", str(tmp_path / "may-start"))
    (tmp_path / "etcdutl").write_text(ETCDUTL.format(python=os.path.realpath(sys.executable)))
    (tmp_path / "etcdutl").chmod(0o755)
    old = tmp_path / "data" / "member"
    old.mkdir(parents=True)
    (old / "what").write_text("old")
    content = b"page" * 2048
    body = content + hashlib.sha256(content).digest()
    (tmp_path / "work").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    metadata = store.Metadata("75cf", "m2", "2", "3.6.16", "3.6.0", 8123, "b3cf2f0a", 2000, len(body), digest, 0)
    store.publish(str(tmp_path / "work"), str(tmp_path / "etcd.db"), metadata)
    return {
        "id": ID,
        "path": str(tmp_path / "etcd.db"),
        "member": "m1",
        "peer_url": "http://127.0.0.1:2380",
        "initial_cluster": "m1=http://127.0.0.1:2380",
        "token": "new",
        "data_dir": str(tmp_path / "data"),
        "marker": str(tmp_path / "restoring"),
        "etcdutl_path": str(tmp_path / "etcdutl"),
        "owner": pwd.getpwuid(os.geteuid()).pw_name,
        "group": grp.getgrgid(os.getegid()).gr_name,
        "reserve": "1MB",
    }


def step(capsys: pytest.CaptureFixture[str], asked: dict[str, Any], state: str, **more: Any) -> dict[str, Any]:
    return run(capsys, etcd_restore, **{**asked, "state": state, **more})


def test_all_steps_in_order(capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path) -> None:
    aside = f"{tmp_path}/data.before-{ID}"
    inspected = step(capsys, asked, "inspected")
    assert (inspected["changed"], inspected["pending"], inspected["activated"], inspected["restored"]) == (
        False,
        "",
        False,
        {},
    )
    prepared = step(capsys, asked, "prepared")
    assert prepared["msg"] == f"Created {tmp_path}/data.restore-{ID} from {asked['path']}."
    assert (prepared["changed"], prepared["metadata"]["revision"]) == (True, 8123)
    assert step(capsys, asked, "prepared")["msg"] == f"The data of the restore {ID} already exists."
    activated = step(capsys, asked, "activated")
    assert (activated["changed"], activated["aside"], activated["pending"], activated["activated"]) == (
        True,
        [aside],
        ID,
        True,
    )
    assert (activated["msg"], activated["restored"]["id"]) == (f"Moved the old data to {aside}.", ID)
    assert (activated["restored"]["bump"], activated["restored_revision"]) == (1_000_000_000, 1_000_008_123)
    again = step(capsys, asked, "activated")
    assert (again["changed"], again["msg"]) == (False, f"The data of the restore {ID} is already active.")
    finished = step(capsys, asked, "finished")
    assert (finished["changed"], finished["pending"], finished["msg"]) == (True, "", f"Finished the restore {ID}.")
    assert not step(capsys, asked, "finished")["changed"]
    flags = (tmp_path / "data" / "member" / "snap" / "db").read_text()
    assert "--bump-revision" in flags and "--mark-compacted" in flags
    assert (Path(aside) / "member" / "what").read_text() == "old"


@pytest.mark.parametrize("lost", [("data",), ("wal",), ("data", "wal")])
@pytest.mark.parametrize("activated", [False, True])
def test_a_host_that_lost_a_volume_is_prepared_again(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path, lost: tuple[str, ...], activated: bool
) -> None:
    """Its marker may still be there, and the other volume may have the new data already."""
    asked |= {"wal_dir": str(tmp_path / "wal" / "member" / "wal"), "source": {"host": "h1", "path": "/backups/etcd.db"}}
    (tmp_path / "wal").mkdir()
    for state in ("prepared", "blocked", "activated")[: 3 if activated else 2]:
        assert step(capsys, asked, state)["ready"]
    for name in lost:
        for path in (tmp_path / "wal").iterdir() if name == "wal" else tmp_path.glob("data*"):
            shutil.rmtree(path)
    inspected = step(capsys, asked, "inspected")
    assert (inspected["ready"], bool(inspected["record"])) == (False, len(lost) == 1)
    if inspected["record"]:
        assert (inspected["record"]["source"], inspected["record"]["generation"]) == (asked["source"], 0)
    asked["generation"] = 1
    assert "prepare the restore first" in step(capsys, asked, "blocked")["msg"]
    for state in ("prepared", "blocked", "activated"):
        assert step(capsys, asked, state)["ready"]
    assert step(capsys, asked, "prepared")["msg"] == f"The data of the restore {ID} already exists."
    assert (tmp_path / "data" / "member" / "snap" / "db").exists() and (tmp_path / "wal" / "member" / "wal").is_dir()
    assert step(capsys, asked, "inspected")["record"]["generation"] == 1
    assert step(capsys, asked, "finished")["restored"]["id"] == ID


def test_two_restores_at_once(capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path) -> None:
    """Two controllers chose their ids before either had written its marker. The second one must not touch the folders of the first one."""
    other = {**asked, "id": "20261122T101500Z"}
    for state in ("prepared", "blocked"):
        step(capsys, asked, state)
    # It is about to rename the folders.
    Path(asked["marker"]).write_text(json.dumps({"id": ID}))
    before = sorted(tmp_path.rglob("*"))
    for check in (True, False):
        for state in ("prepared", "blocked"):
            refused = step(capsys, other, state, _ansible_check_mode=check)
            assert refused.get("failed"), (state, check, refused)
            assert f"the restore {ID} is replacing the data of this host" in refused["msg"], refused["msg"]
    assert sorted(tmp_path.rglob("*")) == before
    assert json.loads(Path(asked["marker"]).read_text()) == {"id": ID}
    for state in ("prepared", "blocked", "activated", "finished"):
        step(capsys, asked, state)
    assert (tmp_path / f"data.before-{ID}" / "member" / "what").read_text() == "old"
    for state in ("prepared", "blocked", "activated"):  # one after the other they are welcome
        assert step(capsys, other, state)["ready"]


def test_folders_that_changed_since_the_restore_began(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path
) -> None:
    """The member may have served from the new data since. With another WAL dir that data would count as lost."""
    before = f"{tmp_path}/data and the WAL dir {tmp_path}/data/member/wal on this host"
    for state in ("prepared", "blocked", "activated"):
        step(capsys, asked, state)
    content = sorted(tmp_path.rglob("*"))
    for change in ({"wal_dir": str(tmp_path / "wal" / "member" / "wal")}, {"data_dir": str(tmp_path / "other")}):
        for state in ("inspected", "prepared", "blocked", "activated"):
            for check in (True, False):
                if state == "activated" and check:
                    continue  # nothing passes state=blocked
                refused = step(capsys, asked, state, **change, _ansible_check_mode=check)
                assert f"the restore {ID} began with the data dir {before}, and now they are" in refused["msg"], refused
    assert sorted(tmp_path.rglob("*")) == content
    # The same folder, by name.
    named = step(capsys, asked, "inspected", wal_dir=str(tmp_path / "data" / "member" / "wal"))
    assert named["ready"] and named["pending"] == ID
    # Older releases recorded no folders.
    Path(asked["marker"]).write_text(json.dumps({"id": ID}))
    assert not step(capsys, asked, "inspected", data_dir=str(tmp_path / "other"))["ready"]


def may_start(asked: dict[str, Any]) -> bool:
    """Return whether systemd would start etcd, by the conditions of the drop-in."""
    drop_in = Path(asked["start_guard"])
    if not drop_in.exists():
        return True
    conditions = re.findall(r"^ConditionPathExists=\|(!?)(\S+)$", drop_in.read_text(), re.M)
    assert len(conditions) == 2
    return any(Path(path).exists() != bool(negated) for negated, path in conditions)


def test_etcd_starts_only_with_all_its_old_or_all_its_new_data(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path
) -> None:
    """At each step, whatever was repeated or rebooted before."""
    asked["start_guard"] = str(tmp_path / "etcd.service.d" / "headroom-restore.conf")
    permission = tmp_path / "may-start"
    step(capsys, asked, "prepared")
    assert may_start(asked)
    blocked = step(capsys, asked, "blocked")
    assert (
        blocked["changed"]
        and blocked["msg"] == f"The restore {ID} is marked, and etcd does not start until it is finished."
    )
    # It may still start over, from another snapshot.
    assert blocked["pending"] == "" and not may_start(asked)
    assert not step(capsys, asked, "blocked")["changed"]
    assert step(capsys, asked, "activated")["pending"] == ID and not may_start(asked)
    assert step(capsys, asked, "permitted")["changed"] and may_start(asked)
    assert not step(capsys, asked, "permitted")["changed"]
    permission.unlink()  # a reboot
    assert not may_start(asked)
    for state in ("blocked", "activated", "permitted"):  # the resumed restore
        assert step(capsys, asked, state)["pending"] == ID
    assert may_start(asked)
    assert step(capsys, asked, "blocked")["pending"] == ID and not may_start(asked)
    assert step(capsys, asked, "finished")["pending"] == ""
    assert may_start(asked) and not permission.exists() and not (tmp_path / "etcd.service.d").exists()


def test_drop_in_of_an_abandoned_restore_is_removed(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path
) -> None:
    guard = tmp_path / "etcd.service.d" / "headroom-restore.conf"
    asked["start_guard"] = str(guard)
    for state in ("prepared", "blocked"):
        step(capsys, asked, state)
    (tmp_path / "restoring").unlink()
    planned = step(capsys, asked, "finished", _ansible_check_mode=True)
    done = step(capsys, asked, "finished")
    assert (
        planned["changed"] and done["changed"] and done["msg"] == f"No restore is in progress. {guard} was left of one."
    )
    assert not guard.parent.exists() and not step(capsys, asked, "finished")["changed"]


def test_other_drop_ins_stay(capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path) -> None:
    other = tmp_path / "etcd.service.d" / "site.conf"
    other.parent.mkdir()
    other.write_text("[Service]\n")
    asked["start_guard"] = str(tmp_path / "etcd.service.d" / "headroom-restore.conf")
    for state in ("prepared", "blocked", "activated", "finished"):
        step(capsys, asked, state)
    assert os.listdir(other.parent) == ["site.conf"]


def test_block_requires_prepared_data(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path
) -> None:
    failed = step(capsys, asked, "blocked")
    assert failed["failed"] and "prepare the restore first" in failed["msg"]
    assert not (tmp_path / "restoring").exists()


def test_check_mode(capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    made = step(capsys, asked, "prepared", _ansible_check_mode=True)
    assert (made["changed"], made["msg"]) == (True, f"Would create {tmp_path}/data.restore-{ID} from {asked['path']}.")
    moved = step(capsys, asked, "activated", _ansible_check_mode=True)
    assert moved["aside"] == [f"{tmp_path}/data.before-{ID}"]
    guarded = {**asked, "start_guard": str(tmp_path / "etcd.service.d" / "headroom-restore.conf")}
    assert step(capsys, guarded, "blocked", _ansible_check_mode=True)["changed"]
    assert step(capsys, guarded, "permitted", _ansible_check_mode=True)["changed"]
    assert not step(capsys, guarded, "finished", _ansible_check_mode=True)["changed"]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("check", [False, True])
def test_an_encrypted_snapshot(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path, check: bool
) -> None:
    body = (tmp_path / "etcd.db").read_bytes()
    digest = hashlib.sha256(body).hexdigest()
    record = json.loads((tmp_path / "etcd.db.json").read_text())
    record |= {"encryption": "age", "encrypted_size": len(body), "encrypted_sha256": digest}
    (tmp_path / "etcd.db.json").write_text(json.dumps(record))
    before = sorted(tmp_path.rglob("*"))
    refused = step(capsys, asked, "prepared", _ansible_check_mode=check)
    assert refused["failed"] and "etcd.db is encrypted: decrypt it first" in refused["msg"], refused
    assert sorted(tmp_path.rglob("*")) == before


def test_space_is_checked_before_the_snapshot_is_copied(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    fits = step(capsys, asked, "checked", snapshot_size=1 << 20, copy_dirs=[str(tmp_path / "staging")])
    assert (fits["changed"], fits["msg"]) == (False, "There is enough space for the new data.")
    limited = step(capsys, asked, "checked", snapshot_size=1 << 20, quota=1 << 20)
    assert limited["msg"].startswith(
        "the snapshot has 1.0 MiB, and the quota would be 1.0 MiB: etcd would refuse all writes."
    )
    full = step(capsys, asked, "checked", snapshot_size=1 << 52, copy_dirs=[str(tmp_path / "staging")])
    assert re.search(
        rf"^{tmp_path} has \S+ \SiB free, but the restore needs 8\.0 PiB there: 4\.0 PiB for a copy of the snapshot, "
        r"4\.0 PiB for the new database, 122\.1 MiB for the new log, and 1\.0 MiB that must stay free\. Move",
        full["msg"],
    ), full["msg"]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("state", "change", "text"),
    [
        ("prepared", {"id": "today"}, "id is 'today': write the time of the restore"),
        (
            "prepared",
            {"owner": "nobody-here"},
            "user nobody-here or group ",
        ),
        ("prepared", {"bump_revision": -1}, "bump_revision is -1, but revisions cannot fall: write 0 or more"),
        ("prepared", {"path": "/nowhere.db"}, "/nowhere.db is not a file on this host"),
        ("prepared", {"reserve": "1PB"}, "free, but the restore needs"),
        ("prepared", {"reserve": "much"}, "reserve is 'much', which is not a valid size"),
        ("prepared", {"etcdutl_path": "/nowhere/etcdutl"}, "/nowhere/etcdutl is not an executable program"),
        ("activated", {}, "does not exist: prepare the restore first"),
        ("prepared", {"member": None}, "member must not be empty with state=prepared"),
    ],
)
def test_bad_input(
    capsys: pytest.CaptureFixture[str],
    asked: dict[str, Any],
    tmp_path: Path,
    state: str,
    change: dict[str, Any],
    text: str,
) -> None:
    before = sorted(tmp_path.rglob("*"))
    result = step(capsys, asked, state, **change)
    assert result["failed"] and text in result["msg"], result["msg"]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "one of the following is required: src, path"),
        ({"src": "/nowhere", "path": "/nowhere.db"}, "parameters are mutually exclusive: src|path"),
        ({"src": "/nowhere", "timeout": 0}, "timeout is 0, but must be 1 to 86400 seconds"),
        ({"src": "/nowhere", "memory_max": "64MB"}, "memory_max is 64.0 MiB, but must be at least 128.0 MiB"),
        ({"src": "/nowhere", "live": False}, "/nowhere is not a directory on this host: take a backup first"),
        ({"path": "/nowhere.db", "live": False}, "/nowhere.db.json is missing"),
        ({"src": "/nowhere", "endpoints": []}, "endpoints: the list is empty"),
    ],
)
@pytest.mark.parametrize("check", [False, True])
def test_invalid_drills(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], change: dict[str, Any], text: str, check: bool
) -> None:
    programs = {"etcd_path": asked["etcdutl_path"], "etcdutl_path": asked["etcdutl_path"]}
    result = run(capsys, etcd_restore_drill, **programs, **change, _ansible_check_mode=check)
    assert result["failed"] and text in result["msg"], result["msg"]


def test_drill_in_check_mode(capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path) -> None:
    programs = {"etcd_path": asked["etcdutl_path"], "etcdutl_path": asked["etcdutl_path"], "scratch_dir": "/tmp"}
    result = run(
        capsys, etcd_restore_drill, **programs, path=asked["path"], live=False, reserve="1KB", _ansible_check_mode=True
    )
    assert (result["changed"], result["member"], result["metadata"]["revision"]) == (False, "", 8123)
    assert result["msg"] == f"Would restore {tmp_path}/etcd.db in /tmp, which needs 154.1 MiB."


@pytest.mark.parametrize("check", [False, True])
def test_rescue_in_check_mode_and_without_data(
    capsys: pytest.CaptureFixture[str], asked: dict[str, Any], tmp_path: Path, check: bool
) -> None:
    arguments = {
        "dest": str(tmp_path),
        "member": "m1",
        "data_dir": asked["data_dir"],
        "etcd_path": asked["etcdutl_path"],
        "etcdctl_path": asked["etcdutl_path"],
        "etcdutl_path": asked["etcdutl_path"],
    }
    result = run(capsys, etcd_rescue, **arguments, _ansible_check_mode=check)
    assert "correct data_dir or wal_dir" in result["msg"] and not result["unusable"]
    (tmp_path / "data" / "member" / "wal").mkdir()
    (tmp_path / "data" / "member" / "snap").mkdir()
    (tmp_path / "data" / "member" / "snap" / "db").write_text("x" * 2048)
    lost = run(capsys, etcd_rescue, **arguments, _ansible_check_mode=check)
    assert lost["msg"].startswith(f"{tmp_path}/data/member/wal/*.wal does not exist on this host: mount the volume, ")
    assert lost["msg"].endswith(
        f" If it is lost, move what is left in {asked['data_dir']} away, and use the data of another member"
    )
    assert not lost["unusable"], "the volume may only be unmounted"
    (tmp_path / "data" / "member" / "wal" / "0-0.wal").write_text("")
    short = run(capsys, etcd_rescue, **{**arguments, "dest": "/nowhere"}, _ansible_check_mode=True)
    assert short["msg"].startswith("dest /nowhere is not a directory") and not short["unusable"]
    limited = run(capsys, etcd_rescue, **arguments, timeout=0, _ansible_check_mode=check)
    assert limited["msg"].startswith("timeout is 0, but must be"), "also before etcd is stopped"
    bare = {"etcd_path": "/none/etcd", "etcdctl_path": "/none/etcdctl"}
    bare = run(capsys, etcd_rescue, **{**arguments, **bare}, _ansible_check_mode=check)
    assert bare["msg"].startswith("/none/etcd and /none/etcdctl are not executable programs on this host: put etcd, ")
    assert not bare["unusable"], "the data may be intact"
    would = run(capsys, etcd_rescue, **arguments, _ansible_check_mode=True)
    assert would["msg"] == f"Would make a snapshot of the 2.0 KiB in {asked['data_dir']}."
    with (tmp_path / "data" / "member" / "snap" / "db").open() as database:
        fcntl.flock(database, fcntl.LOCK_EX)
        would = run(capsys, etcd_rescue, **arguments, _ansible_check_mode=True)
        assert would["msg"].endswith(f"in {asked['data_dir']}, once etcd on it is stopped.")
        refused = run(capsys, etcd_rescue, **arguments)
        assert "stop every member of the cluster first" in refused["msg"] and not refused["unusable"]
