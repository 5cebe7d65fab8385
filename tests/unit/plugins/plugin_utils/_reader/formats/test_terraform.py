# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Terraform, Packer and Nomad: here-documents, provisioners, containers and releases of a chart."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats import hcl
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

IMAGE = "quay.io/coreos/etcd:v3.5.9"
FLAGS = "--data-dir=/data --max-wals=3"


def contents(text: str) -> list[Any]:
    """What is read of a file of Terraform."""
    return [entry["contents"] for entry in read({"main.tf": text}).document["files"]]


def commands(text: str) -> list[list[str]]:
    """The command lines of the members."""
    return [found["headroom_member"]["command"] for found in contents(text)]


@pytest.mark.parametrize(
    "text",
    [
        f'resource "a" "b" {{\n  user_data = <<-EOF\n    #!/bin/bash\n    etcd {FLAGS} &\n  EOF\n}}\n',
        f"locals {{\n  unit = <<EOF\n[Service]\nExecStart=/usr/bin/etcd {FLAGS}\nEOF\n}}\n",
        f'provisioner "remote-exec" {{\n  inline = [\n    "mkdir /data",\n    "nohup etcd {FLAGS} &",\n  ]\n}}\n',
        f'provisioner "local-exec" {{ command = "docker run {IMAGE} etcd {FLAGS}" }}\n',
        f'resource "docker_container" "a" {{\n  image = "{IMAGE}"\n  command = ["etcd", "--data-dir=/data", "--max-wals=3"]\n}}\n',
        f'task "a" {{\n  config {{\n    image = "{IMAGE}"\n    command = "etcd {FLAGS}"\n  }}\n}}\n',
    ],
)
def test_member(text: str) -> None:
    assert commands(text) == [["etcd", "--data-dir=/data", "--max-wals=3"]]


@pytest.mark.parametrize(
    "text",
    [
        f'variable "a" {{\n  description = "such as etcd {FLAGS}"\n  default = "3.4.9"\n}}\n',
        "# user_data = <<EOF\n# etcd --max-wals 3 &\n# EOF\n",
        'provisioner "remote-exec" {\n  inline = ["kube-apiserver --etcd-servers=http://a:2379", "etcdctl member list"]\n}\n',
        f'container {{\n  image = "{IMAGE}"\n  command = ["sh", "-c", "etcdctl snapshot save /a"]\n}}\n',
        'resource "machine" "a" { image = "etcd" }\n',
    ],
)
def test_no_member(text: str) -> None:
    assert contents(text) == []


def test_release_in_a_variable() -> None:
    variable = 'variable "etcd_version" { default = "3.4.9" }\n'
    unit = f"locals {{\n  unit = <<EOF\n[Service]\nExecStart=/opt/etcd-v${{var.etcd_version}}/etcd {FLAGS}\nEOF\n}}\n"
    [found] = contents(variable + unit)
    assert found["headroom_member"]["release"] == "3.4.9"
    # Another file may set the variable.
    [same] = read({"main.tf": variable + unit, "terraform.tfvars": 'etcd_version = "3.5.9"\n'}).document["files"]
    assert same["contents"]["headroom_member"]["release"] is None


MODULE = """variable "version" {
  default = "v3.3.9"
}
resource "null_resource" "etcd" {
  provisioner "remote-exec" {
    inline = ["systemctl restart etcd.service"]
  }
}
"""


def test_release_in_a_module_of_etcd_alone() -> None:
    [found] = contents(MODULE)
    assert found["headroom_member"]["release"] == "3.3.9"
    assert found["headroom_member"]["where"]["etcd_version"] == ["main.tf", 2]


@pytest.mark.parametrize(
    "text",
    [
        MODULE.replace("etcd.service", "store.service"),
        MODULE.replace('"version"', '"image_version"'),
        MODULE.replace("v3.3.9", "latest"),
        MODULE.replace("v3.3.9", "0.1.0"),
        MODULE + 'resource "null_resource" "kubelet" {}\n',
        MODULE + 'resource "a" "b" {\n  units = ["docker.service", 5]\n}\n',
        MODULE.replace('  default = "v3.3.9"\n', ""),
    ],
)
def test_version_of_something_else(text: str) -> None:
    assert contents(text) == []


def test_arguments_of_an_expression() -> None:
    [found] = contents(f'config {{\n  image = "{IMAGE}"\n  command = "etcd"\n  args = concat(var.a, ["b"])\n}}\n')
    assert list(found["headroom_member"]["unknown"]) == [hcl.PLACEHOLDER]


def test_line_of_a_command() -> None:
    text = f'provisioner "remote-exec" {{\n  inline = [\n    "mkdir /data",\n    "etcd {FLAGS}",\n  ]\n}}\n'
    assert contents(text)[0]["headroom_member"]["where"]["--max-wals"] == ["main.tf", 4]


def test_variables_of_a_container() -> None:
    text = f'container {{\n  image = "{IMAGE}"\n  env {{\n    name = "ETCD_MAX_WALS"\n    value = 3\n  }}\n}}\n'
    assert contents(text)[0]["headroom_member"]["environment"] == {"ETCD_MAX_WALS": "3"}
    text = f'container {{\n  image = "{IMAGE}"\n  env = {{ ETCD_MAX_WALS = "3", A = var.a }}\n}}\n'
    assert contents(text)[0]["headroom_member"]["environment"] == {"ETCD_MAX_WALS": "3"}


