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
      - One that answers is enough; each member is then asked at the client URL that it advertises.
      - List the other members too if the cluster has to be reached while the member on this host is down.
    type: list
    elements: str
    default: ["https://127.0.0.1:2379"]
  request_timeout:
    description:
      - Seconds that one request to one member may take.
      - Members are asked at the same time, so several silent ones take no longer than one.
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
      - The user of etcd as which this module works, with O(login_password).
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
    description: Another play of this controller that has ended. Its lock is taken over.
    type: str
    default: ""
  running_play:
    description: Another play of this controller that still runs. Its lock is waited for.
    type: str
    default: ""
"""

    AUDIT = r"""
options:
  metrics_urls:
    description:
      - Where the members serve their metrics, in any order, if not at their client URLs (etcd's C(listen-metrics-urls)).
      - The certificates of this task are presented there too.
    type: list
    elements: str
    default: []
  login_user:
    description:
      - The user of etcd as which to read, with O(login_password). Without it, etcd takes the user from the common name of O(client_cert), if its members
        have C(client-cert-auth).
      - With authentication on, the user needs a role that may read the keys. Everything else is measured without one.
    type: str
    default: ""
  login_password:
    description: The password of O(login_user). etcdctl gets it through its environment.
    type: str
    default: ""
"""
