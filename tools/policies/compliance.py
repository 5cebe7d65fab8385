# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page docs/policies/compliance.md: which rules and roles cover which items of benchmarks."""

from __future__ import annotations

from typing import Any

import yaml

from tools.policies.catalog import REPOSITORY, Rules, lint
from tools.policies.pages import NOTICE, console

ITEMS = REPOSITORY / "model" / "compliance.yml"
CASE = REPOSITORY / "tests" / "policies" / "kube_bench"
HIDDEN = {"security/auto_tls", "security/client_cert_auth"}


def items(rules: Rules) -> list[dict[str, Any]]:
    """Return the items of the benchmarks. Raise RuntimeError for an id of a rule that is not among them."""
    found: list[dict[str, Any]] = yaml.safe_load(ITEMS.read_text(encoding="utf-8"))["items"]
    known = {str(item["cis"]) for item in found} | {vuln for item in found for vuln in item.get("stig", [])}
    for name, about in rules.items():
        stated = {*about["custom"].get("cis", []), *about["custom"].get("stig", [])}
        if unknown := sorted(stated - known):
            raise RuntimeError(f"rule {name}: {', '.join(unknown)} not in {ITEMS.relative_to(REPOSITORY)}")
    return found


def row(item: dict[str, Any], rules: Rules) -> str:
    """Return the table row of one item."""
    stig = item.get("stig", [])
    checking = [
        f"[`{name}`]({name}.md)"
        for name, about in rules.items()
        if str(item["cis"]) in about["custom"].get("cis", []) or set(stig) & set(about["custom"].get("stig", []))
    ]
    path = item.get("file", "")
    role = f"[`{path.split('/')[1]}`](../../{path}) {item['role']}" if "role" in item else "–"
    notes = [item[key] for key in ("note", "gap") if key in item]
    return f"| {item['cis']} | {', '.join(stig) or '–'} | {item['asks']} | {', '.join(checking) or '–'} | {role} | {'; '.join(notes)} |"


def compliance_page(rules: Rules) -> str:
    """Return the page: the table, and a config file that a scan of processes cannot judge."""
    listed = items(rules)
    (findings,) = lint(CASE).values()
    shown = [finding for finding in findings if finding["code"] in HIDDEN]
    folder = CASE.relative_to(REPOSITORY).as_posix()
    text = (CASE / "etcd.yaml").read_text(encoding="utf-8").removeprefix("---\n")
    parts = [
        "# Compliance\n",
        "Items of the CIS Kubernetes Benchmark and of DISA's Kubernetes STIG about etcd, with the rules that check them before a "
        "deployment and the roles that see to them on the hosts. A rule has an id only if it checks what the item asks. The finding "
        "carries the ids in conftest's JSON output (`cis`, `stig`).\n",
        "| CIS | STIG | what it asks | rule | role | note |\n|---|---|---|---|---|---|",
        *(row(item, rules) for item in listed),
        "",
        "## What a scan of processes cannot see\n",
        "kube-bench runs `ps -ef | grep etcd` and looks for flags and environment variables. A member that reads a config "
        "file shows neither:\n",
        "```console\n$ ps -ef | grep etcd\netcd  812  1  etcd --config-file=etcd.yaml\n```\n",
        "So kube-bench passes 2.3 and 2.6, which hold if the flags are not set, for this file, which turns both on, and fails 2.1 and 2.4 "
        "for any file, whatever it says:\n",
        f"```yaml\n{text}```\n",
        "The linter reads the file. `tests/integration/test_process_scan_of_real_etcd.py` starts etcd with it and runs kube-bench's audit command.\n",
        console(f"{folder}/etcd.yaml", shown),
    ]
    return NOTICE + "\n".join(parts)
