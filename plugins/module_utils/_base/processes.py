# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a program with a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessResult:
    """Exit status and output of a program. ``returncode`` is None if it was killed at its time limit. data: its output if that is not text."""

    returncode: int | None
    stdout: str
    stderr: str
    data: bytes = b""


def program_problem(path: str, name: str) -> str:
    """Return why a program cannot be run, and the fix; empty if it is executable. name: the program, whose path the option ``<name>_path`` sets."""
    if shutil.which(path) is None:
        return f"{path} is not an executable program: install {name}, or set {name}_path"
    return ""


def run_process(
    argv: Sequence[str],
    timeout: float,
    *,
    text: str = "",
    environment: Mapping[str, str] | None = None,
    directory: str | None = None,
    binary: bool = False,
) -> ProcessResult:
    """Run a program, and kill it after ``timeout`` seconds.

    text: its standard input. environment: all of its variables; by default the caller's, with messages in English.
    directory: its working directory. Text that is not UTF-8 is returned with replacement characters. binary: its standard output is not text.
    Raises OSError if the program cannot be started.
    """
    try:
        done = subprocess.run(
            list(argv),
            input=text.encode(),
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"} if environment is None else environment,
            cwd=directory,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ProcessResult(returncode=None, stdout="", stderr="")
    stdout, stderr = ("" if binary else done.stdout.decode(errors="replace")), done.stderr.decode(errors="replace")
    return ProcessResult(done.returncode, stdout, stderr, done.stdout if binary else b"")
