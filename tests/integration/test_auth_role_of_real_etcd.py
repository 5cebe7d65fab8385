# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role etcd_auth on a real member: announced, enabled, unchanged by a second run, and disabled when confirmed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.common.member import PROJECT, Member, binary, releases, running
from bench.memory import load
from tests.integration.client import REQUEST_SECONDS, etcdctl

PORT = 26140
SECRET = "Secret-of-the-test"
MODULES = ("etcd_auth", "etcd_role", "etcd_user")
VARIABLES: dict[str, Any] = {
    "etcd_auth_root_password": f"{SECRET}-1",
    "etcd_auth_roles": [
        {"name": "shop", "permissions": [{"access": "readwrite", "prefix": "/shop/"}]},
        {"name": "reader", "permissions": [{"access": "read", "prefix": ""}]},
    ],
    "etcd_auth_users": [
        {"name": "shop", "password": f"{SECRET}-2", "roles": ["shop"]},
        {"name": "reports", "no_password": True, "roles": ["reader"]},
    ],
}


@pytest.fixture(name="member")
def real_member(tmp_path: Path) -> Iterator[Member]:
    """A member that knows its clients by their certificates."""
    found = Member(releases()[-1], tmp_path, PORT, tls=load.certificates(tmp_path / "tls"))
    with running([found]):
        yield found


ROLE = {"ansible.builtin.import_role": {"name": "etcdops.headroom.etcd_auth"}}
# As role etcd does before it changes members.
CHECK = {"ansible.builtin.include_tasks": str(PROJECT / "roles" / "etcd" / "tasks" / "check_client_auth.yml")}


def play(member: Member, *options: str, task: Any = None, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the role, or another task, on this machine. The output never has a password."""
    access = {"etcdctl_path": str(binary(member.version, "etcdctl")), "request_timeout": REQUEST_SECONDS}
    plays = [
        {
            "name": "Manage authentication",
            "hosts": "localhost",
            "connection": "local",
            "gather_facts": False,
            "module_defaults": {f"etcdops.headroom.{name}": access for name in MODULES},
            "vars": {
                "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                "etcd_endpoints": [member.endpoint],
                "etcd_cluster": {"members": {"localhost": {}}, "first_host": "localhost"},
                "etcd_host_cluster_name": "example",
                "etcd_host_tls_dir": str(member.tls),
                "etcd_tls_dir": str(member.tls),
            },
            "tasks": [task or ROLE],
        }
    ]
    path = member.folder / "play.json"
    path.write_text(json.dumps(plays))
    words = ["ansible-playbook", "-i", "localhost,", "-vv", "--diff", "-e", json.dumps({**VARIABLES, **variables})]
    done = subprocess.run(
        [*words, *options, str(path)], cwd=PROJECT, capture_output=True, text=True, timeout=240, check=False
    )
    assert SECRET not in done.stdout + done.stderr
    return done


def changed(done: subprocess.CompletedProcess[str]) -> int:
    """Return the number of changed tasks of a run that succeeded."""
    assert done.returncode == 0, done.stdout + done.stderr
    return int(re.findall(r"changed=(\d+)", done.stdout)[-1])


def test_users_that_already_exist(member: Member) -> None:
    """Whether a user has a password cannot be read while authentication is off."""
    etcdctl(member, "user", "add", "--no-password", "shop")
    etcdctl(member, "user", "add", "--interactive=false", "reports", text=f"{SECRET}-9\n")
    enabled = play(member)
    assert enabled.returncode != 0, enabled.stdout
    assert "the user reports was created with a password, and etcd cannot take it away: delete" in enabled.stdout
    assert "Authentication Status: true" in etcdctl(member, "auth", "status")
    etcdctl(member, "user", "delete", "reports")
    assert changed(play(member)) == 1
    # The application of the user shop, which had no password, has access.
    login = f"--user=shop:{SECRET}-2"
    assert etcdctl(member, login, "put", "/shop/a", "1").strip() == "OK"
    assert changed(play(member)) == 0


def test_a_client_certificate_of_root(tmp_path: Path) -> None:
    """root has its password, and needs no second user."""
    folder = load.certificates(tmp_path / "tls")
    load.issue(folder, "client", "/CN=root", [*load.SIGNED, "-addext", "subjectAltName=IP:127.0.0.1"])
    member = Member(releases()[-1], tmp_path, PORT, tls=folder)
    with running([member]):
        assert changed(play(member)) > 0
        assert etcdctl(member, "user", "list").split() == ["reports", "root", "shop"]
        assert changed(play(member)) == 0
        reserved = play(member, etcd_auth_users=[{"name": "root", "password": f"{SECRET}-2"}])
        assert "etcd_auth_users lists root, which this role creates itself" in reserved.stdout, reserved.stdout


def test_empty_settings(member: Member) -> None:
    """A key without a value is read as null."""
    empty = {
        "etcd_auth_roles": [{"name": "idle", "permissions": None}],
        "etcd_auth_users": [{"name": "idle", "no_password": True, "password": None, "roles": None}],
    }
    assert changed(play(member, **empty)) > 0
    assert changed(play(member, **empty)) == 0


def test_the_role(member: Member) -> None:
    refused = play(member, etcd_auth_root_password="")
    assert refused.returncode != 0 and "etcd_auth_root_password is empty" in refused.stdout, refused.stdout
    reserved = play(member, etcd_auth_users=[{"name": "client", "no_password": True}])
    assert "etcd_auth_users lists client, which this role creates itself" in reserved.stdout, reserved.stdout
    announced = play(member, "--check")
    assert changed(announced) > 0 and "Authentication of cluster example would be enabled" in announced.stdout
    assert etcdctl(member, "user", "list") == ""
    assert changed(play(member, task=CHECK)) == 0
    assert changed(play(member)) > 0
    assert etcdctl(member, "user", "list").split() == ["client", "reports", "root", "shop"]
    assert "Authentication Status: true" in etcdctl(member, "auth", "status")
    assert changed(play(member)) == 0
    unseen = play(member, task=CHECK)
    assert "localhost: authentication is on, and without client-cert-auth etcd takes no user" in unseen.stdout
    assert "(etcd_extra_config, client-transport-security). Nothing was changed." in " ".join(unseen.stdout.split())
    # A new password of root, and a permission that is no longer listed.
    narrower = [{"name": "shop", "permissions": [{"access": "read", "prefix": "/shop/"}]}]
    later = {"etcd_auth_root_password": f"{SECRET}-3", "etcd_auth_roles": narrower, "etcd_auth_purge": True}
    announced = play(member, "--check", **later)
    assert changed(announced) == changed(play(member, **later)) == 2
    unconfirmed = play(member, etcd_auth_enabled=False)
    assert "Confirm it with -e etcd_auth_confirm=example (it is not set)" in unconfirmed.stdout, unconfirmed.stdout
    assert changed(play(member, etcd_auth_enabled=False, etcd_auth_confirm="example")) == 1
    assert changed(play(member, etcd_auth_enabled=False)) == 0
