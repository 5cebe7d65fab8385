# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run site.yml on the hosts of the lab named by LAB_NAME. Molecule's scenarios run these tests."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.common.lab import close_connections, ssh_command
from bench.common.processes import kill_with_descendants
from tests.campaign import add_mark, leave_out

PROJECT = Path(__file__).resolve().parent.parent.parent
INTO_TASK = 0.3  # seconds from the line that names a task until the task is under way on the hosts


def pytest_configure(config):
    add_mark(config)


def pytest_collection_modifyitems(config, items):
    leave_out(config, items)


def environment():
    """Return the environment of Ansible's commands."""
    return {
        **os.environ,
        "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"),
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_NOCOLOR": "1",
    }


@dataclass
class Run:
    """One run of ansible-playbook: its exit code and output, and changed tasks by host."""

    code: int
    output: str

    def __repr__(self):
        """Return what failed: assertions show this where the whole output is cut off."""
        failed = re.findall(r"^fatal: .*(?:\n {4}.*)*", self.output, re.M)
        return f"Run(code={self.code}, failed={failed})"

    @property
    def changed(self):
        return {host: int(n) for host, n in re.findall(r"^(\S+)\s+: ok=\d+\s+changed=(\d+)", self.output, re.M)}


class Site:
    """The project as a user has it, and the lab's hosts."""

    hosts = ("etcd-1", "etcd-2", "etcd-3")

    def ansible(self, *command, timeout=300):
        """Run one of Ansible's commands in the project."""
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Run(done.returncode, done.stdout)

    def act_at(self, task, action, *command):
        """Run one of Ansible's commands, and call action with its process when a task begins."""
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment() | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        lines, acted = [], False
        for line in process.stdout:
            lines.append(line)
            if not acted and line.startswith("TASK") and task in line:
                acted = True
                action(process)
        run = Run(process.wait(), "".join(lines))
        assert acted, run.output
        return run

    def kill_at(self, task, *command):
        """Run one of Ansible's commands, and kill it with all its processes when a task begins."""

        def kill(process):
            time.sleep(INTO_TASK)
            kill_with_descendants(process.pid)

        self.act_at(task, kill, *command)
        close_connections()

    def play(self, *arguments, inventory=None, lint=False, **variables):
        """Run site.yml, with extra variables, on the hosts of an inventory (several are separated by commas).

        lint: whether to lint the inventory first, which takes more than a second of processor time.
        """
        more = ["-e", json.dumps({"etcd_lint_enabled": lint, **variables})]
        where = [word for path in (inventory or "").split(",") if path for word in ("-i", path)]
        return self.ansible("ansible-playbook", "site.yml", *where, *more, *arguments)

    def on(self, host, command):
        """Run a shell command as root on a host of the lab and return its output; only its last exit code counts.

        Over SSH itself: an ad-hoc run of Ansible costs two seconds, and these tests ask hosts a few hundred times.
        """
        ssh = [*ssh_command(host), f"sudo sh -c {shlex.quote(command)}"]
        done = subprocess.run(ssh, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{host}: {command}\n{done.stdout}{done.stderr}"
        return done.stdout.rstrip("\n")


@pytest.fixture
def site():
    assert os.environ.get("LAB_NAME", "").startswith("molecule-"), (
        "these tests change hosts: run them through molecule's scenarios"
    )
    return Site()


@pytest.fixture(scope="module")
def module_site():
    assert os.environ.get("LAB_NAME", "").startswith("molecule-"), "these tests change hosts"
    return Site()


@pytest.fixture(scope="module")
def backup(module_site):
    """Take a snapshot on one host, with keys written before and after it; return its path."""
    from restoring import take_backup

    return take_backup(module_site)
