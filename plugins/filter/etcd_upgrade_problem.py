# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter over the version that a member runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_upgrade_problem(running: str, target: str) -> str:
    """Say why a member must not go from one version to another; see the documentation beside this file."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

    return releases.check_upgrade(running, target)


class FilterModule:
    """The filter of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by name."""
        return {"etcd_upgrade_problem": etcd_upgrade_problem}
