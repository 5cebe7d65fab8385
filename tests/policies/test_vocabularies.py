# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other roles' inventories and files that configure etcd themselves, through conftest as users call it."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from .inventories import Files, write
from .tools import REPOSITORY, tool

EXAMPLES = REPOSITORY / "policies" / "examples"

# Example → rule → what its line must name: the variable as its author wrote it, and whose default it is.
EXPECTED: dict[str, dict[str, str]] = {
    "kubespray/inventory": {
        "memory/snapshot_count": "100,000 (kubespray's default etcd_snapshot_count)",
        "memory/limit_below_estimate": "512.0 MiB (etcd_memory_limit)",
        "memory/quota_over_memory": "a quota of 8.0 GiB",
        "flags/wrong_type": 'etcd_quota_backend_bytes is "8G"',
        "flags/unknown_setting": 'etcd_extra_vars["ETCD_SNAPSHOT_COUNTER"]',
        "version/data_corruption": "node1, node2, node3: etcd 3.5.21",
    },
    "autobase/inventory": {
        "topology/election_ratio": "5000 ms (autobase's fixed ETCD_ELECTION_TIMEOUT)",
        "topology/even_members": "10.128.64.140, 10.128.64.142: cluster",
        "security/client_cert_auth": "client-cert-auth is false (etcd_client_cert_auth)",
        "version/data_corruption": "etcd 3.5.11",
    },
    "githubixx/inventory": {
        "memory/snapshot_count": """(githubixx.etcd's default etcd_settings["snapshot-count"])""",
        "flags/wrong_type": 'etcd_settings_user["quota-backend-bytes"] is "8G"',
        "flags/unknown_setting": 'no setting "enable-v2" (etcd_settings_user["enable-v2"]): etcd exits',
        "version/data_corruption": "k8s-0101, k8s-0102, k8s-0103: etcd 3.6.2",
    },
    "environment/inventory": {
        "compaction/off": 'etcd_environment["ETCD_AUTO_COMPACTION_RETENTION"] is 0',
        "memory/snapshot_count": '100,000 (etcd_environment["ETCD_SNAPSHOT_COUNT"])',
        "flags/unknown_setting": '"ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK"',
    },
    "files/etcd.yaml": {
        "memory/snapshot_count": "etcd.yaml: etcd: snapshot-count is 100,000 (--snapshot-count)",
        "flags/wrong_type": '--quota-backend-bytes is "8Gi"',
        "version/data_corruption": "etcd 3.5.15",
    },
    "files/milvus-compose.yml": {
        "memory/snapshot_count": "milvus-compose.yml: etcd: snapshot-count is 50,000 (ETCD_SNAPSHOT_COUNT)",
        "security/plain_http": "http://0.0.0.0:2379 is plain HTTP, and open to other hosts (--listen-client-urls)",
        "version/data_corruption": "etcd 3.5.18",
    },
    "files/apisix-compose.yml": {
        "inventory/unknown_value": 'the version is unknown (the image "bitnami/etcd:latest" names no release)',
        "compaction/off": "auto-compaction-retention is not set",
    },
    "files/etcd.conf.yml": {
        "inventory/unknown_value": "the version is unknown (this file does not state it)",
        "flags/wrong_type": 'quota-backend-bytes is "8G", but etcd expects a whole number: that is 8589934592',
        "flags/unknown_setting": '"snapshot-counter"',
    },
    "files/etcd.env": {
        "compaction/off": "ETCD_AUTO_COMPACTION_RETENTION is 0",
        "memory/quota_unlimited": "ETCD_QUOTA_BACKEND_BYTES is -1",
        "topology/election_ratio": "5000 ms (ETCD_ELECTION_TIMEOUT)",
    },
}
# What must not be said: an API server compacts kubeadm's etcd, and one static pod is not a cluster of one.
SILENT: dict[str, set[str]] = {
    "kubespray/inventory": {"compaction/off", "memory/quota_unset", "defragmentation/missing", "durability/no_backup"},
    "githubixx/inventory": {"compaction/off", "defragmentation/missing"},
    "files/etcd.yaml": {"compaction/off", "topology/single_member", "memory/quota_unset", "defragmentation/missing"},
    "files/milvus-compose.yml": {"compaction/off", "memory/quota_unset", "inventory/unknown_value"},
    "files/etcd.env": {"topology/single_member", "memory/quota_unset"},
}


