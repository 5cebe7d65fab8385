# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare model/releases.yml with etcd's changelogs and upgrade guides: `python -m tools.defects PATH …`.

Each PATH is a file or a folder: CHANGELOG-3.x.md from github.com/etcd-io/etcd/tree/main/CHANGELOG, and upgrade_3_x.md from
github.com/etcd-io/website/tree/main/content/en/docs. Reads only, and exits 1 if

- a release in `bugs` is not supported: its changelog links none of the defect's sources, or a later one does;
- a changelog names a fix, in a release after the series' `reviewed`, that no defect links (a candidate);
- a changelog says that a flag was removed, or a guide states a floor, that the series does not have.

A person then adds each candidate to `bugs`, or passes over it, and moves `reviewed`. --all shows the candidates of earlier releases too.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

RELEASES = Path(__file__).resolve().parents[1] / "model" / "releases.yml"
REPOSITORY = "https://github.com/etcd-io/etcd/"
# Sections whose fixes change what a server does.
_SECTIONS = re.compile(r"server|security|client/pkg", re.IGNORECASE)
_FIX = re.compile(r"\bfix|bugfix|protection|CVE-|GHSA-|corrupt|inconsisten|leak|timeout|panic", re.IGNORECASE)
_LINK = re.compile(r"github\.com/etcd-io/etcd/(pull/\d+)|(GHSA(?:-[a-z0-9]{4}){3})|(CVE-\d{4}-\d+)")


class Entry(NamedTuple):
    """One line of a changelog."""

    release: str
    section: str
    text: str
    links: frozenset[str]


def release_key(release: str) -> tuple[int, ...]:
    """Return a release as integers that compare."""
    return tuple(int(part) for part in release.split("."))


def parse_changelog(text: str) -> list[Entry]:
    """Return the entries of all full releases of a changelog; release candidates count as the series' first release."""
    entries: list[Entry] = []
    release = section = ""
    for line in text.splitlines():
        if heading := re.match(r"## \[?v(\d+\.\d+\.\d+)", line):
            release, section = heading[1], ""
        elif line.startswith("#"):
            section = line.lstrip("# ")
        elif release and (item := re.match(r"\s*- (.*)", line)):
            links = frozenset(next(filter(None, found)) for found in _LINK.findall(item[1]))
            entries.append(Entry(release, section, item[1], links))
    return entries


def unsupported(bugs: list[dict[str, Any]], entries: list[Entry]) -> Iterator[str]:
    """Yield each `fixed` that no changelog supports. Series without a changelog are passed over."""
    known = {entry.release.rpartition(".")[0] for entry in entries}
    for bug in bugs:
        for span in bug["ranges"]:
            fixed = span["fixed"]
            if fixed is None or fixed.rpartition(".")[0] not in known:
                continue
            series = fixed.rpartition(".")[0]
            linking = {
                entry.release
                for entry in entries
                if entry.links & set(bug["source"]) and entry.release.rpartition(".")[0] == series
            }
            last = max(linking, key=release_key, default=None)
            if last is None:
                yield f"{bug['id']}: the changelog of {fixed} links none of its sources"
            elif last != fixed:
                yield f"{bug['id']}: fixed says {fixed}, the changelog links its sources in {', '.join(sorted(linking))}"


def candidates(releases: dict[str, Any], entries: list[Entry], everything: bool) -> Iterator[str]:
    """Yield the fixes that no defect links: those after `reviewed`, or all."""
    linked = {source for bug in releases["bugs"] for source in bug["source"]}
    for entry in entries:
        series = releases["series"].get(entry.release.rpartition(".")[0])
        if series is None or not _SECTIONS.search(entry.section) or not _FIX.search(entry.text):
            continue
        is_new = release_key(entry.release) > release_key(series["reviewed"])
        if (everything or is_new) and entry.links and not entry.links & linked:
            yield f"{entry.release}: {' '.join(sorted(entry.links))}: {_plain(entry.text)}"


def _plain(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def removed_flags(releases: dict[str, Any], entries: list[Entry]) -> Iterator[str]:
    """Yield the flags that a changelog says were removed and the series does not."""
    names = list(releases["series"])
    for entry in entries:
        name = entry.release.rpartition(".")[0]
        flags = []
        if entry.section == "Flags Removed":
            flags = re.findall(r"^`--([\w-]+)`$", entry.text.strip())
        elif "Removed all deprecated experimental flags" in entry.text:
            deprecated = releases["series"][names[names.index(name) - 1]]["deprecated"]
            flags = [flag for flag in deprecated if flag.startswith("experimental-")]
        for flag in flags:
            if flag not in releases["series"][name]["removed"]:
                yield f"{name}: the changelog says that --{flag} was removed"


def floors(releases: dict[str, Any], name: str, guide: str) -> Iterator[str]:
    """Yield a series' floor if the guide of its upgrade states another."""
    series = releases["series"].get(name, {})
    stated = set(re.findall(r"(\d+\.\d+\.\d+) or later", guide))
    if "upgrade_floor" in series and series["upgrade_floor"] not in stated:
        yield f"{name}: upgrade_floor is {series['upgrade_floor']}, the guide says {', '.join(sorted(stated)) or 'none'}"


def files(paths: list[Path], pattern: str) -> dict[str, str]:
    """Return the texts of the files whose names match, by series."""
    found = {}
    for path in paths:
        for file in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            if match := re.fullmatch(pattern, file.name):
                found[match[1].replace("_", ".")] = file.read_text(encoding="utf-8")
    return found


def main() -> int:
    """Print what differs; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true", help="show the candidates of reviewed releases too")
    arguments = parser.parse_args()
    releases = yaml.safe_load(RELEASES.read_text(encoding="utf-8"))
    changelogs = files(arguments.paths, r"CHANGELOG-(\d+\.\d+)\.md")
    missing = sorted(set(releases["series"]) - set(changelogs))
    if missing:
        names = ", ".join(f"CHANGELOG-{name}.md" for name in missing)
        print(f"{names} not found; they are in {REPOSITORY}tree/main/CHANGELOG", file=sys.stderr)
        return 2
    entries = [entry for name in releases["series"] for entry in parse_changelog(changelogs[name])]
    guides = files(arguments.paths, r"upgrade_(\d+_\d+)\.md")
    differences = {
        "not supported": list(unsupported(releases["bugs"], entries)),
        "removed flag": list(removed_flags(releases, entries)),
        "floor": [line for name, guide in guides.items() for line in floors(releases, name, guide)],
        "candidate": list(candidates(releases, entries, everything=arguments.all)),
    }
    for kind, lines in differences.items():
        for line in lines:
            print(f"{kind}: {line}")
    fixes = sum(len(bug["ranges"]) for bug in releases["bugs"])
    print(f"{len(releases['bugs'])} defects with {fixes} fixes, {len(entries)} entries of {len(changelogs)} changelogs")
    unread = [name for name, series in releases["series"].items() if "upgrade_floor" in series and name not in guides]
    if unread:
        print(f"no guide was given for {', '.join(unread)}: their floors were not compared")
    return 1 if any(differences.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
