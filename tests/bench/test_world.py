# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of public files, where their contents are found, and how the linter's answers are counted."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from bench.world import run
from bench.world.content import fetch
from bench.world.lint import Answer, Finding, parse
from bench.world.score import judge, total
from bench.world.table import BLIND, PROJECT, Entry, first_set_of, load

TEXT = b"name: n1\n"


def entry(**changes: object) -> Entry:
    values = {
        "set": "tune",
        "vocabulary": "etcd-yaml",
        "repository": "a/b",
        "commit": "0" * 40,
        "path": "x/group_vars/etcd.yml",
        "sha256": hashlib.sha256(TEXT).hexdigest(),
        "expected": {"security/plain_http": "listen-client-urls", "topology/even_members": "initial-cluster"},
        "allowed": ("version/*", "memory/quota_unset"),
        "note": "",
    }
    return Entry(**{**values, **changes})  # type: ignore[arg-type]


def findings(*pairs: tuple[str, str]) -> Answer:
    return Answer(tuple(Finding(severity, rule, f"{rule}: listen-client-urls") for severity, rule in pairs), "")


def test_the_table_is_consistent() -> None:
    every = load()
    assert len(every) >= 120 + 15
    assert len({(each.repository, each.path) for each in every}) == len(every)
    assert all(each.set in (*BLIND, first_set_of(each.repository, each.path)) for each in every)
    # A repository whose files were judged before is not new: the later sets have none of them.
    for name in BLIND[6:]:
        others = {each.repository for each in every if each.set != name}
        assert not others & {each.repository for each in every if each.set == name}
    repositories = [each.repository for each in every]
    assert max(map(repositories.count, repositories)) <= 3
    assert sum(each.vocabulary == "nothing" for each in every) >= 15
    assert not [each for each in every if each.vocabulary == "nothing" and each.expected]


def test_the_table_names_rules_that_exist() -> None:
    rules = {f"{path.parent.name}/{path.name}" for path in (PROJECT / "policies/rules").glob("*/*") if path.is_dir()}
    named = {rule for each in load() for rule in each.expected}
    assert named <= rules
    assert {rule for each in load() for rule in each.allowed if not rule.endswith("/*")} <= rules


def test_a_file_keeps_the_folders_that_ansible_reads() -> None:
    assert str(entry().place) == "group_vars/etcd.yml"
    assert str(entry(path="deploy/etcd.service").place) == "etcd.service"


def test_judge() -> None:
    answer = findings(
        ("deny", "security/plain_http"),
        ("deny", "security/plain_http"),
        ("deny", "version/vulnerable"),
        ("deny", "compaction/off"),
        ("warn", "memory/quota_unset"),
        ("warn", "inventory/unknown_value"),
    )
    row = judge(entry(), answer, "conftest")
    assert (row.found, row.missed, row.named) == ("security/plain_http", "topology/even_members", 1)
    assert (row.false_denials, row.noise, row.allowed, row.lines) == ("compaction/off", "inventory/unknown_value", 2, 6)
    counts = total([row, judge(entry(expected={}), Answer((), "no parser\nfor this"), "conftest")])
    assert (counts.files, counts.expected, counts.found, counts.unread) == (2, 2, 1, 1)
    assert (counts.recall, counts.precision) == (0.5, pytest.approx(1 / 3))


def test_nothing_expected_and_nothing_found() -> None:
    counts = total([judge(entry(expected={}), findings(), "conftest")])
    assert (counts.recall, counts.precision, counts.false_denials) == (None, None, 0)


def test_an_error_is_no_answer() -> None:
    done = subprocess.CompletedProcess(["conftest"], 1, "", "Error: parse files: unknown parser\n")
    assert parse(done) == Answer((), "Error: parse files: unknown parser")
    report = [{"failures": [{"msg": "a/b: c", "metadata": {"code": "a/b"}}], "warnings": None}]
    done = subprocess.CompletedProcess(["conftest"], 1, json.dumps(report), "")
    assert parse(done).findings == (Finding("deny", "a/b", "a/b: c"),)


def test_fetch_from_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "a/b/x/group_vars/etcd.yml"
    path.parent.mkdir(parents=True)
    assert fetch(entry(), tmp_path) is None
    path.write_bytes(TEXT)
    assert fetch(entry(), tmp_path) == TEXT
    path.write_bytes(b"another version\n")
    assert fetch(entry(), tmp_path) is None


def test_fetch_from_a_clone(tmp_path: Path) -> None:
    clone = tmp_path / "a/b"
    git = ["git", "-C", str(clone), "-c", "user.name=n", "-c", "user.email=n@example.com"]
    (clone / "x").mkdir(parents=True)
    subprocess.run([*git, "init", "-q"], check=True)
    (clone / "x/etcd.yml").write_bytes(TEXT)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "m"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    (clone / "x/etcd.yml").unlink()
    assert fetch(entry(path="x/etcd.yml", commit=commit), tmp_path) == TEXT
    assert fetch(entry(path="x/other.yml", commit=commit), tmp_path) is None


def test_missing_files_fail_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main([str(tmp_path), "--set", "tune"]) == 1
    assert "files are not in" in capsys.readouterr().err
