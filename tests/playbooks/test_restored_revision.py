# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The revision that restored data begins with: the same on all hosts, and above all that the cluster is known to have had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from tests.playbooks.restoring import ID, ROLE, SNAPSHOT, begun, prepare, real_snapshot

BUMP, REVISION = 1_000_000_000, 8123  # the default, and that of the snapshot to restore


def bumps(folder: Path) -> dict[str, int]:
    """Return what each host adds to the revision of the snapshot."""
    paths = folder.glob("h?/data.restore-*/member/headroom-restore.json")
    return {path.parts[-4]: json.loads(path.read_text())["bump"] for path in paths}


def record(folder: Path, host: str, **fields: Any) -> None:
    """Let a host have data of an earlier restore."""
    begun(folder, host, "data", "20261101T000000Z", marked=False)
    path = folder / host / "data" / "member" / "headroom-restore.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize(
    ("restored", "running", "known"),
    [
        ({}, {}, 0),
        ({"h2": 9000}, {}, 9000),
        ({"h1": 9000, "h3": 8000}, {"h1": [None, 8500]}, 9000),
        ({"h1": 0, "h2": 0, "h3": 0}, {"h3": [9000, 9001]}, 9001),  # the records are lost
    ],
)
def test_the_highest_known_revision(restored: dict[str, int], running: dict[str, list[int | None]], known: int) -> None:
    """Of all hosts. A new host has no data, and one without etcdctl does not ask the members."""
    loader, hosts = DataLoader(), ["h1", "h2", "h3"]
    variables = {
        **loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True),
        "ansible_play_hosts_all": hosts,
        "hostvars": {
            host: {
                "_etcd_restore_status": {"restored_revision": restored[host]} if host in restored else {},
                "_etcd_restore_info": {"cluster": {"members": [{"revision": one} for one in running[host]]}}
                if host in running
                else {"skipped": True},
            }
            for host in hosts
        },
    }
    assert Templar(loader=loader, variables=variables).template(variables["_etcd_restore_known_revision"]) == known


def test_the_revision_never_falls(tmp_path: Path) -> None:
    """All hosts have the same, also if only one has the record of an earlier restore."""
    record(tmp_path, "h2", snapshot={**SNAPSHOT, "revision": REVISION + 500}, bump=3 * BUMP)
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    said = prepare(tmp_path, members=[{"revision": None}, {"revision": REVISION + BUMP}], **variables)
    assert bumps(tmp_path) == dict.fromkeys(("h1", "h2", "h3"), 4 * BUMP + 500), said


@pytest.mark.parametrize(
    ("recorded", "bump"),
    [({"bump": 4 * BUMP}, 4 * BUMP), pytest.param({}, BUMP, id="none", marks=pytest.mark.campaign)],
)
def test_a_resumed_restore_keeps_its_bump(tmp_path: Path, recorded: dict[str, int], bump: int) -> None:
    """h1 has the new data. Whatever the other hosts have of earlier restores, their new data must equal it."""
    variables = real_snapshot(tmp_path)
    begun(tmp_path, "h1", "data", ID, snapshot=variables["saved"])
    path = tmp_path / "h1" / "data" / "member" / "headroom-restore.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **recorded}))
    record(tmp_path, "h2", bump=9 * BUMP)
    said = prepare(tmp_path, **variables)
    assert bumps(tmp_path) == {"h2": bump, "h3": bump}, said


def test_a_revision_that_etcd_cannot_count_to_is_refused(tmp_path: Path) -> None:
    record(tmp_path, "h2", bump=1 << 61)
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    said = prepare(tmp_path, "--check", etcd_restore_bump_revision=1 << 61, **variables)
    assert f"bump_revision is {1 << 61} and the highest known revision {REVISION + (1 << 61)}, but together" in said
    assert "lower bump_revision (etcd_restore_bump_revision)" in said and not bumps(tmp_path), said
