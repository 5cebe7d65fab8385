# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encrypted snapshots and copies of real etcd: no plain text stays on disk, and the snapshot can be restored."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check as backup_check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill, snapshot, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as backup_encryption
from ansible_collections.etcdops.headroom.plugins.modules import etcd_snapshot

from bench.common.member import Member, binary, releases, running
from tests.integration.client import connection, etcdctl

PORT = 25150
VERSION = releases()[-1]
SECRET = "a value that nobody may read"


@dataclass(frozen=True)
class Keys:
    """A method of encryption: program, recipient, the matching key, and another key."""

    program: str
    recipients: tuple[str, ...]
    identity: str
    other: str


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    member = Member(VERSION, tmp_path_factory.mktemp("etcd"), PORT)
    with running([member]):
        for number in range(20):
            put(member, f"key-{number}")
        yield member


def put(member: Member, key: str) -> None:
    etcdctl(member, "put", key, text=SECRET)


@pytest.fixture(scope="module", params=["age", "gpg"])
def keys(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """Keys made by the program itself."""
    program: str = request.param
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp(program)
    made = [age_key(folder / name) if program == "age" else gpg_key(folder / name) for name in ("ours", "other")]
    return Keys(program, (made[0][0],), made[0][1], made[1][1])


def age_key(path: Path) -> tuple[str, str]:
    subprocess.run(["age-keygen", "-o", str(path)], check=True, capture_output=True)
    public = subprocess.run(["age-keygen", "-y", str(path)], check=True, capture_output=True, text=True).stdout.strip()
    return public, str(path)


def gpg_key(path: Path) -> tuple[str, str]:
    """Files with the public and the secret key."""
    with tempfile.TemporaryDirectory(prefix="gpg", dir="/tmp") as home:
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"]
        subprocess.run(
            [*gpg, "--quick-generate-key", f"{path.name}@example.com", "rsa2048", "encr"],
            check=True,
            capture_output=True,
        )
        for ending, what in (("pub", "--export"), ("sec", "--export-secret-keys")):
            done = subprocess.run([*gpg, what], check=True, capture_output=True)
            Path(f"{path}.{ending}").write_bytes(done.stdout)
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
    return f"{path}.pub", f"{path}.sec"


def tools() -> snapshot.Tools:
    return snapshot.Tools(connection(VERSION), str(binary(VERSION, "etcdutl")))


def asked(folder: Path, keys: Keys | None = None, copy_dir: str = "", keep: int = 7) -> snapshot.Request:
    folder.mkdir(exist_ok=True)
    base = snapshot.Request(str(folder), "etcd", "", keep=keep, keep_days=None, reserve=0, timeout=60)
    return replace(base, encrypt_to=keys.recipients if keys else (), copy_dir=copy_dir)


def save(live: Member, request: snapshot.Request) -> snapshot.SavedSnapshot:
    return snapshot.take_snapshot(request, tools(), [live.endpoint])


def in_the_clear(folder: Path) -> list[str]:
    """The files below a folder that hold a value of the cluster."""
    return [path.name for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def test_an_encrypted_snapshot_is_restored(live: Member, keys: Keys, tmp_path: Path) -> None:
    saved = save(live, asked(tmp_path / "a", keys))
    assert saved.plan.path.endswith(f".db.{keys.program}")
    assert in_the_clear(tmp_path) == []
    assert os.stat(saved.plan.path).st_mode & 0o777 == 0o600
    subprocess.run(["sha256sum", "--check", f"{saved.plan.path}.sha256"], cwd=tmp_path / "a", check=True)
    assert backup_check.verify_snapshot(saved.plan.path, tools().etcdutl_path, 60) == saved.metadata
    plain = tmp_path / "plain.db"
    found = backup_check.decrypt_and_publish(
        saved.plan.path, saved.metadata, str(plain), keys.identity, tools().etcdutl_path, 60
    )
    assert backup_check.verify_snapshot(str(plain), tools().etcdutl_path, 60) == found
    assert (found.revision, found.sha256, found.encryption) == (saved.metadata.revision, saved.metadata.sha256, "")
    assert in_the_clear(tmp_path) == ["plain.db"]
    # Retention recognises an encrypted snapshot.
    second = save(live, asked(tmp_path / "a", keys, keep=1))
    assert second.removed == [saved.plan.path]
    assert not list((tmp_path / "a").glob(f"{Path(saved.plan.path).name}*"))


def cut(path: Path) -> None:
    """Keep the first page, as a crash of the host may."""
    os.truncate(path, 4096)


def flip(path: Path) -> None:
    """Change one byte."""
    with path.open("r+b") as stream:
        stream.seek(9000)
        stream.write(b"x")


@pytest.mark.parametrize(("damage", "text"), [(cut, "has 4096 bytes, but "), (flip, "has the SHA-256 ")])
def test_a_damaged_decrypted_snapshot_is_reported(
    live: Member,
    keys: Keys,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    text: str,
) -> None:
    """Its records are right, because they are those of the snapshot that was decrypted."""
    saved = save(live, asked(tmp_path / "a", keys))

    def decrypt(check: bool = False) -> dict[str, Any]:
        options = {"path": saved.plan.path, "identity_file": keys.identity, "etcdutl_path": tools().etcdutl_path}
        with patch_module_args({"state": "decrypted", **options, "_ansible_check_mode": check}):
            with pytest.raises(SystemExit):
                etcd_snapshot.main()
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    path = Path(decrypt()["path"])
    assert [decrypt(check)["changed"] for check in (True, False)] == [False, False]
    damage(path)
    for check in (True, False):
        result = decrypt(check)
        assert result.get("failed") and result["msg"].startswith(f"{path} {text}"), result
        assert result["msg"].endswith(" according to its record: remove that file and run this again")
    path.unlink()
    assert decrypt()["changed"]
    assert backup_check.verify_snapshot(str(path), tools().etcdutl_path, 60).sha256 == saved.metadata.sha256


def test_wrong_keys(live: Member, keys: Keys, tmp_path: Path) -> None:
    saved = save(live, asked(tmp_path / "a", keys))
    target = tmp_path / "plain.db"
    for identity, text in (
        (keys.other, f"{keys.program} cannot decrypt .*{keys.program} with "),
        ("/nowhere", "identity_file /nowhere cannot be read"),
    ):
        with pytest.raises(store.SnapshotError, match=text):
            backup_check.decrypt_and_publish(
                saved.plan.path, saved.metadata, str(target), identity, tools().etcdutl_path, 60
            )
        assert in_the_clear(tmp_path) == [] and not target.exists()
    refused = (
        "age cannot encrypt for age1nobody.*unchanged"
        if keys.program == "age"
        else "'nobody@example.org' is neither a file"
    )
    with pytest.raises(store.SnapshotError, match=refused):
        save(
            live,
            replace(
                asked(tmp_path / "a"), encrypt_to=("age1nobody" if keys.program == "age" else "nobody@example.org",)
            ),
        )
    assert in_the_clear(tmp_path) == []
    assert [item.path for item in store.scan_directory(str(tmp_path / "a"), "etcd")] == [saved.plan.path]


def test_an_altered_snapshot_is_refused(live: Member, keys: Keys, tmp_path: Path) -> None:
    saved = save(live, asked(tmp_path / "a", keys))
    path = Path(saved.plan.path)
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(body)
    with pytest.raises(store.SnapshotError, match="was altered: its SHA-256 is"):
        backup_check.verify_snapshot(str(path), tools().etcdutl_path, 60)
    path.write_bytes(body[:-9])
    with pytest.raises(store.SnapshotError, match="is truncated or altered"):
        backup_check.verify_snapshot(str(path), tools().etcdutl_path, 60)


def test_drill(live: Member, keys: Keys, tmp_path: Path) -> None:
    saved = save(live, asked(tmp_path / "a", keys))
    record = Path(saved.plan.path + store.DRILL)
    put(live, "later")
    put(live, "later still")
    with tempfile.TemporaryDirectory(prefix="drill", dir="/var/tmp") as scratch_dir:
        request = drill.Request(str(tmp_path / "a"), "etcd", "", scratch_dir, 512 << 20, 0, 60, live=True)
        programs = drill.Tools(connection(VERSION), str(binary(VERSION)), str(binary(VERSION, "etcdutl")))
        if keys.program == "age":
            with pytest.raises(drill.DrillError, match="is encrypted: set identity_file to its secret key"):
                drill.run_drill(request, programs, [live.endpoint])
        with pytest.raises(drill.DrillError, match=f"failed its drill: {keys.program} cannot decrypt"):
            drill.run_drill(replace(request, identity_file=keys.other), programs, [live.endpoint])
        report = drill.run_drill(replace(request, identity_file=keys.identity), programs, [live.endpoint])
        assert report.finding.compared == "hash"
        # A wrong key does not disprove the drill that the backup passed; altered content does.
        passed = record.read_text()
        with pytest.raises(drill.DrillError, match=f"failed its drill: {keys.program} cannot decrypt"):
            drill.run_drill(replace(request, identity_file=keys.other), programs, [live.endpoint])
        assert record.read_text() == passed
        body = bytearray(Path(saved.plan.path).read_bytes())
        body[len(body) // 2] ^= 1
        Path(saved.plan.path).write_bytes(body)
        with pytest.raises(drill.DrillError, match=r"failed its drill: .* was altered"):
            drill.run_drill(replace(request, identity_file=keys.identity), programs, [live.endpoint])
        assert not record.exists()
        assert os.listdir(scratch_dir) == []
    assert in_the_clear(tmp_path) == []


@pytest.mark.parametrize(
    ("recipients", "text"),
    [
        (
            ("age1x", "someone@example.com"),
            "'age1x' is for age and 'someone@example.com' for gpg: use recipients of one program",
        ),
        (("--output=/etc/passwd",), "'--output=/etc/passwd' is not a recipient"),
        (("",), "'' is not a recipient"),
    ],
)
def test_invalid_recipients_are_refused(recipients: tuple[str, ...], text: str) -> None:
    with pytest.raises(store.SnapshotError, match=text):
        backup_encryption.choose_program(recipients)


def test_copies(live: Member, tmp_path: Path) -> None:
    """Copies are read back and have the same retention; a failed copy leaves the snapshot unchanged."""
    share = tmp_path / "share"
    share.mkdir()
    request = asked(tmp_path / "a", copy_dir=str(share), keep=2)
    saved = [save(live, request) for _number in range(3)]
    assert [Path(one.copies[0]).name for one in saved] == [Path(one.plan.path).name for one in saved]
    for folder in (tmp_path / "a", share):
        # Of two in one second the one with the number sorts first.
        kept = {Path(item.path).name for item in store.scan_directory(str(folder), "etcd")}
        assert kept == {Path(one.copies[0]).name for one in saved[1:]}
        for item in store.scan_directory(str(folder), "etcd"):
            assert backup_check.verify_snapshot(item.path, tools().etcdutl_path, 60) == item.metadata
    with pytest.raises(store.SnapshotError, match="the directory of the snapshots: set another directory"):
        save(live, replace(request, copy_dir=f"{tmp_path}/./a"))
    lost = save(live, replace(request, copy_dir=str(tmp_path / "none")))
    assert lost.failures == [
        f"there is no copy in {tmp_path / 'none'}: it is not a directory on this host: create it, or mount its volume"
    ]
    assert lost.copies == []
    assert backup_check.verify_snapshot(lost.plan.path, tools().etcdutl_path, 60) == lost.metadata


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a filesystem of its own, which only root can mount")
def test_a_full_target_folder(live: Member, tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(share)], check=True)
    try:
        (share / "filler").write_bytes(bytes(1 << 20))
        saved = save(live, asked(tmp_path / "a", copy_dir=str(share)))
        assert saved.failures[0].startswith(f"there is no copy in {share}: it has 0 B free, but the copy needs")
        assert Path(saved.plan.path).exists()
        assert [path.name for path in share.iterdir()] == ["filler"]
        subprocess.run(["mount", "-o", "remount,ro", str(share)], check=True)
        (failure,) = save(live, asked(tmp_path / "a", copy_dir=str(share))).failures
        assert failure.startswith(f"there is no copy in {share}: ")
    finally:
        subprocess.run(["umount", str(share)], check=True)
