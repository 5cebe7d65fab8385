# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which archives of etcd role etcd accepts, before a host is changed."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
KNOWN = yaml.safe_load((PROJECT / "model" / "releases.yml").read_text(encoding="utf-8"))["archives"]
UNKNOWN = "9.9.9"
FACTS = {
    "etcd_host_facts": {
        "architecture": "amd64",
        "versions": ["3.7.2"],
        "systemd": {"running": True},
        "files": {"/restoring": {"exists": False}},
        "member": {},
        "machine": "x86_64",
    },
    "etcd_host_restoring_file": "/restoring",
    "etcd_host_address": "192.0.2.11",
}
CASES: dict[str, dict[str, Any]] = {
    "known": {"etcd_version": "3.6.6"},
    "known, of another architecture": {"etcd_version": "3.7.1", "architecture": "s390x"},
    "unknown": {"etcd_version": UNKNOWN},
    "unknown, installed": {"etcd_version": "3.7.2"},
    "unknown, pinned": {"etcd_version": UNKNOWN, "etcd_archive_sha256": {"amd64": "f" * 64}},
    "unknown, accepted": {"etcd_version": UNKNOWN, "etcd_archive_trust_sums": True},
    "unknown, while the release stays": {"etcd_version": UNKNOWN, "_etcd_release_stays": True},
    "known, pinned": {"etcd_version": "3.6.6", "etcd_archive_sha256": {"amd64": "f" * 64}},
    "pinned by release": {
        "etcd_version": UNKNOWN,
        "etcd_archive_sha256": {UNKNOWN: {"amd64": "e" * 64}, "amd64": "f" * 64},
    },
    "another release pinned": {"etcd_version": "3.6.6", "etcd_archive_sha256": {UNKNOWN: {"amd64": "e" * 64}}},
}
# An upgrade over two minor releases, in the checks of its second step.
PLAN = yaml.safe_load((PROJECT / "roles" / "etcd" / "tasks" / "plan_upgrade.yml").read_text(encoding="utf-8"))
COLLECT = next(task for task in PLAN if "_etcd_upgrade_archives" in task.get("ansible.builtin.set_fact", {}))
STEPS = {"_etcd_upgrade_way": ["9.8.8", UNKNOWN], "etcd_version": UNKNOWN}
BY_RELEASE = {"9.8.8": {"amd64": "d" * 64}, UNKNOWN: {"amd64": "e" * 64}}
UPGRADES: dict[str, dict[str, Any]] = {
    "steps without a digest": STEPS,
    "steps, by release": {**STEPS, "etcd_archive_sha256": BY_RELEASE},
    "steps, one digest": {**STEPS, "etcd_archive_sha256": {"amd64": "f" * 64}, "etcd_archive_trust_sums": True},
    "steps, the first by release": {**STEPS, "etcd_archive_sha256": {"9.8.8": {"amd64": "d" * 64}, "amd64": "f" * 64}},
    "steps, the first installed": {
        **STEPS,
        "_etcd_upgrade_way": ["3.7.2", UNKNOWN],
        "etcd_archive_sha256": {"amd64": "f" * 64},
    },
    "steps, one archive": {**STEPS, "etcd_archive_sha256": BY_RELEASE, "etcd_archive": "/srv/etcd.tar.gz"},
    "steps, expressions": {
        **STEPS,
        "digests": BY_RELEASE,
        "etcd_archive_sha256": {"amd64": "{{ digests[etcd_version].amd64 }}"},
        "etcd_archive": "/srv/etcd-{{ etcd_version }}.tar.gz",
    },
}


