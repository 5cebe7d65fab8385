# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run headroom-lint from a folder that need not be an installed collection: python3 plugins/plugin_utils/_reader PATH …"""

from __future__ import annotations

import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def main() -> int:
    """Make the collection importable under its name, and run the command."""
    for name, path in (
        ("ansible_collections", ""),
        ("ansible_collections.etcdops", ""),
        ("ansible_collections.etcdops.headroom", str(ROOT)),
    ):
        package = types.ModuleType(name)
        package.__path__ = [path] if path else []
        sys.modules[name] = package
    try:
        from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.cli import main as run
    except ModuleNotFoundError as error:
        if error.name != "yaml":
            raise
        where = "Debian: apt install python3-yaml; elsewhere: pip install pyyaml"
        print(f"headroom-lint: {sys.executable} lacks PyYAML ({where})", file=sys.stderr)
        return 1
    return run(sys.argv[1:], str(ROOT))


if __name__ == "__main__":
    sys.exit(main())
