# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of real snapshots in a bucket of a real S3-compatible store (versitygw), and fetching them."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket_copies, snapshot, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check as backup_check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket, BucketError

from bench.common.member import Member, binary, releases, running
from tests.integration.client import EVENT_SECONDS, connection, etcdctl, wait_until

PORT = 25160
STORE_PORT = 25165
TLS_PORT = 25166
READONLY_PORT = 25167
VERSION = releases()[-1]
PROGRAM = Path(__file__).parents[2] / ".headroom/bin/versitygw"
ACCESS, SECRET = "access", "a secret key"
NAME = "etcd-backups"
DAY = 86400.0


@dataclass(frozen=True)
class Server:
    """A store that runs: where its buckets lie, and how a bucket of it is reached."""

    folder: Path
    bucket: Bucket

    def lying(self) -> set[str]:
        """The names of what lies in the bucket, as the store keeps it."""
        folder = self.folder / NAME / self.bucket.prefix
        return {path.name for path in folder.iterdir() if path.is_file()} if folder.is_dir() else set()


def serve(folder: Path, port: int, *options: str) -> subprocess.Popen[bytes]:
    """Start a store on loopback and wait for it."""
    (folder / NAME).mkdir(parents=True)
    metadata = folder.with_name("metadata")
    metadata.mkdir()
    command = [str(PROGRAM), "--port", f"127.0.0.1:{port}", "--access", ACCESS, "--secret", SECRET, *options]
    # Its own records beside the objects: not every filesystem has extended attributes.
    process = subprocess.Popen(
        [*command, "posix", "--sidecar", str(metadata), str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: process.poll() is not None or accepts(port), "the store did not start")
    assert process.poll() is None, "the store ended"
    return process


def accepts(port: int) -> bool:
    """Return whether a process accepts connections on a port of loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("store") / "buckets"
    process = serve(folder, STORE_PORT)
    url = f"http://127.0.0.1:{STORE_PORT}"
    try:
        yield Server(folder, Bucket(NAME, endpoint_url=url, access_key=ACCESS, secret_key=SECRET))
    finally:
        process.terminate()
        process.wait(EVENT_SECONDS)


@pytest.fixture
def place(server: Server, request: pytest.FixtureRequest) -> Server:
    """A folder of its own in the bucket."""
    prefix = f"{request.node.name.partition('[')[0]}/"
    return replace(server, bucket=replace(server.bucket, prefix=prefix))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    member = Member(VERSION, tmp_path_factory.mktemp("etcd"), PORT)
    with running([member]):
        etcdctl(member, "put", "key", "value")
        yield member


def tools() -> snapshot.Tools:
    return snapshot.Tools(connection(VERSION), str(binary(VERSION, "etcdutl")))


def asked(folder: Path, bucket: Bucket, keep: int = 7) -> snapshot.Request:
    folder.mkdir(exist_ok=True)
    return snapshot.Request(str(folder), "etcd", "", keep=keep, keep_days=None, reserve=0, timeout=60, bucket=bucket)


def save(live: Member, request: snapshot.Request) -> snapshot.SavedSnapshot:
    return snapshot.take_snapshot(request, tools(), [live.endpoint])


def files(copy: str) -> set[str]:
    """The three files of a snapshot by its path or URL."""
    return {Path(copy).name + suffix for suffix in ("", *store.RECORDS)}


def test_a_snapshot_is_copied_and_fetched(live: Member, place: Server, tmp_path: Path) -> None:
    saved = save(live, asked(tmp_path / "a", place.bucket))
    assert saved.failures == []
    assert saved.copies == [place.bucket.url(Path(saved.plan.path).name)]
    assert place.lying() == files(saved.copies[0])
    new = tmp_path / "new"
    new.mkdir()
    for wanted in ("", Path(saved.plan.path).name, saved.copies[0]):
        for check, there in ((True, False), (False, True)):
            path, metadata, brought = bucket_copies.fetch_snapshot(
                place.bucket, wanted, "etcd", str(new), 60, check=check
            )
            assert (metadata, brought, os.path.exists(path)) == (saved.metadata, True, there)
        assert backup_check.verify_snapshot(path, tools().etcdutl_path, 60) == saved.metadata
        assert os.stat(path).st_mode & 0o777 == 0o600
        again = bucket_copies.fetch_snapshot(place.bucket, wanted, "etcd", str(new), 60, check=False)
        assert again == (path, saved.metadata, False)
        os.truncate(path, 4096)  # as a crash of the host may
        text = f"{path} has 4096 bytes, but {saved.metadata.size} according to its record: remove that file and run"
        with pytest.raises(store.SnapshotError, match=text):
            bucket_copies.fetch_snapshot(place.bucket, wanted, "etcd", str(new), 60, check=False)
        os.unlink(path)
        assert bucket_copies.fetch_snapshot(place.bucket, wanted, "etcd", str(new), 60, check=False)[2]
        store.remove_snapshots([path])
    assert list(new.iterdir()) == []


def test_retention(live: Member, place: Server, tmp_path: Path) -> None:
    """Retention keeps the newest copies of all hosts, and neither counts nor removes damaged or foreign objects."""
    first = save(live, asked(tmp_path / "a", place.bucket, keep=2))
    folder = place.folder / NAME / place.bucket.prefix
    (folder / "notes.txt").write_text("not ours")
    damaged = "etcd-20200101T000000Z.db"
    for suffix in ("", *store.RECORDS):
        shutil.copy(folder / (Path(first.plan.path).name + suffix), folder / (damaged + suffix))
    with (folder / damaged).open("ab") as stream:
        stream.write(b"x")
    alone = "etcd-20200102T000000Z.db"
    (folder / alone).write_text("no records")
    others = {"notes.txt", alone, *(damaged + suffix for suffix in ("", *store.RECORDS))}
    rest = [save(live, asked(tmp_path / host, place.bucket, keep=2)) for host in ("b", "c")]
    assert [one.failures for one in rest] == [[], []]
    assert place.lying() == files(rest[0].copies[0]) | files(rest[1].copies[0]) | others
    newest, _metadata, _brought = bucket_copies.fetch_snapshot(place.bucket, "", "etcd", str(tmp_path), 60, check=True)
    assert Path(newest).name == Path(rest[1].copies[0]).name
    for wanted, text in (
        (damaged, r"is not a complete backup: it has \d+ bytes, but \d+ according to its record"),
        (alone, r"is not a complete backup: .*\.json is missing"),
        ("etcd-1.db", "there is no etcd-1.db in s3://etcd-backups/test_retention/"),
    ):
        with pytest.raises(store.SnapshotError, match=text):
            bucket_copies.fetch_snapshot(place.bucket, wanted, "etcd", str(tmp_path), 60, check=True)
    with pytest.raises(store.SnapshotError, match="contains no complete backup named other-…"):
        bucket_copies.fetch_snapshot(place.bucket, "", "other", str(tmp_path), 60, check=True)


def test_an_unreadable_record_stops_nothing(
    live: Member, place: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another host's retention removes an object between the list and the read, as an archived object or a lost key would refuse the read."""
    first, second = (save(live, asked(tmp_path / host, place.bucket, keep=2)) for host in ("a", "b"))
    folder = place.folder / NAME / place.bucket.prefix
    gone, read = Path(second.copies[0]).name + store.METADATA, backup_bucket.Objects.read
    record = (folder / gone).read_bytes()

    def removed_before(objects: backup_bucket.Objects, name: str, limit: int) -> bytes:
        if name == gone:
            (folder / gone).unlink(missing_ok=True)
        return read(objects, name, limit)

    monkeypatch.setattr(backup_bucket.Objects, "read", removed_before)
    third = save(live, asked(tmp_path / "c", place.bucket, keep=2))
    assert (third.failures, len(third.copies)) == ([], 1)
    assert place.lying() == files(first.copies[0]) | files(second.copies[0]) - {gone} | files(third.copies[0])
    # The oldest one is the newest that can be read, and the others are named.
    (folder / gone).write_bytes(record)
    backup_bucket.connect(place.bucket).remove(Path(third.copies[0]).name)
    warnings: list[str] = []
    path, _metadata, _brought = bucket_copies.fetch_snapshot(
        place.bucket, "", "etcd", str(tmp_path), 60, check=True, warn=warnings.append
    )
    assert Path(path).name == Path(first.copies[0]).name
    (warning,) = warnings
    assert warning.startswith(f"the newer {Path(second.copies[0]).name} was skipped: {gone} cannot be read: ")
    (folder / gone).write_bytes(record)
    with pytest.raises(store.SnapshotError, match=rf"is not a complete backup: {gone} cannot be read: .*NoSuchKey"):
        bucket_copies.fetch_snapshot(place.bucket, second.copies[0], "etcd", str(tmp_path), 60, check=True)
    backup_bucket.connect(place.bucket).remove(Path(first.copies[0]).name)
    (folder / gone).write_bytes(record)
    with pytest.raises(
        store.SnapshotError, match=rf"contains no complete backup named .*; .* was skipped: {gone} cannot"
    ):
        bucket_copies.fetch_snapshot(place.bucket, "", "etcd", str(tmp_path), 60, check=True)


def test_two_hosts_at_once(live: Member, place: Server, tmp_path: Path) -> None:
    """Without the lock (the alarm NOSPACE is set) all hosts back up in the same second."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        requests = [asked(tmp_path / host, place.bucket) for host in "abc"]
        saved = list(pool.map(lambda request: save(live, request), requests))
    assert [one.failures for one in saved] == [[], [], []]
    copies = [one.copies[0] for one in saved]
    assert len(set(copies)) == 3
    assert place.lying() == set().union(*map(files, copies))
    new = tmp_path / "new"
    new.mkdir()
    for one, copy in zip(saved, copies, strict=True):
        path, metadata, _brought = bucket_copies.fetch_snapshot(place.bucket, copy, "etcd", str(new), 60, check=False)
        assert metadata == one.metadata == backup_check.verify_snapshot(path, tools().etcdutl_path, 60)


def test_an_altered_copy_is_not_fetched(live: Member, place: Server, tmp_path: Path) -> None:
    """A copy that differs from the saved snapshot is not fetched."""
    saved = save(live, asked(tmp_path / "a", place.bucket))
    lies = place.folder / NAME / place.bucket.prefix / Path(saved.plan.path).name
    with lies.open("r+b") as stream:
        stream.seek(9000)
        stream.write(b"x")
    (tmp_path / "new").mkdir()
    with pytest.raises(store.SnapshotError, match=r"was altered: its SHA-256 is [0-9a-f]{64}, but"):
        bucket_copies.fetch_snapshot(place.bucket, "", "etcd", str(tmp_path / "new"), 60, check=False)
    assert list((tmp_path / "new").iterdir()) == []


def test_leftovers_of_killed_backups_are_removed(live: Member, place: Server, tmp_path: Path) -> None:
    """Old partial uploads and orphaned records are removed; uploads that another host may still be writing stay."""
    kept = backup_bucket.connect(place.bucket)
    young, lonely = "etcd-20200103T000000Z.db.json", "etcd-20200104T000000Z.db.sha256"
    kept.write(young, b"{}")
    kept.write(lonely, b"")
    begun = {"Bucket": NAME, "Key": f"{place.bucket.prefix}etcd-20200105T000000Z.db"}
    kept._client.create_multipart_upload(**begun)

    def parts() -> int:
        return len(kept._client.list_multipart_uploads(Bucket=NAME, Prefix=place.bucket.prefix).get("Uploads", []))

    assert parts() == 1
    folder = place.folder / NAME / place.bucket.prefix
    os.utime(folder / lonely, (time.time() - 2 * DAY,) * 2)
    saved = save(live, asked(tmp_path / "a", place.bucket))
    assert place.lying() == {young} | files(saved.copies[0])
    assert parts() == 1
    kept.abort_stale_uploads(time.time() + DAY, store.name_pattern("etcd"))
    assert parts() == 0


@pytest.mark.parametrize(
    "name", ["report.tar", "etcd-other.db", "other-20200105T000000Z.db", "etcd-20200105T000000Z.db.part"]
)
def test_uploads_of_others_are_left_alone(place: Server, name: str) -> None:
    """Other programs may use the bucket, with the same prefix too."""
    objects = backup_bucket.connect(place.bucket)
    upload = {"Bucket": NAME, "Key": place.bucket.prefix + name}
    begun = objects._client.create_multipart_upload(**upload)
    objects.abort_stale_uploads(time.time() + DAY, store.name_pattern("etcd"))
    listed = objects._client.list_multipart_uploads(Bucket=NAME, Prefix=place.bucket.prefix).get("Uploads", [])
    objects._client.abort_multipart_upload(**upload, UploadId=begun["UploadId"])
    assert [one["UploadId"] for one in listed] == [begun["UploadId"]]


def test_a_timed_out_upload_leaves_nothing(
    live: Member, place: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upload that times out leaves nothing in the bucket, and the snapshot stays on the host."""
    request = asked(tmp_path / "a", place.bucket)
    hours = itertools.count(0, 3600)
    monkeypatch.setattr(backup_bucket, "time", SimpleNamespace(monotonic=lambda: next(hours)))
    saved = save(live, request)
    assert saved.copies == []
    assert saved.failures == [
        f"there is no copy in {place.bucket.url()}: uploading did not finish within 60 s: raise timeout"
    ]
    assert place.lying() == set()
    assert backup_check.verify_snapshot(saved.plan.path, tools().etcdutl_path, 60) == saved.metadata


CASES = [
    ({"secret_key": "wrong"}, r"refuses the request: the secret key does not match the access key"),
    ({"access_key": "nobody"}, r"No user exists with the provided access key ID"),
    ({"name": "no-such-bucket"}, r"has no bucket no-such-bucket: create it, or set another name"),
    ({"endpoint_url": "http://127.0.0.1:1"}, r"http://127\.0\.0\.1:1 cannot be reached \(.*Connection refused\)"),
    ({"endpoint_url": "http://nowhere.invalid"}, r"cannot be reached \(.*\): check endpoint_url"),
    ({"access_key": "", "secret_key": ""}, r"no credentials were found: set an access key, a credentials file"),
]


@pytest.mark.parametrize(("change", "text"), CASES)
def test_an_unusable_bucket_is_reported(
    live: Member, place: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], text: str
) -> None:
    """Check mode reports it; a real run keeps the snapshot and reports the failed copy."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    request = asked(tmp_path / "a", replace(place.bucket, **change))
    with pytest.raises(store.SnapshotError, match=f"a copy to the bucket would fail: .*{text}"):
        snapshot.check_copies(request, 1)
    saved = save(live, request)
    (failure,) = saved.failures
    with pytest.raises(store.SnapshotError, match=text):
        raise store.SnapshotError(failure)
    assert (saved.copies, os.path.exists(saved.plan.path)) == ([], True)
    assert place.lying() == set()


BAD = [
    ({"name": "Backups"}, "the bucket's name is 'Backups', but must be 3 to 63 lower-case letters"),
    ({"name": ""}, "the bucket's name is ''"),
    ({"prefix": "production"}, "prefix is 'production': write folders, each followed by a slash"),
    ({"prefix": "a/../b/"}, "prefix is 'a/../b/'"),
    ({"endpoint_url": "s3.example.com"}, "endpoint_url is 's3.example.com': write https://HOST"),
    ({"endpoint_url": "https://s3.example.com/bucket"}, "endpoint_url is 'https://s3.example.com/bucket'"),
    ({"secret_key": ""}, "secret_key is missing: set both access_key and secret_key"),
    ({"credentials_file": "/etc/passwd"}, "access_key and credentials_file are both set"),
    ({"ca_cert": "/nowhere/ca.crt"}, "ca_cert is /nowhere/ca.crt, which cannot be read on this host"),
]


@pytest.mark.parametrize(("change", "text"), BAD)
def test_an_invalid_bucket_is_refused(
    live: Member, place: Server, tmp_path: Path, change: dict[str, str], text: str
) -> None:
    """Refused before a snapshot is taken."""
    with pytest.raises(store.SnapshotError, match=f"^bucket: {text}"):
        save(live, asked(tmp_path / "a", replace(place.bucket, **change)))
    assert list((tmp_path / "a").iterdir()) == []


def test_a_store_that_refuses_writes(live: Member, tmp_path: Path) -> None:
    process = serve(tmp_path / "buckets", READONLY_PORT, "--readonly")
    bucket = Bucket(NAME, endpoint_url=f"http://127.0.0.1:{READONLY_PORT}", access_key=ACCESS, secret_key=SECRET)
    try:
        saved = save(live, asked(tmp_path / "a", bucket))
    finally:
        process.terminate()
        process.wait(EVENT_SECONDS)
    (failure,) = saved.failures
    assert failure.endswith("refuses the request: these credentials lack the permission (AccessDenied)")
    assert backup_check.verify_snapshot(saved.plan.path, tools().etcdutl_path, 60) == saved.metadata


def test_tls_and_a_file_of_credentials(tmp_path: Path) -> None:
    """The store needs its own CA, and credentials come from a file in the format of Amazon's tools."""
    key, certificate = tmp_path / "key", tmp_path / "crt"
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=store -addext subjectAltName=IP:127.0.0.1 "
        f"-keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
    )
    credentials = tmp_path / "credentials"
    credentials.write_text(f"[default]\naws_access_key_id = {ACCESS}\naws_secret_access_key = {SECRET}\n")
    bucket = Bucket(NAME, endpoint_url=f"https://127.0.0.1:{TLS_PORT}", credentials_file=str(credentials))
    process = serve(tmp_path / "buckets", TLS_PORT, "--cert", str(certificate), "--key", str(key))
    try:
        assert backup_bucket.connect(replace(bucket, ca_cert=str(certificate))).entries() == {}
        with pytest.raises(BucketError, match=r"the certificate of .* is not trusted: set ca_cert to its CA"):
            backup_bucket.connect(bucket).entries()
    finally:
        process.terminate()
        process.wait(EVENT_SECONDS)
