# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of certificates, interrupted before each step: readers see the old set or the new one, never a mixture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import sets as certificate_sets

NAMES = ("ca.crt", "server.crt", "server.key")


class Killed(Exception):
    """The play died here."""


def write(folder: Path, content: str) -> None:
    """Write a whole set as plain files."""
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / name).write_text(content)
        (folder / name).chmod(0o640)


def seen(folder: Path) -> set[str]:
    """Return the contents that a reader finds."""
    return {(folder / name).read_text() for name in NAMES}


def stage(folder: Path, content: str) -> None:
    """Stage a set."""
    write(Path(certificate_sets.prepare(str(folder), [], [])), content)
    assert certificate_sets.complete(str(folder))


def links(folder: Path) -> bool:
    """Whether all files are links into the set in use."""
    return all(os.readlink(folder / name) == f"current/{name}" for name in NAMES)


def test_the_first_set(tmp_path: Path) -> None:
    assert certificate_sets.activate(str(tmp_path)) is False
    stage(tmp_path, "first")
    assert not (tmp_path / "ca.crt").exists()
    assert certificate_sets.activate(str(tmp_path)) and not certificate_sets.is_staged(str(tmp_path))
    assert seen(tmp_path) == {"first"} and links(tmp_path)
    assert not certificate_sets.activate(str(tmp_path))


def test_plain_files_become_links_and_others_stay(tmp_path: Path) -> None:
    write(tmp_path, "old")
    (tmp_path / "app.key").write_text("an application's")
    stage(tmp_path, "new")
    assert seen(tmp_path) == {"old"} and not (tmp_path / "ca.crt").is_symlink()
    certificate_sets.activate(str(tmp_path))
    assert seen(tmp_path) == {"new"} and links(tmp_path)
    assert (tmp_path / "app.key").read_text() == "an application's"
    assert (tmp_path / "server.key").stat().st_mode & 0o777 == 0o640


def test_only_the_set_before_stays(tmp_path: Path) -> None:
    for content in ("1", "2", "3", "4"):
        stage(tmp_path, content)
        certificate_sets.activate(str(tmp_path))
    assert sorted(path.name for path in tmp_path.glob("generation-*")) == ["generation-3", "generation-4"]
    assert seen(tmp_path) == {"4"}


def test_only_own_sets_are_removed_and_a_failure_to_remove_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(tmp_path, "1")
    certificate_sets.activate(str(tmp_path))
    (tmp_path / "generation-1.tgz").write_text("an administrator's")
    (tmp_path / "generation-7").symlink_to("/nowhere")
    for name in ("generation-1-backup", "generation-0-a_b1c2d3", ".headroom-dead"):
        (tmp_path / name).mkdir()
    (tmp_path / ".headroom-file").write_text("")
    stage(tmp_path, "2")
    with monkeypatch.context() as patch:
        patch.setattr(certificate_sets, "_remove", lambda path: os.rmdir(f"{path}/busy"))
        assert certificate_sets.activate(str(tmp_path)) and seen(tmp_path) == {"2"}
    stage(tmp_path, "3")
    assert certificate_sets.activate(str(tmp_path)) and seen(tmp_path) == {"3"}
    left = {path.name for path in tmp_path.iterdir()} - set(NAMES)
    assert left == {
        "current",
        "generation-1-backup",
        "generation-1.tgz",
        "generation-2",
        "generation-3",
        "generation-7",
    }


def test_an_unfinished_set_leaves_only_the_files_to_keep(tmp_path: Path) -> None:
    """An attempt with a separate CA of the peers, before certificates of one CA were provided."""
    folder = Path(certificate_sets.prepare(str(tmp_path), [], []))
    for name in ("peer-ca.crt", "server.key", ".headroom-killed"):
        (folder / name).write_text("left")
    (folder / ".headroom-directory").mkdir()
    certificate_sets.prepare(str(tmp_path), [], ["server.key"])
    assert [path.name for path in folder.iterdir()] == ["server.key"]
    certificate_sets.complete(str(tmp_path), {"ca.crt": "new"})
    certificate_sets.activate(str(tmp_path))
    assert not os.path.lexists(tmp_path / "peer-ca.crt")


def test_a_set_takes_over_installed_files(tmp_path: Path) -> None:
    write(tmp_path, "old")
    folder = Path(certificate_sets.prepare(str(tmp_path), ["server.crt", "gone.crt"], ["server.key"]))
    assert folder.name == "generation-1" and (folder / "server.crt").read_text() == "old"
    (folder / "server.key").write_text("a new key")
    (folder / "server.crt").write_text("unfinished")
    certificate_sets.prepare(str(tmp_path), ["server.crt"], ["server.key"])
    assert (folder / "server.crt").read_text() == "old" and (folder / "server.key").read_text() == "a new key"


def test_a_set_that_is_changed_is_not_complete(tmp_path: Path) -> None:
    stage(tmp_path, "first")
    assert not certificate_sets.complete(str(tmp_path))
    certificate_sets.prepare(str(tmp_path), [], [])
    assert not certificate_sets.is_staged(str(tmp_path))


def kill_before(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Raise before the step-th call that changes a name."""
    calls = 0

    def counted(function: Any) -> Any:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == step:
                raise Killed
            return function(*arguments, **keywords)

        return call

    for name in ("symlink", "replace", "mkdir"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))


@pytest.mark.parametrize("plain", [True, False], ids=["plain files", "links"])
def test_an_activation_killed_at_any_step_leaves_one_set_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    for step in range(1, 40):
        folder = tmp_path / str(step)
        folder.mkdir()
        if plain:
            write(folder, "old")
        else:
            stage(folder, "old")
            certificate_sets.activate(str(folder))
        stage(folder, "new")
        with monkeypatch.context() as patch:
            kill_before(patch, step)
            try:
                certificate_sets.activate(str(folder))
                done = True
            except Killed:
                done = False
        assert seen(folder) in ({"old"}, {"new"}) and (seen(folder) == {"new"}) is done
        certificate_sets.activate(str(folder))
        assert seen(folder) == {"new"} and links(folder)
        if done:
            break
    assert done and step > (10 if plain else 1)
