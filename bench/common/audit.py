"""Run playbook audit as a user does, and read what it found."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.common.member import binary

PROJECT = Path(__file__).resolve().parents[2]


def audit(
    endpoints: str | None,
    version: str,
    inventory: Path | None = None,
    prefix: Sequence[str] = (),
    options: Sequence[str] = (),
    **variables: object,
) -> subprocess.CompletedProcess[str]:
    """Audit a cluster with etcdctl of a release; variables go to the playbook.

    prefix: a command that starts it, for example on a certain core. options: of ansible-playbook.
    """
    given = {
        **({} if endpoints is None else {"endpoints": endpoints}),
        "window": 1,
        "request_timeout": 15,
        "etcdctl_path": str(binary(version, "etcdctl")),
        **variables,
    }
    command = [*prefix, "ansible-playbook", "playbooks/audit.yml", "-e", json.dumps(given), *options]
    if inventory:
        command += ["-i", str(inventory)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=240, check=False)


def rules(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the rules that found something."""
    return set(re.findall(r"^(?:WARN|DENY) ([a-z]+/[a-z_0-9]+):", done.stdout, re.M))
