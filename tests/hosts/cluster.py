# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Query and prepare the deployed cluster from its hosts."""

from __future__ import annotations

import json

from bench.common.lab import addresses, on

HOSTS = ("etcd-1", "etcd-2", "etcd-3")
TLS = "--cacert /etc/etcd/tls/ca.crt --cert /etc/etcd/tls/client.crt --key /etc/etcd/tls/client.key"
ETCDCTL = f"etcdctl {TLS} --endpoints https://127.0.0.1:2379"


def ctl(host, words):
    """Run etcdctl on a host against its own member."""
    return on(host, f"{ETCDCTL} {words}")


def start_times(site):
    """Return the start time of each member's process, in the kernel's ticks."""
    return {
        host: int(site.on(host, "cut -d ' ' -f 22 /proc/$(systemctl show -P MainPID etcd)/stat")) for host in site.hosts
    }


def statuses():
    """Return the status that each member reports, by host."""
    urls = ",".join(f"https://{address}:2379" for address in addresses().values())
    found = json.loads(on(HOSTS[0], f"etcdctl {TLS} --endpoints {urls} endpoint status -w json"))
    by_url = {one["Endpoint"]: one["Status"] for one in found}
    return {host: by_url[f"https://{address}:2379"] for host, address in addresses().items()}


def leader():
    """Return the leader's host."""
    [host] = [host for host, status in statuses().items() if status["leader"] == status["header"]["member_id"]]
    return host


def followers():
    return [host for host in HOSTS if host != leader()]


def forget_last_backup(host):
    """Make a backup due again."""
    ctl(host, "del /headroom/backup")


def release_lock(host):
    """Release the lock of a killed holder."""
    ctl(host, "del /headroom/lock")
