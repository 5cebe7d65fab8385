#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable or disable authentication in etcd."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_auth
short_description: Enable or disable authentication in etcd
version_added: 0.3.0
description:
  - Enables authentication only if root exists, and both root and this module's own user have the role C(root). Otherwise it fails and changes nothing.
  - While authentication is off, etcd does not check passwords. So the module deletes root just before it enables authentication, and creates it again
    with O(root_password) and the same roles. Afterwards it verifies at each of O(endpoints) that its own user and root have access, and disables
    authentication again if one of them has not.
  - If authentication is already on, it only verifies this access and changes nothing.
  - Without O(state) it only reports.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.login
options:
  state:
    description: Whether etcd authenticates its clients. By default unchanged.
    type: str
    choices: [enabled, disabled]
  root_password:
    description: The password of root. Required to enable authentication. If authentication is on, it must be root's current password.
    type: str
  next_user:
    description:
      - The common name of another client certificate that this module's host is about to use; empty for a certificate without one.
      - If authentication is on, the module fails unless this user has the role C(root), which all operations of this collection need. It also fails if it
        cannot read whether authentication is on. It changes nothing.
    type: str
    version_added: 0.3.0
  next_client_cert_auth:
    description:
      - Whether the members are about to run with C(client-cert-auth). Without it, etcd takes no user from a client certificate.
      - If V(false) and authentication is on, the module fails, unless O(login_user) is set. It does not fail if it cannot read whether authentication
        is on. It changes nothing.
    type: bool
    version_added: 0.3.0
attributes:
  check_mode:
    description: Reports what would be changed, and fails as a real run would. It can verify the access only if authentication is on.
    support: full
  diff_mode:
    description: Shows whether authentication is on before and after.
    support: full
notes:
  - O(endpoints) should list every member. All of them must answer.
  - Clients without credentials lose access at once.
seealso:
  - module: etcdops.headroom.etcd_user
  - module: etcdops.headroom.etcd_role
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Create root
  etcdops.headroom.etcd_user:
    name: root
    password: "{{ vault_etcd_root_password }}"
    roles: [root]
    update_password: on_create
  run_once: true

- name: Create the user of the certificates that this collection uses
  etcdops.headroom.etcd_user:
    name: headroom
    no_password: true
    roles: [root]
  run_once: true

- name: Enable authentication
  etcdops.headroom.etcd_auth:
    state: enabled
    root_password: "{{ vault_etcd_root_password }}"
  run_once: true
"""

RETURN = r"""
enabled:
  description: Whether authentication is on after this task; in check mode, whether it would be.
  type: bool
  returned: success, without O(next_user) and O(next_client_cert_auth)
user:
  description: The user of this module, empty for none.
  type: str
  returned: always, unless the client certificate cannot be read, without O(next_client_cert_auth)
  sample: headroom
members:
  description: The status at each endpoint before this task, with the revision of its users and roles.
  type: dict
  returned: success, without O(next_user) and O(next_client_cert_auth)
  sample: {"https://127.0.0.1:2379": {enabled: true, revision: 12}}
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._auth import switch as auth_switch
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import AccessControl
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    LOGIN_ARGUMENTS,
    connection_from_params,
)


def switch(access: AccessControl, enabled: bool, state: str | None, root_password: str, check: bool) -> bool:
    """Enable or disable authentication, and verify the access. Returns whether it is on afterwards; with ``check``, whether it would be."""
    if state == "disabled" and enabled and not check:
        access.disable()
    if state == "enabled" and enabled:
        problem = auth_switch.denied_access(access, root_password)
        if problem:
            raise auth_switch.AuthError(f"authentication is on, but {problem}")
    if state == "enabled" and not enabled:
        obstacles = auth_switch.obstacles(access, root_password)
        if obstacles:
            raise auth_switch.AuthError(
                f"authentication cannot be enabled: {'; '.join(obstacles)}. Nothing was changed"
            )
        if not check:
            auth_switch.enable(access, root_password)
    return enabled if state is None else state == "enabled"


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **LOGIN_ARGUMENTS,
            "state": {"type": "str", "choices": ["enabled", "disabled"]},
            "root_password": {"type": "str", "no_log": True},
            "next_user": {"type": "str"},
            "next_client_cert_auth": {"type": "bool"},
        },
        mutually_exclusive=[("state", "next_user", "next_client_cert_auth")],
        supports_check_mode=True,
    )
    params = module.params
    known: dict[str, str] = {}
    try:
        access = AccessControl(connection_from_params(params), params["endpoints"])
        if params["next_client_cert_auth"] is not None:
            problem = "" if params["next_client_cert_auth"] else auth_switch.unknown_users_problem(access)
            if problem:
                raise auth_switch.AuthError(problem)
            module.exit_json(changed=False)
        user = known["user"] = access.identity()
        if params["next_user"] is not None:
            problem = auth_switch.successor_problem(access, params["next_user"])
            if problem:
                raise auth_switch.AuthError(problem)
            module.exit_json(changed=False, user=user)
        members = auth_switch.read_statuses(access)
        before = all(status.enabled for status in members.values())
        after = switch(access, before, params["state"], params["root_password"] or "", module.check_mode)
    except ValueError as error:
        module.fail_json(msg=str(error), **known)
    module.exit_json(
        changed=after != before,
        enabled=after,
        user=user,
        members={url: asdict(status) for url, status in members.items()},
        diff={"before": {"enabled": before}, "after": {"enabled": after}},
    )


if __name__ == "__main__":
    main()
