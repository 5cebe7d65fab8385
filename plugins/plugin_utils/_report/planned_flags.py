# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the settings of a plan for the file in which a running etcd has its settings. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import indented

# kubespray gives each cluster this token (roles/etcd/templates/etcd.env.j2), and has variables for these settings (roles/etcd).
_KUBESPRAY_TOKEN = "k8s_etcd"
_KUBESPRAY = {
    "auto_compaction_retention": "etcd_compaction_retention",
    "quota_backend_bytes": "etcd_quota_backend_bytes",
    "snapshot_count": "etcd_snapshot_count",
}
# RKE2 runs etcd in a static pod with this part in the path of its config file, also with another data-dir.
_RKE2 = "/rke2/server/db/etcd/"


def planned_lines(plan: Mapping[str, Any], process: Mapping[str, Any]) -> list[str]:
    """Return the lines for one process, each file's after a line that names it. process: as etcd_process_info returns it."""
    supervisor = process["supervisor"]
    unit = supervisor["unit"] if supervisor["kind"] == "service" else ""
    if process["environment"].get("ETCD_INITIAL_CLUSTER_TOKEN") == _KUBESPRAY_TOKEN:
        return _kubespray(plan, unit)
    if _RKE2 in process["config_file"]:
        return _rke2(plan)
    flags, variables = ([], {}) if process["config_file"] else _places(plan, process)
    if supervisor["kind"] == "pod":
        own = (_api_pod if supervisor["pod"] == "api" else _static_pod)(
            plan, flags, {**variables, **plan["environment"]}
        )
    elif supervisor["kind"] == "container":
        own = _compose(plan, flags, {**variables, **plan["environment"]}, supervisor["engine"])
    else:
        own = [*_settings(flags, variables, unit or "the script that starts etcd"), *_limits(plan, unit)]
    return [*_config_file(plan, process["config_file"]), *own, *_unread_environment(process)]


def _places(plan: Mapping[str, Any], process: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return the settings as flags, and those as variables.

    etcd exits at its start if a setting is both, so each is printed as what it is now; a new one as what most settings are.
    """
    given = {word.lstrip("-").partition("=")[0] for word in process["command"][1:] if word.startswith("-")}
    known = {name: _spellings(name, "env") & process["environment"].keys() for name in SETTINGS}
    prefers_variables = sum(map(bool, known.values())) > len(given)
    flags, variables = [], {}
    for name, value in _values(plan):
        if known[name] or (prefers_variables and not _spellings(name, "flag") & given):
            variables[_spelling(plan, name, "env")] = value
        else:
            flags.append(f"--{_spelling(plan, name, 'flag')}={value}")
    return flags, variables


def _spellings(name: str, form: str) -> set[str]:
    """Return the names of a setting in all series: a release also knows names of the previous one."""
    return {spellings[form] for spellings in SETTINGS[name].values()}


def _config_file(plan: Mapping[str, Any], path: str) -> list[str]:
    """Return the settings for a config file, with which etcd ignores flags and variables; nothing without one."""
    lines = [f"{_spelling(plan, name, 'key')}: {value}" for name, value in _values(plan)]
    return [f"{path}:", *indented(lines)] if path else []


def _settings(flags: list[str], variables: Mapping[str, str], where: str) -> list[str]:
    """Return the settings for a command line and an environment file."""
    lines = []
    if flags:
        lines += [f"etcd's command line in {where}:", *indented(flags)]
    if variables:
        lines += [
            f"the environment file of {where}:",
            *indented([f"{name}={value}" for name, value in variables.items()]),
        ]
    return lines


def _unread_environment(process: Mapping[str, Any]) -> list[str]:
    if process["config_file"] or not process["problem"]:
        return []
    return [
        "The environment of etcd was not read. If it has one of these settings, change it there: etcd does not start if a flag sets it too."
    ]


def _limits(plan: Mapping[str, Any], unit: str) -> list[str]:
    """Return the limits and Go's settings as a drop-in of the unit; without a unit, Go's settings as variables."""
    environment = [f"{name}={value}" for name, value in plan["environment"].items()]
    if not unit:
        return ["the environment of etcd:", *indented(environment)] if environment else []
    limits = [
        f"{name}={plan[key] // MIB}M" for name, key in (("MemoryHigh", "memory_high"), ("MemoryMax", "memory_max"))
    ]
    if _locks_memory(plan):
        limits.append("LimitMEMLOCK=infinity")
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


def _rke2(plan: Mapping[str, Any]) -> list[str]:
    """Return the settings as options of RKE2, which writes the config file and the static pod of etcd itself."""
    lines = [
        "etcd-arg:",
        *(f'  - "{_spelling(plan, name, "key")}={value}"' for name, value in _values(plan)),
        *_section("etcd-extra-env:", [f'  - "{name}={value}"' for name, value in plan["environment"].items()]),
        "control-plane-resource-limits:",
        f'  - "etcd-memory={plan["memory_max"] // MIB}Mi"',
    ]
    return ["/etc/rancher/rke2/config.yaml (RKE2 overwrites etcd's config file and manifest):", *indented(lines)]


def _static_pod(plan: Mapping[str, Any], flags: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    container = _container(plan, flags, environment)
    container = [f"{'      ' if position else '    - '}{line}" for position, line in enumerate(container)]
    lines = ["spec:", "  containers:", *container]
    return ["the manifest of the static pod, for example /etc/kubernetes/manifests/etcd.yaml:", *indented(lines)]


def _api_pod(plan: Mapping[str, Any], flags: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    lines = _container(plan, flags, environment)
    return [
        "the values of the chart or operator that creates the pod (env, resources), which result in:",
        *indented(lines),
    ]


def _container(plan: Mapping[str, Any], flags: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the lines of the container in a pod's specification."""
    # Kubernetes accepts only strings as values of variables.
    variables = [f'    - {{name: {name}, value: "{value}"}}' for name, value in environment.items()]
    return [
        *_section("command:", [f"    - {flag}" for flag in flags]),
        *_section("env:", variables),
        "resources:",
        f"  limits: {{memory: {plan['memory_max'] // MIB}Mi}}",
    ]


def _compose(plan: Mapping[str, Any], flags: Sequence[str], environment: Mapping[str, str], engine: str) -> list[str]:
    lines = [
        *_section("command:", [f"  - {flag}" for flag in flags]),
        *_section("environment:", [f'  {name}: "{value}"' for name, value in environment.items()]),
        f"mem_limit: {plan['memory_max'] // MIB}m",
        *(["ulimits: {memlock: -1}"] if _locks_memory(plan) else []),
    ]
    where = f"the service in the Compose file (or the same options for {engine or 'the engine'} run):"
    return [where, *indented(lines)]


def _locks_memory(plan: Mapping[str, Any]) -> bool:
    """Return whether etcd locks the database in memory, for which the defaults of systemd and of container engines are too small."""
    return bool(plan["settings"].get("memory_mlock"))


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *lines] if lines else []


def _values(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    settings = plan["settings"].items()
    return [(name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in settings]


def _spelling(plan: Mapping[str, Any], name: str, form: str) -> str:
    return str(SETTINGS[name][plan["estimate"]["series"]][form])
