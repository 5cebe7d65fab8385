# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that roles, pillars and tasks keep in variables with names of their own."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import jinja
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.role_variables import settings_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import members_in

LOOP = "{% for h in groups.etcd %}{{ h }}=http://{{ h }}:2380{% if not loop.last %},{% endif %}{% endfor %}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("http://{{ ip }}:2379", "http://{{ip}}:2379"),
        ("{{ scheme }}://0.0.0.0:{{ ports.client }}", "https://0.0.0.0:2379"),
        ("{{ scheme | lower }}://{{ a | default(b, true) }}:1", "https://{{a_default_b_true}}:1"),
        ("{% if x %}http://a:1{% else %}http://b:1{% endif %}", "http://a:1"),
        ("{% if x %}http{% else %}https{% endif %}://a:1", None),
        (LOOP, "{{h}}=http://{{h}}:2380"),
        (
            "{{ a | map('regex_replace', '^(.*)$', '\\1=http://\\1:2380') | join(',') }}",
            "{{member}}=http://{{host}}:2380",
        ),
        ("{{ a | map('regex_replace', '^', 'https://') | join }}", "https://{{host}}:{{port}}"),
        ("{{ 'https://a:1' if tls else 'http://a:1' }}", None),
        ("{{ 'http://' if x else y }}", None),
        ("{{ other }}", None),
        ("{{ endless }}", None),
        ("{{ growing }}", None),
    ],
)
def test_what_is_certain_of_a_template(text: str, value: str | None) -> None:
    variables = {
        "scheme": "https",
        "ports": {"client": 2379},
        "endless": "{{ endless }}",
        "growing": "{{ growing }}" * 9,
        "flag": True,
        "list": [],
    }
    found = jinja.certain(text, jinja.constants(variables))
    assert (found.value if found else None) == value


