# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which members an interrupted restore may be resumed with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.playbooks.restoring import ID, begun, marker_path, preflight, prepare, real_snapshot, save_snapshot

RECORDED = "a=http://h1:2380,b=http://h2:2380,c=http://h3:2380"


def record_members(folder: Path) -> None:
    """Let h1 have the new data of an interrupted restore for three members."""
    begun(folder, "h1", "data", ID)
    path = folder / "h1" / "data" / "member" / "headroom-restore.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "initial_cluster": RECORDED}))


@pytest.mark.parametrize(
    "urls",
    [["http://h1:2380", "http://h2:2380"], ["http://h1:2381", "http://h2:2381", "http://h3:2381"]],
    ids=["a host was removed", "another port"],
)
def test_a_restore_is_not_resumed_with_other_members(tmp_path: Path, urls: list[str]) -> None:
    record_members(tmp_path)
    path = save_snapshot(tmp_path)
    cluster = ",".join(f"m{number}={url}" for number, url in enumerate(urls))
    said = preflight(tmp_path, etcd_cluster={"initial_cluster": cluster})
    before = "http://h1:2380, http://h2:2380, http://h3:2380"
    assert f"began with the members at {before}, but the inventory has {', '.join(urls)}. To resume it" in said, said
    assert f"-e etcd_restore_again=true and -e etcd_restore_snapshot={path}. Nothing was changed." in said, said


def test_a_restore_is_resumed_with_the_same_peer_urls(tmp_path: Path) -> None:
    """Their order and the names of the members do not matter."""
    record_members(tmp_path)
    save_snapshot(tmp_path)
    cluster = "z=http://h3:2380,y=http://h2:2380,x=http://h1:2380"
    assert "prepares h2 h3 from" in preflight(tmp_path, etcd_cluster={"initial_cluster": cluster})


def test_a_restore_is_not_resumed_with_another_wal_dir(tmp_path: Path) -> None:
    """Its new data would seem to be missing, and the snapshot would replace it again with all later writes. The other hosts have no record of their dirs."""
    for host in ("h1", "h2", "h3"):
        begun(tmp_path, host, "data", ID)
    save_snapshot(tmp_path)
    data = tmp_path / "h1" / "data"
    folders = {"data_dir": str(data), "wal_dir": f"{data}/member/wal"}
    marker_path(tmp_path, "h1").write_text(json.dumps({"id": ID, **folders}))
    said = preflight(tmp_path, etcd_host_wal_dir=f"{tmp_path}/{{{{ inventory_hostname }}}}/wal/member/wal")
    assert "h1]: FAILED!" in said and "prepares" not in said, said
    began = (
        f"began with the data dir {data} and the WAL dir {data}/member/wal on this host, and now they are {data} and"
    )
    assert f"{began} {tmp_path}/h1/wal/member/wal: set etcd_data_dir and etcd_wal_dir back to resume it." in said, said


def test_a_restore_that_starts_over_may_have_a_new_host(tmp_path: Path) -> None:
    """The markers were removed. h1 has the new data, under a new cluster id; the others have none."""
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    begun(tmp_path, "h1", "data", ID, marked=False, snapshot=variables["saved"])
    given = {"identities": {"h1": {"cluster_id": "99aa"}}, "etcd_restore_again": True}
    said = prepare(tmp_path, **given, **variables)
    assert "The snapshot belongs to" not in said and "About to replace all data" in said, said
    record = next(tmp_path.glob("h3/data.restore-*/member/headroom-restore.json"))
    assert json.loads(record.read_text())["initial_cluster"] == variables["etcd_cluster"]["initial_cluster"]
