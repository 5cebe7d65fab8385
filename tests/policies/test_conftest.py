# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ways to lint, as a user calls them: `conftest test` and `ansible-playbook playbooks/lint.yml`."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml

from .inventories import Files, write
from .tools import REPOSITORY, tool

EXAMPLE = REPOSITORY / "inventory"
MODEL = json.loads((REPOSITORY / "policies" / "data" / "model.json").read_text(encoding="utf-8"))["headroom"]["model"]
NEWEST = MODEL["series"]["3.6"]["newest"]
BIN = Path(sys.executable).parent


def conftest(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`conftest test PATH` in the repository, where conftest.toml says the rest."""
    command = [tool("conftest"), "test", "--no-color", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY)


def playbook(path: Path, *arguments: str, name: str = "playbooks/lint.yml") -> subprocess.CompletedProcess[str]:
    """`ansible-playbook playbooks/lint.yml -i PATH` in the repository; name: another playbook."""
    command = [
        str(BIN / "ansible-playbook"),
        name,
        "-i",
        str(path),
        "-e",
        f"etcd_lint_conftest={tool('conftest')}",
        *arguments,
    ]
    environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "COLUMNS": "2000"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY, env=environment
    )


def lines(output: str) -> set[str]:
    """The ids of the findings, with their severity."""
    return {
        f"{severity} {rule}"
        for severity, rule in re.findall(
            r"^(WARN|DENY|FAIL) (?:- Combined - headroom - )?([a-z_/0-9]+):", output, re.MULTILINE
        )
    }


def test_example_is_clean() -> None:
    for done in (conftest(EXAMPLE), playbook(EXAMPLE)):
        assert done.returncode == 0, done.stdout + done.stderr
        assert not lines(done.stdout)


@pytest.fixture
def bad_copy(tmp_path: Path) -> Path:
    """The example with large values, on 3.5 with its defaults."""
    copy = tmp_path / "inventory"
    shutil.copytree(EXAMPLE, copy)
    path = copy / "group_vars" / "etcd.yml"
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"value_size: \S+", "value_size: 1MB", text)
    text = re.sub(r"etcd_version: .*", 'etcd_version: "3.5.35"', text)
    path.write_text(text + "\netcd_snapshot_count: 100000\netcd_snapshot_catchup_entries: 5000\n", encoding="utf-8")
    return copy


def test_bad_copy_is_denied(bad_copy: Path) -> None:
    done = conftest(bad_copy)
    assert done.returncode == 1
    expected = {"memory/large_values", "memory/raft_log_share", "memory/limit_below_estimate"}
    assert lines(done.stdout) == {f"FAIL {rule}" for rule in expected} | {"WARN memory/snapshot_count"}
    # The same from what Ansible resolves, and one line for each finding.
    listed = playbook(bad_copy)
    assert listed.returncode != 0
    assert lines(listed.stdout) == {f"DENY {rule}" for rule in expected} | {"WARN memory/snapshot_count"}
    assert "3 denials, 1 warning" in listed.stdout
    assert re.search(r"^  rule +severity +findings +hosts$", listed.stdout, re.MULTILINE)
    assert re.search(r"^  memory/large_values +deny +1 +3$", listed.stdout, re.MULTILINE)
    assert '"failures"' not in listed.stdout


def test_sarif_names_the_rule(bad_copy: Path) -> None:
    done = conftest(bad_copy, "--output", "sarif", "--namespace", "headroom.rules.*")
    (run,) = json.loads(done.stdout)["runs"]
    (result,) = [entry for entry in run["results"] if entry["ruleId"] == "headroom.rules.memory.large_values/deny"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("group_vars/etcd.yml")
    assert not [entry["id"] for entry in run["tool"]["driver"]["rules"] if "test" in entry["id"]]


# What only Ansible can read, each with two members that are bad for the same reason.
OTHERS: dict[str, Files] = {
    "ini": {"hosts.ini": "[etcd]\nn1\nn2\n[etcd:vars]\netcd_version=3.5.2\netcd_maintenance_defrag_enabled=True\n"},
    "no ending": {
        "hosts": "[etcd]\nn[1:2]\n",
        "group_vars/etcd": "etcd_version: 3.5.2\netcd_maintenance_defrag_enabled: true\n",
    },
    "template": {
        "hosts.yml": "etcd: {hosts: {n1: , n2: }}\n",
        "group_vars/all.yml": "release: 3.5.2\netcd_version: '{{ release }}'\netcd_maintenance_defrag_enabled: true\n",
    },
    "dynamic": {
        "1.yml": "all: {hosts: {n1: , n2: }}\n",
        "2.yml": (
            "plugin: ansible.builtin.constructed\nstrict: true\ngroups: {etcd: 'true'}\n"
            "compose: {etcd_version: \"'3.5.2'\", etcd_maintenance_defrag_enabled: \"'true'\"}\n"
        ),
    },
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_ansible_can_read(name: str, tmp_path: Path) -> None:
    write(tmp_path / "inventory", OTHERS[name])
    done = playbook(tmp_path / "inventory")
    assert done.returncode != 0, done.stdout
    assert "DENY version/data_corruption: n1, n2: etcd 3.5.2" in done.stdout, done.stdout
    folder = conftest(tmp_path / "inventory")
    # Never a pass, never silence: a template is unknown, members that cannot be seen are a denial or end the run.
    assert (
        lines(folder.stdout) & {"WARN inventory/unknown_value", "FAIL inventory/no_members"} or folder.returncode == 1
    ), folder.stdout


def test_vault(tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    (tmp_path / "password").write_text("secret\n", encoding="utf-8")
    write(folder, {"hosts.yml": "etcd: {hosts: {n1: , n2: , n3: }}\n", "group_vars/etcd.yml": "etcd_version: 3.5.2\n"})
    vault = [
        str(BIN / "ansible-vault"),
        "encrypt",
        "--vault-password-file",
        str(tmp_path / "password"),
        str(folder / "group_vars" / "etcd.yml"),
    ]
    subprocess.run(vault, check=True, capture_output=True, timeout=60)
    assert "WARN inventory/unread_file" in lines(conftest(folder).stdout)
    done = playbook(folder, "--vault-password-file", str(tmp_path / "password"))
    assert "DENY version/data_corruption" in lines(done.stdout)


def test_the_group_that_kubespray_makes(tmp_path: Path) -> None:
    """Of its sample since 2.27: group_vars/k8s_cluster applies once kubespray has added the group."""
    write(
        tmp_path,
        {
            "inventory.ini": "[kube_control_plane]\nn1\n[etcd:children]\nkube_control_plane\n[kube_node]\nn2\n",
            "group_vars/k8s_cluster/k8s-cluster.yml": "kube_network_plugin: calico\netcd_version: 3.5.35\netcd_heartbeat_interval: 4000\n",
        },
    )
    done = playbook(tmp_path / "inventory.ini")
    assert "DENY topology/election_refused" in lines(done.stdout), done.stdout + done.stderr
    assert "kubespray's default etcd_election_timeout" in done.stdout


def test_extra_variables_count() -> None:
    assert "DENY version/data_corruption" in lines(playbook(EXAMPLE, "-e", "etcd_version=3.5.2").stdout)


@pytest.mark.parametrize(
    ("arguments", "code"), [((), 2), (("-e", "etcd_lint_gate=true"), 0), (("-e", "etcd_lint_enabled=false"), 0)]
)
def test_without_conftest(arguments: tuple[str, ...], code: int) -> None:
    done = playbook(EXAMPLE, "-e", "etcd_lint_conftest=no-such-conftest", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert "no-such-conftest not found" in done.stdout + done.stderr or "etcd_lint_enabled=false" in arguments


def test_the_gate_of_site_knows_the_role(tmp_path: Path) -> None:
    write(tmp_path / "inventory", {"hosts.yml": "etcd: {hosts: {n1: , n2: , n3: }}\n"})
    assert "WARN durability/no_backup" in lines(playbook(tmp_path / "inventory", "-e", "etcd_lint_gate=true").stdout)
    assert "WARN durability/no_backup" not in lines(playbook(tmp_path / "inventory").stdout)


def test_a_limited_run_is_not_refused_for_another_cluster(tmp_path: Path) -> None:
    copy = tmp_path / "inventory"
    shutil.copytree(EXAMPLE, copy)
    other = "etcd: {hosts: {other-1: {etcd_cluster_name: other, etcd_version: 3.5.2}}}\n"
    (copy / "other.yml").write_text(other, encoding="utf-8")
    gate = ("-e", "etcd_lint_gate=true")
    done = playbook(copy, *gate, "--limit", "etcd-1,etcd-2,etcd-3")
    assert done.returncode == 0, done.stdout
    assert "DENY version/data_corruption: other-1: " in done.stdout
    assert "the denials are of hosts outside --limit (etcd-1,etcd-2,etcd-3), so the run continues" in done.stdout
    for arguments in ((*gate, "--limit", "other-1"), gate, ("--limit", "etcd-1")):
        assert playbook(copy, *arguments).returncode == 2, arguments


def test_a_denial_says_how_to_deploy_in_spite_of_it() -> None:
    bad = ("-e", "etcd_version=3.5.2")
    way_on = "printed above. Nothing was deployed; --skip-tags lint continues"
    done = playbook(EXAMPLE, *bad, name="playbooks/site.yml")
    assert done.returncode == 2 and way_on in done.stdout + done.stderr, done.stdout
    assert "--skip-tags" not in playbook(EXAMPLE, *bad, "-e", "etcd_lint_gate=true").stdout


@pytest.mark.parametrize("name", ["site", "_members", "downgrade", "rotate_ca"])
def test_the_tag_of_the_linter(name: str) -> None:
    """--skip-tags lint skips it in each playbook, and nothing was deployed before it."""
    plays = yaml.safe_load((REPOSITORY / "playbooks" / f"{name}.yml").read_text(encoding="utf-8"))
    imported = [play.get("ansible.builtin.import_playbook") for play in plays]
    at = imported.index("lint.yml")
    assert plays[at]["tags"] == ["lint", "always"]
    assert name == "downgrade" or set(imported[:at]) <= {"_targets.yml"}
    later = [play for play in plays[at + 1 :] if play.get("ansible.builtin.import_playbook") == "site.yml"]
    assert all(play["vars"]["_etcd_lint_done"] is True for play in later)


def test_an_upgrade_is_judged_by_its_target(tmp_path: Path) -> None:
    """The playbooks upgrade and downgrade set etcd_version for a play, which hostvars does not show."""
    files = {"hosts.yml": "etcd: {hosts: {n1: , n2: , n3: }}\n", "group_vars/etcd.yml": "etcd_version: 3.5.18\n"}
    write(tmp_path / "inventory", files)
    assert "DENY version/data_corruption" in lines(playbook(tmp_path / "inventory").stdout)
    assert "DENY version/data_corruption" not in lines(planned(tmp_path, "3.5.35").stdout)
    files["group_vars/etcd.yml"] = "etcd_version: 3.5.35\n"
    write(tmp_path / "inventory", files)
    assert "DENY version/data_corruption" in lines(planned(tmp_path, "3.5.18").stdout)


def planned(folder: Path, release: str) -> subprocess.CompletedProcess[str]:
    """Lint after the plan of an upgrade to a release, which only sets a fact here."""
    fact = {"name": "Plan", "ansible.builtin.set_fact": {"etcd_lint_release": release}}
    plays = [
        {"name": "Plan the upgrade", "hosts": "etcd", "gather_facts": False, "tasks": [fact]},
        {"name": "Lint", "ansible.builtin.import_playbook": str(REPOSITORY / "playbooks" / "lint.yml")},
    ]
    (folder / "plan.yml").write_text(json.dumps(plays), encoding="utf-8")
    return playbook(folder / "inventory", "-e", "etcd_lint_gate=true", name=str(folder / "plan.yml"))


@pytest.mark.parametrize("name", ["upgrade", "downgrade"])
def test_the_plan_of_a_release_tells_the_linter(name: str) -> None:
    tasks = (REPOSITORY / "roles" / "etcd" / "tasks" / f"plan_{name}.yml").read_text(encoding="utf-8")
    assert "    etcd_lint_release: " in tasks


def test_a_downgrade_is_cancelled_after_the_lint() -> None:
    """A denial would otherwise leave members of both releases, and no downgrade that permits them."""
    text = (REPOSITORY / "playbooks" / "downgrade.yml").read_text(encoding="utf-8")
    order = ["tasks_from: plan_downgrade", "import_playbook: lint.yml", "tasks_from: cancel_downgrade", "site.yml"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "state: cancelled" not in (REPOSITORY / "roles/etcd/tasks/plan_downgrade.yml").read_text(encoding="utf-8")


def test_suggestions_are_a_diff_and_change_nothing(tmp_path: Path) -> None:
    files = {
        "hosts.yml": "etcd: {hosts: {n1: , n2: , n3: }}\n",
        "group_vars/etcd.yml": "# The release of the year before.\netcd_version: 3.6.4\netcd_environment: {ETCD_QUOTA_BACKEND_BYTES: 8G}\n",
    }
    write(tmp_path / "inventory", files)
    path = f"{tmp_path}/inventory/group_vars/etcd.yml"
    done = playbook(tmp_path / "inventory", "-e", "etcd_lint_suggest=true")
    assert "lint: suggested changes; no file was edited:" in done.stdout, done.stdout + done.stderr
    diff = [
        f"--- a{path}",
        f"+++ b{path}",
        "@@ -1,3 +1,3 @@",
        " # The release of the year before.",
        "-etcd_version: 3.6.4",
        "-etcd_environment: {ETCD_QUOTA_BACKEND_BYTES: 8G}",
        f"+etcd_version: {NEWEST}",
        "+etcd_environment: {ETCD_QUOTA_BACKEND_BYTES: 8589934592}",
    ]
    assert "\n".join(diff) in done.stdout, done.stdout
    assert Path(path).read_text(encoding="utf-8") == files["group_vars/etcd.yml"]
    assert "suggested" not in playbook(tmp_path / "inventory").stdout


@pytest.mark.parametrize("name", ["etcd_extra_config", "etcd_environment"])
def test_suggested_changes_are_right(tmp_path: Path, name: str) -> None:
    written = {"max-request-bytes": '"2MB"', "force-new-cluster": '"yes"', "max-wals": "'5'"}
    if name == "etcd_environment":
        written = {f"ETCD_{key.upper().replace('-', '_')}": value for key, value in written.items()}
    values = "".join(f"  {key}: {value}\n" for key, value in written.items())
    variables = f"etcd_version: {NEWEST}\n{name}:\n{values}"
    write(tmp_path / "inventory", {"hosts.yml": "etcd: {hosts: {n1: }}\n", "group_vars/etcd.yml": variables})
    done = playbook(tmp_path / "inventory", "-e", "etcd_lint_suggest=true")
    diff = done.stdout.split("@@\n", 1)[1].splitlines()
    kept = itertools.takewhile(lambda line: line[:1] in (" ", "-", "+"), diff)
    changed = "".join(f"{line[1:]}\n" for line in kept if not line.startswith("-"))
    assert changed != variables and changed.startswith("etcd_version")
    write(tmp_path / "inventory", {"group_vars/etcd.yml": changed})
    again = playbook(tmp_path / "inventory").stdout
    for rule in ("flags/wrong_type", "durability/force_new_cluster"):
        assert rule in done.stdout and rule not in again, again


def test_a_value_of_the_command_line_is_named(tmp_path: Path) -> None:
    write(tmp_path / "inventory", {"hosts.yml": "etcd: {hosts: {n1: }}\n"})
    done = playbook(tmp_path / "inventory", "-e", "etcd_lint_suggest=true", "-e", "etcd_version=3.6.4")
    assert (
        f'etcd_version of n1: no YAML file of the inventory certainly sets it; the value would be "{NEWEST}"'
        in done.stdout
    )


def test_a_key_that_the_role_refuses_gets_a_value_for_the_variable(tmp_path: Path) -> None:
    variables = "etcd_extra_config: {heartbeat-interval: 200}\n"
    write(tmp_path / "inventory", {"hosts.yml": "etcd: {hosts: {n1: }}\n", "group_vars/etcd.yml": variables})
    done = playbook(tmp_path / "inventory", "-e", "etcd_lint_suggest=true")
    assert (
        "etcd_heartbeat_interval of n1: no YAML file of the inventory certainly sets it; the value would be 200"
        in done.stdout
    )


def test_old_conftest(tmp_path: Path) -> None:
    old = tmp_path / "conftest"
    old.write_text(
        "#!/bin/sh\n[ $1 = --version ] && printf 'Conftest: 0.50.0\\nOPA: 0.62.1\\n' || exit 1\n", encoding="utf-8"
    )
    old.chmod(0o755)
    done = playbook(EXAMPLE, "-e", f"etcd_lint_conftest={old}")
    assert done.returncode == 2
    assert "it has OPA 0.62.1, and the policies need OPA 1.0 or newer" in done.stdout + done.stderr


def test_a_broken_conftest_is_not_passed_over(tmp_path: Path) -> None:
    """Unlike a missing one. The message names the way on where the linter is only the first step."""
    broken = tmp_path / "conftest"
    broken.write_bytes(b"\x7fELF of another machine")
    broken.chmod(0o755)
    path = ("-e", f"etcd_lint_conftest={broken}")
    for name, way_on in (("site", ". Nothing was deployed; --skip-tags lint continues without it"), ("lint", "")):
        done = playbook(EXAMPLE, *path, name=f"playbooks/{name}.yml")
        said = done.stdout + done.stderr
        assert done.returncode == 2 and f"{broken} could not be run: Exec format error{way_on}" in said, said
    assert "--skip-tags" not in said


def test_own_thresholds(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text("headroom: {thresholds: {large_value_bytes: 1024}}\n", encoding="utf-8")
    # conftest.toml names the data of the repository; --data replaces it, so both are given.
    done = conftest(EXAMPLE, "--data", "policies/data", "--data", str(own))
    assert "FAIL memory/large_values" in lines(done.stdout), done.stdout + done.stderr
    assert "DENY memory/large_values" in lines(
        playbook(EXAMPLE, "-e", json.dumps({"etcd_lint_data": [str(own)]})).stdout
    )


def test_broken_yaml_names_the_file(tmp_path: Path) -> None:
    write(tmp_path / "inventory", {"hosts.yml": "etcd: {hosts: [\n"})
    done = conftest(tmp_path / "inventory")
    assert done.returncode == 1
    assert "hosts.yml" in done.stderr + done.stdout


# A date is valid for at most a year ahead.
SOON = (date.today() + timedelta(days=30)).isoformat()
WAIVERS = f"""---
waivers:
  - rule: memory/large_values
    cluster: example
    reason: the blobs move to object storage
    expires: {SOON}
"""


# The file in the inventory, and beside it; both ways to lint read both.
@pytest.mark.parametrize("place", ["inventory/.waivers.yml", "waivers.yml"])
def test_waiver(bad_copy: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / place).write_text(WAIVERS, encoding="utf-8")
    beside = [] if place.startswith("inventory") else [str(tmp_path / place)]
    line = "waived: memory/large_values: etcd-1, etcd-2, etcd-3: values of 1.0 MiB"
    done = conftest(bad_copy, *beside)
    assert f"WARN - Combined - headroom - {line}" in done.stdout, done.stdout
    assert "FAIL memory/large_values" not in lines(done.stdout)
    extra = ["-e", json.dumps({"etcd_lint_data": beside})] if beside else []
    listed = playbook(bad_copy, *extra)
    assert f"WARN {line}" in listed.stdout, listed.stdout
    assert "DENY memory/large_values" not in lines(listed.stdout)


def test_waiver_that_expires_too_late(bad_copy: Path, tmp_path: Path) -> None:
    (bad_copy / ".waivers.yml").write_text(WAIVERS.replace(SOON, "2099-12-31"), encoding="utf-8")
    done = conftest(bad_copy)
    assert {"FAIL waiver/malformed", "FAIL memory/large_values"} <= lines(done.stdout)
    assert 'expires on "2099-12-31", more than 366 days ahead' in done.stdout
    own = tmp_path / "own.yml"
    own.write_text("headroom: {thresholds: {waiver_days_max: 50000}}\n", encoding="utf-8")
    assert "FAIL memory/large_values" not in lines(
        conftest(bad_copy, "--data", "policies/data", "--data", str(own)).stdout
    )


def test_expired_waiver(bad_copy: Path) -> None:
    (bad_copy / ".waivers.yml").write_text(WAIVERS.replace(SOON, "2020-12-31"), encoding="utf-8")
    assert {"FAIL waiver/expired", "FAIL memory/large_values"} <= lines(conftest(bad_copy).stdout)
    assert {"DENY waiver/expired", "DENY memory/large_values"} <= lines(playbook(bad_copy).stdout)
