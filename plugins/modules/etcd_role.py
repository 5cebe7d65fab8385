#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manage a role of etcd and its permissions."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_role
short_description: Manage a role of etcd and its permissions
version_added: 0.3.0
description:
  - Creates or deletes a role, and grants it access to keys, prefixes and ranges of keys.
  - Grants new permissions before it revokes others, so that users do not temporarily lose access that they keep.
  - Needs etcdctl only. Roles have no effect while authentication is off, see M(etcdops.headroom.etcd_auth).
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.login
options:
  name:
    description: Name of the role. The role C(root) belongs to etcd and cannot be changed.
    type: str
    required: true
  state:
    description: Whether the role should exist. If it is deleted, its users lose it.
    type: str
    choices: [present, absent]
    default: present
  permissions:
    description:
      - The permissions of the role, each with one of O(permissions[].key), O(permissions[].prefix) and O(permissions[].from_key).
      - etcd stores permissions as ranges. The prefix V(/app/) is the same as the key V(/app/) with the range end V(/app0).
    type: list
    elements: dict
    default: []
    suboptions:
      access:
        description: The kind of access to these keys. A transaction or a watch needs V(read) for the keys that it reads.
        type: str
        choices: [read, write, readwrite]
        required: true
      key:
        description: One key, or with O(permissions[].range_end) the first key of a range.
        type: str
      range_end:
        description: The exclusive end of the range that starts at O(permissions[].key). It must be after that key in byte order.
        type: str
      prefix:
        description: All keys with this prefix. An empty one means every key.
        type: str
      from_key:
        description: This key and all keys after it in byte order.
        type: str
  purge:
    description: Whether to revoke the permissions that O(permissions) does not list.
    type: bool
    default: false
attributes:
  check_mode:
    description: Reports what would be changed, and fails as a real run would.
    support: full
  diff_mode:
    description: Shows the permissions before and after.
    support: full
seealso:
  - module: etcdops.headroom.etcd_user
  - module: etcdops.headroom.etcd_auth
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Let a shop change its own keys and read the shared ones
  etcdops.headroom.etcd_role:
    name: shop
    permissions:
      - {access: readwrite, prefix: /shop/}
      - {access: read, key: /shared/currency}
    purge: true
  run_once: true

- name: Delete a role
  etcdops.headroom.etcd_role:
    name: shop
    state: absent
  run_once: true
"""

RETURN = r"""
name:
  description: Name of the role.
  type: str
  returned: success
permissions:
  description: The permissions of the role after this task, in the format of O(permissions); in check mode, the planned ones.
  type: list
  elements: dict
  returned: success
  sample: [{access: readwrite, prefix: /shop/}]
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._auth import permissions
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import ROOT, AccessControl
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    LOGIN_ARGUMENTS,
    connection_from_params,
)


def ensure_absent(access: AccessControl, name: str, check: bool) -> dict[str, Any]:
    """Delete the role. Returns the module's result."""
    if name not in access.roles():
        return _result(name, None, None)
    before = access.permissions(name)
    if not check:
        access.delete_role(name)
    return _result(name, before, None)


def ensure_present(
    access: AccessControl, name: str, wanted: permissions.Permissions, purge: bool, check: bool
) -> dict[str, Any]:
    """Create the role, and grant and revoke its permissions. Returns the module's result."""
    before = access.permissions(name) if name in access.roles() else None
    changes = permissions.role_changes(before or {}, wanted, purge=purge)
    if not check:
        if before is None:
            access.add_role(name)
        for keys, allowed in changes.grant.items():
            access.grant(name, keys, allowed)
        for keys in changes.revoke:
            access.revoke(name, keys)
    return _result(name, before, permissions.after(before or {}, changes))


def _result(name: str, before: permissions.Permissions | None, after: permissions.Permissions | None) -> dict[str, Any]:
    sides = {
        side: {} if found is None else {"name": name, "permissions": permissions.as_options(found)}
        for side, found in (("before", before), ("after", after))
    }
    return {
        "changed": before != after,
        "name": name,
        "permissions": permissions.as_options(after or {}),
        "diff": sides,
    }


def main() -> None:
    """Run the module."""
    texts = {name: {"type": "str", "no_log": False} for name in ("key", "range_end", "prefix", "from_key")}
    module = AnsibleModule(
        argument_spec={
            **LOGIN_ARGUMENTS,
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "permissions": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "access": {"type": "str", "choices": ["read", "write", "readwrite"], "required": True},
                    **texts,
                },
            },
            "purge": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    params = module.params
    name = params["name"]
    try:
        if not name or name == ROOT:
            raise ValueError(
                f"name is {name!r}, but {'etcd itself manages the role root' if name else 'a role needs a name'}; choose another name"
            )
        wanted = permissions.parse_permissions(params["permissions"])
        access = AccessControl(connection_from_params(params), params["endpoints"])
        if params["state"] == "absent":
            result = ensure_absent(access, name, module.check_mode)
        else:
            result = ensure_present(access, name, wanted, params["purge"], module.check_mode)
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
