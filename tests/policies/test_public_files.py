# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files that each show one way in which public files differ from Headroom's own inventories, through conftest as users call it.

Each case has its files, the texts that must be found by rule, and the rules that must find nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .inventories import Files, write
from .test_vocabularies import EXAMPLES, by_rule, lint


@dataclass
class Case:
    """The files, what is found in them (rule → text), and the rules that find nothing."""

    files: Files
    found: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)


OLD_COMPOSE = """\
services:
  etcd:
    image: quay.io/coreos/etcd:v3.4.3
    command: >
      etcd --unsafe-no-fsync --force-new-cluster --listen-client-urls http://0.0.0.0:2379
      --auto-compaction-retention 1 --logger zap --debug
"""

CONTROLLER = """\
apiVersion: v1
kind: ReplicationController
metadata: {name: kv}
spec:
  replicas: 1
  template: {spec: {containers: [{name: etcd, image: 'quay.io/coreos/etcd:v3.4.3', args: [--data-dir=/run/a]}]}}
"""

STATEFUL_SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kv}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: etcd
          image: quay.io/coreos/etcd:v3.5.31
          command: [sh, -ecx, "PEERS=$(peers)\\nif x; then\\nexec etcd --name a --data-dir /d --initial-cluster ${PEERS}\\nfi\\nexec etcd --name b"]
"""

BITNAMI_COMPOSE = """\
services:
  kv:
    image: bitnami/etcd:3.5.31
    environment: {ETCD_ADVERTISE_CLIENT_URLS: 'https://kv:2379', ETCD_LISTEN_CLIENT_URLS: 'https://0.0.0.0:2379', ETCD_TRUSTED_CA_FILE: /ca}
    volumes: ['./certs:/opt/bitnami/etcd/conf/certs']
"""
PEERS = """\
image: {repository: bitnami/etcd, tag: 3.5.31}
replicaCount: 3
auth: {peer: {secureTransport: true, useAutoTLS: true, enableAuthentication: false}}
"""
MASTER = """\
apiVersion: kubeadm.k8s.io/v1alpha1
kind: MasterConfiguration
etcd:
  endpoints:
  - http://10.0.0.1:2379
