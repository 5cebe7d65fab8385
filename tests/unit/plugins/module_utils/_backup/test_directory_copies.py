# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of several clusters in one directory. tests/integration copies snapshots of real etcd."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import directory_copies, store
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._host import fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import FstabEntry

NAME = "etcd-20261121T101500Z.db"


def save(folder: Path, cluster_id: str) -> tuple[Path, store.Metadata]:
    """Publish a backup of this second."""
    folder.mkdir()
    body = cluster_id.encode()
    (folder / "work").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    metadata = store.Metadata(cluster_id, "m1", "1", "3.6.16", "3.6.0", 5, "b3", 9, len(body), digest, 1_795_256_100)
    store.publish(str(folder / "work"), str(folder / NAME), metadata)
    return folder / NAME, metadata


def test_copies_of_the_same_second_do_not_replace_one_another(tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    for cluster_id, name in (("aa", NAME), ("bb", NAME.replace(".db", "-2.db"))):
        path, metadata = save(tmp_path / cluster_id, cluster_id)
        copy, problems = directory_copies.copy_to_directory(
            str(path), metadata, str(share), "etcd", lambda _stored: [], 60
        )
        assert (copy, problems) == (str(share / name), [])
    found = {
        item.metadata.cluster_id: Path(item.path).read_text()
        for item in store.scan_directory(str(share), "etcd")
        if item.metadata
    }
    assert found == {"aa": "aa", "bb": "bb"}


def test_a_volume_that_is_not_mounted_gets_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mount point is an empty folder of the volume around it, and would hide the copy once it is mounted."""
    path, metadata = save(tmp_path / "backups", "aa")
    (tmp_path / "share" / "etcd").mkdir(parents=True)
    entry = FstabEntry("nfs:/backups", str(tmp_path / "share"), "nfs", "defaults", "0", "0")
    monkeypatch.setattr(fstab, "read_fstab", lambda: [entry])
    share = str(tmp_path / "share" / "etcd")
    copy, problems = directory_copies.copy_to_directory(str(path), metadata, share, "etcd", lambda _stored: [], 60)
    assert (copy, problems) == (
        "",
        [f"there is no copy in {share}: nothing is mounted at {tmp_path}/share, which /etc/fstab lists: mount it"],
    )
    assert path.exists() and not list((tmp_path / "share" / "etcd").iterdir())


def hang(*_arguments: Any, **_options: Any) -> Any:
    """Wait as for a server that does not answer: signals that a process can catch do not end it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(600)


def test_a_copy_that_hangs_fails_at_its_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, metadata = save(tmp_path / "backups", "aa")
    share = tmp_path / "share"
    share.mkdir()
    monkeypatch.setattr(deadline, "_CLEANUP_SECONDS", 0.1)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", hang)
        began = time.monotonic()
        found = directory_copies.copy_to_directory(str(path), metadata, str(share), "etcd", lambda _stored: [], 2)
    assert time.monotonic() - began < 60
    problem = f"the copy to {share} did not finish within 4 s: check the server of its volume, or raise timeout"
    assert found == ("", [problem])
    copied, problems = directory_copies.copy_to_directory(
        str(path), metadata, str(share), "etcd", lambda _stored: [], 60
    )
    assert (copied, problems) == (str(share / NAME), [])
    assert not list(share.glob(".headroom-snapshot-*")), "the next backup removes the incomplete copy"


def test_a_failed_copy_has_the_reason_of_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def killed(*_arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    path, metadata = save(tmp_path / "backups", "aa")
    (tmp_path / "share").mkdir()
    for copyfile, reason in (
        (full, "No space left on device"),
        (killed, "the process ended without a result (status -9)"),
    ):
        monkeypatch.setattr(shutil, "copyfile", copyfile)
        share = str(tmp_path / "share")
        found = directory_copies.copy_to_directory(str(path), metadata, share, "etcd", lambda _stored: [], 60)
        assert found == ("", [f"there is no copy in {share}: {reason}"])


def test_check_mode_does_not_wait_for_a_share_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(deadline, "_CLEANUP_SECONDS", 0.1)
    monkeypatch.setattr(os.path, "isdir", hang)
    with pytest.raises(store.SnapshotError, match=r"^it does not answer within 0.5 s: check the server of its volume"):
        directory_copies.check_copy_dir(str(tmp_path), 1, "/backups")
