# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restoring real etcd twice, the older snapshot second: no revision is used again, and no watch waits for one."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    restore_folders,
    restore_revisions,
    snapshot,
)

from bench.common.member import Member, binary, releases, running
from tests.integration.client import connection, etcdctl, run

PORT = 29180
FIRST, SECOND = "20261121T101500Z", "20261121T111500Z"


def revision(member: Member) -> int:
    answer = json.loads(etcdctl(member, "get", "key", "-w", "json"))
    return int(answer["header"]["revision"])


def restored(member: Member, path: str, name: str) -> Member:
    """Replace a member's data with a snapshot, as the role does: above the revision that its current data began with."""
    restore = restore_folders.Restore(name, str(member.folder / member.name), "")
    marker = str(member.folder / "restoring")
    peer_url = f"http://127.0.0.1:{member.port + 1}"
    request = backup_restore.Request(
        path=path,
        name=member.name,
        peer_url=peer_url,
        initial_cluster=f"{member.name}={peer_url}",
        token=name,
        owner=os.geteuid(),
        group=os.getegid(),
        bump_revision=restore_revisions.DEFAULT_BUMP,
        reserve=0,
        etcdutl_path=str(binary(member.version, "etcdutl")),
        timeout=60,
        known_revision=restore_revisions.first_revision(restore_folders.read_record(restore.data_dir) or {}),
    )
    backup_restore.prepare(restore, request, marker)
    backup_restore.activate(restore, marker)
    backup_restore.finish(marker)
    return replace(member, process=None, sampler=None)


@pytest.mark.parametrize("version", releases())
def test_an_older_snapshot_after_a_newer_one(tmp_path: Path, version: str) -> None:
    member = Member(version, tmp_path, PORT, name="m0")
    (tmp_path / "backups").mkdir()
    asked = snapshot.Request(str(tmp_path / "backups"), "etcd", "", keep=9, keep_days=None, reserve=0, timeout=60)
    tools = snapshot.Tools(connection(version), str(binary(version, "etcdutl")))
    with running([member]):
        etcdctl(member, "put", "key", "oldest")
        older = snapshot.take_snapshot(asked, tools, [member.endpoint])
        etcdctl(member, "put", "key", "newer")
        newer = snapshot.take_snapshot(asked, tools, [member.endpoint])
    member = restored(member, newer.plan.path, FIRST)
    with running([member]):
        for number in range(5):
            etcdctl(member, "put", "key", f"after the first restore {number}")
        before = revision(member)
        assert before == newer.metadata.revision + restore_revisions.DEFAULT_BUMP + 5
    member = restored(member, older.plan.path, SECOND)
    with running([member]):
        assert etcdctl(member, "get", "key", "--print-value-only").strip() == "oldest"
        after = revision(member)
        assert after == newer.metadata.revision + 2 * restore_revisions.DEFAULT_BUMP > before
        watch = run(member, "watch", "key", f"--rev={before + 1}")
        assert "required revision has been compacted" in watch.stderr


@pytest.mark.parametrize("version", releases())
def test_the_highest_revision_that_a_restore_may_reach(tmp_path: Path, version: str) -> None:
    """etcd still counts beyond it, with the highest bump in a single step."""
    member = Member(version, tmp_path, PORT + 10, name="m0")
    with running([member]):
        etcdctl(member, "put", "key", "value")
        etcdctl(member, "snapshot", "save", str(tmp_path / "etcd.db"))
        bump = restore_revisions.MAX_REVISION - revision(member)
    argv = [str(binary(version, "etcdutl")), "snapshot", "restore", str(tmp_path / "etcd.db"), "--mark-compacted"]
    argv += [f"--bump-revision={bump}", f"--data-dir={tmp_path / 'm1'}"]
    assert backup_restore.run_etcd_tool(argv, 60.0, "etcdutl").returncode == 0
    member = replace(member, name="m1", peers={}, process=None, sampler=None)
    with running([member]):
        assert revision(member) == restore_revisions.MAX_REVISION
        etcdctl(member, "put", "key", "next")
        assert revision(member) == restore_revisions.MAX_REVISION + 1