@pytest.mark.parametrize(
    ("variables", "settings"),
    [
        ({"etcd_listen_client_urls": "http://a:1"}, {"ETCD_LISTEN_CLIENT_URLS": "http://a:1"}),
        (
            {"k8s_etcd_client_listen_urls": ["http://a:1", "http://b:1"]},
            {"ETCD_LISTEN_CLIENT_URLS": "http://a:1,http://b:1"},
        ),
        ({"etcd::listen_peer_urls": "https://a:1"}, {"ETCD_LISTEN_PEER_URLS": "https://a:1"}),
        (
            {"etcd_listen_client_urls": {"dev": "http://a:1", "prod": "https://b:1"}},
            {"ETCD_LISTEN_CLIENT_URLS": "http://a:1,https://b:1"},
        ),
        (
            {"etcd_initial_cluster": {"dev": "a=http://a:1", "prod": "b=http://b:1"}},
            {"ETCD_INITIAL_CLUSTER": "a=http://a:1,b=http://b:1"},
        ),
        ({"kv_listen_client_urls": "http://a:1"}, {"ETCD_LISTEN_CLIENT_URLS": "http://a:1"}),
        ({"kv_listen_client_url": "http://a:1"}, {}),
        (
            {"NODES": "a=http://a:2380,b={{ s }}://b:2380", "s": "https"},
            {"ETCD_INITIAL_CLUSTER": "a=http://a:2380,b=https://b:2380"},
        ),
        (
            {"nodes": ["a=http://a:2380", "b=http://b:2380"]},
            {"ETCD_INITIAL_CLUSTER": "a=http://a:2380,b=http://b:2380"},
        ),
        ({"nodes": ["http://a:2380"]}, {}),
        ({"nodes": "a=http://a:2380,b=http://b:2379"}, {}),
        ({"etcd_initial_cluster": ""}, {}),
        ({"etcd_initial_cluster": "{{ others }}"}, {}),
        ({"etcd_initial_cluster": "a.example.com"}, {}),
        ({"etcd_cluster_urls": LOOP}, {"ETCD_INITIAL_CLUSTER": "{{h}}=http://{{h}}:2380"}),
        ({"etcd_metrics_url": "http://0.0.0.0:2381"}, {"ETCD_LISTEN_METRICS_URLS": "http://0.0.0.0:2381"}),
        # A client may use it.
        ({"etcd_metrics_url": "http://etcd:2381"}, {}),
        ({"etcd_listen_client_urls": 5}, {}),
        ({"etcd_endpoints_urls": "http://a:1"}, {}),
        ({"etcd_quota_backend_bytes": "8G", "etcd_snapshot_count": True}, {}),
        (
            {"etcd_auto_compaction_retention": 8, "etcd_heartbeat_interval": "250"},
            {"ETCD_AUTO_COMPACTION_RETENTION": "8", "ETCD_HEARTBEAT_INTERVAL": "250"},
        ),
        ({"etcd_auto_compaction_retention": 1000}, {}),
        ({"etcd_auto_compaction_retention": 8, "etcd_auto_compaction_mode": "{{ mode }}"}, {}),
        (
            {"etcd": {"service": {"initial_cluster": "a=https://a:1", "listen-peer-urls": "http://a:1"}}},
            {"ETCD_INITIAL_CLUSTER": "a=https://a:1"},
        ),
        # The policies read this one.
        ({"etcd": {"listen_client_urls": "http://a:1"}}, {}),
        ({"other": {"listen_client_urls": "http://a:1"}}, {}),
    ],
)
def test_settings_in_variables(variables: dict[str, Any], settings: dict[str, str]) -> None:
    assert {found.spelling: found.value for found in settings_of(variables)} == settings


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("roles/etcd/defaults/main.yml", "etcd_listen_peer_urls: http://a:2380\n", 1),
        ("group_vars/all.yml", "etcd_listen_peer_urls: http://a:2380\n", 1),
        ("group_vars/all.yml", "etcd_listen_peer_urls: http://a:2380\netcd_seq: 1\n", 0),
        ("group_vars/prod", "etcd_version: 3.4.3\n", 1),
        ("group_vars/etcd_nodes.yml", "etcd_version: 3.4.3\n", 0),
        ("group_vars/all/etcd.yml", "etcd_ver: etcd_v3.4.3\n", 1),
        ("group_vars/etcd.yml", "url: a/etcd-{{ version }}-linux-amd64.tar.gz\nversion: v3.4.3\n", 1),
        ("group_vars/all.yml", "etcd:\n  version: 3.4.3\n", 0),
        ("group_vars/all.yml", "etcd_image: a/etcd:v3.4.3\n", 0),
        ("group_vars/prod.yml", "kube_version: 1.30.1\n", 0),
        ("tasks/main.yml", "- name: a\n  set_fact:\n    etcd_cluster_urls: a=http://a:2380\n", 1),
        ("etcd.play", "---\n- hosts: etcd\n  vars:\n    etcd_listen_peer_urls: http://a:2380\n  tasks: []\n", 1),
        ("pillar.example", "etcd:\n  service:\n    listen_peer_urls: http://a:2380\n", 1),
        ("pillar.example", "etcd:\n  a: b: c\n", 0),
        ("notes.example", "other:\n  a: b\n", 0),
    ],
)
def test_files_with_variables(path: str, text: str, count: int) -> None:
    document = read({path: text}).document
    found = [entry for entry in document["files"] if "headroom_member" in entry["contents"]]
    assert len(found) == count
    if found and "group_vars" in path:
        # Its variables are not judged twice.
        assert len(document["files"]) == 1


def test_the_positions_of_variables() -> None:
    text = "# a\netcd_initial_cluster: >-\n  " + LOOP + "\netcd_listen_peer_urls : http://a:2380\n"
    [member] = members_in("main.yml", text)
    assert [entry["name"] for entry in member["given"]] == ["etcd_initial_cluster", "etcd_listen_peer_urls"]
    assert member["where"]["etcd_listen_peer_urls"] == ["main.yml", 4]
    assert member["silent"] == ["extra_config", "initial_cluster"]


