# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the English finds a bad sentence in each kind of file, and ignores code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.prose.__main__ import alerts
from tools.prose.extract import Prose, extractor

# In two pieces, so that the check of this file does not find it.
BAD = "three volumes, of " + "which one is full"
PLACES = {
    "page": ("docs/page.md", f"# Title\n\nThere are {BAD}.\n", 3),
    "sentence over two lines": (
        "docs/page.md",
        f"# Title\n\nThere are {BAD.replace(' which', chr(10) + 'which')}.\n",
        3,
    ),
    "docstring over two lines": (
        "plugins/a.py",
        f'"""Do it.\n\nThere are {BAD.replace(" which", chr(10) + "which")}.\n"""\n',
        3,
    ),
    "docstring": ("plugins/a.py", f'"""Do it.\n\nThere are {BAD}.\n"""\n', 3),
    "Python comment": ("plugins/a.py", f"x = 1\nx = 2  # there are {BAD}\n", 2),
    "message": ("plugins/a.py", f'def f(n):\n    return (\n        f"{{n}} has "\n        f"{BAD}"\n    )\n', 4),
    "module documentation": (
        "plugins/modules/a.py",
        f'DOCUMENTATION = """\nmodule: a\nshort_description: {BAD}\n"""\n',
        3,
    ),
    "Rego comment": ("policies/a.rego", f"package a\n\n# METADATA\n# description: There are {BAD}\nx := 1\n", 4),
    "Rego message": ("policies/a.rego", f'package a\n\nx := sprintf("%s: {BAD}", [1])\n', 3),
    "YAML comment": ("model/a.yml", f"---\na: 1 # {BAD}\n", 2),
    "YAML text": ("roles/x/meta/argument_specs.yml", f"---\noptions:\n  a:\n    description: There are {BAD}\n", 4),
    "changelog fragment": ("changelogs/fragments/a.yml", f"---\nbugfixes:\n  - Role etcd - {BAD}.\n", 3),
    "changelog": ("CHANGELOG.rst", f"Title\n=====\n\n- {BAD}\n", 4),
    "shell comment": ("lab/run", f"#!/bin/sh\n\n# {BAD}\nls\n", 3),
    "Go comment": ("tools/a.go", f"package a\n\n// {BAD}\n", 3),
    "template": ("roles/x/templates/a.j2", f"# {BAD}\n[Unit]\n", 1),
    "number of things": ("plugins/a.py", f'"""Stop after so {"many"} runs."""\n', 1),
    "average": ("docs/page.md", f"# Title\n\nA put has 4 KiB in the {'mean'}, key included.\n", 3),
    "negated noun": ("docs/page.md", f"# Title\n\nTwo of four {'are'} no majority.\n", 3),
    "task name without a verb": ("roles/x/tasks/main.yml", "---\n- name: Look at the hosts\n  ping:\n", 2),
    "task name with a vague verb": ("roles/x/tasks/main.yml", "---\n- name: Judge the disks\n  ping:\n", 2),
    "task name without an object": ("roles/x/tasks/main.yml", "---\n- ping:\n- name: Restart\n  ping:\n", 3),
    "task name with a pronoun": ("playbooks/a.yml", "---\n- name: Install it there\n  ping:\n", 2),
}
GOOD = {
    "code on a page": ("docs/page.md", f"# Title\n\n`{BAD}`\n\n```\n{BAD}\n```\n"),
    "code in a comment": ("plugins/a.py", f"# `{BAD}` is the name\n"),
    "statistics": ("docs/page.md", "# Title\n\nThe difference in the mean latency is small.\n"),
    "too large a number": ("docs/page.md", f"# Title\n\nThere are so {'many'}\nthat etcd stops.\n"),
    "what does not exist": ("docs/page.md", "# Title\n\nIf there\nare no members, it is no longer running.\n"),
    "identifier": ("plugins/a.py", "def the_least_that_fits(of_which):\n    return of_which\n"),
    "imperative": ("roles/x/tasks/main.yml", "---\n- name: Install the etcd binaries\n  ping:\n"),
}


def check(root: Path, name: str, content: str) -> list[str]:
    path = root / name
    path.parent.mkdir(parents=True)
    path.write_text(content)
    return alerts(root, [Path(name)])


@pytest.mark.parametrize("place", PLACES)
def test_finds_a_bad_sentence(place: str, tmp_path: Path) -> None:
    name, content, line = PLACES[place]
    [found] = check(tmp_path / "project", name, content)
    assert found.startswith(f"{name}:{line}:")


@pytest.mark.parametrize("place", GOOD)
def test_leaves_the_rest_alone(place: str, tmp_path: Path) -> None:
    assert check(tmp_path / "project", *GOOD[place]) == []


def test_keeps_lines_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('def f():\n    """Return a whole sentence."""\n    return 1  # for a reason\n')
    prose = Prose(path.read_text())
    extract = extractor(path)
    assert extract
    extract(prose)
    assert prose.rendered(prose.text).split("\n") == [
        "",
        "    ¦  Return a whole sentence.",
        "                for a reason",
        "",
    ]
