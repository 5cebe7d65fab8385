# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that run etcdctl."""

from __future__ import annotations


class ModuleDocFragment:
    """Document the arguments in module_utils/_etcd/connection.py and play_lock.py.

    ``etcdctl.tls`` has the TLS files, ``etcdctl.unit`` the unit, ``etcdctl.login`` the user, ``etcdctl.play`` the play that takes the lock,
    ``etcdctl.audit`` the user and the metrics of a cluster that is only read.
    """

    DOCUMENTATION = r"""
options:
  etcdctl_path:
    description: Path of etcdctl, of release 3.5 or newer.
    type: path
    default: /usr/local/bin/etcdctl
  endpoints:
    description:
      - Client URLs of the cluster, the one of the member on this host first.
      - One URL that answers is enough. The module then queries each member at the client URL that it advertises.
      - List the other members too, so that the module can reach the cluster while the member on this host is down.
    type: list
    elements: str
    default: ["https://127.0.0.1:2379"]
  request_timeout:
    description:
      - Time limit of a request to one member, in seconds.
      - Members are queried in parallel, so several unreachable members take no longer than one.
    type: float
    default: 3.0
"""

    UNIT = r"""
options:
  unit:
    description: The systemd unit that runs etcd on this host.
    type: str
    default: etcd.service
"""

    TLS = r"""
options:
  ca_cert:
    description: The CA that signed the members' server certificates. Not used for C(http://) endpoints.
    type: path
    default: /etc/etcd/tls/ca.crt
  client_cert:
    description: The client certificate to present. Empty for none.
    type: path
    default: /etc/etcd/tls/client.crt
  client_key:
    description: The key of O(client_cert).
    type: path
    default: /etc/etcd/tls/client.key
"""

    LOGIN = r"""
options:
  login_user:
    description:
      - The etcd user of this module, with O(login_password).
      - Without it, etcd takes the user from the common name of O(client_cert), if its members have C(client-cert-auth).
      - With authentication on, the user needs the role C(root).
    type: str
    default: ""
  login_password:
    description: The password of O(login_user). etcdctl gets it through its environment.
    type: str
    default: ""
"""

    PLAY = r"""
options:
  play:
    description: Identifies the play that wants the lock. Set by the action plugin of this name, with O(ended_play) and O(running_play).
    type: str
    default: ""
  ended_play:
    description: Another play of this controller that has ended. The module takes over its lock.
    type: str
    default: ""
  running_play:
    description: Another play of this controller that still runs. The module waits for its lock.
    type: str
    default: ""
"""

    AUDIT = r"""
options:
  metrics_urls:
    description:
      - URLs of the members' metrics, in any order, if they differ from the client URLs (etcd's C(listen-metrics-urls)).
      - The module uses the same certificates there.
    type: list
    elements: str
    default: []
  login_user:
    description:
      - The etcd user for reading, with O(login_password). Without it, etcd takes the user from the common name of O(client_cert), if its members
        have C(client-cert-auth).
      - With authentication on, the user needs a role with read permission for the keys. All other figures need no role.
    type: str
    default: ""
  login_password:
    description: The password of O(login_user). etcdctl gets it through its environment.
    type: str
    default: ""
"""
