# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The diff that the values of findings lead to."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import Finding
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.suggest import suggest

GROUPS = {"all": ["e1", "e2", "db"], "etcd": ["e1", "e2"], "blue": ["e1"], "green": ["e1"]}


def finding(hosts: tuple[str, ...] = ("e1", "e2"), **values: Any) -> Finding:
    return Finding(True, "topic/rule", hosts, "it is so", values)


def lines(files: dict[str, str], found: Finding, variables: dict[str, Any]) -> list[str]:
    """Return the changed lines of the diff, for hosts with the same variables."""
    diff = suggest([found], files, dict.fromkeys(("e1", "e2"), variables), GROUPS).diff
    return [line for line in diff if line[0] in "+-" and not line.startswith(("+++", "---"))]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("inventory/group_vars/etcd.yml", "# why\netcd_version: 3.6.4 # old\nother: 1\n"),
        ("inventory/group_vars/etcd/main.yml", "etcd_version: 3.6.4 # old"),
        ("inventory/hosts.yml", "etcd:\n  hosts: {e1: , e2: }\n  vars:\n    etcd_version: 3.6.4 # old\n"),
        ("hosts.yml", "all: {children: {etcd: {vars: {x: 1,\n    etcd_version: 3.6.4 # old\n}}}}"),
    ],
)
def test_where_a_group_sets_it(path: str, text: str) -> None:
    found = lines({path: text}, finding(etcd_version="3.6.16"), {"etcd_version": "3.6.4"})
    assert [line.split(":", 1)[1] for line in found] == [" 3.6.4 # old", " 3.6.16 # old"]


def test_the_diff_names_the_file() -> None:
    diff = suggest(
        [finding(a=1)], {"i/group_vars/etcd.yml": "a: 2\nb: 3\n"}, {"e1": {"a": 2}, "e2": {"a": 2}}, GROUPS
    ).diff
    assert diff == [
        "--- a/i/group_vars/etcd.yml",
        "+++ b/i/group_vars/etcd.yml",
        "@@ -1,2 +1,2 @@",
        "-a: 2",
        "+a: 1",
        " b: 3",
    ]


@pytest.mark.parametrize(
    ("written", "resolved", "value", "expected"),
    [
        ("'3.6.4'", "3.6.4", "3.6.16", "'3.6.16'"),
        ('"v3.6.4"', "v3.6.4", "3.6.16", '"v3.6.16"'),
        ("true", True, False, "false"),
        ("'true'", "true", False, "'false'"),
        ("8G", "8G", 8589934592, "8589934592"),
        ("5", 5, "5h", "5h"),
        ("3.6.4", "3.6.4", "3.10", '"3.10"'),
    ],
)
def test_the_style_of_the_scalar_stays(written: str, resolved: Any, value: Any, expected: str) -> None:
    found = lines({"group_vars/etcd.yml": f"a: {written}\n"}, finding(a=value), {"a": resolved})
    assert found == [f"-a: {written}", f"+a: {expected}"]


def test_a_part_of_a_mapping() -> None:
    text = "etcd_environment:\n  ETCD_AUTO_TLS: 'true'\n"
    name = 'etcd_environment["ETCD_AUTO_TLS"]'
    found = lines(
        {"group_vars/etcd.yml": text}, finding(**{name: False}), {"etcd_environment": {"ETCD_AUTO_TLS": "true"}}
    )
    assert found == ["-  ETCD_AUTO_TLS: 'true'", "+  ETCD_AUTO_TLS: 'false'"]


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ('"8GB"', 8589934592, "8589934592"),
        ("'yes'", False, "false"),
        ("'5000'", 5000, "5000"),
        ("'1d'", "24h", "'24h'"),
    ],
)
def test_a_key_of_the_config_file_keeps_its_type(written: str, value: Any, expected: str) -> None:
    """etcd refuses a number or a boolean in quotes there, and takes any text in its environment."""
    text = f"etcd_extra_config:\n  a: {written}\n"
    variables = {"etcd_extra_config": {"a": written.strip("\"'")}}
    found = lines({"group_vars/etcd.yml": text}, finding(**{'etcd_extra_config["a"]': value}), variables)
    assert found == [f"-  a: {written}", f"+  a: {expected}"]


def test_a_text_that_would_not_change_is_named() -> None:
    found = suggest([finding(("e1",), a=5)], {"group_vars/etcd.yml": "a: '5'\n"}, {"e1": {"a": "5"}}, GROUPS)
    assert found.diff == []
    assert found.left_out == ["a of e1: group_vars/etcd.yml has this text already; the value would be 5"]


def test_the_assignment_that_counts() -> None:
    """The host's own, else the smallest group's with this value; never one of a group that the hosts are not in."""
    files = {
        "host_vars/e1.yml": "a: 2",
        "group_vars/etcd.yml": "a: 2",
        "group_vars/all.yml": "a: 2",
        "group_vars/other.yml": "a: 2",
    }
    diff = suggest([finding(a=1)], files, {"e1": {"a": 2}, "e2": {"a": 2}}, GROUPS).diff
    assert [line[6:] for line in diff if line.startswith("+++ ")] == ["group_vars/etcd.yml", "host_vars/e1.yml"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"hosts.ini": "[etcd]\ne1 a=2\n"},
        {"group_vars/etcd.yml": "a: '{{ b }}'"},
        {"group_vars/etcd.yml": "a: 3"},
        {"group_vars/etcd.yml": "$ANSIBLE_VAULT;1.1;AES256\n3132"},
        {"group_vars/etcd.yml": "a: [2"},
        {"group_vars/etcd.yml": "a: !vault |\n  3132\n"},
        {"group_vars/etcd.yml": "a: 2026-99-99"},
        {"group_vars/etcd.yml": "a: 2\n---\na: 2\n"},
        {"group_vars/etcd.yml": "a: {b: 2}"},
        {"group_vars/blue.yml": "a: 2", "group_vars/green.yml": "a: 2"},
    ],
)
def test_what_no_file_certainly_sets_is_named(files: dict[str, str]) -> None:
    found = suggest([finding(("e1",), a=1)], files, {"e1": {"a": 2}}, GROUPS)
    assert found.diff == []
    assert found.left_out == ["a of e1: no YAML file of the inventory certainly sets it; the value would be 1"]


