# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of several clusters in one directory. tests/integration copies snapshots of real etcd."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import directory_copies, store
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
        copy, problems = directory_copies.copy_to_directory(str(path), metadata, str(share), "etcd", lambda _stored: [])
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
    monkeypatch.setattr(directory_copies, "read_fstab", lambda: [entry])
    share = str(tmp_path / "share" / "etcd")
    copy, problems = directory_copies.copy_to_directory(str(path), metadata, share, "etcd", lambda _stored: [])
    assert (copy, problems) == (
        "",
        [f"there is no copy in {share}: nothing is mounted at {tmp_path}/share, which /etc/fstab lists: mount it"],
    )
    assert path.exists() and not list((tmp_path / "share" / "etcd").iterdir())
