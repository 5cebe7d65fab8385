# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Units, drop-ins, environment files, scripts, inventories and documents, as headroom-lint reads them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats.ini import read_inventory
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Unparsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.word_index import index_words

UNIT = """[Unit]
Description=etcd

[Service]
EnvironmentFile=-/etc/etcd/etcd.conf
# a comment
ExecStart=/bin/bash -c "GOMAXPROCS=$(nproc) /usr/bin/etcd \\
  --name=\\"${ETCD_NAME}\\" \\
  # a comment between
  --unsafe-no-fsync \\
  --snapshot-count 100000 $ETCD_OPTS"
LimitMEMLOCK=64M
"""
DROP_IN = '[Service]\nMemoryMax=1G\nEnvironment="GOGC=50" ETCD_HEARTBEAT_INTERVAL=100\n'
ENVIRONMENT = """[Member]
ETCD_NAME=n1
#ETCD_WAL_DIR=""
export ETCD_DATA_DIR="/var/lib/etcd/default.etcd"
ETCD_LISTEN_CLIENT_URLS='http://0.0.0.0:2379'
"""


def members(texts: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """The members that the reader found, each with its path."""
    files = read(texts).document["files"]
    return [(entry["path"], entry["contents"]["headroom_member"]) for entry in files]


def test_the_last_name_counts() -> None:
    ((_path, found),) = members(
        {"etcd.service": "[Service]\nExecStart=/usr/bin/etcd --name=a --data-dir=/d --name b\n"}
    )
    assert found["name"] == "b"


def test_unit_with_drop_in_and_environment_file() -> None:
    unit, drop_in, environment = "sys/etcd.service", "sys/etcd.service.d/10-memory.conf", "etc/etcd/etcd.conf"
    ((path, found),) = members({drop_in: DROP_IN, environment: ENVIRONMENT, unit: UNIT})
    assert path == unit
    assert found["name"] == "n1"
    assert found["command"] == ["etcd", "--name=n1", "--unsafe-no-fsync", "--snapshot-count", "100000", "$ETCD_OPTS"]
    assert found["environment"] == {
        "GOGC": "50",
        "ETCD_HEARTBEAT_INTERVAL": "100",
        "ETCD_NAME": "n1",
        "ETCD_DATA_DIR": "/var/lib/etcd/default.etcd",
        "ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379",
    }
    assert found["limit"] == {"name": "MemoryMax", "size": "1G"}
    assert found["memlock"] == {"name": "LimitMEMLOCK", "size": "64M"}
    assert found["unknown"] == {"$ETCD_OPTS": "it is filled in when etcd starts"}
    assert found["where"]["--unsafe-no-fsync"] == [unit, 10]
    assert found["where"]["--snapshot-count"] == [unit, 11]
    assert found["where"]["MemoryMax"] == [drop_in, 2]
    assert found["where"]["ETCD_LISTEN_CLIENT_URLS"] == [environment, 5]


@pytest.mark.parametrize(
    ("drop_in", "environment"),
    [
        ("UnsetEnvironment=ETCD_UNSAFE_NO_FSYNC ETCD_DEBUG", {"ETCD_NAME": "b"}),
        # A pair removes the variable if it has this value at the end.
        ('UnsetEnvironment="ETCD_UNSAFE_NO_FSYNC=true" ETCD_NAME=a', {"ETCD_NAME": "b"}),
        ("UnsetEnvironment=ETCD_NAME=b", {"ETCD_UNSAFE_NO_FSYNC": "true"}),
        (
            "UnsetEnvironment=ETCD_UNSAFE_NO_FSYNC\nUnsetEnvironment=",
            {"ETCD_UNSAFE_NO_FSYNC": "true", "ETCD_NAME": "b"},
        ),
    ],
)
def test_unset_environment(drop_in: str, environment: dict[str, str]) -> None:
    unit = "[Service]\nEnvironment=ETCD_UNSAFE_NO_FSYNC=true ETCD_NAME=a\nEnvironmentFile=/etc/etcd.env\nExecStart=/bin/etcd"
    files = {"etcd.service": f"{unit} --name=${{ETCD_NAME}}\n", "etcd.env": "ETCD_NAME=b\n"}
    ((_path, found),) = members({**files, "etcd.service.d/x.conf": f"[Service]\n{drop_in}\n"})
    assert found["environment"] == environment
    assert found["name"] == ("b" if "ETCD_NAME" in environment else "etcd")


def test_drop_in_replaces_the_command() -> None:
    drop_in = "[Service]\nExecStart=\nExecStart=/usr/bin/etcd --name n2 --quota-backend-bytes=5\n"
    ((_path, found),) = members({"etcd.service": UNIT, "etcd.service.d/x.conf": drop_in})
    assert found["command"] == ["etcd", "--name", "n2", "--quota-backend-bytes=5"]
    assert found["where"]["--quota-backend-bytes"] == ["etcd.service.d/x.conf", 3]
    assert found["unknown"] == {"EnvironmentFile=/etc/etcd/etcd.conf": "it is not among the files"}


def test_drop_in_alone() -> None:
    ((_path, found),) = members({"etcd.service.d/x.conf": "[Service]\nEnvironment=ETCD_SNAPSHOT_COUNT=5\n"})
    assert found["environment"] == {"ETCD_SNAPSHOT_COUNT": "5"}
    assert found["unknown"] == {"the unit of this drop-in": "it is not among the files"}


def test_flags_in_a_variable_of_the_unit() -> None:
    unit = "[Service]\nEnvironmentFile=/etc/default/etcd\nExecStart=/usr/bin/etcd $DAEMON_ARGS\n"
    environment = 'DAEMON_ARGS="--name=n1 --listen-client-urls=http://0.0.0.0:2379"\n'
    ((path, together),) = members({"etcd.service": unit, "default/etcd": environment})
    ((_path, alone),) = members({"default/etcd": environment})
    assert path == "etcd.service"
    for found in (together, alone):
        assert found["command"] == ["etcd", "--name=n1", "--listen-client-urls=http://0.0.0.0:2379"]
    assert alone["where"]["--name"] == ["default/etcd", 1]


SCRIPT = """#!/bin/bash
ETCD_VER=v3.5.1
cat > /etc/etcd.env <<'EOF'
ETCD_SNAPSHOT_COUNT=5
EOF
cat <<EOF | sudo tee /etc/systemd/system/etcd.service
[Service]
EnvironmentFile=/etc/etcd.env
ExecStart=/usr/local/bin/etcd \\\\
  --quota-backend-bytes=0 \\\\
  --name ${HOST}
EOF
docker run -d --name etcd -p 2379:2379 -e ETCD_WAL_DIR=/wal -m 512m quay.io/coreos/etcd:${ETCD_VER} \\
  /usr/local/bin/etcd --force-new-cluster --data-dir=/etcd
etcdctl --endpoints http://etcd:2379 put etcd 1
"""


def test_script() -> None:
    direct, unit = (found for _path, found in members({"install.sh": SCRIPT}))
    assert direct["format"] == "script"
    assert direct["image"] == "quay.io/coreos/etcd:v3.5.1"
    assert direct["command"] == ["etcd", "--force-new-cluster", "--data-dir=/etcd"]
    assert direct["limit"] == {"name": "--memory", "size": "512m"}
    assert direct["where"]["--force-new-cluster"] == ["install.sh", 14]
    assert direct["where"]["ETCD_WAL_DIR"] == ["install.sh", 13]
    assert unit["format"] == "systemd unit"
    assert unit["command"] == ["etcd", "--quota-backend-bytes=0", "--name", "${HOST}"]
    assert unit["where"]["ETCD_SNAPSHOT_COUNT"] == ["install.sh", 4]
    assert unit["where"]["--quota-backend-bytes"] == ["install.sh", 10]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("etcd --name n1", ("etcd", "--name", "n1")),
        ("exec /usr/bin/etcd -name n1 2>&1 | tee log", ("etcd", "-name", "n1")),
        ("@/usr/local/bin/etcd3 --debug", ("etcd", "--debug")),
        ("sh -c 'etcd --name=n1 && true'", ("etcd", "--name=n1")),
        ("{{ bin_dir }}/server --listen-client-urls=x", ("etcd", "--listen-client-urls=x")),
        ("/usr/bin/podman run --rm --entrypoint=etcd image:1 --name n1", ("etcd", "--name", "n1")),
        ("docker run quay.io/coreos/etcd:v3.5.1", ("etcd",)),
        ("docker run --entrypoint etcdctl quay.io/coreos/etcd:v3.5.1 --endpoints=http://a:2379 member list", None),
        ("docker run --entrypoint '/bin/etcdctl member list' quay.io/coreos/etcd:v3.5.1", None),
        ("docker run --entrypoint sh quay.io/coreos/etcd:v3.5.1 -c 'etcdctl member list'", None),
        ("docker run --entrypoint sh quay.io/coreos/etcd:v3.5.1 -c 'etcd --name a'", ("etcd", "--name", "a")),
        ("docker run --entrypoint /start quay.io/coreos/etcd:v3.5.1 --name a", ("etcd", "--name", "a")),
        ("docker run busybox ls /etcd", None),
        ("docker rmi quay.io/coreos/etcd:v3.5.1 || true && docker run quay.io/coreos/etcd:v3.5.1", ("etcd",)),
        ("docker rmi quay.io/coreos/etcd:v3.5.1 && docker run busybox ls /etcd", None),
        ("docker stop etcd", None),
        ("etcdctl --endpoints x", None),
        ("kube-apiserver --etcd-servers=x", None),
        ("mkdir -p /var/lib/etcd", None),
        ("systemctl enable etcd", None),
        ("chown -R etcd /var/lib/etcd", None),
    ],
)
def test_command(text: str, words: tuple[str, ...] | None) -> None:
    found = find_etcd(split_words(text))
    assert (found.words if found else None) == words


