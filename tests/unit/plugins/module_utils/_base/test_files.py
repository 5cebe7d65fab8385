# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hashing files, flushing them, and replacing them atomically."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base import files


@pytest.mark.parametrize("content", [b"", b"abc", b"x" * (files.CHUNK_BYTES + 1)])
def test_sha256_of_file_returns_size_and_digest(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    files.drop_page_cache(str(path))
    assert files.sha256_of_file(str(path)) == (len(content), hashlib.sha256(content).hexdigest())


def test_sync_path_takes_files_and_directories(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    files.sync_path(str(tmp_path / "file"))
    files.sync_path(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        files.sync_path(str(tmp_path / "none"))


@pytest.mark.parametrize(("content", "mode"), [("new\n", 0o644), (b"new\n", 0o600)])
def test_write_atomically_replaces_content_and_mode(tmp_path: Path, content: str | bytes, mode: int) -> None:
    path = tmp_path / "file"
    path.write_text("old\n")
    files.write_atomically(str(path), content, mode)
    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_full_disk_is_reported_with_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a write names no file, unlike that of an open."""
    full = str(tmp_path / "temporary")
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_options: (os.open("/dev/full", os.O_WRONLY), full))
    with pytest.raises(OSError, match="No space left on device") as caught:
        files.write_atomically(str(tmp_path / "file"), "text")
    assert caught.value.filename == str(tmp_path / "file")


def test_write_atomically_leaves_nothing_behind_when_it_fails(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        files.write_atomically(str(tmp_path / "folder"), "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
