#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manage a user of etcd, its password and its roles."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_user
short_description: Manage a user of etcd, its password and its roles
version_added: 0.3.0
description:
  - Creates or deletes a user, sets its password, and grants and revokes its roles.
  - etcd identifies a user without a password by the common name of its client certificate. This needs C(client-cert-auth) on the members.
  - With authentication on, the module detects a changed password by logging in with it. With authentication off, etcd checks no passwords,
    and O(update_password) decides.
  - The module passes the password to etcdctl through standard input and the environment. It is never part of a command line, a diff or a result.
  - While authentication is on, the module never deletes root, and never revokes the role C(root) from root or from its own user.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.login
options:
  name:
    description: Name of the user; for a user without a password, the common name of its certificates.
    type: str
    required: true
  state:
    description: Whether the user should exist.
    type: str
    choices: [present, absent]
    default: present
  password:
    description:
      - The password, without spaces, of 72 bytes at most. A new user needs this, O(password_file) or O(no_password).
      - etcd cannot add a password to a user that was created without one. The module then fails if authentication is on.
    type: str
  password_file:
    description: A file on the host with the password in its first line.
    type: path
  no_password:
    description: Whether the user logs in by certificate only.
    type: bool
    default: false
  update_password:
    description:
      - With V(always), the password is changed if it differs. With authentication off, this cannot be detected, so the user is deleted and created
        again with the password and its roles every time.
      - With V(on_create), only a new user gets the password.
    type: str
    choices: [always, on_create]
    default: always
  roles:
    description: Roles that the user has. They must exist, except C(root).
    type: list
    elements: str
    default: []
  purge_roles:
    description: Whether to revoke the roles that O(roles) does not list.
    type: bool
    default: false
attributes:
  check_mode:
    description:
      - Reports what would be changed, and fails as a real run would, except that missing roles are only a warning - an earlier task may
        create them in a real run.
    support: full
  diff_mode:
    description: Shows the roles before and after, and whether the password is set. Never the password.
    support: full
seealso:
  - module: etcdops.headroom.etcd_role
  - module: etcdops.headroom.etcd_auth
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Create a user with a password
  etcdops.headroom.etcd_user:
    name: shop
    password: "{{ vault_shop_password }}"
    roles: [shop]
    purge_roles: true
  run_once: true

- name: Create a user for the certificates with the common name reports
  etcdops.headroom.etcd_user:
    name: reports
    no_password: true
    roles: [reader]
  run_once: true
"""

RETURN = r"""
name:
  description: Name of the user.
  type: str
  returned: success
roles:
  description: The roles of the user after this task; in check mode, the planned ones.
  type: list
  elements: str
  returned: success
password_changed:
  description: Whether the password of an existing user was set; in check mode, whether it would be.
  type: bool
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._auth import users
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import AccessControl
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    LOGIN_ARGUMENTS,
    connection_from_params,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **LOGIN_ARGUMENTS,
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "password": {"type": "str", "no_log": True},
            "password_file": {"type": "path", "no_log": False},
            "no_password": {"type": "bool", "default": False, "no_log": False},
            "update_password": {
                "type": "str",
                "choices": ["always", "on_create"],
                "default": "always",
                "no_log": False,
            },
            "roles": {"type": "list", "elements": "str", "default": []},
            "purge_roles": {"type": "bool", "default": False},
        },
        mutually_exclusive=[("password", "password_file")],
        supports_check_mode=True,
    )
    params = module.params
    try:
        wanted = users.parse_user(params)
        module.no_log_values.update({wanted.password} if wanted.password else ())
        access = AccessControl(connection_from_params(params), params["endpoints"])
        if params["state"] == "absent":
            outcome = users.ensure_absent(access, wanted.name, module.check_mode)
        else:
            outcome = users.ensure_present(access, wanted, module.check_mode)
    except ValueError as error:
        module.fail_json(msg=str(error))
    for warning in outcome.warnings:
        module.warn(warning)
    module.exit_json(**outcome.as_result())


if __name__ == "__main__":
    main()
