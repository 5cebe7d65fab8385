# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of model/releases.yml with changelogs, here of a series that etcd does not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import defects

CHANGELOG = """
## v9.1.3 (2027-03-01)

### etcd server

- Fix [a new leak](https://github.com/etcd-io/etcd/pull/103)
- [Print more](https://github.com/etcd-io/etcd/pull/104)

### Dependencies

- Bump x to address [CVE-2027-1](https://github.com/etcd-io/etcd/pull/105)

## [v9.1.2](https://github.com/etcd-io/etcd/releases/tag/v9.1.2) (2027-02-01)

### etcd server

- Fix [lost writes](https://github.com/etcd-io/etcd/pull/102), see GHSA-aaaa-bbbb-cccc
- Fix [an old leak](https://github.com/etcd-io/etcd/pull/101)

## v9.1.0-rc.0 (2027-01-01)

#### Flags Removed

- The following flags have been removed:
  - `--gone`
"""


def releases(**changes: Any) -> dict[str, Any]:
    """Return a model with one series and one defect that the changelog supports."""
    bug = {"id": "lost-writes", "ranges": [{"from": "9.1.0", "fixed": "9.1.2"}], "source": ["pull/102"]}
    series = {"reviewed": "9.1.2", "removed": {"gone": "it is gone"}, "upgrade_floor": "9.0.7"}
    return {"series": {"9.1": {**series, **changes.pop("series", {})}}, "bugs": [{**bug, **changes}]}


def test_what_the_changelog_supports() -> None:
    entries = defects.parse_changelog(CHANGELOG)
    assert list(defects.unsupported(releases()["bugs"], entries)) == []
    assert list(defects.unsupported(releases(source=["GHSA-aaaa-bbbb-cccc"])["bugs"], entries)) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"source": ["pull/999"]}, "lost-writes: the changelog of 9.1.2 links none of its sources"),
        (
            {"ranges": [{"from": "9.1.0", "fixed": "9.1.1"}]},
            "lost-writes: fixed says 9.1.1, the changelog links its sources in 9.1.2",
        ),
        (
            {"source": ["pull/102", "pull/103"]},
            "lost-writes: fixed says 9.1.2, the changelog links its sources in 9.1.2, 9.1.3",
        ),
    ],
)
def test_what_the_changelog_does_not_support(change: dict[str, Any], problem: str) -> None:
    assert list(defects.unsupported(releases(**change)["bugs"], defects.parse_changelog(CHANGELOG))) == [problem]


def test_a_fix_that_no_release_has_and_a_series_without_changelog_are_passed_over() -> None:
    ranges = [{"from": "9.1.0", "fixed": None}, {"from": "8.0.0", "fixed": "8.0.1"}]
    assert list(defects.unsupported(releases(ranges=ranges)["bugs"], defects.parse_changelog(CHANGELOG))) == []


def test_candidates_are_fixes_of_the_server_after_the_reviewed_release() -> None:
    entries = defects.parse_changelog(CHANGELOG)
    new = "9.1.3: pull/103: Fix a new leak"
    assert list(defects.candidates(releases(), entries, everything=False)) == [new]
    assert list(defects.candidates(releases(), entries, everything=True)) == [new, "9.1.2: pull/101: Fix an old leak"]


def test_removed_flags() -> None:
    entries = defects.parse_changelog(CHANGELOG)
    assert list(defects.removed_flags(releases(), entries)) == []
    without = releases(series={"removed": {}})
    assert list(defects.removed_flags(without, entries)) == ["9.1: the changelog says that --gone was removed"]


def test_all_experimental_flags_removed_at_once() -> None:
    text = "## v9.1.0 (2027-01-01)\n\n### Breaking Changes\n\n- [Removed all deprecated experimental flags](link)\n"
    model = releases()
    before = {"deprecated": {"experimental-gone": "use gone", "old": "use new"}}
    model["series"] = {"9.0": before, **model["series"]}
    wanted = ["9.1: the changelog says that --experimental-gone was removed"]
    assert list(defects.removed_flags(model, defects.parse_changelog(text))) == wanted
    model["series"]["9.1"]["removed"]["experimental-gone"] = "use gone"
    assert list(defects.removed_flags(model, defects.parse_changelog(text))) == []


def test_floors() -> None:
    assert list(defects.floors(releases(), "9.1", "Before this, update to [9.0.7 or later](page).")) == []
    wanted = ["9.1: upgrade_floor is 9.0.7, the guide says 9.0.9"]
    assert list(defects.floors(releases(), "9.1", "All members must run v9.0.9 or later.")) == wanted
    assert list(defects.floors(releases(), "9.1", "")) == ["9.1: upgrade_floor is 9.0.7, the guide says none"]


def run(monkeypatch: pytest.MonkeyPatch, model: dict[str, Any], folder: Path) -> int:
    path = folder / "releases.yml"
    path.write_text(yaml.safe_dump(model), encoding="utf-8")
    monkeypatch.setattr(defects, "RELEASES", path)
    monkeypatch.setattr("sys.argv", ["defects", str(folder)])
    return defects.main()


def test_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(monkeypatch, releases(), tmp_path) == 2
    assert "CHANGELOG-9.1.md not found" in capsys.readouterr().err
    (tmp_path / "CHANGELOG-9.1.md").write_text(CHANGELOG, encoding="utf-8")
    assert run(monkeypatch, releases(), tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "candidate: 9.1.3: pull/103: Fix a new leak",
        "1 defects with 1 fixes, 7 entries of 1 changelogs",
        "no guide was given for 9.1: their floors were not compared",
    ]
    (tmp_path / "upgrade_9_1.md").write_text("Start from v9.0.7 or later.", encoding="utf-8")
    assert run(monkeypatch, releases(series={"reviewed": "9.1.3"}), tmp_path) == 0
