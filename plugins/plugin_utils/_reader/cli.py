# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command headroom-lint: read files of any form, and lint them with conftest and Headroom's policies."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys

from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.command import (
    conftest_command,
    conftest_environment,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather

_DESCRIPTION = """Lint etcd's configuration in any form: inventories (YAML, JSON, INI), Compose files, manifests, etcd's config file,
environment files, systemd units with their drop-ins, and scripts. Options have the meaning that they have for `conftest test`."""


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="headroom-lint", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file or a folder")
    parser.add_argument("-o", "--output", default="stdout", help="stdout, json, sarif, github, junit, table, tap …")
    parser.add_argument("-p", "--policy", help="folder of the policies; default: the policies of this collection")
    parser.add_argument("-d", "--data", action="append", default=[], help="more data, such as your own thresholds")
    parser.add_argument("-n", "--namespace", action="append", default=[], help="default: headroom")
    parser.add_argument("--ignore", default="", metavar="PATTERN", help="leave out files whose path matches")
    parser.add_argument("--conftest", default="conftest", help="name or path of conftest")
    parser.add_argument("--print-input", action="store_true", help="print what the policies get, and lint nothing")
    for switch in ("--fail-on-warn", "--no-fail", "--no-color", "--quiet"):
        parser.add_argument(switch, action="store_true")
    return parser.parse_args(arguments)


def main(arguments: list[str], root: str) -> int:
    """Lint, and return the exit code: conftest's, or 1 if a named file could not be read."""
    options = parse_arguments(arguments)
    gathered = gather(options.paths, options.ignore)
    _report(gathered.passed_over)
    document = {"headroom_lint": gathered.document}
    if options.print_input:
        print(json.dumps(document, indent=2))
        return 0
    conftest = shutil.which(options.conftest)
    if conftest is None:
        how = "https://www.conftest.dev/install/ says how to get it"
        print(f"headroom-lint: {options.conftest} is not on PATH; {how}", file=sys.stderr)
        return 1
    code = _run_conftest(os.path.abspath(conftest), options, root, json.dumps(document))
    for message in gathered.messages():
        print(f"headroom-lint: {message}", file=sys.stderr)
    return code or (1 if gathered.refused and not options.no_fail else 0)


def _report(passed_over: dict[str, str]) -> None:
    """Name the files of folders that were skipped, so that none is skipped silently."""
    if not passed_over:
        return
    by_reason: dict[str, list[str]] = {}
    for path, why in passed_over.items():
        by_reason.setdefault(why, []).append(path)
    for why, paths in by_reason.items():
        more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
        print(f"headroom-lint: skipped {', '.join(paths[:5])}{more}: {why}", file=sys.stderr)


def _run_conftest(conftest: str, options: argparse.Namespace, root: str, document: str) -> int:
    policies = os.path.abspath(options.policy or os.path.join(root, "policies"))
    command = conftest_command(
        conftest, policies, options.data, "headroom-lint.json", options.output, options.namespace
    )
    command += [
        switch
        for switch, wanted in (
            ("--fail-on-warn", options.fail_on_warn),
            ("--no-fail", options.no_fail),
            ("--no-color", options.no_color),
            ("--quiet", options.quiet),
        )
        if wanted
    ]
    sys.stdout.flush()
    environment = conftest_environment()
    return subprocess.run(command, input=document, text=True, check=False, cwd=policies, env=environment).returncode
