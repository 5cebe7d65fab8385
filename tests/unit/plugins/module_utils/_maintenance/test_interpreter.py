# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The timers' Python is one that nobody but its owner can replace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.interpreter import (
    choose_interpreter,
    stable_names,
    untrusted,
)


def program(path: Path) -> Path:
    """Create a program that only its owner may write."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_an_owned_program_is_trusted(tmp_path: Path) -> None:
    assert untrusted(str(program(tmp_path / "bin/python3")), os.geteuid()) == ""


@pytest.mark.parametrize("writable", ["bin/python3", "bin"], ids=["the program", "its directory"])
def test_what_others_may_write_is_not_trusted(tmp_path: Path, writable: str) -> None:
    path = program(tmp_path / "bin/python3")
    (tmp_path / writable).chmod(0o775)
    assert untrusted(str(path), os.geteuid()) == f"{tmp_path / writable} is writable by others (0775)"


def test_the_target_of_a_link_counts(tmp_path: Path) -> None:
    path = program(tmp_path / "home/python3")
    (tmp_path / "home").chmod(0o777)
    link = tmp_path / "bin/python3"
    link.parent.mkdir(mode=0o755)
    link.symlink_to(path)
    assert "home is writable by others" in untrusted(str(link), os.geteuid())


def test_another_owner_is_not_trusted(tmp_path: Path) -> None:
    path = program(tmp_path / "bin/python3")
    if os.geteuid() == 0:
        os.chown(path, 1234, -1)
    assert "belongs to user" in untrusted(str(path), owner=0)


@pytest.mark.parametrize("path", ["python3", "/no/such/python3"])
def test_only_absolute_paths_of_programs(path: str) -> None:
    assert untrusted(path) == "is not the absolute path of a program"


@pytest.mark.parametrize(("same", "virtual"), [(True, False), (True, True), (False, False)])
def test_the_unversioned_name_of_the_same_program_is_preferred(tmp_path: Path, same: bool, virtual: bool) -> None:
    """An upgrade of the distribution removes the versioned name. A virtual environment has packages of its own."""
    versioned, unversioned = program(tmp_path / "python3.11"), tmp_path / "python3"
    unversioned.symlink_to(versioned if same else program(tmp_path / "python3.9"))
    found = stable_names(str(versioned), str(unversioned), virtual=virtual)
    assert found == ([str(unversioned)] if same and not virtual else []) + [str(versioned)]


def test_the_first_trusted_candidate_is_chosen(tmp_path: Path) -> None:
    bad, good = program(tmp_path / "a/python3"), program(tmp_path / "b/python3")
    (tmp_path / "a").chmod(0o777)
    assert choose_interpreter([str(bad), str(good)], os.geteuid()) == str(good)


def test_without_a_trusted_candidate_the_error_says_why(tmp_path: Path) -> None:
    bad = program(tmp_path / "a/python3")
    (tmp_path / "a").chmod(0o777)
    with pytest.raises(ValueError, match=r"a is writable by others .*install the distribution's python3"):
        choose_interpreter([str(bad)], os.geteuid())
