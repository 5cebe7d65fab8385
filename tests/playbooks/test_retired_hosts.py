# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts playbook scale considers for retirement: those of the members that etcd_scale_remove names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

PLAYBOOK = Path(__file__).resolve().parents[2] / "playbooks" / "scale.yml"
GIVEN = [["etcd-4", "etcd-5"], "etcd-4,etcd-5", "etcd-4, etcd-5", None]


@pytest.mark.parametrize("given", GIVEN, ids=["a list", "commas", "commas and blanks", "not set"])
def test_the_names_are_read_as_the_plan_reads_them(given: Any) -> None:
    loader = DataLoader()
    plays = loader.load_from_file(str(PLAYBOOK), trusted_as_template=True)
    [task] = next(play["tasks"] for play in plays if play["name"] == "Retire the hosts of removed members")
    variables = {} if given is None else {"etcd_scale_remove": given}
    found = Templar(loader=loader, variables=variables).template(task["vars"]["_etcd_removed"])
    assert found == ([] if given is None else ["etcd-4", "etcd-5"])
