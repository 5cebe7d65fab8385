"""Audit an etcd that others started, in each of four ways, once with the flags of a healthy cluster and once with planted defects."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.audit.measure import EXPECTED, audited, inspecting_this_machine, rules, scratch
from bench.common.campaign.hosts import container, podman
from bench.common.lab import PROJECT, addresses, on
from bench.common.member import binary
from bench.common.playbook import timed_play
from bench.memory import load

HOST = "etcd-1"
PORT = 27610
LAB = ("-e", json.dumps({"lab_hosts": [HOST], "lab_volumes": {}}))
LIMIT = "256M"
KEYS, VALUE = 20, "v" * 1000
READY_SECONDS = 60
DAYS = 90  # fewer are a finding
HEALTHY_FLAGS = ["--quota-backend-bytes=67108864", "--auto-compaction-mode=periodic", "--auto-compaction-retention=1h", "--snapshot-count=10000"]  # fmt: skip
DEFECTS = ["--unsafe-no-fsync", "--election-timeout=600", "--quota-backend-bytes=9663676416", "--auto-compaction-retention=0"]  # fmt: skip
PLANTED = ["compaction/off", "durability/unsafe_no_fsync", "topology/election_ratio"]
# These need a limit of memory.
PLANTED_IN_LIMIT = ["memory/gomemlimit_range", "memory/quota_over_memory"]
SOUND_GO, DEFECTIVE_GO = "GOMEMLIMIT=220MiB", "GOMEMLIMIT=900MiB"


@dataclass(frozen=True)
class Row:
    """Two audits. limit: what the audit says of the limit; place: for which file it prints the planned settings."""

    version: str
    supervisor: str
    limit: str
    planted: list[str]
    missed: list[str]
    invented: list[str]
    place: str


@dataclass(frozen=True)
class Start:
    """How to start etcd. tls: the folder of the certificates, seen from the controller."""

    version: str
    folder: Path
    tls: Path
    flags: Sequence[str]
    go: str

    def command(self, address: str, data: str, tls: str) -> list[str]:
        """Return the flags. data, tls: the folders as the process sees them."""
        client, peer = f"https://{address}:{PORT}", f"http://127.0.0.1:{PORT + 1}"
        return [
            "--name=m0",
            f"--data-dir={data}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=m0={peer}",
            f"--cert-file={tls}/server.crt",
            f"--key-file={tls}/server.key",
            f"--trusted-ca-file={tls}/ca.crt",
            "--client-cert-auth=true",
            *self.flags,
        ]


@contextmanager
def bare(start: Start) -> Iterator[str]:
    """Start a process from a shell."""
    name, _, value = start.go.partition("=")
    command = [str(binary(start.version)), *start.command("127.0.0.1", f"{start.folder}/data", str(start.tls))]
    with (start.folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, name: value})
    try:
        yield "127.0.0.1"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def in_container(start: Start, *options: str) -> Iterator[str]:
    """Start a container with a limit of memory, as an engine does for Compose."""
    name = container("audit")
    mounts = (f"{binary(start.version).parent}:/opt/etcd:ro", f"{start.tls}:/certs:ro", f"{start.folder}:/var/lib/etcd")
    words = [word for mount in mounts for word in ("--volume", mount)]
    words += ["--network=host", f"--memory={LIMIT.lower()}", "--env", start.go, *options]
    podman("rm", "--force", "--ignore", name)
    podman("run", "--detach", "--name", name, *words, _image(), "/opt/etcd/etcd", *start.command("127.0.0.1", "/var/lib/etcd/data", "/certs"))  # fmt: skip
    try:
        yield "127.0.0.1"
    finally:
        podman("rm", "--force", "--time", "20", name)


def _image() -> str:
    done = subprocess.run([PROJECT / "lab/image", "bookworm"], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def in_pod(start: Start) -> contextlib.AbstractContextManager[str]:
    """Start a container in a control group such as the kubelet creates for a static pod."""
    return in_container(start, "--cgroup-parent=/kubepods/burstable/pod0a1b2c3d4e5f60718293a4b5c6d7e8f9")


@contextmanager
def in_unit(start: Start) -> Iterator[str]:
    """Start a systemd unit with a file of variables on a lab host, as kubespray does."""
    address = addresses()[HOST]
    variables = [start.go]
    for flag in start.command(address, "/var/lib/etcd", "/etc/ssl/etcd"):
        name, _, value = flag.removeprefix("--").partition("=")
        variables.append(f"ETCD_{name.upper().replace('-', '_')}={value or 'true'}")
    unit = f"[Service]\nType=notify\nEnvironmentFile=/etc/etcd.env\nExecStart=/opt/etcd\nMemoryMax={LIMIT}\n"
    podman("cp", str(binary(start.version)), f"{container(HOST)}:/opt/etcd")
    podman("cp", f"{start.tls}/.", f"{container(HOST)}:/etc/ssl/etcd")
    for path, lines in (("/etc/etcd.env", "\n".join(variables)), ("/etc/systemd/system/etcd.service", unit)):
        on(HOST, f"cat > {path} <<'END'\n{lines}\nEND\n")
    on(HOST, "rm -rf /var/lib/etcd && systemctl daemon-reload && systemctl start etcd")
    try:
        yield address
    finally:
        on(HOST, "systemctl stop etcd")


Supervisor = Callable[[Start], contextlib.AbstractContextManager[str]]
# Name → how it starts etcd, and whether with a limit of memory.
SUPERVISORS: dict[str, tuple[Supervisor, bool]] = {
    "a process from a shell": (bare, False),
    "a container (Compose)": (in_container, True),
    "a static pod": (in_pod, True),
    "a systemd unit of another role": (in_unit, True),
}


def _put(version: str, address: str, tls: Path) -> None:
    """Wait until etcd serves, and put some keys."""
    words = [str(binary(version, "etcdctl")), f"--endpoints=https://{address}:{PORT}", f"--cacert={tls}/ca.crt"]
    words += [f"--cert={tls}/client.crt", f"--key={tls}/client.key"]
    deadline = time.monotonic() + READY_SECONDS
    while subprocess.run([*words, "endpoint", "health"], capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            raise RuntimeError(f"etcd {version} on {address} does not serve after {READY_SECONDS} s")
        time.sleep(0.2)
    for number in range(KEYS):
        subprocess.run([*words, "put", f"/audit/{number}", VALUE], capture_output=True, check=True)


def _audit(version: str, name: str, flags: Sequence[str], go: str) -> tuple[set[str], str]:
    """Start etcd, audit it and return the rules that found something, and what the audit printed."""
    supervise, _limited = SUPERVISORS[name]
    with scratch(str(PROJECT / ".headroom")) as folder:
        tls = folder / "tls"
        address = addresses()[HOST] if supervise is in_unit else "127.0.0.1"
        load.certificates(tls, address, DAYS)
        with supervise(Start(version, folder, tls, flags, go)):
            _put(version, address, tls)
            access: dict[str, Any] = {"ca_cert": f"{tls}/ca.crt", "client_cert": f"{tls}/client.crt"}
            access |= {"client_key": f"{tls}/client.key"}
            if supervise is in_unit:
                access |= {"inventory": PROJECT / "lab/inventory.py", "inspect": HOST}
            else:
                access |= inspecting_this_machine(folder)
            found, printed = audited(folder, f"https://{address}:{PORT}", version, **access)
    return rules(found), printed


def measure(version: str, name: str) -> Row:
    """Audit an etcd that is started in one way."""
    limited = SUPERVISORS[name][1]
    invented, printed = _audit(version, name, HEALTHY_FLAGS, SOUND_GO)
    found, _ = _audit(version, name, [*HEALTHY_FLAGS, *DEFECTS], DEFECTIVE_GO)
    planted = sorted(PLANTED + (PLANTED_IN_LIMIT if limited else []))
    return Row(version, name, limit(printed), planted, sorted(set(planted) - found), sorted(invented - EXPECTED), place(printed))  # fmt: skip


def limit(printed: str) -> str:
    """Return the memory limit of m0 in the audit's table of memory, - without one."""
    table = printed.partition("measured and planned memory")[2].partition("planned settings")[0]
    found = re.search(r"^\s+m0\s+(?:[\d.]+ \w+|-)\s+(?:[\d.]+ \w+|-)\s+([\d.]+ \w+|-)", table, re.M)
    return found[1] if found else "unknown"


def place(printed: str) -> str:
    """Return the lines that name files in the audit's planned settings."""
    lines = printed.partition("planned settings for m0")[2].splitlines()[1:]
    return "; ".join(line.strip().rstrip(":") for line in lines if re.match(r"  \S.*:$", line))


def measure_all(versions: list[str]) -> Iterator[Row]:
    """Measure each release below each supervisor."""
    timed_play("lab/create.yml", *LAB)
    try:
        for version in versions:
            for name in SUPERVISORS:
                yield measure(version, name)
    finally:
        timed_play("lab/destroy.yml", *LAB)
