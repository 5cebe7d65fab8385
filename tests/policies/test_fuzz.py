# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzzed input: conftest ends in time, with or without findings, and never with an evaluation error.

Inventories that hypothesis draws are linted with all rules, many below one folder in one run of conftest. HEADROOM_FUZZ_INVENTORIES sets how
many of each kind (default 150, always the same ones, about half a minute in all; any other number draws new ones).
"""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from .fuzz import HOSTILE, folders, others
from .inventories import write
from .sampling import Draw, in_batches
from .tools import REPOSITORY, tool

INVENTORIES = Draw("HEADROOM_FUZZ_INVENTORIES", 150)
# Seconds of processor time that one run may take; a hang is what it is for. Other checks do not count, however busy the machine is.
LIMIT = 120


def lint(path: Path) -> subprocess.CompletedProcess[str]:
    """`conftest test` where conftest.toml says the rest; a hang ends by a signal, or in subprocess.TimeoutExpired."""
    command = ["prlimit", f"--cpu={LIMIT}", tool("conftest"), "test", str(path), "--output", "json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10 * LIMIT, cwd=REPOSITORY)


def processor_time() -> float:
    """Return the seconds of processor time of the runs that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def findings(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What conftest found; AssertionError if it did not get as far."""
    assert done.returncode in (0, 1) and done.stdout.startswith("["), done.stderr[:4000]
    (result,) = json.loads(done.stdout)
    return [entry["msg"] for kind in ("failures", "warnings") for entry in result.get(kind) or []]


def place(base: Path, batch: list[dict[str, Any]]) -> None:
    """Write what was drawn, each below a folder of its own. JSON is YAML too."""
    for number, files in enumerate(batch):
        write(base / f"i{number}", {name: json.dumps(content, ensure_ascii=False) for name, content in files.items()})


@pytest.mark.parametrize(("strategy", "least"), [(folders(), 25), (others(), 18)], ids=["folders", "others"])
def test_no_evaluation_error(strategy: st.SearchStrategy[dict[str, Any]], least: int, tmp_path: Path) -> None:
    every = INVENTORIES.of(strategy)
    assert len(every) >= INVENTORIES.number
    spoke: set[str] = set()
    for number, batch in enumerate(in_batches(every)):
        base = tmp_path / f"batch{number}"
        place(base, batch)
        done = lint(base)
        if done.returncode in (0, 1) and done.stdout.startswith("["):
            spoke |= {finding.split(":")[0] for finding in findings(done)}
            continue
        for folder in sorted(base.iterdir()):
            alone = lint(folder)
            if not alone.stdout.startswith("["):
                raise AssertionError(
                    alone.stderr + "\n".join(f"### {path}\n{path.read_text()}" for path in folder.rglob("*.*"))
                )
        raise AssertionError(f"only together: {done.stderr}")
    # Rules that never get as far as to speak are not tested by this.
    print(f"{len(every)} inventories, {len(spoke)} rules spoke: {', '.join(sorted(spoke))}")
    assert len(spoke) >= least


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str, tmp_path: Path) -> None:
    place(tmp_path, [HOSTILE[name]])
    began = processor_time()
    found = findings(lint(tmp_path / "i0"))
    assert max(map(len, found), default=0) < 5000, "a finding that nobody can read"
    assert processor_time() - began < LIMIT / 2


# What must be denied, and what the denial names.
DENIED: dict[str, tuple[dict[str, str], str]] = {
    "a group without hosts": ({"hosts.yml": "etcd: {hosts: }\n"}, 'no host of group "etcd" is in'),
    "another group": ({"hosts.yml": "web: {hosts: n1, vars: {etcd_group: db}}\n"}, 'no host of group "db" is in'),
    "hosts in a list": (
        {"hosts.yml": "etcd: {hosts: [n1, n2]}\n"},
        '"hosts" of group "etcd" is neither a mapping nor a name',
    ),
    "a cycle": (
        {"hosts.yml": "etcd: {hosts: n1, children: {a: {children: {etcd: }}}}\n"},
        'group "etcd" contains itself',
    ),
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(name: str, tmp_path: Path) -> None:
    files, expected = DENIED[name]
    write(tmp_path / "inventory", files)
    done = lint(tmp_path / "inventory")
    assert done.returncode == 1
    assert any(expected in line for line in findings(done)), done.stdout


@pytest.mark.parametrize("files", [{"hosts.yml": "web: {hosts: n1}\n"}, {"notes.yml.txt": "a\n", "x.toml": "[a]\n"}])
def test_nothing_that_deploys_etcd_is_said(files: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "inventory", files)
    done = lint(tmp_path / "inventory")
    assert done.returncode == 0
    assert [line.split(":")[0] for line in findings(done)] == ["inventory/no_etcd"]


@pytest.mark.parametrize("text", ["etcd: {hosts: [\n", "a: b: c\n", "\tetcd:\n", "etcd: &a *a\n", "a: .inf\n"])
def test_broken_yaml_names_the_file(text: str, tmp_path: Path) -> None:
    write(tmp_path / "inventory", {"hosts.yml": "etcd: {hosts: n1}\n", "group_vars/broken.yml": text})
    done = lint(tmp_path / "inventory")
    assert done.returncode == 1
    assert "group_vars/broken.yml" in done.stderr


def test_an_empty_folder_is_no_pass(tmp_path: Path) -> None:
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "no files found" in done.stderr
