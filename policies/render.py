# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders docs/policies from the rules themselves: `python policies/render.py`; `--check` exits 1 on a difference.

Sources are the METADATA of each rule, its example folders `bad` and `good`, what conftest says of these, the comments in
data/thresholds.yml, the shapes of real roles below tests/policies/shapes, and examples. Rendered are the index, a page for each rule, the
pages of thresholds, of real defects and of examples, and data/rules.json, by which waivers are checked and what they waive is told.

opa and conftest are taken from HEADROOM_OPA and HEADROOM_CONFTEST, or from PATH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
POLICIES = REPOSITORY / "policies"
DOCS = REPOSITORY / "docs" / "policies"
INDEX = DOCS / "README.md"
CATALOG = POLICIES / "data" / "rules.json"
THRESHOLDS = POLICIES / "data" / "thresholds.yml"
SHAPES = REPOSITORY / "tests" / "policies" / "shapes"
EXAMPLES = POLICIES / "examples"
BEGIN = "<!-- rules: rendered by policies/render.py -->\n"
END = "<!-- end of rules -->\n"
NOTICE = "<!-- rendered by policies/render.py -->\n\n"
# Pages in docs/policies that people write.
WRITTEN = {"README.md", "adding.md", "waivers.md"}

Rules = dict[str, dict[str, Any]]


def tool(name: str) -> str:
    """Return the path of a tool. Raises FileNotFoundError, naming the variable, if there is none."""
    variable = f"HEADROOM_{name.upper()}"
    found = os.environ.get(variable) or shutil.which(name)
    if not found:
        raise FileNotFoundError(f"{name} is not on PATH; set {variable} to its path")
    return found


def metadata(opa: str) -> Rules:
    """Return the METADATA of each rule's package, by the folder's name as topic/name."""
    command = [opa, "inspect", "-a", "-f", "json", "policies"]
    inspected = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=REPOSITORY)
    found = {}
    for entry in json.loads(inspected.stdout)["annotations"]:
        path = Path(entry["location"]["file"])
        if entry["annotations"]["scope"] == "package" and path.match("policies/rules/*/*/*.rego"):
            found[f"{path.parent.parent.name}/{path.parent.name}"] = entry["annotations"]
    return dict(sorted(found.items()))


def lint(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what conftest finds in each of the inventories below a folder: its path below → findings.

    A finding has level ("FAIL" or "WARN"), msg (as if its inventory were the only one), code and waived.
    """
    within = folder.relative_to(REPOSITORY).as_posix()
    command = [tool("conftest"), "test", "--output", "json", within]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"conftest could not lint {within}: {done.stderr.strip()}")
    found: dict[str, list[dict[str, Any]]] = {}
    for result in json.loads(done.stdout):
        for key, level in (("failures", "FAIL"), ("warnings", "WARN")):
            for finding in result.get(key) or []:
                about = finding["metadata"]
                inventory = about["inventory"]
                if Path(REPOSITORY, inventory).is_file():
                    # A file that configures etcd itself is always named.
                    message, inventory = finding["msg"], Path(inventory).parent.as_posix()
                else:
                    message = finding["msg"].replace(f"{inventory}: ", "", 1).replace(f"{within}/", "")
                entry = {"level": level, "msg": message, "code": about["code"], "waived": "waived" in about}
                found.setdefault(inventory.removeprefix(f"{within}/"), []).append(entry)
    for findings in found.values():
        findings.sort(key=lambda finding: (finding["level"], finding["msg"]))
    return found


def console(folder: str, findings: list[dict[str, Any]]) -> str:
    """Return what conftest prints for a folder, each finding a line."""
    lines = [f"{finding['level']} - Combined - headroom - {finding['msg']}" for finding in findings]
    return "\n".join(["```console", f"$ conftest test {folder}", *lines, "```"]) + "\n"


def shown_files(folder: Path) -> str:
    """Return the files of an example, each in a block."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    blocks = []
    for path in paths:
        name = "" if len(paths) == 1 else f"`{path.relative_to(folder).as_posix()}`:\n\n"
        text = path.read_text(encoding="utf-8").removeprefix("---\n")
        blocks.append(f"{name}```yaml\n{text}```\n")
    return "\n".join(blocks)


def thresholds() -> dict[str, tuple[str, str]]:
    """Return each threshold with its value, as written, and the comment above it."""
    found = {}
    comment: list[str] = []
    inside = False
    values: list[str] = []
    name = ""
    for line in THRESHOLDS.read_text(encoding="utf-8").splitlines():
        if line.strip() == "thresholds:":
            inside = True
        elif inside and line.strip().startswith("#"):
            comment.append(line.strip().removeprefix("# "))
        elif inside and (entry := re.match(r" {6}(\w+):\s*(.*)$", line)):
            name, values = entry[1], [entry[2]] if entry[2] else []
            # Several settings may share the comment above the first of them.
            text = " ".join(comment) if comment else next(reversed(found.values()), ("", ""))[1]
            comment = []
            found[name] = (", ".join(values), text)
        elif inside and name and line.strip().startswith("- "):
            values.append(line.strip().removeprefix("- "))
            found[name] = (", ".join(values), found[name][1])
    return found


def used_thresholds(rule: str) -> list[str]:
    """Return the names of the thresholds that a rule reads."""
    text = (POLICIES / "rules" / rule / f"{Path(rule).name}.rego").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"\bthreshold\.(\w+)", text)))


