# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read single settings from the config file of etcd that Headroom wrote. Pure: managed hosts have no parser of YAML."""

from __future__ import annotations

import re


def configured_value(text: str, key: str) -> str | None:
    """Return the value of a key of the top level that is plain or quoted on one line, None without it."""
    found = re.search(rf"^{re.escape(key)}:[ \t]*(['\"]?)(.+?)\1[ \t]*$", text, re.MULTILINE)
    return found.group(2) if found else None
