# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents with Ansible's types, the lines of their keys, and texts inside them."""

from __future__ import annotations

import json

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import member_in, members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"


@pytest.mark.parametrize("style", [">", "|", ">-"])
@pytest.mark.parametrize("origin", ["image: etcd:v3.5.1", "build: ."])
def test_the_policies_read_the_command_of_a_service(style: str, origin: str) -> None:
    text = f"services:\n  etcd:\n    {origin}\n    command: {style}\n      etcd --name a\n      {URLS}\n"
    assert members_in("compose.yml", text) == []


IGNITION = {
    "ignition": {"version": "2.0.0"},
    "systemd": {"units": [{"name": "etcd.service", "contents": f"[Service]\nExecStart=etcd --name a {URLS}\n"}]},
}


@pytest.mark.parametrize("path", ["node.ign.json", "node.ign.tpl"])
def test_texts_in_json(path: str) -> None:
    text = json.dumps(IGNITION, indent=1)
    found = member_in(path, text)
    assert found["name"] == "a"
    assert found["where"]["--name"][1] == next(n for n, line in enumerate(text.splitlines(), 1) if "ExecStart" in line)


LOOP = """- lineinfile: {path: /etc/etcd.conf, line: "{{ item.key }}={{ item.value }}"}
  loop:
    - {key: ETCD_LISTEN_CLIENT_URLS, value: "http://0.0.0.0:2379"}
    - {name: ETCD_NAME, value: a}
    - {name: PATH, value: /bin}
"""


def test_the_items_of_a_loop() -> None:
    found = member_in("tasks.yml", LOOP)
    assert found["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "ETCD_NAME": "a"}
    assert found["where"]["ETCD_NAME"] == ["tasks.yml", 4]


DOCUMENTS = """# a comment
---
services:
  etcd:
    image: quay.io/coreos/etcd:v3.5.1
    command:
      - etcd
      - --snapshot-count=5
  other:
    command: etcd --snapshot-count=6
---
secret: !vault |
  $ANSIBLE_VAULT;1.1
when: 2024-01-01
text: !unsafe "{{ x }}"
1: yes
extraArgs:
  - name: quota-backend-bytes
    value: "0"
"""


def test_documents() -> None:
    document = read({"compose.yml": DOCUMENTS}).document
    first, second = (entry["contents"] for entry in document["files"])
    assert first["services"]["other"]["command"] == "etcd --snapshot-count=6"
    assert second["secret"] == {"__ansible_vault": "$ANSIBLE_VAULT;1.1\n"}
    assert second["text"] == {"__ansible_unsafe": "{{ x }}"}
    assert second["when"] == "2024-01-01" and second["1"] is True
    index = document["lines"]["compose.yml"]
    assert index["words"]["snapshot-count"] == [8, 10]
    assert index["words"]["quota-backend-bytes"] == [18]
    assert index["scopes"]["other"] == [[9, 10]]
    first_line, last_line = index["scopes"]["etcd"][0]
    assert first_line == 4 and last_line == 8


def test_scopes_of_aliases() -> None:
    text = """x-common: &common
  image: etcd
  environment: &env
    ETCD_NAME: a
x-flags: &flags [--name=a]
one:
  <<: *common
  tty: true
two:
  environment: *env
  command: *flags
three: *common
"""
    scopes = read({"compose.yml": text}).document["lines"]["compose.yml"]["scopes"]
    assert scopes["one"] == [[6, 8], [2, 2], [3, 4]]
    assert scopes["two"] == [[9, 11], [3, 4], [5, 5]]
    assert scopes["three"] == [[12, 12], [1, 4]]
