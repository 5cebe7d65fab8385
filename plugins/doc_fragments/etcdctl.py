# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that ask etcd through etcdctl."""

from __future__ import annotations


class ModuleDocFragment:
    """Documentation of the arguments in module_utils/_etcd/local_member.py; TLS files and the unit are the fragments ``etcdctl.tls`` and ``etcdctl.unit``."""

    DOCUMENTATION = r"""
options:
  etcdctl_path:
    description: The etcdctl to ask with, of any release from 3.5 on.
    type: path
    default: /usr/local/bin/etcdctl
  endpoints:
    description:
      - Client URLs through which the cluster is reached. The first is that of the member on this host.
      - Any one that answers is enough; each member is then asked at the client URL that it advertises.
      - Name the other members too if the cluster is to be described while the member on this host is down.
    type: list
    elements: str
    default: ["https://127.0.0.1:2379"]
  request_timeout:
    description:
      - Seconds that one question to one member may take.
      - Members are asked at the same time, so that several silent ones cost no more than one.
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
    description: The client certificate to present. Empty presents none.
    type: path
    default: /etc/etcd/tls/client.crt
  client_key:
    description: The key of O(client_cert).
    type: path
    default: /etc/etcd/tls/client.key
"""
