"""Debian packages: one step each for a group of packages that the same targets need, and Prometheus out of its package."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO

from tools.setup.steps import CACHE, PROJECT, Step, StepFailed, as_root, complete_folder, locked, run

# The group `lab` is what hosts need while they run; debootstrap only builds their image.
GROUPS = {
    "lab": ("podman", "runc", "netavark", "aardvark-dns", "iproute2", "iptables", "openssh-client"),
    "python3-venv": ("python3-venv",),
    "debootstrap": ("debootstrap",),
    "fio": ("fio",),
    "shellcheck": ("shellcheck",),
    "encryption": ("age", "gnupg"),
}

LISTS_SECONDS = 300
PAUSE = 2.0


def missing(packages: tuple[str, ...]) -> list[str]:
    """Return the packages that are not installed; none if this is not Debian, where installing them is up to the user."""
    if not shutil.which("dpkg-query"):
        return []
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    installed = {line.split()[0] for line in answer.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in installed]


def apt_get(*arguments: str) -> list[str]:
    """Return an apt-get command that runs as root, asks nothing, and waits for other users of dpkg."""
    apt = ("env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300")
    return as_root(*apt, *arguments)


def update(log: IO[str]) -> None:
    """Update the package lists. apt does not wait for their lock, which a fresh machine's first update holds for minutes."""
    end = time.monotonic() + LISTS_SECONDS
    while True:
        try:
            return run(log, *apt_get("update"))
        except StepFailed as failure:
            if "Could not get lock" not in str(failure) or time.monotonic() > end:
                raise
        time.sleep(PAUSE)


def packages_step(groups: list[str]) -> Step:
    """Return the step that installs all packages of these groups, in one transaction."""
    packages = tuple(package for group in groups for package in GROUPS[group])

    def install(log: IO[str]) -> None:
        update(log)
        command = apt_get("install", "-y", "--no-install-recommends", *missing(packages))
        try:
            run(log, *command)
        except StepFailed:  # an installation that was cut off has to be completed first
            completion = ("dpkg", "--force-confdef", "--force-confold", "--configure", "-a")
            run(log, *as_root("env", "DEBIAN_FRONTEND=noninteractive", *completion))
            run(log, *command)

    return Step("Debian-packages", ", ".join(missing(packages)), lambda: not missing(packages), install)


def image_step(name: str, purpose: str) -> Step:
    """Return the step that builds the image of the lab's hosts for the release of Debian in the step's name."""
    build, release = str(PROJECT / "lab" / "image"), name.removeprefix("lab-")

    def is_ready() -> bool:
        if missing(GROUPS["lab"]):
            return False
        return subprocess.run([build, "--ready", release], capture_output=True, check=False).returncode == 0

    return Step(name, purpose, is_ready, lambda log: run(log, build, release))


PROMETHEUS = ("prometheus", "promtool")


def prometheus_step(purpose: str) -> Step:
    """Return the step that unpacks Debian's package of Prometheus; installing it would start a server."""
    folder = CACHE / f"prometheus-{os.uname().machine}"

    def is_ready() -> bool:
        return folder.is_dir() or not shutil.which("dpkg-deb")

    def make(log: IO[str]) -> None:
        try:
            with complete_folder(folder) as part:
                unpack_prometheus(log, part)
        except StepFailed as failure:
            # Two checks of many use it, and skip their cases without it.
            print(f"  Prometheus is not available, so alert rules and the audit's history stay untested: {failure}")

    def links() -> dict[str, Path]:
        return {f"bin/{name}": folder / name for name in PROMETHEUS} if folder.is_dir() else {}

    return Step("prometheus", purpose, is_ready, make, links)


def unpack_prometheus(log: IO[str], folder: Path) -> None:
    """Download the Debian package of Prometheus and unpack its programs into the folder."""
    download = ["apt-get", "-q", "download", "prometheus"]
    try:
        run(log, *download, cwd=folder)
    except StepFailed:  # a fresh machine has no package lists
        with locked("Debian-packages"):
            update(log)
        run(log, *download, cwd=folder)
    (archive,) = folder.glob("*.deb")
    run(log, "dpkg-deb", "-x", archive, folder / "unpacked")
    for name in PROMETHEUS:
        (folder / "unpacked/usr/bin" / name).rename(folder / name)
    shutil.rmtree(folder / "unpacked")
    archive.unlink()
