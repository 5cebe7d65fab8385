# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages are written, or named if they are not current."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.common import page
from bench.common.page import publish, with_part


def test_a_check_names_pages_that_are_not_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "PROJECT", tmp_path)
    pages = {tmp_path / "a.md": "a\n", tmp_path / "b.md": "b\n"}
    (tmp_path / "a.md").write_text("a\n")
    assert publish(pages, "make pages", check=True) == 1
    assert capsys.readouterr().out == "b.md is not current: run `make pages`\n"
    assert not (tmp_path / "b.md").exists()
    assert publish(pages, "make pages", check=False) == 0
    assert publish(pages, "make pages", check=True) == 0


def test_a_part_replaces_what_is_between_the_marks(tmp_path: Path) -> None:
    written = tmp_path / "a.md"
    written.write_text("before\n<begin>\nold\n<end>\nafter\n")
    assert with_part(written, "<begin>\n", "<end>", "new\n") == "before\n<begin>\nnew\n<end>\nafter\n"
