# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which timings role etcd refuses, because etcd exits at its start with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
ABOVE = "etcd_election_timeout must be at most 50000 (milliseconds), and is"
CLOSE = "etcd_election_timeout must be at least five times etcd_heartbeat_interval"
BELOW = "etcd_heartbeat_interval must be 1 or more (milliseconds), and is"


@pytest.mark.parametrize(
    ("heartbeat", "election", "problems"),
    [
        (100, 1000, []),
        ("100", "500", []),
        (5000, 50000, []),
        (500, 1000, [f"{CLOSE} (500), better ten times, and is 1000"]),
        (100, 50001, [f"{ABOVE} 50001"]),
        (0, 1000, [f"{BELOW} 0"]),
        ("1s", 1000, [f"{BELOW} 1s"]),
        (10001, 50001, [f"{ABOVE} 50001", f"{CLOSE} (10001), better ten times, and is 50001"]),
    ],
)
def test_timings(heartbeat: int | str, election: int | str, problems: list[str]) -> None:
    loader = DataLoader()
    given: dict[str, Any] = {
        **loader.load_from_file(str(ROLE / "vars" / "main" / "obstacles.yml"), trusted_as_template=True),
        "etcd_heartbeat_interval": heartbeat,
        "etcd_election_timeout": election,
    }
    found = Templar(loader=loader, variables=given).template(given["_etcd_wrong_timings"])
    assert found == problems
