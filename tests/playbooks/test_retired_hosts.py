# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the playbooks scale and replace retire: those of the members that etcd_scale_remove names, by name or by id; and what is left of the timers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

PROJECT = Path(__file__).resolve().parents[2]
PLAYBOOK = PROJECT / "playbooks" / "_members.yml"
ROLE = PROJECT / "roles" / "etcd"
GIVEN = [["etcd-4", "etcd-5"], "etcd-4,etcd-5", "etcd-4, etcd-5", None]
LEARNER, MEMBER, CLUSTER = "6d3c0aa95f2b7c11", "8e9e05c52164694d", "cdf818194e3a8c32"


def play_of_playbook(name: str = "Retire the hosts of removed members") -> tuple[DataLoader, Any, Any]:
    """Return the loader, and a play with the task that enters the role."""
    loader = DataLoader()
    plays = loader.load_from_file(str(PLAYBOOK), trusted_as_template=True)
    play = next(play for play in plays if play["name"] == name)
    return loader, play, play["tasks"][0]


@pytest.mark.parametrize("given", GIVEN, ids=["a list", "commas", "commas and blanks", "not set"])
def test_the_names_are_read_as_the_plan_reads_them(given: Any) -> None:
    loader, play, _task = play_of_playbook()
    variables = {} if given is None else {"etcd_scale_remove": given}
    found = Templar(loader=loader, variables=variables).template(play["vars"]["etcd_retire"])
    assert found == ([] if given is None else ["etcd-4", "etcd-5"])


def holds(templar: Templar, conditions: list[Any]) -> bool:
    """Evaluate conditions as Ansible does: in their order, up to the first that is false."""
    return all(templar.evaluate_conditional(condition) for condition in conditions)


@pytest.mark.parametrize(
    "folder",
    ["identity", "other_identity"],
    ids=["in etcd_data_dir", "in the folder that its variables named before it left the group"],
)
@pytest.mark.parametrize(
    ("given", "host", "identity", "retired"),
    [
        (["etcd-5"], "etcd-5", LEARNER, True),
        (["etcd-5"], "etcd-4", LEARNER, False),
        # A learner that has not started yet has no name, so that it is removed by its id; its host may hold its data by now.
        ([LEARNER], "etcd-5", LEARNER, True),
        ([LEARNER], "app-1", None, False),
        ([LEARNER], "etcd-4", MEMBER, False),
        ([LEARNER, "etcd-4"], "etcd-4", MEMBER, True),
        # The host lost the etcd_name of its group.
        (["etcd-5"], "etcd-5.example.com", LEARNER, True),
        (["etcd-5"], "app-5.example.com", LEARNER, False),
    ],
)
def test_hosts_are_retired_by_the_name_or_the_id_of_their_member(
    given: list[str], host: str, identity: str | None, retired: bool, folder: str
) -> None:
    loader, play, task = play_of_playbook()
    variables = {
        **loader.load_from_file(str(ROLE / "vars" / "main" / "update.yml"), trusted_as_template=True),
        **play["vars"],
        "ansible_check_mode": False,
        "inventory_hostname": host,
        "inventory_hostname_short": host.partition(".")[0],
        "etcd_retire": given,
        "groups": {"etcd_targets": ["etcd-1"]},
        "hostvars": {
            "etcd-1": {"etcd_host_facts": {"etcd": {"cluster": {"id": CLUSTER, "members": [{"id": "beef"}]}}}}
        },
    }
    entered = holds(Templar(loader=loader, variables=variables), task["when"])
    found = {"member_id": identity, "cluster_id": CLUSTER} if identity else None
    member = {
        "present": folder == "identity" and bool(identity),
        "identity": None,
        "other_data_dir": None,
        folder: found,
    }
    if folder == "other_identity" and identity:
        member["other_data_dir"] = "/data/etcd"
    variables |= {"etcd_name": host, "etcd_host_facts": {"member": member}, "etcd_data_dir": "/var/lib/etcd/data"}
    tasks = loader.load_from_file(str(ROLE / "tasks" / "retire.yml"), trusted_as_template=True)
    [retire] = [task for task in tasks if task["name"] == "Retire the host"]
    templar = Templar(loader=loader, variables=variables)
    assert (entered and holds(templar, retire["when"])) is retired
    [report] = [task for task in tasks if task["name"] == "Report that the host stays unchanged"]
    said = templar.template(report["ansible.builtin.debug"]["msg"])
    why = (
        "its data does not belong to a member that was removed" if identity else "it has no data in /var/lib/etcd/data"
    )
    assert said.startswith(f"{host} stays unchanged: {why}")
    if retired:
        aside = next(task for task in retire["block"] if task["name"] == "Move the data aside")["vars"]["_etcd_aside"]
        member["wal_dirs"] = []
        assert templar.template(aside) == ("/data/etcd" if folder == "other_identity" else "/var/lib/etcd/data")