def test_inventory() -> None:
    text = """h1 ansible_port=22 # a comment
[etcd]
n1 etcd_name=a
n[2:3] flag=True number=5 text=yes quoted="5"
[etcd:vars]
etcd_version = 3.6.1
etcd_workload={"value_size": "10KB"}
[all:children]
etcd
[other]
n1 etcd_name=b
"""
    document = read({"hosts": text}).document
    (entry,) = document["files"]
    assert document["translated"] == {"hosts": True}
    assert document["lines"]["hosts"]["words"]["etcd_version"] == [6]
    assert entry["contents"] == {
        "ungrouped": {"hosts": {"h1": {"ansible_port": 22}}},
        "etcd": {
            # The last assignment in the file counts.
            "hosts": {"n1": {"etcd_name": "b"}, "n[2:3]": {"flag": True, "number": 5, "text": "yes", "quoted": 5}},
            "vars": {"etcd_version": "3.6.1", "etcd_workload": {"value_size": "10KB"}},
        },
        "all": {"children": {"etcd": {}}},
        "other": {"hosts": {"n1": {"etcd_name": "b"}}},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[etcd:hosts:x]\n", "line 1: '[etcd:hosts:x]' is not a section"),
        ("[etcd:more]\n", "line 1: [etcd:more] is not a section"),
        ("[etcd]\nansible_port=1\n", "line 2: expected NAME=VALUE after the host, found 'ansible_port=1'"),
        ("[etcd]\nn1 port\n", "line 2: expected NAME=VALUE after the host, found 'port'"),
        ("[etcd]\nn1 a='b\n", "line 2: No closing quotation"),
        ("[etcd:vars]\nx\n", "line 2: expected NAME=VALUE, found 'x'"),
    ],
)
def test_refused_inventory(text: str, reason: str) -> None:
    with pytest.raises(Unparsed) as refused:
        read_inventory(text)
    assert reason in str(refused.value)
    # Any configuration with sections looks like an inventory: it is passed over, with the reason.
    assert reason in read({"some.cfg": text}).passed_over["some.cfg"]


