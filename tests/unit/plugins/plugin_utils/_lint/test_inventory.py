# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The linter's input: values, templates, the document and waiver files."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inventory import (
    ENCRYPTED,
    inventory_document,
    is_unresolved,
    resolve_variables,
    to_json,
    variable_files,
    waiver_files,
)


class Text(str):
    """A subclass of str, as Ansible uses for tagged text."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (0.5, 0.5),
        # JSON has no such numbers.
        ([float("nan"), float("inf"), float("-inf")], ["nan", "inf", "-inf"]),
        ("a", "a"),
        (Text("a"), "a"),
        ({"a": {1: Text("b")}}, {"a": {"1": "b"}}),
        ((1, [2]), [1, [2]]),
        (datetime.date(2026, 1, 1), "2026-01-01"),
        (b"secret", ENCRYPTED),
    ],
)
def test_to_json_converts_values_of_ansible(value: Any, expected: Any) -> None:
    assert to_json(value) == expected
    assert type(to_json(value)) is type(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", False),
        (5, False),
        ("{{ a }}", True),
        ("{% if a %}b{% endif %}", True),
        (["a", {"b": "{{ c }}"}], True),
        ({"a": [1, "b"]}, False),
        (object(), True),
    ],
)
def test_unresolved_values_contain_templates(value: Any, expected: bool) -> None:
    assert is_unresolved(value) is expected


def test_templates_are_resolved_and_connection_variables_dropped() -> None:
    def template(name: str) -> str:
        if name == "etcd_later":
            raise KeyError("fact that was not gathered")
        return "2GB"

    variables = {
        "etcd_version": "3.7.3",
        "etcd_memory_budget": "{{ budget }}",
        "etcd_later": "{{ ansible_facts.memtotal_mb }}MB",
        "ansible_password": "secret",
        "playbook_dir": "/somewhere",
    }
    assert resolve_variables(variables, template, ["playbook_dir"]) == {
        "etcd_version": "3.7.3",
        "etcd_memory_budget": "2GB",
        "etcd_later": "{{ ansible_facts.memtotal_mb }}MB",
    }


def test_inventory_document_has_the_format_of_ansible_inventory() -> None:
    assert inventory_document({"n1": {"a": 1}}, {"all": ["n1"], "etcd": ["n1"]}) == {
        "_meta": {"hostvars": {"n1": {"a": 1}}},
        "all": {"hosts": ["n1"]},
        "etcd": {"hosts": ["n1"]},
    }


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (["inventory"], ["inventory/.waivers.yml"]),
        (["site/hosts.ini"], ["site/waivers.yml"]),
        (["inventory", "site/hosts.ini", "inventory"], ["inventory/.waivers.yml", "site/waivers.yml"]),
        (["n1,n2,"], []),
        ([], []),
    ],
)
def test_waiver_files_of_folders_and_inventory_files(sources: list[str], expected: list[str]) -> None:
    files = {"inventory/.waivers.yml", "inventory/hosts.yml", "site/hosts.ini", "site/waivers.yml"}
    assert waiver_files(sources, files.__contains__) == expected


def test_variable_files_of_folders_and_beside_inventory_files() -> None:
    below = {
        "inventory": ["inventory/group_vars/etcd.yml", "inventory/hosts.yml"],
        "site/group_vars": ["site/group_vars/all.yml"],
        "site/host_vars": ["site/host_vars/n1.yml"],
    }
    found = variable_files(
        ["inventory", "site/hosts.yml", "n1,n2,"], {"site/hosts.yml"}.__contains__, lambda path: below.get(path, [])
    )
    assert found == [*below["inventory"], "site/hosts.yml", *below["site/group_vars"], *below["site/host_vars"]]
