# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A database built by hand, and programs that print a version. Real etcd: tests/integration/test_restore_of_real_etcd.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check, data_release, rescue
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult


def program(folder: Path, output: str) -> str:
    path = folder / "etcd"
    path.write_text(f"#!/bin/sh\n{output}\n")
    path.chmod(0o755)
    return str(path)


def prints(version: str) -> str:
    return f'echo "etcd Version: {version}"; echo "Git SHA: Not provided"'


@pytest.mark.parametrize(
    ("written", "output", "refused"),
    [
        (b"3.7.0", prints("3.6.16"), True),
        (b"3.10.0", prints("3.9.1"), True),
        (b"3.7.0", prints("3.7.3"), False),
        (b"3.6.0", prints("3.7.3"), False),
        # Without both versions nothing can be compared.
        (b"3.7.0", "exit 1", False),
        (b"not a version", prints("3.6.16"), False),
        (b"", prints("3.6.16"), False),
    ],
)
def test_program_of_an_older_minor_release_is_refused(
    write_database: Callable[..., Path], tmp_path: Path, written: bytes, output: str, refused: bool
) -> None:
    database = write_database({b"cluster": {b"clusterVersion": written}} if written else {b"members": {b"1": b"{}"}})
    found, etcd = data_release.release_problem(str(database), program(tmp_path, output)), str(tmp_path / "etcd")
    assert bool(found) is refused
    if refused:
        assert found.startswith(f"{etcd} is etcd 3.") and f"is of a cluster of version {written.decode()}" in found
        assert found.endswith(f"of release {written.decode()[:-2]} there")


def test_what_cannot_be_read_or_run_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "db").write_text("x")
    (tmp_path / "empty").touch(mode=0o755)
    for database in ("db", "none"):
        assert data_release.release_problem(str(tmp_path / database), "/bin/true") == ""
    assert data_release.read_program_version(str(tmp_path / "empty")) == ""
    assert data_release.read_program_version("/none") == ""


@pytest.fixture(name="request_of_data")
def rescue_request(write_database: Callable[..., Path], tmp_path: Path) -> rescue.Request:
    """A member's data of etcd 3.7."""
    data = tmp_path / "data"
    for folder in ("snap", "wal"):
        (data / "member" / folder).mkdir(parents=True)
    write_database({b"cluster": {b"clusterVersion": b"3.7.0"}}).rename(data / "member" / "snap" / "db")
    (data / "member" / "wal" / "0.wal").touch()
    return rescue.Request("n1", str(data), "", str(tmp_path), 1 << 30, 10)


def test_rescue_is_refused_before_etcd_is_stopped(request_of_data: rescue.Request, tmp_path: Path) -> None:
    tools = rescue.Tools(program(tmp_path, prints("3.6.16")), "/bin/true", "/bin/true")
    with pytest.raises(rescue.SnapshotError, match=r"is etcd 3\.6\.16, but .* of a cluster of version 3\.7\.0"):
        rescue.check_tools(request_of_data, tools)


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF\x02\x01", b"#!/bin/sh\nexit 127\n"], ids=["empty", "cut off", "fails"]
)
def test_a_program_that_cannot_run_does_not_make_the_data_unusable(
    request_of_data: rescue.Request, tmp_path: Path, content: bytes
) -> None:
    """The rescue would go on with the older data of another member."""
    (tmp_path / "etcd").write_bytes(content)
    (tmp_path / "etcd").chmod(0o755)
    tools = rescue.Tools(str(tmp_path / "etcd"), "/bin/true", "/bin/true")
    with pytest.raises(ValueError, match="etcd --version does not print the version of etcd") as refused:
        rescue.rescue_snapshot(request_of_data, tools)
    assert not isinstance(refused.value, rescue.UnusableDataError)
    assert list(tmp_path.glob("*.db")) == []


@pytest.mark.parametrize("reason", ["read-only file system", "disk quota exceeded", "no space left on device"])
def test_a_volume_that_takes_no_writes_does_not_make_the_data_unusable(reason: str) -> None:
    error = f'{{"level":"fatal","msg":"failed to open database","error":"open /x/db: {reason}"}}'
    assert check.is_host_problem(ProcessResult(1, "", error))
    assert not check.is_host_problem(ProcessResult(1, "", error.replace(reason, "invalid argument")))
