# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of YAML: statements go, and what a condition decides about is unknown."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.template_outline import outline
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

UNKNOWN = "{{condition}}"

CHART = """{{- if .Values.enabled }}
{{- /* a comment
of two lines */}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ include "a.name" . }}
  labels: {{- include "a.labels" . | nindent 4 }}
spec:
  {{- if .Values.one }}
  replicas: 1
  {{- else }}
  replicas: 3
  {{- end }}
  template:
    spec:
      containers:
      {{- range .Values.containers }}
      - name: etcd
        image: "a/etcd:{{ .tag }}"
        env:
        {{- toYaml .env | nindent 8 }}
        - name: POD
          value: a
        {{- if .tls }}
        - name: ETCD_QUOTA_BACKEND_BYTES
          value: "5"
        {{- end }}
        command:
        - etcd
        - --name={{ .name }}
        {{- if .tls }}
        - --client-cert-auth
        - {{ .more }}
        {{- end }}
        {{- with .args }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        args:
        - sh
        - |
          etcd --name a \\
          {{- if .tls }}
            --cert-file=/a \\
          {{- end }}
            --wal-dir=/w
          {{- if .tls }}
          SCHEME=https
          echo
          {{- end }}
      {{- end }}
      {{- if .Values.volumes }}
      volumes:
      - name: data
        emptyDir: {}
      {{- end }}
{{- end }}
"""

JINJA = """services:
  etcd:
    image: quay.io/coreos/etcd:v3.5.1
    environment:
      ETCD_NAME: {{ name }}
{% if debug %}
      ETCD_DEBUG: "true"
{% endif %}
<% if @tls -%>
      ETCD_CERT_FILE: /a
<% end -%>
%{ if tls ~}
      ETCD_KEY_FILE: /a
%{ endif ~}
"""


def yaml_of(text: str) -> Any:
    return yaml.safe_load("\n".join(line.text for line in outline(lines_of("a.yaml", text))))


def test_a_chart() -> None:
    spec = yaml_of(CHART)["spec"]
    assert spec["replicas"] == UNKNOWN
    [container] = spec["template"]["spec"]["containers"]
    assert container["image"] == "a/etcd:{{.tag}}"
    assert container["env"] == [
        UNKNOWN,
        {"name": "POD", "value": "a"},
        {"name": "ETCD_QUOTA_BACKEND_BYTES", "value": UNKNOWN},
    ]
    assert container["command"] == ["etcd", "--name={{.name}}", f"--client-cert-auth={UNKNOWN}", UNKNOWN, UNKNOWN]
    assert container["args"][1].split() == [
        *"etcd --name a \\ \\".split(),
        UNKNOWN,
        *f"\\ \\ --wal-dir=/w SCHEME={UNKNOWN}".split(),
    ]
    assert spec["template"]["spec"]["volumes"] == [{"name": "data", "emptyDir": UNKNOWN}]
    assert len(outline(lines_of("a.yaml", CHART))) == len(CHART.splitlines())


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ('name: {{ include "a.name" . }}-etcd', {"name": '{{ include "a.name" . }}-etcd'}),
        ("name: a-{{ .b }}", {"name": "a-{{.b}}"}),
        ('image: "{{ .a }}/etcd:{{ .tag | default "v3.5.1" }}"', {"image": "{{.a}}/etcd:v3.5.1"}),
        ("image: etcd:{{ .tag | default .other }}", {"image": "etcd:{{.tag|default.other}}"}),
        ("replicas: {{ .replicas | default 3 }}", {"replicas": "{{.replicas|default3}}"}),
        ("app.kubernetes.io/instance: {{ .Release.Name }}", {"app.kubernetes.io/instance": "{{.Release.Name}}"}),
    ],
)
def test_an_expression_in_a_value(written: str, read_as: dict[str, str]) -> None:
    [line] = outline(lines_of("a.yaml", written))
    assert yaml.safe_load(line.text) == read_as


def test_other_templates() -> None:
    environment = yaml_of(JINJA)["services"]["etcd"]["environment"]
    unknown = dict.fromkeys(("ETCD_DEBUG", "ETCD_CERT_FILE", "ETCD_KEY_FILE"), UNKNOWN)
    assert environment == {"ETCD_NAME": "{{name}}", **unknown}


@pytest.mark.parametrize("path", ["docker-compose.yml.j2", "docker-compose.yml", "compose.yaml.tpl"])
def test_a_file_with_statements(path: str) -> None:
    [entry] = read({path: JINJA}).document["files"]
    assert entry["contents"]["services"]["etcd"]["image"] == "quay.io/coreos/etcd:v3.5.1"


def test_what_no_outline_helps() -> None:
    assert outline(lines_of("a.yaml", "a: b\n")) == []
    for text in ("services:\n  a: [{{ b }}\n c: d\n", "a: {{ b\n{% if c %}\nETCD_NAME: - d\n"):
        reading = read({"a.yaml": text})
        assert reading.document["files"] == [] and "a.yaml" in {**reading.passed_over, **reading.document["unparsed"]}


def test_an_expression_of_several_lines() -> None:
    text = (
        "name: {{ name }}\nlisten-client-urls: http://{{ ip }}:2379\n"
        "initial-cluster: {{ hosts\n  | map('x')\n  | join(',') }}:2380\ndata-dir: {{ folder }}\n"
    )
    reading = read({"etcd.conf.yml.j2": text})
    [entry] = reading.document["files"]
    assert entry["contents"]["listen-client-urls"] == "http://{{ip}}:2379"
    assert entry["contents"]["initial-cluster"] == "{{hosts|map(x)|join(,)}}:2380"
    assert entry["contents"]["data-dir"] == "{{folder}}"
    assert len(outline(lines_of("a.yaml", text))) == len(text.splitlines())


TEMPLATE = """name: {{ etcd_name }}
listen-client-urls: http://0.0.0.0:2379
initial-cluster: {% for host in groups['etcd'] %}{{ host }}=http://{{ host }}:2380{% endfor %}
quota-backend-bytes: -1
"""


def test_a_template_of_a_configuration() -> None:
    [entry] = read({"etcd.conf.j2": TEMPLATE}).document["files"]
    nested = TEMPLATE.replace("initial-cluster: {", "initial-cluster: '{").replace("endfor %}", "endfor %}'")
    [same] = read({"etcd.conf.j2": nested}).document["files"]
    assert same["contents"] == entry["contents"]
    assert entry["contents"]["quota-backend-bytes"] == -1 and entry["contents"]["name"] == "{{ etcd_name }}"
    [under] = read({"etcd.conf.j2": TEMPLATE + "{% if tls %}\ncert-file: a\n{% endif %}\n"}).document["files"]
    assert under["contents"]["cert-file"] == "{{condition}}" and under["contents"]["quota-backend-bytes"] == -1
