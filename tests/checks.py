"""The project's checks, one entry each; tests/run.py runs them.

To add a check, add an entry to CPU, or to FAST if it takes less than about 30 seconds and needs no etcd: `make check` runs FAST.
"""

from __future__ import annotations

from dataclasses import dataclass

SHELL_SCRIPTS = [
    "lab/cancel_device_jobs",
    "lab/demo",
    "lab/image",
    "lab/killed",
    "lab/network",
    "lab/podman",
    "lab/processors",
    "lab/volumes",
    "requirements/pin",
    ".ci/run",
    "bin/headroom-lint",
    "tools/hooks/lint-resolved",
]


@dataclass(frozen=True)
class Check:
    """A command that exits with 0 if all is well; patterns find its own count of tests, without them it counts as one."""

    name: str
    command: str
    passed: str = ""
    failed: str = ""
    skipped: str = ""
    # Whether the output has several summaries, which add up; otherwise the last one counts.
    several: bool = False
    # Follows on the same hosts. It counts writes that fail within a client's timeout, so nothing but checks at low priority may run beside it.
    alone: Check | None = None


# Pytest's counts of passed, failed and skipped tests.
COUNTS = (r"(\d+) passed", r"(\d+) (?:failed|errors?)\b", r"(\d+) skipped")


def pytest(name: str, paths: str) -> Check:
    """Return a check that runs pytest over folders or files."""
    return Check(name, f"python -m pytest -q -rfEs -p no:cacheprovider {paths}", *COUNTS)


def molecule(scenario: str, *, alone: bool = False) -> Check:
    """Return a check that runs a scenario. alone: whether it has a step side_effect, which needs the machine for itself."""

    def command(*steps: str, between: str = " && ") -> str:
        options = f"--no-command-borders --scenario-name {scenario}"
        # Two scenarios at once must not share Molecule's state and Ansible's temporary files.
        home = f'export ANSIBLE_HOME="$ANSIBLE_HOME-{scenario}" && '
        return home + between.join(f"molecule {step} {options}" for step in steps)

    name = f"molecule {scenario}"
    if not alone:
        return Check(name, command("test"))
    last = command("side-effect", "destroy", between="; code=$?; ") + "; exit $code"
    return Check(name, command("destroy", "converge", "verify"), alone=Check(f"{name}, alone", last))


