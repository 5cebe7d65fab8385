# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide what must change about a user of etcd, and change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import (
    NO_PASSWORD,
    RIGHT,
    ROOT,
    AccessControl,
    password_problem,
)

# A password that no user has. If a user has no password, etcd's error says so, whatever password is tried.
_PROBE = "headroom-probe-of-a-user-without-a-password"


class UserError(ValueError):
    """The requested user is not possible. Nothing was changed."""


@dataclass(frozen=True)
class WantedUser:
    """A user as requested. ``password`` is None for a user without one, and empty if none is given."""

    name: str
    roles: list[str]
    purge_roles: bool
    password: str | None = field(repr=False)
    update_password: bool


@dataclass(frozen=True)
class Outcome:
    """What was or would be changed. ``before`` and ``after`` are the roles, None if the user does not exist."""

    name: str
    before: list[str] | None
    after: list[str] | None
    password_changed: bool = False
    warnings: Sequence[str] = ()

    def as_result(self) -> dict[str, Any]:
        """Return the result of the module etcd_user."""
        sides = {
            side: {} if roles is None else {"name": self.name, "roles": sorted(roles)}
            for side, roles in (("before", self.before), ("after", self.after))
        }
        if self.password_changed:
            sides["before"]["password"], sides["after"]["password"] = "(not shown)", "(not shown, changed)"
        return {
            "changed": sides["before"] != sides["after"],
            "name": self.name,
            "roles": sorted(self.after or []),
            "password_changed": self.password_changed,
            "diff": sides,
        }


def parse_user(params: Mapping[str, Any]) -> WantedUser:
    """Parse the options of etcd_user. Raises UserError."""
    name, password = params["name"], params["password"]
    if not name:
        raise UserError("name is empty; a user needs a name")
    if params["password_file"]:
        password = _first_line(params["password_file"])
    if params["no_password"] and password is not None:
        raise UserError(f"the user {name} has a password and no_password; set one of them")
    if password is not None and params["state"] == "present" and password_problem(name, password):
        raise UserError(password_problem(name, password))
    return WantedUser(
        name=name,
        roles=list(params["roles"]),
        purge_roles=params["purge_roles"],
        password=None if params["no_password"] else password or "",
        update_password=params["update_password"] == "always",
    )


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.readline().rstrip("\r\n")
    except OSError as error:
        raise UserError(f"password_file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"password_file {path} is not text in UTF-8") from error


def role_changes(current: Sequence[str], wanted: Sequence[str], *, purge: bool) -> tuple[list[str], list[str]]:
    """Return the roles to grant and those to revoke."""
    grant = [role for number, role in enumerate(wanted) if role not in current and role not in wanted[:number]]
    return grant, [role for role in current if role not in wanted] if purge else []


def ensure_absent(access: AccessControl, name: str, check: bool) -> Outcome:
    """Delete the user. Raises UserError if that would lock out the caller."""
    if name not in access.users():
        return Outcome(name, None, None)
    if name in (ROOT, access.identity()) and access.status().enabled:
        own = "etcd keeps it" if name == ROOT else "this task works as that user"
        raise UserError(
            f"the user {name} cannot be deleted while authentication is on: {own}. Disable authentication first"
        )
    before = access.user_roles(name)
    if not check:
        access.delete_user(name)
    return Outcome(name, before, None)


def ensure_present(access: AccessControl, wanted: WantedUser, check: bool) -> Outcome:
    """Create or change the user. Raises UserError before anything is changed."""
    name = wanted.name
    exists = name in access.users()
    current = access.user_roles(name) if exists else []
    grant, revoke = role_changes(current, wanted.roles, purge=wanted.purge_roles)
    warnings = _missing_roles(access, name, grant, check)
    if not exists and wanted.password == "":
        raise UserError(f"user {name} does not exist; set password, password_file or no_password to create it")
    enabled = access.status().enabled if exists and (wanted.password != "" or ROOT in revoke) else False
    if enabled and ROOT in revoke and name in (ROOT, access.identity()):
        raise UserError(
            f"the user {name} would lose the role root while authentication is on, and so would its tasks; add root to roles, or disable authentication first"
        )
    set_password = exists and _must_set_password(access, wanted, enabled)
    if not check:
        if not exists:
            access.add_user(name, wanted.password)
        elif set_password and wanted.password and enabled:
            access.set_password(name, wanted.password)
        elif set_password and wanted.password:
            # If this is interrupted, the next run finds no user, and creates it with the wanted roles.
            access.recreate_user(name, wanted.password, current)
        for role in grant:
            access.grant_role(name, role)
        for role in revoke:
            access.revoke_role(name, role)
    after = [role for role in current if role not in revoke] + grant
    return Outcome(name, current if exists else None, after, set_password, warnings)


def _missing_roles(access: AccessControl, name: str, grant: Sequence[str], check: bool) -> list[str]:
    """Return a warning of check mode for roles that do not exist. Raises UserError in a real run."""
    existing = access.roles() if set(grant) - {ROOT} else []
    missing = [role for role in grant if role != ROOT and role not in existing]
    if not missing:
        return []
    absent = f"role {missing[0]} does not exist" if len(missing) == 1 else f"roles {', '.join(missing)} do not exist"
    problem = (
        f"{absent}, so user {name} cannot get {'it' if len(missing) == 1 else 'them'} (existing roles: {', '.join(sorted(existing)) or 'none'}); "
        "create what is missing with etcd_role first, or correct the name"
    )
    if check:
        return [problem]
    raise UserError(f"{problem}. Nothing was changed")


def _must_set_password(access: AccessControl, wanted: WantedUser, enabled: bool) -> bool:
    """Return whether to set an existing user's password. With authentication off, a difference cannot be detected."""
    if not enabled:
        return bool(wanted.password) and wanted.update_password
    if wanted.password == "":
        return False
    answer = access.authenticate(wanted.name, wanted.password or _PROBE)
    if (wanted.password is None) != (answer == NO_PASSWORD):
        had, cannot = ("with a", "take it away") if wanted.password is None else ("without a", "give it one")
        raise UserError(
            f"the user {wanted.name} was created {had} password, and etcd cannot {cannot}: delete the user (state: absent) and create it again. "
            "Nothing was changed"
        )
    return wanted.password is not None and answer != RIGHT and wanted.update_password
