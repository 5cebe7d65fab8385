# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which users role etcd_auth creates for Headroom's client certificates. Without etcd; tests/integration has a real member."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
# Replaces a module: logs its name and options, and returns what the test says of the host.
MODULE = """#!/usr/bin/python
# WANT_JSON
import json, os, pathlib, sys
folder, host = pathlib.Path({folder!r}), os.environ["MEMBER"]
options = json.loads(pathlib.Path(sys.argv[1]).read_text())
given = {{name: value for name, value in options.items() if not name.startswith("_ansible")}}
with open(folder / "calls", "a") as log:
    log.write(json.dumps([host, "{name}", given]) + chr(10))
status = json.loads(os.environ["STATUS"])
if status.get("failed") and not status.get("stays") and json.dumps({{"name": status["user"]}})[1:-1] in (folder / "calls").read_text():
    status = {{"enabled": True, "user": status["user"]}}  # its user was created
print(json.dumps({{"changed": False, **(status if "{name}" == "etcd_auth" else {{}})}}))
"""


def run(folder: Path, statuses: dict[str, dict[str, Any]], **variables: Any) -> tuple[str, list[Any]]:
    """Run the role on a host for each status; return the output with single blanks, and the calls of modules."""
    shutil.copytree(PROJECT / "roles" / "etcd_auth", folder / "etcd_auth")
    for path in (folder / "etcd_auth" / "tasks").iterdir():
        path.write_text(re.sub(r"etcdops\.headroom\.(etcd_\w+):", r"stub_\1:", path.read_text()))
    (folder / "library").mkdir()
    for name in ("etcd_auth", "etcd_role", "etcd_user"):
        (folder / "library" / f"stub_{name}.py").write_text(MODULE.format(folder=str(folder), name=name))
    common = {
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "etcd_cluster": {"members": {name: {} for name in statuses}, "first_host": min(statuses)},
        "etcd_endpoints": ["x"],
        "etcd_host_cluster_name": "example",
        "etcd_host_tls_dir": "/x",
        "etcd_auth_root_password": "x",
        **variables,
    }
    hosts = {name: {"status": json.dumps(status)} for name, status in statuses.items()}
    (folder / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": hosts, "vars": common}}))
    play = {
        "name": "Manage authentication",
        "hosts": "etcd",
        "gather_facts": False,
        "any_errors_fatal": True,
        "environment": {"MEMBER": "{{ inventory_hostname }}", "STATUS": "{{ status | string }}"},
        "roles": [str(folder / "etcd_auth")],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    calls = [json.loads(line) for line in (folder / "calls").read_text().splitlines()]
    return " ".join((done.stdout + done.stderr).split()), calls


def created(calls: list[Any]) -> list[tuple[str, str]]:
    """Return host and name of each user that was created with the role root."""
    return [
        (host, options["name"]) for host, name, options in calls if name == "etcd_user" and options["roles"] == ["root"]
    ]


def test_each_client_certificate_gets_a_user(tmp_path: Path) -> None:
    """etcd refuses the second host already, because an earlier release enabled authentication without its user."""
    refused = {"failed": True, "msg": "permission denied", "user": "headroom-n2"}
    accepted = {"enabled": True, "user": "headroom-n1"}
    output, calls = run(tmp_path, {"n1": accepted, "n2": refused, "n3": {"enabled": True, "user": "headroom-n2"}})
    assert created(calls) == [("n1", "root"), ("n1", "headroom-n1"), ("n1", "headroom-n2")], output
    # Each host verifies the access of its own certificate.
    enabled = [host for host, name, options in calls if name == "etcd_auth" and options.get("state") == "enabled"]
    assert enabled[0] == "n1" and sorted(enabled[1:]) == ["n2", "n3"], output
    assert output.count("failed=0") == 3, output


def test_a_certificate_that_etcd_still_refuses_is_reported(tmp_path: Path) -> None:
    """The acting host's certificate has access, so enabling authentication succeeds."""
    refused = {"failed": True, "msg": "https://n2:2379: permission denied", "user": "headroom-n2", "stays": True}
    output, _calls = run(tmp_path, {"n1": {"enabled": True, "user": "headroom"}, "n2": refused})
    assert "fatal: [n2]: FAILED!" in output and "https://n2:2379: permission denied" in output, output
    assert "n1 : ok=" in output and output.count("failed=1") == 1, output


def test_a_host_without_a_user_is_refused_before_any_change(tmp_path: Path) -> None:
    off = {"enabled": False}
    users = [{"name": "ops", "no_password": True}]
    output, calls = run(
        tmp_path,
        {"n1": {**off, "user": "headroom"}, "n2": {**off, "user": ""}, "n3": {**off, "user": "ops"}},
        etcd_auth_users=users,
    )
    assert "etcd could not identify Headroom on n2, because TLS is off or" in output, output
    assert "etcd_auth_users lists ops, which this role creates itself" in output and "Nothing was changed" in output
    assert {name for _host, name, _options in calls} == {"etcd_auth"} and len(calls) == 3
