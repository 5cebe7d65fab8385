# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A failure in one of the clusters of a run leaves no stopped member in the others, and is not reported for them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.variables import role_variables

PROJECT = Path(__file__).resolve().parents[2]
ROLES = PROJECT / "roles"
# Replaces a module: logs its name and the wanted state, and fails if the test says so.
MODULE = """#!/usr/bin/python
# WANT_JSON
import json, os, pathlib, sys
folder, host = pathlib.Path({folder!r}), os.environ["MEMBER"]
call = "{name} " + str(json.loads(pathlib.Path(sys.argv[1]).read_text()).get("state", ""))
with open(folder / "calls", "a") as log:
    log.write(host + " " + call.strip() + chr(10))
failing = json.loads((folder / "failing.json").read_text())
if call.strip() == failing.get(host):
    print(json.dumps({{"failed": True, "msg": "no space", "source_intact": True}}))
elif call.strip() == failing.get(host + " unreachable after"):
    (folder / "unreachable").write_text("")
    print(json.dumps({{"changed": True}}))
else:
    print(json.dumps({{"changed": True}}))
"""
STUBS = (
    "copy",
    "file",
    "systemd_service",
    "etcd_member",
    "etcd_membership",
    "etcd_release",
    "etcd_snapshot",
    "etcd_wal_move",
)
ETCDCTL = """#!/bin/sh
case "$*" in
  *north*) echo "ERROR" >&2; exit 1;;
  *lease\\ grant*) echo "lease 123 granted";;
  *get*) echo 123;;
esac
"""


def play(
    folder: Path,
    hosts: dict[str, dict[str, Any]],
    variables: dict[str, Any],
    tasks: list[dict[str, Any]],
    fatal: bool = True,
) -> str:
    """Run tasks as site.yml does, or, if they are not fatal, as the README of role etcd does; return the output with single blanks."""
    inventory = {"etcd": {"hosts": hosts, "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"}}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
    plays = [
        {
            "name": "Run the tasks",
            "hosts": "etcd",
            "gather_facts": False,
            **({"any_errors_fatal": True} if fatal else {}),
            "vars": variables,
            "environment": {"MEMBER": "{{ inventory_hostname }}"},
            "tasks": [*tasks, {"name": "Go on", "ansible.builtin.debug": {"msg": "the play goes on"}}],
        }
    ]
    (folder / "play.yml").write_text(yaml.safe_dump(plays))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0, done.stdout
    return re.sub(r"\s+", " ", done.stdout)


def copy_verification(folder: Path, etcdctl: str) -> None:
    """Copy the tasks that verify writes, with a fake etcdctl."""
    (folder / "etcdctl").write_text(etcdctl)
    (folder / "etcdctl").chmod(0o755)
    text = (ROLES / "etcd" / "tasks" / "verify_writes.yml").read_text()
    text = text.replace("/usr/local/bin/etcdctl", str(folder / "etcdctl")).replace("retries: 5", "retries: 2")
    (folder / "verify_writes.yml").write_text(text.replace("delay: 3", "delay: 0"))


PROBE = {
    "etcd_name": "{{ inventory_hostname }}",
    "etcd_etcdctl_environment": {},
    **role_variables("cluster", "_etcd_learners", "_etcd_voter_urls", "_etcd_verifying_host"),
}


