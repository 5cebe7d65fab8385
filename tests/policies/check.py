# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All gates of the policies but the property test: `python -m tests.policies.check`.

Format, `opa check --strict`, the rules' conventions, their table in docs/, their tests, and coverage, which must be 100 %.
Prints what is wrong, and exits 1 if anything is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from policies.render import annotations, main as render

from .tools import POLICIES, REPOSITORY, tool

SOURCES = ["policies/lib", "policies/rules", "policies/headroom.rego", "policies/headroom_test.rego", "policies/data"]
TOPICS = {"memory", "flags", "compaction", "defragmentation", "topology", "placement", "disk", "security", "durability", "version", "upgrade", "inventory"}


def opa(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool("opa"), *arguments], capture_output=True, text=True, check=False, timeout=600, cwd=REPOSITORY)


def format_and_types() -> list[str]:
    """Files that `opa fmt` would change, and what the strict compiler says."""
    unformatted = opa("fmt", "--list", "policies", "tests/policies").stdout.split()
    checked = opa("check", "--strict", *SOURCES)
    return [f"{path} is not formatted: run opa fmt -w {path}" for path in unformatted] + checked.stderr.splitlines()


def conventions(annotated: dict[str, dict[str, Any]]) -> list[str]:
    """What a rule must have: folder, package, annotations, one severity, and a test beside it."""
    problems = []
    for path in sorted(POLICIES.glob("rules/*/*/*.rego")):
        if path.name.endswith("_test.rego"):
            continue
        name = f"{path.parent.parent.name}/{path.parent.name}"
        text = path.read_text(encoding="utf-8")
        about = annotated.get(name, {})
        custom = about.get("custom", {})
        wanted = {
            "a METADATA header above the package": bool(about),
            f"a file named {path.parent.name}.rego": path.stem == path.parent.name,
            f"package headroom.rules.{name.replace('/', '.')}": f"\npackage headroom.rules.{name.replace('/', '.')}\n" in text,
            f"a topic of {sorted(TOPICS)}": path.parent.parent.name in TOPICS,
            "a title": bool(about.get("title")),
            "a description that says why": len(about.get("description", "")) > 60,
            f"custom.id {name}": custom.get("id") == name,
            "custom.severity deny or warn": custom.get("severity") in ("deny", "warn"),
            "a fix without a full stop": bool(custom.get("fix")) and not custom["fix"].endswith("."),
            "custom.source": bool(custom.get("source")),
            f"findings as `{custom.get('severity')}` only": f"\n{custom.get('severity')} contains finding if" in text
            and f"\n{'deny' if custom.get('severity') == 'warn' else 'warn'} contains" not in text,
            "a test beside it": (path.parent / f"{path.stem}_test.rego").exists(),
        }
        problems += [f"{path.relative_to(REPOSITORY)} wants {what}" for what, there in wanted.items() if not there]
    return problems


def tests_and_coverage() -> tuple[list[str], str]:
    """Failed tests or lines that no test reaches; and what to say if all is well."""
    tested = opa("test", "--coverage", "--fail-on-empty", "--timeout", "120s", *SOURCES)
    if tested.returncode:
        return [tested.stdout + tested.stderr], "tests failed"
    report = json.loads(tested.stdout)
    problems = []
    for path, lines in report["files"].items():
        for gap in lines.get("not_covered", []):
            problems.append(f"{path}:{gap['start']['row']} is reached by no test")
    if not problems and report["coverage"] < 100:
        problems.append(f"coverage is {report['coverage']} %")
    return problems, f"all tests passed, coverage {report['coverage']:g} %"


def main() -> int:
    annotated = annotations(tool("opa"))
    problems = format_and_types() + conventions(annotated)
    sys.argv[1:] = ["--check"]
    if render():
        problems.append("docs/policies.md is not what the rules say")
    found, summary = tests_and_coverage()
    problems += found
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"policies: {len(annotated)} rules, {summary}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
