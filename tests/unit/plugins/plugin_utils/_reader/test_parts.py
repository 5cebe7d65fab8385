# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are only in part what they seem: YAML before notes, inventories that are templates, and scripts that install etcd for a job elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import Reading, read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import first_server_setting
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.release import find_release
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

SERVICE = "services:\n  etcd:\n    image: etcd:v3.2.9\n"
URLS = "--listen-client-urls http://0.0.0.0:2379"


def contents(reading: Reading) -> list[Any]:
    return [entry["contents"] for entry in reading.document["files"]]


def members(path: str, text: str) -> list[dict[str, Any]]:
    """The members in one file."""
    return [found["headroom_member"] for found in contents(read({path: text})) if "headroom_member" in found]


def test_a_compose_file_before_notes() -> None:
    reading = read({"c.yml": f"{SERVICE}\netcd --name a {URLS} \\\n--data-dir: x\n"})
    assert contents(reading) == [{"services": {"etcd": {"image": "etcd:v3.2.9"}}}]
    assert reading.document["unparsed"] == {"c.yml": "line 5 is not YAML; only the lines before it were checked"}


def test_a_config_file_before_a_command() -> None:
    settings = {"listen-peer-urls": "http://10.0.0.5:2380", "listen-client-urls": "http://10.0.0.5:2379"}
    text = "".join(f"{name}: {value}\n" for name, value in settings.items())
    reading = read({"etcd.yml": f"{text}\nTOKEN=$(curl -s x)\n"})
    assert contents(reading) == [settings]
    assert reading.document["unparsed"] == {"etcd.yml": "line 4 is not YAML; only the lines before it were checked"}


@pytest.mark.parametrize(
    "text",
    [
        f"etcd --name a {URLS}\n{SERVICE}",  # nothing before the notes
        f"name: a\n\netcd --name a {URLS} \\\nb: [\n",  # no Compose file
        f"{SERVICE}    command: [\n\netcd --name a {URLS} \\\n",  # broken before the notes
    ],
)
def test_other_files_that_are_not_yaml(text: str) -> None:
    reading = read({"c.yml": text})
    assert contents(reading) == [] and "c.yml" in reading.document["unparsed"]


@pytest.mark.parametrize("style", [">", "|", ">-"])
@pytest.mark.parametrize("origin", ["image: etcd:v3.5.1", "build: ."])
def test_the_policies_read_the_command_of_a_service(style: str, origin: str) -> None:
    text = f"services:\n  etcd:\n    {origin}\n    command: {style}\n      etcd --name a\n      {URLS}\n"
    assert members("compose.yml", text) == []


JOB = """ETCD_VERSION=${ETCD_VERSION:-'2.3.7'}
curl -L https://github.com/coreos/etcd/releases/download/v${ETCD_VERSION}/etcd-v${ETCD_VERSION}-linux-amd64.tar.gz | tar xz
cp etcd-v${ETCD_VERSION}-linux-amd64/etcd /usr/local/bin/
cat <<EOT > /etc/init/etcd.conf
respawn
exec $ETCD $ETCD_OPTS
EOT
"""


def test_a_job_of_another_init_system() -> None:
    [member] = members("etcd.sh", JOB)
    assert (member["release"], member["silent"]) == ("2.3.7", ["extra_config"])


def test_a_unit_in_the_script_counts_alone() -> None:
    unit = f"[Service]\nExecStart=/usr/bin/etcd {URLS}\n"
    assert [member["format"] for member in members("etcd.sh", JOB.replace("respawn\n", unit))] == ["systemd unit"]


@pytest.mark.parametrize("text", ["ETCD_VERSION=${ETCD_VERSION:-'2.3.7'}", 'ETCD_VERSION="${ETCD_VERSION:-"2.3.7"}"'])
def test_a_default_in_quotes(text: str) -> None:
    found = find_release(lines_of("a.sh", text))
    assert found is not None and found[0] == "2.3.7"


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("LIST=${NAME}=http://${IP}:2380", "${NAME}=http://${IP}:2380"),
        ("LIST=a=http://a:2380", "a=http://a:2380"),
        ("LIST=a=http://$(hostname -i):2380", "$LIST"),
        ("LIST=a=http://$1:2380", "$LIST"),
        ("LIST=a=http://a:2380\nLIST+=,b=http://b:2380", "$LIST"),
        ("for i in 1 2; do LIST=x; done\nLIST=${LIST}n$i=http://$ip:2380,", "$LIST"),
        ("for LIST in a b; do\nLIST=http://a:2380", "$LIST"),
        ("LIST=a=http://a:2380\nread -r LIST", "$LIST"),
        ("while read -r LIST; do\nLIST=http://a:2380", "$LIST"),
    ],
)
def test_a_list_of_members_in_a_variable(before: str, value: str) -> None:
    [member] = members("etcd.sh", f"#!/bin/sh\n{before}\netcd {URLS} --initial-cluster $LIST\n")
    assert member["command"][-1] == value


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
    [groups] = contents(read({"inventory.ini": INVENTORY}))
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
    [groups] = contents(read({"hosts.tpl": text}))
    assert list(groups["etcd"]["hosts"]) == [name]


def test_the_volumes_of_another_container() -> None:
    command = "docker run --volumes-from data quay.io/coreos/etcd:v3.5.1 etcd --name a"
    [member] = members("etcd.sh", f"#!/bin/sh\n{command}\n")
    assert member["mounts"] == ["/"]


def test_a_command_of_etcdctl_is_no_member() -> None:
    assert members("add.sh", "#!/bin/sh\netcdctl member add etcd4 --peer-urls=http://10.0.0.4:2380\n") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("etcdctl snapshot restore a.db \\\n  --initial-cluster a=http://a:2380", ""),
        ("etcdctl snapshot restore a.db\n--initial-cluster a=http://a:2380", "--initial-cluster in line 2"),
        ("etcdctl put a --initial-cluster", "--initial-cluster in line 1"),
    ],
)
def test_flags_of_a_restoration_are_no_mention(text: str, found: str) -> None:
    assert first_server_setting(text) == found


def test_the_release_in_a_packed_text() -> None:
    unit = "[Service]\\nEnvironment=ETCD_IMAGE_TAG=v3.2.0\\nExecStart=/usr/bin/etcd --name a\\n"
    [member] = members("a.json", f'{{"units": [{{"name": "etcd.service", "contents": "{unit}"}}]}}')
    assert member["release"] == "3.2.0"


def test_a_container_in_the_commands_of_cloud_init() -> None:
    [member] = members("user-data", "#cloud-config\nruncmd:\n  - docker run -d quay.io/coreos/etcd:v3.4.10 etcd\n")
    assert member["image"] == "quay.io/coreos/etcd:v3.4.10"
