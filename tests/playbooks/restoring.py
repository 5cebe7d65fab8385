# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tasks of role etcd_restore on three hosts that are folders, without etcd."""

from __future__ import annotations

import dataclasses
import grp
import hashlib
import json
import os
import pwd
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store

PROJECT = Path(__file__).resolve().parents[2]
ROLE = PROJECT / "roles" / "etcd_restore"
ID, OTHER_ID = "20261121T101500Z", "20261122T101500Z"
SNAPSHOT = {"member": "m2", "revision": 8123, "sha256": "ab12" * 16}
UNIT = {"load_state": "not-found", "active_state": "inactive"}
FACTS = {
    "files": {"/usr/local/bin/etcdctl": {"exists": False}},
    "unit": UNIT,
    "versions": ["3.6.16"],
}


def marker_path(folder: Path, host: str) -> Path:
    """Return where a host has the marker of a restore: not next to its data dir, where the copy of the snapshot has the same name."""
    path = folder / f"etc-{host}" / "restoring"
    path.parent.mkdir(exist_ok=True)
    return path


def run(
    folder: Path,
    tasks: list[dict[str, Any]],
    *options: str,
    identities: dict[str, dict[str, str]] | None = None,
    active: Sequence[str] = (),
    loaded: Sequence[str] = (),
    unmounted: dict[str, list[dict[str, str]]] | None = None,
    **variables: Any,
) -> str:
    """Run tasks with the variables of the role on three hosts, each with its own folder; return the output with single blanks.

    identities: the ids in the write-ahead logs, by host. active: the hosts on which etcd runs. loaded: those with a unit of etcd.
    unmounted: entries of fstab, by host.
    """
    identities, unmounted = identities or {}, unmounted or {}
    hosts = {
        name: {
            "etcd_host_data_dir": str(folder / name / "data"),
            "etcd_host_restoring_file": str(marker_path(folder, name)),
            "etcd_name": name,
            "etcd_host_facts": {
                **FACTS,
                "unit": {
                    "load_state": "loaded" if name in loaded else "not-found",
                    "active_state": "active" if name in active else "inactive",
                    "starts": str(folder / "etcd-3.6.16" / "etcd"),
                },
                "mounts": {"/var/lib/etcd": {"unmounted": unmounted.get(name, [])}},
            },
            "etcd_member": {"has_data": (folder / name / "data").exists(), "identity": identities.get(name, {})},
        }
        for name in ("h1", "h2", "h3")
    }
    given = {
        **yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8")),
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "etcd_host_cluster_name": "example",
        "etcd_restore_confirm": "example",
        "etcd_host_wal_dir": "",
        "etcd_host_unit_file": "/none.service",
        **variables,
    }
    for name in hosts:
        (folder / name).mkdir(exist_ok=True)
    (folder / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": hosts, "vars": given}}))
    play = {
        "name": "Run the tasks",
        "hosts": "etcd",
        "gather_facts": False,
        "any_errors_fatal": True,
        "vars_files": [str(ROLE / "vars" / "main.yml")],
        "tasks": tasks,
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml"), *options]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


def preflight(folder: Path, **variables: Any) -> str:
    """Run the preflight checks and print what they found."""
    found = (
        "prepares {{ _etcd_restore_unprepared | join(' ') }} from {{ etcd_restore_snapshot }} of {{ _etcd_restore_source | default('nobody') }}, "
        "{{ 'resumed' if _etcd_restore_resumed else 'new' }}. Starts later: {{ etcd_restore_start_later | join(' ') or 'none' }}."
    )
    tasks = [
        {"name": "Check", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "preflight.yml")},
        {"name": "Print", "ansible.builtin.debug": {"msg": found}, "run_once": True},
    ]
    return run(folder, tasks, **variables)


def begun(
    folder: Path, host: str, name: str, restore: str, marked: bool = True, snapshot: dict[str, Any] = SNAPSHOT
) -> None:
    """Create new data of a restore on a host, in its data dir or prepared next to it, and the marker of a restore that replaces data."""
    member = folder / host / name / "member"
    member.mkdir(parents=True)
    record = {"id": restore, "snapshot": snapshot, "source": {"host": "h2", "path": str(folder / "etcd.db")}}
    (member / "headroom-restore.json").write_text(json.dumps(record))
    if marked:
        marker_path(folder, host).write_text(json.dumps({"id": restore}))


def save_snapshot(folder: Path) -> Path:
    for name in ("etcd.db", "etcd.db.json", "etcd.db.sha256"):
        (folder / name).write_text("")
    return folder / "etcd.db"


# Makes of a snapshot what the real one does, as far as a restore looks at it.
ETCDUTL = """#!{python}
import sys
from pathlib import Path
flags = dict(word.partition("=")[::2] for word in sys.argv if word.startswith("--"))
if "status" in sys.argv:
    print('{{"hash":3016699658,"revision":8123,"totalKey":2000,"totalSize":8192,"version":"3.6.0"}}')
else:
    for name in ("snap", "wal"):
        Path(flags["--data-dir"], "member", name).mkdir(parents=True)
    Path(flags["--data-dir"], "member", "snap", "db").write_text("new")
"""


def real_snapshot(folder: Path) -> dict[str, Any]:
    """Save a snapshot with its record, and a program that restores it; return the variables."""
    (folder / "3.6.16").mkdir()
    (folder / "3.6.16" / "etcdutl").write_text(ETCDUTL.format(python=os.path.realpath(sys.executable)))
    (folder / "3.6.16" / "etcdutl").chmod(0o755)
    content = b"page" * 2048
    body = content + hashlib.sha256(content).digest()
    (folder / "work").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    metadata = store.Metadata("75cf", "m2", "2", "3.6.16", "3.6.0", 8123, "b3cf2f0a", 2000, len(body), digest, 0)
    store.publish(str(folder / "work"), str(folder / "etcd.db"), metadata)
    return {
        "saved": metadata.as_dict(),
        "etcd_version": "3.6.16",
        "etcd_host_install_dir": str(folder),
        "etcd_host_user": pwd.getpwuid(os.geteuid()).pw_name,
        "etcd_host_user_group": grp.getgrgid(os.getegid()).gr_name,
        "etcd_cluster": {
            "initial_cluster": "h1=http://h1:2380,h2=http://h2:2380,h3=http://h3:2380",
            "members": {name: {"peer_url": f"http://{name}:2380"} for name in ("h1", "h2", "h3")},
        },
    }


def encrypted_snapshot(folder: Path, name: str) -> Path:
    """Save what is left of an encrypted snapshot without its key: the file and its records."""
    body = b"age-encryption.org/v1 " + b"x" * 9000
    (folder / "work").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    metadata = store.Metadata("75cf", "m2", "2", "3.6.16", "3.6.0", 8123, "b3cf2f0a", 2000, 8224, SNAPSHOT["sha256"], 0)
    metadata = dataclasses.replace(metadata, encryption="age", encrypted_size=len(body), encrypted_sha256=digest)
    store.publish(str(folder / "work"), str(folder / name), metadata)
    return folder / name


def prepare(
    folder: Path, *options: str, running: str = "", members: Sequence[dict[str, Any]] = (), **variables: Any
) -> str:
    """Run the preflight checks, and prepare the hosts that they found. running, members: the id and the members of the cluster that answers."""
    answer = {"_etcd_restore_info": {"cluster": {"id": running, "members": list(members)}}}
    tasks = [
        {"name": "Check", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "preflight.yml")},
        {"name": "Answer", "ansible.builtin.set_fact": answer},
        {"name": "Prepare", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "prepare.yml")},
    ]
    return run(folder, tasks, *options, **variables)


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.glob("h?/*")}
