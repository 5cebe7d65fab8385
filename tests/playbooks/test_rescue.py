# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rescue refuses before it stops etcd."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.playbooks.test_restore import prepare, real_snapshot, rescue, survivor
from tests.playbooks.variables import evaluate
from tests.unit.plugins.module_utils.conftest import PAGE_SIZE, inline, leaf, meta

STOPS = "Stop etcd on all hosts"


def test_data_of_another_cluster_is_refused(tmp_path: Path) -> None:
    """The log of a third survivor is unreadable, so its cluster is unknown."""
    for host in ("h1", "h2", "h3"):
        survivor(tmp_path, host, log=True)
    ids = {"h1": {"cluster_id": "75cf"}, "h2": {"cluster_id": "99aa"}, "h3": {"cluster_id": ""}}
    said = rescue(tmp_path, identities=ids, loaded=["h1"])
    assert "data of different clusters: h1 of cluster 75cf, h2 of cluster 99aa. The data with" in said, said
    assert f"move {tmp_path}/h1/data away" in said and "Nothing was changed." in said and STOPS not in said, said
    ids["h2"]["cluster_id"] = "75cf"
    said = rescue(tmp_path, identities=ids)
    assert "take a snapshot of the data of h1, h2, h3" in said, said


@pytest.mark.parametrize("missing", ["etcd", "etcdctl", "etcdutl"])
def test_a_survivor_without_its_release_is_refused(tmp_path: Path, missing: str) -> None:
    survivor(tmp_path, "h1", log=True)
    (tmp_path / "etcd-3.6.16" / missing).unlink()
    said = rescue(tmp_path, loaded=["h1"])
    path = f"{tmp_path}/etcd-3.6.16/{missing}"
    assert f"h1: {path} is not an executable program on this host: put etcd, etcdctl and etcdutl of the" in said, said
    assert "Nothing was changed." in said and STOPS not in said, said


def test_the_release_is_the_one_that_the_unit_starts(tmp_path: Path) -> None:
    starts = {"unit": "/opt/etcd/3.5.24/etcd", "none": None}
    cases = {name: {"etcd_host_facts": {"unit": {"starts": path}}} for name, path in starts.items()}
    cases["no unit"] = {"etcd_host_facts": {"unit": {}}}
    found = evaluate(tmp_path, "etcd_restore", "_etcd_restore_tools", cases)
    assert found == {"unit": "/opt/etcd/3.5.24", "none": "/usr/local/bin", "no unit": "/usr/local/bin"}


def test_a_survivor_that_would_lock_headroom_out_is_refused(tmp_path: Path) -> None:
    """One that would not is enough, because the users of another may be older."""
    survivor(tmp_path, "h1", log=True)
    users = {b"authEnabled": b"\x01"}, {b"root": b"\x0a\x04root\x1a\x04root"}
    buckets = {b"auth": users[0], b"authUsers": users[1]}
    pages = [meta(7, 2), meta(8, 3), leaf(2, inline({})), leaf(3, inline(buckets))]
    database = b"".join(page.ljust(PAGE_SIZE, b"\0") for page in pages)
    (tmp_path / "h1" / "data" / "member" / "snap" / "db").write_bytes(database)
    said = rescue(tmp_path, loaded=["h1"])
    assert f"h1: {tmp_path}/h1/data/member/snap/db has authentication on, but user headroom" in said, said
    assert "does not exist" in said and "etcd was not stopped." in said and STOPS not in said, said
    survivor(tmp_path, "h2", log=True)
    assert "take a snapshot of the data of h1, h2" in rescue(tmp_path)


def test_a_refusal_for_space_says_that_etcd_is_stopped(tmp_path: Path) -> None:
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    variables["etcd_plan"] = {"settings": {"quota_backend_bytes": 8192}}
    twice = re.compile(r"No data was changed\.+ No data was changed")
    said = prepare(tmp_path, _etcd_restore_rescued={"path": "x"}, **variables)
    assert "No data was changed, but etcd is stopped on all hosts: correct the reason" in said, said
    assert f"older rescued-*.db files in {tmp_path}/h1 may be removed, but not {tmp_path}/etcd.db." in said, said
    assert not twice.search(said), said
    said = prepare(tmp_path, **variables)
    assert "No data was changed." in said and "etcd is stopped" not in said and not twice.search(said), said