def check_retirement(folder: Path, hosts: dict[str, Any], removed: list[str], members: list[str]) -> str:
    """Check the hosts of members to remove, as _members.yml does before it removes them; return the output with single blanks.

    hosts: their variables. removed, members: ids, in the plan of a run and in the answer of its cluster.
    """
    _loader, play, _task = play_of_playbook("Check the hosts of members to remove")
    answer = {"id": CLUSTER, "members": [{"id": member} for member in members]}
    targets = {
        "etcd-1": {
            "etcd_host_facts": {"etcd": {"cluster": answer}},
            "etcd_clusters": {"etcd": {"membership": {"removes": [{"id": member} for member in removed]}}, "other": {}},
        }
    }
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    groups = {"all": {"vars": local, "children": {"etcd_targets": {"hosts": targets}, "others": {"hosts": hosts}}}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(groups))
    tasks = yaml.safe_load(PLAYBOOK.read_text())
    [found] = [one for one in tasks if one["name"] == play["name"]]
    enter = {"ansible.builtin.include_tasks": str(ROLE / "tasks" / "check_retirement.yml")}
    [task] = found["tasks"]
    found |= {"become": False, "vars_files": [str(ROLE / "vars" / "main" / "update.yml")]}
    found["tasks"] = [{"name": task["name"], "when": task["when"], "vars": {"etcd_name": NAME}, **enter}]
    after = {
        "name": "Go on",
        "hosts": "all",
        "gather_facts": False,
        "tasks": [{"ansible.builtin.debug": {"msg": "goes on"}}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([found, after]))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml"), "-e"]
    command.append(json.dumps({"etcd_scale_remove": ["etcd-5", "etcd-6"]}))
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


# As the role has it, for a host without the variable.
NAME = "{{ inventory_hostname }}"


def test_a_member_is_not_removed_if_its_host_cannot_be_retired(tmp_path: Path) -> None:
    """The folders of the host cannot be renamed, so its data cannot be moved aside: the run ends before the member is removed."""
    facts = {
        "identity": {"member_id": MEMBER, "cluster_id": CLUSTER},
        "other_data_dir": None,
        "wal_dirs": [],
        "mount_points": ["/srv/etcd"],
    }
    host = {"etcd_data_dir": "/srv/etcd", "etcd_host_facts": {"member": facts}}
    output = check_retirement(tmp_path, {"etcd-5": host, "app-1": {}}, [MEMBER], [MEMBER, LEARNER])
    assert "etcd-5: /srv/etcd is a mount point and cannot be renamed" in output, output
    assert (
        "set etcd_data_dir of this host to that folder. Nothing was changed." in output and "goes on" not in output
    ), output
    # Its data is of a member that stays, and is not touched. The former data dir of the other host can be renamed.
    former = {**facts, "other_data_dir": "/data/etcd"}
    hosts = {"etcd-5": host, "etcd-6": {**host, "etcd_host_facts": {"member": former}}}
    output = check_retirement(tmp_path, hosts, [], [MEMBER])
    assert "goes on" in output and "failed=1" not in output, output
    hosts["etcd-5"] = {**host, "etcd_data_dir": "/srv/etcd/data"}
    output = check_retirement(tmp_path, hosts, [MEMBER], [MEMBER])
    assert "goes on" in output and "failed=1" not in output, output


@pytest.mark.parametrize("given", ["etcd-5", LEARNER])
def test_a_host_that_cannot_be_reached_stays_unchanged(tmp_path: Path, given: str) -> None:
    """The play goes on with it, but without facts. Only a host that the request names is reported."""
    targets = {"etcd-1": {"etcd_host_facts": {"etcd": {"cluster": {"id": CLUSTER, "members": [{"id": MEMBER}]}}}}}
    groups = {"all": {"children": {"etcd_targets": {"hosts": targets}, "others": {"hosts": {"etcd-5": {}}}}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(groups))
    play = {
        "hosts": "others",
        "gather_facts": False,
        "vars_files": [str(ROLE / "vars" / "main" / "update.yml")],
        "vars": {
            "etcd_retire": [given],
            "etcd_name": "{{ inventory_hostname }}",
            "etcd_data_dir": "/data",
            "etcd_host_facts": {"etcd": {}},
        },
        "tasks": [{"ansible.builtin.include_tasks": str(ROLE / "tasks" / "retire.yml")}],
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-c", "local", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("etcd-5 cannot be reached, so it stays unchanged" in done.stdout) == (given == "etcd-5"), done.stdout
    assert "changed=0" in done.stdout


def test_a_removed_member_without_a_known_host_is_named(tmp_path: Path) -> None:
    """Its machine may still run etcd. The hosts lost the variables of the group that they left."""
    plays = yaml.safe_load(PLAYBOOK.read_text())
    [play] = [one for one in plays if one["name"] == "Retire the hosts of removed members"]
    play |= {"become": False, "tasks": play["tasks"][1:]}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    removes = [{"name": "etcd-4", "id": MEMBER}, {"name": "etcd-5", "id": LEARNER}]
    targets = {"etcd-1": {"etcd_clusters": {"etcd": {"membership": {"removes": removes}}}}}
    others = {"etcd-5.example.com": {}, "app-1": {"etcd_name": "{{ 'web' }}"}}
    groups = {"all": {"children": {"etcd_targets": {"hosts": targets}, "others": {"hosts": others}}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(groups))
    command = ["ansible-playbook", "-c", "local", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "play.yml"), "-e"]
    command.append(json.dumps({"etcd_scale_remove": ["etcd-4", "etcd-5"]}))
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"No host of this run is known as that of etcd-4 ({MEMBER}). If the machine" in done.stdout, done.stdout


@pytest.mark.parametrize("installed", ["with metrics", "without metrics", "never"])
def test_the_timers_stop_and_the_metrics_are_removed(tmp_path: Path, installed: str) -> None:
    """The metrics are where the installed configuration says, also if the inventory has no or another directory by now."""
    units, metrics = tmp_path / "units", tmp_path / "textfile" / "headroom.prom"
    metrics.parent.mkdir()
    units.mkdir()
    metrics.write_text("")
    config = tmp_path / "maintenance.json"
    if installed != "never":
        (units / "headroom-defrag.timer").write_text("")
        (units / "headroom-drill.timer").write_text("")
        config.write_text(json.dumps({"metrics_dir": str(metrics.parent) if installed == "with metrics" else ""}))
    program = tmp_path / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\n')
    program.chmod(0o755)
    text = (PROJECT / "roles" / "etcd_maintenance" / "tasks" / "retire.yml").read_text()
    text = text.replace("/etc/systemd/system", str(units)).replace("/etc/etcd/maintenance.json", str(config))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    play = {"hosts": "localhost", "gather_facts": False, "environment": environment, "tasks": yaml.safe_load(text)}
    play["vars"] = {"ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-c", "local", "-i", "localhost,", str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    disabled = [f"disable --now headroom-{name}.timer" for name in ("defrag", "drill")]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == [*(disabled if installed != "never" else []), "stop headroom-*.service"]
    assert metrics.exists() == (installed != "with metrics")