def table(rules: Rules) -> str:
    """Return the index: a table for each topic, denials first."""
    topics: dict[str, list[str]] = {}
    for name in sorted(rules, key=lambda name: (rules[name]["custom"]["severity"], name)):
        topics.setdefault(name.partition("/")[0], []).append(name)
    denials = sum(about["custom"]["severity"] == "deny" for about in rules.values())
    parts = [f"{len(rules)} rules: {denials} deny, {len(rules) - denials} warn.\n"]
    for topic in sorted(topics):
        rows = [f"### {topic}\n", "| rule | | what should hold |", "|---|---|---|"]
        for name in topics[topic]:
            custom = rules[name]["custom"]
            rows.append(f"| [`{name}`]({name}.md) | {custom['severity']} | {rules[name]['title']} |")
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def linked(source: str) -> str:
    """Return a source with the pages of this repository as links."""
    return re.sub(r"docs/policies/(\w+\.md)", r"[docs/policies/\1](../\1)", source)


def page(name: str, about: dict[str, Any], findings: dict[str, list[dict[str, Any]]]) -> str:
    """Return the page of one rule."""
    custom = about["custom"]
    folder = POLICIES / "rules" / name
    relative = f"policies/rules/{name}"
    bad = findings.get(f"{name}/bad", [])
    others = sorted({finding["code"] for finding in bad} - {name})
    limits = thresholds()
    parts = [
        f"# {name}\n",
        f"**{custom['severity']}**: {about['title']}.\n",
        "## Why\n",
        " ".join(about["description"].split()) + "\n",
        f"Source: {linked(custom['source'])}\n",
        "## Bad\n",
        shown_files(folder / "bad"),
        console(f"{relative}/bad", [finding for finding in bad if finding["code"] == name]),
    ]
    if others:
        parts.append("It also has findings of " + ", ".join(f"[`{code}`](../{code}.md)" for code in others) + ".\n")
    parts += ["## Good\n", shown_files(folder / "good"), "## Fix\n", f"{custom['fix']}.\n"]
    if used := used_thresholds(name):
        rows = [f"| `{limit}` | {limits[limit][0]} | {limits[limit][1]} |" for limit in used]
        parts += [
            "## Thresholds\n",
            "\n".join(["| name | value | why |", "|---|---|---|", *rows]) + "\n",
            "[Set your own](../thresholds.md).\n",
        ]
    test = f"../../../tests/policies/rego/rules/{name}_test.rego"
    parts.append(
        f"[The rule](../../../{relative}/{folder.name}.rego), [its tests]({test}) · [all rules](../README.md#rules)\n"
    )
    return NOTICE + "\n".join(parts)


