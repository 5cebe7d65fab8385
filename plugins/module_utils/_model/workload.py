# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and check the user's workload and settings once, into typed objects.

Private to the collection. Pure: bad input raises BadInput, which names every problem.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import SECOND, parse_duration
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    format_count,
    format_size,
    format_sizes_distinctly,
    parse_count,
    parse_size,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH, Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS, WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SERIES, SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import version_key

# A larger cluster only gets slower. The limit keeps the figures finite; a policy advises on the number of members.
MAX_MEMBERS = 99
# For etcd, 0 selects the default of these.
ZERO_IS_DEFAULT = ("snapshot_count", "snapshot_catchup_entries")


class BadInput(ValueError):
    """An invalid workload or setting; the message names it, the reason, and a valid value."""


@dataclass(frozen=True)
class Workload:
    """A workload with every default filled in. The section workload of model/inputs.yml describes the fields."""

    value_size: int
    key_size: int
    keys: int
    puts_per_second: int
    clients: int
    writers: int | None
    tls: bool
    watch_streams: int
    watchers: int
    watched_ranges: int | None
    leases: int
    range_size: int
    revisions_per_key: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, in the model's order."""
        return {name: getattr(self, name) for name in WORKLOAD}


@dataclass(frozen=True)
class Settings:
    """The settings that decide how much memory a member takes, with the release's defaults; sizes in bytes.

    retention: auto_compaction_retention in seconds, or in revisions in revision mode; 0 is off.
    """

    snapshot_count: int
    snapshot_catchup_entries: int
    quota_backend_bytes: int
    max_request_bytes: int
    gogc: int
    gomemlimit: int | None
    memory_high: int | None
    memory_max: int | None
    memory_mlock: bool
    auto_compaction_mode: str
    auto_compaction_retention: str
    retention: int

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, in the model's order, without what is computed from others."""
        return {name: getattr(self, name) for name in ESTIMATE_SETTINGS}

    def with_compaction(self, mode: str, retention: str) -> Settings:
        """Return these settings with another compaction."""
        return replace(
            self,
            auto_compaction_mode=mode,
            auto_compaction_retention=retention,
            retention=retention_amount(mode, retention),
        )


class Input(NamedTuple):
    """The user's checked input. assumed: the names of the workload's fields that have a default's value."""

    workload: Workload
    settings: Settings
    assumed: list[str]


def suggestion(name: str, known: list[str]) -> str:
    """Return ", did you mean 'x'?", or nothing if no known name is similar."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f", did you mean '{close[0]}'?" if close else ""


def parse_fields(values: Any, fields: dict[str, Any], what: str, problems: list[str]) -> dict[str, Any]:
    """Parse a map by the model's description of its fields. Leaves out absent and null values; appends problems."""
    if not isinstance(values, dict):
        problems.append(f"{what} must be a map of {', '.join(fields)}")
        return {}
    result: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            hint = suggestion(str(name), list(fields)) or f"; known: {', '.join(fields)}"
            problems.append(f"{what} has an unknown key '{name}'{hint}")
        elif value is not None:
            try:
                result[name] = _parse(value, fields[name], f"{what}.{name}")
            except ValueError as error:
                problems.append(str(error))
    return result


def _parse(value: Any, field: dict[str, Any], name: str) -> Any:
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
        if isinstance(value, str):
            return value
        try:
            return str(parse_count(value, name))
        except ValueError:
            raise ValueError(f"{name} is {value!r}: write for example '5m', or '10000' in revision mode") from None
    number = _parse_number(value, kind, field, name)
    check_range(number, field, name)
    return number


def check_range(number: int, field: dict[str, Any], name: str) -> None:
    """Raise ValueError unless the field takes the number."""
    if not field["min"] <= number <= field["max"]:
        write = format_size if field["kind"] == "size" and field["min"] >= 0 else format_count
        raise ValueError(
            f"{name} is {write(number)}: it must lie between {write(field['min'])} and {write(field['max'])}"
        )
    smallest: int = field.get("smallest", 0)
    if 0 < number < smallest:
        raise ValueError(
            f"{name} is {format_size(number)}: it must be 0, -1, or at least {format_size(smallest)}; 8 GiB is {8 << 30}"
        )


def _parse_number(value: Any, kind: str, field: dict[str, Any], name: str) -> int:
    if kind == "count":
        return parse_count(value, name)
    if field["min"] < 0 and value in (-1, "-1"):  # etcd's "none"
        return -1
    return parse_size(value, name)


def parse_workload(workload: Any, problems: list[str]) -> tuple[Workload, list[str]]:
    """Return the workload with every default filled in, and the names of the fields that got one; append problems."""
    given = parse_fields(workload, WORKLOAD, "workload", problems)
    fields = {name: given.get(name, field["default"]) for name, field in WORKLOAD.items()}
    assumed = [name for name, field in WORKLOAD.items() if name not in given and field["default"] is not None]
    return Workload(**fields), assumed


def parse_settings(version: str, settings: Any, problems: list[str]) -> Settings | None:
    """Return the settings with the release's defaults; append problems, and return None where there are any."""
    given = parse_fields(settings, ESTIMATE_SETTINGS, "settings", problems)
    fields = with_defaults(version, given)
    problems.extend(contradictions(version, fields))
    try:
        return settings_with(version, given)
    except ValueError as error:
        problems.append(str(error))
        return None


