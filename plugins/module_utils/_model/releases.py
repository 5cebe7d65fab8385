# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of settings in each release of etcd, and the check of a config file.

Private to the collection. Pure: bad input raises ValueError. etcd silently ignores unknown keys of a config file and exits
on values of a wrong type; the check finds both before etcd starts.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import parse_duration
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.refused_values import refused_values
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import BUGS, SERIES, SETTINGS

_VERSION = re.compile(r"(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")

# These belong in the process's environment or the unit, not in etcd's config file.
NOT_ETCD = ("gogc", "gomemlimit", "memory_high", "memory_max")
# Users write these as a size ("2GB"), etcd reads a number of bytes.
_SIZES = ("quota_backend_bytes", "max_request_bytes")

_WANTED = {
    "string": "a text",
    "strings": "a list of texts",
    "bool": "true or false",
    "uint": "a whole number, not negative",
    "int": "a whole number",
    "duration": "a whole number of nanoseconds",
}


class UnknownVersion(ValueError):
    """An unknown version of etcd."""


class BadConfig(ValueError):
    """A config that this version of etcd would refuse or silently ignore; the text lists every problem."""


# Settings that a deployed member must never have, whether or not the linter ran. Rules durability/* of the linter deny them too.
DATA_LOSS = {
    "force-new-cluster": "every start would remove all other members from the cluster: remove it; after a loss of quorum, "
    "run the playbook restore_lost_quorum",
    "unsafe-no-fsync": "a crash would lose writes that etcd has acknowledged: remove it",
}
# Where a member keeps its data, and which cluster it belongs to: the role's own variables, never a further setting.
OWNED = {
    "data-dir": "etcd would start empty in another directory: set etcd_data_dir before the first deployment",
    "wal-dir": "etcd would start without its log: set etcd_wal_dir, and the role etcd_storage moves the log",
    "initial-cluster": "it is computed from the inventory: remove it",
    "initial-cluster-state": "a member that lost its data would join without it instead of being refused: remove it",
    "initial-cluster-token": "it is the name of the cluster: set etcd_cluster_name before the first deployment",
}


def known_versions() -> str:
    """Return the known series with their newest releases, for messages."""
    return ", ".join(f"{name} (newest {release['newest']})" for name, release in SERIES.items())


def newest_release() -> str:
    """Return the newest release that is known."""
    newest: str = list(SERIES.values())[-1]["newest"]
    return newest


def series(version: Any) -> str:
    """Return "3.6" of "3.6.16".

    Raises UnknownVersion for other series, and for anything that is not a full release number.
    """
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise UnknownVersion(
            f"{version!r} is not a valid etcd version: write major.minor.patch in quotes, for example '3.6.16'; "
            f"known series: {known_versions()}"
        )
    name = f"{match.group(1)}.{match.group(2)}"
    if name not in SERIES:
        raise UnknownVersion(f"etcd {version} is not known; known series: {known_versions()}")
    return name


def version_key(version: str) -> tuple[int, ...]:
    """Return a release number as integers that compare."""
    return tuple(int(part) for part in version.split("."))


def known_bugs(version: str) -> list[dict[str, Any]]:
    """Return the known bugs of one release: id, kind, severity, text, and fixed (a release or None)."""
    series(version)
    key = version_key(version)
    found = []
    for bug in BUGS:
        for span in bug["ranges"]:
            fixed = span["fixed"]
            if version_key(span["from"]) <= key and (fixed is None or key < version_key(fixed)):
                found.append({**{name: value for name, value in bug.items() if name != "ranges"}, "fixed": fixed})
    return found


def check_config(version: str, config: Any) -> list[str]:
    """Return what is wrong with a config file's content for this version; an empty list if nothing is.

    config: a map with etcd's own keys. Deprecated keys still work and are not a problem.
    """
    release = SERIES[series(version)]
    if not isinstance(config, dict):
        return [f"the configuration of etcd must be a map, not {type(config).__name__}"]
    return _check_map(version, release, config, "") + refused_values(version, release, config)


def _check_map(version: str, release: dict[str, Any], config: dict[Any, Any], prefix: str) -> list[str]:
    known: dict[str, str] = release["config_keys"]
    problems = []
    for name, value in config.items():
        key = f"{prefix}{name}"
        is_section = any(other.startswith(f"{key}.") for other in known)
        if is_section and isinstance(value, dict):
            problems += _check_map(version, release, value, f"{key}.")
        elif is_section:
            problems.append(f"{key}: must be a map of {_children(known, key)}")
        elif key in release["misread"]:
            problems.append(f"{key}: {release['misread'][key]}")
        elif key not in known:
            problems.append(
                f"{key}: etcd {version} does not have this key and would ignore it{_remedy(version, release, key)}"
            )
        elif not _has_type(value, known[key]):
            problems.append(f"{key}: {value!r} must be {_WANTED[known[key]]}{_type_hint(value, known[key])}")
    return problems


