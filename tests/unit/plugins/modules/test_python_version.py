# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lowest Python of managed hosts: an older one gets one message, and the code that hosts run keeps to its syntax."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.modules import etcd_host_info

PLUGINS = Path(etcd_host_info.__file__).resolve().parents[1]
SOURCES = sorted(path for folder in ("modules", "module_utils") for path in (PLUGINS / folder).rglob("*.py"))

# Runs the module as a host with another Python would, and nothing of the collection can be imported.
OTHER_PYTHON = """
import runpy, sys
from ansible.module_utils.testing import patch_module_args
sys.version_info = (*{version}, "final", 0)
sys.modules["ansible_collections"] = None
with patch_module_args({arguments}):
    runpy.run_path({path!r}, run_name="__main__")
"""


def run_on(version: tuple[int, int, int], **arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run etcd_host_info on a Python of this version."""
    program = OTHER_PYTHON.format(version=version, arguments=arguments, path=etcd_host_info.__file__)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)


def test_older_python_fails_with_one_message_and_without_secrets() -> None:
    done = run_on(
        (3, 8, 18), commands=["fio"], unit="etcd.service", maintenance={"bucket_keys": {"secret_key": "s3cr3t"}}
    )
    assert done.returncode == 1 and done.stderr == "" and "s3cr3t" not in done.stdout
    result = json.loads(done.stdout)
    assert result["failed"] and result["msg"].startswith("Python on this host is 3.8.18 (")
    assert "need 3.9 or newer: install a newer Python there, and set ansible_python_interpreter" in result["msg"]


def test_lowest_python_is_not_refused() -> None:
    done = run_on((3, 9, 0))
    assert "ModuleNotFoundError" in done.stderr and "ansible_collections" in done.stderr


def test_refusal_compiles_on_the_oldest_python_that_ansible_supports() -> None:
    ast.parse(Path(etcd_host_info.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(PLUGINS)) for path in SOURCES])
def test_syntax_of_the_lowest_python(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=etcd_host_info.MIN_PYTHON)
