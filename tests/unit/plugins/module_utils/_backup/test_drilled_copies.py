# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest tested snapshot stays among the copies, in a directory and in a bucket."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    bucket_copies,
    directory_copies,
    drilled_copies,
    retention,
    store,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket, BucketError, Entry
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, StoredSnapshot

CLUSTER = "c1"
FIRST = 1_795_256_100


def publish(folder: Path, number: int, text: str = "") -> tuple[str, Metadata]:
    """Publish the snapshot of a minute. text: its content, that of its host and minute otherwise."""
    body = (text or f"{folder.name}-{number}").encode()
    (folder / "work").write_bytes(body)
    taken_at = FIRST + 60 * number
    digest = hashlib.sha256(body).hexdigest()
    metadata = Metadata(CLUSTER, "m1", "1", "3.6.16", "3.6.0", 5 + number, "b3", 9, len(body), digest, taken_at)
    path = store.new_path(str(folder), "etcd", taken_at)
    store.publish(str(folder / "work"), path, metadata)
    return path, metadata


def expired(stored: list[StoredSnapshot]) -> list[str]:
    """Keep the newest two."""
    return retention.expired_paths(stored, cluster_id=CLUSTER, keep=2, keep_days=None, now=FIRST + 86_400)


def passed(folder: Path) -> drilled_copies.PassedDrill | None:
    return drilled_copies.newest_passed(store.scan_directory(str(folder), "etcd"), CLUSTER, FIRST + 86_400)


class FakeObjects:
    """A bucket in memory."""

    def __init__(self, *, read_only: tuple[str, ...] = ()) -> None:
        self.stored: dict[str, bytes] = {}
        self.read_only, self.bucket = read_only, Bucket("etcd-backups")

    def entries(self) -> dict[str, Entry]:
        return {name: Entry(len(content), FIRST) for name, content in self.stored.items()}

    def read(self, name: str, _limit: int) -> bytes:
        return self.stored[name]

    def write(self, name: str, content: bytes) -> None:
        if name.endswith(self.read_only):
            raise BucketError("access denied")
        self.stored[name] = content

    def claim(self, name: str, content: bytes) -> bool:
        self.write(name, content)
        return True

    def upload(self, path: str, name: str, _timeout: int) -> None:
        self.write(name, Path(path).read_bytes())

    def sha256(self, name: str, _timeout: int) -> tuple[int, str]:
        return len(self.stored[name]), hashlib.sha256(self.stored[name]).hexdigest()

    def remove(self, name: str) -> None:
        self.stored.pop(name, None)

    def abort_stale_uploads(self, *_arguments: Any) -> None:
        """There are none."""

    def snapshots(self) -> list[str]:
        return sorted(name for name in self.stored if name.endswith(".db"))


@pytest.fixture(name="hosts")
def host_folders(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / name for name in ("host-a", "host-b", "share")]
    for folder in folders:
        folder.mkdir()
    return folders


def test_hosts_that_share_a_directory_keep_the_newest_tested_copy(hosts: list[Path]) -> None:
    first, second, share = hosts
    tested, metadata = publish(first, 0)
    assert directory_copies.copy_to_directory(tested, metadata, str(share), "etcd", expired, 60, passed(first))[1] == []
    store.record_drill(tested, {"result": "ok"})
    for number in range(1, 6):
        host = (first, second)[number % 2]
        path, metadata = publish(host, number)
        _copy, problems = directory_copies.copy_to_directory(
            path, metadata, str(share), "etcd", expired, 60, passed(host)
        )
        assert problems == []
        if number == 1:
            continue  # the other host knows nothing of the drill, and two copies stay anyway
        kept = store.scan_directory(str(share), "etcd")
        assert [os.path.basename(item.path) for item in kept if item.drilled] == [os.path.basename(tested)]
        assert len(kept) == 3
    assert (share / f"{os.path.basename(tested)}{store.DRILL}").read_text() == Path(tested + store.DRILL).read_text()


def test_without_a_drill_the_oldest_copy_goes(hosts: list[Path]) -> None:
    first, _second, share = hosts
    for number in range(3):
        path, metadata = publish(first, number)
        directory_copies.copy_to_directory(path, metadata, str(share), "etcd", expired, 60, passed(first))
    assert len(store.scan_directory(str(share), "etcd")) == 2


def test_a_record_that_cannot_be_written_removes_no_copy(hosts: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first, _second, share = hosts
    tested, metadata = publish(first, 0)
    for number in range(1, 3):
        directory_copies.copy_to_directory(tested, metadata, str(share), "etcd", expired, 60)
        store.record_drill(tested, {"result": "ok"})
        path, metadata = publish(first, number)

    def full(path: str, _text: str) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(store, "write_drill", full)
    before = len(store.scan_directory(str(share), "etcd"))
    copy, problems = directory_copies.copy_to_directory(path, metadata, str(share), "etcd", expired, 60, passed(first))
    assert copy and len(store.scan_directory(str(share), "etcd")) == before + 1
    assert (
        len(problems) == 1 and "the record of a passed drill, cannot be written: No space left on device" in problems[0]
    )


def test_a_bucket_keeps_the_newest_tested_copy(hosts: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first, objects = hosts[0], FakeObjects()
    monkeypatch.setattr(bucket_copies, "connect", lambda _bucket: objects)
    for number in range(5):
        path, metadata = publish(first, number)
        _url, problems = bucket_copies.copy_to_bucket(
            path, metadata, objects.bucket, "etcd", expired, 60, float(FIRST), passed(first)
        )
        assert problems == []
        if number == 0:
            tested = path
            store.record_drill(tested, {"result": "ok"})
    name = os.path.basename(tested)
    assert objects.snapshots()[0] == name and len(objects.snapshots()) == 3
    assert objects.stored[name + store.DRILL] == Path(tested + store.DRILL).read_bytes()
    # A newer tested copy replaces it, and the record goes with it.
    store.record_drill(path, {"result": "ok"})
    path, metadata = publish(first, 5)
    bucket_copies.copy_to_bucket(path, metadata, objects.bucket, "etcd", expired, 60, float(FIRST), passed(first))
    assert not any(one.startswith(name) for one in objects.stored) and len(objects.snapshots()) == 2


def test_a_bucket_that_refuses_the_record_keeps_all_copies(hosts: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first, objects = hosts[0], FakeObjects(read_only=(store.DRILL,))
    monkeypatch.setattr(bucket_copies, "connect", lambda _bucket: objects)
    for number in range(3):
        path, metadata = publish(first, number)
        url, problems = bucket_copies.copy_to_bucket(
            path, metadata, objects.bucket, "etcd", expired, 60, float(FIRST), passed(first)
        )
        store.record_drill(path, {"result": "ok"})
        assert url
    assert len(objects.snapshots()) == 3
    assert problems == [
        "an old copy could not be removed: the record of a passed drill cannot be written: access denied"
    ]


def test_a_drill_whose_record_is_gone_marks_nothing(hosts: list[Path]) -> None:
    path, metadata = publish(hosts[0], 0)
    assert drilled_copies.newest_passed([StoredSnapshot(path, metadata, "", drilled=True)], CLUSTER, FIRST) is None
