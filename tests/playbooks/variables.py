# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the variables of a role, and evaluate expressions with them in one play without a managed host."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]


def role_variables(name: str, *wanted: str) -> dict[str, Any]:
    """Return variables of role etcd from a file of them."""
    found = yaml.safe_load((PROJECT / "roles" / "etcd" / "vars" / "main" / f"{name}.yml").read_text())
    return {key: found[key] for key in wanted}


def evaluate(
    folder: Path, role: str, expression: str, cases: Mapping[str, Mapping[str, Any]], options: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the value of a Jinja expression by case. cases: the variables of each, beside the role's own. options: of ansible-playbook."""
    # One task for each case, as only tasks have variables of their own. Only the last one starts a module.
    tasks: list[dict[str, Any]] = [
        {
            "name": f"Evaluate {case}",
            "ansible.builtin.set_fact": {
                "evaluated": f"{{{{ evaluated | default({{}}) | combine({{{case!r}: [{expression}] | to_json}}) }}}}"
            },
            "vars": dict(variables),
        }
        for case, variables in cases.items()
    ]
    found = folder / "evaluated.json"
    keep = {"dest": str(found), "content": "{{ evaluated | to_json }}", "mode": "0600"}
    tasks.append({"name": "Keep the values", "ansible.builtin.copy": keep, "check_mode": False})
    folders = [PROJECT / "roles" / role / kind for kind in ("defaults", "vars")]
    files = [str(path) for folder in folders for path in sorted([*folder.glob("main.yml"), *folder.glob("main/*.yml")])]
    play = {
        "name": "Evaluate the expression",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "vars_files": files,
        "tags": ["always"],
        "tasks": tasks,
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", "localhost,", *options, str(folder / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {case: json.loads(text)[0] for case, text in json.loads(found.read_text()).items()}