"""
CASES: dict[str, Case] = {
    "certificates in a folder beside the config file of Bitnami's image": Case(
        {"compose.yml": BITNAMI_COMPOSE}, {"compaction/off": "kv"}, {"security/client_cert_auth"}
    ),
    "peers without certificates in Bitnami's chart": Case(
        {"values.yaml": PEERS},
        {
            "security/auto_tls": "(auth.peer.useAutoTLS)",
            "security/client_cert_auth": "(auth.peer.enableAuthentication)",
        },
        {"flags/twice"},
    ),
    "an external cluster without encryption": Case(
        {"kubeadm.yaml": MASTER},
        {"security/plain_http": "(etcd.endpoints)"},
        {"inventory/unknown_value", "topology/single_member", "compaction/off"},
    ),
    "a script of a single replica, with two starts": Case(
        {"kv.yaml": STATEFUL_SET}, {"topology/single_member": 'cluster "etcd" has one member, kv'}, {"flags/twice"}
    ),
    "replicas of a script": Case(
        {"kv.yaml": STATEFUL_SET.replace("replicas: 1", "replicas: 3")}, {}, {"topology/single_member"}
    ),
    "a controller of old releases of Kubernetes": Case(
        {"rc.yaml": CONTROLLER},
        {"version/end_of_life": "kv: etcd 3.4.3", "topology/single_member": 'cluster "etcd" has one member, kv'},
        {"disk/unfit_filesystem"},
    ),
    "a set of pets": Case(
        {"kv.yaml": STATEFUL_SET.replace("apps/v1", "apps/v1alpha1").replace("kind: StatefulSet", "kind: PetSet")},
        {"topology/single_member": 'cluster "etcd" has one member, kv'},
    ),
    "a config file that Bitnami's image prefers to its environment": Case(
        {
            "docker-compose.yml": "services:\n  kv:\n    image: bitnami/etcd:3.5.17\n"
            "    environment: {ETCD_ADVERTISE_CLIENT_URLS: 'http://kv:2379'}\n"
            "    volumes: ['./etcd.yaml:/opt/bitnami/etcd/conf/etcd.yaml']\n"
        },
        {"version/data_corruption": "kv: etcd 3.5.17"},
        {"security/plain_http", "topology/single_member", "compaction/off", "flags/beside_config_file"},
    ),
    "a release at its end of life": Case(
        {"docker-compose.yml": OLD_COMPOSE},
        {
            "version/end_of_life": "no longer maintained; the oldest maintained series is 3.5, whose rules apply here",
            "durability/unsafe_no_fsync": "unsafe-no-fsync is on",
            "durability/force_new_cluster": "force-new-cluster is on",
            "security/plain_http": "http://0.0.0.0:2379 is plain HTTP",
            "memory/quota_unset": "etcd's default of 2.0 GiB",
            "memory/snapshot_count": "the default of 3.5",
        },
        {"compaction/off", "flags/unknown_setting", "version/unknown"},
    ),
    "a release of the future": Case(
        {"docker-compose.yml": OLD_COMPOSE.replace("v3.4.3", "v3.9.0").replace(" --debug", "")},
        {"version/unknown": "the rules treat it as 3.7.3", "durability/unsafe_no_fsync": "unsafe-no-fsync is on"},
        {"compaction/off", "flags/unknown_setting", "version/end_of_life"},
    ),
    "two applications, each with an etcd of its own": Case(
        {
            "docker-compose.yml": (
                "services:\n  etcd-a: {image: 'quay.io/coreos/etcd:v3.5.35', command: etcd --data-dir=/a}\n"
                "  etcd-b: {image: 'quay.io/coreos/etcd:v3.5.35', command: etcd --data-dir=/b}\n"
            )
        },
        {"topology/single_member": 'cluster "etcd-b" has one member, etcd-b'},
        {"topology/even_members"},
    ),
    "three services, whose config files may make them one cluster": Case(
        {
            "docker-compose.yml": "services:\n"
            + "".join(
                f"  etcd{number}: {{image: 'quay.io/coreos/etcd:v3.5.35', environment: {{ETCD_CONFIG_FILE: /etcd.yml}}}}\n"
                for number in range(3)
            )
        },
        {},
        {"topology/single_member"},
    ),
    "an inventory that is a template, as headroom-lint translates it": Case(
        {"hosts.yml": "etcd: {hosts: {'m{{i|n}}': {}}}\nkube_node: {hosts: {'m{{i|n}}': {}}}\n"},
        {"placement/shared_host": 'also in group "kube_node"'},
        {"topology/single_member", "inventory/unread_file"},
    ),
    "files beside a manifest": Case(
        {
            "etcd.yaml": (EXAMPLES / "files" / "etcd.yaml").read_text(encoding="utf-8"),
            "web.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {hosts: [a, b]}\n",
            "two.yaml": "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Secret\n",
            "site.yml": "- hosts: all\n  roles: [web]\n- hosts: db\n  tasks: []\n",
            "docker-compose.yml": "services: {web: {image: nginx}}\n",
            "values.yaml": "etcd: {enabled: false}\n",
            "Dockerfile": "FROM scratch\nCOPY a /a\n",
        },
        {"version/data_corruption": "etcd.yaml: etcd: etcd 3.5.15"},
        {"inventory/no_members", "inventory/no_etcd", "inventory/unread_file", "inventory/refused_file"},
    ),
    "settings that a release passes over": Case(
        {
            "docker-compose.yml": (
                "services: {etcd: {image: 'etcd:v3.6.16', mem_limit: 1g, command: 'etcd --initial-cluster a=http://a:2380,"
                " --listen-client-urls http://${IP}:2379', environment: {ETCD_PROXY: 'off', ETCD_BUCKET: b}}}\n"
            )
        },
        {
            "flags/passed_over": "etcd 3.6.16 ignores ETCD_BUCKET, ETCD_PROXY",
            "security/plain_http": "http://${IP}:2379 is plain HTTP",
            "compaction/off": "Set auto-compaction-retention, for example to 5m (in revision mode, to 1000)\n",
            "topology/single_member": "has one member",
        },
        {"flags/unknown_setting", "inventory/unknown_value"},
    ),
    "a local etcd": Case(
        {
            "docker-compose.yml": (
                "services: {etcd: {image: etcd, mem_limit: 1g, command: 'etcd --listen-client-urls http://127.0.0.1:2379"
                " --client-cert-auth=false --quota-backend-bytes 4294967296'}}\n"
            )
        },
        {"memory/quota_over_memory": "is over the whole limit of 1.0 GiB (mem_limit)"},
        {"security/client_cert_auth", "security/plain_http"},
    ),
    "an inventory of an unknown role": Case(
        {
            "hosts.yml": "etcd: {hosts: {n1: {}, n2: {}, n3: {}}}\n",
            "group_vars/etcd.yml": "etcd_version: v3.5.16\n",
        },
        {
            "version/data_corruption": "etcd 3.5.16",
            "inventory/unknown_value": "no variable identifies the role of this inventory",
        },
        {"version/unknown", "compaction/off", "memory/quota_unset", "durability/no_backup", "memory/snapshot_count"},
    ),
    "two nodes of RKE with other workloads": Case(
        {
            "cluster.yml": (
                "nodes: [{address: a, role: [etcd, worker]}, {address: b, role: [etcd]}]\n"
                "services: {etcd: {image: 'rancher/coreos-etcd:v3.4.9-1', extra_args: {}}}\n"
            )
        },
        {
            "placement/shared_host": 'etcd-0: also in group "worker"',
            "topology/even_members": "has 2 members",
            "version/end_of_life": "etcd 3.4.9",
        },
        {"compaction/off", "security/client_cert_auth"},
    ),
    "the user data of Container Linux": Case(
        {
            "user-data.yml": (
                "coreos:\n  etcd2:\n    advertise-client-urls: http://$private_ipv4:2379\n"
                "    listen-client-urls: http://0.0.0.0:2379\n    discovery: https://discovery.example/x\n"
            )
        },
        {"version/end_of_life": "etcd 2.3", "security/plain_http": "http://0.0.0.0:2379 is plain HTTP"},
        {
            "compaction/off",
            "memory/quota_unset",
            "inventory/unknown_value",
            "inventory/no_etcd",
            "topology/single_member",
        },
    ),
    "user data of Container Linux for etcd 0.4 and etcd 2": Case(
        {
            "user-data.yml": (
                "coreos:\n  etcd:\n    addr: $public_ipv4:4001\n    discovery: https://discovery.example/x\n"
                "  etcd2:\n    advertise-client-urls: http://$public_ipv4:2379\n    listen-client-urls: http://0.0.0.0:2379\n"
                "    discovery: https://discovery.example/x\n"
            )
        },
        {"version/end_of_life": "etcd (container-linux)", "security/plain_http": "http://0.0.0.0:2379 is plain HTTP"},
        {
            "compaction/off",
            "memory/quota_unset",
            "inventory/no_etcd",
            "topology/single_member",
        },
    ),
    "a cluster of Improbable's operator": Case(
        {
            "cluster.yml": (
                "apiVersion: etcd.improbable.io/v1alpha1\nkind: EtcdCluster\nmetadata: {name: events}\n"
                "spec: {replicas: 2, version: 3.4.9}\n"
            )
        },
        {"version/end_of_life": "etcd 3.4.9", "topology/even_members": "has 2 members"},
        {"inventory/unknown_value"},
    ),
    "values with the image's tag beside it": Case(
        {"values.yaml": "name: etcd\nreplicas: 3\nimage: gcr.io/google_containers/etcd-amd64\nimageTag: 3.0.14\n"},
        {"version/end_of_life": "etcd 3.0.14"},
        {"inventory/unknown_value"},
    ),
    "an image of its own with a member's variables": Case(
        {
            "docker-compose.yml": (
                "services:\n"
                "  a: {build: ., environment: {ETCD_INITIAL_CLUSTER: 'a=http://a:2380,b=http://b:2380'}}\n"
                "  b: {build: ., environment: {ETCD_INITIAL_CLUSTER: 'a=http://a:2380,b=http://b:2380'}}\n"
            )
        },
        {
            "security/plain_http": "http://a:2380 is plain HTTP, and open to other hosts (ETCD_INITIAL_CLUSTER)",
            "topology/even_members": "has 2 members",
        },
        {"compaction/off", "inventory/no_etcd"},
    ),
    "a script with a recovery in it": Case(
        {
            "etcd.yaml": (
                "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: etcd}\nspec: {template: {spec: {containers: [{name: etcd,\n"
                "  image: 'etcd:v3.5.30', env: [{name: SCHEME, value: http}],\n"
                '  command: [sh, -c, "if lost\\nthen exec etcd --force-new-cluster\\n'
                'else exec etcd --name a --listen-client-urls=$(SCHEME)://0.0.0.0:2379\\nfi\\n"]}]}}}\n'
            )
        },
        {"security/plain_http": "http://0.0.0.0:2379 is plain HTTP"},
        {"durability/force_new_cluster"},
    ),
    "a group of a similar name and a release in a map": Case(
        {
            "hosts.yml": "etcd-nodes: {hosts: {n1: {}, n2: {}}}\nkube_node: {hosts: {n1: {}}}\n",
            "group_vars/all.yml": "kubernetes: {components: {etcd: {version: v3.5.4}}}\n",
        },
        {
            "version/data_corruption": "etcd 3.5.4",
            "topology/even_members": 'cluster "etcd-nodes" has 2 members',
            "placement/shared_host": 'n1: also in group "kube_node"',
        },
        {"inventory/no_members", "inventory/no_etcd"},
    ),
    "the values of a chart in a resource": Case(
        {
            "etcd.yaml": (
                "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: etcd}\nspec:\n  valuesContent: |-\n"
                "    replicaCount: 2\n    image: {tag: 3.5.9}\n    autoCompactionRetention: 1h\n"
            )
        },
        {"version/data_corruption": "etcd 3.5.9", "topology/even_members": "has 2 members"},
        {"inventory/no_etcd", "inventory/unknown_value"},
    ),
    "a file without a data directory, and with open metrics": Case(
        {
            "etcd.conf.yml": (
                "name: a\nlisten-client-urls: https://10.0.0.1:2379\nlisten-metrics-urls: http://0.0.0.0:2381\n"
                "advertise-client-urls: https://10.0.0.1:2379\ninitial-cluster: a=https://a:2380,b=https://b:2380,c=https://c:2380\n"
            )
        },
        {
            "disk/data_dir_unset": "in the directory where it starts",
            "security/plain_metrics": "http://0.0.0.0:2381 serves metrics over plain HTTP",
        },
        {"security/plain_http"},
    ),
    "kubespray's sample since 2.27, whose playbooks make k8s_cluster": Case(
        {
            "hosts.yml": "kube_control_plane: {hosts: {n1: {}, n2: {}, n3: {}}}\netcd: {children: {kube_control_plane: }}\nkube_node: {hosts: {n4: {}}}\n",
            "group_vars/all/etcd.yml": (
                'etcd_deployment_type: host\netcd_version: 3.5.25\netcd_listen_metrics_urls: "http://0.0.0.0:2381"\n'
                'etcd_extra_vars: {ETCD_MAX_TXN_OPS: "256"}\n'
            ),
            "group_vars/k8s_cluster/k8s-cluster.yml": 'kube_version: 1.31.4\nkube_network_plugin: calico\netcd_quota_backend_bytes: "4294967296"\n',
        },
        {
            "security/plain_metrics": "http://0.0.0.0:2381 serves metrics over plain HTTP",
            "memory/snapshot_count": "100,000 (kubespray's default etcd_snapshot_count)",
        },
        {"memory/quota_unset", "compaction/off", "version/vulnerable", "inventory/unknown_value"},
    ),
    "kubespray before its snapshot-count of 100,000": Case(
        {
            "hosts.yml": (
                "etcd: {hosts: {n1: {}, n2: {}, n3: {}}}\nkube_control_plane: {hosts: {n1: {}}}\nk8s_cluster: {children: {kube_control_plane: }}\n"
            ),
            "group_vars/all.yml": "kube_version: v1.26.5\nkube_network_plugin: calico\n",
        },
        {"inventory/unknown_value": "kubespray installs 3.5.6 to 3.5.16 for Kubernetes 1.26, by its own release"},
        {"memory/snapshot_count", "memory/restart_spike", "compaction/off", "memory/quota_unset"},
    ),
    "autobase, whose older releases do not compact": Case(
        {
            "hosts.yml": "etcd_cluster: {hosts: {n1: {}, n2: {}, n3: {}}}\nmaster: {hosts: {n1: {}}}\n",
            "group_vars/all.yml": "patroni_cluster_name: a\netcd_version: 3.5.35\n",
        },
        {"topology/election_ratio": "autobase's fixed ETCD_ELECTION_TIMEOUT"},
        {"compaction/off", "compaction/bare_hours"},
    ),
    "Pigsty, whose newer releases set a quota": Case(
        {
            "pigsty.yml": (
                "all:\n  children:\n    etcd:\n      hosts: {10.10.10.10: {etcd_seq: 1}, 10.10.10.11: {etcd_seq: 2}, 10.10.10.12: {etcd_seq: 3}}\n"
                "      vars: {etcd_cluster: etcd, etcd_election_timeout: 500}\n"
            ),
        },
        {"topology/election_ratio": "pigsty's default etcd_heartbeat_interval"},
        {"compaction/off", "memory/quota_unset", "disk/data_dir_unset"},
    ),
    "files without etcd": Case(
        {
            "roles/etcd/defaults/main.yml": "etcd_version: 3.4.3\netcd_settings: {debug: true}\n",
            "Dockerfile": "FROM scratch\n",
        },
        {"inventory/no_etcd": "no file here configures etcd"},
        {"inventory/no_members", "inventory/unread_file"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    write(tmp_path, case.files)
    found = by_rule(lint(tmp_path))
    for rule, text in case.found.items():
        assert text in found.get(rule, ""), found
    assert not case.silent & set(found), found
