# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What headroom-lint's reader and the policies both know: each stands in Python and in Rego, and must be the same."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.variable_files import (
    MEMBER_GROUP,
    OF_KNOWN_ROLES,
    RELEASE_NAMES,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import COMPACTS
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell import command_wrappers
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import SCRIPT_FOLLOWS
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import SERVER_VARIABLE
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.sources import LIBRARY

from .tools import REPOSITORY, SOURCES, tool

KUBESPRAY = ["etcd", "k8s_cluster", "kube_node"]
AUTOBASE = ["etcd_cluster", "master"]
# Groups, variables, and the role whose inventory they are.
ROLES = [
    ([], ["etcd_seq"], "pigsty"),
    ([], ["etcd_settings"], "githubixx.etcd"),
    (KUBESPRAY, ["etcd_deployment_type"], "kubespray"),
    (KUBESPRAY, ["etcd_kubeadm_enabled"], "kubespray"),
    (KUBESPRAY, ["kube_network_plugin"], "kubespray"),
    ([], ["etcd_secure_client", "etcd_peer_client_auth"], "kubespray"),
    ([], ["etcd_memory_limit", "etcd_deployment_type"], "kubespray"),
    (AUTOBASE, ["patroni_cluster_name"], "autobase"),
    ([], ["etcd_storage_device"], "headroom"),
    ([], ["etcd_maintenance_calendar"], "headroom"),
    ([], ["etcd_extra_config"], "headroom"),
    ([], ["etcd_workload"], "headroom"),
    ([], ["etcd_memory_budget"], "headroom"),
    ([], ["etcd_of_somebody"], "unrecognised"),
]
VARIABLES = [
    *("ETCD_LISTEN_CLIENT_URLS", "ETCD_ADVERTISE_CLIENT_URLS", "ETCD_INITIAL_CLUSTER", "ETCD_SNAPSHOT_COUNT"),
    *("ETCD_AUTO_COMPACTION_MODE", "ETCD_QUOTA_BACKEND_BYTES", "ETCD_HEARTBEAT_INTERVAL", "ETCD_ELECTION_TIMEOUT"),
    *("ETCD_MAX_REQUEST_BYTES", "ETCD_ENDPOINTS", "ETCD_CERT_FILE", "ETCD_NAME", "ETCDCTL_API", "OTHER_LISTEN"),
    *("ETCD_UNSAFE_NO_FSYNC", "ETCD_FORCE_NEW_CLUSTER", "ETCD_FORCE_NEW_CLUSTER_X"),
]

# Texts, and whether a client compacts in them.
COMMANDS = {
    "etcdctl compact 5": True,
    "etcdctl --endpoints=http://a:2379 \\\ncompaction $REVISION": True,
    "etcdctl --endpoints=http://a:2379 \\\n  compact": True,
    'sh -c "etcdctl compact"': True,
    "etcdctl getécompact 5": True,  # Go's \w is ASCII
    "etcdctl get a\ncompact 5": False,
    "etcdctl get a #compact": False,
    "# etcdctl compact 5": False,
    "etcdctl endpoint health; etcd --auto-compaction-retention=0": False,
    "etcdctl compact-all": False,
    "etcdctl compacted": False,
}


def evaluate(expression: str) -> Any:
    """The value of an expression over the policies and their data."""
    data = [word for source in SOURCES for word in ("--data", source)]
    command = [tool("opa"), "eval", "--format", "json", *data, expression]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=REPOSITORY)
    return json.loads(done.stdout)["result"][0]["expressions"][0]["value"]


def test_patterns_and_names() -> None:
    rules = [
        "settings.detect._member_group",
        "settings.other_roles._release_names",
        "formats.command_line._script_follows",
        "formats.container._library",
        "rules.compaction.off._compacts",
    ]
    assert evaluate(f"[{', '.join(f'data.headroom.{rule}' for rule in rules)}]") == [
        MEMBER_GROUP,
        list(RELEASE_NAMES),
        SCRIPT_FOLLOWS.pattern,
        LIBRARY.pattern,
        COMPACTS.pattern,
    ]


def test_clients_that_compact() -> None:
    """Python's and Go's regular expressions differ, so equal patterns alone do not prove it."""
    pattern = "data.headroom.rules.compaction.off._compacts"
    in_rego = evaluate(f"[regex.match({pattern}, text) | some text in {json.dumps(list(COMMANDS))}]")
    assert in_rego == [bool(COMPACTS.search(text)) for text in COMMANDS] == list(COMMANDS.values())


def test_words_before_a_command() -> None:
    patterns = {
        "runs": command_wrappers.RUNS,
        "wrapper": command_wrappers.WRAPPER,
        "before_user": command_wrappers.BEFORE_USER,
        "argument": command_wrappers.ARGUMENT,
        "before_value": command_wrappers.BEFORE_VALUE,
        "follows": command_wrappers.FOLLOWS,
        "separator": command_wrappers.SEPARATOR,
        "opens": command_wrappers.OPENS,
        "closes": command_wrappers.CLOSES,
        "condition": command_wrappers.CONDITION,
    }
    rules = ", ".join(f"data.headroom.formats.command_line._{name}" for name in patterns)
    assert evaluate(f"[{rules}]") == [pattern.pattern for pattern in patterns.values()]


def test_roles() -> None:
    """The variables by which the reader leaves a file to the policies are those by which they recognize a role."""
    formats = [
        f"data.headroom.settings.detect._format({{{_set(groups)}}}, {{{_set(names)}}}, set())"
        for groups, names, _format in ROLES
    ]
    assert evaluate(f"[{', '.join(formats)}]".replace("{}", "set()")) == [
        expected for _groups, _names, expected in ROLES
    ]
    for _groups, names, expected in ROLES:
        assert all(OF_KNOWN_ROLES.match(name) for name in names) is (expected != "unrecognised"), names


def test_variables_of_a_server() -> None:
    """The data directory and the config file are the reader's alone: a file that conftest reads may be a client's."""
    found = evaluate(
        f"[name | some name in {json.dumps(VARIABLES)}; data.headroom.releases.spelling.is_server_variable(name)]"
    )
    assert found == [name for name in VARIABLES if SERVER_VARIABLE.match(name)]


def _set(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
