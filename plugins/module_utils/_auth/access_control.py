# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd's users, roles and authentication, through etcdctl.

etcdctl gets a password through its standard input or its environment, never as an argument: everyone can read a command line.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._auth.common_name import read_common_name
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.permissions import OPEN, KeyRange, parse_role
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    EtcdctlError,
    failure_reason,
    run_etcdctl,
)

ROOT = "root"

# etcd's transient errors for a request with an older revision of users and roles, or with another member's token.
_PASSING = ("revision of auth store is old", "invalid auth token")
_ATTEMPTS = 5
_PAUSE = 0.3

# bcrypt refuses longer passwords, in bytes.
MAX_PASSWORD = 72

# The results of checking a password.
RIGHT, WRONG, NO_PASSWORD = "right", "wrong", "no password"


@dataclass(frozen=True)
class AuthStatus:
    """Whether a member authenticates its clients, and the revision of users and roles that it has."""

    enabled: bool
    revision: int


@dataclass(frozen=True)
class AccessControl:
    """The users and roles of a cluster. Each method raises EtcdctlError with a sentence that names the fix."""

    connection: Connection
    endpoints: list[str]

    def identity(self) -> str:
        """Return the user that etcd sees: the one that logs in, else the common name of the client certificate; or empty."""
        if self.connection.user:
            return self.connection.user
        if not self.connection.client_cert or not any(url.startswith("https://") for url in self.endpoints):
            return ""
        try:
            return read_common_name(self.connection.client_cert)
        except ValueError as error:
            raise EtcdctlError(str(error)) from error

    def at(self, endpoint: str) -> AccessControl:
        """Return the same access control through one member."""
        return replace(self, endpoints=[endpoint])

    def status(self) -> AuthStatus:
        """Return the status of authentication. Members of 3.5 and 3.6 tell it only to users with the role root."""
        data = self._ask("reading the status of authentication", "auth", "status")
        return AuthStatus(bool(data.get("enabled", False)), int(data.get("authRevision", 0)))

    def users(self) -> list[str]:
        """Return the names of all users."""
        return [str(name) for name in self._ask("listing the users", "user", "list").get("users") or []]

    def roles(self) -> list[str]:
        """Return the names of all roles. The role root exists once authentication was enabled."""
        return [str(name) for name in self._ask("listing the roles", "role", "list").get("roles") or []]

    def user_roles(self, name: str) -> list[str]:
        """Return the roles of a user that exists."""
        return [
            str(role) for role in self._ask(f"reading the user {name}", "user", "get", "--", name).get("roles") or []
        ]

    def permissions(self, role: str) -> dict[KeyRange, str]:
        """Return the permissions of a role that exists."""
        return parse_role(json.dumps(self._ask(f"reading the role {role}", "role", "get", "--", role)))

    def authenticate(self, name: str, password: str) -> str:
        """Check a user's password: RIGHT, WRONG or NO_PASSWORD. Authentication must be enabled."""
        link = replace(self.connection, user=name, password=password)
        answer = _run(link, self.endpoints, "user", "get", "--", name)
        if answer.returncode == 0:
            return RIGHT
        if "invalid user ID or password" in answer.stderr:
            return WRONG
        if "password was given for no password user" in answer.stderr:
            return NO_PASSWORD
        raise EtcdctlError(f"authenticating the user {name}: {failure_reason(answer)}")

    def add_user(self, name: str, password: str | None) -> None:
        """Create a user, without a password if it is None."""
        how = ["--no-password"] if password is None else ["--interactive=false"]
        self._do(f"creating the user {name}", "user", "add", *how, "--", name, text=_line(password))

    def set_password(self, name: str, password: str) -> None:
        """Set a user's password. etcd ignores it, and reports success, for a user that was created without one."""
        words = ("user", "passwd", "--interactive=false", "--", name)
        self._do(f"setting the password of the user {name}", *words, text=_line(password))

    def delete_user(self, name: str) -> None:
        """Delete a user."""
        self._do(f"deleting the user {name}", "user", "delete", "--", name)

    def recreate_user(self, name: str, password: str, roles: list[str]) -> None:
        """Delete an existing user and create it with this password and these roles. Authentication must be off.

        This also gives a password to a user that was created without one. etcd does not report which users those are.
        """
        self.delete_user(name)
        self.add_user(name, password)
        for role in roles:
            self.grant_role(name, role)

    def grant_role(self, user: str, role: str) -> None:
        """Grant a role to a user."""
        self._do(f"granting the role {role} to the user {user}", "user", "grant-role", "--", user, role)

    def revoke_role(self, user: str, role: str) -> None:
        """Revoke a role from a user."""
        self._do(f"revoking the role {role} from the user {user}", "user", "revoke-role", "--", user, role)

    def add_role(self, name: str) -> None:
        """Create a role without permissions."""
        self._do(f"creating the role {name}", "role", "add", "--", name)

    def delete_role(self, name: str) -> None:
        """Delete a role. Its users lose it."""
        self._do(f"deleting the role {name}", "role", "delete", "--", name)

    def grant(self, role: str, keys: KeyRange, access: str) -> None:
        """Grant access to a range, or change it."""
        flags, ends = _arguments(keys)
        what = f"granting {access} of {keys} to the role {role}"
        self._do(what, "role", "grant-permission", *flags, "--", role, access, *ends)

    def revoke(self, role: str, keys: KeyRange) -> None:
        """Revoke the access to a range."""
        flags, ends = _arguments(keys)
        self._do(f"revoking {keys} from the role {role}", "role", "revoke-permission", *flags, "--", role, *ends)

    def enable(self) -> None:
        """Enable authentication. etcdctl creates the role root."""
        self._do("enabling authentication", "auth", "enable")

    def disable(self) -> None:
        """Disable authentication."""
        self._do("disabling authentication", "auth", "disable")

    def _ask(self, what: str, *words: str) -> dict[str, Any]:
        answer = self._do(what, *words)
        try:
            data = json.loads(answer.stdout)
        except ValueError as error:
            raise EtcdctlError(f"{what}: etcdctl printed {answer.stdout[:80]!r}, which is not JSON") from error
        return data if isinstance(data, dict) else {}

    def _do(self, what: str, *words: str, text: str = "") -> ProcessResult:
        answer = _run(self.connection, self.endpoints, *words, text=text)
        if answer.returncode != 0:
            raise EtcdctlError(f"{what}: {self._explain(failure_reason(answer))}")
        return answer

    def _explain(self, reason: str) -> str:
        """Add the user and the fix to etcd's reason."""
        who = self.identity()
        if self.connection.user:
            source = "login_user"
        else:
            source = f"the common name of {self.connection.client_cert}"
        if "invalid user ID or password" in reason or "password was given for no password user" in reason:
            return f"etcd refuses the password of {who} ({reason}); correct login_user and login_password"
        if "user name is empty" in reason:
            return (
                f"{reason}: authentication is on, and etcd sees no user in the request. Set login_user and login_password, or present a "
                "client certificate to members that have client-cert-auth"
            )
        if who and ("user name not found" in reason or "user not found" in reason):
            return f"{reason}: authentication is on, and user {who} ({source}) does not exist; present another user's certificate, or set login_user"
        if who and "permission denied" in reason:
            return f"{reason}: user {who} ({source}) lacks the role root; grant it, or set login_user to a user with that role"
        return reason


