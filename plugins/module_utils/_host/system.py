# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of a host, and the state of one of its units. Private to the collection."""

from __future__ import annotations

import os
import platform
import re
import socket
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host import addresses, systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._host.cgroup import read_memory_cgroup
from ansible_collections.etcdops.headroom.plugins.module_utils._host.installed import GO_ARCHITECTURES
from ansible_collections.etcdops.headroom.plugins.module_utils._host.memory_limit import saved_limits

UNIT_PROPERTIES = (
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "Result",
    "NRestarts",
    "MainPID",
    "NeedDaemonReload",
    "ExecStart",
    "MemoryMax",
    "Environment",
    "Group",
)
_SYSTEMD_SECONDS = 10


def system_facts() -> dict[str, Any]:
    """Return the facts of the host: names, architecture, distribution, memory, addresses, systemd."""
    hostname = socket.gethostname()
    machine = platform.machine()
    code, version = host_facts.run(["systemctl", "--version"])
    words = version.split()
    managers = [name for command, name in host_facts.PACKAGE_MANAGERS.items() if host_facts.find_command(command)]
    return {
        "hostname": hostname,
        "fqdn": addresses.full_name(hostname),
        "machine": machine,
        "architecture": GO_ARCHITECTURES.get(machine),
        "kernel": platform.release(),
        "distribution": host_facts.parse_os_release(read_text("/etc/os-release") or read_text("/usr/lib/os-release")),
        "package_manager": managers[0] if managers else None,
        "python_version": platform.python_version(),
        "cpus": len(os.sched_getaffinity(0)),
        **host_facts.parse_meminfo(read_text("/proc/meminfo")),
        # That of init: a login session, in which modules run, may have its own.
        "memory_limit": read_memory_cgroup(Path("/"), 1)["limit"],
        "cgroup_version": host_facts.cgroup_version(),
        "systemd": {
            "running": os.path.isdir("/run/systemd/system"),  # sd_booted(3)
            "version": int(words[1]) if code == 0 and len(words) > 1 and words[1].isdigit() else None,
        },
        "addresses": addresses.parse_fib_trie(read_text("/proc/net/fib_trie"))
        + addresses.parse_if_inet6(read_text("/proc/net/if_inet6")),
        # Addresses for documentation (RFC 5737, RFC 3849): nothing is sent, only the route is looked up.
        "default_ipv4": addresses.route_source(socket.AF_INET, "192.0.2.1"),
        "default_ipv6": addresses.lasting_ipv6(
            addresses.route_source(socket.AF_INET6, "2001:db8::1"), read_text("/proc/net/if_inet6")
        ),
    }


def started_binary(exec_start: str) -> str | None:
    """Return the binary of ExecStart as ``systemctl show`` prints it: ``{ path=/opt/etcd/etcd ; argv[]=… }``."""
    found = re.search(r"\bpath=(\S+)", exec_start)
    return found.group(1) if found else None


def unit_facts(name: str) -> dict[str, Any]:
    """Return the state of a service, and digest and binary of its process."""
    shown = next(iter(systemd.properties([name], UNIT_PROPERTIES, _SYSTEMD_SECONDS)), {})
    pid = int(shown.get("MainPID") or 0)
    limit = {**shown, **saved_limits(name)}.get("MemoryMax", "")
    return {
        "name": shown.get("Id", name),
        "load_state": shown.get("LoadState"),
        "active_state": shown.get("ActiveState"),
        "sub_state": shown.get("SubState"),
        "enabled_state": shown.get("UnitFileState") or None,
        "result": shown.get("Result"),
        "restarts": int(shown.get("NRestarts") or 0),
        "main_pid": pid,
        "needs_reload": shown.get("NeedDaemonReload") == "yes",
        "digest": host_facts.process_environment(pid, "HEADROOM_DIGEST") if pid else None,
        "executable": host_facts.process_executable(pid) if pid else None,
        "starts": started_binary(shown.get("ExecStart", "")),
        "group": shown.get("Group") or None,
        "managed": re.search(r"(^|\s)HEADROOM_DIGEST=", shown.get("Environment", "")) is not None,
        "memory_max": int(limit) if limit.isdigit() else None,  # "infinity", or the property is unknown
    }
