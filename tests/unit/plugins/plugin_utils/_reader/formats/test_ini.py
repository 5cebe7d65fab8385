# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""INI inventories."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats.ini import read_inventory
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Unparsed


def test_inventory() -> None:
    text = """h1 ansible_port=22 # a comment
[etcd]
n1 etcd_name=a
n[2:3] flag=True number=5 text=yes quoted="5"
[etcd:vars]
etcd_version = 3.6.1
etcd_workload={"value_size": "10KB"}
[all:children]
etcd
[other]
n1 etcd_name=b
"""
    document = read({"hosts": text}).document
    (entry,) = document["files"]
    assert document["translated"] == {"hosts": True}
    assert document["lines"]["hosts"]["words"]["etcd_version"] == [6]
    assert entry["contents"] == {
        "ungrouped": {"hosts": {"h1": {"ansible_port": 22}}},
        "etcd": {
            # The last assignment in the file counts.
            "hosts": {"n1": {"etcd_name": "b"}, "n[2:3]": {"flag": True, "number": 5, "text": "yes", "quoted": 5}},
            "vars": {"etcd_version": "3.6.1", "etcd_workload": {"value_size": "10KB"}},
        },
        "all": {"children": {"etcd": {}}},
        "other": {"hosts": {"n1": {"etcd_name": "b"}}},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[etcd:hosts:x]\n", "line 1: '[etcd:hosts:x]' is not a section"),
        ("[etcd:more]\n", "line 1: [etcd:more] is not a section"),
        ("[etcd]\nansible_port=1\n", "line 2: expected NAME=VALUE after the host, found 'ansible_port=1'"),
        ("[etcd]\nn1 port\n", "line 2: expected NAME=VALUE after the host, found 'port'"),
        ("[etcd]\nn1 a='b\n", "line 2: No closing quotation"),
        ("[etcd:vars]\nx\n", "line 2: expected NAME=VALUE, found 'x'"),
    ],
)
def test_refused_inventory(text: str, reason: str) -> None:
    with pytest.raises(Unparsed) as refused:
        read_inventory(text)
    assert reason in str(refused.value)
    # Any configuration with sections looks like an inventory: it is passed over, with the reason.
    assert reason in read({"some.cfg": text}).passed_over["some.cfg"]


def test_a_variable_above_the_first_section() -> None:
    # Ansible lists a host A=1, and reads the sections.
    assert read_inventory("A=1\nB=2\n[etcd]\nn1\n") == {
        "ungrouped": {"hosts": {"A=1": {}, "B=2": {}}},
        "etcd": {"hosts": {"n1": {}}},
    }


@pytest.mark.parametrize("path", ["recipes/etcd.rb", "manifests/etcd.pp"])
def test_a_program_is_no_inventory(path: str) -> None:
    text = "%w[\n  a\n]\n[node['etcd']['user']].each do |user|\n  user user\nend\n"
    assert read({path: text}).passed_over[path].startswith("headroom-lint does not read this programming language")