def lint(*paths: Path, arguments: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The findings of `conftest test PATH…`: msg, loc, and metadata with the rule's id as `code`."""
    command = [tool("conftest"), "test", "--output", "json", *map(str, paths), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY)
    if not done.stdout:
        raise AssertionError(done.stderr)
    results = json.loads(done.stdout)
    return [entry for result in results for level in ("warnings", "failures") for entry in result.get(level, [])]


def by_rule(findings: list[dict[str, Any]]) -> dict[str, str]:
    """Rule → its lines."""
    found: dict[str, str] = {}
    for finding in findings:
        code = finding["metadata"]["code"]
        found[code] = found.get(code, "") + finding["msg"] + "\n"
    return found


def test_every_example_is_listed() -> None:
    there = {f"files/{path.name}" for path in (EXAMPLES / "files").iterdir()}
    there |= {f"{path.parent.name}/inventory" for path in EXAMPLES.glob("*/inventory")}
    assert there == set(EXPECTED)


@pytest.mark.parametrize("example", EXPECTED)
def test_example(example: str) -> None:
    found = by_rule(lint(EXAMPLES / example))
    for rule, text in EXPECTED[example].items():
        assert text in found.get(rule, ""), found
    assert not SILENT.get(example, set()) & set(found)


def test_file_is_named() -> None:
    path = EXAMPLES / "files" / "etcd.yaml"
    for finding in lint(path):
        # conftest hands no lines over, so the file's first one stands for all of it.
        assert finding["loc"] == {"file": str(path), "line": 1}


def test_inventory_beside_files(tmp_path: Path) -> None:
    """Files in the same folder do not belong to the inventory, nor it to them."""
    write(
        tmp_path,
        {
            "hosts.yml": "etcd: {hosts: {n1: {}, n2: {}, n3: {}}}\n",
            "group_vars/etcd.yml": "etcd_version: 3.5.2\netcd_maintenance_defrag_enabled: true\n",
            "docker-compose.yml": (EXAMPLES / "files" / "milvus-compose.yml").read_text(encoding="utf-8"),
            "manifests/etcd.yaml": (EXAMPLES / "files" / "etcd.yaml").read_text(encoding="utf-8"),
        },
    )
    lines = by_rule(lint(tmp_path))["version/data_corruption"]
    assert f"{tmp_path}: n1, n2, n3: etcd 3.5.2" in lines
    assert "docker-compose.yml: etcd: etcd 3.5.18" in lines
    assert "etcd.yaml: etcd: etcd 3.5.15" in lines
    assert not {"inventory/refused_file", "inventory/unread_file"} & set(by_rule(lint(tmp_path)))


def test_what_files_cannot_say(tmp_path: Path) -> None:
    """The release, a budget and a workload come from --data, for the files that say nothing of them."""
    assumed = {"etcd_version": "3.7.3", "etcd_memory_budget": "512MB", "etcd_workload": {"value_size": "100KB"}}
    data = tmp_path / "assumed.yml"
    data.write_text(yaml.dump({"headroom": {"assumed": assumed}}), encoding="utf-8")
    arguments = ("--data", "policies/data", "--data", str(data))
    found = by_rule(lint(EXAMPLES / "files" / "etcd.conf.yml", arguments=arguments))
    assert "etcd 3.7.3 has no setting" in found["flags/unknown_setting"]
    assert "assumed.etcd_memory_budget" in found["memory/limit_below_estimate"]
    assert "inventory/unknown_value" not in found
    # What a file says itself counts more.
    stated = by_rule(lint(EXAMPLES / "files" / "etcd.yaml", arguments=arguments))
    assert "etcd 3.5.15" in stated["version/data_corruption"]
    assert "resources.limits.memory" in stated["memory/gomemlimit_unset"]


HOSTILE: list[Any] = [None, True, -1, 1.5, "", "${X}", "etcd", "9" * 400, [], [None, [1]], {}, {"etcd": {"a": None}}]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each (container, key) within a document."""
    pairs = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [place for key, item in pairs for place in [(value, key), *places(item)]]


def test_hostile_files(tmp_path: Path) -> None:
    """Any value may have any type: no file ends the run, and each skipped file is reported."""
    chance = random.Random(4)
    documents = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (EXAMPLES / "files").glob("*.y*ml")]
    documents.append({"ETCD_SNAPSHOT_COUNT": "5", "ETCD_NAME": "n1"})
    for number in range(200):
        document = copy.deepcopy(documents[number % len(documents)])
        for _ in range(chance.randint(1, 4)):
            where = places(document)
            if where:
                container, key = chance.choice(where)
                container[key] = copy.deepcopy(chance.choice(HOSTILE))
        (tmp_path / f"{number}.json").write_text(json.dumps(document), encoding="utf-8")
    began = time.monotonic()
    found = lint(tmp_path)
    assert time.monotonic() - began < 60
    named = {finding["msg"].split(": ")[1] for finding in found}
    assert len(named) > 100


@pytest.mark.parametrize("page", ["README.md", "docs/lint.md"])
def test_documentation_shows_what_is_printed(page: str, tmp_path: Path) -> None:
    path = tmp_path / "docker-compose.yml"
    path.write_bytes((EXAMPLES / "files" / "milvus-compose.yml").read_bytes())
    text = " ".join((REPOSITORY / page).read_text(encoding="utf-8").split())
    printed = {finding["msg"].replace(str(path), path.name) for finding in lint(path)}
    assert len(printed) == 6
    assert len({line for line in printed if f" - Combined - headroom - {line} " in text}) == 2


# Inventories of something else: nobody's defaults may be claimed of them.
OTHERS: dict[str, Files] = {
    "another role": {
        "hosts.yml": "etcd: {hosts: {n1: {}, n2: {}, n3: {}}}\n",
        "group_vars/etcd.yml": "etcd_conf_dir: /etc/etcd\netcd_use_ssl: true\n",
    },
    "kubespray's group_vars without its hosts": {
        "hosts.yml": "etcd: {hosts: {}}\n",
        "group_vars/all.yml": "etcd_deployment_type: host\nkube_network_plugin: calico\n",
    },
}


@pytest.mark.parametrize("name", OTHERS)
def test_not_misread(name: str, tmp_path: Path) -> None:
    write(tmp_path / "inventory", OTHERS[name])
    found = by_rule(lint(tmp_path / "inventory"))
    assert not {"compaction/off", "memory/quota_unset", "memory/snapshot_count", "defragmentation/missing"} & set(
        found
    ), found
    if name == "another role":
        assert "the rest of the settings is unknown" in found["inventory/unknown_value"]
        assert found["inventory/unknown_value"].count("\n") == 1


def test_variables_of_the_roles_are_known() -> None:
    """An inventory with variables of the public roles has Headroom's format."""
    variables: set[str] = set()
    public = [path for path in REPOSITORY.glob("roles/*/meta/argument_specs.yml") if path.parts[-3] != "etcd_host"]
    for path in public:
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"].values():
            variables |= set(entry.get("options", {}))
    hosts = [{"path": "i/hosts.yml", "contents": {"etcd": {"hosts": {"n1": dict.fromkeys(variables, 1)}}}}]
    query = '{name | some name in data.headroom.settings.detect.unrecognised["i"]} with input as ' + json.dumps(hosts)
    # Without these two, which alone tell that an inventory is Headroom's.
    query = query.replace('"etcd_workload": 1, ', "").replace('"etcd_memory_budget": 1, ', "")
    command = [tool("opa"), "eval", "--format", "json", "-d", "policies/lib", "-d", "policies/data", query]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd=REPOSITORY)
    assert json.loads(done.stdout)["result"][0]["expressions"][0]["value"] == []