def test_no_learner_is_asked_to_write(tmp_path: Path) -> None:
    """The playbook that added it was interrupted. etcd refuses reads and writes through it."""
    log = f"echo $* >> {tmp_path}/calls\ncase"
    copy_verification(tmp_path, ETCDCTL.replace("ERROR", "rpc not supported for learner").replace("case", log, 1))
    names = ("north", "south", "west")
    urls = {name: f"https://{name}:2379" for name in names}
    hosts: dict[str, dict[str, Any]] = {
        name: {
            "ansible_connection": "local",
            "etcd_client_urls": [urls[name], *(u for n, u in urls.items() if n != name)],
        }
        for name in names
    }
    members = {name: {"host": name, "name": name, "client_url": url} for name, url in urls.items()}
    answers = [{"name": name, "role": "learner" if name == "north" else "follower"} for name in names]
    variables = {
        **PROBE,
        "etcd_cluster_name": "etcd",
        "etcd_cluster": {"first_host": "north", "members": members},
        "_etcd_info": {"cluster": {"members": answers}},
    }
    tasks = [
        {"ansible.builtin.include_tasks": str(tmp_path / "verify_writes.yml")},
        {"ansible.builtin.fail": {"msg": "verified by {{ _etcd_verifying_host }}"}},
    ]
    output = play(tmp_path, hosts, variables, tasks)
    assert output.count('"msg": "verified by south"') == 3 and "could not be read" not in output, output
    assert output.count("Cluster etcd: north is a learner") == 1, output
    calls = (tmp_path / "calls").read_text()
    assert "https://south" in calls and "https://west" in calls and "north:2379" not in calls, calls


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("context deadline exceeded", "Find the cause on both members"),
        ("etcdserver: mvcc: database space exceeded", "The alarm NOSPACE is set: run the playbook nospace"),
    ],
    ids=["no answer", "no space"],
)
def test_only_the_cluster_that_does_not_accept_writes_is_reported(tmp_path: Path, error: str, remedy: str) -> None:
    copy_verification(tmp_path, ETCDCTL.replace("ERROR", error))
    hosts = {
        name: {"ansible_connection": "local", "etcd_cluster_name": name, "etcd_client_urls": [f"https://{name}:2379"]}
        for name in ("north", "south")
    }
    variables = {**PROBE, "etcd_cluster": {"first_host": "{{ inventory_hostname }}", "members": {}}, "_etcd_info": {}}
    output = play(tmp_path, hosts, variables, [{"ansible.builtin.include_tasks": str(tmp_path / "verify_writes.yml")}])
    assert (
        output.count('"msg": "Cluster north: a key written through https://north:2379 could not be read through') == 1
    )
    assert f"in 2 attempts: {error}. {remedy}" in output
    assert len(re.findall(r"(?:fatal|failed): \[", output)) == 1 and "Cluster south" not in output, output
    assert "the play goes on" not in output


def copy_tasks(folder: Path, files: list[tuple[str, str]], failing: dict[str, str]) -> None:
    """Copy files of tasks by role, with modules that only log their call. failing: the call that fails, by host."""
    (folder / "failing.json").write_text(json.dumps(failing))
    for role, name in files:
        text = (ROLES / role / "tasks" / f"{name}.yml").read_text()
        text = re.sub(
            r"(?:ansible\.builtin|etcdops\.headroom)\.(copy|file|systemd_service|etcd_\w+):", r"stub_\1:", text
        )
        text = text.replace("name: etcdops.headroom.etcd_storage", f"name: {folder}/roles/etcd_storage")
        path = folder / "roles" / role / "tasks" / f"{name}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "library").mkdir()
    for name in STUBS:
        text = MODULE.format(folder=str(folder), name=name)
        (folder / "library" / f"stub_{name}.py").write_text(text)


def update(
    folder: Path, failing: dict[str, str], joins: bool = False, moving: tuple[str, ...] = ("n1", "s1")
) -> tuple[str, dict[str, list[str]]]:
    """Update n1 and s1, then n2. Return the output, and the calls by host.

    joins: n1 and s1 are not updated, but join their clusters in the place of dead members. moving: the hosts whose logs move.
    """
    files = [
        ("etcd", name)
        for name in ("update_step", "update_member", "drain_member", "drain_again", "join_member", "release_lock")
    ]
    files += [("etcd_storage", "move_wal")]
    copy_tasks(folder, files, failing)
    unreachable = f"lookup('ansible.builtin.fileglob', '{folder}/unreachable') and inventory_hostname == 'n1'"
    variables = {
        "ansible_connection": f"{{{{ 'ssh' if {unreachable} else 'local' }}}}",
        "ansible_host": "127.0.0.1",
        "ansible_port": 1,
        "_etcd_update_order": {"n1": 0, "s1": 0, "n2": 1},
        "_etcd_step_failures": yaml.safe_load((ROLES / "etcd" / "vars" / "main" / "update.yml").read_text())[
            "_etcd_step_failures"
        ],
        "_etcd_joins": "{{ inventory_hostname in joining }}",
        "moving": list(moving),
        "joining": ["n1", "s1"] if joins else [],
        "_etcd_membership": {
            "cluster_id": "cafe",
            "joins": {name: {"remove": "8e9e", "aside": False} for name in ("n1", "s1")},
        },
        "_etcd_differences": {"digest": "x", "unit": "x", "restarts": True, "changes": True, "decided_by_digest": True},
        "clusters": {
            cluster: {
                "state": "existing",
                "members": {name: {"host": name, "name": name, "moves": False, "peer_url": "x"} for name in names},
            }
            for cluster, names in {"n": ["n1", "n2"], "s": ["s1"]}.items()
        },
        "etcd_cluster": "{{ clusters[inventory_hostname[0]] }}",
        "etcd_host_facts": {
            "unit": {"load_state": "loaded"},
            "files": {"/forming": {"exists": False}, "/renewing": {"exists": False}},
            "member": {"wal_files": 0, "identity": None},
        },
        "etcd_host_forming_file": "/forming",
        "etcd_host_renewing_file": "/renewing",
        "etcd_storage_plan": {
            "wal_move": {"pending": "{{ inventory_hostname in moving }}", "source": "/a", "target": "/b"}
        },
        "etcd_name": "{{ inventory_hostname }}",
        **dict.fromkeys(
            (
                "etcd_endpoints",
                "etcd_host_endpoint",
                "etcd_tls_dir",
                "etcd_config_file",
                "etcd_user_group",
                "etcd_host_unit_file",
            ),
            "x",
        ),
        **dict.fromkeys(("_etcd_config_text", "_etcd_join_config_text"), "x"),
        **dict.fromkeys(("etcd_data_dir", "etcd_user", "etcd_wal_dir"), "x"),
        "_etcd_settings": {},
        "etcd_membership_request": {},
        **dict.fromkeys(("etcd_start_timeout", "etcd_join_timeout", "_etcd_lock_seconds", "etcd_journal_lines"), 1),
    }
    step = {
        "ansible.builtin.include_tasks": str(folder / "roles" / "etcd" / "tasks" / "update_step.yml"),
        "loop": [0, 1],
        "loop_control": {"loop_var": "_etcd_update_step"},
    }
    output = play(folder, {name: {} for name in ("n1", "n2", "s1")}, variables, [step])
    return output, calls_by_host(folder)


