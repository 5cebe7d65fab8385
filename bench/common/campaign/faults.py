"""Faults of one host, or of the controller's connection to all hosts.

Each has `begin`, which returns once the fault has begun, and `end`, which removes it and returns once the host works again.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.common import write_limits
from bench.common.campaign.hosts import container, follower, in_network, inside, leader, podman, process
from bench.common.lab import PROJECT, addresses
from bench.common.write_limits import WriteLimits

# Seconds for which a host or a network is unreachable. A play has to wait that long.
AWAY_SECONDS = 20.0
# Writes per second that a slow disk accepts. etcd flushes its log for each batch of proposals.
SLOW_WRITES = 12
FILLER = "/var/lib/etcd/chaos-filler"
# Volumes are mounted with `nofail`: without the links to their devices, `mount -a` would skip them.
MOUNT_AND_START = f"""
systemctl list-jobs > /dev/null
systemd-tmpfiles --create /etc/tmpfiles.d/lab-disks.conf
mount -a
for path in $(sed -n 's#^/dev/disk/by-id/virtio-etcd-[a-z]* \\([^ ]*\\) .*#\\1#p' /etc/fstab); do mountpoint -q "$path"; done
{(PROJECT / "lab" / "cancel_device_jobs").read_text()}
systemctl start --no-block etcd || true
"""


@dataclass(frozen=True)
class Fault:
    """A fault: its target host, its duration in seconds (None: until the play ends), and how it begins and ends."""

    name: str
    about: str
    target: Callable[[], str]
    begin: Callable[[str], None]
    end: Callable[[str], None]
    seconds: float | None


def kill_member(host: str) -> None:
    """Kill etcd as the kernel would."""
    inside(host, "systemctl kill -s KILL etcd", check=False)


def stop_host(host: str) -> None:
    """Kill every process of a host at once."""
    podman("kill", container(host))


def start_host(host: str) -> None:
    """Start a host again, with its address and its volumes: podman gives it a new address, and the lab has no udev that finds devices."""
    podman("start", container(host))
    address = addresses()[host]
    in_network(host, "sh", "-c", f"ip -4 addr flush dev eth0; ip addr add {address}/24 dev eth0; ip link set eth0 up")
    gateway = address.rsplit(".", 1)[0] + ".1"
    in_network(host, "sh", "-c", f"ip route replace default via {gateway}")
    end = time.monotonic() + 60
    while True:
        try:
            inside(host, MOUNT_AND_START)
            return
        except RuntimeError:
            if time.monotonic() > end:
                raise
            time.sleep(1)


def fill_disk(host: str) -> None:
    """Leave no space for etcd on the data volume."""
    inside(
        host,
        f"left() {{ df --output=avail -B1 {FILLER.rsplit('/', 1)[0]} | tail -n 1; }}; "
        f'fallocate -l "$(left)" {FILLER} || fallocate -l "$(($(left) - 67108864))" {FILLER} || true; '
        f"dd if=/dev/zero of={FILLER}-rest bs=64K count=2048 2>/dev/null || true",
    )


def empty_disk(host: str) -> None:
    """Remove what filled the data volume."""
    inside(host, f"rm -f {FILLER} {FILLER}-rest")


class SlowDisk:
    """Limits the writes per second of a member to its volumes, and again after systemd replaced its control group.

    With version 2 of control groups it limits those of the whole host: only the member writes to the volumes.
    """

    def __init__(self) -> None:
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, host: str) -> None:
        """Slow the disks down."""
        self._done = threading.Event()
        limits = self._limits(host)
        devices = inside(host, "stat -L -c '%Hr:%Lr' /dev/disk/by-id/virtio-etcd-*").split()
        if limits.version == 2 and not limits.file.exists():
            raise RuntimeError(f"{limits.file} is missing: the controller io is not enabled for the hosts of the lab")
        self._limit(limits, devices, SLOW_WRITES)
        self._thread = threading.Thread(target=self._hold, args=(limits, devices), daemon=True)
        self._thread.start()

    def end(self, host: str) -> None:
        """Remove the limit."""
        self._done.set()
        if self._thread:
            self._thread.join()
        limits = self._limits(host)
        self._limit(limits, inside(host, "stat -L -c '%Hr:%Lr' /dev/disk/by-id/virtio-etcd-*").split(), 0)

    def _hold(self, limits: WriteLimits, devices: list[str]) -> None:
        while not self._done.wait(0.5):
            self._limit(limits, devices, SLOW_WRITES)

    @staticmethod
    def _limits(host: str) -> WriteLimits:
        limits = write_limits.of_process(Path(f"/proc/{process(host)}/cgroup").read_text())
        return limits.narrowed(f"{limits.group}/system.slice/etcd.service")

    @staticmethod
    def _limit(limits: WriteLimits, devices: list[str], writes: int) -> None:
        for device in devices:
            with contextlib.suppress(OSError):  # the member is stopped
                limits.file.write_text(limits.line(device, writes))


def cut_off(host: str) -> None:
    """Drop everything that a host sends and receives."""
    in_network(host, "iptables", "-I", "OUTPUT", "-o", "eth0", "-j", "DROP")
    in_network(host, "iptables", "-I", "INPUT", "-i", "eth0", "-j", "DROP")


def cut_controller(_host: str) -> None:
    """Drop what arrives at any host's SSH server, and keep clients and members connected."""
    for host in addresses():
        in_network(host, "iptables", "-I", "INPUT", "-i", "eth0", "-p", "tcp", "--dport", "22", "-j", "DROP")


