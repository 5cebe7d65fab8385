# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of an inventory that count because of those around them. tests/policies/test_resolver.py compares whole inventories with Ansible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

GROUPS = "etcd: {hosts: {n1: , n2: }}\n"
HOSTS = "# the hosts\nn1 ansible_host=10.0.0.1 etcd_extra_config='{\"unsafe-no-fsync\": True}'\n\nn[2:3]\n"
UNGROUPED = {
    "ungrouped": {
        "hosts": {
            "n1": {"ansible_host": "10.0.0.1", "etcd_extra_config": {"unsafe-no-fsync": True}},
            "n[2:3]": {},
        }
    }
}


def contents(texts: dict[str, str]) -> dict[str, Any]:
    """Path → contents of each file that the policies get."""
    return {entry["path"]: entry["contents"] for entry in read(texts).document["files"]}


@pytest.mark.parametrize(
    "beside",
    [
        {"inv/groups.yml": GROUPS},
        {"inv/groups": "[etcd]\nn1\n"},
        {"inv/group_vars/all.yml": "etcd_group: all\n"},
        {"inv/host_vars/n1": "etcd_version: 3.6.16\n"},
        {"groups.yml": GROUPS},
    ],
)
def test_list_of_hosts_in_the_folder_of_an_inventory(beside: dict[str, str]) -> None:
    reading = read({"inv/00-hosts": HOSTS, **beside})
    assert {"path": "inv/00-hosts", "contents": UNGROUPED} in reading.document["files"]
    assert reading.document["translated"]["inv/00-hosts"] is True and reading.passed_over == {}


@pytest.mark.parametrize(
    ("text", "is_yaml"),
    [
        ("n1 etcd_workload='{\"keys\": 5}'\n", True),
        ("n1 etcd_workload='{\"keys\": 5}'\nn2\n", False),
        ("n1 etcd_workload='{\"keys\":5}'\n", False),
    ],
)
def test_list_of_hosts_that_ansible_reads_as_yaml(text: str, is_yaml: bool) -> None:
    """Ansible tries YAML before INI, and then takes the line for a group without hosts."""
    reading = read({"inv/hosts": text, "inv/etcd.yml": "etcd:\n  hosts: {n2: {}}\n"})
    assert ("finds no hosts" in reading.document["unparsed"].get("inv/hosts", "")) == is_yaml
    assert ("inv/hosts" in [entry["path"] for entry in reading.document["files"]]) != is_yaml


@pytest.mark.parametrize(
    ("path", "text", "beside"),
    [
        # Without an inventory around it, a text with one word in each line may be anything.
        ("inv/hosts", HOSTS, {"other/groups.yml": GROUPS}),
        ("inv/hosts", HOSTS, {"inv/tasks.yml": "- hosts: etcd\n"}),
        ("inv/hosts", "127.0.0.1 localhost\n", {"inv/groups.yml": GROUPS}),
        ("inv/hosts", "# none\n", {"inv/groups.yml": GROUPS}),
        # Ansible reads no inventory from these.
        ("inv/.hosts", HOSTS, {"inv/groups.yml": GROUPS}),
        ("inv/hosts.txt", HOSTS, {"inv/groups.yml": GROUPS}),
        ("inv/roles/a/files/hosts", HOSTS, {"inv/groups.yml": GROUPS}),
        ("inv/group_vars/etcd/hosts.cfg", HOSTS, {"inv/groups.yml": GROUPS}),
    ],
)
def test_text_that_is_no_list_of_hosts(path: str, text: str, beside: dict[str, str]) -> None:
    reading = read({path: text, **beside})
    assert path not in reading.document["translated"]
    assert reading.passed_over[path] == "it configures no etcd"


@pytest.mark.parametrize(
    ("path", "text", "variables"),
    [
        ("inv/group_vars/etcd/vault.yml", "---\n# secrets\n", {}),
        ("inv/group_vars/etcd/empty.json", "null", {}),
        ("inv/group_vars/etcd/.gitkeep", "", {}),
        ("inv/group_vars/etcd/README.md", "# Variables\n", {}),
        ("inv/host_vars/n1/.gitkeep", "a: 1\n", {}),
        ("inv/host_vars/n1/a.txt", "a: 1\n", {}),
        ("inv/host_vars/n1.example.com", "# text\na: 1\n", {"a": 1}),
        ("inv/host_vars/n1.example.com", "a: [\n", {}),
        ("inv/host_vars/n1.example.com/plain", "a: 1\n", {"a": 1}),
    ],
)
def test_file_that_hides_others(path: str, text: str, variables: dict[str, Any]) -> None:
    """Of NAME and NAME.yml, Ansible reads only the first, even if it is empty."""
    found = contents({path: text, "inv/groups.yml": GROUPS, "inv/group_vars/etcd.yml": "etcd_version: 3.5.1\n"})
    assert found[path] == variables


def test_line_of_a_variable_of_a_host_with_dots_in_its_name() -> None:
    path = "inv/host_vars/n1.example.com"
    reading = read({path: "# text\netcd_version: 3.5.1\n", "inv/groups.yml": GROUPS})
    assert reading.document["lines"][path]["words"]["etcd_version"] == [2]
    assert reading.passed_over == {}


