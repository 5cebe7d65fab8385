# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the configuration asks of the unit that role etcd writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.release_comparison import Member, plan_change
from jinja2 import ChainableUndefined, Environment

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
TEMPLATE = ROLE / "templates" / "etcd.service.j2"


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


def role_variable(
    name: str,
    extra: dict[str, Any],
    settings: dict[str, Any] | None = None,
    variables: dict[str, Any] | None = None,
) -> Any:
    """Return a variable of the role with this etcd_extra_config. settings: those of the plan. variables: those that pin one."""
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "vars" / "main" / "settings.yml"), trusted_as_template=True),
        "_etcd_base_settings": {"name": "n1"},
        "etcd_wal_dir": "",
        "etcd_extra_config": extra,
        "etcd_plan": {"settings": settings},
        "_etcd_pinned_variables": {"gogc": 90} if variables is None else variables,
    }
    return Templar(loader=loader, variables=given).template(given[name])


@pytest.mark.parametrize(
    ("version", "extra", "locked"),
    [
        ("3.7.3", {}, False),
        ("3.7.3", {"memory-mlock": False}, False),
        ("3.7.3", {"memory-mlock": True}, True),
        ("3.6.16", {"experimental-memory-mlock": True}, True),
        ("3.5.35", {"experimental-memory-mlock": True}, True),
    ],
)
def test_the_plan_counts_a_locked_database_in_full(version: str, extra: dict[str, Any], locked: bool) -> None:
    pinned = role_variable("_etcd_pinned", extra)
    assert pinned == ({"gogc": 90, "memory_mlock": True} if locked else {"gogc": 90})
    workload = {"value_size": "10KB", "keys": 100000}
    if locked:
        with pytest.raises(PlanInfeasible):
            plan_flags(version, workload, 3, "1GB", pinned)
    planned = plan_flags(version, workload, 3, "4GB", pinned)
    # The configuration has the user's own key, once.
    settings = role_variable("_etcd_settings", extra, planned["settings"])
    assert settings == {
        "name": "n1",
        **{name: planned["settings"][name] for name in planned["settings"] if name != "memory_mlock"},
    }
    assert releases.render_config(version, settings, extra).items() >= extra.items()
    member = Member(workload, 3, "4GB", pinned, base={"name": "n1"}, extra=extra)
    assert plan_change(member, version, version)[0] == []


@pytest.mark.parametrize("version", ["3.5.35", "3.7.3"])
def test_the_plan_counts_the_limit_of_requests_in_the_further_settings(version: str) -> None:
    extra = {"max-request-bytes": 10 << 20}
    pinned = role_variable("_etcd_pinned", extra)
    assert pinned == {"gogc": 90, "max_request_bytes": 10 << 20}
    workload = {"value_size": "2MB", "keys": 100, "puts_per_second": 1}
    planned = plan_flags(version, workload, 3, "4GB", pinned)
    # The configuration has the user's own key, once.
    settings = role_variable("_etcd_settings", extra, planned["settings"])
    assert releases.render_config(version, settings, extra)["max-request-bytes"] == 10 << 20
    member = Member(workload, 3, "4GB", pinned, base={"name": "n1"}, extra=extra)
    assert plan_change(member, version, version)[0] == []


def test_a_limit_of_requests_that_is_set_twice() -> None:
    extra, variables = {"max-request-bytes": 10 << 20}, {"max_request_bytes": "2MB"}
    planned = plan_flags("3.7.3", {}, 3, "4GB", role_variable("_etcd_pinned", extra, variables=variables))
    settings = role_variable("_etcd_settings", extra, planned["settings"], variables)
    with pytest.raises(releases.BadConfig, match="max-request-bytes: set twice"):
        releases.render_config("3.7.3", settings, extra)


@pytest.mark.parametrize(
    ("extra", "variables", "pinned"),
    [
        ({"max-request-bytes": None}, {"max_request_bytes": "2MB"}, "2MB"),
        ({"max-request-bytes": 5}, {"max_request_bytes": None}, 5),
    ],
)
def test_a_null_sets_no_limit_of_requests(extra: dict[str, Any], variables: dict[str, Any], pinned: Any) -> None:
    assert role_variable("_etcd_pinned", extra, variables=variables) == {"max_request_bytes": pinned}