def test_a_variable_above_the_first_section() -> None:
    # Ansible lists a host A=1, and reads the sections.
    assert read_inventory("A=1\nB=2\n[etcd]\nn1\n") == {
        "ungrouped": {"hosts": {"A=1": {}, "B=2": {}}},
        "etcd": {"hosts": {"n1": {}}},
    }


@pytest.mark.parametrize("path", ["recipes/etcd.rb", "manifests/etcd.pp"])
def test_a_program_is_no_inventory(path: str) -> None:
    text = "%w[\n  a\n]\n[node['etcd']['user']].each do |user|\n  user user\nend\n"
    assert read({path: text}).passed_over[path].startswith("headroom-lint does not read this programming language")


DOCUMENTS = """# a comment
---
services:
  etcd:
    image: quay.io/coreos/etcd:v3.5.1
    command:
      - etcd
      - --snapshot-count=5
  other:
    command: etcd --snapshot-count=6
---
secret: !vault |
  $ANSIBLE_VAULT;1.1
when: 2024-01-01
text: !unsafe "{{ x }}"
1: yes
extraArgs:
  - name: quota-backend-bytes
    value: "0"
"""


def test_documents() -> None:
    document = read({"compose.yml": DOCUMENTS}).document
    first, second = (entry["contents"] for entry in document["files"])
    assert first["services"]["other"]["command"] == "etcd --snapshot-count=6"
    assert second["secret"] == {"__ansible_vault": "$ANSIBLE_VAULT;1.1\n"}
    assert second["text"] == {"__ansible_unsafe": "{{ x }}"}
    assert second["when"] == "2024-01-01" and second["1"] is True
    index = document["lines"]["compose.yml"]
    assert index["words"]["snapshot-count"] == [8, 10]
    assert index["words"]["quota-backend-bytes"] == [18]
    assert index["scopes"]["other"] == [[9, 10]]
    first_line, last_line = index["scopes"]["etcd"][0]
    assert first_line == 4 and last_line == 8


