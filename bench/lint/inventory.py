"""Generate realistic inventories of any size, in both forms that the linter reads.

Clusters have five members. Shared variables are in group_vars/all.yml and group_vars/etcd.yml, each cluster's workload in its own file in
group_vars, addresses and places beside the hosts, and one host of each cluster has a file in host_vars. One cluster in twenty has a defect,
and one variable is a template. `distinct` is the number of different workloads; 0 gives each cluster its own, so that the linter computes
an estimate for each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

Variables = dict[str, Any]

MEMBERS = 5
# One cluster in twenty has one of these defects.
DEFECTS: list[Variables] = [
    {"etcd_version": "3.5.2"},
    {"etcd_quota_backend_bytes": "16GB"},
    {"etcd_snapshot_count": 100000, "etcd_snapshot_catchup_entries": 100000},
    {"etcd_extra_config": {"experimental-watch-progress-notify-interval": "5s"}},
    {"etcd_auto_compaction_retention": "0"},
]

ALL: Variables = {
    "ansible_user": "deploy",
    "ansible_python_interpreter": "/usr/bin/python3",
    "ntp_servers": ["ntp1.example.com", "ntp2.example.com"],
    "dns_search": ["prod.example.com", "example.com"],
    "dns_servers": ["10.0.0.2", "10.0.0.3"],
    "users": [{"name": f"admin{number}", "uid": 2000 + number, "groups": ["adm", "sudo"]} for number in range(8)],
    "sysctl": {"vm.swappiness": 1, "net.core.somaxconn": 4096},
    "node_exporter_version": "1.9.1",
    "node_exporter_enabled": True,
    "backup_bucket": "s3://backups/example",
    "backup_path": "{{ backup_bucket }}/{{ inventory_hostname }}",
    "timezone": "UTC",
    "sshd_permit_root_login": "no",
}
ETCD: Variables = {
    "etcd_version": "3.6.16",
    "etcd_storage_data_device": "/dev/disk/by-id/virtio-etcd-data",
    "etcd_storage_wal_device": "/dev/disk/by-id/virtio-etcd-wal",
    "etcd_storage_fsync_p99_max_ms": 10,
    "etcd_maintenance_defrag_enabled": True,
}


def name(cluster: int) -> str:
    """Return a cluster's name, which is also its group's."""
    return f"cluster-{cluster:05d}"


def workload(number: int) -> Variables:
    """Return the workload with this number; no two are equal."""
    return {
        "value_size": f"{1 + number % 16}KB",
        "key_size": 64,
        "keys": 10000 + number,
        "puts_per_second": 20 + number % 7 * 10,
        "clients": 50 + number % 5 * 25,
        "watchers": 1000,
    }


def cluster_variables(cluster: int, distinct: int) -> Variables:
    """Return a cluster's group_vars."""
    found: Variables = {
        "etcd_cluster_name": name(cluster),
        "etcd_workload": workload(cluster % distinct if distinct else cluster),
        "etcd_memory_budget": "8GB",
    }
    if cluster % 20 == 19:
        found.update(DEFECTS[cluster // 20 % len(DEFECTS)])
    return found


def members(cluster: int) -> dict[str, Variables]:
    """Return the hosts of a cluster with their inline variables."""
    return {
        f"{name(cluster)}-{member}": {
            "ansible_host": f"10.{cluster // 250 % 250}.{cluster % 250}.{member}",
            "rack": f"r{member}",
        }
        for member in range(1, MEMBERS + 1)
    }


def host_variables(cluster: int) -> dict[str, Variables]:
    """Return the host_vars of a cluster's hosts that have a file."""
    return {f"{name(cluster)}-1": {"etcd_storage_wal_device": "/dev/disk/by-id/virtio-etcd-wal-2", "asset": cluster}}


def write_folder(folder: Path, hosts: int, distinct: int = 0) -> Path:
    """Write the folder form and return its path."""
    (folder / "group_vars").mkdir(parents=True)
    (folder / "host_vars").mkdir()
    clusters = range(hosts // MEMBERS)
    tree = {"etcd": {"children": {name(cluster): {"hosts": members(cluster)} for cluster in clusters}}}
    files = {"hosts": tree, "group_vars/all": ALL, "group_vars/etcd": ETCD}
    for cluster in clusters:
        files[f"group_vars/{name(cluster)}"] = cluster_variables(cluster, distinct)
        for host, variables in host_variables(cluster).items():
            files[f"host_vars/{host}"] = variables
    for path, content in files.items():
        text = yaml.dump(content, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)
        (folder / f"{path}.yml").write_text(f"---\n{text}", encoding="utf-8")
    return folder


def write_listed(path: Path, hosts: int, distinct: int = 0) -> Path:
    """Write what `ansible-inventory --list` prints for the folder form and return its path."""
    clusters = range(hosts // MEMBERS)
    document: dict[str, Any] = {
        "_meta": {
            "hostvars": {
                host: {
                    **ALL,
                    **ETCD,
                    **cluster_variables(cluster, distinct),
                    **own,
                    **host_variables(cluster).get(host, {}),
                }
                for cluster in clusters
                for host, own in members(cluster).items()
            }
        },
        "all": {"children": ["ungrouped", "etcd"]},
        "etcd": {"children": [name(cluster) for cluster in clusters]},
        **{name(cluster): {"hosts": list(members(cluster))} for cluster in clusters},
    }
    path.write_text(json.dumps(document, indent=4), encoding="utf-8")
    return path
