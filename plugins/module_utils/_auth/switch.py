# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable and disable authentication without locking out root and the caller.

etcd checks no password while authentication is off. So the user root is created again with the given password just before
authentication is enabled, so that root can certainly disable it again. Afterwards the caller's own user and root's password
are verified at every member, and authentication is disabled again if one of them fails.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import (
    NO_PASSWORD,
    RIGHT,
    ROOT,
    AccessControl,
    AuthStatus,
    password_problem,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import EtcdctlError

# Seconds in which every member has applied the change.
_SETTLE_SECONDS = 5.0
_PAUSE = 0.3
# Parts of the errors with which etcd refuses a user that has no access.
_NO_ACCESS = ("user name not found", "user not found", "user name is empty", "permission denied")


class AuthError(ValueError):
    """Authentication cannot be enabled or disabled; the text says why. Unless it says otherwise, nothing was changed, or it was changed back."""


def read_statuses(access: AccessControl) -> dict[str, AuthStatus]:
    """Return the status of each endpoint once all are equal. Raises EtcdctlError, or AuthError if they stay different."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        found = {url: access.at(url).status() for url in access.endpoints}
        if len(set(found.values())) <= 1:
            return found
        if time.monotonic() >= deadline:
            shown = ", ".join(
                f"{url} has authentication {'on' if status.enabled else 'off'} at revision {status.revision}"
                for url, status in found.items()
            )
            raise AuthError(f"the members disagree: {shown}. Rebuild the member that differs; nothing was changed")
        time.sleep(_PAUSE)


def obstacles(access: AccessControl, root_password: str) -> list[str]:
    """Return the reasons for which authentication must not be enabled. Raises EtcdctlError."""
    found = []
    users = access.users()
    if ROOT not in users:
        found.append("user root does not exist; create it with etcd_user, with a password and the role root")
    elif ROOT not in access.user_roles(ROOT):
        found.append("user root lacks the role root; grant it with etcd_user")
    if not root_password:
        found.append("root_password is not set, so it cannot be verified that root can log in")
    elif password_problem(ROOT, root_password):
        found.append(password_problem(ROOT, root_password))
    own = access.identity()
    if not own:
        found.append(
            "this task presents no client certificate with a common name and no login_user, so etcd would refuse it afterwards"
        )
    elif own not in users:
        found.append(
            f"user {own}, as which this task would log in afterwards, does not exist; create it with etcd_user and the role root"
        )
    elif own != ROOT and ROOT not in access.user_roles(own):
        found.append(
            f"user {own}, as which this task would log in afterwards, lacks the role root; grant it with etcd_user"
        )
    return found


def enable(access: AccessControl, root_password: str) -> None:
    """Enable authentication, and verify the access of the caller's user and of root. Disables it again and raises AuthError if that fails."""
    others = [role for role in access.user_roles(ROOT) if role != ROOT]
    access.recreate_user(ROOT, root_password, [ROOT, *others])
    problem = ""
    try:
        access.enable()
    except EtcdctlError as error:
        if not _was_enabled(access):
            problem = str(error)
    problem = problem or _settled_problem(access, root_password)
    if problem:
        try:
            _disable_again(access, root_password)
        except EtcdctlError as error:
            raise AuthError(
                f"{problem}. Disabling authentication again failed too: {error}. Run this task again"
            ) from error
        raise AuthError(f"{problem}. Authentication was disabled again")


def _was_enabled(access: AccessControl) -> bool:
    """Return whether a request to enable authentication took effect although it failed: etcd may commit it after the client's timeout."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        with contextlib.suppress(EtcdctlError, AuthError):
            if all(status.enabled for status in read_statuses(access).values()):
                return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE)


def denied_access(access: AccessControl, root_password: str) -> str:
    """Return why the caller's user, or root with its password (if given), has no access at an endpoint; empty if both have."""
    for url in access.endpoints:
        try:
            access.at(url).users()
            answer = access.at(url).authenticate(ROOT, root_password) if root_password else RIGHT
        except EtcdctlError as error:
            return f"{url}: {error}"
        if answer == NO_PASSWORD:
            return "root was created without a password, so that root_password cannot be its password; delete root and create it again"
        if answer != RIGHT:
            return "root_password is not the password of root; correct it, or set root's password with etcd_user"
    return ""


def successor_problem(access: AccessControl, successor: str) -> str:
    """Return why etcd would refuse ``successor``, the caller's user after its certificate changes; empty if it would not, or refuses the caller already."""
    own = access.identity()
    try:
        if not access.status().enabled:
            return ""
        roles = access.user_roles(successor) if successor and successor in access.users() else None
    except EtcdctlError as error:
        if any(reason in str(error) for reason in _NO_ACCESS):
            return ""
        return (
            f"the common name of the client certificate would change from {own} to {successor or 'none'}, but it cannot be read whether authentication"
            f" is on ({error}); keep {own} until the members answer"
        )
    if roles is not None and (successor == ROOT or ROOT in roles):
        return ""
    lack = "has no common name" if not successor else "does not exist" if roles is None else "lacks the role root"
    return (
        f"authentication is on, and the common name of the client certificate would change from {own} to {successor or 'none'}, but "
        + (f"user {successor} {lack}" if successor else f"the new certificate {lack}")
        + f", so that etcd would refuse every request; {_successor_fix(own, successor)}"
    )


def unknown_users_problem(access: AccessControl) -> str:
    """Return why etcd would refuse the caller if it took no users from certificates; empty if it would not, or authentication may be off."""
    if access.connection.user:
        return ""
    try:
        enabled = access.status().enabled
    except EtcdctlError as error:
        enabled = any(reason in str(error) for reason in _NO_ACCESS)
    if not enabled:
        return ""
    return (
        "authentication is on, and without client-cert-auth etcd takes no user from a client certificate, so that it would refuse every request; "
        "set client-cert-auth to true, or disable authentication first"
    )


def _successor_fix(own: str, successor: str) -> str:
    if not successor:
        return f"use a certificate with the common name {own}"
    return f"create user {successor} without a password and with the role root first, or keep {own}"


def _settled_problem(access: AccessControl, root_password: str) -> str:
    """Return the denied access that remains after every member had time to apply the change; empty if there is none."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        problem = denied_access(access, root_password)
        if not problem or time.monotonic() >= deadline:
            return problem
        time.sleep(_PAUSE)


def _disable_again(access: AccessControl, root_password: str) -> None:
    """Disable authentication as root, else as the caller's own user."""
    as_root = replace(access, connection=replace(access.connection, user=ROOT, password=root_password))
    try:
        as_root.disable()
    except EtcdctlError:
        access.disable()
