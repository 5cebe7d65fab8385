# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks that start etcd, and examples of inventories."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import members_in

FLAGS = ["--listen-client-urls", "http://0.0.0.0:2379"]

URLS = "--listen-client-urls http://0.0.0.0:2379"

PLAYBOOK = """- hosts: etcd
  tasks:
    - get_url: {url: "https://github.com/etcd-io/etcd/releases/download/v3.4.15/etcd-v3.4.15-linux-amd64.tar.gz", dest: /tmp}
    - ansible.builtin.MODULE: STATE
"""


@pytest.mark.parametrize(
    ("module", "state", "starts"),
    [
        ("systemd", "{name: etcd.service, state: started}", True),
        ("service", "{name: etcd, enabled: true}", True),
        ("service", "name=etcd state=restarted", True),
        ("service", "{name: '{{ item }}', state: started}\n      loop: [etcd, kubelet]", True),
        ("service", "{name: '{{ item }}', state: started}\n      loop: [kubelet]", False),
        ("systemd", "{name: etcd.service, state: stopped}", False),
        ("systemd", "daemon_reload=yes", False),
    ],
)
def test_a_playbook_that_starts_the_service(module: str, state: str, starts: bool) -> None:
    found = members_in("etcd.yaml", PLAYBOOK.replace("MODULE", module).replace("STATE", state))
    assert [(member["format"], member["release"]) for member in found] == [("playbook", "3.4.15")] * starts


@pytest.mark.parametrize(
    ("task", "installs"),
    [
        ("file: {src: 'a/{{ item }}', dest: '/b/{{ item }}', state: link}\n  with_items: [etcd, etcdctl]", True),
        ("ansible.builtin.copy: {src: a/etcd, dest: /b/, remote_src: true}", True),
        ("ansible.builtin.copy: {src: 'a/{{ item }}', dest: /b/}\n  loop: [etcdctl]", False),
        ("ansible.builtin.file: {path: '/b/{{ item }}', state: directory}\n  loop: [etcd]", False),
    ],
)
def test_a_playbook_that_installs_the_program(task: str, installs: bool) -> None:
    download = "- get_url: {url: 'https://a/etcd/releases/download/v3.4.1/etcd-v3.4.1-linux-amd64.tar.gz', dest: /a}\n"
    found = members_in("etcd.yml", f"{download}- {task}\n")
    assert [member["release"] for member in found] == ["3.4.1"] * installs


def test_an_example_of_an_inventory_is_one() -> None:
    inventory = "all: {children: {etcd: {hosts: {a: {}}, vars: {etcd_version: v3.3.4}}}}\n"
    for path in ("inventory.yml.example", "hosts.yaml.dist"):
        assert read({path: inventory}).document["translated"] == {path: True}
    assert read({"inventory.yml": inventory, "x.yml.sample": "a: 1\n"}).document["translated"] == {}


def test_a_playbook_that_writes_its_unit() -> None:
    unit = "[Service]\\nExecStart=/usr/bin/etcd --name a --listen-client-urls https://a:2379\\n"
    text = f"""- hosts: etcd
  vars:
    etcd_version: 3.4.15
  tasks:
    - copy: {{dest: /etc/systemd/system/etcd.service, content: "{unit}"}}
    - systemd: {{name: etcd, state: started}}
"""
    found = [entry["contents"] for entry in read({"site.yml": text}).document["files"]]
    [member] = [contents["headroom_member"] for contents in found if isinstance(contents, dict)]
    assert (member["format"], member["release"]) == ("systemd unit", "3.4.15")


@pytest.mark.parametrize("module", ["docker_container", "community.docker.docker_container", "podman_container"])
@pytest.mark.parametrize("command", [f"etcd --name n1 {URLS}", ["etcd", "--name", "n1", *FLAGS]])
def test_a_task_that_starts_a_container(module: str, command: Any) -> None:
    options = {
        "image": "quay.io/coreos/etcd:v3.5.0",
        "command": command,
        "env": {"ETCD_SNAPSHOT_COUNT": 5000},
        "env_file": "/etc/a",
    }
    options |= {"volumes": ["/srv:/data"], "memory": "1g", "name": "etcd"}
    [member] = members_in("tasks.yml", str([{"name": "Run", module: options}]).replace("'", '"'))
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS] and member["mounts"] == ["/data"]
    assert member["environment"] == {"ETCD_SNAPSHOT_COUNT": "5000"} and member["limit"]["size"] == "1g"
    assert list(member["unknown"]) == ["env_file: /etc/a"]
    assert not members_in("tasks.yml", str([{module: {**options, "state": "absent"}}]).replace("'", '"'))


def test_tasks_that_run_and_write() -> None:
    tasks = f"""- command: /usr/bin/etcd --name n1 {URLS}
- lineinfile: {{path: /etc/default/etcd, line: ETCD_NAME=n2}}
- ansible.builtin.lineinfile:
    path: /etc/default/etcd
    line: 'ETCD_LISTEN_CLIENT_URLS="http://0.0.0.0:2379"'
- copy:
    dest: /etc/systemd/system/etcd.service
    content: |
      [Service]
      EnvironmentFile=/etc/default/etcd
      ExecStart=/usr/bin/etcd
"""
    found = {member["name"]: member for member in members_in("tasks.yml", tasks)}
    assert set(found) == {"n1", "n2"} and found["n2"]["format"] == "systemd unit" and not found["n2"]["unknown"]
    assert found["n2"]["where"]["ETCD_LISTEN_CLIENT_URLS"] == ["tasks.yml", 5]
    compose = f"services: {{db: {{image: 'quay.io/coreos/etcd:v3.5.0', command: 'etcd --name n1 {URLS}'}}}}\n"
    assert not members_in("compose.yml", compose), "the policies read it"
