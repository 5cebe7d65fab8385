# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the settings of a plan for the file in which a running etcd has its settings. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import indented

# kubespray gives each cluster this token (roles/etcd/templates/etcd.env.j2), and has variables for these settings (roles/etcd).
_KUBESPRAY_TOKEN = "k8s_etcd"
_KUBESPRAY = {
    "auto_compaction_retention": "etcd_compaction_retention",
    "quota_backend_bytes": "etcd_quota_backend_bytes",
    "snapshot_count": "etcd_snapshot_count",
}


def planned_lines(plan: Mapping[str, Any], process: Mapping[str, Any]) -> list[str]:
    """Return the lines for one process, each file's after a line that names it. process: as etcd_process_info returns it."""
    kind = process["supervisor"]["kind"]
    if process["environment"].get("ETCD_INITIAL_CLUSTER_TOKEN") == _KUBESPRAY_TOKEN:
        return _kubespray(plan, process["supervisor"]["unit"] if kind == "service" else "")
    if kind == "pod":
        return _static_pod(plan)
    if kind == "container":
        return _compose(plan, process)
    unit = process["supervisor"]["unit"] if kind == "service" else ""
    return [*_settings(plan, process, unit), *_limits(plan, unit)]


def _settings(plan: Mapping[str, Any], process: Mapping[str, Any], unit: str) -> list[str]:
    """Return the settings for a config file, for environment variables, or for a command line, as the process has them now."""
    if process["config_file"]:
        lines = [f"{_spelling(plan, name, 'key')}: {value}" for name, value in _values(plan)]
        return [f"{process['config_file']}:", *indented(lines)]
    where = unit or "the script that starts etcd"
    variables = [name for name in process["environment"] if name.startswith("ETCD_")]
    flags = [word for word in process["command"][1:] if word.startswith("-")]
    if len(variables) > len(flags):
        lines = [f"{_spelling(plan, name, 'env')}={value}" for name, value in _values(plan)]
        return [f"the environment file of {where}:", *indented(lines)]
    return [f"etcd's command line in {where}:", *indented(_flags(plan))]


def _limits(plan: Mapping[str, Any], unit: str) -> list[str]:
    """Return the limits and Go's settings as a drop-in of the unit; without a unit, Go's settings as variables."""
    environment = [f"{name}={value}" for name, value in plan["environment"].items()]
    if not unit:
        return ["the environment of etcd:", *indented(environment)] if environment else []
    limits = [
        f"{name}={plan[key] // MIB}M" for name, key in (("MemoryHigh", "memory_high"), ("MemoryMax", "memory_max"))
    ]
    lines = ["[Service]", *(f"Environment={one}" for one in environment), *limits]
    return [f"/etc/systemd/system/{unit}.d/memory.conf:", *indented(lines)]


def _kubespray(plan: Mapping[str, Any], unit: str) -> list[str]:
    """Return the settings as variables of kubespray. It has none for the limit of a unit, only for its container engine."""
    values = dict(_values(plan))
    lines = [f'{_KUBESPRAY[name]}: "{values[name]}"' for name in sorted(_KUBESPRAY) if name in values]
    more = {_spelling(plan, name, "env"): value for name, value in values.items() if name not in _KUBESPRAY}
    if not unit:
        lines.append(f"etcd_memory_limit: {plan['memory_max'] // MIB}M")
        more |= plan["environment"]
    lines += ["etcd_extra_vars:", *(f'  {name}: "{value}"' for name, value in more.items())]
    inventory = ["the inventory of kubespray, for example group_vars/all/etcd.yml:", *indented(lines)]
    return [*inventory, *(_limits(plan, unit) if unit else [])]


def _static_pod(plan: Mapping[str, Any]) -> list[str]:
    lines = [
        "spec:",
        "  containers:",
        "    - command:",
        *(f"        - {flag}" for flag in _flags(plan)),
        "      env:",
        *(f"        - {{name: {name}, value: {value}}}" for name, value in plan["environment"].items()),
        "      resources:",
        f"        limits: {{memory: {plan['memory_max'] // MIB}Mi}}",
    ]
    return ["the manifest of the static pod, for example /etc/kubernetes/manifests/etcd.yaml:", *indented(lines)]


def _compose(plan: Mapping[str, Any], process: Mapping[str, Any]) -> list[str]:
    lines = [
        "command:",
        *(f"  - {flag}" for flag in _flags(plan)),
        "environment:",
        *(f"  {name}: {value}" for name, value in plan["environment"].items()),
        f"mem_limit: {plan['memory_max'] // MIB}m",
    ]
    engine = process["supervisor"]["engine"] or "the engine"
    return [f"the service in the Compose file (or the same options for {engine} run):", *indented(lines)]


def _flags(plan: Mapping[str, Any]) -> list[str]:
    return [f"--{_spelling(plan, name, 'flag')}={value}" for name, value in _values(plan)]


def _values(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    settings = plan["settings"].items()
    return [(name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in settings]


def _spelling(plan: Mapping[str, Any], name: str, form: str) -> str:
    return str(SETTINGS[name][plan["estimate"]["series"]][form])
