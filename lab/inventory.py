#!/usr/bin/env python3
"""How Ansible reaches the hosts of a running lab: addresses, key, and the archives built by the project.

The inventory beside the playbooks says what to deploy and is what users copy; this adds only what is special about lab hosts,
and nothing at all where no lab runs. LAB_NAME chooses the lab (default: demo).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def inventory(name: str) -> dict[str, object]:
    """The dynamic inventory for the lab called `name`, as `--list` prints it."""
    state = PROJECT / ".headroom" / "labs" / name
    try:
        addresses: dict[str, str] = json.loads((state / "hosts.json").read_text())
    except FileNotFoundError:
        return {"_meta": {"hostvars": {}}}
    common = {
        "ansible_user": "lab",
        "ansible_ssh_private_key_file": str(state / "id_ed25519"),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={state}/known_hosts -o StrictHostKeyChecking=accept-new",
        "ansible_python_interpreter": "/usr/bin/python3",
        "etcd_archive": str(
            PROJECT
            / ".headroom"
            / "archives"
            / "v{{ etcd_version }}"
            / "etcd-v{{ etcd_version }}-linux-{{ etcd_architecture }}.tar.gz"
        ),
        "etcd_tls_ca_dir": str(state / "pki"),
    }
    return {
        "lab": {"hosts": list(addresses)},
        "_meta": {"hostvars": {host: {"ansible_host": address, **common} for host, address in addresses.items()}},
    }


if __name__ == "__main__":
    print(json.dumps(inventory(os.environ.get("LAB_NAME", "demo")), indent=2))
