# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spellings that each release accepts, as a table for the policies, which would build it again for each inventory."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

# A key of the config file without a flag of that name.
KEYS_ONLY = {"experimental-snapshot-catch-up-entries"}
# Flags for which the model has no setting.
NO_SETTINGS = {"config-file", "version", "help"}
# Variables that etcd reads although no flag has their name.
VARIABLES_ONLY = ("ETCD_UNSUPPORTED_ARCH", "ETCD_VERIFY")


def variable(flag: str) -> str:
    """Return the environment variable that etcd derives from a flag."""
    return "ETCD_" + flag.upper().replace("-", "_")


def spellings(model: dict[str, Any]) -> dict[str, dict[str, dict[str, str | None]]]:
    """Return series → form (flag, env or key) → spelling → the setting's name in the model, or None where the model has no such setting.

    model is the result of tools.render_model.load(). Deprecated spellings and those that a release misreads are included.
    """
    tables = {series: _of_series(model, series) for series in model["series"]}
    for series, older in model["older"].items():
        flags = [*older["flag"], *NO_SETTINGS]
        tables[series] = _table(dict.fromkeys(flags), dict.fromkeys(older["key"]))
    return tables


def _of_series(model: dict[str, Any], series: str) -> dict[str, dict[str, str | None]]:
    release = model["series"][series]
    settings = {name: entries[series] for name, entries in model["settings"].items() if series in entries}
    flags = {entry["flag"]: name for name, entry in settings.items() if entry["flag"]}
    keys = {entry["key"]: name for name, entry in settings.items() if entry["key"]}
    # Most keys are flags as well; the model lists both spellings of those that differ.
    differing = {entry["key"] for entry in settings.values() if entry["key"] and entry["key"] != entry["flag"]}
    plain = {key for key in release["config_keys"] if "." not in key} - differing
    others = plain | {*release["deprecated"], *release["misread"], *release["flags_only"]} | NO_SETTINGS
    known_keys = dict.fromkeys([*release["config_keys"], *release.get("proxy_keys", [])])
    older = {old: keys[new] for old, new in successors(release).items()}
    older_flags = {old: name for old, name in older.items() if old not in KEYS_ONLY}
    older_keys = {old: name for old, name in older.items() if old in known_keys}
    return _table({**dict.fromkeys(others - KEYS_ONLY), **older_flags, **flags}, {**known_keys, **older_keys, **keys})


def _table(flags: dict[str, str | None], keys: dict[str, str | None]) -> dict[str, dict[str, str | None]]:
    variables = {variable(flag): name for flag, name in flags.items()}
    return {"flag": flags, "env": {**dict.fromkeys(VARIABLES_ONLY), **variables}, "key": keys}


def successors(release: dict[str, Any]) -> dict[str, str]:
    """Return the deprecated settings of a release with the keys that replace them. The release has both."""
    found = {old: re.search(r"\buse ([\w.-]+)$", remedy) for old, remedy in release["deprecated"].items()}
    return {old: use[1] for old, use in found.items() if use and use[1] in release["config_keys"]}


def gates(release: dict[str, Any]) -> dict[str, str]:
    """Return the deprecated settings of a release with the feature gates that replace them."""
    found = {old: re.search(r"\buse feature-gates: (\w+)=", remedy) for old, remedy in release["deprecated"].items()}
    return {old: use[1] for old, use in found.items() if use}


def removed_in_next(model: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return series → flag → why the next series does not know it any more. Raises ValueError if the next series does not say why."""
    tables = spellings(model)
    names = list(model["series"])
    found: dict[str, dict[str, str]] = {}
    for name, following in pairwise(names):
        reasons = model["series"][following]["removed"]
        gone = sorted(set(tables[name]["flag"]) - set(tables[following]["flag"]))
        if unexplained := [flag for flag in gone if flag not in reasons]:
            raise ValueError(
                f"model/releases.yml: etcd {following} does not know {', '.join(unexplained)} of {name}:"
                f" add them to `removed` of {following}, or to its settings if it does know them"
            )
        found[name] = {flag: reasons[flag] for flag in gone}
    return found
