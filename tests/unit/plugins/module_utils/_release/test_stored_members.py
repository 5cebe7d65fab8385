# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The members in a database, compared with those that the cluster lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._release import stored_members


def member(name: str, number: str, role: str = "follower") -> Member:
    return Member(name, number, role, True, "", "", [], [])


def cluster(*members: Member) -> Cluster:
    return Cluster("1", "a", list(members), Quorum(3, 2, 3, True), [])


def test_members_are_read(write_database: Callable[..., Path]) -> None:
    members = {"a1": {"id": 161, "name": "a"}, "b2": {"id": 178, "name": "b", "isLearner": True}}
    stored = {key.encode(): json.dumps(value).encode() for key, value in members.items()}
    assert stored_members.read_members(write_database({b"cluster": {}, b"members": stored})) == members


@pytest.mark.parametrize(("content", "problem"), [(b"", "shorter"), (bytes(8192), "not a database of etcd")])
def test_other_files_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "db").write_bytes(content)
    with pytest.raises(stored_members.DatabaseError, match=problem):
        stored_members.read_members(tmp_path / "db")


def test_a_missing_database_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(stored_members.DatabaseError, match="No such file"):
        stored_members.read_members(tmp_path / "db")


def test_equal_members_are_no_problem() -> None:
    stored = {"a1": {"name": "a"}, "b2": {"name": "b", "isLearner": True}}
    assert not stored_members.stored_problems(stored, cluster(member("a", "a1"), member("b", "b2", "learner")))


def test_differences_are_named_with_the_remedy() -> None:
    stored = {"a1": {"name": "a", "isLearner": True}, "dead": {"name": "old"}, "beef": {}}
    problems = stored_members.stored_problems(stored, cluster(member("a", "a1"), member("c", "c3")))
    assert [
        part in text
        for part, text in zip(["beef (without a name)", "dead (old)", "a is a learner", "lacks c"], problems)
    ] == [True] * 4
    assert "3.5.26 or later" in problems[0]
