# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the config file of etcd says, in which the data dir may differ from that of the inventory."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._storage.configured_member import configured_facts

from tests.unit.plugins.module_utils._etcd.test_member_identity import CRC, METADATA, frame


def test_a_member_in_another_data_dir_is_identified(tmp_path: Path) -> None:
    data = tmp_path / "own"
    log = data / "member" / "wal"
    log.mkdir(parents=True)
    config = f"data-dir: {data}\ninitial-advertise-peer-urls: https://10.0.0.5:2380\n"
    found = configured_facts(config, "/var/lib/etcd/data")
    assert (found["other_data_dir"], found["other_identity"]) == (None, None), "the folder holds no member"
    (log / "0000000000000000-0000000000000000.wal").write_bytes(CRC + frame(METADATA))
    found = configured_facts(config, "/var/lib/etcd/data")
    assert found["other_data_dir"] == str(data) and found["other_identity"]["cluster_id"] == "96"
    assert found["configured_peer_url"] == "https://10.0.0.5:2380"
    same = configured_facts(config, str(data))
    assert (same["other_data_dir"], same["other_identity"]) == (None, None)
    assert configured_facts("", "/var/lib/etcd/data")["other_data_dir"] is None