@pytest.mark.parametrize("program", ["/usr/local/bin/etcd", "etcd", "{{ etcd_folder }}/etcd"])
def test_a_command_in_a_variable(program: str) -> None:
    text = f'etcd_cmd: "{program} --name a --listen-client-urls http://{{{{ ip }}}}:2379"\n'
    [entry] = read({"roles/etcd/vars/main.yml": text}).document["files"][1:]
    member = entry["contents"]["headroom_member"]
    assert member["command"] == ["etcd", "--name", "a", "--listen-client-urls", "http://{{ip}}:2379"]
    assert member["silent"] == ["extra_config"]


def test_a_config_file_in_a_variable() -> None:
    text = "etcd_config:\n  listen-peer-urls: http://a:2380\n  initial-cluster-state: new\n  peer-transport-security: {cert-file: a}\n"
    [member] = members_in("main.yml", text)
    assert member["config"]["peer-transport-security"] == {"cert-file": "a"} and member["command"] == ["etcd"]


@pytest.mark.parametrize(
    ("path", "text", "releases"),
    [
        ("main.yml", "ectd_version: 3.3.8\n", ["3.3.8"]),
        ("main.yml", "etcd_version : v3.3.8\n", ["3.3.8"]),
        ("main.yml", "etcd_version: \"{{ version | default('3.3.8') }}\"\n", ["3.3.8"]),
        ("main.yml", "ETCD_VER: v3.1.0-rc.1\n", ["3.1.0"]),
        ("main.yml", "etcd_version: 2.2.5+dfsg-1\n", ["2.2.5"]),
        ("main.yml", "etcd_version: 3.5.16-4\n", ["3.5.16"]),
        ("main.yml", "app_etcd_images:\n  - docker.io/a/etcd:3.3.8-debian-12-r3\n", ["3.3.8"]),
        ("main.yml", "app_images:\n  - docker.io/a/etcd:3.3.8-debian-12-r3\n", []),
        ("main.yml", "base:\n  etcd:\n    version: 3.3.8\nurl: a/etcd-v{{ base.etcd.version }}.tar.gz\n", ["3.3.8"]),
        ("main.yml", "etcd:\n  url: https://github.com\n  version: 3.3.8\n", ["3.3.8"]),
        (
            "init.sls",
            "{% if x %}\n{% endif %}\netcd:\n  archive:\n    - source: a/etcd/releases/download/v3.3.8/a.tgz\n",
            ["3.3.8"],
        ),
        ("main.tf", 'variable "etcd_version" {\n  default = "v3.3.8"\n}\n', ["3.3.8"]),
        ("a.tfvars", 'etcd_version = "3.3.8"\nother = 1\n', ["3.3.8"]),
        ("main.tf", 'variable "etcd_version" {\n  type = string\n}\n', []),
        ("Vagrantfile", 'etcd_version = "3.3.8"\nVagrant.configure("2")\n', ["3.3.8"]),
    ],
)
def test_releases_in_variables(path: str, text: str, releases: list[str]) -> None:
    assert [member["release"] for member in members_in(path, text)] == releases


def test_the_release_in_the_name_of_an_archive() -> None:
    text = "[etcd]\na\n[etcd:vars]\nfile=etcd-3.3.8.tar.gz\n"
    [entry] = read({"hosts": text}).document["files"]
    assert entry["contents"]["all"]["vars"] == {"etcd_version": "3.3.8"}
    [same] = read({"hosts": text + "etcd_version=3.3.9\n"}).document["files"]
    assert "all" not in same["contents"]


def test_containers_in_the_expressions_of_terraform() -> None:
    container = '{ name = "e", image = var.image, command = ["etcd", "--listen-peer-urls=http://0.0.0.0:1"] }'
    text = f"locals {{\n  p = {{\n    containers = [\n      {container}\n    ]\n  }}\n}}\n"
    [member] = members_in("main.tf", text)
    assert member["command"] == ["etcd", "--listen-peer-urls=http://0.0.0.0:1"]
    assert member["silent"] == ["data_dir", "extra_config"]