CHART = (
    'resource "helm_release" "a" {{\n  name = "a"\n  repository = "https://charts.bitnami.com/bitnami"\n  chart = "etcd"\n{values}\n'
    '  set {{\n    name = "replicaCount"\n    value = "2"\n  }}\n  set {{\n    name = "auth.rbac.create"\n    value = "false"\n  }}\n}}\n'
)


def test_chart() -> None:
    [found] = contents(CHART.format(values="  values = [<<EOF\nimage:\n  tag: 3.5.9\nEOF\n  ]"))
    assert found["spec"]["values"] == {
        "image": {"tag": "3.5.9"},
        "replicaCount": 2,
        "auth": {"rbac": {"create": False}},
    }
    assert contents(CHART.format(values='  values = [file("values.yaml")]')) == []
    assert contents(CHART.format(values="").replace('"etcd"', '"redis"')) == []


def test_expressions() -> None:
    text = 'a = "x ${join(",", var.b)}" /* c */\nb = [1, true, f(2), { c = "d" }]\ne = var.f ? "g" : "h"\ni "j" "k" { l = "m\\n" }\n'
    root = hcl.parse(lines_of("main.tf", text))
    assert {name: value for name, (value, _line) in root.attributes.items()} == {
        "a": 'x ${join(",", var.b)}',
        "b": [1, True, hcl.PLACEHOLDER, {"c": "d"}],
        "e": hcl.PLACEHOLDER,
    }
    assert [(block.type, block.labels, block.value("l")) for block in root.blocks] == [("i", ("j", "k"), "m\n")]
    assert hcl.parse(lines_of("main.tf", "a {" * 200)).blocks


@pytest.mark.parametrize(
    ("text", "release"),
    [
        (
            'locals {\n  images = {\n    dns = "a/dns:v1.9.0"\n    etcd = "quay.io/coreos/etcd:v3.1.8"\n  }\n}\n',
            "3.1.8",
        ),
        ('variable "etcd_image" {\n  default = "r:5000/etcd:3.4.3-0"\n}\n', "3.4.3"),
        ('locals {\n  etcd_image = "a/etcd:v3.4.3"\n  etcd_version = "3.5.1"\n}\n', None),
        # A job with the image, such as one for backups.
        ('locals {\n  backup = "quay.io/coreos/etcd:v3.1.8"\n}\n', None),
    ],
)
def test_release_of_an_image(text: str, release: str | None) -> None:
    found = [entry["headroom_member"]["release"] for entry in contents(text)]
    assert found == ([release] if release else [])


NOMAD = f"""task "a" {{
  config {{
    image = "{IMAGE}"
    args  = ["--data-dir=/data"]
  }}
  env {{
    ETCD_QUOTA_BACKEND_BYTES = "5"
  }}
  resources {{
    memory = 512
  }}
}}
"""
BY_RESOURCE = """resource "docker_container" "a" {
  image = docker_image.etcd.image_id
  command = ["etcd", "--max-wals=3"]
  env = ["ETCD_NAME=a"]
  memory = 256
}
"""
PULLED = f'resource "docker_image" "etcd" {{ name = "{IMAGE}" }}\n'


def test_a_task_of_nomad() -> None:
    [found] = [entry["headroom_member"] for entry in contents(NOMAD)]
    assert found["environment"] == {"ETCD_QUOTA_BACKEND_BYTES": "5"} and found["limit"]["size"] == "512m"


@pytest.mark.parametrize(
    ("resources", "config", "limit"),
    [
        ("memory_max = 4096", "", "4096m"),
        ("memory_max = 0", "", "512m"),
        # Unlimited in newer releases of Nomad.
        ("memory_max = -1", "", None),
        ("memory_max = var.most", "", None),
        ("", "memory_hard_limit = 1024", "1024m"),
        ("memory_max = 4096", "memory_hard_limit = 1024", "4096m"),
        ("memory_max = 4096", "memory_hard_limit = var.most", None),
    ],
)
def test_hard_memory_limit_of_a_task(resources: str, config: str, limit: str | None) -> None:
    text = NOMAD.replace("memory = 512", f"memory = 512\n    {resources}").replace(
        "config {", f"config {{\n    {config}"
    )
    [found] = [entry["headroom_member"]["limit"] for entry in contents(text)]
    assert (found and found["size"]) == limit


@pytest.mark.parametrize(
    ("text", "image"),
    [(PULLED + BY_RESOURCE, IMAGE), (BY_RESOURCE, None), (BY_RESOURCE.replace("image_id", 'name ? "a" : "b"'), None)],
)
def test_an_image_that_is_another_resource(text: str, image: str | None) -> None:
    [found] = [entry["headroom_member"] for entry in contents(text)]
    assert (found["image"], found["environment"], found["limit"]["size"]) == (image, {"ETCD_NAME": "a"}, "256m")
    assert contents(text.replace('"etcd", "--max', '"web", "--max')) == []