# In each list the longest come first, since they run side by side. Tests of real etcd are among HOSTS, since their requests have time limits.
HOSTS = [
    pytest("real etcd", "tests/integration"),
    molecule("maintenance"),
    molecule("membership"),
    molecule("default", alone=True),
    molecule("lifecycle"),
    molecule("releases"),
    molecule("storage", alone=True),
    pytest("artifact", "tests/artifact"),
]
CPU = [
    pytest(
        "certificates",
        "tests/playbooks/test_ca_renewal.py tests/playbooks/test_certificates.py tests/playbooks/test_client_certificates.py "
        "tests/playbooks/test_provided_certificates.py "
        "tests/playbooks/test_rotation.py",
    ),
    pytest(
        "plays",
        "tests/playbooks/test_archive.py tests/playbooks/test_assumed_healthy.py tests/playbooks/test_audit_comparison.py tests/playbooks/test_auth_users.py "
        "tests/playbooks/test_cancelled_downgrade.py "
        "tests/playbooks/test_controller.py tests/playbooks/test_erase.py "
        "tests/playbooks/test_expired_certificates.py tests/playbooks/test_extra_version.py "
        "tests/playbooks/test_join_config.py "
        "tests/playbooks/test_join_space.py "
        "tests/playbooks/test_join_warnings.py tests/playbooks/test_limit.py tests/playbooks/test_lost_cluster.py "
        "tests/playbooks/test_maintenance_messages.py tests/playbooks/test_member_differences.py "
        "tests/playbooks/test_nospace.py tests/playbooks/test_obstacles.py tests/playbooks/test_planned_digest.py tests/playbooks/test_release_of_hosts.py "
        "tests/playbooks/test_release_space.py "
        "tests/playbooks/test_replaced_member.py tests/playbooks/test_rescue.py tests/playbooks/test_restore.py tests/playbooks/test_restore_members.py "
        "tests/playbooks/test_restored_revision.py "
        "tests/playbooks/test_retired_hosts.py tests/playbooks/test_retired_maintenance.py "
        "tests/playbooks/test_scheduler.py tests/playbooks/test_several_clusters.py "
        "tests/playbooks/test_storage_jobs.py tests/playbooks/test_tls_settings.py tests/playbooks/test_unmounted_volumes.py "
        "tests/playbooks/test_user.py "
        "tests/playbooks/test_without_tls_role.py",
    ),
    Check(
        "ansible-test units",
        "python tests/sanity_and_units.py units",
        *COUNTS,
        several=True,
    ),
    Check("ansible-test sanity", "python tests/sanity_and_units.py sanity"),
    pytest("hostile input", "tests/policies/test_fuzz.py tests/policies/test_mutations.py tests/policies/test_torn.py"),
    pytest("resolver", "tests/policies/test_resolver.py"),
    pytest(
        "conftest",
        "tests/policies/test_conftest.py tests/policies/test_vocabularies.py tests/policies/test_outputs.py "
        "tests/policies/test_plan_agreement.py tests/policies/test_public_files.py tests/policies/test_examples.py",
    ),
    pytest("bench", "tests/bench"),
    pytest("alert rules", "tests/alerts"),
    Check("etcd's own settings", "python model/check_binaries.py .headroom/archives/*/*.tar.gz"),
]
# In two, since some of them wait.
UNIT = [
    pytest("unit module_utils", "tests/unit/plugins/module_utils"),
    pytest("unit plugins and roles", "tests/unit --ignore=tests/unit/plugins/module_utils"),
]
FAST = [
    *UNIT,
    # ansible-lint installs a copy of the collection and does not renew it while the version stays the same: the copy is its own.
    Check(
        "ansible-lint",
        'export ANSIBLE_HOME="$ANSIBLE_HOME-lint" && rm -rf "$ANSIBLE_HOME/collections" && ansible-lint --offline',
    ),
    Check("opa test", "python tests/policies/coverage.py", r"(\d+) tests? passed", r"(\d+) tests? failed"),
    pytest(
        "policy conventions",
        "tests/policies/test_conventions.py tests/policies/test_layers.py tests/policies/test_reader_tables.py "
        "tests/policies/test_vocabulary_data.py",
    ),
    Check(
        "mypy",
        "mypy && mypy -p ansible_collections.etcdops.headroom.plugins.module_utils "
        "-p ansible_collections.etcdops.headroom.plugins.plugin_utils",
    ),
    Check("yamllint", "yamllint --strict ."),
    # ruff passes over a long line without a space, pep8 of ansible-test does not.
    Check(
        "ruff", "ruff check . && ruff format --check . && ! git grep --line-number --extended-regexp '.{161}' -- '*.py'"
    ),
    Check("shellcheck", f"shellcheck -x {' '.join(SHELL_SCRIPTS)}"),
    Check("import layers", "lint-imports --no-cache", r"(\d+) kept", r"(\d+) broken"),
    pytest("model", "tests/model"),
    pytest("playbooks", "tests/playbooks/test_targets.py"),
    pytest("set-up", "tests/setup"),
    pytest("generators", "tests/tools"),
    Check("architecture", "python -m tools.architecture --check"),
    Check("prose", "python -m tools.prose"),
    Check("role docs", "python -m tools.role_readmes --check"),
    Check("opa fmt", "opa fmt --fail --list policies tests/policies"),
    Check(
        "opa check",
        "opa check --strict policies/lib policies/rules policies/headroom.rego policies/waived.rego policies/data tests/policies/rego",
    ),
    Check("accuracy", "python -m bench.memory.report --check"),
    Check("storage evidence", "python -m bench.storage.report --check"),
    Check("follower evidence", "python -m bench.follower.report --check"),
    Check("public files", "python -m bench.world.report --check"),
    Check("changelog", "antsibull-changelog lint"),
]
# `ansible-test units` runs the same unit tests, in the way that Ansible wants them.
ALL = [*HOSTS, *CPU, *[check for check in FAST if check not in UNIT]]