def with_defaults(version: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return checked settings with the release's defaults, None for a limit that is not set."""
    series = series_of(version)
    fields: dict[str, Any] = {name: given.get(name) for name in ESTIMATE_SETTINGS}
    for name, value in fields.items():
        if name in SETTINGS and (value is None or (value == 0 and name in ZERO_IS_DEFAULT)):
            fields[name] = SETTINGS[name][series]["default"]
    if fields["gogc"] is None:
        fields["gogc"] = 100
    return fields


def settings_with(version: str, given: dict[str, Any]) -> Settings:
    """Return the settings for checked values and the release's defaults. Raises ValueError for an invalid retention."""
    fields = with_defaults(version, given)
    retention = retention_amount(fields["auto_compaction_mode"], fields["auto_compaction_retention"])
    return Settings(**fields, retention=retention)


def contradictions(version: str, settings: dict[str, Any]) -> list[str]:
    """Return the problems of settings that exclude each other, or that the release does not know."""
    problems = []
    limit, high, maximum = settings["gomemlimit"], settings["memory_high"], settings["memory_max"]
    since = SERIES[series_of(version)]["gomemlimit_since"]
    if limit is not None and version_key(version) < version_key(since):
        problems.append(f"settings.gomemlimit has no effect on etcd {version}: GOMEMLIMIT needs {since} or later")
    if limit is not None and maximum is not None and limit > maximum:
        low, top = format_sizes_distinctly(limit, maximum)
        problems.append(
            f"settings.gomemlimit ({low}) is above settings.memory_max ({top}): "
            "the kernel would kill etcd before Go collects"
        )
    if high is not None and maximum is not None and high > maximum:
        low, top = format_sizes_distinctly(high, maximum)
        problems.append(
            f"settings.memory_high ({low}) is above settings.memory_max ({top}): it would never take effect"
        )
    return problems


def request_size(constants: Constants, value_size: int, key_size: int) -> int:
    """Return the bytes of a put that etcd compares with max-request-bytes.

    etcd 3.5 to 3.7 compares the marshalled request (processInternalRaftRequestOnce in server/etcdserver/v3_server.go): key, value and the
    same framing that the raft log keeps.
    """
    return value_size + key_size + constants.raft_entry_overhead


def largest_value(version: str, key_size: int, max_request_bytes: int) -> int:
    """Return the bytes of the largest value that etcd accepts with a key of this size; negative if the key alone is too large."""
    return max_request_bytes - request_size(CONSTANTS_HIGH[series_of(version)], 0, key_size)


def oversized_put(version: str, workload: Workload, max_request_bytes: int) -> list[str]:
    """Return why etcd refuses the workload's puts; nothing if it accepts them."""
    largest = largest_value(version, workload.key_size, max_request_bytes)
    if largest < 0:
        size, limit = format_sizes_distinctly(workload.key_size, max_request_bytes)
        return [
            f"workload.key_size ({size}) makes every put larger than max_request_bytes ({limit}), which etcd refuses: "
            "raise max_request_bytes"
        ]
    if workload.value_size <= largest:
        return []
    size, limit = format_sizes_distinctly(workload.value_size, max_request_bytes)
    return [
        f"workload.value_size ({size}) makes a put larger than max_request_bytes ({limit}), which etcd refuses: "
        f"with keys of {format_size(workload.key_size)} a value may have {format_count(largest)} bytes; "
        "split the value into several keys, or raise max_request_bytes"
    ]


def retention_amount(mode: str, retention: str) -> int:
    """Return the retention in seconds (periodic, rounded up) or in revisions (revision); 0 is off.

    A bare number means hours in periodic mode (etcd's parseCompactionRetention).
    """
    name = "settings.auto_compaction_retention"
    bare = retention.isdigit()
    if mode == "revision":
        if bare:
            return parse_count(retention, name)
        raise ValueError(f"{name} is {retention!r}: in revision mode it is a number of revisions, for example '10000'")
    seconds = parse_count(retention, name) * 3600 if bare else -(-parse_duration(retention, name) // SECOND)
    longest: int = ESTIMATE_SETTINGS["auto_compaction_retention"]["max_hours"]
    if seconds > longest * 3600:
        raise ValueError(
            f"{name} is {retention!r}{' hours' if bare else ''}: etcd takes at most {format_count(longest)} hours, the longest duration of Go; "
            "write for example 5m or 720h"
        )
    return seconds


def parse_input(version: str, workload: Any, settings: Any, members: Any) -> Input:
    """Parse and check the user's input. Raises BadInput with every problem; UnknownVersion for the version."""
    problems: list[str] = []
    series_of(version)
    full, assumed = parse_workload(workload, problems)
    effective = parse_settings(version, settings, problems)
    if isinstance(members, bool) or not isinstance(members, int) or not 1 <= members <= MAX_MEMBERS:
        problems.append(f"members is {members!r}: a cluster has between 1 and {MAX_MEMBERS} members")
    if effective is not None and not problems:
        problems.extend(oversized_put(version, full, effective.max_request_bytes))
    if effective is None or problems:
        raise BadInput("; ".join(problems))
    return Input(full, effective, assumed)
