"""Programs built from Go modules: go.sum in tools/NAME pins every source, whatever a proxy answers today."""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path
from typing import IO

from tools.setup.steps import CACHE, PROJECT, Step, StepFailed, complete_folder, digest, run

# The folder in tools/ and the Go package in it.
PACKAGES = {
    "conftest": "github.com/open-policy-agent/conftest",
    "opa": "github.com/open-policy-agent/opa",
    "benchmark": "go.etcd.io/etcd/v3/tools/benchmark",
    "load": ".",
    "vale": "github.com/errata-ai/vale/v3/cmd/vale",
    "versitygw": "github.com/versity/versitygw/cmd/versitygw",
}
ETCD_PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "etcdctl": "go.etcd.io/etcd/etcdctl/v3",
    "etcdutl": "go.etcd.io/etcd/etcdutl/v3",
}
# Go's names of the architectures that etcd publishes archives for, by the kernel's.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64le", "s390x": "s390x"}
# This release's programs are the ones on PATH after `. .headroom/activate`.
DEFAULT_ETCD = "etcd-3.7"


# What decides on the content of a program, besides its sources: a change of it builds the programs again.
GO_BUILD = ("go", "build", "-trimpath")
# As in etcd's scripts/build-binary.sh: without symbols, published archives have half the size.
ETCD_FLAGS = ("-ldflags=-s -w",)
GO_ENVIRONMENT = {
    "GOFLAGS": "-mod=readonly -modcacherw",
    "CGO_ENABLED": "0",
    # The user's: for other machines, and for a workspace in a folder above the project.
    "GOOS": "",
    "GOARCH": "",
    "GOWORK": "off",
}


def go_build(log: IO[str], folder: Path, output: Path, package: str, *flags: str) -> None:
    """Build a package of a Go module into `output`, from the module cache or the network."""
    caches = CACHE / "go"
    env = {"GOMODCACHE": f"{caches}/mod", "GOCACHE": f"{caches}/build", "GO111MODULE": "on", **GO_ENVIRONMENT}
    run(log, *GO_BUILD, *flags, "-o", output, package, cwd=folder, env=env)


def architecture() -> str:
    """Return Go's name of this machine's architecture, as in the names of etcd's archives."""
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        raise StepFailed(
            f"this machine is of the architecture {machine}, for which etcd has no archives: use one of {', '.join(ARCHITECTURES)}"
        )
    return ARCHITECTURES[machine]


def built(name: str) -> Path:
    """Return the folder in the cache for what is built from tools/NAME."""
    folder = PROJECT / "tools" / name
    own = () if name in PACKAGES else ETCD_FLAGS
    flags = (*GO_BUILD, *own, *(f"{key}={value}" for key, value in GO_ENVIRONMENT.items()))
    # A go.mod may replace a module by a folder below it, with a go.mod of its own.
    sources = sorted(path for path in folder.rglob("*") if path.suffix == ".go" or path.name in ("go.mod", "go.sum"))
    named = [part for path in sources for part in (str(path.relative_to(folder)), path)]
    return CACHE / f"{name}-{digest(architecture(), PACKAGES.get(name, ''), *flags, *named)}"


def program_step(name: str, purpose: str) -> Step:
    """Return the step that builds the Go program pinned in tools/NAME."""

    def make(log: IO[str]) -> None:
        with complete_folder(built(name)) as folder:
            go_build(log, PROJECT / "tools" / name, folder / name, PACKAGES[name])

    def links() -> dict[str, Path]:
        return {f"bin/{name}": built(name) / name}

    return Step(name, purpose, lambda: built(name).is_dir(), make, links)


def etcd_version(name: str) -> str:
    """Return the release that tools/NAME/go.mod pins, such as 3.7.3."""
    for line in (PROJECT / "tools" / name / "go.mod").read_text().splitlines():
        if line.strip().startswith("go.etcd.io/etcd/server/v3 "):
            return line.split()[1].lstrip("v")
    raise StepFailed(f"tools/{name}/go.mod does not require go.etcd.io/etcd/server/v3")


def is_old_release(name: str) -> bool:
    """Return whether tools/NAME pins a release by its patch version: only tests of refusals run it."""
    return name.count(".") == 2


def etcd_step(name: str, purpose: str) -> Step:
    """Return the step that builds and packs a release as upstream does: the archive with SHA256SUMS, and the programs in bin/."""

    def make(log: IO[str]) -> None:
        with complete_folder(built(name)) as folder:
            release = f"etcd-v{etcd_version(name)}-linux-{architecture()}"
            for program, package in ETCD_PACKAGES.items():
                go_build(log, PROJECT / "tools" / name, folder / release / program, package, *ETCD_FLAGS)
            archive = folder / f"{release}.tar.gz"
            with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
                tar.add(folder / release, arcname=release)
            (folder / release).rename(folder / "bin")
            sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
            (folder / "SHA256SUMS").write_text(f"{sha256}  {archive.name}\n")

    def links() -> dict[str, Path]:
        folder = "old-archives" if is_old_release(name) else "archives"
        archives = {f"{folder}/v{etcd_version(name)}": built(name)}
        on_path = {f"bin/{program}": built(name) / "bin" / program for program in ETCD_PACKAGES}
        return archives | (on_path if name == DEFAULT_ETCD else {})

    return Step(name, purpose, lambda: built(name).is_dir(), make, links)
