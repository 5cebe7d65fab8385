# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a program with a time limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import (
    ProcessResult,
    program_problem,
    run_process,
)


def test_returns_status_and_output() -> None:
    assert run_process(["sh", "-c", "echo out; echo err >&2; exit 3"], 10) == ProcessResult(3, "out\n", "err\n")


def test_passes_text_environment_and_directory(tmp_path: Path) -> None:
    done = run_process(
        ["/bin/sh", "-c", "cat; echo $NAME; pwd"], 10, text="in ", environment={"NAME": "a"}, directory=str(tmp_path)
    )
    assert done.stdout == f"in a\n{tmp_path}\n"


def test_messages_are_in_english_by_default() -> None:
    assert run_process(["sh", "-c", "echo $LC_ALL"], 10).stdout == "C\n"


def test_has_no_status_when_it_was_killed_at_its_time_limit() -> None:
    assert run_process(["sleep", "10"], 0.1) == ProcessResult(None, "", "")


def test_replaces_output_that_is_not_utf8() -> None:
    assert run_process(["printf", r"\377"], 10).stdout == "\ufffd"


def test_returns_output_that_is_not_text_as_it_is() -> None:
    assert run_process(["printf", r"\377\r\n"], 10, binary=True) == ProcessResult(0, "", "", b"\xff\r\n")


def test_raises_when_the_program_cannot_be_started() -> None:
    with pytest.raises(FileNotFoundError):
        run_process(["/no/such/program"], 10)


def test_program_problem(tmp_path: Path) -> None:
    data = tmp_path / "etcdutl"
    data.touch(mode=0o644)
    for path in (str(data), "no-such-program"):
        assert program_problem(path, "etcdutl") == (
            f"{path} is not an executable program: install etcdutl, or set etcdutl_path"
        )
    data.chmod(0o755)
    assert program_problem(str(data), "etcdutl") == program_problem("sh", "sh") == ""
