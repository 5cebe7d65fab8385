# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A share whose server does not answer, so that the kernel does not let a process end."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import directory_copies, store
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices, fstab, mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import host_checks

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="only root can mount a filesystem of FUSE"
)


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The directory of the share. Short limits for a child that has to end."""
    path = tmp_path / "share"
    path.mkdir()
    monkeypatch.setattr(deadline, "_CLEANUP_SECONDS", 0.5)
    monkeypatch.setattr(deadline, "ANSWER_SECONDS", 1.0)
    command = [sys.executable, str(Path(__file__).parent / "hung_share.py"), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None and server.stdout.readline() == b"mounted\n"
            yield str(path)
        finally:
            server.kill()
            subprocess.run(["umount", "--lazy", str(path)], check=True)


def states() -> list[str]:
    """Return the states of the children of this process, which the next look at them ends."""
    asked = ["ps", "--no-headers", "-o", "stat,comm", "--ppid", str(os.getpid())]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0][0] for line in lines if line.split()[1] != "ps"]


def test_a_copy_to_it_fails_and_leaves_its_process_behind(tmp_path: Path, share: str) -> None:
    body = b"snapshot"
    metadata = store.Metadata(
        "aa", "m1", "1", "3.6.16", "3.6.0", 5, "b3", 9, len(body), hashlib.sha256(body).hexdigest(), 0
    )
    path = tmp_path / "etcd-20261121T101500Z.db"
    path.write_bytes(body)
    began = time.monotonic()
    found = directory_copies.copy_to_directory(str(path), metadata, share, "etcd", lambda _stored: [], 1)
    assert time.monotonic() - began < 30
    problem = f"the copy to {share} did not finish within 2 s: check the server of its volume, or raise timeout"
    assert found == ("", [problem])
    assert "D" in states(), "the kernel does not let it end"
    with pytest.raises(store.SnapshotError, match="it does not answer within 1 s"):
        directory_copies.check_copy_dir(share, 1, str(tmp_path))


def test_a_play_that_checks_it_gets_a_message(share: str) -> None:
    problem = host_checks._directory_problem(share)
    assert problem == "does not answer within 1 s: check the server of its volume, or set another directory"


def test_a_play_does_not_wait_for_it_because_fstab_lists_it(tmp_path: Path, share: str) -> None:
    entries = fstab.parse_fstab(f"nfs:/a {share} nfs\nnfs:/b {share}/below nfs\n/dev/vdb {tmp_path}/etcd ext4")
    with pytest.raises(deadline.DeadlineError):
        deadline.call_with_deadline(lambda: os.path.realpath(f"{share}/below"), 1)
    facts = deadline.call_with_deadline(
        lambda: block_devices.mount_facts(f"{tmp_path}/etcd", mounts.read_mounts(), entries), 30
    )
    assert facts["fstab"]["source"] == "/dev/vdb" and [one["source"] for one in facts["unmounted"]] == ["/dev/vdb"]
