# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the playbooks that restore, and look at the hosts before and after."""

from __future__ import annotations

import json
import re

from cluster import ETCDCTL

FOLDER = "/var/backups/etcd-test"
CLUSTER = "example"
KEYS = 50
BUMP = 1_000_000_000


# What a restore creates on a host, and removes again when it is refused or finished.
LEFT = (
    "/var/lib/etcd/restoring",
    "/var/lib/etcd/*.restore-*",
    "/var/lib/etcd-wal/*.restore-*",
    "/etc/etcd/restoring",
    "/etc/systemd/system/etcd.service.d",
    "/run/headroom-restore-*",
    "/var/tmp/headroom-restore-*",
)


def play(site, playbook, *arguments, **variables):
    """Run one of the playbooks, with extra variables."""
    given = ["-e", json.dumps({"etcd_lint_enabled": False, **variables})]
    return site.ansible("ansible-playbook", f"playbooks/{playbook}.yml", *given, *arguments, timeout=420)


def kill_at_task(site, playbook, task, **variables):
    """Run a playbook and kill it as soon as a task begins."""
    site.kill_at(task, "ansible-playbook", f"playbooks/{playbook}.yml", "-e", json.dumps(variables))


def put(site, host, prefix, number=KEYS):
    site.on(host, f"for i in $(seq {number}); do {ETCDCTL} put {prefix}$i written >/dev/null || exit 1; done")


def count(site, host, prefix):
    return int(
        re.search(r'"Count" : (\d+)', site.on(host, f"{ETCDCTL} get {prefix} --prefix --count-only -w fields"))[1]
    )


def running_since(site):
    return {host: site.on(host, "systemctl show -P MainPID etcd").strip() for host in site.hosts}


def leftovers(site, host, *patterns):
    """Return the paths on a host that match shell patterns. `ls` cannot tell: it fails as soon as one of several patterns matches nothing."""
    loop = f'for path in {" ".join(patterns)}; do if [ -e "$path" ]; then echo "$path"; fi; done'
    return site.on(host, loop).split()


def unwrapped(run):
    return re.sub(r"\s+", " ", run.output)


def members_healthy(site):
    return site.on("etcd-1", f"{ETCDCTL} endpoint health --cluster 2>&1").count("is healthy")


def replace_host(site, host):
    """Leave on a host nothing of etcd, as on a new host with blank volumes."""
    site.on(
        host,
        "systemctl stop etcd; systemctl disable etcd; find /var/lib/etcd /var/lib/etcd-wal -mindepth 1 -delete; "
        "rm -rf /etc/etcd /etc/systemd/system/etcd.service* /usr/local/bin/etcdctl /usr/local/bin/etcdutl; systemctl daemon-reload",
    )


def lose_log(site, host):
    site.on(host, "systemctl stop etcd; find /var/lib/etcd-wal -mindepth 1 -delete")


def take_backup(site):
    """Take a snapshot on one host, with keys written before and after it; return its path."""
    put(site, "etcd-1", "/before/")
    site.on("etcd-1", f"{ETCDCTL} del --prefix /after/")
    site.on("etcd-2", f"install -d -m 0700 {FOLDER}")
    run = site.ansible("ansible", "etcd-2", "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", f"dest={FOLDER}")
    assert run.code == 0, run.output
    path = re.search(r"^\s+path: (\S+\.db)$", run.output, re.M)[1]
    put(site, "etcd-1", "/after/", 3)
    return path
