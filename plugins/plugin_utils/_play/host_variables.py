# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the variables of a host from Ansible's hostvars, which has neither the variables of plays nor those of roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Undefined


def value_of(variables: Mapping[str, Any], name: str, default: Any) -> Any:
    """Return a variable of a host, or the default if it is not set, or if it is an expression with a variable that hostvars lacks."""
    value = variables.get(name, default)
    return default if isinstance(value, Undefined) else value
