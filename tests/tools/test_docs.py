# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links between pages lead somewhere, the map of the code names every folder and only what exists, and shown plans are what the code prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import newest_release
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import prepare, text_lines

PROJECT = Path(__file__).resolve().parents[2]
PAGES = subprocess.run(
    ["git", "ls-files", "*.md"], cwd=PROJECT, capture_output=True, text=True, check=True
).stdout.split()
MAP = (PROJECT / "docs/architecture.md").read_text()


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    page = PROJECT / name
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_named_paths_exist(name: str) -> None:
    """Paths in backquotes are relative to the project, or to plugins/module_utils."""
    paths = re.findall(r"`([\w./-]+/[\w./-]*|_\w+/[\w./]+)`", (PROJECT / name).read_text())
    roots = (PROJECT, PROJECT / "plugins/module_utils")
    ids_of_rules = ("memory/large_values",)
    missing = [path for path in paths if not any((root / path).exists() for root in roots)]
    assert [path for path in missing if not path.startswith((*ids_of_rules, ".headroom"))] == []


def test_the_map_names_every_folder() -> None:
    listing = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.split()
    top = {path.split("/")[0] + "/" for path in listing if "/" in path and not path.startswith(".")}
    packages = {"/".join(path.split("/")[:3]) + "/" for path in listing if path.startswith("plugins/module_utils/")}
    ignored = {"changelogs/", "docs/", "inventory/", "meta/", "requirements/", "plugins/"}
    assert {folder for folder in top | packages if folder not in ignored and f"`{folder}" not in MAP} == set()


def test_contributing_names_every_folder_of_tests() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "tests"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.split()
    folders = {"/".join(path.split("/")[:2]) + "/" for path in listing if path.count("/") > 1}
    table = (PROJECT / "CONTRIBUTING.md").read_text().partition("## Where tests go\n")[2].partition("\n## ")[0]
    assert {folder for folder in folders if f"`{folder}" not in table} == set()


def test_the_index_lists_the_public_playbooks() -> None:
    index = (PROJECT / "docs/README.md").read_text().partition("## Playbooks\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", index, re.MULTILINE)
    public = [path.stem for path in (PROJECT / "playbooks").glob("*.yml") if not path.stem.startswith("_")]
    assert sorted(listed) == sorted(public)


# The sections that a reader with a broken cluster needs.
REMEDIES = {
    "certificates.md#a-lost-ca",
    "certificates.md#expired-certificates",
    "deploy.md#a-host-is-unreachable",
    "maintenance.md#nospace",
    "membership.md#rebuild-a-corrupt-member",
    "membership.md#replace",
    "restore.md",
    "restore.md#lost-quorum-a-member-is-left",
    "restore.md#restore-the-whole-cluster",
    "storage.md#a-full-disk",
    "storage.md#a-lost-volume",
}


def test_the_index_lists_each_failure_with_its_first_command() -> None:
    table = (PROJECT / "docs/README.md").read_text().partition("## Recover\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+) \| (.+) \| \[\w+\]\((\S+)\) \|$", table, re.MULTILINE)
    assert {page for _symptom, _command, page in rows} >= REMEDIES
    playbooks = {name for _symptom, command, _page in rows for name in re.findall(r"etcdops\.headroom\.(\w+)", command)}
    assert [name for name in playbooks if not (PROJECT / f"playbooks/{name}.yml").exists()] == []
    assert "(docs/README.md#recover)" in (PROJECT / "README.md").read_text().partition("## Operate\n")[2]


def test_the_plan_of_the_readme_is_what_the_playbook_prints() -> None:
    """The README leaves out rows, and wraps the last column earlier."""
    (block,) = re.findall(
        r"^\$ cat workload\.yml\n(.*?)^```", (PROJECT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    given, _, shown = block.partition("$ ansible-playbook etcdops.headroom.plan -e @workload.yml\n")
    asked = yaml.safe_load(given)
    report = prepare(asked["etcd_version"], asked["etcd_workload"], budget=asked["etcd_memory_budget"])
    printed = " ".join(" ".join(text_lines(report)).split())
    rows = re.sub(r"\n {12,}", " ", shown).splitlines()
    assert len(rows) > 5 and [row for row in rows if " ".join(row.split()) not in printed] == []


def test_the_refusal_in_the_page_of_the_plan_is_the_real_one() -> None:
    """The workload is the one of the sentence above it."""
    text = (PROJECT / "docs/plan.md").read_text().partition("## When nothing fits\n")[2]
    assert "30 puts/s of\n1 MB to 2,000 keys, with a budget of 1 GB:" in text
    with pytest.raises(PlanInfeasible) as refusal:
        plan_flags(newest_release(), {"value_size": "1MB", "keys": 2000, "puts_per_second": 30}, 3, "1GB")
    assert " ".join(text.split("```")[1].split()) == str(refusal.value)
