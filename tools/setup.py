#!/usr/bin/env python3
"""Set up what the project needs, in a cache folder of its own; a second run only looks.

Debian packages, a virtual environment with pinned requirements, etcd packed as upstream packs it, and conftest, opa, etcd's
benchmark, an S3-compatible store and a load of our own, all built from the Go modules that go.sum pins. Each result lies under a
name that carries the digest of its inputs and appears there only when it is complete, so that an interrupted run leaves nothing
half-made and several runs may go side by side.

Runs with nothing but the standard library, before there is a virtual environment.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

PROJECT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom"
LINKS = PROJECT / ".headroom"

PACKAGES = [
    *("podman", "runc", "netavark", "aardvark-dns", "iproute2", "iptables", "openssh-client", "debootstrap"),  # the lab
    *("python3-venv", "fio", "shellcheck", "git"),
    *("age", "gnupg"),  # encrypted snapshots
]
ETCD_SERIES = ("3.7", "3.6", "3.5")
PROGRAMS = {
    "conftest": "github.com/open-policy-agent/conftest",
    "opa": "github.com/open-policy-agent/opa",
    "benchmark": "go.etcd.io/etcd/v3/tools/benchmark",
    "load": ".",
    "versitygw": "github.com/versity/versitygw/cmd/versitygw",  # an S3-compatible store, for the tests of copies in a bucket
}
ACTIVATE = """# Puts ansible-playbook, conftest, etcdctl and the other pinned tools on PATH: . .headroom/activate
PATH="{links}/bin:{links}/venv/bin:$PATH"
export PATH
"""


class StepFailed(Exception):
    """A command of a step failed; the text says which, and where its output is."""


def digest(*parts: object) -> str:
    """Ten hex digits over the parts; a Path counts with its content."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.read_bytes() if isinstance(part, Path) else str(part).encode())
        sha.update(b"\0")
    return sha.hexdigest()[:10]


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock called `name` among all set-ups of this user; the kernel lets go when a process dies."""
    folder = CACHE / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Step:
    """One result of the set-up: knows whether it is there, and how to make it."""

    def __init__(self, title: str, ready: Callable[[], bool], make: Callable[[IO[str]], None]) -> None:
        self.title, self.ready, self.make = title, ready, make
        self.log = CACHE / "logs" / f"{title.replace(' ', '-')}.log"

    def run(self) -> float:
        """Make the result unless another run just did; seconds taken."""
        began = time.monotonic()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.title.replace(" ", "-")):
            if not self.ready():
                with self.log.open("w") as log:
                    self.make(log)
        return time.monotonic() - began


def run(log: IO[str], *command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command, its output into the step's log."""
    log.write(f"$ {' '.join(map(str, command))}\n")
    log.flush()
    try:
        subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )
    except FileNotFoundError:
        raise StepFailed(f"{command[0]} is not installed; install it and run the same command again") from None
    except subprocess.CalledProcessError as error:
        log.flush()
        tail = "\n".join(Path(log.name).read_text(errors="replace").splitlines()[-25:])
        raise StepFailed(
            f"{' '.join(map(str, command))} ended with {error.returncode}:\n{tail}\n(all of it: {log.name})"
        ) from None


def as_root(*command: str) -> list[str]:
    """The command as it is for root, and through sudo for others."""
    return [*([] if os.geteuid() == 0 else ["sudo", "-n"]), *command]


# Debian packages


def missing_packages() -> list[str]:
    """Those of PACKAGES that are not installed; none where the machine is not a Debian (the tools are then the user's to install)."""
    if not shutil.which("dpkg-query"):
        return []
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *PACKAGES],
        capture_output=True,
        text=True,
        check=False,
    )
    installed = {line.split()[0] for line in answer.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in PACKAGES if package not in installed]


def install_packages(log: IO[str]) -> None:
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]
    run(log, *as_root(*apt, "update"))
    run(log, *as_root(*apt, "install", "-y", "--no-install-recommends", *missing_packages()))


# Python