def test_findings_with_the_same_value_share_a_change() -> None:
    files = {"group_vars/etcd.yml": "a: 2\nb: 2\n"}
    hostvars = {"e1": {"a": 2, "b": 2}, "e2": {"a": 2, "b": 2}}
    diff = suggest([finding(a=1), finding(a=1, b=1), finding()], files, hostvars, GROUPS).diff
    assert diff[3:] == ["-a: 2", "-b: 2", "+a: 1", "+b: 1"]


def test_one_line_for_many_hosts() -> None:
    hosts = tuple(f"e{number}" for number in range(5))
    found = suggest([finding(hosts, a=1), finding(hosts[:1], a=1)], {}, {}, {})
    assert [line.split(":")[0] for line in found.left_out] == ["a of e0, e1, e2 and 2 more"]


@pytest.mark.parametrize(
    ("text", "resolved", "why"),
    [
        ("a: &release 3.5.18\nb: *release\n", "3.5.18", "with an anchor, an alias or a tag"),
        ("b: &release 3.5.18\na: *release\n", "3.5.18", "with an anchor, an alias or a tag"),
        ("a: !!str 3.5.18\n", "3.5.18", "with an anchor, an alias or a tag"),
        ("a: >-\n  3.5.18\nb: x\n", "3.5.18", "as a block of lines"),
        ("a: |-\n  3.5.18\nb: x\n", "3.5.18", "as a block of lines"),
        ("a:\nb: x\n", None, "without a value"),
    ],
)
def test_a_scalar_that_is_more_than_its_text_is_left_out(text: str, resolved: Any, why: str) -> None:
    found = suggest([finding(("e1",), a="3.6.16")], {"group_vars/etcd.yml": text}, {"e1": {"a": resolved}}, GROUPS)
    assert found.diff == []
    assert found.left_out == [f'a of e1: group_vars/etcd.yml writes it {why}; the value would be "3.6.16"']


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        # Two variables share one mapping.
        ("b: &both {x: 2}\na: *both\n", 'a["x"]', 5),
        # The text would end the quotes.
        ("a: {x: '2'}\n", 'a["x"]', "it's"),
        # It would end the entry of the mapping.
        ("a: {x: 2}\n", 'a["x"]', "5, 3"),
    ],
)
def test_a_change_of_anything_else_is_left_out(text: str, name: str, value: Any) -> None:
    resolved = {"x": yaml.safe_load(text)["a"]["x"]}
    found = suggest([finding(("e1",), **{name: value})], {"group_vars/etcd.yml": text}, {"e1": {"a": resolved}}, GROUPS)
    assert found.diff == []
    assert [line.split("; ")[0] for line in found.left_out] == [
        f"{name} of e1: this value in group_vars/etcd.yml would change other parts of the file"
    ]


def test_different_values_at_one_place_are_a_conflict() -> None:
    old = {"a": 2, "b": 1}
    found = suggest(
        [finding(("e1",), a=5), finding(("e2",), a=6, b=3)],
        {"group_vars/etcd.yml": "a: 2\nb: 1\n"},
        {"e1": old, "e2": old},
        GROUPS,
    )
    assert [line for line in found.diff if line.startswith("+")] == ["+++ b/group_vars/etcd.yml", "+b: 3"]
    why = "group_vars/etcd.yml sets it once, and other findings need another value there"
    assert found.left_out == [f"a of e1: {why}; the value would be 5", f"a of e2: {why}; the value would be 6"]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("a: 2\nb: x\n", "a: 5\nb: x\n"),
        ("b: x\na: 2", "b: x\na: 5"),
        ("a: 2\nb: x", "a: 5\nb: x"),
        ("b: x\r\na: 2\r\n", "b: x\r\na: 5\r\n"),
        ("b: x\r\na: 2", "b: x\r\na: 5"),
        ('b: "x\u2028y\x85z"\na: 2 # \u2028\n', 'b: "x\u2028y\x85z"\na: 5 # \u2028\n'),
        ("c: &one 1\nd: *one\na: 2\ne: >-\n  2\n\n", "c: &one 1\nd: *one\na: 5\ne: >-\n  2\n\n"),
    ],
)
def test_git_applies_the_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, changed: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "group_vars" / "etcd.yml"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    diff = suggest([finding(("e1",), a=5)], {"group_vars/etcd.yml": text}, {"e1": {"a": 2}}, GROUPS).diff
    patch = "".join(f"{line}\n" for line in diff).encode()
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=patch, check=True, timeout=30)
    assert path.read_bytes() == changed.encode()


@pytest.mark.parametrize(
    ("folder", "name"), [("", "group_vars/etcd.yml"), ("elsewhere", "{folder}/group_vars/etcd.yml")]
)
def test_the_diff_is_for_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / folder)
    old = {"etcd_version": "3.6.4"}
    files = {f"{tmp_path}/group_vars/etcd.yml": "etcd_version: 3.6.4\n"}
    diff = suggest([finding(etcd_version="3.6.16")], files, {"e1": old, "e2": old}, GROUPS).diff
    expected = name.format(folder=str(tmp_path).lstrip("/"))
    assert diff[:2] == [f"--- a/{expected}", f"+++ b/{expected}"]
