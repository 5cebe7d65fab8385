"""The compared methods to defragment a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common.member import Member, binary
from bench.maintenance.cluster import endpoints, etcdctl

# Does what the launcher does on hosts: all timers elapse together, and the programs agree on an order.
PROGRAM = "import sys; from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.program import main; sys.exit(main(sys.argv[1:]))"
PAUSE_SECONDS = 3
HEADROOM_SECONDS = 240


@dataclass(frozen=True)
class Method:
    """A method, and whether the members run with the feature gate that stops serving during a defragmentation.

    do: takes the members and a scratch folder; returns an error message, empty on success.
    """

    name: str
    gate: bool
    do: Callable[[Sequence[Member], Path], str]


def by_etcdctl(cluster: Sequence[Member], _folder: Path) -> str:
    """Defragment as etcd's documentation says: one command for the whole cluster, with its defaults."""
    done = etcdctl(cluster[0].version, f"--endpoints={endpoints(cluster)[0]}", "defrag", "--cluster")
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("Failed")]
    return "; ".join(said) if said or done.returncode == 0 else done.stderr.strip()[-300:]


def by_headroom(cluster: Sequence[Member], folder: Path) -> str:
    """Run Headroom's program for every member at the same moment."""
    running = []
    for member in cluster:
        (folder / f"{member.name}-state").mkdir()
        config = folder / f"{member.name}.json"
        config.write_text(json.dumps(configuration(member, cluster, folder)))
        command = [sys.executable, "-c", PROGRAM, "--config", str(config), "defrag"]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    try:
        records = [json.loads(program.communicate(timeout=HEADROOM_SECONDS)[0]) for program in running]
    finally:
        for program in running:
            if program.poll() is None:
                program.kill()
                program.wait()
    return "; ".join(record["reason"] for record in records if record["result"] != "done")


def configuration(member: Member, cluster: Sequence[Member], folder: Path) -> dict[str, Any]:
    """Return the configuration that the role writes for a host, with a shorter pause between members."""
    others = [url for url in endpoints(cluster) if url != member.endpoint]
    return {
        "cluster": "bench",
        "member": member.name,
        "connection": {
            "etcdctl_path": str(binary(member.version, "etcdctl")),
            "endpoints": [member.endpoint, *others],
            "ca_cert": "",
            "client_cert": "",
            "client_key": "",
            "request_timeout": 5,
        },
        "etcdutl_path": str(binary(member.version, "etcdutl")),
        "unit": "",
        "data_dir": str(member.folder / member.name),
        "state_dir": str(folder / f"{member.name}-state"),
        "metrics_dir": "",
        "defrag": {
            "enabled": True,
            "calendar": "daily",
            "free_share": 40,
            "free_size": "50MB",
            "pause": PAUSE_SECONDS,
            "wait": HEADROOM_SECONDS,
            "timeout": HEADROOM_SECONDS,
            "raise_memory": False,
        },
        "snapshot": {
            "enabled": False,
            "calendar": "daily",
            "directory": "",
            "prefix": "etcd",
            "keep": 1,
            "keep_days": "",
            "encrypt_to": [],
            "copy_dir": "",
            "bucket": None,
            "reserve": 0,
            "timeout": 60,
        },
        "drill": {"enabled": False, "calendar": "daily", "scratch_dir": "", "memory_max": "1GB", "timeout": 60},
        "integrity": {"enabled": False, "calendar": "weekly", "timeout": 60},
    }


METHODS = (
    Method("etcdctl defrag --cluster", False, by_etcdctl),
    Method("etcdctl defrag --cluster, with the gate", True, by_etcdctl),
    Method("Headroom", True, by_headroom),
)