def reconnect(host: str) -> None:
    """Remove the rules of cut_off."""
    for chain in ("INPUT", "OUTPUT"):
        in_network(host, "iptables", "-F", chain)


def reconnect_all(_host: str) -> None:
    """Remove the rules of cut_controller."""
    for host in addresses():
        reconnect(host)


def do_nothing(_host: str) -> None:
    """Do nothing."""


_slow = SlowDisk()
FAULTS = (
    Fault("member killed", "etcd on a follower gets SIGKILL", follower, kill_member, do_nothing, 0.0),
    Fault("leader killed", "etcd on the leader gets SIGKILL", leader, kill_member, do_nothing, 0.0),
    Fault("host stopped", "a follower's host loses all processes", follower, stop_host, start_host, AWAY_SECONDS),
    Fault("disk full", "a follower's data volume has no space", follower, fill_disk, empty_disk, None),
    Fault("disk slow", f"the leader's volumes accept {SLOW_WRITES} writes/s", leader, _slow.begin, _slow.end, None),
    Fault("member cut off", "a follower's network drops everything", follower, cut_off, reconnect, AWAY_SECONDS),
    Fault("leader cut off", "the leader's network drops everything", leader, cut_off, reconnect, AWAY_SECONDS),
    Fault("controller cut off", "no host's SSH server can be reached", leader, cut_controller, reconnect_all, AWAY_SECONDS),
)  # fmt: skip
BY_NAME = {fault.name: fault for fault in FAULTS}


class Injection:
    """A fault that `begin` starts, and that ends after its duration or when `finish` is called."""

    def __init__(self, fault: Fault) -> None:
        self.fault, self.host, self.began = fault, "", False
        self.problem = ""
        self._ended = False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Choose the host and begin."""
        try:
            self.host = self.fault.target() or next(iter(addresses()))
            self.fault.begin(self.host)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.problem = str(error)
            return
        self.began = True
        if self.fault.seconds is not None:
            self._thread = threading.Thread(target=self._end_later, daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait for the end of the fault; end a fault without a duration now."""
        if self._thread:
            self._thread.join()
        elif self.began and not self._ended:
            self._ended = True
            self._end()

    def _end_later(self) -> None:
        time.sleep(self.fault.seconds or 0.0)
        self._end()

    def _end(self) -> None:
        try:
            self.fault.end(self.host)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.problem = f"the fault could not be ended: {error}"
