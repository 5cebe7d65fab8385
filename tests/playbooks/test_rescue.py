# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rescue refuses before it stops etcd."""

from __future__ import annotations

from pathlib import Path

from tests.playbooks.test_restore import rescue, survivor

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
