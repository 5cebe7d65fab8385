# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks that work on the controller fail clearly if --limit excludes it: a play without hosts would succeed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def run(playbook: str, folder: Path, *options: str) -> tuple[int, str]:
    """Run a playbook with an inventory of two hosts that cannot be reached; return the exit status and the output."""
    inventory = folder / "hosts.ini"
    inventory.write_text("[etcd]\na ansible_host=127.0.0.1 ansible_port=1\nb ansible_host=127.0.0.1 ansible_port=1\n")
    command = ["ansible-playbook", "-i", str(inventory), f"playbooks/{playbook}.yml", *options]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("playbook", ["audit", "plan"])
def test_a_limit_without_the_controller_is_refused_once(playbook: str, tmp_path: Path) -> None:
    code, output = run(playbook, tmp_path, "--limit", "etcd")
    assert code != 0 and output.count("fatal: [") == 1, output
    assert "--limit excludes localhost" in output and "Add localhost to --limit" in output, output


def test_the_member_to_replace_is_asked_for_with_a_limit_too(tmp_path: Path) -> None:
    code, output = run("replace", tmp_path, "--limit", "etcd")
    assert code != 0 and output.count("fatal: [") == 1 and "etcd_replace is not set. Name the member" in output, output


@pytest.mark.parametrize("limit", [(), ("--limit", "localhost,a")])
def test_with_the_controller_a_plan_is_made(limit: tuple[str, ...], tmp_path: Path) -> None:
    code, output = run("plan", tmp_path, *limit)
    assert code == 0 and "snapshot-count" in output, output
