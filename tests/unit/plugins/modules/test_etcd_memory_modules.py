# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_memory_estimate and etcd_memory_plan as Ansible runs them, and their documentation against what they return."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_memory_estimate, etcd_memory_plan

PLAN = {"version": "3.7.3", "workload": {"value_size": "100KB"}, "budget": "2GB"}
ESTIMATE = {"version": "3.6.16", "workload": {"value_size": "100KB"}}


def run(module: ModuleType, arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        module.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.parametrize(("module", "arguments"), [(etcd_memory_estimate, ESTIMATE), (etcd_memory_plan, PLAN)])
@pytest.mark.parametrize("check_mode", [False, True])
def test_everything_returned_is_documented(
    module: ModuleType, arguments: dict[str, Any], check_mode: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(module, {**arguments, "_ansible_check_mode": check_mode}, capsys)
    assert result["changed"] is False
    assert set(result) - {"changed", "invocation"} == set(yaml.safe_load(module.RETURN))
    assert result["report"].startswith(f"etcd {arguments['version']}, 3 members\n")


@pytest.mark.parametrize(
    ("module", "arguments", "text"),
    [
        (etcd_memory_estimate, {"version": "3.8.0"}, "etcd 3.8.0 is not known; known series"),
        (etcd_memory_estimate, {**ESTIMATE, "workload": {"value_size": "big"}}, "workload.value_size is 'big'"),
        (
            etcd_memory_plan,
            {**PLAN, "workload": {"valuesize": 1}},
            "unknown key 'valuesize', did you mean 'value_size'?",
        ),
        (etcd_memory_plan, {**PLAN, "budget": "64MB"}, "no flags fit this workload into 64.0 MiB"),
    ],
)
def test_bad_input_fails_with_one_message(
    module: ModuleType, arguments: dict[str, Any], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(module, arguments, capsys)
    assert result["failed"] is True
    assert text in result["msg"]
