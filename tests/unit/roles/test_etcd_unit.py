# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the configuration asks of the unit that role etcd writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases
from jinja2 import ChainableUndefined, Environment

TEMPLATE = Path(releases.__file__).parents[3] / "roles" / "etcd" / "templates" / "etcd.service.j2"


def unit(config: dict[str, Any]) -> list[str]:
    """The lines of the unit for a configuration; what else the template reads is left empty."""
    environment = Environment(trim_blocks=True, undefined=ChainableUndefined)
    plan = {"environment": {}, "memory_high": 1, "memory_max": 2}
    text = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        _etcd_config=config, etcd_plan=plan, etcd_host_directories=[], etcd_host_managed_mounts=[]
    )
    return text.splitlines()


@pytest.mark.parametrize(
    ("version", "extra", "raised"),
    [
        ("3.7.3", {}, False),
        ("3.7.3", {"memory-mlock": False}, False),
        ("3.7.3", {"memory-mlock": True}, True),
        ("3.6.16", {"memory-mlock": True}, True),
        ("3.6.16", {"experimental-memory-mlock": True}, True),
        ("3.5.35", {"experimental-memory-mlock": True}, True),
    ],
)
def test_a_locked_database_may_be_locked(version: str, extra: dict[str, Any], raised: bool) -> None:
    """As rule memory/mlock of the linter takes it to be."""
    config = releases.render_config(version, {"name": "n1"}, extra)
    assert ("LimitMEMLOCK=infinity" in unit(config)) is raised