def test_scopes_of_aliases() -> None:
    text = """x-common: &common
  image: etcd
  environment: &env
    ETCD_NAME: a
x-flags: &flags [--name=a]
one:
  <<: *common
  tty: true
two:
  environment: *env
  command: *flags
three: *common
"""
    scopes = read({"compose.yml": text}).document["lines"]["compose.yml"]["scopes"]
    assert scopes["one"] == [[6, 8], [2, 2], [3, 4]]
    assert scopes["two"] == [[9, 11], [3, 4], [5, 5]]
    assert scopes["three"] == [[12, 12], [1, 4]]


def test_texts_inside_documents() -> None:
    cloud_init = """#cloud-config
write_files:
  - path: /etc/systemd/system/etcd.service
    content: |
      [Service]
      EnvironmentFile=/etc/etcd.env
      ExecStart=/usr/bin/etcd --force-new-cluster
  - path: /etc/etcd.env
    content: |
      ETCD_SNAPSHOT_COUNT=5
  - path: /etc/motd
    content: |
      Welcome
      here
"""
    _plain, *found = read({"user-data.yml": cloud_init}).document["files"]
    (member,) = (entry["contents"]["headroom_member"] for entry in found)
    assert member["where"]["--force-new-cluster"] == ["user-data.yml", 7]
    assert member["where"]["ETCD_SNAPSHOT_COUNT"] == ["user-data.yml", 10]


