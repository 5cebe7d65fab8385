# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What replace.yml concludes from the comparison of the members. Without hosts and etcd."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]


def record(cluster: str, *compared: str, **unknown: str) -> dict[str, Any]:
    """Return the record of a host: of the leader's if members were compared."""
    comparison = {"hashes": dict.fromkeys(compared, "5cfb9c9d"), "unknown": unknown}
    return {
        "cluster": cluster,
        "result": "done" if compared else "skipped",
        "reason": "the majority agrees" if compared else "another host compares",
        **({"comparison": comparison} if compared else {}),
    }


# The record of each host. Of the clusters only west compares nothing, because its leader moved during the comparison.
RECORDS = {
    "north-1": record("north", "north-1", "north-2"),
    "north-2": record("north"),
    "south-1": record("south", "south-1", "south-3", second="returned no status"),
    "south-2": record("south"),
    "west-1": record("west"),
    "west-2": record("west"),
}
HOSTS: dict[str, dict[str, str]] = {**{name: {} for name in RECORDS}, "south-2": {"etcd_name": "second"}}


def test_a_replaced_member_must_have_been_compared(tmp_path: Path) -> None:
    for name, found in RECORDS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    program = tmp_path / "headroom"
    program.write_text(f'#!/bin/sh\necho run >> "{tmp_path}/$MEMBER.runs"\ncat "{tmp_path}/$MEMBER.json"\n')
    program.chmod(0o755)
    (*_others, compared) = yaml.safe_load((PROJECT / "playbooks" / "replace.yml").read_text())
    text = yaml.safe_dump(compared["tasks"][1:]).replace("/usr/local/sbin/headroom", str(program))
    compared["tasks"] = yaml.safe_load(text.replace("delay: 5", "delay: 0"))
    play = {**compared, "hosts": "all", "become": False, "environment": {"MEMBER": "{{ inventory_hostname }}"}}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    given = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": HOSTS, "vars": given}}))
    command = ["ansible-playbook", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "play.yml")]
    command += ["-e", json.dumps({"etcd_replace": "north-2, second,west-1"})]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    output = re.sub(r"\s+", " ", done.stdout)
    failed = dict(re.findall(r'fatal: \[([^]]+)\]: FAILED! => \{[^}]*"msg": "([^"]*)"', output))
    assert failed == {
        "south-2": "second was replaced, but its keys were not compared with those of other members: returned no status. "
        "Run `headroom integrity` on each host of the cluster until it compares it.",
        "west-1": "west-1 was replaced, but its keys were not compared with those of other members: no host compared the members, "
        "because the leader changed. Run `headroom integrity` on each host of the cluster until it compares it.",
    }, output + done.stderr
    assert (tmp_path / "south-1.runs").read_text().count("run") > 1, "the new member gets some time"
    assert (tmp_path / "north-1.runs").read_text().count("run") == 1
