# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who else starts etcd: supervisors, Podman's services, tasks of Ansible, and scripts that collect its arguments."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

URLS = "--listen-client-urls http://0.0.0.0:2379"
FLAGS = ["--listen-client-urls", "http://0.0.0.0:2379"]
QUADLET = """[Unit]
Description=etcd
[Container]
Image=quay.io/coreos/etcd:v3.5.0
Environment=ETCD_NAME=n1
EnvironmentFile=/etc/etcd.env
Volume=/var/lib/etcd:/data
Memory=1G
Exec=etcd --data-dir /data
"""


def members(path: str, text: str) -> list[dict[str, Any]]:
    """The members in one file."""
    files = read({path: text}).document["files"]
    return [
        entry["contents"]["headroom_member"]
        for entry in files
        if isinstance(entry["contents"], dict) and "headroom_member" in entry["contents"]
    ]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("Procfile", f"# goreman start\netcd1: bin/etcd --name n1 {URLS}\nproxy: bin/etcd grpc-proxy start\n", 2),
        (
            "supervisord.conf",
            f"[supervisord]\nnodaemon=true\n[program:etcd]\ncommand = /usr/bin/etcd --name n1 {URLS}\n",
            4,
        ),
    ],
)
def test_commands_of_a_supervisor(path: str, text: str, line: int) -> None:
    [member] = members(path, text)
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS] and member["where"]["--name"] == [path, line]


def test_an_indented_section_of_supervisord() -> None:
    text = f"[program:etcd]\n  command=etcd --name n1\n    {URLS} --client-cert-auth\n  autostart=true\n  environment=ETCD_NAME=n1\n"
    [member] = members("supervisord.conf", text)
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS, "--client-cert-auth"]
    assert member["environment"] == {"ETCD_NAME": "n1"}


def test_variables_of_a_program_of_supervisord() -> None:
    text = f"""[supervisord]
environment=ETCD_NAME="a",ETCD_WAL_DIR='/w'
[program:web]
command=web
environment=ETCD_DEBUG=true
[program:etcd]
environment=
    ETCD_CLIENT_CERT_AUTH="true", ; the CA is below
    ETCD_TRUSTED_CA_FILE=/ca.crt,ETCD_NAME="%(ENV_HOST)s"
command=/usr/bin/etcd
  {URLS}
[program:proxy]
command=/usr/bin/etcd grpc-proxy start
"""
    [member] = members("supervisord.conf", text)
    assert member["command"] == ["etcd", *FLAGS]
    assert member["environment"] == {
        "ETCD_NAME": "${HOST}",
        "ETCD_WAL_DIR": "/w",
        "ETCD_CLIENT_CERT_AUTH": "true",
        "ETCD_TRUSTED_CA_FILE": "/ca.crt",
    }
    assert member["where"]["ETCD_CLIENT_CERT_AUTH"] == ["supervisord.conf", 8]
    assert member["where"]["--listen-client-urls"] == ["supervisord.conf", 11]


@pytest.mark.parametrize(
    "option", ["Tmpfs=/data:rw", "Mount=type=tmpfs,destination=/data", "PodmanArgs=--tmpfs /data --memory=1G"]
)
def test_memory_in_a_container_of_podman(option: str) -> None:
    [member] = members("etcd.container", QUADLET.replace("Volume=/var/lib/etcd:/data", option))
    assert member["in_memory"] == member["mounts"] == ["/data"] and member["limit"]["size"] == "1G"


def test_a_container_of_podman() -> None:
    [member] = members("etcd.container", QUADLET)
    assert (member["name"], member["image"], member["mounts"]) == ("n1", "quay.io/coreos/etcd:v3.5.0", ["/data"])
    assert member["command"] == ["etcd", "--data-dir", "/data"] and member["limit"]["size"] == "1G"
    assert member["unknown"] == {"EnvironmentFile=/etc/etcd.env": "it is not among the files"}
    assert member["where"]["etcd_version"] == ["etcd.container", 4] and member["where"]["--data-dir"][1] == 9
    assert members("a.container", QUADLET.replace("coreos/etcd", "app/web").replace("etcd --data-dir", "web -d")) == []
    files = {"etcd.container": QUADLET, "etc/etcd.env": "ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\n"}
    [entry] = read(files).document["files"]
    assert "ETCD_LISTEN_CLIENT_URLS" in entry["contents"]["headroom_member"]["environment"]


@pytest.mark.parametrize("module", ["docker_container", "community.docker.docker_container", "podman_container"])
@pytest.mark.parametrize("command", [f"etcd --name n1 {URLS}", ["etcd", "--name", "n1", *FLAGS]])
def test_a_task_that_starts_a_container(module: str, command: Any) -> None:
    options = {
        "image": "quay.io/coreos/etcd:v3.5.0",
        "command": command,
        "env": {"ETCD_SNAPSHOT_COUNT": 5000},
        "env_file": "/etc/a",
    }
    options |= {"volumes": ["/srv:/data"], "memory": "1g", "name": "etcd"}
    [member] = members("tasks.yml", str([{"name": "Run", module: options}]).replace("'", '"'))
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS] and member["mounts"] == ["/data"]
    assert member["environment"] == {"ETCD_SNAPSHOT_COUNT": "5000"} and member["limit"]["size"] == "1g"
    assert list(member["unknown"]) == ["env_file: /etc/a"]
    assert not members("tasks.yml", str([{module: {**options, "state": "absent"}}]).replace("'", '"'))


