"""The virtual environment with the pinned Python packages."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import IO

from tools.setup.steps import CACHE, PROJECT, Step, StepFailed, digest, run

OLDEST = (3, 11)
CANDIDATES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3", "/usr/bin/python3")
# An interpreter inside a virtual environment (ours, if activated) names the one that the environment was made with.
PROBE = "import ensurepip, os, sys, venv; print(*sys.version_info[:2], os.path.realpath(sys._base_executable))"


def python() -> tuple[str, tuple[int, int]]:
    """Return the newest Python that can make virtual environments, and its version; HEADROOM_PYTHON overrides the choice."""
    chosen = os.environ.get("HEADROOM_PYTHON")
    for name in (chosen,) if chosen else CANDIDATES:
        if not shutil.which(name):
            continue
        answer = subprocess.run([name, "-c", PROBE], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            major, minor, executable = answer.stdout.split(maxsplit=2)
            if (int(major), int(minor)) >= OLDEST:
                return executable.strip(), (int(major), int(minor))
    raise StepFailed(
        f"no Python 3.11 or newer with the modules venv and ensurepip among {', '.join((chosen,) if chosen else CANDIDATES)}: "
        "install one, or name it in HEADROOM_PYTHON"
    )


def requirements(version: tuple[int, int]) -> Path:
    """Return the pinned requirements: the newest ansible-core needs Python 3.12, Debian 12 has 3.11."""
    return PROJECT / "requirements" / ("python-3.12.txt" if version >= (3, 12) else "python-3.11.txt")


def venv_path() -> Path:
    """Return the path of the virtual environment in the cache, which depends on the pinned requirements."""
    name, version = python()
    return CACHE / f"venv-{version[0]}.{version[1]}-{digest(requirements(version), name)}"


def is_ready() -> bool:
    """Return whether the virtual environment is complete."""
    try:
        return (venv_path() / ".complete").exists()
    except StepFailed:
        return False  # the package that brings the venv module is not installed yet


def make(log: IO[str]) -> None:
    """Create the virtual environment, and compile its files."""
    name, version = python()
    path = venv_path()
    shutil.rmtree(
        path, ignore_errors=True
    )  # a virtual environment cannot be renamed: a file in it marks it as complete
    run(log, name, "-m", "venv", path)
    pip = [
        "-I",
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-input",
        "--quiet",
        "--no-compile",
        "--no-user",
    ]
    elsewhere = dict.fromkeys(("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"), "")
    run(log, path / "bin/python", *pip, "--requirement", requirements(version), env=elsewhere)
    # Ansible's loader compiles collections itself and reads no .pyc of theirs, and they are most of the files.
    with contextlib.suppress(StepFailed):  # a file that does not compile is its package's test data, as for pip
        run(log, path / "bin/python", "-m", "compileall", "-q", "-x", "/ansible_collections/", path / "lib")
    run(log, path / "bin/ansible", "--version", env={"LC_ALL": "C.UTF-8"})
    os.sync()  # the mark must not reach the disk before what it marks
    (path / ".complete").touch()


def venv_step(purpose: str) -> Step:
    """Return the step that creates the virtual environment."""
    return Step("venv", purpose, is_ready, make, lambda: {"venv": venv_path()})
