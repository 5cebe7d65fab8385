"""Write roles/*/README.md from the roles' argument specs; --check only compares."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parent.parent
COLLECTION = "etcdops.headroom"
HEADER = "<!-- Generated from meta/argument_specs.yml by `make role-docs`; do not edit. -->"
# Pages of docs/ about a role, by the role's name.
PAGES = {
    "etcd": ("deploy", "plan"),
    "etcd_auth": ("auth",),
    "etcd_maintenance": ("maintenance", "backup"),
    "etcd_priority": ("priority",),
    "etcd_restore": ("restore",),
    "etcd_storage": ("storage",),
    "etcd_tls": ("certificates",),
}

# Roles that a play runs before a role.
EARLIER = {"etcd": ("etcd_storage", "etcd_tls")}

# Commands for the roles that need results of another role's entry point, so that a play of the role alone fails.
COMMANDS = {
    "etcd_auth": ("auth -i my-inventory",),
    "etcd_restore": (
        "restore -i my-inventory -e etcd_restore_snapshot=PATH -e etcd_restore_confirm=CLUSTER",
        "restore_lost_quorum -i my-inventory -e etcd_restore_confirm=CLUSTER",
    ),
}


def markdown(text: str) -> str:
    """Convert Ansible's documentation markup to Markdown. Links the options of other roles; names the module of an option."""
    text = re.sub(
        rf"\bO\({re.escape(COLLECTION)}\.(\w+)#role:main:(\w+)\)",
        r"[`\2`](../\1/README.md#variables) of role `\1`",
        text,
    )
    text = re.sub(r"\bO\(([\w.]+)#module:(\w+)\)", r"`\2` of the module `\1`", text)
    text = re.sub(r"\b(?:O|RV)\((?:[^()]*:)?([^():]*)\)", r"`\1`", text)
    text = re.sub(r"\b[MP]\(([^()#]*)(?:#[^()]*)?\)", r"`\1`", text)
    text = re.sub(r"\b[CVE]\(((?:[^()\\]|\\.)*)\)", r"`\1`", text)
    text = re.sub(r"\bI\(([^()]*)\)", r"*\1*", text)
    text = re.sub(r"\bB\(([^()]*)\)", r"**\1**", text)
    text = re.sub(r"\bL\(([^,()]*), *([^()]*)\)", r"[\1](\2)", text)
    return re.sub(r"\bU\(([^()]*)\)", r"<\1>", text)


def paragraphs(description: str | list[str]) -> list[str]:
    """Return the paragraphs of a description as Markdown."""
    return [markdown(part) for part in ([description] if isinstance(description, str) else description)]


def default(option: dict[str, Any]) -> str:
    """Return the default as YAML on one line, `required`, or a dash."""
    if option.get("required"):
        return "required"
    if "default" not in option:
        return "–"
    value = option["default"]
    dumped = yaml.safe_dump(value, default_flow_style=True, width=10**6).strip().removesuffix("\n...").strip()
    return f"`{dumped}`"


def rows(options: dict[str, Any], prefix: str = "") -> list[str]:
    """Return the table's rows, the options of a dictionary below its own."""
    lines = []
    for name, option in options.items():
        kind = f"list of {option['elements']}" if "elements" in option else option.get("type", "str")
        text = " ".join(paragraphs(option["description"]))
        if "choices" in option:
            text += " One of " + ", ".join(f"`{choice}`" for choice in option["choices"]) + "."
        cells = (f"`{prefix}{name}`", kind, default(option), text.replace("|", "\\|"))
        lines.append(f"| {' | '.join(cells)} |")
        lines += rows(option.get("options", {}), f"{prefix}{name}.")
    return lines


def entry_point(name: str, spec: dict[str, Any], main: dict[str, Any]) -> list[str]:
    """Return the section of one entry point. main: the spec of the entry point main."""
    lines = [] if name == "main" else [f"## Entry point `{name}`", "", markdown(spec["short_description"]) + ".", ""]
    for paragraph in paragraphs(spec.get("description", [])):
        lines += [paragraph, ""]
    options = spec.get("options", {})
    if name != "main" and options and options == main.get("options"):
        lines += ["It takes the variables of the role.", ""]
    elif options:
        lines += [
            "## Variables" if name == "main" else "### Variables",
            "",
            "| Variable | Type | Default | Meaning |",
            "|---|---|---|---|",
        ]
        lines += [*rows(options), ""]
    return lines


def example(role: str) -> list[str]:
    """Return a play that uses the role after the roles that it needs, or the commands that run it."""
    if role in COMMANDS:
        commands = [f"ansible-playbook {COLLECTION}.{command}" for command in COMMANDS[role]]
        why = "The role needs results of other roles, so run it with a playbook of the collection:"
        return ["## Run it", "", why, "", "```", *commands, "```", ""]
    call = [
        "```yaml",
        "- hosts: etcd",
        "  become: true",
        "  roles:",
        *(f"    - role: {COLLECTION}.{name}" for name in (*EARLIER.get(role, ()), role)),
        "```",
    ]
    return ["## Example", "", *call, ""]


def readme(role: Path) -> str:
    """Return the text of a role's README."""
    specs = yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"]
    main = specs.get("main", next(iter(specs.values())))
    lines = [HEADER, "", f"# {COLLECTION}.{role.name}", "", markdown(main["short_description"]) + ".", ""]
    for name, spec in specs.items():
        lines += entry_point(name, spec, main)
    if "Private to the collection" not in str(main.get("description")):
        lines += example(role.name)
    pages = [page for page in PAGES.get(role.name, ()) if (PROJECT / f"docs/{page}.md").exists()]
    links = ", ".join(f"[docs/{page}.md](../../docs/{page}.md)" for page in pages)
    lines += [f"More: {links}." if pages else "More: [docs](../../docs/README.md)."]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if a README is missing or stale, and write nothing")
    check = parser.parse_args().check
    stale = []
    for role in sorted(path for path in (PROJECT / "roles").iterdir() if (path / "meta/argument_specs.yml").exists()):
        target, text = role / "README.md", readme(role)
        if check and (not target.exists() or target.read_text() != text):
            stale.append(f"{target.relative_to(PROJECT)} is stale: run make role-docs")
        elif not check:
            target.write_text(text)
    print("\n".join(stale) or "roles/*/README.md: current")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
