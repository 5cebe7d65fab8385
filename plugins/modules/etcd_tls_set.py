#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stage a set of certificates and keys, and switch to it in one step."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_tls_set
short_description: Stage certificates and keys of etcd, and switch to them in one step
version_added: 0.3.0
description:
  - etcd reads its certificate and its key again for each connection. This module changes both atomically - the files in O(path) are links into the
    directory of a complete set, and renaming one link switches to another set.
  - After an interruption at any point, either the complete old set or the complete new set is in use.
  - The first activation moves existing files behind links; their content stays the same, and the member does not notice.
  - The previous set stays until the next activation. The module does not change other files in O(path).
options:
  path:
    description: The directory of the files that etcd's configuration names. It must exist.
    type: path
    required: true
  state:
    description:
      - V(prepared) creates the directory of the next set and returns it. Write all files of the set there.
      - V(staged) writes O(certificates) and marks that set as complete.
      - V(active) switches to the set that is staged, if there is one. Restart the member afterwards.
    type: str
    choices: [prepared, staged, active]
    required: true
  copies:
    description: With O(state=prepared), names of files in O(path) to copy into the next set.
    type: list
    elements: str
    default: []
  keep:
    description: As O(copies), but files that an unfinished set already contains stay. All its other files are removed.
    type: list
    elements: str
    default: []
  certificates:
    description: With O(state=staged), certificates to write into the set, as PEM by file name. Owner and group are those of O(path), the mode is 0644.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Reports whether anything would be changed.
    support: full
  diff_mode:
    description: Keys are secret, so nothing is shown.
    support: none
  platform:
    description: POSIX.
    support: full
    platforms: posix
notes:
  - Keeps owner and mode of the files, which requires root.
seealso:
  - module: etcdops.headroom.etcd_tls_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Prepare a set that keeps the client's certificate and key
  etcdops.headroom.etcd_tls_set:
    path: /etc/etcd/tls
    state: prepared
    copies: [client.crt, client.key]
  register: set

- name: Create a key in it
  community.crypto.openssl_privatekey:
    path: "{{ set.directory }}/server.key"

- name: Write the certificates into the set and mark it as complete
  etcdops.headroom.etcd_tls_set:
    path: /etc/etcd/tls
    state: staged
    certificates:
      ca.crt: "{{ lookup('ansible.builtin.file', 'ca.crt') }}"
      server.crt: "{{ lookup('ansible.builtin.file', 'server.crt') }}"

- name: Switch to the set
  etcdops.headroom.etcd_tls_set:
    path: /etc/etcd/tls
    state: active
"""

RETURN = r"""
directory:
  description: The directory of the set.
  type: str
  returned: always
  sample: /etc/etcd/tls/generation-2
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import sets as certificate_sets


def main() -> None:
    """Prepare, stage or activate a set."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["prepared", "staged", "active"], "required": True},
            "copies": {"type": "list", "elements": "str", "default": []},
            "certificates": {"type": "dict", "default": {}},
            "keep": {"type": "list", "elements": "str", "default": [], "no_log": False},
        },
        supports_check_mode=True,
    )
    path, state = module.params["path"], module.params["state"]
    folder = certificate_sets.staging_directory(path)
    waits = certificate_sets.is_staged(path)
    changed = {"prepared": not os.path.isdir(folder), "staged": not waits, "active": waits}[state]
    try:
        if state == "prepared" and not module.check_mode:
            certificate_sets.prepare(path, module.params["copies"], module.params["keep"])
        elif state == "staged" and not module.check_mode:
            certificate_sets.complete(path, module.params["certificates"])
        elif state == "active" and not module.check_mode:
            certificate_sets.activate(path)
    except OSError as problem:
        module.fail_json(
            msg=f"The certificates in {path} cannot be {state}: {problem}. Run the play again once the cause is gone."
        )
    module.exit_json(changed=changed, directory=folder)


if __name__ == "__main__":
    main()