def thresholds_page(rules: Rules) -> str:
    """Return the page of all thresholds, with the rules that read each."""
    users: dict[str, list[str]] = {}
    for name in rules:
        for limit in used_thresholds(name):
            users.setdefault(limit, []).append(name)
    rows = [
        f"| `{limit}` | {value} | {why} | {', '.join(f'[`{name}`]({name}.md)' for name in users.get(limit, []))} |"
        for limit, (value, why) in thresholds().items()
    ]
    return (
        NOTICE
        + "\n".join(
            [
                "# Thresholds\n",
                "Limits that are a choice. Yours go into a file of your own, as far as they differ:\n",
                "```yaml\nheadroom:\n  thresholds:\n    large_value_bytes: 262144\n```\n",
                "```console\n$ conftest test inventory --data policies/data --data mine.yml\n"
                '$ ansible-playbook playbooks/lint.yml -i inventory -e \'{"etcd_lint_data": ["mine.yml"]}\'\n```\n',
                "| name | value | why | rules |",
                "|---|---|---|---|",
                *rows,
            ]
        )
        + "\n"
    )


def defects_page() -> str:
    """Return the page of what was found in public roles, with what the linter says of each."""
    found = lint(SHAPES)
    parts = [
        "# Defects of real roles\n",
        "Each of these stood in a public role or in an inventory for one. They are reduced to what matters; "
        "`tests/policies/test_examples.py` sees that each is caught.\n",
    ]
    for folder in sorted(path for path in SHAPES.iterdir() if path.is_dir()):
        text = (folder / "hosts.yml").read_text(encoding="utf-8").removeprefix("---\n")
        comment, rest = text.split("\n", 1)
        parts += [
            f"## {folder.name.replace('_', ' ').capitalize()}\n",
            comment.removeprefix("# ") + "\n",
            f"```yaml\n{rest}```\n",
            console(f"tests/policies/shapes/{folder.name}", found.get(folder.name, [])),
        ]
    return NOTICE + "\n".join(parts)


def examples_page() -> str:
    """Return the page of the examples of other roles and of files that configure etcd, with what the linter says of each."""
    parts = [
        "# Examples\n",
        "Inventories of other roles and files that configure etcd themselves, each small and with what its kind often has; "
        "`tests/policies/test_vocabularies.py` sees that all is found.\n",
    ]
    for path in [*sorted(EXAMPLES.glob("*/inventory")), *sorted((EXAMPLES / "files").iterdir())]:
        findings = [finding for found in lint(path).values() for finding in found]
        text = path.read_text(encoding="utf-8").removeprefix("---\n") if path.is_file() else ""
        parts += [
            f"## {path.name if text else path.parent.name}\n",
            f"```{'shell' if path.suffix == '.env' else 'yaml'}\n{text}```\n" if text else shown_files(path),
            console(path.relative_to(REPOSITORY).as_posix(), findings),
        ]
    return NOTICE + "\n".join(parts)


def rendered() -> dict[Path, str]:
    """Return the text of every file that is rendered."""
    rules = metadata(tool("opa"))
    told = ("id", "severity", "fix", "source")
    catalog = {
        name: {"title": about["title"], "custom": {key: about["custom"][key] for key in told}}
        for name, about in rules.items()
    }
    head, rest = INDEX.read_text(encoding="utf-8").split(BEGIN)
    findings = lint(POLICIES / "rules")
    files = {
        CATALOG: json.dumps({"headroom": {"catalog": catalog}}, indent=2) + "\n",
        INDEX: head + BEGIN + table(rules) + END + rest.split(END)[1],
        DOCS / "thresholds.md": thresholds_page(rules),
        DOCS / "defects.md": defects_page(),
        DOCS / "examples.md": examples_page(),
    }
    for name, about in rules.items():
        files[DOCS / f"{name}.md"] = page(name, about, findings)
    return files


def main() -> int:
    """Render, or check; return the exit code."""
    try:
        files = rendered()
        # Waivers are checked against the catalogue: what is found of a new rule's examples is right once it is in there.
        if "--check" not in sys.argv[1:] and CATALOG.read_text(encoding="utf-8") != files[CATALOG]:
            CATALOG.write_text(files[CATALOG], encoding="utf-8")
            files = rendered()
    except (FileNotFoundError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    stale = [path for path in DOCS.rglob("*.md") if path not in files and path.relative_to(DOCS).name not in WRITTEN]
    differing = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        names = ", ".join(path.relative_to(REPOSITORY).as_posix() for path in [*differing, *stale][:5])
        if names:
            print(f"run python policies/render.py: {len(differing) + len(stale)} differ, {names}", file=sys.stderr)
        return 1 if names else 0
    for path in differing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    for path in stale:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
