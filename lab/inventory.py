#!/usr/bin/env python3
"""Tell Ansible how to reach the hosts of a running lab: addresses, SSH key, and the archives of etcd that set-up built.

The inventory beside the playbooks says what to deploy, and users copy it; this one adds only what is special about lab hosts,
and nothing if no lab runs. LAB_NAME chooses the lab (default: demo).
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom"


def control_path(hosts: Path) -> str:
    """Return the path of SSH's control sockets: short (a socket's path has 100 bytes at most), and new for each lab.

    A new lab may get the addresses of a removed one, whose connections stay open for a minute.
    """
    digest = hashlib.sha256(f"{hosts} {hosts.stat().st_mtime_ns}".encode()).hexdigest()[:8]
    return str(CACHE / "ssh" / f"{digest}-%%h")  # Ansible formats it once before SSH does


def inventory(name: str) -> dict[str, object]:
    """Return the dynamic inventory for the lab called `name`, as `--list` prints it."""
    state = PROJECT / ".headroom" / "labs" / name
    hosts = state / "hosts.json"
    try:
        addresses: dict[str, str] = json.loads(hosts.read_text())
    except FileNotFoundError:
        return {"_meta": {"hostvars": {}}}
    (CACHE / "ssh").mkdir(mode=0o700, parents=True, exist_ok=True)
    known_hosts = shlex.quote(f'UserKnownHostsFile="{state}/known_hosts"')  # for Ansible, and within it for SSH
    common = {
        "ansible_user": "lab",
        "ansible_ssh_private_key_file": str(state / "id_ed25519"),
        "ansible_ssh_common_args": f"-F none -o IdentitiesOnly=yes -o {known_hosts} -o StrictHostKeyChecking=accept-new",
        "ansible_control_path": control_path(hosts),
        "ansible_python_interpreter": "/usr/bin/python3",
        # Lab hosts share one disk and measure it at the same time: a slow result is reported and does not stop the play.
        "etcd_storage_accept_slow_disk": True,
        "etcd_archive": str(PROJECT / ".headroom" / "archives" / "v{{ etcd_version }}"),
        # Built by set-up, so that their digests differ from those of the published ones.
        "etcd_archive_trust_sums": True,
        "etcd_tls_ca_dir": str(state / "pki"),
    }
    return {
        "lab": {"hosts": list(addresses)},
        "_meta": {"hostvars": {host: {"ansible_host": address, **common} for host, address in addresses.items()}},
    }


if __name__ == "__main__":
    print(json.dumps(inventory(os.environ.get("LAB_NAME") or "demo"), indent=2))
