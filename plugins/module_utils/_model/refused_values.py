# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values, and combinations of settings, on which etcd exits although each key and its type are right. Private to the collection, and pure.

Sources: Config.Validate and SetFeatureGatesFromExperimentalFlags in server/embed/config.go, and featureGate.Set in pkg/featuregate.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

_GATE = re.compile(r"\s*(\w+)\s*=\s*(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)\s*")
_TRUE = ("1", "t", "T", "TRUE", "true", "True")


def refused_values(version: str, release: dict[str, Any], config: dict[Any, Any]) -> list[str]:
    """Return why this version exits on a config file whose keys and types are right.

    release: the entry of SERIES. config: a map with etcd's own keys. Its values may still have wrong types.
    """
    found = _pairs(version, release, config) + _gates(version, release, config)
    return found + _tls(version, config) + _times(version, config)


def _pairs(version: str, release: dict[str, Any], config: dict[Any, Any]) -> list[str]:
    """Report deprecated keys beside their successors. etcd looks for the name of a gate anywhere in the text."""
    gates = str(config.get("feature-gates", ""))
    pairs = [(old, new) for old, new in release["successors"].items() if old in config and _has_key(config, new)]
    pairs += [
        (old, f"feature-gates ({gates})")
        for old, gate in release["gates_of_settings"].items()
        if old in config and gate in gates
    ]
    return [f"{old}: etcd {version} exits if it is set beside {new}: remove {old}" for old, new in pairs]


def _has_key(config: dict[Any, Any], dotted: str) -> bool:
    *section, key = dotted.rsplit(".", 1)
    keys = config.get(section[0], {}) if section else config
    return isinstance(keys, dict) and key in keys


def _gates(version: str, release: dict[str, Any], config: dict[Any, Any]) -> list[str]:
    text = config.get("feature-gates", "")
    if not isinstance(text, str) or "feature-gates" not in release["config_keys"]:
        return []
    known: list[str] = release["feature_gates"]
    problems = []
    enabled = {}
    for item in filter(None, text.split(",")):
        gate = _GATE.fullmatch(item)
        if gate is None:
            problems.append(f"feature-gates: {item!r} must be a name with true or false, such as {known[0]}=true")
        elif gate.group(1) not in known:
            close = difflib.get_close_matches(gate.group(1), known, n=1, cutoff=0.6)
            meant = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
            problems.append(f"feature-gates: etcd {version} exits, as it has no gate {gate.group(1)}: {meant}")
        else:
            enabled[gate.group(1)] = gate.group(2) in _TRUE
    alpha = enabled.get("AllAlpha")
    if enabled.get("LeaseCheckpointPersist", alpha) and not enabled.get("LeaseCheckpoint", alpha):
        problems.append(
            f"feature-gates: etcd {version} exits, as LeaseCheckpointPersist needs LeaseCheckpoint: "
            "add LeaseCheckpoint=true"
        )
    return problems


def _tls(version: str, config: dict[Any, Any]) -> list[str]:
    if config.get("tls-min-version") != "TLS1.3":
        return []
    problems = []
    if config.get("tls-max-version") == "TLS1.2":
        problems.append(
            f"tls-min-version: etcd {version} exits, as TLS1.3 is above the tls-max-version of TLS1.2: lower it"
        )
    if config.get("cipher-suites"):
        problems.append(
            f"cipher-suites: etcd {version} exits if they are set beside a tls-min-version of TLS1.3: remove them"
        )
    return problems


def _times(version: str, config: dict[Any, Any]) -> list[str]:
    keys = ("compact-hash-check-time", "experimental-compact-hash-check-time")
    return [
        f"{key}: {value!r} must be above 0, or etcd {version} exits; 60000000000, a minute, is its default"
        for key in keys
        if isinstance(value := config.get(key), int) and not isinstance(value, bool) and value <= 0
    ]
