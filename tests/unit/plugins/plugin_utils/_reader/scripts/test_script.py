# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts that start etcd."""

from __future__ import annotations

import pytest

from tests.unit.plugins.plugin_utils._reader.reading import member_in, members_in, members_with_paths

URLS = "--listen-client-urls http://0.0.0.0:2379"
FLAGS = ["--listen-client-urls", "http://0.0.0.0:2379"]


def test_recovery_in_a_script() -> None:
    recovery = f"etcd --name a --force-new-cluster {URLS}\n"
    usual = f"etcd --name a {URLS}\n"
    both = members_in("start.sh", f"#!/bin/sh\nif lost; then\n  {recovery}else\n  {usual}fi\n")
    assert ["--force-new-cluster" in member["command"] for member in both] == [False]
    (alone,) = members_in("start.sh", f"#!/bin/sh\n{recovery}")
    assert "--force-new-cluster" in alone["command"]


@pytest.mark.parametrize(
    "line",
    [
        "systemctl status etcd --no-pager",
        "/opt/etcd/etcd --version",
        "etcd -h",
        "sudo useradd -r etcd -s /bin/false",
        "cd etcd --",
    ],
)
def test_other_commands_about_etcd(line: str) -> None:
    assert members_in("a.sh", f"#!/bin/sh\n{line}\n") == []


def test_command_after_another_one() -> None:
    (found,) = members_in("a.sh", f"#!/bin/sh\ncd /tmp && etcd --name a {URLS}\n")
    assert found["name"] == "a"


DOWNLOAD = "ETCD_VER=v3.4.2\ncurl -LO https://github.com/etcd-io/etcd/releases/download/${ETCD_VER}/etcd-${ETCD_VER}-linux-amd64.tar.gz\n"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("systemctl enable etcd", 1),
        ("sudo systemctl --now enable kubelet etcd.service", 1),
        ("service etcd restart", 1),
        ("/etc/init.d/etcd start", 1),
        ("update-rc.d etcd defaults", 1),
        ("systemctl stop etcd", 0),
        ("systemctl start etcd-backup", 0),
        ("etcd --version", 0),
    ],
)
def test_service_of_a_script(line: str, count: int) -> None:
    """A script downloads etcd and starts a unit that is in another file: only the release is known."""
    found = members_in("install.sh", f"#!/bin/sh\n{DOWNLOAD}{line}\n")
    assert [(each["release"], each["silent"]) for each in found] == [("3.4.2", ["extra_config"])] * count
    assert members_in("install.sh", f"#!/bin/sh\n{line}\n") == []


def test_container_without_arguments() -> None:
    (found,) = members_in(
        "start.sh",
        "docker kill etcd\ndocker run -d --restart always \\\n  --name etcd -p 2379:2379 bitnami/etcd:3.4.15\n",
    )
    assert found["image"] == "bitnami/etcd:3.4.15"


@pytest.mark.parametrize("line", ["V=${1:-v3.3.10}", ': "${V:=v3.3.10}"', "declare -r V=v3.3.10", "local V='v3.3.10'"])
def test_release_in_a_variable_of_the_image(line: str) -> None:
    (found,) = members_in("a.sh", f"#!/bin/sh\n{line}\ndocker run quay.io/coreos/etcd:$V etcd {URLS}\n")
    assert found["image"] == "quay.io/coreos/etcd:v3.3.10"


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
    [member] = members_in("start.sh", "#!/bin/sh\n" + command.format(f"etcd --name n1 {URLS}") + "\n")
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
def test_commands_that_start_no_etcd(command: str) -> None:
    assert members_in("a.sh", f"#!/bin/sh\n{command}\n") == []


JOB = """ETCD_VERSION=${ETCD_VERSION:-'2.3.7'}
curl -L https://github.com/coreos/etcd/releases/download/v${ETCD_VERSION}/etcd-v${ETCD_VERSION}-linux-amd64.tar.gz | tar xz
cp etcd-v${ETCD_VERSION}-linux-amd64/etcd /usr/local/bin/
cat <<EOT > /etc/init/etcd.conf
respawn
exec $ETCD $ETCD_OPTS
EOT
"""


def test_a_job_of_another_init_system() -> None:
    [member] = members_in("etcd.sh", JOB)
    assert (member["release"], member["silent"]) == ("2.3.7", ["extra_config"])


def test_a_unit_in_the_script_counts_alone() -> None:
    unit = f"[Service]\nExecStart=/usr/bin/etcd {URLS}\n"
    assert [member["format"] for member in members_in("etcd.sh", JOB.replace("respawn\n", unit))] == ["systemd unit"]


def test_a_command_of_etcdctl_is_no_member() -> None:
    assert members_in("add.sh", "#!/bin/sh\netcdctl member add etcd4 --peer-urls=http://10.0.0.4:2380\n") == []


@pytest.mark.parametrize("command", ["daemon --user etcd", "run_on node1", "timeout 5", "my-ssh $host"])
def test_a_command_in_quotes(command: str) -> None:
    assert member_in("a.sh", f'#!/bin/sh\n{command} "nohup etcd --name a {URLS} &"\n')["name"] == "a"


@pytest.mark.parametrize(
    "line",
    ["env ETCD_LISTEN_CLIENT_URLS=http://a:2379 /usr/bin/etcd", "export ETCD_LISTEN_CLIENT_URLS=http://a:2379\netcd &"],
)
def test_etcd_with_variables_alone(line: str) -> None:
    found = member_in("a.sh", f"#!/bin/sh\n{line}\n")
    assert found["format"] == "script" and "ETCD_LISTEN_CLIENT_URLS" in found["environment"]


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
    direct, unit = (found for _path, found in members_with_paths({"install.sh": SCRIPT}))
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
