# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read single settings from the config file of etcd that Headroom wrote. Pure: managed hosts have no parser of YAML."""

from __future__ import annotations

import re

# etcd's checks of its own data: the feature gates since 3.6, and the settings of earlier releases.
CORRUPTION_CHECKS = {
    "InitialCorruptCheck": "experimental-initial-corrupt-check",
    "CompactHashCheck": "experimental-compact-hash-check-enabled",
}


def configured_value(text: str, key: str) -> str | None:
    """Return the value of a key of the top level that is plain or quoted on one line, None without it."""
    found = re.search(rf"^{re.escape(key)}:[ \t]*(['\"]?)(.+?)\1[ \t]*$", text, re.MULTILINE)
    return found.group(2) if found else None


def corruption_checks(text: str) -> list[str]:
    """Return the enabled checks, by their feature gates."""
    gates = [gate.strip() for gate in (configured_value(text, "feature-gates") or "").split(",")]
    return [
        gate
        for gate, key in CORRUPTION_CHECKS.items()
        if f"{gate}=true" in gates or configured_value(text, key) == "true"
    ]
