"""What each target of the Makefile needs. A new program is one line in PURPOSES and its name in the targets that use it."""

from __future__ import annotations

from tools.setup.debian import GROUPS, image_step, packages_step, prometheus_step
from tools.setup.environment import venv_step
from tools.setup.programs import PACKAGES, etcd_step, is_old_release, program_step
from tools.setup.steps import Step

# Two steps run in parallel, in this order: the longest first, and a step that compiles next to one that downloads.
PURPOSES = {
    "conftest": "runs the policies over an inventory",
    "venv": "Ansible, its collections, and the checks written in Python",
    "lab-bookworm": "the lab's hosts",
    "etcd-3.7": "the etcd that the demo deploys",
    "opa": "tests of the policies, and their documentation",
    "vale": "the check of the English in docs, comments and messages",
    "versitygw": "an S3-compatible store, for the tests of backups in a bucket",
    "etcd-3.6": "for tests and measurements of three releases of etcd",
    "etcd-3.5": "for tests and measurements of three releases of etcd",
    "etcd-3.5.19": "a release that stores promoted learners wrongly, for tests of refusals",
    "etcd-3.6.10": "a release before the floor of 3.7, for tests of refusals",
    "benchmark": "etcd's load generator, for tests and measurements",
    "load": "a load of puts that measures each second, for bench-maintenance",
    "lab-bullseye": "hosts with an older Debian, for tests",
    "lab-trixie": "hosts with a newer Debian, for tests",
    "prometheus": "tests of the alert rules, and of the audit with the history of a Prometheus server",
}
# Debian packages by group; debian.GROUPS lists them.
DEPLOY = ("python3-venv", "lab", "debootstrap", "venv", "lab-bookworm", "conftest", "etcd-3.7")
PYTHON = ("python3-venv", "venv")
THREE_ETCDS = ("etcd-3.5", "etcd-3.6", "etcd-3.7")
OLD_ETCDS = tuple(name for name in PURPOSES if is_old_release(name))
NEEDS = {
    "demo": DEPLOY,
    "demo-down": (*PYTHON, "lab"),
    "check": (*PYTHON, "fio", "shellcheck", "encryption", "conftest", "opa", "vale", "prometheus"),
    "test": (*GROUPS, *(name for name in PURPOSES if name not in OLD_ETCDS)),
    "model": (*PYTHON, "conftest", "opa"),
    "bundle": (*PYTHON, "opa"),
    "architecture": PYTHON,
    "role-docs": PYTHON,
    "accuracy": PYTHON,
    "storage-evidence": PYTHON,
    "bench-model": PYTHON,
    "bench-site": DEPLOY,
    "bench-audit": (*DEPLOY, *THREE_ETCDS),
    "bench-chaos": (*DEPLOY, "etcd-3.6", "benchmark"),
    "bench-demo": (*DEPLOY, "benchmark"),
    "bench-follower": (*PYTHON, *THREE_ETCDS, "benchmark"),
    "bench-lifecycle": (*DEPLOY, "etcd-3.5", "etcd-3.6", "benchmark", "versitygw", "encryption", "fio", *OLD_ETCDS),
    "bench-lifecycle-kills": (*DEPLOY, "etcd-3.5", "etcd-3.6"),
    "bench-lint": (*PYTHON, "conftest"),
    "bench-world": (*PYTHON, "conftest"),
    "bench-memory": (*PYTHON, *THREE_ETCDS, "benchmark"),
    "bench-memory-compaction": (*PYTHON, *THREE_ETCDS, "benchmark"),
    "bench-memory-random": (*PYTHON, *THREE_ETCDS, "benchmark"),
    "bench-memory-starts": (*PYTHON, *THREE_ETCDS, "benchmark"),
    "bench-plan": (*PYTHON, "etcd-3.7", "benchmark"),
    "bench-storage": (*PYTHON, "etcd-3.7", "fio"),
    "bench-maintenance": (*PYTHON, *THREE_ETCDS, "load"),
}


def make_step(name: str) -> Step:
    """Return the step called NAME in PURPOSES."""
    purpose = PURPOSES[name]
    if name in PACKAGES:
        return program_step(name, purpose)
    if name.startswith("etcd-"):
        return etcd_step(name, purpose)
    if name.startswith("lab-"):
        return image_step(name, purpose)
    return {"venv": venv_step, "prometheus": prometheus_step}[name](purpose)


def parts(names: list[str]) -> set[str]:
    """Expand names of targets and of parts to names of parts, no names to all parts; `-quick` targets need what the long ones do.

    Raises ValueError for an unknown name.
    """
    found: set[str] = set() if names else {*GROUPS, *PURPOSES}
    for name in names:
        target = name.removesuffix("-quick")
        if target in NEEDS:
            found.update(NEEDS[target])
        elif name in PURPOSES or name in GROUPS:
            found.add(name)
        else:
            known = ", ".join((*NEEDS, *PURPOSES, *GROUPS))
            raise ValueError(f"nothing is called {name}: name targets or parts, of {known}")
    return found


def steps(names: list[str]) -> tuple[Step, list[Step]]:
    """Return the step for all Debian packages, which comes first, and the other steps for these targets and parts; all if none is named."""
    wanted = parts(names)
    packages = packages_step([group for group in GROUPS if group in wanted])
    return packages, [make_step(name) for name in PURPOSES if name in wanted]
