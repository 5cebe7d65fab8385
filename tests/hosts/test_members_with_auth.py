# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""With authentication on, members are replaced, added and removed, addresses change, and a snapshot is restored.

Timers, rolling changes and NOSPACE are in test_auth.py, upgrades and downgrades in test_lifecycle.py. The last test disables authentication again.
"""

from __future__ import annotations

import pytest
from cluster import ETCDCTL
from test_addresses import described, peer_urls
from test_auth import without_certificate
from test_membership import inventory, members, play, unchanged, voters
from writing import ROLE, USER, writing

HOSTS = ("etcd-1", "etcd-2", "etcd-3")
CLUSTER = "example"
ROOT = {"etcd_auth_root_password": "Root-Secret-of-the-lab", "etcd_auth_roles": [ROLE], "etcd_auth_users": [USER]}
FOLDER = "/var/tmp/with-auth"

pytestmark = pytest.mark.campaign


@pytest.fixture
def three(tmp_path):
    return inventory(tmp_path, *HOSTS)


def is_on():
    """Whether authentication is on: a wrong password is refused."""
    return "invalid user ID or password" in without_certificate("get key")


def test_it_is_enabled(site, three):
    if len(members(site)) == 1:
        assert play(site, "scale", three).code == 0
    run = play(site, "auth", three, **ROOT)
    assert run.code == 0, run.output
    assert is_on()


def test_a_member_whose_data_is_lost_is_replaced(site, three):
    site.on("etcd-3", "systemctl stop etcd; rm -rf /var/lib/etcd/data/member /var/lib/etcd-wal/member/wal")
    with writing(auth=True):
        run = play(site, "replace", three, etcd_replace="etcd-3")
    assert run.code == 0, run.output
    assert members(site) == voters(*HOSTS) and is_on()


def test_the_cluster_grows_and_shrinks(site, tmp_path, three):
    with writing(auth=True):
        run = play(site, "scale", inventory(tmp_path, *HOSTS, "etcd-4", "etcd-5"))
        assert run.code == 0, run.output
        assert members(site) == voters(*HOSTS, "etcd-4", "etcd-5")
        run = play(site, "scale", three, etcd_scale_remove=["etcd-4", "etcd-5"])
        assert run.code == 0, run.output
    assert members(site) == voters(*HOSTS) and is_on()


def test_the_peers_port_changes(site, tmp_path, three):
    with writing(auth=True):
        run = play(site, "site", described(tmp_path, 2390, 2379))
        assert run.code == 0, run.output
        assert all(url.endswith(":2390") for urls in peer_urls(site).values() for url in urls)
        run = play(site, "site", three)
        assert run.code == 0, run.output
    assert unchanged(play(site, "site", three))


def test_a_snapshot_is_restored_with_its_users(site, three):
    site.on("etcd-1", f"rm -rf {FOLDER}; mkdir {FOLDER}; {ETCDCTL} put /restored/1 before")
    taken = site.ansible("ansible", "etcd-1", "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", f"dest={FOLDER}")
    assert taken.code == 0, taken.output
    snapshot = site.on("etcd-1", f"ls {FOLDER}/*.db").strip()
    site.on("etcd-1", f"{ETCDCTL} put /restored/1 after")
    run = play(site, "restore", three, etcd_restore_snapshot=snapshot, etcd_restore_confirm=CLUSTER)
    assert run.code == 0, run.output
    assert site.on("etcd-1", f"{ETCDCTL} get --print-value-only /restored/1").strip() == "before"
    assert is_on()
    again = play(site, "auth", three, **ROOT)
    assert unchanged(again), again.output


def test_it_is_disabled_when_confirmed(site, three):
    run = play(site, "auth", three, **ROOT, etcd_auth_enabled=False, etcd_auth_confirm=CLUSTER)
    assert run.code == 0, run.output
    assert not is_on()
