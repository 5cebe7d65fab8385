# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each output of conftest that the documentation names, parsed as its readers do; and the bundle, the hook and the workflow."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from .tools import REPOSITORY, tool

BAD = "policies/examples/kubespray/inventory"
FILE = "policies/examples/files/etcd.yaml"
GOOD = "inventory"
DENIED = {"version/data_corruption", "flags/unknown_setting", "flags/wrong_type"}
WARNED = {"memory/snapshot_count", "version/known_defects"}


def run(*command: str, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run a command that may fail."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=cwd)


def conftest(path: str, *arguments: str, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """`conftest test PATH …`, where conftest.toml says the rest."""
    return run(tool("conftest"), "test", "--no-color", path, *arguments, cwd=cwd)


def test_standard_output() -> None:
    """One line a finding, warnings and denials apart, no JSON, and a sum."""
    lines = conftest(BAD).stdout.splitlines()
    *findings, empty, total = lines
    assert empty == ""
    assert re.fullmatch(r"\d+ tests, 0 passed, \d+ warnings, \d+ failures, 0 exceptions", total)
    levels = [line.split(" ", 1)[0] for line in findings]
    assert levels == sorted(levels, key=["WARN", "FAIL"].index)
    for line in findings:
        assert re.match(r"(WARN|FAIL) - Combined - headroom - [a-z]+/[a-z_0-9]+: node1, node2, node3: ", line), line
        assert not re.search(r'[{}]|"msg"', line)


def test_json() -> None:
    done = conftest(BAD, "--output", "json")
    (result,) = json.loads(done.stdout)
    assert {entry["metadata"]["code"] for entry in result["failures"]} == DENIED
    assert {entry["metadata"]["code"] for entry in result["warnings"]} > WARNED
    for entry in [*result["failures"], *result["warnings"]]:
        assert set(entry["metadata"]) >= {"code", "fix", "hosts", "severity", "source", "title"}
        assert entry["loc"]["file"].startswith(BAD)


def test_sarif() -> None:
    """A rule id for each rule, and a place that exists: that is what GitHub shows."""
    for path in (BAD, FILE):
        done = conftest(path, "--output", "sarif", "--namespace", "headroom.rules.*")
        document = json.loads(done.stdout)
        assert document["version"] == "2.1.0"
        (report,) = document["runs"]
        found = [entry for entry in report["results"] if entry["level"] in ("error", "warning")]
        ids = {entry["ruleId"] for entry in found}
        assert {"headroom.rules.version.data_corruption/deny", "headroom.rules.memory.snapshot_count/warn"} < ids
        rules = report["tool"]["driver"]["rules"]
        for entry in found:
            assert rules[entry["ruleIndex"]]["id"] == entry["ruleId"]
            place = entry["locations"][0]["physicalLocation"]
            assert (REPOSITORY / place["artifactLocation"]["uri"]).exists(), place
            assert place["region"]["startLine"] == 1
        assert not [entry for entry in ids if "test" in entry]


def test_sarif_names_the_variables_file() -> None:
    done = conftest(BAD, "--output", "sarif", "--namespace", "headroom.rules.flags.wrong_type")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"{BAD}/group_vars/all/etcd.yml"


def test_junit() -> None:
    done = conftest(BAD, "--output", "junit")
    suites = list(ElementTree.fromstring(done.stdout).iter("testsuite"))
    assert {suite.get("name") for suite in suites} == {"conftest.headroom"}
    failed = [case.get("name", "") for case in suites[0].iter("testcase") if case.find("failure") is not None]
    assert int(suites[0].get("failures", 0)) == len(failed)
    for rule in DENIED | WARNED:
        assert [name for name in failed if f"{rule}: " in name], rule


def test_github() -> None:
    done = conftest(BAD, "--output", "github")
    pattern = r"^::(error|warning) file=([^,]+),line=1::([a-z]+/[a-z_0-9]+): "
    found = re.findall(pattern, done.stdout, re.MULTILINE)
    assert {("error", f"{BAD}/group_vars/all/etcd.yml", "flags/wrong_type")} < set(found)
    assert {rule for level, _, rule in found if level == "error"} == DENIED
    assert {rule for level, _, rule in found if level == "warning"} > WARNED


@pytest.mark.parametrize(
    ("path", "arguments", "code"),
    [
        (GOOD, (), 0),
        (BAD, (), 1),
        (BAD, ("--fail-on-warn",), 2),
        (BAD, ("--no-fail",), 0),
        ("policies/examples/files/no-such-file.yml", (), 1),
    ],
)
def test_exit_code(path: str, arguments: tuple[str, ...], code: int) -> None:
    assert conftest(path, *arguments).returncode == code


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that `make bundle` writes."""
    path = tmp_path_factory.mktemp("bundle") / "policies.tar.gz"
    done = run(sys.executable, "-m", "tools.policies.bundle", str(path))
    assert done.returncode == 0, done.stderr
    return path


def test_bundle_is_reproducible(bundle: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.tar.gz"
    run(sys.executable, "-m", "tools.policies.bundle", str(again))
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (bundle, again)}
    assert len(digests) == 1
    with tarfile.open(bundle) as archive:
        members = archive.getmembers()
    assert {(member.mtime, member.uid, member.uname) for member in members} == {(0, 0, "")}
    assert not [
        member.name for member in members if member.name.endswith(("_test.rego", ".py")) or "example" in member.name
    ]


def test_bundle_lints_elsewhere(bundle: Path, tmp_path: Path) -> None:
    """Unpacked anywhere, with nothing of this repository, it says the same."""
    subprocess.run(["tar", "-xzf", bundle, "-C", tmp_path], check=True)
    (folder,) = tmp_path.iterdir()
    for path in (GOOD, BAD, FILE):
        target = str(REPOSITORY / path)
        here = json.loads(conftest(target, "--output", "json").stdout)
        # The folder has a conftest.toml of its own.
        there = json.loads(conftest(target, "--output", "json", cwd=folder).stdout)
        assert there == here
        flags = (
            "--policy",
            f"{folder}/policies",
            "--data",
            f"{folder}/policies/data",
            "--combine",
            "--namespace",
            "headroom",
        )
        named = json.loads(conftest(target, "--output", "json", *flags, cwd=tmp_path).stdout)
        assert named == here


def hooks() -> dict[str, dict[str, Any]]:
    """The hooks by their ids."""
    text = (REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    return {hook["id"]: hook for hook in yaml.safe_load(text)}


def hook(name: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a hook's entry as pre-commit does for `language: script`: the file of its repository, in the user's."""
    about = hooks()[name]
    assert about["language"] == "script"
    assert about["pass_filenames"] is False
    entry, *rest = about["entry"].split()
    environment = {
        **os.environ,
        "PATH": f"{Path(tool('conftest')).parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return subprocess.run(
        [str(REPOSITORY / entry), *rest, *(arguments or about["args"])],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=cwd,
        env={**environment, "ANSIBLE_NOCOLOR": "1"},
    )


@pytest.mark.parametrize("name", ["headroom-lint", "headroom-lint-resolved"])
def test_hook(name: str, tmp_path: Path) -> None:
    """In a repository of the user's, with the folder named as the hook has it."""
    (tmp_path / "inventory").symlink_to(REPOSITORY / GOOD)
    done = hook(name, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    chosen = [str(REPOSITORY / BAD)] if name == "headroom-lint" else ["-i", str(REPOSITORY / BAD)]
    bad = hook(name, *chosen, cwd=tmp_path)
    assert bad.returncode != 0
    assert "version/data_corruption" in bad.stdout


UNIT = """[Service]
EnvironmentFile=/etc/etcd.conf
ExecStart=/usr/bin/etcd --name n1 \\
  --unsafe-no-fsync
"""
CONFIGURATION = "[Member]\nETCD_DATA_DIR=/etcd\nETCD_QUOTA_BACKEND_BYTES=-1\n"


def test_headroom_lint_names_lines(tmp_path: Path) -> None:
    """The line of the file that sets it, in each output; and a file that cannot be read fails the run."""
    (tmp_path / "etcd.service").write_text(UNIT, encoding="utf-8")
    (tmp_path / "etcd.conf").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "main.tf").write_text('flags = ["--listen-client-urls=x"]\n', encoding="utf-8")
    expected = {("durability/unsafe_no_fsync", "etcd.service", 4), ("memory/quota_unlimited", "etcd.conf", 3)}
    report = hook("headroom-lint", ".", "--output", "json", cwd=tmp_path)
    findings = [entry for result in json.loads(report.stdout) for entry in result["failures"]]
    assert {
        (entry["metadata"]["code"], entry["loc"]["file"], int(entry["loc"]["line"])) for entry in findings
    } >= expected
    github = hook("headroom-lint", ".", "--output", "github", cwd=tmp_path).stdout
    sarif = hook("headroom-lint", ".", "-o", "sarif", "-n", "headroom.rules.*", cwd=tmp_path).stdout
    places = [entry["locations"][0]["physicalLocation"] for entry in json.loads(sarif)["runs"][0]["results"]]
    for rule, file, line in expected:
        assert f"::error file={file},line={line}::{rule}: {file}:{line}: n1: " in github
        assert {"artifactLocation": {"uri": file}, "region": {"startLine": line, "endLine": line}} in places
    assert "main.tf was not read: it mentions --listen-client-urls in line 1" in github
    named = hook("headroom-lint", "main.tf", cwd=tmp_path)
    assert named.returncode == 1
    assert "headroom-lint: main.tf was not read: it mentions" in named.stderr


@pytest.mark.parametrize("name", ["headroom-lint", "headroom-lint-resolved"])
def test_hook_files(name: str) -> None:
    pattern = re.compile(hooks()[name]["files"])
    for path in ("inventory/hosts.yml", "group_vars/all.yml", "inventories/prod/hosts.ini", "docker-compose.yml"):
        assert bool(pattern.search(path)) == (path != "docker-compose.yml"), path


def test_hook_without_conftest(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(REPOSITORY / "bin" / "headroom-lint"), "inventory"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
    )
    assert done.returncode == 1
    assert "conftest is not on PATH" in done.stderr


def tag() -> str:
    """Return the tag of the release, as CONTRIBUTING.md says."""
    return f"v{yaml.safe_load((REPOSITORY / 'galaxy.yml').read_text(encoding='utf-8'))['version']}"


def test_hook_example() -> None:
    """It is pinned to the release, and the first hook runs if a file that it lints has changed."""
    page = (REPOSITORY / "docs" / "lint.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```yaml\n(repos:.*?)```", page, re.DOTALL)
    [repository] = yaml.safe_load(example)["repos"]
    assert repository["rev"] == tag()
    assert {shown["id"] for shown in repository["hooks"]} == set(hooks())
    files = repository["hooks"][0]["files"]
    for path in ("inventory/group_vars/etcd.yml", "docker-compose.yml"):
        assert re.search(files, path)
    assert not re.search(files, "README.md")


def test_workflow() -> None:
    """Pinned by version, and it calls what there is."""
    path = REPOSITORY / "docs" / "examples" / "github-actions.yml"
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    # A pull request may change scripts of the inventory: what runs them has no token and no write permission.
    assert jobs["resolved"]["permissions"] == {"contents": "read"} and "push" in jobs["resolved"]["if"]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)
    uses = [step["uses"] for step in steps if "uses" in step]
    assert uses
    assert all(re.search(r"@v?\d", name) for name in uses), uses
    checkout = next(step["with"] for step in checkouts if step["with"].get("repository") == "etcdops/headroom")
    assert (checkout["ref"], workflow["env"]["HEADROOM"]) == ("${{ env.HEADROOM }}", tag())
    commands = "\n".join(step["run"] for step in steps if "run" in step)
    assert "conftest test inventory" in commands
    assert "--namespace 'headroom.rules.*'" in commands
    assert "ansible-playbook etcdops.headroom.lint -i inventory" in commands
