# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the timers' drill has nothing to do. Real etcd is restored in tests/integration."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import compare, encryption, scratch_member, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill as backup_drill
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import drill as maintenance_drill

METADATA = store.Metadata("75cf", "m2", "2", "3.6.16", "3.6.0", 8, "b3", 9, 4, "00" * 32, 0)


def config(folder: Path) -> Any:
    """The parts of the program's configuration that a drill reads; the cluster does not answer."""
    return SimpleNamespace(
        snapshot=SimpleNamespace(directory=str(folder), prefix="etcd", reserve=0),
        drill=SimpleNamespace(scratch_dir="/tmp", memory_max=1 << 30, timeout=60),
        connection=Connection("/nowhere/etcdctl", None, None, None, 0.5),
        endpoints=["http://127.0.0.1:1"],
        etcdutl_path=sys.executable,
    )


def save(folder: Path, metadata: store.Metadata = METADATA) -> str:
    ending = f".{metadata.encryption}" if metadata.encryption else ""
    path = f"{folder}/etcd-20261121T101500Z.db{ending}"
    (folder / "work").write_text("test")
    store.publish(str(folder / "work"), path, metadata)
    return path


@pytest.mark.parametrize("check", [False, True])
def test_a_host_without_backups_skips_the_drill(tmp_path: Path, check: bool) -> None:
    record = maintenance_drill.run(config(tmp_path), check)
    assert (record["result"], record["settled"]) == ("skipped", False)
    assert record["reason"] == f"there is no backup in {tmp_path} on this host"


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(backup_drill.DrillError):
        maintenance_drill.run(config(tmp_path / "none"), check=False)


def test_an_unreachable_cluster_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an answer of the cluster nothing can be compared: the drill fails with the reason."""
    monkeypatch.setattr(backup_drill, "etcd_next_to", lambda _path: sys.executable)
    save(tmp_path)
    with pytest.raises(ValueError, match="no member of the cluster answers"):
        maintenance_drill.run(config(tmp_path), check=False)


def reach_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cluster 75cf answer, with etcd's programs installed."""
    monkeypatch.setattr(backup_drill, "etcd_next_to", lambda _path: sys.executable)
    monkeypatch.setattr(backup_drill, "observe_serving_cluster", lambda *_arguments: (SimpleNamespace(id="75cf"), ""))
    monkeypatch.setattr(backup_drill.snapshot, "choose_member", lambda *_arguments: None)


@pytest.mark.parametrize("check", [False, True])
def test_a_host_with_backups_of_another_cluster_only_skips_the_drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: bool
) -> None:
    """A restored cluster has another id, and another host may take its backups."""
    reach_cluster(monkeypatch)
    save(tmp_path, replace(METADATA, cluster_id="3c2d"))
    record = maintenance_drill.run(config(tmp_path), check)
    assert (record["result"], record["settled"], record["backup_bad"]) == ("skipped", False, False)
    assert record["reason"].startswith(f"there is no backup of the cluster 75cf named etcd-… in {tmp_path}")


def test_a_damaged_backup_is_recorded_as_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reach_cluster(monkeypatch)
    Path(save(tmp_path)).write_text("cut")
    record = maintenance_drill.run(config(tmp_path), check=False)
    assert (record["result"], record["backup_bad"]) == ("failed", True)
    assert record["reason"].startswith("the newest backup is damaged: ")


@pytest.mark.parametrize(
    ("cause", "bad"),
    [
        (compare.ContradictionError("it has 5 keys, but m1 had 6"), True),
        (store.DamagedError("it was altered"), True),
        (scratch_member.StartError("etcd does not start with it: panic"), True),
        (scratch_member.ScratchMemberError("the time limit of 60 s has passed: raise timeout"), False),
        (store.SnapshotError("it cannot be checked: out of memory"), False),
        (EtcdctlError("etcdutl is not an executable program"), False),
    ],
)
def test_only_a_failure_of_the_backup_makes_it_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: ValueError, bad: bool
) -> None:
    """A drill that failed for another reason says nothing about the backup."""

    def fail(*_arguments: Any) -> None:
        raise cause

    path = save(tmp_path)
    monkeypatch.setattr(backup_drill, "plan_drill", lambda *_arguments: planned(path, METADATA))
    monkeypatch.setattr(backup_drill.check, "verify_snapshot", fail)
    if bad:
        assert maintenance_drill.run(config(tmp_path), check=False)["backup_bad"]
    else:
        with pytest.raises(ValueError, match=str(cause)) as error:
            maintenance_drill.run(config(tmp_path), check=False)
        assert not isinstance(error.value, backup_drill.BadBackupError)