VAULT = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
DOTTED = {"inv/groups.yml": "etcd: {hosts: {n1: , 'n[2:3].example.com': }}\n"}


@pytest.mark.parametrize(
    "path", ["inv/host_vars/n2.example.com", "inv/host_vars/n2.example.com/vault", "inv/host_vars/n1"]
)
def test_encrypted_variables_of_a_host(path: str) -> None:
    """The policies report them as encrypted."""
    reading = read({path: VAULT, **DOTTED})
    assert {"path": path, "contents": VAULT} in reading.document["files"]
    assert reading.passed_over == {} and reading.document["unparsed"] == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [\n", "line 2 is not valid YAML: did not find expected node content"),
        ("key = value\n", "not a mapping, which Ansible refuses"),
        ("- a\n", "not a mapping, which Ansible refuses"),
    ],
)
@pytest.mark.parametrize("path", ["inv/host_vars/n2.example.com", "inv/host_vars/n2.example.com/x", "inv/host_vars/n1"])
def test_variables_of_a_host_that_ansible_refuses(path: str, text: str, why: str) -> None:
    reading = read({path: text, **DOTTED})
    assert reading.document["unparsed"] == {path: why}
    assert reading.passed_over == {}


@pytest.mark.parametrize("text", ["a: --quota-backend-bytes=1\n", "a: {ETCD_LISTEN_CLIENT_URLS: b}\n"])
def test_variables_that_mention_a_setting_of_etcd(text: str) -> None:
    """The file was read in full."""
    assert read({"inv/host_vars/n2.example.com": text, **DOTTED}).document["unparsed"] == {}


@pytest.mark.parametrize("text", ["# Variables\nOf [each host\n", "Of each host\n", "- a\n"])
@pytest.mark.parametrize("name", ["README.md", "README", "n4_example.com"])
def test_file_of_no_host(name: str, text: str) -> None:
    """Ansible does not open it."""
    reading = read({f"inv/host_vars/{name}": text, **DOTTED})
    assert reading.document["unparsed"] == {}


INVENTORY = {"all": {"children": {"etcd": {"hosts": {"n1": {"etcd_version": "3.5.1"}}}}}}


@pytest.mark.parametrize("beside", [{}, {"inv/web.yml": "etcd: {hosts: {n2: }}\n"}, {"other/x": "n1\n"}])
@pytest.mark.parametrize("text", [json.dumps(INVENTORY), yaml.safe_dump(INVENTORY), f"# hosts\n---\n{INVENTORY}\n"])
def test_inventory_in_yaml_or_json_without_an_ending(text: str, beside: dict[str, str]) -> None:
    reading = read({"inv/hosts": text, **beside})
    assert {"path": "inv/hosts", "contents": INVENTORY} in reading.document["files"]
    assert reading.document["translated"]["inv/hosts"] is True and "inv/hosts" not in reading.passed_over
    assert "etcd_version" in reading.document["lines"]["inv/hosts"]["words"]


def test_variables_of_a_group_in_an_inventory_without_an_ending() -> None:
    text = "web:\netcd: {vars: {etcd_extra: --quota-backend-bytes=1}}\n"
    reading = read({"inv/vars": text, "inv/groups.yml": GROUPS})
    assert reading.document["translated"] == {"inv/vars": True} and reading.document["unparsed"] == {}


def test_broken_inventory_without_an_ending() -> None:
    text = "all:\n  hosts:\n    n1:\n      etcd_version: 3.5.1\n      a: b: c\n"
    reading = read({"inv/hosts": text, "inv/groups.yml": GROUPS})
    assert reading.document["unparsed"]["inv/hosts"].startswith("line 5 is not valid YAML")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("inv/hosts.cfg", "all: {hosts: {n1: }}\n"),
        ("inv/hosts.txt", "all: {hosts: {n1: }}\n"),
        ("inv/.hosts", "all: {hosts: {n1: }}\n"),
        ("inv/roles/a/files/hosts", "all: {hosts: {n1: }}\n"),
        ("inv/program", "print: {hosts: [1]\n"),
        ("inv/program", "hosts: [a]\nvars: {a: 1}\n"),
        ("inv/program", "- vars: {a: 1}\n"),
    ],
)
def test_document_that_is_no_inventory(path: str, text: str) -> None:
    reading = read({path: text, "inv/groups.yml": GROUPS})
    assert reading.document["translated"] == {} and reading.passed_over == {path: "it configures no etcd"}


def test_one_file_of_variables_hides_nothing() -> None:
    assert contents({"group_vars/etcd.yml": "---\n"}) == {}


@pytest.mark.parametrize("file", ["", "x.bak"])
def test_empty_folder_hides_a_file(tmp_path: Path, file: str) -> None:
    (tmp_path / "group_vars" / "etcd").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    if file:
        (tmp_path / "group_vars" / "etcd" / file).write_text("a: 1\n", encoding="utf-8")
    (tmp_path / "groups.yml").write_text(GROUPS, encoding="utf-8")
    (tmp_path / "group_vars" / "etcd.yml").write_text("etcd_version: 3.5.1\n", encoding="utf-8")
    entries = gather([str(tmp_path)]).document["files"]
    assert {"path": f"{tmp_path}/group_vars/etcd/.empty", "contents": {}} in entries
    assert len(entries) == 3
