# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions and loops of templates."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import documents_of, member_in, members_in


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [("{% if tls %}", "{% else %}", "{% endif %}"), ("{{- if .TLS }}", "{{- else }}", "{{- end }}")],
)
def test_conditions_of_a_template_are_unknown(opening: str, middle: str, closing: str) -> None:
    def either(name: str, end: str = "") -> str:
        urls = [f"{name}{scheme}://10.0.0.1:2379{end}" for scheme in ("https", "http")]
        return f"{opening}\n{urls[0]}\n{middle}\n{urls[1]}\n{closing}\n"

    variables = either("ETCD_LISTEN_CLIENT_URLS=")
    [member] = members_in("etcd.env.j2", f"ETCD_NAME=a\nETCD_INITIAL_CLUSTER=a=http://b:2380\n{variables}")
    assert member["environment"]["ETCD_LISTEN_CLIENT_URLS"] == "{{condition}}"
    flags = either("--listen-client-urls=", " \\")
    [unit] = members_in(
        "etcd.service.j2", f"[Service]\nExecStart=/usr/bin/etcd --name a \\\n{flags}  --max-wals=9\nNice=-5\n"
    )
    assert (
        unit["command"] == ["etcd", "--name", "a", "{{condition}}", "--max-wals=9"]
        and unit["facts"]["nice"]["value"] == "-5"
    )
    assert unit["unknown"] == {"{{condition}}": "it is filled in when etcd starts"}
    last = flags.replace(" \\\n" + closing, "\n" + closing)
    [ended] = members_in("etcd.service.j2", f"[Service]\nExecStart=/usr/bin/etcd --name a \\\n{last}Nice=-5\n")
    assert ended["command"] == ["etcd", "--name", "a", "{{condition}}"] and ended["facts"]["nice"]["value"] == "-5"


def test_the_content_of_a_loop_stays() -> None:
    [member] = members_in(
        "a.j2", "{% for x in y %}\nETCD_LISTEN_CLIENT_URLS=http://{{ x }}:2379\n{% endfor %}\nETCD_NAME=a\n"
    )
    assert member["environment"] == {"ETCD_LISTEN_CLIENT_URLS": "http://{{ x }}:2379", "ETCD_NAME": "a"}


INVENTORY = """[all]
{% for node in nodes %}
{{ node.name }} ansible_host={{ node.ip }}
{% endfor %}
[etcd]
{% for node in nodes %}
{{ node.name }}
{% endfor %}
[kube_node]
{% for node in workers %}
{{ node.name }}
{% endfor %}
{% if extra %}
extra1
{% endif %}
[all:vars]
{% if extra %}
etcd_version=3.5.1
{% endif %}
"""


def test_an_inventory_that_is_a_template() -> None:
    [groups] = documents_of(read({"inventory.ini": INVENTORY}))
    assert list(groups["etcd"]["hosts"]) == list(groups["all"]["hosts"]) == ["{{node.name|nodes}}"]
    assert list(groups["kube_node"]["hosts"]) == ["{{node.name|workers}}", "{{condition.14}}"]
    assert groups["all"]["vars"] == {"etcd_version": "{{condition}}"}


@pytest.mark.parametrize(
    ("loop", "host", "end", "name"),
    [
        ("%{ for n in nodes ~}", "${n.name}", "%{ endfor ~}", "{{n.name|nodes}}"),
        ("<% nodes.each do |n| %>", "<%= n.name %>", "<% end %>", "{{n.name|nodes.each}}"),
        ("{{ range .Nodes }}", "a{{ .Name }}", "{{ end }}", "a{{.Name|.Nodes}}"),
        ("{{ with .Nodes }}", "a{{ .Name }}", "{{ end }}", "a{{.Name|with.Nodes}}"),
    ],
)
def test_loops_of_inventories(loop: str, host: str, end: str, name: str) -> None:
    text = f"[etcd]\n{loop}\n{host} ip={{{{ a b }}}}\n{end}\n"
    [groups] = documents_of(read({"hosts.tpl": text}))
    assert list(groups["etcd"]["hosts"]) == [name]


ERB = """[Service]
ExecStart=/usr/bin/etcd --name <%= @name %> \\
  <% if @tls -%>
  --cert-file /a \\
  <% end -%>
  <% @more.each do |flag| -%>
  --wal-dir /w \\
  <% end -%>
  --data-dir /d
"""


def test_conditions_of_ruby() -> None:
    words = member_in("etcd.service.erb", ERB)["command"]
    assert words == ["etcd", "--name", "{{@name}}", "{{condition}}", "--wal-dir", "/w", "--data-dir", "/d"]
