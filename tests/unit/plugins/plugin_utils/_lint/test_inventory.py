# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import datetime
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inventory import (
    ENCRYPTED,
    BadReport,
    Finding,
    counted,
    document,
    findings,
    plain,
    settled,
    table,
    too_old,
    unsettled,
    waiver_files,
)


class Text(str):
    """A string as Ansible has it, with more on it than text."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (0.5, 0.5),
        ("a", "a"),
        (Text("a"), "a"),
        ({"a": {1: Text("b")}}, {"a": {"1": "b"}}),
        ((1, [2]), [1, [2]]),
        (datetime.date(2026, 1, 1), "2026-01-01"),
        (b"secret", ENCRYPTED),
    ],
)
def test_plain(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


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
def test_unsettled(value: Any, expected: bool) -> None:
    assert unsettled(value) is expected


def test_settled() -> None:
    def template(name: str) -> str:
        if name == "etcd_later":
            raise KeyError("a fact that is not gathered")
        return "2GB"

    variables = {
        "etcd_version": "3.7.3",
        "etcd_memory_budget": "{{ budget }}",
        "etcd_later": "{{ ansible_facts.memtotal_mb }}MB",
        "ansible_password": "secret",
        "playbook_dir": "/somewhere",
    }
    assert settled(variables, template, ["playbook_dir"]) == {
        "etcd_version": "3.7.3",
        "etcd_memory_budget": "2GB",
        "etcd_later": "{{ ansible_facts.memtotal_mb }}MB",
    }


def test_document() -> None:
    assert document({"n1": {"a": 1}}, {"all": ["n1"], "etcd": ["n1"]}) == {
        "_meta": {"hostvars": {"n1": {"a": 1}}},
        "all": {"hosts": ["n1"]},
        "etcd": {"hosts": ["n1"]},
    }


def test_findings() -> None:
    report = (
        '[{"failures": [{"msg": "a", "metadata": {"code": "x/a", "hosts": ["n1", "n2"]}}, {"msg": "b"}]},'
        ' {"warnings": [{"msg": "c"}], "failures": null}, {"successes": 1}]'
    )
    assert findings(report) == [
        Finding(False, "", (), "c"),
        Finding(True, "x/a", ("n1", "n2"), "a"),
        Finding(True, "", (), "b"),
    ]


def test_table() -> None:
    found = [
        Finding(False, "x/warned", ("n1",), "a"),
        Finding(True, "x/denied", ("n1", "n2"), "b"),
        Finding(True, "x/denied", ("n2", "n3"), "c"),
        Finding(True, "x/files", (), "d"),
    ]
    assert table(found) == [
        "rule      severity  findings  hosts",
        "x/denied  deny             2      3",
        "x/files   deny             1      -",
        "x/warned  warn             1      1",
    ]
    assert table([]) == []


@pytest.mark.parametrize(
    ("version", "old"),
    [
        ("Conftest: 0.50.0\nOPA: 0.62.1\n", True),
        ("Conftest: 0.71.1\nOPA: 1.21.1\n", False),
        ("Conftest: dev\nOPA: v1.0.0\n", False),
        ("", False),
    ],
)
def test_too_old(version: str, old: bool) -> None:
    assert bool(too_old(version)) == old


@pytest.mark.parametrize("report", ["", "Error: no", "5", '[{"failures": [5]}]', '["a"]'])
def test_no_report(report: str) -> None:
    with pytest.raises(BadReport, match="conftest printed no report"):
        findings(report)


def test_counted() -> None:
    assert [counted(number, "denial") for number in (0, 1, 2)] == ["0 denials", "1 denial", "2 denials"]


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
def test_waiver_files(sources: list[str], expected: list[str]) -> None:
    files = {"inventory/.waivers.yml", "inventory/hosts.yml", "site/hosts.ini", "site/waivers.yml"}
    assert waiver_files(sources, files.__contains__) == expected
