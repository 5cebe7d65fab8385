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
}


def answers(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Return for each case the digest that the archive must have, and what prevents the deployment; in one play."""
    tasks = [
        {
            "name": f"Evaluate {case}",
            "ansible.builtin.copy": {
                "dest": str(folder / f"{case}.json"),
                "content": "{{ [_etcd_archive_digest, _etcd_obstacles] | to_json }}",
                "mode": "0600",
            },
            "vars": {
                **FACTS,
                "etcd_host_facts": {
                    **FACTS["etcd_host_facts"],  # type: ignore[dict-item]
                    "architecture": given.get("architecture", "amd64"),
                },
                **{name: value for name, value in given.items() if name != "architecture"},
            },
        }
        for case, given in CASES.items()
    ]
    role = PROJECT / "roles" / "etcd"
    play = {
        "name": "Evaluate the archives",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"role_path": str(role), "ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "vars_files": [str(role / "defaults" / "main.yml"), str(role / "vars" / "main.yml")],
        "tasks": tasks,
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", "localhost,", str(folder / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {case: tuple(json.loads((folder / f"{case}.json").read_text())) for case in CASES}


def test_an_unknown_archive_needs_a_digest_or_consent(tmp_path: Path) -> None:
    found = answers(tmp_path)
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
        assert f"etcd_archive_sha256.{name.rpartition('-')[2]}" in problem and "etcd_archive_trust_sums" in problem


def test_known_digests_are_digests() -> None:
    digests = [digest for release in KNOWN.values() for digest in release.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert len(set(digests)) == len(digests) > 80