def _run(connection: Connection, endpoints: list[str], *words: str, text: str = "") -> ProcessResult:
    """Run etcdctl; retry while etcd returns a transient error."""
    for _attempt in range(_ATTEMPTS - 1):
        answer = run_etcdctl(connection, endpoints, *words, text=text)
        if answer.returncode in (0, None) or not any(reason in answer.stderr for reason in _PASSING):
            return answer
        time.sleep(_PAUSE)
    return run_etcdctl(connection, endpoints, *words, text=text)


def _line(password: str | None) -> str:
    return "" if password is None else f"{password}\n"


def _arguments(keys: KeyRange) -> tuple[list[str], list[str]]:
    """Return etcdctl's flags and arguments for a range. A NUL byte cannot be an argument."""
    if keys.start == OPEN:
        return ["--prefix"], [""]
    if keys.end == OPEN:
        return ["--from-key"], [os.fsdecode(keys.start)]
    return [], [os.fsdecode(part) for part in (keys.start, keys.end) if part]


def password_problem(name: str, password: str) -> str:
    """Return why etcdctl cannot set this password; empty if it can. The password is not part of the text."""
    if ":" in name:
        return f"the user {name} has a colon in its name, at which etcdctl would split it from a password; choose another name"
    if not password:
        return f"the password of the user {name} is empty; set one, or no_password"
    if any(character.isspace() or not character.isprintable() for character in password):
        return f"the password of the user {name} has a space or a control character, at which etcdctl would cut it off; choose another"
    size = len(password.encode("utf-8", "surrogateescape"))
    if size > MAX_PASSWORD:
        return f"the password of the user {name} has {size} bytes, but bcrypt uses {MAX_PASSWORD} at most; choose a shorter one"
    return ""
