# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of site.yml have the documented tags, and what checks runs with every tag."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

ROOT = Path(topology.__file__).parents[3]
LINT, _TARGETS, DEPLOY = yaml.safe_load((ROOT / "playbooks" / "site.yml").read_text(encoding="utf-8"))


def test_the_page_lists_the_tags_in_their_order() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    tags = [tag for part in (LINT, *DEPLOY["tasks"]) for tag in part["tags"] if tag != "always"]
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == list(dict.fromkeys(tags))


def test_checks_run_with_every_tag_and_changes_with_their_own() -> None:
    for task in DEPLOY["tasks"]:
        entry = task["ansible.builtin.import_role"].get("tasks_from", "main")
        assert ("always" in task["tags"]) is (entry == "preflight"), task["name"]
