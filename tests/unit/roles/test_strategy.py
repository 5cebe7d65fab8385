# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plays need Ansible's strategy linear: a task may read what the task before it found on all hosts, and a failure ends the play on all of them.

The keyword has precedence over the user's ansible.cfg.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

FILES = sorted((Path(topology.__file__).parents[3] / "playbooks").glob("*.yml"))


def test_the_playbooks_are_found() -> None:
    assert {"_targets", "lint", "site", "upgrade"} <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_play_names_its_strategy(path: Path) -> None:
    plays = [play for play in yaml.safe_load(path.read_text(encoding="utf-8")) if "hosts" in play]
    assert [play["name"] for play in plays if play.get("strategy") != "ansible.builtin.linear"] == []
