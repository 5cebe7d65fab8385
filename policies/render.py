# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the table of rules in docs/policies.md from the rules' own METADATA: `python policies/render.py`; `--check` exits 1 on a difference.

opa is taken from HEADROOM_OPA or PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "policies.md"
BEGIN = "<!-- rules: rendered from their METADATA by policies/render.py -->\n"
END = "<!-- end of rules -->\n"


def metadata(opa: str) -> dict[str, dict[str, Any]]:
    """Return the METADATA of each rule's package, by the folder's name as topic/name."""
    command = [opa, "inspect", "-a", "-f", "json", "policies"]
    inspected = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=REPOSITORY)
    found = {}
    for entry in json.loads(inspected.stdout)["annotations"]:
        path = Path(entry["location"]["file"])
        if entry["annotations"]["scope"] == "package" and path.match("policies/rules/*/*/*.rego"):
            found[f"{path.parent.parent.name}/{path.parent.name}"] = entry["annotations"]
    return dict(sorted(found.items()))


def table(rules: dict[str, dict[str, Any]]) -> str:
    """Return the table: id, severity, what holds, why."""
    rows = ["| rule | severity | what should hold | why |", "|---|---|---|---|"]
    for name, about in rules.items():
        why = " ".join(about["description"].split())
        rows.append(
            f"| [`{name}`](../policies/rules/{name}/) | {about['custom']['severity']} | {about['title']} | {why} |"
        )
    return "\n".join(rows) + "\n"


def main() -> int:
    """Render, or check; return the exit code."""
    opa = os.environ.get("HEADROOM_OPA") or shutil.which("opa")
    if not opa:
        print("opa is not on PATH; set HEADROOM_OPA to its path", file=sys.stderr)
        return 1
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    tail = rest.split(END)[1]
    rendered = head + BEGIN + table(metadata(opa)) + END + tail
    if rendered == page:
        return 0
    if "--check" in sys.argv[1:]:
        print(
            f"{PAGE.relative_to(REPOSITORY)} differs from the rules' METADATA: run python policies/render.py",
            file=sys.stderr,
        )
        return 1
    PAGE.write_text(rendered, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