def python() -> tuple[str, tuple[int, int]]:
    """The newest Python that can make a virtual environment (HEADROOM_PYTHON names another), and its version."""
    named = os.environ.get("HEADROOM_PYTHON")
    names = (
        [named] if named else ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "/usr/bin/python3"]
    )
    # Asked for the interpreter below it, a virtual environment (ours, activated, perhaps) answers like its parent.
    probe = "import ensurepip, os, sys, venv; print(*sys.version_info[:2], os.path.realpath(sys._base_executable))"
    for name in names:
        if not shutil.which(name):
            continue
        answer = subprocess.run([name, "-c", probe], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            major, minor, executable = answer.stdout.split(maxsplit=2)
            if (int(major), int(minor)) >= (3, 11):
                return executable.strip(), (int(major), int(minor))
    raise StepFailed(f"no Python 3.11 or newer that can make virtual environments among: {', '.join(names)}")


def requirements(version: tuple[int, int]) -> Path:
    """The pinned requirements: the newest core needs Python 3.12; Debian 12 has 3.11 and gets the newest core for that."""
    return PROJECT / "requirements" / ("python-3.12.txt" if version >= (3, 12) else "python-3.11.txt")


def venv_path() -> Path:
    name, version = python()
    return CACHE / f"venv-{version[0]}.{version[1]}-{digest(requirements(version), name)}"


def venv_ready() -> bool:
    try:
        return (venv_path() / ".complete").exists()
    except StepFailed:
        return False  # the packages that bring the venv module are not installed yet


def make_venv(log: IO[str]) -> None:
    name, version = python()
    path = venv_path()
    shutil.rmtree(path, ignore_errors=True)  # a virtual environment cannot be moved: its completeness is a file in it
    run(log, name, "-m", "venv", path)
    pip = ["-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--quiet"]
    run(log, path / "bin/python", *pip, "--requirement", requirements(version))
    (path / ".complete").touch()


# Go


def go(log: IO[str], folder: Path, output: Path, package: str) -> None:
    """Build one package of a pinned module; go.sum decides, not what a proxy says today."""
    caches = CACHE / "go"
    env = {
        "GOMODCACHE": f"{caches}/mod",
        "GOCACHE": f"{caches}/build",
        "GOFLAGS": "-mod=readonly -modcacherw",
        "CGO_ENABLED": "0",
    }
    run(log, "go", "build", "-trimpath", "-o", output, package, cwd=folder, env=env)


def architecture() -> str:
    """Go's name of this machine's architecture, as in the names of etcd's archives."""
    return {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64le", "s390x": "s390x"}[os.uname().machine]


def built(name: str) -> Path:
    """Where what is built from tools/NAME lies."""
    folder = PROJECT / "tools" / name
    sources = sorted(folder.glob("*.go"))
    return CACHE / f"{name}-{digest(folder / 'go.mod', folder / 'go.sum', architecture(), *sources)}"


@contextlib.contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `path` in one step at the end."""
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    yield part
    part.rename(path)


def make_program(name: str) -> Callable[[IO[str]], None]:
    def make(log: IO[str]) -> None:
        with appearing(built(name)) as folder:
            go(log, PROJECT / "tools" / name, folder / name, PROGRAMS[name])

    return make


def etcd_version(series: str) -> str:
    for line in (PROJECT / f"tools/etcd-{series}/go.mod").read_text().splitlines():
        if line.strip().startswith("go.etcd.io/etcd/server/v3 "):
            return line.split()[1].lstrip("v")
    raise StepFailed(f"tools/etcd-{series}/go.mod does not name go.etcd.io/etcd/server/v3")


def make_etcd(series: str) -> Callable[[IO[str]], None]:
    """Build and pack like upstream: etcd-vX-linux-ARCH.tar.gz with SHA256SUMS beside it; the three programs lie beside them too."""

    def make(log: IO[str]) -> None:
        with appearing(built(f"etcd-{series}")) as folder:
            name = f"etcd-v{etcd_version(series)}-linux-{architecture()}"
            for program, package in (("etcd", "server"), ("etcdctl", "etcdctl"), ("etcdutl", "etcdutl")):
                go(log, PROJECT / f"tools/etcd-{series}", folder / name / program, f"go.etcd.io/etcd/{package}/v3")
            archive = folder / f"{name}.tar.gz"
            with tarfile.open(archive, "w:gz", compresslevel=3) as tar:
                tar.add(folder / name, arcname=name)
            (folder / name).rename(folder / "bin")
            sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
            (folder / "SHA256SUMS").write_text(f"{sha256}  {archive.name}\n")

    return make


# promtool


def promtool() -> Path:
    """Where promtool lies, for the tests of the alert rules."""
    return CACHE / f"promtool-{architecture()}"


def promtool_ready() -> bool:
    """Whether it is there, or cannot be had: only Debian's package is taken."""
    return promtool().is_dir() or not shutil.which("dpkg-deb")


def download_promtool(log: IO[str], folder: Path) -> None:
    download = ["apt-get", "-q", "download", "prometheus"]
    try:
        run(log, *download, cwd=folder)
    except StepFailed:  # no package lists yet
        run(log, *as_root("apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "update"))
        run(log, *download, cwd=folder)


def make_promtool(log: IO[str]) -> None:
    """Unpack Debian's package of Prometheus, which is not installed: that would start a server."""
    with appearing(promtool()) as folder:
        download_promtool(log, folder)
        (archive,) = folder.glob("*.deb")
        run(log, "dpkg-deb", "-x", archive, folder / "unpacked")
        (folder / "unpacked/usr/bin/promtool").rename(folder / "promtool")
        shutil.rmtree(folder / "unpacked")
        archive.unlink()


def try_promtool(log: IO[str]) -> None:
    """Only one check of many wants it, and passes over its cases without it: nobody's demo shall end here."""
    try:
        make_promtool(log)
    except StepFailed as failure:
        print(f"  promtool cannot be had, so the alert rules go untested: {failure}")


# The whole


def steps() -> list[Step]:
    image = [str(PROJECT / "lab/image")]

    def image_ready() -> bool:
        return (
            not missing_packages()
            and subprocess.run([*image, "--ready"], capture_output=True, check=False).returncode == 0
        )

    return [
        Step("Debian packages", lambda: not missing_packages(), install_packages),
        Step("virtual environment", venv_ready, make_venv),
        Step("lab image", image_ready, lambda log: run(log, *image)),
        *(Step(f"etcd {s}", lambda s=s: built(f"etcd-{s}").is_dir(), make_etcd(s)) for s in ETCD_SERIES),  # type: ignore[misc]
        *(Step(name, lambda n=name: built(n).is_dir(), make_program(name)) for name in PROGRAMS),  # type: ignore[misc]
        Step("promtool", promtool_ready, try_promtool),
    ]


def link(target: Path, name: str) -> None:
    """Point .headroom/NAME at the target, replacing what was there in one step."""
    path = LINKS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.symlink_to(target)
    part.replace(path)


def link_results() -> None:
    link(venv_path(), "venv")
    for name in PROGRAMS:
        link(built(name) / name, f"bin/{name}")
    if promtool().is_dir():
        link(promtool() / "promtool", "bin/promtool")
    for series in ETCD_SERIES:
        link(built(f"etcd-{series}"), f"archives/v{etcd_version(series)}")
    for program in ("etcd", "etcdctl", "etcdutl"):
        link(built(f"etcd-{ETCD_SERIES[0]}") / "bin" / program, f"bin/{program}")
    (LINKS / "activate").write_text(ACTIVATE.format(links=LINKS))


def set_up(todo: list[Step]) -> None:
    """Run the steps, packages first, then two at a time, and say what goes on."""
    say = threading.Lock()
    done = 0

    def one(step: Step) -> None:
        nonlocal done
        with say:
            print(f"  ....   {step.title}", flush=True)
        seconds = step.run()
        with say:
            done += 1
            print(f"  {done:>2}/{len(todo):<2}  {step.title}: {seconds:.0f} s", flush=True)

    if todo and todo[0].title == "Debian packages":
        one(todo[0])
    rest = [step for step in todo if step.title != "Debian packages"]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for result in concurrent.futures.as_completed([pool.submit(one, step) for step in rest]):
            try:
                result.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def main() -> int:
    parser = argparse.ArgumentParser(description="Set up what the project needs, in a cache folder of its own.")
    parser.parse_args()
    began = time.monotonic()
    try:
        todo = [step for step in steps() if not step.ready()]
        if todo:
            print(
                f"Set-up: {', '.join(step.title for step in todo)} (into {CACHE}; the first time takes about 5 minutes)",
                flush=True,
            )
            set_up(todo)
        link_results()
    except StepFailed as error:
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    print(f"Set-up: ready ({time.monotonic() - began:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
