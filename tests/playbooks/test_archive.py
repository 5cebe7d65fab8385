# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which archives of etcd role etcd accepts, before a host is changed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
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
STEPS = {"_etcd_upgrade_path": ["9.8.8", UNKNOWN], "etcd_version": UNKNOWN}
BY_RELEASE = {"9.8.8": {"amd64": "d" * 64}, UNKNOWN: {"amd64": "e" * 64}}
UPGRADES: dict[str, dict[str, Any]] = {
    "steps without a digest": STEPS,
    "steps, by release": {**STEPS, "etcd_archive_sha256": BY_RELEASE},
    "steps, one digest": {**STEPS, "etcd_archive_sha256": {"amd64": "f" * 64}, "etcd_archive_trust_sums": True},
    "steps, the first by release": {**STEPS, "etcd_archive_sha256": {"9.8.8": {"amd64": "d" * 64}, "amd64": "f" * 64}},
    "steps, the first installed": {
        **STEPS,
        "_etcd_upgrade_path": ["3.7.2", UNKNOWN],
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
                *([COLLECT] if "_etcd_upgrade_path" in given else []),
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


def make_archive(path: Path, folder: str, printed: str) -> None:
    """Write an archive whose etcd only prints a version, and its entry in the SHA256SUMS next to it. The format is that of releases: long names follow."""
    path.parent.mkdir(parents=True, exist_ok=True)
    script = f"#!/bin/sh\nprintf 'etcd Version: {printed}\\nGit SHA: 1a2b3c4\\n'\n".encode()
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": "etcd"}) as archive:
        for name, content in (("", b""), ("/etcd", script)):
            entry = tarfile.TarInfo(folder + name)
            entry.type, entry.mode, entry.size = (tarfile.REGTYPE if name else tarfile.DIRTYPE), 0o755, len(content)
            entry.pax_headers = {"mtime": "1796000000.25"}
            archive.addfile(entry, io.BytesIO(content))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with (path.parent / "SHA256SUMS").open("a", encoding="utf-8") as sums:
        sums.write(f"{digest}  {path.name}\n")


def messages(folder: Path, tasks: str, cases: dict[str, dict[str, Any]], **variables: Any) -> dict[str, str]:
    """Run a file of the role's tasks for each case; return the message of its failure, empty if there is none."""
    role = PROJECT / "roles" / "etcd"
    keep = "{{{{ messages | default({{}}) | combine({{{case!r}: {message}}}) }}}}"
    play = {
        "name": "Run the tasks",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "become": os.geteuid() != 0,
        "vars": {
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "role_path": str(role),
            "etcd_archive_trust_sums": True,
            **FACTS,
            **variables,
        },
        "vars_files": [str(role / "defaults" / "main.yml"), *map(str, sorted((role / "vars" / "main").glob("*.yml")))],
        "tasks": [
            {
                "name": f"Run {case}",
                "vars": {"etcd_version": UNKNOWN, "etcd_archive_trust_sums": True, **given},
                "block": [
                    {"name": "Run the tasks", "ansible.builtin.include_tasks": str(role / "tasks" / f"{tasks}.yml")},
                    {
                        "name": "Keep no message",
                        "ansible.builtin.set_fact": {"messages": keep.format(case=case, message="''")},
                    },
                ],
                "rescue": [
                    {
                        "name": "Keep the message",
                        "ansible.builtin.set_fact": {
                            "messages": keep.format(case=case, message="ansible_failed_result.msg | string")
                        },
                    }
                ],
            }
            for case, given in cases.items()
        ]
        + [
            {
                "name": "Write the messages",
                "ansible.builtin.copy": {
                    "dest": str(folder / "messages.json"),
                    "content": "{{ messages | to_json }}",
                    "mode": "0644",
                },
            }
        ],
    }
    (folder / "run.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", "localhost,", str(folder / "run.yml")]
    home = {**os.environ, "HOME": str(folder / "home")}
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False, env=home)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads((folder / "messages.json").read_text())
    return found


def test_an_archive_on_the_controller_must_be_of_the_release(tmp_path: Path) -> None:
    srv = tmp_path / "srv"
    name = f"etcd-v{UNKNOWN}-linux-amd64"
    make_archive(srv / "etcd-v9.8.8-linux-amd64.tar.gz", "etcd-v9.8.8-linux-amd64", "9.8.8")
    make_archive(srv / "renamed" / f"{name}.tar.gz", "./etcd-v9.8.8-linux-amd64", "9.8.8")
    make_archive(tmp_path / "home" / "my archives" / f"{name}.tar.gz", name, UNKNOWN)
    make_archive(srv / "custom.tar.gz", "etcd", f"{UNKNOWN}-acme")
    make_archive(srv / "custom-release.tar.gz", f"etcd-v{UNKNOWN}-acme.1-linux-amd64", f"{UNKNOWN}-acme.1")
    (srv / "folder" / f"{name}.tar.gz").mkdir(parents=True)
    (srv / "empty").mkdir()
    cases = {
        "another release": str(srv / "etcd-v9.8.8-linux-amd64.tar.gz"),
        "another release, renamed": str(srv / "renamed"),
        "in the home directory": "~/my archives",
        "file in the home directory": f"~/my archives/{name}.tar.gz",
        "custom": str(srv / "custom.tar.gz"),
        "custom release": str(srv / "custom-release.tar.gz"),
        "a folder": str(srv / "folder"),
        "nothing": str(srv / "empty"),
        "missing": "~/none",
    }
    found = messages(tmp_path, "archive", {case: {"etcd_archive": archive} for case, archive in cases.items()})
    for case in ("in the home directory", "file in the home directory", "custom", "custom release"):
        assert found[case] == "", (case, found[case])
    for case in ("another release", "another release, renamed"):
        assert "contains etcd 9.8.8, and etcd_version is 9.9.9: set etcd_archive to" in found[case], found[case]
        assert found[case].endswith("Nothing was changed.")
    assert f"{srv}/folder/{name}.tar.gz is not a file that the controller can read" in found["a folder"]
    assert f"{srv}/empty/{name}.tar.gz does not exist on the controller" in found["nothing"]
    assert f"{tmp_path}/home/none does not exist on the controller" in found["missing"]


def test_a_host_keeps_no_archive_of_another_release(tmp_path: Path) -> None:
    """An installed release is never unpacked again, so a wrong one would stay."""
    make_archive(tmp_path / "srv" / "wrong.tar.gz", "etcd", "9.8.8")
    make_archive(tmp_path / "srv" / "right.tar.gz", "etcd", UNKNOWN)
    make_archive(tmp_path / "srv" / "custom.tar.gz", "etcd", f"{UNKNOWN}+acme.1")
    make_archive(tmp_path / "srv" / "longer.tar.gz", "etcd", f"{UNKNOWN}9")
    opt = tmp_path / "opt"
    cases: dict[str, dict[str, Any]] = {
        case: {
            "etcd_archive": str(tmp_path / "srv" / f"{archive}.tar.gz"),
            "etcd_install_dir": str(opt / folder),
            # No link into the path of this machine.
            "_etcd_links": [],
        }
        for case, archive, folder in (
            ("wrong", "wrong", "etcd"),
            ("longer", "longer", "other"),
            ("custom", "custom", "custom"),
            ("right, after the wrong one", "right", "etcd"),
        )
    }
    found = messages(tmp_path, "install", cases, etcd_host_lacks_user=False)
    assert found["custom"] == found["right, after the wrong one"] == ""
    assert "localhost: the archive contains etcd 9.8.8, and etcd_version is 9.9.9" in found["wrong"], found["wrong"]
    assert "No member was changed." in found["wrong"] and "contains etcd 9.9.99" in found["longer"]
    assert [path.parent.parent.name for path in sorted(opt.glob("*/9*/etcd"))] == ["custom", "etcd"]


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


@pytest.mark.parametrize("name", ["plan_upgrade", "plan_downgrade"])
def test_the_release_of_the_inventory_needs_no_archive_where_another_one_is_installed(name: str) -> None:
    tasks = yaml.safe_load((PROJECT / "roles" / "etcd" / "tasks" / f"{name}.yml").read_text())
    (described,) = [task for task in tasks if task.get("ansible.builtin.import_tasks") == "describe.yml"]
    assert described["vars"]["_etcd_release_stays"] is True
