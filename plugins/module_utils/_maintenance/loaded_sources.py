# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect the sources of the maintenance program, in a module that Ansible runs on a host.

Ansible sends a module with all its imports, so importing this file includes the whole program.
"""

from __future__ import annotations

import sys
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.sources import PROGRAM, imported_sources


def program_sources() -> dict[str, str]:
    """Return the source of the program and of each module of this collection that it imports, by name."""
    if program.__name__ != PROGRAM:
        raise RuntimeError(f"the program is {program.__name__}, not {PROGRAM}")
    return imported_sources(_loaded_source)


def _loaded_source(name: str) -> str | None:
    module = sys.modules.get(name)
    # The loader may be that of an archive, as in a module that Ansible runs, or Ansible's own, which returns bytes.
    loader: Any = getattr(module, "__loader__", None)
    if loader is None or hasattr(module, "__path__"):
        return None
    source = loader.get_source(name)
    return source if isinstance(source, str) else source.decode()