def test_tasks_that_run_and_write() -> None:
    tasks = f"""- command: /usr/bin/etcd --name n1 {URLS}
- lineinfile: {{path: /etc/default/etcd, line: ETCD_NAME=n2}}
- ansible.builtin.lineinfile:
    path: /etc/default/etcd
    line: 'ETCD_LISTEN_CLIENT_URLS="http://0.0.0.0:2379"'
- copy:
    dest: /etc/systemd/system/etcd.service
    content: |
      [Service]
      EnvironmentFile=/etc/default/etcd
      ExecStart=/usr/bin/etcd
"""
    found = {member["name"]: member for member in members("tasks.yml", tasks)}
    assert set(found) == {"n1", "n2"} and found["n2"]["format"] == "systemd unit" and not found["n2"]["unknown"]
    assert found["n2"]["where"]["ETCD_LISTEN_CLIENT_URLS"] == ["tasks.yml", 5]
    compose = f"services: {{db: {{image: 'quay.io/coreos/etcd:v3.5.0', command: 'etcd --name n1 {URLS}'}}}}\n"
    assert not members("compose.yml", compose), "the policies read it"


@pytest.mark.parametrize(
    "lines",
    [
        'ARGS="--name n1"\nARGS="$ARGS --listen-client-urls http://$IP:2379"\netcd $ARGS',
        'ARGS="--name n1"\nARGS+=" --listen-client-urls http://$IP:2379"\nexec /usr/bin/etcd $ARGS',
        'ARGS=(\n  --name n1 # here\n  --listen-client-urls http://$IP:2379\n)\netcd "${ARGS[@]}"',
        "if true; then etcd --name n1 --listen-client-urls http://$IP:2379; fi",
    ],
)
def test_arguments_that_a_script_collects(lines: str) -> None:
    [member] = members("start.sh", f"#!/bin/bash\nIP=0.0.0.0\n{lines}\n")
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS]


def test_flags_in_an_associative_array() -> None:
    text = """#!/bin/bash
PORT=2379
declare -A flags
flags["name"]=${HOSTNAME}
flags["listen-client-urls"]="http://0.0.0.0:${PORT}"
flags["initial-cluster-token"]=a # once
args=$(to_args flags)
etcd $args
"""
    [member] = members("start.sh", text)
    assert member["command"][2:] == ["--listen-client-urls=http://0.0.0.0:2379", "--initial-cluster-token=a"]
    assert member["where"]["--listen-client-urls"] == ["start.sh", 5]
    # With one flag of etcd alone, the array may be about something else.
    [member] = members("start.sh", text.replace("initial-cluster-token", "color"))
    assert member["command"] == ["etcd", "$args"]


def test_arguments_under_a_condition_are_unknown() -> None:
    text = '#!/bin/bash\nA="--name n1"\nif [ "$1" ]; then\n  A="$A --force-new-cluster"\nfi\netcd $A --max-wals=5\n'
    [member] = members("start.sh", text)
    assert "--force-new-cluster" not in member["command"] and "$A" in member["unknown"]


@pytest.mark.parametrize("text", ['args = ["--listen-client-urls", "x"]', "<string>--listen-client-urls</string>"])
def test_no_form_is_passed_over_in_silence(text: str) -> None:
    assert "--listen-client-urls in line 1" in read({"etcd.nomad": text}).document["unparsed"]["etcd.nomad"]


@pytest.mark.parametrize(
    "command",
    [
        "ssh -i key core@host '{}'",
        'su - etcd -c "{}"',
        "tmux new -d '{} &'",
        "docker service create --name e quay.io/coreos/etcd:v3.5.0 {}",
    ],
)
def test_a_command_that_another_one_runs(command: str) -> None:
    [member] = members("start.sh", "#!/bin/sh\n" + command.format(f"etcd --name n1 {URLS}") + "\n")
    assert member["command"] == ["etcd", "--name", "n1", *FLAGS]


@pytest.mark.parametrize(
    "command",
    [
        "etcdctl snapshot restore a.db --name a --initial-cluster a=http://b:2380 --initial-advertise-peer-urls http://b:2380",
        "docker run quay.io/coreos/etcd:v3.5.0 etcdutl snapshot restore a.db --initial-cluster a=http://b:2380",
        "docker exec etcd etcdctl member list",
        "docker stop etcd && docker rm etcd",
        "ssh host 'systemctl restart etcd'",
        "kube-apiserver --etcd-servers=https://a:2379",
        "etcd grpc-proxy start --endpoints=a",
        'pkill -f "etcd --name"',
    ],
)
def test_other_commands_about_etcd(command: str) -> None:
    assert members("a.sh", f"#!/bin/sh\n{command}\n") == []


def test_options_of_systemd_docker() -> None:
    start = "/opt/bin/systemd-docker --cgroups name=systemd run --rm -v /srv:/data --name container"
    [member] = members("etcd.service", f"[Service]\nExecStart={start} quay.io/coreos/etcd:v3.5.0 -name n1 {URLS}\n")
    assert member["command"] == ["etcd", "-name", "n1", *FLAGS]
    assert member["image"] == "quay.io/coreos/etcd:v3.5.0" and member["mounts"] == ["/data"]
