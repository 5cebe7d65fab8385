#!/usr/bin/env python3
"""Run ansible-test over what the collection ships, as `ansible-test sanity|units`.

ansible-test wants the collection in …/ansible_collections/NAMESPACE/NAME, keeps its caches in the home folder and fetches pip from a
host of its own. Here it gets a copy of the artifact's files with the unit tests, a home below the cache, and Python's own pip.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom" / "ansible-test"


def bring_pip() -> None:
    """Put a script that installs Python's bundled pip where ansible-test would cache the one that it downloads."""
    found = importlib.util.find_spec("ansible_test")
    if found is None or not found.submodule_search_locations:
        sys.exit("sanity_and_units.py: ansible-core is not installed in this environment")
    source = (Path(found.submodule_search_locations[0]) / "_internal" / "python_requirements.py").read_text()
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in re.findall(r"pip='([0-9.]+)'", source):
        script = cache / f"get_pip_{version.replace('.', '_')}.py"
        script.write_text("import ensurepip\n\nensurepip.bootstrap(upgrade=True)\n")


def main() -> int:
    bring_pip()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        subprocess.run(
            ["ansible-galaxy", "collection", "build", "--output-path", work, PROJECT],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        collection = work / "ansible_collections" / "etcdops" / "headroom"
        collection.mkdir(parents=True)
        # Not tarfile: its filters, without which newer Pythons warn, are missing in Python 3.11.2 of Debian 12.
        subprocess.run(["tar", "-xzf", next(work.glob("*.tar.gz")), "-C", collection], check=True)
        for name in ("MANIFEST.json", "FILES.json"):
            (collection / name).unlink()
        # ansible-test takes every file of this folder for Python. They are shell scripts, which shellcheck checks.
        shutil.rmtree(collection / "bin")
        shutil.copy(PROJECT / "galaxy.yml", collection)
        shutil.copytree(
            PROJECT / "tests" / "unit", collection / "tests" / "unit", ignore=shutil.ignore_patterns("__pycache__")
        )
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        command = ["ansible-test", sys.argv[1], "--python", python, "--color", "no", *sys.argv[2:]]
        # The copy has no tests.durations.
        env = {**os.environ, "HOME": str(HOME), "PYTEST_ADDOPTS": ""}
        return subprocess.run(command, cwd=collection, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