def calls_by_host(folder: Path) -> dict[str, list[str]]:
    """Return the calls of the modules, each with the wanted state."""
    calls: dict[str, list[str]] = {}
    for line in (folder / "calls").read_text().splitlines():
        host, call = line.split(" ", 1)
        calls.setdefault(host, []).append(call)
    return calls


@pytest.mark.parametrize(
    ("failing", "end"),
    [
        ({"n1": "etcd_member drained"}, "etcd_member drained"),
        ({"n1": "etcd_wal_move"}, "systemd_service started"),
        ({"n1": "systemd_service stopped"}, "systemd_service stopped"),
        ({"n1": "copy"}, "copy"),
        ({"n1": "etcd_member serving"}, "etcd_member serving"),
        ({"n1 unreachable after": "systemd_service stopped"}, "systemd_service stopped"),
    ],
    ids=["the drain", "the move", "the stop", "the configuration", "the start", "unreachable"],
)
def test_other_clusters_start_the_members_that_they_stopped(tmp_path: Path, failing: dict[str, str], end: str) -> None:
    output, calls = update(tmp_path, failing)
    assert calls["n1"][-1] == end
    assert calls["s1"][-2:] == ["systemd_service restarted", "etcd_member serving"], output
    assert calls["s1"][:2] == ["etcd_member drained"] * 2, "n1 may have waited for minutes: the first verdict is old"
    assert calls["n2"] == ["etcd_member unlocked"], "the lock of n1 blocks its repair and the timers"
    assert "the play goes on" not in output, output
    assert "The update ends here, because it failed on n1 (see above)" in output
    assert "s1: " not in output.split("PLAY RECAP")[0].replace("[s1]: ", ""), output
    if "etcd_wal_move" in failing.values():
        assert output.count('"msg": "n1: no space The member was started again with its old log."') == 1, output


def test_a_member_is_drained_after_it_waited_for_the_log_of_another_cluster(tmp_path: Path) -> None:
    output, calls = update(tmp_path, {"n2": "copy"}, moving=("n1",))
    order = (tmp_path / "calls").read_text().splitlines()
    drained = [number for number, call in enumerate(order) if call == "s1 etcd_member drained"]
    moved = order.index("n1 etcd_wal_move")
    assert len(drained) == 2 and drained[0] < moved < drained[1], order
    assert calls["n1"][:4] == [*["etcd_member drained"] * 2, "systemd_service stopped", "etcd_wal_move"], output
    assert calls["s1"].index("copy") == 2, "the files change directly after the drain"


def test_other_clusters_start_the_members_that_join(tmp_path: Path) -> None:
    output, calls = update(tmp_path, {"n1": "copy"}, joins=True)
    assert calls["n1"][-1] == "copy" and "etcd_membership learner" in calls["n1"], output
    assert calls["s1"][0] == "etcd_membership locked", "another play may have changed the member since the plan"
    assert calls["s1"][-1] == "etcd_member serving", output
    assert calls["n2"] == ["etcd_member unlocked"], "the lock of n1 blocks its repair and the timers"
    assert "the play goes on" not in output, output
    assert "The update ends here, because it failed on n1 (see above)" in output