def _children(known: dict[str, str], section: str) -> str:
    return ", ".join(key[len(section) + 1 :] for key in known if key.startswith(f"{section}."))


def _has_type(value: Any, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "strings":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return value >= 0 if kind == "uint" else True


def _type_hint(value: Any, kind: str) -> str:
    """Return a hint at the value that the author probably meant."""
    if kind == "string" and isinstance(value, int):
        return f", for example '{value}' in quotes"
    if isinstance(value, str) and kind in ("int", "uint"):
        try:
            return f"; {value!r} is {parse_size(value, 'value')}"
        except ValueError:
            return ""
    if isinstance(value, str) and kind == "duration":
        try:
            return f"; {value!r} is {parse_duration(value, 'value')}"
        except ValueError:
            return ""
    return ""


def _remedy(version: str, release: dict[str, Any], key: str) -> str:
    known: dict[str, str] = release["config_keys"]
    if key in release["removed"]:
        return f": {release['removed'][key]}"
    underscored = key.replace("-", "_")
    spelt = SETTINGS.get(underscored, {}).get(series(version), {}).get("key")
    if spelt is not None:
        return f": it is called {spelt}"
    if key in release["flags_only"]:
        return ": there is a flag of this name, but the config file has no key for it"
    for other in SETTINGS.values():
        if underscored in {entry["flag"].replace("-", "_") for entry in other.values()} | {
            (entry["key"] or "").replace("-", "_") for entry in other.values()
        }:
            here = other.get(series(version), {}).get("key")
            return f": it is called {here}" if here else f": it is not in {series(version)}"
    close = difflib.get_close_matches(key, list(known), n=1, cutoff=0.6)
    return f", did you mean {close[0]}?" if close else ""


def render_config(version: str, settings: dict[str, Any], extra: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings under this version's own config-file keys, nested as etcd wants them, and the extra keys.

    settings: canonical names (the flags of 3.7 with underscores). Sizes ("2GB") become bytes, durations ("10m")
    nanoseconds; None and what belongs to Go or the unit (gogc, gomemlimit, memory_high, memory_max) are left out.
    extra: a config in etcd's own keys, added as it is; a key that the settings give as well is a problem.
    Raises BadConfig, naming every problem.
    """
    name = series(version)
    config: dict[str, Any] = {}
    problems = []
    for setting, value in settings.items():
        if setting in NOT_ETCD or value is None:
            continue
        entry = SETTINGS.get(setting, {}).get(name)
        if entry is None:
            problems.append(f"{setting}: {_unknown_setting(version, setting)}")
        elif entry["key"] is None:
            problems.append(
                f"{setting}: the config file of etcd {version} has no key for it, only the flag --{entry['flag']}"
            )
        else:
            _put(config, entry["key"], _converted(setting, value, entry["type"]))
    owned = {key: why for key, why in OWNED.items() if key in (extra or {})}
    problems += [f"{key}: {why}" for key, why in owned.items()]
    problems += _merge(config, {key: value for key, value in (extra or {}).items() if key not in owned}, "")
    problems += check_config(version, config)
    problems += [f"{key}: {why}" for key, why in DATA_LOSS.items() if config.get(key) is True]
    if problems:
        raise BadConfig("; ".join(problems))
    return config


def _merge(config: dict[str, Any], extra: dict[str, Any], prefix: str) -> list[str]:
    """Add extra to config, section by section; return the keys that both give."""
    problems = []
    for name, value in extra.items():
        if name not in config:
            config[name] = value
        elif isinstance(value, dict) and isinstance(config[name], dict):
            problems += _merge(config[name], value, f"{prefix}{name}.")
        else:
            problems.append(
                f"{prefix}{name}: set twice, by a setting ({config[name]!r}) and as an extra key ({value!r})"
            )
    return problems


def _unknown_setting(version: str, setting: str) -> str:
    having = [name for name in SERIES if name in SETTINGS.get(setting, {})]
    if having:
        return f"etcd {version} has no such setting (only {', '.join(having)})"
    close = difflib.get_close_matches(setting, list(SETTINGS), n=1, cutoff=0.6)
    return f"no such setting of etcd{f', did you mean {close[0]}?' if close else ''}"


def _converted(setting: str, value: Any, kind: str) -> Any:
    """Convert a user's value to the type of the config file; check_config reports values that cannot be converted."""
    try:
        if setting in _SIZES and isinstance(value, str):
            return int(value) if value.lstrip("-").isdigit() else parse_size(value, setting)
        if kind == "duration" and isinstance(value, str):
            return parse_duration(value, setting)
    except ValueError:
        return value
    if setting == "auto_compaction_retention" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and kind in ("int", "uint") and value.isdigit():
        return int(value)
    return value


def _put(config: dict[str, Any], dotted: str, value: Any) -> None:
    *sections, key = dotted.split(".")
    for section in sections:
        config = config.setdefault(section, {})
    config[key] = value
