#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disarm the alarm NOSPACE of a cluster, and no other."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_alarm
short_description: Disarm the alarm NOSPACE of an etcd cluster
version_added: 0.3.0
description:
  - Disarms the alarm C(NOSPACE) of every member, through the gRPC gateway. C(etcdctl alarm disarm) would disarm all alarms, including C(CORRUPT).
  - If the gateway cannot be used, for example with authentication enabled, uses etcdctl, provided that no other alarm is set.
  - Fails while the alarm C(CORRUPT) is set, and if it is raised during the operation.
  - Free space first, as the playbook C(etcdops.headroom.nospace) does. Otherwise a member raises the alarm again with its next write.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
attributes:
  check_mode:
    description: Reports whether the alarm is set, and changes nothing.
    support: full
seealso:
  - module: etcdops.headroom.etcd_space_info
  - module: etcdops.headroom.etcd_defrag
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Disarm the alarm NOSPACE
  etcdops.headroom.etcd_alarm:
  run_once: true
"""

RETURN = r"""
disarmed:
  description: Ids of the members whose alarm was disarmed, in hexadecimal. In check mode, of those whose alarm would be disarmed.
  type: list
  elements: str
  returned: success
  sample: [8e9e05c52164694d]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import alarms
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
        supports_check_mode=True,
    )
    endpoints = module.params["endpoints"]
    try:
        link = connection_from_params(module.params)
        if module.check_mode:
            found = alarms.list_alarms(link, endpoints)
            alarms.refuse_corrupt(found, "and NOSPACE would not be disarmed")
            found = [alarm for alarm in found if alarm.type == alarms.NOSPACE]
        else:
            found = alarms.disarm_nospace(link, endpoints)
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=bool(found), disarmed=sorted(alarm.member_id for alarm in found))


if __name__ == "__main__":
    main()
