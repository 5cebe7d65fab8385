"""The hosts of the lab from outside: containers whose processes, disks and networks the harness disturbs.

Commands run through podman and not through SSH, so that they reach a host that is cut off.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.common.lab import PROJECT, STATE, addresses

PODMAN = PROJECT / "lab" / "podman"
ROOT: list[str] = [] if os.geteuid() == 0 else ["sudo", "-n"]
TLS = "--cacert /etc/etcd/tls/ca.crt --cert /etc/etcd/tls/client.crt --key /etc/etcd/tls/client.key"
PORT = 2379
ETCDCTL = f"etcdctl {TLS} --command-timeout 5s --endpoints https://127.0.0.1:{PORT}"


def container(host: str) -> str:
    """Return the name of a host's container, as lab/vars.yml makes it."""
    digest = hashlib.sha256(str(PROJECT).encode()).hexdigest()[:6]
    return f"headroom-{digest}-{STATE.name}-{host}"


def podman(*words: str, seconds: float = 60, check: bool = True) -> str:
    """Run the lab's podman and return its output."""
    done = subprocess.run([PODMAN, *words], capture_output=True, text=True, timeout=seconds, check=False)
    if check and done.returncode:
        raise RuntimeError(f"podman {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def inside(host: str, script: str, *, seconds: float = 120, check: bool = True) -> str:
    """Run a shell script as root on a host, up to its first failing command, and return its output."""
    return podman("exec", container(host), "sh", "-euc", script, seconds=seconds, check=check)


def process(host: str) -> int:
    """Return the process id of a host's init, as this machine sees it."""
    return int(podman("inspect", "--format", "{{.State.Pid}}", container(host)))


def in_network(host: str, *words: str) -> None:
    """Run a command of this machine in a host's network namespace."""
    command = [*ROOT, "nsenter", "-t", str(process(host)), "-n", *words]
    subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)


def urls(members: Sequence[str] = ()) -> list[str]:
    """Return the client URLs of members, by default of all hosts."""
    return [f"https://{address}:{PORT}" for host, address in addresses().items() if not members or host in members]


def statuses() -> dict[str, dict[str, object]]:
    """Return what each member that answers reports of itself, by host."""
    found = {}
    for host in addresses():
        try:
            [answer] = json.loads(inside(host, f"{ETCDCTL} endpoint status -w json", check=False))
        except (ValueError, TypeError):  # etcdctl prints null if the member does not answer
            continue
        found[host] = answer["Status"]
    return found


def leader() -> str:
    """Return the leader's host; empty if there is none."""
    for host, status in statuses().items():
        header = status["header"]
        assert isinstance(header, dict)
        if status["leader"] == header["member_id"]:
            return host
    return ""


def follower() -> str:
    """Return the last follower by name: the first one is updated first."""
    return max(set(addresses()) - {leader()})


def healthy(members: Sequence[str] = ()) -> bool:
    """Return whether every member accepts writes. members: by default all hosts."""
    asked = urls(members)
    listed = f"etcdctl {TLS} --command-timeout 3s --endpoints {','.join(asked)} endpoint health 2>&1"
    return inside(next(iter(addresses())), listed, check=False).count("is healthy") == len(asked)


def wait_healthy(seconds: float, members: Sequence[str] = ()) -> bool:
    """Wait until every member accepts writes; return whether that happened in time."""
    end = time.monotonic() + seconds
    while not healthy(members):
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def fetch_certificates() -> Path | None:
    """Return a folder with the client's certificates from any host; None if no host has them."""
    folder = STATE / "chaos" / "client"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = ("ca.crt", "client.crt", "client.key")
    for host in addresses():
        try:
            texts = [inside(host, f"cat /etc/etcd/tls/{name}") for name in names]
        except (RuntimeError, subprocess.TimeoutExpired):
            continue
        for name, text in zip(names, texts, strict=True):
            (folder / name).write_text(text)
        return folder
    return None


def play_quietly(words: Sequence[str]) -> None:
    """Run one of the lab's playbooks. Raises RuntimeError if it fails."""
    done = subprocess.run(
        ["ansible-playbook", *words], cwd=PROJECT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"ansible-playbook {' '.join(words)}:\n{done.stdout}{done.stderr}")


def _given(variables: Mapping[str, object]) -> list[str]:
    return ["-e", json.dumps({"lab_name": STATE.name, **variables})]


def destroy(**variables: object) -> None:
    """Remove the lab's hosts. variables: of lab/vars.yml, as the lab was made with."""
    play_quietly(["lab/destroy.yml", *_given(variables)])


def rebuild(**variables: object) -> None:
    """Replace the lab's hosts by bare ones. variables: of lab/vars.yml."""
    destroy(**variables)
    play_quietly(["lab/create.yml", *_given(variables)])