def test_config_file_of_any_name() -> None:
    text = "name: n1\nlisten-client-urls: http://0.0.0.0:2379\ninitial-cluster: n1=http://n1:2380\n"
    document = read({"etcd.conf": text}).document
    assert document["files"][0]["contents"]["listen-client-urls"] == "http://0.0.0.0:2379"
    assert document["lines"]["etcd.conf"]["words"]["listen-client-urls"] == [2]


@pytest.mark.parametrize(
    ("text", "is_config"),
    [
        ("\"listen-client-urls\": http://0.0.0.0:2379\n'data-dir': /d\n", True),
        ('{"listen-client-urls": "http://0.0.0.0:2379", "data-dir": "/d"}', True),
        ('{\n  "listen-client-urls": "http://0.0.0.0:2379",\n  "data-dir": "/d"\n}\n', True),
        ('{"name": "a", "data-dir": "/d"}', False),
        ('{"a": {"listen-client-urls": "http://0.0.0.0:2379", "data-dir": "/d"}}', False),
        ('{"listen-client-urls": "http://0.0.0.0:2379", "data-dir": ', False),
        ('\'listen-client-urls": http://0.0.0.0:2379\n"data-dir": /d\n', False),
        ("{" * 100_000, False),
    ],
)
def test_quoted_keys_of_a_config_file(text: str, is_config: bool) -> None:
    assert len(read({"etcd.conf": text}).document["files"]) == int(is_config)


UNREAD = {
    "etcd.yaml": ("etcd:\n{{- if x }}\n- --listen-client-urls={{ y }}\n", "it is a template (line 2)"),
    "bad.yml": ("a: [\nquota-backend-bytes: 5\n--snapshot-count=1\n", "line 4 is not valid YAML"),
    "main.tf": ('args = [\n  "--listen-client-urls=x",\n]\n', "it mentions --listen-client-urls in line 2, in a form"),
}


@pytest.mark.parametrize("path", UNREAD)
def test_unread_files_are_named(path: str) -> None:
    text, reason = UNREAD[path]
    reading = read({path: text})
    assert reason in reading.document["unparsed"][path]
    assert not reading.document["files"]


def test_other_files_are_passed_over() -> None:
    texts = {
        "README.md": "# etcd\n",
        "a.service": "[Service]\nExecStart=/bin/true\n",
        "b.sh": "#!/bin/sh\nls\n",
        "e": "",
    }
    reading = read(texts)
    assert reading.document == {"files": [], "lines": {}, "unparsed": {}, "translated": {}, "expanded": []}
    assert set(reading.passed_over) == set(texts)


def test_expanded_variables() -> None:
    texts = {
        "a.sh": "export ETCD_PORT=2379 ETCD_NAME=a\netcd --listen-client-urls http://$ETCD_HOST:${ETCD_PORT}\n",
        "b.ps1": 'etcd --name "$env:ETCD_HOSTNAME"\n',
        "c.cmd": "etcd --name %ETCD_COMPUTER%\n",
        "d.yml": "command: [etcd, --name, $(ETCD_POD)]\n",
        "e.sh": 'export ETCD_QUOTA="${ETCD_QUOTA:-5}" ETCD_SIZE=$ETCD_SIZE\n',
    }
    expected = ["ETCD_COMPUTER", "ETCD_HOST", "ETCD_HOSTNAME", "ETCD_POD", "ETCD_PORT"]
    assert read(texts).document["expanded"] == expected


def test_words() -> None:
    text = """{"a-key": 1, x: --flag=2}
# comment: 3
  - --listen-client-urls # trailing: 4
ETCD_NAME=etcd
  name: snapshot-count
x.y-z: 1"""
    assert index_words(text) == {
        "a-key": [1],
        "x": [1],
        "flag": [1],
        "listen-client-urls": [3],
        "ETCD_NAME": [4],
        "name": [5],
        "snapshot-count": [5],
        "y-z": [6],
    }


