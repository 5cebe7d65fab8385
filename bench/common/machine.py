"""The machine that a benchmark runs on: what its figures depend on, and whether other work disturbs them."""

from __future__ import annotations

import os
import platform
import re
import socket
import time
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import describe, parse_mountinfo


def memory_bytes() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def available_memory() -> int:
    """Return the memory in bytes that new processes can get without swapping; 0 if the kernel does not report it."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", Path("/proc/meminfo").read_text(), re.M)
    return int(found[1]) * 1024 if found else 0


def one_line() -> str:
    """Return cores, memory and kernel in one line."""
    return f"{os.cpu_count()} cores, {memory_bytes() / GIB:.0f} GiB, Linux {platform.release().split('-')[0]}"


def facts(folder: Path) -> dict[str, str]:
    """Return cores, memory, kernel and the filesystem of a folder, as the head of a results file has them."""
    mounts = parse_mountinfo(Path("/proc/self/mountinfo").read_text())
    mount = describe(str(folder), mounts, mounts)
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{memory_bytes() / GIB:.1f} GiB",
        "kernel": platform.release(),
        "filesystem": mount["fstype"] if mount else "unknown",
    }


def busy_cpus(seconds: float = 5.0) -> float:
    """Return how many CPUs have work now. The load average still includes the last minutes."""

    def spent() -> int:
        times = [int(number) for number in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        return sum(times[:8]) - times[3] - times[4]  # without idle and iowait

    before = spent()
    time.sleep(seconds)
    return (spent() - before) / os.sysconf("SC_CLK_TCK") / seconds


def ports_in_use(ports: range) -> list[int]:
    """Return the loopback ports that another process listens on."""
    found = []
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                found.append(port)
    return found