@pytest.mark.parametrize(
    ("reporting", "reported"), [(["a1", "b1"], "a1 b1"), (["b1"], "b1"), ([], None)], ids=["both", "one", "none"]
)
def test_the_first_host_does_not_decide_on_the_report_of_others(
    tmp_path: Path, reporting: list[str], reported: str | None
) -> None:
    text = (ROLES / "etcd" / "tasks" / "report.yml").read_text()
    text = text.replace("etcdops.headroom.etcd_report:", "ansible.builtin.debug:")
    text = text.replace(
        'members: "{{ _etcd_report_members }}"',
        "msg: report of {{ _etcd_report_members | map(attribute='host') | join(' ') }}.",
    )
    (tmp_path / "report.yml").write_text(text)
    hosts = {
        name: {
            "ansible_connection": "local",
            "etcd_member": {"cluster": name[0], "name": name, "reports": name in reporting},
            "etcd_host_facts": {},
            "etcd_plan": {},
        }
        for name in ("a1", "b1")
    }
    tasks = [
        {"ansible.builtin.include_tasks": str(tmp_path / "report.yml")},
        {"ansible.builtin.fail": {"msg": "the end"}},
    ]
    output = play(tmp_path, hosts, {}, tasks)
    assert re.findall(r"report of ([^.]*)\.", output) == ([reported] if reported else []) and "the end" in output, (
        output
    )


def test_a_lock_that_cannot_be_released_does_not_hide_the_failure(tmp_path: Path) -> None:
    output, calls = update(tmp_path, {"n1": "copy", "n2": "etcd_member unlocked"})
    assert calls["n2"] == ["etcd_member unlocked"], output
    assert "The update ends here, because it failed on n1 (see above)" in output
    assert "the play goes on" not in output and re.search(r"n2 : .* failed=0 ", output), output


@pytest.mark.parametrize("fatal", [True, False], ids=["site.yml", "README"])
@pytest.mark.parametrize("failing", ["etcd_snapshot saved", "etcd_release flushed"], ids=["the backup", "the flush"])
def test_no_member_is_updated_after_a_failed_preparation_of_the_release(
    tmp_path: Path, failing: str, fatal: bool
) -> None:
    copy_tasks(tmp_path, [("etcd", name) for name in ("main", "update", "prepare_release", "back_up")], {"n1": failing})
    tasks = tmp_path / "roles" / "etcd" / "tasks"
    (tasks / "apply.yml").write_text(yaml.safe_dump([{"ansible.builtin.include_tasks": "update.yml"}]))
    text = (tasks / "back_up.yml").read_text()
    (tasks / "back_up.yml").write_text(text[: text.index("- name: Restore the snapshot")])
    (tasks / "update_step.yml").write_text(yaml.safe_dump([{"stub_etcd_member": {"state": "drained"}}]))
    clusters = {"n": ["n1", "n2"], "s": ["s1"]}
    variables = {
        "ansible_connection": "local",
        "etcd_plan": {},
        "_etcd_planned_version": "3.7.3",
        "etcd_version": "3.7.3",
        "etcd_release_check_enabled": True,
        "etcd_release_backup_dir": "/backups",
        "etcd_tls_staged": False,
        **dict.fromkeys(("etcd_endpoints", "etcd_tls_dir", "_etcd_newest_etcdctl", "_etcd_started_tools"), "x"),
        **{name: [] for name in ("_etcd_expired_hosts", "_etcd_unrestarted_hosts")},
        "_etcd_minor_version_changes": True,
        "_etcd_release_check": {"begun": False, "flush": True, "direction": "upgrade"},
        "_etcd_joins": False,
        "_etcd_membership": {},
        "_etcd_update_steps": 1,
        "_etcd_changed": False,
        "clusters": {
            name: {"state": "existing", "first_host": hosts[0], "members": hosts} for name, hosts in clusters.items()
        },
        "etcd_cluster": "{{ clusters[inventory_hostname[0]] }}",
    }
    hosts: dict[str, dict[str, Any]] = {
        name: {"_etcd_release_check": variables["_etcd_release_check"]} for name in ("n1", "n2", "s1")
    }
    role = {"ansible.builtin.import_role": {"name": str(tmp_path / "roles" / "etcd")}}
    output = play(tmp_path, hosts, variables, [role], fatal)
    assert failing in calls_by_host(tmp_path)["n1"], output
    assert "etcd_member drained" not in (tmp_path / "calls").read_text(), output
    assert "the play goes on" not in output, output