def answers(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Return for each case the digest that the archive must have, and what prevents the deployment or the upgrade; in one play."""
    tasks = [
        {
            "name": f"Evaluate {case}",
            "block": [
                {"name": "Forget the previous case", "ansible.builtin.set_fact": {"_etcd_upgrade_archives": {}}},
                *([COLLECT] if "_etcd_upgrade_way" in given else []),
                {
                    "name": "Write the result",
                    "ansible.builtin.copy": {
                        "dest": str(folder / f"{case}.json"),
                        "content": f"{{{{ [_etcd_archive_digest, {problems}] | to_json }}}}",
                        "mode": "0600",
                    },
                },
            ],
            "vars": {
                **FACTS,
                "etcd_host_facts": {
                    **FACTS["etcd_host_facts"],  # type: ignore[dict-item]
                    "architecture": given.get("architecture", "amd64"),
                },
                **{name: value for name, value in given.items() if name != "architecture"},
            },
        }
        for problems, cases in (("_etcd_obstacles", CASES), ("_etcd_release_archive_problems", UPGRADES))
        for case, given in cases.items()
    ]
    role = PROJECT / "roles" / "etcd"
    play = {
        "name": "Evaluate the archives",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"role_path": str(role), "ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "vars_files": [str(role / "defaults" / "main.yml"), *map(str, sorted((role / "vars" / "main").glob("*.yml")))],
        "tasks": tasks,
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", "localhost,", str(folder / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {case: tuple(json.loads((folder / f"{case}.json").read_text())) for case in {**CASES, **UPGRADES}}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, list[str]]]:
    return answers(tmp_path_factory.mktemp("archives"))


def test_an_unknown_archive_needs_a_digest_or_consent(found: dict[str, tuple[str, list[str]]]) -> None:
    assert found["known"] == (KNOWN["3.6.6"]["amd64"], [])
    assert found["known, pinned"] == found["unknown, pinned"] == ("f" * 64, [])
    assert (
        found["unknown, installed"]
        == found["unknown, accepted"]
        == found["unknown, while the release stays"]
        == ("", [])
    )
    for case, name in (("unknown", "v9.9.9-linux-amd64"), ("known, of another architecture", "v3.7.1-linux-s390x")):
        digest, [problem] = found[case]
        assert digest == "" and f"no SHA-256 of etcd-{name}.tar.gz is known" in problem
        release, _, architecture = name.removeprefix("v").split("-")
        assert f'etcd_archive_sha256["{release}"].{architecture}' in problem and "etcd_archive_trust_sums" in problem


def test_a_digest_of_a_release_is_only_for_that_release(found: dict[str, tuple[str, list[str]]]) -> None:
    assert found["pinned by release"] == ("e" * 64, [])
    assert found["another release pinned"] == (KNOWN["3.6.6"]["amd64"], [])


def test_an_upgrade_over_two_releases_needs_a_digest_of_each(found: dict[str, tuple[str, list[str]]]) -> None:
    assert found["steps, by release"] == ("e" * 64, [])
    assert found["steps, the first by release"] == found["steps, the first installed"] == ("f" * 64, [])
    digest, [problem] = found["steps without a digest"]
    assert digest == "" and "no SHA-256 of etcd-v9.9.9-linux-amd64.tar.gz is known" in problem
    assert found["steps, expressions"] == ("e" * 64, [])
    assert found["steps, one digest"][1] == [
        "etcd_archive_sha256 has the same SHA-256 for 9.8.8 and 9.9.9. "
        'Set etcd_archive_sha256["9.8.8"].amd64 and etcd_archive_sha256["9.9.9"].amd64'
    ]
    assert found["steps, one archive"][1] == [
        "/srv/etcd.tar.gz cannot be the archive of both 9.8.8 and 9.9.9. "
        "Set etcd_archive to a folder with the archives of all releases"
    ]


@pytest.mark.parametrize(
    "page", ["README.md", "docs/deploy.md", "inventory/group_vars/etcd.yml", "roles/etcd/meta/argument_specs.yml"]
)
def test_pages_name_the_newest_releases_with_a_known_digest(page: str) -> None:
    newest: dict[str, str] = {}
    for release in sorted(KNOWN, key=lambda name: [int(part) for part in name.split(".")]):
        newest[release.rpartition(".")[0]] = release
    text = (PROJECT / page).read_text(encoding="utf-8")
    assert newest and all(release in text for release in newest.values()), newest


def test_known_digests_are_digests() -> None:
    digests = [digest for release in KNOWN.values() for digest in release.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert len(set(digests)) == len(digests) > 80
