# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs built from Go modules are built again after a change of anything that they are built from."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tools.setup import programs
from tools.setup.steps import StepFailed


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(programs, "PROJECT", tmp_path)
    folder = tmp_path / "tools" / "vale"
    for name in ("go.mod", "go.sum", "main.go", "nested/go.mod", "nested/go.sum", "nested/language.go"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize(
    "name", ["go.mod", "go.sum", "main.go", "nested/go.mod", "nested/go.sum", "nested/language.go"]
)
def test_a_changed_file_builds_the_program_again(module: Path, name: str) -> None:
    before = programs.built("vale")
    (module / name).write_text("changed")
    assert programs.built("vale") != before


def test_a_moved_file_builds_the_program_again(module: Path) -> None:
    before = programs.built("vale")
    (module / "main.go").rename(module / "moved.go")
    assert programs.built("vale") != before


def test_a_changed_flag_builds_the_program_again(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = programs.built("vale")
    monkeypatch.setattr(programs, "GO_BUILD", (*programs.GO_BUILD, "-race"))
    with_flag = programs.built("vale")
    monkeypatch.setitem(programs.GO_ENVIRONMENT, "CGO_ENABLED", "1")
    assert len({before, with_flag, programs.built("vale")}) == 3


def test_other_files_do_not_build_it_again(module: Path) -> None:
    before = programs.built("vale")
    (module / "README.md").write_text("text")
    assert programs.built("vale") == before


def test_the_user_cannot_turn_modules_off(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}
    monkeypatch.setattr(programs, "run", lambda *_command, cwd, env: given.update(env))
    with (module / "log").open("w") as log:
        programs.go_build(log, module, module / "program", ".")
    assert given["GO111MODULE"] == "on"


@pytest.mark.parametrize("machine", ["riscv64", "armv7l", "i686"])
def test_a_machine_without_archives_of_etcd_is_named_with_the_known_ones(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "host", "6.1", "", machine)))
    text = f"this machine is of the architecture {machine}, for which etcd has no archives: use one of x86_64, aarch64,"
    with pytest.raises(StepFailed, match=re.escape(text)):
        programs.etcd_step("etcd-3.7", "").is_ready()