@pytest.mark.parametrize(
    ("status", "stderr", "bad"),
    [
        (2, "panic: page 4 already freed", True),
        (1, "Error: write db: no space left on device", False),
        (-9, "", False),
        (None, "", False),
    ],
)
def test_a_backup_that_etcdutl_cannot_restore_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, stderr: str, bad: bool
) -> None:
    monkeypatch.setattr(backup_drill, "run_etcd_tool", lambda *_arguments: ProcessResult(status, "", stderr))
    limits = scratch_member.Limits(1 << 30, time.monotonic() + 60)
    with pytest.raises(backup_drill.DrillError) as error:
        backup_drill.restore_copy("etcd.db", str(tmp_path), "etcdutl", limits)
    assert isinstance(error.value, backup_drill.BadBackupError) is bad


def planned(path: str, metadata: store.Metadata) -> backup_drill.Plan:
    return backup_drill.Plan(path, metadata, None, 1 << 20)


def test_a_backup_that_passed_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of several hosts that share a directory has run the drill for all."""
    path = save(tmp_path)
    monkeypatch.setattr(backup_drill, "plan_drill", lambda *_arguments: planned(path, METADATA))
    would = maintenance_drill.run(config(tmp_path), check=True)
    assert (would["result"], would["would"], would["path"]) == ("skipped", True, path)
    store.record_drill(path, {"compared": "hash"})
    record = maintenance_drill.run(config(tmp_path), check=False)
    assert (record["result"], record["settled"], record["reason"]) == (
        "skipped",
        True,
        f"{path} already passed its drill",
    )


def test_the_folder_of_a_killed_drill_is_removed_also_if_another_host_ran_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = save(tmp_path), config(tmp_path)
    asked.drill.scratch_dir = str(tmp_path)
    (tmp_path / ".headroom-drill-dead").mkdir()
    left = replace(planned(path, METADATA), abandoned=[str(tmp_path / ".headroom-drill-dead")])
    monkeypatch.setattr(backup_drill, "plan_drill", lambda *_arguments: left)
    would = maintenance_drill.run(asked, check=True)
    assert would["reason"].endswith(f"; {left.abandoned[0]}, left by a killed drill, would be removed")
    assert (tmp_path / ".headroom-drill-dead").exists(), "--check changes nothing"
    store.record_drill(path, {"compared": "hash"})
    assert maintenance_drill.run(asked, check=False)["settled"]
    assert not (tmp_path / ".headroom-drill-dead").exists()


@pytest.mark.parametrize("program", ["age", "gpg"])
def test_an_encrypted_backup_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """The host that takes encrypted backups lacks the key: the drill is skipped, which is not a failure."""
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "no-keyring"))
    metadata = replace(METADATA, encryption=program, encrypted_size=4, encrypted_sha256="11" * 32)
    path = save(tmp_path, metadata)
    reach_cluster(monkeypatch)
    record = maintenance_drill.run(config(tmp_path), check=False)
    assert (record["result"], record["settled"]) == ("skipped", False)
    assert record["reason"].startswith(f"{path} is encrypted: set identity_file to its secret key")


def test_a_backup_for_which_the_keyring_has_no_secret_key_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keyring for encrypt_to has public keys, which gpg only tells when it decrypts."""
    keyring = tmp_path / "keyring"
    keyring.mkdir()
    (keyring / "pubring.kbx").touch()
    monkeypatch.setenv("GNUPGHOME", str(keyring))
    path = save(tmp_path, replace(METADATA, encryption="gpg", encrypted_size=4, encrypted_sha256="11" * 32))
    reach_cluster(monkeypatch)

    def refuse(*_arguments: Any) -> None:
        raise encryption.MissingKeyError(
            f"gpg cannot decrypt {path}: No secret key: set identity_file to its secret key"
        )

    monkeypatch.setattr(backup_drill.check, "verify_snapshot", lambda *_arguments: None)
    monkeypatch.setattr(backup_drill.check, "decrypt", refuse)
    asked = config(tmp_path)
    asked.drill.scratch_dir = str(tmp_path)
    record = maintenance_drill.run(asked, check=False)
    assert (record["result"], record["settled"]) == ("skipped", False)
    assert record["reason"].endswith("secret key; run etcd_restore_drill with it on a host that has the key")
