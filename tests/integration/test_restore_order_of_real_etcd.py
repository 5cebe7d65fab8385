# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients wrote to restored members, and then members lost their data: in which order must the members start, so that no write is lost?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore, snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import Restore

from bench.common.member import Member, binary, releases, running
from tests.integration.client import connection, etcdctl

VERSION = releases()[-1]
PORTS = {"m0": 25350, "m1": 25360, "m2": 25370}
ID = "20261121T101500Z"


def served(member: Member) -> str:
    """Return the value of the key that was written to the restored cluster, empty without it."""
    return etcdctl(member, "get", "--print-value-only", "served").strip()


def restore_member(member: Member, path: str, generation: int) -> None:
    """Restore one member from the snapshot, as the modules do on its host."""
    request = restore.Request(
        path=path,
        name=member.name,
        peer_url=f"http://127.0.0.1:{member.port + 1}",
        initial_cluster=",".join(f"{name}=http://127.0.0.1:{port + 1}" for name, port in PORTS.items()),
        token=f"test-{ID}",
        owner=os.geteuid(),
        group=os.getegid(),
        bump_revision=0,
        reserve=0,
        etcdutl_path=str(binary(VERSION, "etcdutl")),
        timeout=60,
        generation=generation,
    )
    folders = Restore(ID, str(member.folder / member.name), "")
    marker = str(member.folder / f"restoring-{member.name}")
    restore.prepare(folders, request, marker)
    restore.activate(folders, marker)


@pytest.mark.parametrize(
    ("lost", "first", "kept"),
    [
        # All together: the members that lack the write may be the first to elect a leader.
        (("m2",), ("m0", "m2"), False),
        # In order: those that kept their data, filled up to a majority.
        (("m2",), ("m0", "m1"), True),
        (("m0", "m2"), ("m1", "m0"), True),
    ],
)
def test_a_write_of_the_restored_cluster(tmp_path: Path, lost: Sequence[str], first: Sequence[str], kept: bool) -> None:
    members = {name: Member(VERSION, tmp_path, port, (), {}, (), name, PORTS) for name, port in PORTS.items()}
    (tmp_path / "backups").mkdir()
    asked = snapshot.Request(str(tmp_path / "backups"), "etcd", "", keep=9, keep_days=None, reserve=0, timeout=60)
    tools = snapshot.Tools(connection(VERSION), str(binary(VERSION, "etcdutl")))
    with running(list(members.values())):
        path = snapshot.take_snapshot(asked, tools, [members["m0"].endpoint]).plan.path
    for member in members.values():
        restore_member(member, path, generation=0)
    with running([members["m1"], members["m2"]]):
        etcdctl(members["m1"], "put", "served", "acknowledged")
    for name in lost:
        shutil.rmtree(tmp_path / name)
        restore_member(members[name], path, generation=1)
    with running([members[name] for name in first]):
        assert served(members[first[0]]) == ("acknowledged" if kept else "")
        if kept:
            with running([members["m2"]]):
                assert served(members["m2"]) == "acknowledged"
