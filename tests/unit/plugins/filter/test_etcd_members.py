# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filters over hosts and members return; what they decide is tested with its functions."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.filter.etcd_members import FilterModule
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play import members

FILTERS = FilterModule().filters()
SETTINGS = {
    "data_dir": "/var/lib/etcd/data",
    "wal_dir": "",
    "install_dir": "/opt/etcd",
    "config_file": "/etc/etcd/etcd.yml",
    "tls_dir": "",
    "io_weight": 500,
    "cpu_weight": 500,
    "oom_score_adjust": -900,
    "heartbeat_interval": 100,
    "election_timeout": 1000,
}


def test_hosts() -> None:
    facts = {"systemd": {"running": True}, "architecture": "amd64", "member": {}, "files": {}}
    find = FILTERS["etcd_host_obstacles"]
    assert find(facts, SETTINGS, "etcd", "192.0.2.11") == []
    given = {"archive_problem": "a", "memory_problem": "m", "restoring": True, "restores": False}
    found = find(facts, SETTINGS, user="etcd", address="", **given)
    assert [text.split()[0] for text in found] == ["a", "m", "it", "a"]
    assert FILTERS["etcd_expired_hosts"]({"n1": {"certificates": {"ca": {"expired": True}}}}) == ["n1"]
    down = {"unit": {"active_state": "failed"}, "mounts": {}}
    assert FILTERS["etcd_quorum_problem"]({"n1": down}, {}) == ""
    assert FILTERS["etcd_aside_problem"](["/data"], "/data", []).startswith("/data is a mount point")
    # The mount moves with the data.
    assert FILTERS["etcd_aside_problem"](["/data/member/wal"], "/data", ["/data/member/wal"]) == ""
    removed = [{"membership": {"removes": [{"name": "n4", "id": "beef"}, {"name": "n5", "id": "cafe"}]}}, {}]
    unfound = FILTERS["etcd_unfound_members"]
    assert unfound(iter(removed), {"n5.example.com": ""}, ["n4", "n5"]) == ["n4 (beef)"]
    assert unfound(removed, {"n5": "", "app-1": "n4"}, ["n4", "n5"]) == unfound(removed, {}, ["beef", "cafe"]) == []
    # n4 was replaced, and its new member runs on its host.
    assert unfound(removed, {}, ["n5"]) == ["n5 (cafe)"]
    variables = {"_etcd_member_group": "etcd", "etcd_member": {"cluster": "etcd"}}
    absent = FILTERS["etcd_absent_hosts"](["n1"], {"n1": variables, "n2": {}}, {"etcd": ["n1", "n2"]})
    assert absent == [{"host": "n2", "cluster": "etcd"}]


def test_members() -> None:
    planned = {
        "lasting": "{}",
        "config": "",
        "unit": "",
        "certificates": "",
        "peer_url": "x",
        "moves": False,
        "staged": True,
    }
    facts = {
        "unit": {"active_state": "active", "enabled_state": "enabled", "needs_reload": False},
        "files": {name: {"exists": False} for name in ("/c", "/u", "/f", "/r")},
    }
    paths = {"config": "/c", "unit": "/u", "forming": "/f", "renewing": "/r"}
    found = FILTERS["etcd_member_differences"](planned, facts, paths)
    assert sorted(found) == ["changes", "decided_by_digest", "digest", "restarts", "unit"] and found["restarts"]
    host = {
        "inventory_hostname": "n1",
        "etcd_member": {"cluster": "c", "name": "n1"},
        "etcd_clusters": {"c": {"state": "new"}},
        "etcd_host_facts": {"unit": {"active_state": "active"}},
        "_etcd_differences": {"changes": True},
        "etcd_plan": {},
    }
    assert FILTERS["etcd_update_candidates"](iter([host])) == [members.update_candidate(host)]
    assert FILTERS["etcd_report_members"](iter([host])) == [members.report_member(host)]
