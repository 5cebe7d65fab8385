# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of running members that a plan keeps, because clients or operators rely on them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.process_settings import ProcessSettings
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS, WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import request_size

_Value = TypeVar("_Value")

_REQUEST, _LOCK = "max_request_bytes", "memory_mlock"
_SIZES = ("value_size", "key_size")
# What Go's flag package and YAML read as true.
_TRUE = ("1", "t", "true")


@dataclass(frozen=True)
class KeptSettings:
    """Settings for the plan to keep, by the model's names. hidden: those whose value is only a lower bound, so that the plan must not print them."""

    settings: dict[str, Any]
    hidden: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def kept_settings(version: str, workload: Mapping[str, Any], processes: Sequence[Mapping[str, Any]]) -> KeptSettings:
    """Return the settings that a plan for running members keeps.

    max_request_bytes is the largest of the members' processes. If the measured puts are larger, which proves that etcd accepts
    them, the plan assumes the measured size and leaves the setting out. processes: of the members, as etcd_process_info returns them.
    """
    read = [_settings(process) for process in processes if not process["problem"]]
    kept: dict[str, Any] = {_LOCK: True} if any(map(_locks_memory, read)) else {}
    sizes = [size for settings in read for size in _request_sizes(settings)]
    if sizes:
        kept[_REQUEST] = max(sizes)
    put = request_size(
        _of_series(CONSTANTS_HIGH, version), *(workload.get(name, WORKLOAD[name]["default"]) for name in _SIZES)
    )
    limit = max(sizes) if sizes else _of_series(SETTINGS[_REQUEST], version)["default"]
    if put <= limit:
        return KeptSettings(kept)
    measured, known = format_sizes_distinctly(put, limit)
    origin = "that the members' processes have" if sizes else "of etcd's default"
    note = (
        f"the measured puts average {measured}, above the max-request-bytes {origin} ({known}): the plan "
        f"leaves max-request-bytes out; keep what accepted them"
    )
    return KeptSettings({**kept, _REQUEST: min(put, ESTIMATE_SETTINGS[_REQUEST]["max"])}, (_REQUEST,), [note])


def _of_series(values: Mapping[str, _Value], version: str) -> _Value:
    """Return the value for a release's series; that of the newest series for one that the model does not know."""
    return values.get(minor(version), list(values.values())[-1])


def _settings(process: Mapping[str, Any]) -> ProcessSettings:
    return ProcessSettings(
        folder="",
        command_line=process["command"],
        environment=process["environment"],
        cwd="",
        readable=True,
        config_path=process["config_file"],
        config_text=process["config"],
    )


def _spellings(name: str) -> list[str]:
    """Return the flags of a setting in all series."""
    return sorted({spelling["flag"] for spelling in SETTINGS[name].values()})


def _request_sizes(settings: ProcessSettings) -> Iterator[int]:
    """Yield the process's max-request-bytes, unless it is unset or outside what a plan takes."""
    field = ESTIMATE_SETTINGS[_REQUEST]
    for flag in _spellings(_REQUEST):
        value = settings.setting(flag)
        if value.isdigit() and field["min"] <= int(value) <= field["max"]:
            yield int(value)


def _locks_memory(settings: ProcessSettings) -> bool:
    flags = _spellings(_LOCK)
    bare = not settings.config_path and any(
        f"{dashes}{flag}" in settings.command_line for flag in flags for dashes in ("--", "-")
    )
    return bare or any(settings.setting(flag).lower() in _TRUE for flag in flags)
