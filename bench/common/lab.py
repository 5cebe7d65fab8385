"""Reach the hosts of a running lab: the one named by LAB_NAME, or the demo's."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STATE = PROJECT / ".headroom" / "labs" / (os.environ.get("LAB_NAME") or "demo")


def addresses() -> dict[str, str]:
    """Return the address of each lab host."""
    return dict(json.loads((STATE / "hosts.json").read_text()))


def ssh_command(host: str) -> list[str]:
    """Return the ssh command that logs in to a host, over the connection that Ansible keeps open."""
    listed = subprocess.run([PROJECT / "lab/inventory.py"], capture_output=True, text=True, check=True).stdout
    facts = json.loads(listed)["_meta"]["hostvars"][host]
    control = facts["ansible_control_path"].replace("%%", "%")
    ssh = ["ssh", "-i", facts["ansible_ssh_private_key_file"], *shlex.split(facts["ansible_ssh_common_args"])]
    ssh += ["-o", "ControlMaster=auto", "-o", "ControlPersist=60s", "-o", f"ControlPath={control}"]
    return [*ssh, f"lab@{facts['ansible_host']}"]


def on(host: str, command: str) -> str:
    """Run a shell script as root on a host, up to its first failing command, and return its output."""
    ssh = [*ssh_command(host), "sudo", "sh", "-eu"]
    return subprocess.run(ssh, input=command, capture_output=True, text=True, check=True).stdout


def close_connections() -> None:
    """Close the connections that Ansible keeps open to the hosts, as the loss of the controller does.

    The connection of a killed play outlives it, and a module whose output exceeds the pipe (64 KiB) then waits forever for its reader.
    """
    for host in addresses():
        ssh, *options = ssh_command(host)
        subprocess.run([ssh, "-O", "exit", *options], capture_output=True, check=False)  # fails if none is open


def certificates(host: str) -> Path:
    """Return a folder with the CA certificate and the client's certificate and key, for programs outside the lab."""
    folder = STATE / "client"
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("ca.crt", "client.crt", "client.key"):
        (folder / name).write_text(on(host, f"cat /etc/etcd/tls/{name}"))
    return folder