def test_a_macro_is_no_setting() -> None:
    macro = "{% macro a() -%}\n{% for h in b -%}\n{{ h }}=http://{{ h }}:1\n{% endfor %}\n{% endmacro -%}\n"
    [entry] = read(
        {"etcd.yml.j2": macro + "name: a\nlisten-peer-urls: http://a:1\ninitial-cluster: '{{ a() }}'\n"}
    ).document["files"]
    assert set(entry["contents"]) == {"name", "listen-peer-urls", "initial-cluster"}
    [member] = members_in("etcd.service.j2", macro + "[Service]\nExecStart=/usr/bin/etcd --name a\n")
    assert member["command"] == ["etcd", "--name", "a"]
    line = "{% macro a() -%}\n{% for h in b -%}{{ h }}{%- endfor -%}\n{% endmacro -%}\n"
    [member] = members_in("etcd.service.j2", line + "[Service]\nExecStart=/usr/bin/etcd --name a\n")
    assert member["name"] == "a"


def test_a_service_whose_name_is_a_placeholder() -> None:
    text = "services:\n  {{ host }}:\n    image: quay.io/coreos/etcd:v3.3.8\n    command: {{ cmd }}\n"
    [entry] = read({"etcd.yml.j2": text}).document["files"]
    assert entry["contents"]["services"] == {"{{host}}": {"image": "quay.io/coreos/etcd:v3.3.8", "command": "{{cmd}}"}}


def test_commas_in_placeholders() -> None:
    unit = "[Service]\nEnvironment=ETCD_INITIAL_CLUSTER=a=https://{{ x | default(lookup('dig', y), true) }}:2380\nExecStart=/usr/bin/etcd\n"
    [member] = members_in("etcd.service.j2", unit)
    assert "," not in member["environment"]["ETCD_INITIAL_CLUSTER"]


NIX = """{{ config, lib, ... }}:
{{
  # services.etcd.name = "no";
  services.etcd = lib.mkIf cfg.enable {{
    enable = {enable};
    name = config.networking.hostName;
    listenClientUrls = [ "http://0.0.0.0:2379" "http://a\\"b:1" ];
    listenPeerUrls = lib.mkForce [ "http://${{ip}}:2380" ];
    initialCluster = map f nodes;
    initialAdvertisePeerUrls = [ "http://${{net.host.ip}}:2380" ];
    clientCertAuth = true;
    extraConf = {{ "AUTO_COMPACTION_RETENTION" = "1"; lower = "x"; }};
  }};
  services.etcd.dataDir = "/d";
  systemd.services.etcd = {{ wants = [ "a" ]; }};
}}
"""


@pytest.mark.parametrize(
    ("package", "release"),
    [("pkgs.etcd_3_4", "3.4"), ("pkgs.etcd", None), ("pkgs.callPackage ./etcd.nix { }", None)],
)
def test_package_of_nixos(package: str, release: str | None) -> None:
    text = f'{{ services.etcd = {{\n  package = {package};\n  listenPeerUrls = [ "http://a:2380" ];\n}}; }}\n'
    [member] = members_in("etcd.nix", text)
    assert member["release"] == release
    assert member["where"].get("etcd_version") == (["etcd.nix", 2] if release else None)


def test_options_of_nixos() -> None:
    reading = read({"etcd.nix": NIX.format(enable="true")})
    [member] = [entry["contents"]["headroom_member"] for entry in reading.document["files"]]
    assert {entry["name"]: entry["value"] for entry in member["given"]} == {
        "listenClientUrls": 'http://0.0.0.0:2379,http://a\\"b:1',
        "listenPeerUrls": "http://${ip}:2380",
        "initialAdvertisePeerUrls": "http://${net_host_ip}:2380",
        "clientCertAuth": "true",
        "dataDir": "/d",
        "extraConf.AUTO_COMPACTION_RETENTION": "1",
    }
    assert member["where"]["listenPeerUrls"] == ["etcd.nix", 8] and reading.document["unparsed"] == {}
    assert list(read({"etcd.nix": NIX.format(enable="false")}).document["unparsed"]) == ["etcd.nix"]
    assert members_in("etcd.nix", "{ services.etcd = { enable = true; listenPeerUrls = urls; }; }\n") == []
