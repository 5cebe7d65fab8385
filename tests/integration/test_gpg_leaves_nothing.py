# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpg itself: nothing of the user's home changes, no agent keeps running, and no key server is asked."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import SnapshotError

NAME = "operator@example.com"
END_SECONDS = 60


def agents(folder: str) -> list[str]:
    """Return the command lines of gpg's agents for homes below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if any(name in command for name in ("gpg-agent", "dirmngr", "keyboxd", "scdaemon")) and folder in command:
            found.append(command)
    return found


def agents_that_stay(folder: str) -> list[str]:
    """Return the agents that still run after a while: on a busy machine one takes seconds to end."""
    deadline = time.monotonic() + END_SECONDS
    while found := agents(folder):
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return found


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return time and content of each file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture(name="home")
def empty_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Set HOME to an empty folder and TMPDIR to another one below a short path, as sockets need."""
    with tempfile.TemporaryDirectory(prefix="hg", dir="/tmp") as folder:
        for name in ("home", "tmp"):
            Path(folder, name).mkdir()
        monkeypatch.setenv("HOME", f"{folder}/home")
        monkeypatch.delenv("GNUPGHOME", raising=False)
        monkeypatch.setattr(tempfile, "tempdir", f"{folder}/tmp")
        yield Path(folder, "home")
        assert agents_that_stay(folder) == []
        assert os.listdir(f"{folder}/tmp") == []


@pytest.fixture(name="keys", scope="module")
def key_pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Files with a public and its secret key."""
    folder = tmp_path_factory.mktemp("keys")
    with tempfile.TemporaryDirectory(prefix="hg", dir="/tmp") as home:
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"]
        subprocess.run([*gpg, "--quick-generate-key", NAME, "rsa2048", "encr"], check=True, capture_output=True)
        for name, action in (("public", "--export"), ("secret", "--export-secret-keys")):
            done = subprocess.run([*gpg, "--armor", action], check=True, capture_output=True)
            (folder / name).write_bytes(done.stdout)
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)
    return str(folder / "public"), str(folder / "secret")


def encrypted(recipients: list[str], folder: Path) -> str:
    """Encrypt a file for recipients."""
    (folder / "plain").write_text("content")
    target = str(folder / "encrypted")
    encryption.encrypt(encryption.choose_program(recipients), recipients, str(folder / "plain"), target, 30)
    return target


def decrypted(path: str, identity_file: str, folder: Path) -> str:
    """Decrypt a file."""
    encryption.decrypt("gpg", identity_file, path, str(folder / "decrypted"), 30)
    return (folder / "decrypted").read_text()


def test_keys_from_files_leave_an_empty_home_empty(home: Path, keys: tuple[str, str], tmp_path: Path) -> None:
    public, secret = keys
    assert decrypted(encrypted([public], tmp_path), secret, tmp_path) == "content"
    assert list(home.iterdir()) == []


def test_unknown_name_is_refused_before_anything_is_encrypted(home: Path, tmp_path: Path) -> None:
    with pytest.raises(
        SnapshotError, match=r"'nobody@example.org' is neither a file on this host nor .*no keyring: write"
    ):
        encryption.choose_program(["nobody@example.org"])
    with pytest.raises(SnapshotError, match="set identity_file to its secret key"):
        decrypted(str(tmp_path / "encrypted"), "", tmp_path)
    assert list(home.iterdir()) == []


def test_names_of_the_users_keyring_are_only_read(home: Path, keys: tuple[str, str], tmp_path: Path) -> None:
    public, secret = keys
    keyring = home / ".gnupg"
    keyring.mkdir(mode=0o700)
    subprocess.run(["gpg", "--batch", "--quiet", "--no-autostart", "--import", public], check=True, capture_output=True)
    before = contents(home)
    with pytest.raises(
        SnapshotError, match=f"'nobody@example.org' is neither a file on this host nor a key in {keyring}"
    ):
        encryption.choose_program(["nobody@example.org"])
    path = encrypted([NAME, public], tmp_path)
    assert contents(home) == before
    assert decrypted(path, secret, tmp_path) == "content"
    assert contents(home) == before


def test_agent_of_the_users_keyring_ends_after_decrypting(home: Path, keys: tuple[str, str], tmp_path: Path) -> None:
    public, secret = keys
    (home / ".gnupg").mkdir(mode=0o700)
    subprocess.run(["gpg", "--batch", "--quiet", "--import", secret], check=True, capture_output=True)
    subprocess.run(["gpgconf", "--kill", "all"], check=True)
    assert decrypted(encrypted([public], tmp_path), "", tmp_path) == "content"


def test_a_keyring_with_public_keys_only_lacks_the_key(home: Path, keys: tuple[str, str], tmp_path: Path) -> None:
    public, _secret = keys
    (home / ".gnupg").mkdir(mode=0o700)
    subprocess.run(["gpg", "--batch", "--quiet", "--no-autostart", "--import", public], check=True, capture_output=True)
    assert not encryption.requires_identity_file("gpg")
    with pytest.raises(encryption.MissingKeyError, match="No secret key: set identity_file to its secret key"):
        decrypted(encrypted([NAME], tmp_path), "", tmp_path)
    assert not (tmp_path / "decrypted").exists()


def test_a_damaged_file_is_no_missing_key(home: Path, keys: tuple[str, str], tmp_path: Path) -> None:
    public, secret = keys
    (home / ".gnupg").mkdir(mode=0o700)
    subprocess.run(["gpg", "--batch", "--quiet", "--import", secret], check=True, capture_output=True)
    subprocess.run(["gpgconf", "--kill", "all"], check=True)
    path = Path(encrypted([public], tmp_path))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(SnapshotError) as caught:
        decrypted(str(path), "", tmp_path)
    assert not isinstance(caught.value, encryption.MissingKeyError)
