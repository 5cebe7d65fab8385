# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read as much of broken YAML as is certain."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import documents_of

URLS = "--listen-client-urls http://0.0.0.0:2379"

IMAGE = "quay.io/coreos/etcd:v3.5.9"

SERVICE = {"image": IMAGE, "command": "etcd --max-wals 3"}

GOOD = f"services:\n  etcd:\n    image: {IMAGE}\n    command: etcd --max-wals 3\n"

POD = f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: etcd\nspec:\n  containers:\n  - image: {IMAGE}\n"


def contents(text: str) -> list[Any]:
    """The documents in a file that is not YAML, for which there is a warning."""
    document = read({"a.yml": text}).document
    assert list(document["unparsed"]) == ["a.yml"]
    return [entry["contents"] for entry in document["files"]]


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("    image", "\timage"),
        GOOD.replace("    ", "\t\t").replace("  etcd:", "\tetcd:"),
        GOOD.replace("command: etcd", 'command: "etcd"'),
        f"```yaml\n{GOOD}```\n",
        f"~/bin$ cat cluster.yml\n{GOOD}",
    ],
)
def test_repaired(text: str) -> None:
    [document] = contents(text)
    assert document["services"]["etcd"] in (SERVICE, {**SERVICE, "command": '"etcd" --max-wals 3'})


@pytest.mark.parametrize("value", ["@home", "%level%", "a: b: c", "'a' b", "`a`"])
def test_value_without_quotes(value: str) -> None:
    [document] = contents(f"{GOOD}    hostname: {value}\n")
    assert document["services"]["etcd"] == {**SERVICE, "hostname": value}


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        # A tab, for which Ansible refuses an inventory.
        ("hosts.yml", "etcd:\n  hosts:\n    n1:\n\t# spare\n    n2:\n", 4),
        ("hosts.yml", "all:\n  children:\n    etcd:\n      hosts:\n\t# spare\n        n1:\n", 5),
        ("group_vars/etcd.yml", "etcd_version: 3.6.16\nworkload:\n\tkeys: 100\n", 3),
        ("group_vars/all.yml", "# of etcd\nversion: 3.6.16\nnote: a: b\n", 3),
        ("vars.yml", "etcd_version: 3.6.16\nnote: a: b\n", 2),
        # Nothing of it is known.
        ("vars.yml", "etcd_version: 3.6.16\nnote: [\n", 3),
    ],
)
def test_warning_about_variables_and_inventories(path: str, text: str, line: int) -> None:
    reading = read({path: text, "other.yml": "a: 1\n"})
    assert list(reading.document["unparsed"]) == [path]
    assert reading.document["unparsed"][path].startswith(f"line {line} is not valid YAML")


def test_no_warning_about_a_file_that_only_mentions_etcd() -> None:
    assert read({"a.yml": "# etcd\nnote: a: b\n"}).document["unparsed"] == {}


def test_conflict() -> None:
    text = (
        f"services:\n  etcd:\n<<<<<<< HEAD\n    image: {IMAGE}\n    command: etcd --max-wals 3 --name a\n    hostname: a\n=======\n"
        f"    image: {IMAGE}\n    command: etcd --max-wals 3 --name b\n>>>>>>> other\n    restart: always\n"
    )
    [document] = contents(text)
    assert document["services"]["etcd"] == {
        "image": IMAGE,
        "command": "etcd --max-wals 3 --name {{condition}}",
        "hostname": "{{condition}}",
        "restart": "always",
    }


def test_broken_document() -> None:
    text = f"{POD}---\na: b\n c: d\n---\nkind: Service\n"
    assert [document["kind"] for document in contents(text)] == ["Pod", "Service"]
    assert "the document from line 8 on was left out" in read({"a.yml": text}).document["unparsed"]["a.yml"]


def test_broken_service() -> None:
    broken = "  web:\n    image: nginx\n   ports: [80]\n"
    [document] = contents(GOOD.replace("services:\n", f"services:\n{broken}") + "volumes:\n  a: {}\n")
    assert document == {"services": {"etcd": SERVICE}, "volumes": {"a": {}}}


@pytest.mark.parametrize(
    "text",
    [
        # Each width means another list.
        f"{POD}    command:\n    - etcd\n\t- --max-wals=3\n",
        # The settings of the member itself are broken.
        "services:\n  etcd:\n    environment:\n      - ETCD_NAME=a\n      ETCD_INITIAL_CLUSTER: a=http://a:2380\n",
        "name: 'a\nlisten-client-urls: http://a:2379\ninitial-cluster: a=http://a:2380\n",
        GOOD + "    - a\n" + "#\n" * 4000,
    ],
)
def test_uncertain(text: str) -> None:
    reading = read({"a.yml": text})
    assert reading.document["files"] == []
    assert reading.document["unparsed"] or reading.passed_over


def test_several_files_in_one() -> None:
    text = f"docker-compose.yml:\n\n{GOOD}\nprometheus.yml:\n\na: b\n- c\n"
    assert [entry["contents"]["services"] for entry in read({"a.yml": text}).document["files"]] == [{"etcd": SERVICE}]


def test_commands_with_a_manifest() -> None:
    text = f"# deploy\nkubectl apply -f - <<EOF\n{POD}EOF\nkubectl: get\n"
    assert [entry["contents"]["kind"] for entry in read({"a.yml": text}).document["files"]] == ["Pod"]


NOTES = "  \n  1, install etcd\n  https://example.org/etcd\n\n  https://example.org/kubeadm\n"

EXTERNAL = (
    "apiVersion: kubeadm.k8s.io/v1alpha1\nkind: MasterConfiguration\netcd:\n  endpoints:\n  - http://10.0.0.1:2379\n"
)


def test_notes_at_the_end() -> None:
    [document] = contents(EXTERNAL + NOTES)
    assert document["etcd"] == {"endpoints": ["http://10.0.0.1:2379"]}
    # Settings may follow the notes.
    assert not read({"a.yml": EXTERNAL + NOTES + "  key: value\n"}).document["files"]


COMPOSE = "services:\n  etcd:\n    image: etcd:v3.2.9\n"


def test_a_compose_file_before_notes() -> None:
    reading = read({"c.yml": f"{COMPOSE}\netcd --name a {URLS} \\\n--data-dir: x\n"})
    assert documents_of(reading) == [{"services": {"etcd": {"image": "etcd:v3.2.9"}}}]
    assert reading.document["unparsed"] == {"c.yml": "line 5 is not YAML; only the lines before it were checked"}


def test_a_config_file_before_a_command() -> None:
    settings = {"listen-peer-urls": "http://10.0.0.5:2380", "listen-client-urls": "http://10.0.0.5:2379"}
    text = "".join(f"{name}: {value}\n" for name, value in settings.items())
    reading = read({"etcd.yml": f"{text}\nTOKEN=$(curl -s x)\n"})
    assert documents_of(reading) == [settings]
    assert reading.document["unparsed"] == {"etcd.yml": "line 4 is not YAML; only the lines before it were checked"}


@pytest.mark.parametrize(
    "text",
    [
        f"etcd --name a {URLS}\n{COMPOSE}",  # nothing before the notes
        f"name: a\n\netcd --name a {URLS} \\\nb: [\n",  # no Compose file
        f"{COMPOSE}    command: [\n\netcd --name a {URLS} \\\n",  # broken before the notes
    ],
)
def test_other_files_that_are_not_yaml(text: str) -> None:
    reading = read({"c.yml": text})
    assert documents_of(reading) == [] and "c.yml" in reading.document["unparsed"]
