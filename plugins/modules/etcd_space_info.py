#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show what fills the databases of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_space_info
short_description: Show what fills the databases of an etcd cluster
version_added: 0.3.0
description:
  - Divides the database of each voting member into live data, history and free pages, and says which action frees space.
  - The sizes of live data and history are estimated from their numbers of revisions. After a compaction, a member reports the freed pages with its
    next writes.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
seealso:
  - module: etcdops.headroom.etcd_defrag
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Find out what fills the databases
  etcdops.headroom.etcd_space_info:
  register: space

- name: Show what fills the databases
  ansible.builtin.debug:
    msg: "{{ space.explanations }}"
"""

RETURN = r"""
no_space:
  description: Names of the members that raised the alarm C(NOSPACE).
  type: list
  elements: str
  returned: success
fits:
  description: Whether every member is below 90 % of its quota, so that etcd accepts writes again once the alarm is disarmed.
  type: bool
  returned: success
silent:
  description: The voting members that do not answer, with the error. If one does not, and the alarm NOSPACE is set, the module fails.
  type: list
  elements: str
  returned: success
  sample: []
revision:
  description: The newest revision that all members have.
  type: int
  returned: success
leader:
  description: Name of the leader.
  type: str
  returned: success
members:
  description: The parts of each member's database in bytes, with the numbers of live keys and of further revisions.
  type: list
  elements: dict
  returned: success
  sample: [{member: etcd-1, size: 2147483648, quota: 2147483648, live: 524288000, history: 1572864000, free: 50331648, keys: 5000, revisions: 15000}]
compactions:
  description: How many compactions of each member have ended since it started, by name. It compacts in the background.
  type: dict
  returned: success
  sample: {etcd-1: 12, etcd-2: 12, etcd-3: 11}
explanations:
  description: A sentence for each member, with the action that frees space.
  type: list
  elements: str
  returned: success
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import view_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import (
    divide_database,
    explain_space,
    is_below_quota,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import NOSPACE
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

WITHOUT_LOST = (
    ". If a member is lost for good, remove it although the alarm NOSPACE is set: take its host out of the inventory, and run the playbook scale with "
    "etcd_scale_remove and etcd_scale_allow_even. Then run the playbook nospace, and add a host with scale"
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
        supports_check_mode=True,
    )
    try:
        view = view_cluster(connection_from_params(module.params), module.params["endpoints"])
    except ValueError as error:
        module.fail_json(msg=str(error))
    cluster = view.cluster
    if cluster.unreachable:
        module.fail_json(msg=cluster.unreachable)
    spaces, revisions, silent = [], [], []
    compactions: dict[str, int] = {}
    for member in (member for member in cluster.members if member.votes):
        metrics = view.metrics.get(member.name, member.health_error)
        if isinstance(metrics, MemberMetrics) and member.db_size is not None and metrics.newest_revision is not None:
            spaces.append(divide_database(member, metrics))
            revisions.append(metrics.newest_revision)
            if metrics.compactions is not None:
                compactions[member.name] = metrics.compactions
        else:
            silent.append(f"{member.name or member.id} ({member.status_error or 'no metrics'})")
    no_space = [alarm["member"] for alarm in cluster.alarms if alarm["type"] == NOSPACE]
    if silent and (no_space or not spaces):
        module.fail_json(
            msg=f"not every voting member answers: {', '.join(silent)}; repair that first{WITHOUT_LOST if no_space else ''}"
        )
    module.exit_json(
        changed=False,
        no_space=no_space,
        silent=silent,
        fits=all(space.quota is None or is_below_quota(space.size, space.quota) for space in spaces),
        revision=min(revisions),
        leader=cluster.leader,
        members=[asdict(space) for space in spaces],
        compactions=compactions,
        explanations=[explain_space(space) for space in spaces] + [f"{text} did not answer" for text in silent],
    )


if __name__ == "__main__":
    main()
