# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of AccessControl, its retries, and its errors. tests/integration uses real etcd."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._auth import access_control
from ansible_collections.etcdops.headroom.plugins.module_utils._auth import switch as auth_switch
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import AccessControl
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.permissions import EVERYTHING, OPEN, KeyRange
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError

URL = "http://127.0.0.1:1"


def access(tmp_path: Path, script: str, user: str = "", password: str = "") -> AccessControl:
    """Return access through a fake etcdctl."""
    path = tmp_path / "etcdctl"
    path.write_text(f"#!/bin/sh\ncd {tmp_path}\n{script}\n")
    path.chmod(0o755)
    return AccessControl(Connection(str(path), None, None, None, 60.0, user, password), [URL])


def test_passwords_are_never_arguments(tmp_path: Path) -> None:
    link = access(tmp_path, 'echo "$@" >> arguments; cat >> input; env >> variables; echo {}', "root", "Login")
    link.add_user("-shop", "Secret")
    link.set_password("shop", "Secret")
    link.authenticate("shop", "Proof")
    assert (tmp_path / "input").read_text() == "Secret\nSecret\n"
    arguments = (tmp_path / "arguments").read_text()
    assert "user add --interactive=false -- -shop" in arguments and "--interactive=false -- shop" in arguments
    assert not [word for word in ("Secret", "Login", "Proof") if word in arguments]
    assert "ETCDCTL_PASSWORD=Login" in (tmp_path / "variables").read_text()
    assert "Login" not in repr(link)


def test_ranges_as_arguments(tmp_path: Path) -> None:
    link = access(tmp_path, 'echo "$@" >> arguments')
    for keys in (KeyRange(b"-a"), KeyRange(b"a", b"c"), KeyRange(b"a", OPEN), EVERYTHING):
        link.grant("shop", keys, "read")
        link.revoke("shop", keys)
    told = [line.partition(" role ")[2] for line in (tmp_path / "arguments").read_text().splitlines()]
    assert told == [
        "grant-permission -- shop read -a",
        "revoke-permission -- shop -a",
        "grant-permission -- shop read a c",
        "revoke-permission -- shop a c",
        "grant-permission --from-key -- shop read a",
        "revoke-permission --from-key -- shop a",
        "grant-permission --prefix -- shop read ",
        "revoke-permission --prefix -- shop ",
    ]


@pytest.mark.parametrize("reason", ["etcdserver: revision of auth store is old", "etcdserver: invalid auth token"])
def test_conflicts_that_pass_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    monkeypatch.setattr(access_control, "_PAUSE", 0.0)
    conflict = f'echo x >> tries; test $(wc -l < tries) -gt 2 || {{ echo "Error: {reason}" >&2; exit 1; }}\necho {{}}'
    assert access(tmp_path, conflict).users() == []
    stays = access(tmp_path, f'echo "Error: {reason}" >&2; exit 1')
    with pytest.raises(EtcdctlError, match=f"listing the users: {reason}"):
        stays.users()


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("etcdserver: user name not found", "user shop (login_user) does not exist"),
        ("auth: user not found", "user shop ("),
        ("etcdserver: permission denied", "user shop (login_user) lacks the role root; grant it"),
        ("etcdserver: user name is empty", "etcd sees no user in the request. Set login_user"),
        ("etcdserver: authentication failed, invalid user ID or password", "etcd refuses the password of shop"),
        ("context deadline exceeded", "listing the users: context deadline exceeded"),
    ],
)
def test_refusals(tmp_path: Path, reason: str, says: str) -> None:
    link = access(tmp_path, f'echo "Error: {reason}" >&2; exit 1', "shop", "x")
    with pytest.raises(EtcdctlError) as raised:
        link.users()
    assert says in str(raised.value)


def test_members_that_disagree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth_switch, "_SETTLE_SECONDS", 0.0)
    link = access(tmp_path, 'case "$1" in *:1) echo \'{"enabled":true,"authRevision":9}\';; *) echo "{}";; esac')
    both = AccessControl(link.connection, [URL, "http://127.0.0.1:2"])
    with pytest.raises(auth_switch.AuthError, match=r":2 has authentication off at revision 0\. Rebuild"):
        auth_switch.read_statuses(both)
    assert auth_switch.read_statuses(link)[URL].enabled


# Authentication is on while the file "on" exists. The client gives up on the request to enable it; the file "commits" says that etcd commits it.
SLOW_ETCDCTL = """
case "$*" in
  *"auth enable"*) test ! -f commits || touch on; echo "Error: context deadline exceeded" >&2; exit 1 ;;
  *"auth status"*) if [ -f on ]; then echo '{"enabled": true}'; else echo '{"enabled": false}'; fi ;;
  *"auth disable"*) echo >> disabled; rm -f on ;;
  *"user list"*) test ! -f denied || { echo "Error: etcdserver: permission denied" >&2; exit 1; }; echo '{"users": []}' ;;
  *) echo '{}' ;;
esac"""


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["commits"], ""),
        (["commits", "denied"], "lacks the role root.*Authentication was disabled again"),
        ([], "enabling authentication: context deadline exceeded. Authentication was disabled again"),
    ],
)
def test_enabling_may_take_effect_after_the_clients_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], says: str
) -> None:
    monkeypatch.setattr(auth_switch, "_SETTLE_SECONDS", 0.0)
    link = access(tmp_path, SLOW_ETCDCTL, "root", "Login")
    for name in files:
        (tmp_path / name).touch()
    if says:
        with pytest.raises(auth_switch.AuthError, match=says):
            auth_switch.enable(link, "")
    else:
        auth_switch.enable(link, "")
    assert (tmp_path / "on").exists() is not bool(says)
    assert (tmp_path / "disabled").exists() is bool(says)