@pytest.mark.parametrize(
    ("path", "text", "compacts"),
    [
        ("a.sh", "etcdctl --endpoints=http://a:2379 compact $revision\n", True),
        ("a.sh", "etcdctl --endpoints=http://a:2379 \\\n  compact $revision\n", True),
        ("job.yml", "command: [sh, -c, etcdctl compaction 5]\n", True),
        ("a.sh", "# etcdctl compact 5\netcdctl defrag # and compact\n", False),
        ("a.sh", "cp etcd etcdctl /bin; etcd --auto-compaction-retention=0\n", False),
        ("a.md", "etcdctl compact 5\n", False),
    ],
)
def test_a_client_that_compacts(path: str, text: str, compacts: bool) -> None:
    assert read({path: text}).document.get("compacts") == ([path] if compacts else None)


CONFIG = "name: cp1\ndata-dir: /d\nlisten-client-urls: https://a:2379\nadvertise-client-urls: https://a:2379\n"


@pytest.mark.parametrize(
    ("directives", "path", "number"),
    [
        ("ExecStart=/usr/bin/etcd --config-file /etc/etcd/etcd.yml", "etcd/etcd.yml", 0),
        ("ExecStart=/usr/bin/etcd --config-file=/etc/etcd/etcd.yml", "files/etcd.yml", 0),
        # What the unit adds is judged, and so is a start with another config file.
        ("Environment=ETCD_NAME=a\nExecStart=/usr/bin/etcd --config-file /etc/etcd.yml", "etcd.yml", 1),
        ("MemoryMax=1G\nExecStart=/usr/bin/etcd --config-file /etc/etcd.yml", "etcd.yml", 1),
        ("ExecStart=/usr/bin/etcd --config-file /etc/etcd.yml --pre-vote", "etcd.yml", 1),
        ("ExecStart=/usr/bin/etcd --config-file /etc/other.yml", "etcd.yml", 1),
    ],
)
def test_a_unit_whose_config_file_is_among_the_files(directives: str, path: str, number: int) -> None:
    unit = f"[Service]\n{directives}\n"
    assert number_of_members({path: CONFIG, "etcd.service": unit}) == number
    cloud = "#cloud-config\nwrite_files:\n"
    for target, text in ((f"/etc/{path}", CONFIG), ("/etc/systemd/system/etcd.service", unit)):
        cloud += f"  - path: {target}\n    content: |\n" + "".join(f"      {line}\n" for line in text.splitlines())
    assert number_of_members({"user-data": cloud}) == number


def number_of_members(texts: dict[str, str]) -> int:
    """The number of members besides those of config files."""
    return sum("headroom_member" in entry["contents"] for entry in read(texts).document["files"])


@pytest.mark.parametrize(
    ("text", "is_of_program"),
    [
        ("[server]\nport = 8080\n[etcd] # client\nendpoints = http://10.0.0.1:2379\ntimeout = 5\n", True),
        ("[etcd]\nhost=10.0.0.1\nport=2379\n", True),
        ('[etcd]\nhosts = [\n  "10.0.0.1:2379",\n]\nname = "svc"\n[[etcd.more]]\n"a.b" = 1\n', True),
        # Inventories with a mistake, and settings of a server.
        ("[etcd]\nn1 10.0.0.1\n", False),
        ("[etcd]\nansible_host=10.0.0.1\n", False),
        ("[etcd]\nn1\n[etcd:vars]\nb=c\n[other]\na=b\n", False),
        ("[etcd]\nquota-backend-bytes = 8\nlisten-client-urls = http://a:2379\n", False),
    ],
)
def test_settings_of_a_client(text: str, is_of_program: bool) -> None:
    reading = read({"conf.ini": text})
    reasons = [*reading.passed_over.values(), *reading.document["unparsed"].values()]
    assert (reasons == ["it configures no etcd"]) is is_of_program and reasons
