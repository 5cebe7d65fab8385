# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Authentication on hosts: enabled by its playbook, and every operation of Headroom works with it.

These tests run inside molecule's scenario maintenance, in their order; the last one disables authentication again.
"""

from __future__ import annotations

import json

import pytest
from cluster import HOSTS, TLS, ctl, followers, forget_last_backup, leader, release_lock

from bench.common.lab import on

BACKUPS = "/var/backups/etcd"
AUTH = {
    "etcd_auth_root_password": "Root-Secret-of-the-lab",
    "etcd_auth_roles": [{"name": "shop", "permissions": [{"access": "readwrite", "prefix": "/shop/"}]}],
    "etcd_auth_users": [
        {"name": "shop", "password": "Shop-Secret-of-the-lab", "roles": ["shop"]},
        {"name": "reports", "no_password": True},
        # The next common name of Headroom's certificate.
        {"name": "ops", "no_password": True, "roles": ["root"]},
    ],
}


def play(site, name, *options, **variables):
    """Run a playbook of the collection."""
    return site.ansible("ansible-playbook", f"playbooks/{name}.yml", *options, "-e", json.dumps(variables))


def auth(site, *options, **variables):
    """Run the playbook auth, whose output never has a password."""
    run = play(site, "auth", "-v", "--diff", *options, **AUTH, **variables)
    assert "Secret-of-the-lab" not in run.output
    return run


def without_certificate(words):
    """Return what etcdctl says as the user root with a wrong password, or as nobody known."""
    return on(
        HOSTS[0], f"ETCDCTL_USER=root:wrong etcdctl {TLS} --endpoints https://127.0.0.1:2379 {words} 2>&1 || true"
    )


def headroom(host, words):
    """Run Headroom's program and return the record that it prints."""
    return json.loads(on(host, f"/usr/local/sbin/headroom {words} || true").splitlines()[-1])


def test_it_is_refused_without_a_password_of_root(site):
    refused = play(site, "auth")
    assert refused.code != 0 and "etcd_auth_root_password is empty. Set it" in refused.output, refused.output
    assert ctl(HOSTS[0], "user list").strip() == ""


def test_it_is_enabled_and_a_second_run_changes_nothing(site):
    announced = auth(site, "--check")
    assert announced.code == 0 and "would be enabled" in announced.output, announced.output
    assert ctl(HOSTS[0], "user list").strip() == "", "check mode changed something"
    first = auth(site)
    assert first.code == 0, first.output
    assert "invalid user ID or password" in without_certificate("get /shop/1")
    assert "Authentication Status: true" in ctl(HOSTS[0], "auth status")
    second = auth(site)
    assert second.code == 0 and not any(second.changed.values()), second.output


@pytest.mark.usefixtures("site")
def test_timers_work_with_it():
    ctl(HOSTS[0], "put /shop/1 first")
    forget_last_backup(HOSTS[0])
    release_lock(HOSTS[0])
    taken = [headroom(host, "snapshot") for host in HOSTS]
    assert [found["result"] for found in taken].count("done") == 1, taken
    host = next(host for host, found in zip(HOSTS, taken, strict=True) if found["result"] == "done")
    drilled = headroom(host, "drill")
    assert drilled["result"] == "done" and "are equal to those of" in drilled["reason"], drilled
    for member in (*followers(), leader()):
        found = headroom(member, "defrag")
        assert found["result"] in ("done", "skipped"), found
        assert "does not need" in found["reason"] or found["result"] == "done", found


def client_names():
    """Return the subjects of Headroom's own certificates."""
    return {
        on(host, "openssl x509 -noout -subject -in /etc/etcd/tls/client.crt").split("=")[-1].strip() for host in HOSTS
    }


@pytest.mark.campaign
def test_site_changes_a_setting_and_the_name_of_its_client_with_it(site):
    refused = site.play(etcd_tls_client_name="nobody")
    assert refused.code != 0 and "user nobody does not exist" in " ".join(refused.output.split()), refused.output
    assert set(refused.changed.values()) == {0} and client_names() == {"headroom"}
    changed = site.play(etcd_heartbeat_interval=120, etcd_tls_client_name="ops")
    assert changed.code == 0 and all(changed.changed[host] for host in HOSTS), changed.output
    assert client_names() == {"ops"} and "Authentication Status: true" in ctl(HOSTS[0], "auth status")
    back = site.play()
    assert back.code == 0 and all(back.changed[host] for host in HOSTS), back.output
    assert client_names() == {"headroom"}
    assert ctl(HOSTS[0], "get --print-value-only /shop/1").strip() == "first"


def test_nospace_and_the_modules_work_with_it(site):
    found = play(site, "nospace")
    assert found.code == 0 and "NOSPACE is not set" in found.output, found.output


def test_it_is_disabled_when_confirmed(site):
    refused = auth(site, etcd_auth_enabled=False)
    assert refused.code != 0 and "Confirm it with -e etcd_auth_confirm=example" in refused.output, refused.output
    # The inventory may already name another release.
    done = auth(site, etcd_auth_enabled=False, etcd_auth_confirm="example", etcd_version="3.5.9")
    assert done.code == 0, done.output
    assert "Authentication Status: false" in ctl(HOSTS[0], "auth status")
    for user in ctl(HOSTS[0], "user list").split():
        ctl(HOSTS[0], f"user delete {user}")
    ctl(HOSTS[0], "role delete shop")
