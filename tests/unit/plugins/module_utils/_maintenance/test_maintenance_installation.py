# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the program that etcd_maintenance installs. tests/integration installs and runs it with real etcd."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import installation

# Prints what the module would install, and what the program alone imports.
LISTING = """
import json, sys
package = sys.argv[1]
before = set(sys.modules)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program
needed = [name for name in set(sys.modules) - before if name.startswith(package + "._") and not hasattr(sys.modules[name], "__path__")]
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import installation
files = installation.program_files("/lib", "/launcher", "/usr/bin/python3")
print(json.dumps([sorted(needed), sorted(files)]))
"""


def install(folder: Path) -> Path:
    """Write the program below a folder; return its launcher."""
    launcher = folder / "headroom"
    for name, (text, mode) in installation.program_files(str(folder / "lib"), str(launcher), sys.executable).items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    return launcher


def test_the_launcher_finds_the_installed_modules_only(tmp_path: Path) -> None:
    launcher = install(tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(launcher), "--config", str(tmp_path / "none"), "status"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment, cwd="/")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"headroom: {tmp_path}/none: No such file or directory")


def test_nothing_is_installed_that_the_program_does_not_import() -> None:
    command = [sys.executable, "-c", LISTING, installation.PACKAGE]
    # ansible-test loads collections by a hook of its own, which a new process does not have.
    root = str(Path(installation.__file__).parents[5])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment)
    needed, files = json.loads(done.stdout)
    modules = [path for path in files if path.endswith(".py") and not path.endswith("/__init__.py")]
    assert modules == [f"/lib/{name.replace('.', '/')}.py" for name in needed]


def test_modules_of_the_flat_layout_are_obsolete(tmp_path: Path) -> None:
    params = {"lib_dir": str(tmp_path / "lib"), "credentials_file": str(tmp_path / "credentials")}
    install(tmp_path)
    wanted = installation.program_files(params["lib_dir"], str(tmp_path / "headroom"), sys.executable)
    assert installation.obsolete_files(params, wanted) == []
    flat = tmp_path / "lib" / Path(*installation.PACKAGE.split(".")) / "_etcd_lock.py"
    flat.write_text("")
    (tmp_path / "credentials").write_text("")
    assert installation.obsolete_files(params, wanted) == [str(flat), str(tmp_path / "credentials")]


def test_endpoints_are_read_from_the_installed_configuration(tmp_path: Path) -> None:
    path = tmp_path / "maintenance.json"
    params = {"config_file": str(path)}
    assert installation.installed_endpoints(params) == []
    path.write_text("{}")
    assert installation.installed_endpoints(params) == []
    path.write_text('{"connection": {"endpoints": ["https://10.0.0.11:2379"]}}')
    assert installation.installed_endpoints(params) == ["https://10.0.0.11:2379"]
