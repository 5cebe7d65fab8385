# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user says: a workload and settings, read into integers.

Private to the collection. Pure: bad input raises BadInput, whose text names every problem.
"""

from __future__ import annotations

import difflib
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import SECOND, parse_duration
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    format_count,
    format_size,
    parse_count,
    parse_size,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import (
    ESTIMATE_SETTINGS,
    SERIES,
    SETTINGS,
    WORKLOAD,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import version_key

# More members than this only slow a cluster down; the figure bounds the input, a policy judges it.
MAX_MEMBERS = 99


class BadInput(ValueError):
    """A workload or a setting that cannot be; the text says which, why, and what would do."""


def nearest(name: str, known: list[str]) -> str:
    """Return ", did you mean 'x'?" or nothing."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f", did you mean '{close[0]}'?" if close else ""


def read_fields(values: Any, fields: dict[str, Any], what: str, problems: list[str]) -> dict[str, Any]:
    """Read a map by its description in the model; absent and null are left out, problems are appended."""
    if not isinstance(values, dict):
        problems.append(f"{what} must be a map of {', '.join(fields)}")
        return {}
    result: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            hint = nearest(str(name), list(fields)) or f"; known: {', '.join(fields)}"
            problems.append(f"{what} has an unknown key '{name}'{hint}")
        elif value is not None:
            try:
                result[name] = _read(value, fields[name], f"{what}.{name}")
            except ValueError as error:
                problems.append(str(error))
    return result


def _read(value: Any, field: dict[str, Any], name: str) -> Any:
    kind = field["kind"]
    if kind == "flag":
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}: write true or false")
        return value
    if kind == "mode":
        if value not in ("periodic", "revision"):
            raise ValueError(f"{name} is {value!r}: write periodic or revision")
        return value
    if kind == "retention":
        # A bare number is valid: hours in periodic mode, revisions in revision mode.
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError(f"{name} is {value!r}: write for example '5m', or '10000' in revision mode")
        return str(value)
    number = _read_number(value, kind, field, name)
    if not field["min"] <= number <= field["max"]:
        write = format_size if kind == "size" and field["min"] >= 0 else format_count
        raise ValueError(
            f"{name} is {write(number)}: it must lie between {write(field['min'])} and {write(field['max'])}"
        )
    return number


def _read_number(value: Any, kind: str, field: dict[str, Any], name: str) -> int:
    if kind == "count":
        return parse_count(value, name)
    if field["min"] < 0 and value in (-1, "-1"):  # etcd's "none"
        return -1
    return parse_size(value, name)


def read_workload(workload: Any, problems: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the workload with every default filled in, and the names that were assumed."""
    given = read_fields(workload, WORKLOAD, "workload", problems)
    full = {name: given.get(name, field["default"]) for name, field in WORKLOAD.items()}
    assumed = [name for name, field in WORKLOAD.items() if name not in given and field["default"] is not None]
    return full, assumed


def read_settings(version: str, settings: Any, problems: list[str]) -> dict[str, Any]:
    """Return the settings with the version's own defaults; what has none stays None."""
    series = series_of(version)
    given = read_fields(settings, ESTIMATE_SETTINGS, "settings", problems)
    full: dict[str, Any] = {name: given.get(name) for name in ESTIMATE_SETTINGS}
    for name in ESTIMATE_SETTINGS:
        if full[name] is None and name in SETTINGS:
            full[name] = SETTINGS[name][series]["default"]
    for name in ("snapshot_count", "snapshot_catchup_entries"):
        if full[name] == 0:  # etcd: 0 is the default
            full[name] = SETTINGS[name][series]["default"]
    if full["gogc"] is None:
        full["gogc"] = 100
    problems.extend(contradictions(version, full))
    return full


def contradictions(version: str, settings: dict[str, Any]) -> list[str]:
    """Return what cannot be true together."""
    problems = []
    limit, high, maximum = settings["gomemlimit"], settings["memory_high"], settings["memory_max"]
    since = SERIES[series_of(version)]["gomemlimit_since"]
    if limit is not None and version_key(version) < version_key(since):
        problems.append(f"settings.gomemlimit has no effect on etcd {version}: GOMEMLIMIT needs {since} or later")
    if limit is not None and maximum is not None and limit > maximum:
        problems.append(
            f"settings.gomemlimit ({format_size(limit)}) is above settings.memory_max ({format_size(maximum)}): "
            "the kernel would kill etcd before Go collects"
        )
    if high is not None and maximum is not None and high > maximum:
        problems.append(
            f"settings.memory_high ({format_size(high)}) is above settings.memory_max ({format_size(maximum)}): "
            "it would never take effect"
        )
    try:
        retention_amount(settings["auto_compaction_mode"], settings["auto_compaction_retention"])
    except ValueError as error:
        problems.append(str(error))
    return problems


def retention_amount(mode: str, retention: str) -> int:
    """Return the retention in seconds (periodic, rounded up) or in revisions (revision); 0 is off.

    A bare number means hours in periodic mode (etcd's parseCompactionRetention).
    """
    name = "settings.auto_compaction_retention"
    if retention.isdigit():
        amount = parse_count(retention, name)
        return amount * 3600 if mode == "periodic" else amount
    if mode == "revision":
        raise ValueError(f"{name} is {retention!r}: in revision mode it is a number of revisions, for example '10000'")
    return -(-parse_duration(retention, name) // SECOND)


def read(version: str, workload: Any, settings: Any, members: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Read and check all input; return workload, settings, and the names of the workload's assumed values.

    Raises BadInput with every problem in one text; UnknownVersion for the version.
    """
    problems: list[str] = []
    series_of(version)
    full, assumed = read_workload(workload, problems)
    effective = read_settings(version, settings, problems)
    if isinstance(members, bool) or not isinstance(members, int) or not 1 <= members <= MAX_MEMBERS:
        problems.append(f"members is {members!r}: a cluster has between 1 and {MAX_MEMBERS} members")
    if not problems and full["value_size"] > effective["max_request_bytes"]:
        problems.append(
            f"workload.value_size ({format_size(full['value_size'])}) is above max_request_bytes "
            f"({format_size(effective['max_request_bytes'])}): etcd refuses such a put; "
            "split the value into several keys, or raise max_request_bytes"
        )
    if problems:
        raise BadInput("; ".join(problems))
    return full, effective, assumed
