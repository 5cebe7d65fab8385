# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways in which public files differ: cloud-init's commands, downloads, units that repeat their variables, and recoveries in scripts."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.release import find_release
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

URLS = "--listen-client-urls http://0.0.0.0:2379"
CLOUD_CONFIG = f"""#cloud-config
runcmd:
  - curl -LO https://github.com/etcd-io/etcd/releases/download/v3.4.13/etcd-v3.4.13-linux-amd64.tar.gz
  - [sh, -c, "nohup etcd --name a {URLS} &"]
  - [etcd, --name, b, --listen-client-urls, "http://0.0.0.0:2379"]
  - |
    docker run quay.io/coreos/etcd:v3.5.1 etcd --name c {URLS}
  - 5
"""
UNIT = "[Service]\n{variables}ExecStart={command}--name=${{ETCD_NAME}} --data-dir $ETCD_DATA_DIR --wal-dir=$WAL --max-wals=5\n"


def members(path: str, text: str) -> list[dict[str, Any]]:
    """The members in one file."""
    files = read({path: text}).document["files"]
    return [entry["contents"]["headroom_member"] for entry in files if "headroom_member" in entry["contents"]]


@pytest.mark.parametrize("path", ["user-data", "init.yaml", "init.yml.tftpl"])
def test_commands_of_cloud_init(path: str) -> None:
    found = {member["name"]: member for member in members(path, CLOUD_CONFIG)}
    assert {name: member["release"] for name, member in found.items()} == {"a": "3.4.13", "b": "3.4.13", "c": None}
    assert found["c"]["image"] == "quay.io/coreos/etcd:v3.5.1"
    assert found["a"]["where"]["--name"] == [path, 4]
    assert found["c"]["where"]["--name"] == [path, 7]
    assert found["a"]["where"]["etcd_version"] == [path, 3]


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("ETCD_VER=v3.3.8\n", "3.3.8"),
        ('export ETCD_VERSION="3.3.8"\n', "3.3.8"),
        ("Environment=ETCD_IMAGE_TAG=v3.2.0\n", "3.2.0"),
        ("tar xf etcd-v3.4.3-linux-arm64.tar.gz\n", "3.4.3"),
        ("yum install http://a/etcd-3.3.11-2.el7.centos.x86_64.rpm\n", "3.3.11"),
        ("Environment=ETCD_IMAGE_TAG=v3.5.0-arm64\n", "3.5.0"),
        ("  version: 3.5.8\n    url: a/etcd-v{{ version }}-linux-amd64.tar.gz\n", "3.5.8"),
        ("V=3.5.8\ncurl a/etcd-v${V}-linux-amd64.tar.gz\n", "3.5.8"),
        ("V=3.5.8\nKUBE=1.30.1\ncurl a/kube-${KUBE}.tar.gz\n", None),
        ("ETCD_VERSION=v3.5.5\nrm -f etcd-v2.0.10-linux-amd64*\n", "3.5.5"),
        ("ETCD_VER=v3.3.8\nETCD_VERSION=v3.3.9\n", None),
        ("#ETCD_VER=v3.3.8\n", None),
        ("ETCD_VER=${ETCD_VER:-v3.5.3}\n", "3.5.3"),
        ("V=${1:-3.5.8} # of etcd\ncurl a/etcd-v${V}-linux-amd64.tar.gz\n", "3.5.8"),
        ("URL=a/b ETCD_VER=v3.5.4; \\\n", "3.5.4"),
        ("A=1; B=2; ETCD_VER=v3.5.4\n", "3.5.4"),
        ("OLD_ETCD=a KUBE_VERSION=v1.30.1\n", None),
        ("A=1 ETCD_VER=v3.5.4 make\n", None),
        ("env ETCD_HOME=/srv/etcd-3.0.1\n", "3.0.1"),
        ("A=/srv/etcd-3.0.1\nB=/srv/etcd-3.0.2\n", None),
        ("A=/srv/etcd-3.0.1-old\n", None),
        ("ETCD_VER=v3.3.8 # the newest\n", "3.3.8"),
        ("etcd_image: k8s.gcr.io/etcd:3.3.10\n", "3.3.10"),
        ("ETCD_IMAGE=registry:5000/a/etcd:v3.5.16-0\n", "3.5.16"),
        ("etcd_image: a/etcd-operator:3.3.10\n", None),
        ("ETCD_VER=${OTHER}\n", None),
        ('v=${v:-v3.5.9}\nETCD_VER="${v}"\ncurl a/etcd-${ETCD_VER}-linux-amd64.tar.gz\n', "3.5.9"),
        ("KUBE_VERSION=v1.30.1\n", None),
        ("ETCD_VER=v3.3.8-${ARCH}\n", None),
        ("local ETCD_VER=v3.3.8; echo\n", "3.3.8"),
        ("ETCD_VERSION ?= v3.3.8\n", "3.3.8"),
        ("ENV V 3.3.8\nRUN curl a/etcd/releases/download/v${V}/a.tgz\n", "3.3.8"),
        ("V=3.3.8\nurl=a/etcd-v${V}-$OS-$ARCH.tar.gz\n", "3.3.8"),
        ("k8s_etcd_version: 3.3.8\netcd_backup_version: 1.2.3\n", "3.3.8"),
        ("apt-get install etcd=3.3.25+dfsg-6\n", "3.3.25"),
        ("git clone -b v3.4.9 https://github.com/etcd-io/etcd.git\n", "3.4.9"),
        ("etcd:\n  version: 3.3.8\n  x:\n    tag: 1.2.3\n", "3.3.8"),
    ],
)
def test_release(text: str, release: str | None) -> None:
    found = find_release(lines_of("x", text))
    assert (found[0] if found else None) == release


@pytest.mark.parametrize(
    ("variables", "command", "twice"),
    [
        ("EnvironmentFile=-/etc/etcd.conf\n", "etcd ", {"name": "ETCD_NAME", "data-dir": "ETCD_DATA_DIR"}),
        # Nothing says that the variables are set.
        ("", "etcd ", {}),
        # docker does not pass them on.
        ("EnvironmentFile=/etc/etcd.conf\n", "docker run quay.io/coreos/etcd:v3.5.1 etcd ", {}),
    ],
)
def test_flags_that_repeat_variables(variables: str, command: str, twice: dict[str, str]) -> None:
    (found,) = members("etcd.service", UNIT.format(variables=variables, command=command))
    assert found["twice"] == twice


def test_variables_of_wrappers() -> None:
    (found,) = members(
        "etcd.env", "ETCD_NAME=a\nETCD_DATA_DIR=/d\nETCD_IMAGE_TAG=v3.2.0\nETCD_OPTS=\nETCD_SSL_DIR=/s\n"
    )
    assert found["environment"] == {"ETCD_NAME": "a", "ETCD_DATA_DIR": "/d"}
    assert found["release"] == "3.2.0"


def test_recovery_in_a_script() -> None:
    recovery = f"etcd --name a --force-new-cluster {URLS}\n"
    usual = f"etcd --name a {URLS}\n"
    both = members("start.sh", f"#!/bin/sh\nif lost; then\n  {recovery}else\n  {usual}fi\n")
    assert ["--force-new-cluster" in member["command"] for member in both] == [False]
    (alone,) = members("start.sh", f"#!/bin/sh\n{recovery}")
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
    assert members("a.sh", f"#!/bin/sh\n{line}\n") == []


def test_command_after_another_one() -> None:
    (found,) = members("a.sh", f"#!/bin/sh\ncd /tmp && etcd --name a {URLS}\n")
    assert found["name"] == "a"


def test_flag_without_its_equals_sign() -> None:
    (found,) = members("etcd.service", "[Service]\nExecStart=etcd --cert-file/etc/a.pem --name a\n")
    assert found["where"]["--cert-file/etc/a.pem"] == ["etcd.service", 2]


WRITE_FILES = """#cloud-config
write_files:
  - path: /etc/kubernetes/manifests/etcd.yaml
    content: |
      apiVersion: v1
      kind: Pod
      spec: {{containers: [{{name: etcd, image: "etcd:v3.5.4"}}]}}
  - path: /etc/rancher/k3s/config.yaml
    content: |
      cluster-init: true
  - path: /etc/other.yaml
    content: |
      apiVersion: v1
      kind: Service
  - path: /etc/default/etcd
    encoding: b64
    content: {encoded}
  - path: /etc/lost
    encoding: b64
    content: ${{base64encode(file)}}
  - path: /etc/etcd/etcd.conf.yml
    content: |
      listen-client-urls: http://0.0.0.0:2379
      advertise-client-urls: http://10.0.0.1:2379
runcmd:
  - curl -LO https://github.com/etcd-io/etcd/releases/download/v3.5.0/etcd-v3.5.0-linux-amd64.tar.gz
"""


def test_files_of_cloud_init() -> None:
    encoded = base64.b64encode(b"ETCD_NAME=a\nETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\n").decode()
    document = read({"user-data": WRITE_FILES.format(encoded=encoded)}).document
    contents = [entry["contents"] for entry in document["files"]][1:]
    assert [each.get("kind") for each in contents if "apiVersion" in each] == ["Pod"]
    assert {"cluster-init": True} in contents
    (decoded,) = (each["headroom_member"] for each in contents if "headroom_member" in each)
    assert decoded["environment"]["ETCD_NAME"] == "a"
    assert decoded["where"]["ETCD_NAME"] == ["user-data", 17]
    (config,) = (each for each in contents if "listen-client-urls" in each)
    assert config["headroom_release"] == "3.5.0"
    assert document["unparsed"] == {}


NIX = """{ config, ... }: {
  services.nginx.enable = true;
  text = ''
    #cloud-config
    write_files:
      - path: /etc/default/etcd
        content: |
          ETCD_NAME=a
          ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
  '';
}
"""


def test_texts_in_nix() -> None:
    (found,) = members("host.nix", NIX)
    assert found["where"]["ETCD_NAME"] == ["host.nix", 8]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ services.etcd.enable = true; }", "does not evaluate options of NixOS"),
        ("{\n  services = {\n    etcd = {\n", "does not evaluate options of NixOS"),
        ("{ services.nginx.enable = true; }", None),
    ],
)
def test_options_of_nix(text: str, reason: str | None) -> None:
    unparsed = read({"host.nix": text}).document["unparsed"]
    assert (reason in unparsed["host.nix"]) if reason else unparsed == {}


def test_working_directory() -> None:
    """There etcd creates the data directory if no setting names it."""
    (found,) = members("etcd.service", "[Service]\nWorkingDirectory=/var/lib/etcd\nExecStart=etcd --name a\n")
    assert found["silent"] == ["data_dir"]


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
    found = members("install.sh", f"#!/bin/sh\n{DOWNLOAD}{line}\n")
    assert [(each["release"], each["silent"]) for each in found] == [("3.4.2", ["extra_config"])] * count
    assert members("install.sh", f"#!/bin/sh\n{line}\n") == []


def test_container_without_arguments() -> None:
    (found,) = members(
        "start.sh",
        "docker kill etcd\ndocker run -d --restart always \\\n  --name etcd -p 2379:2379 bitnami/etcd:3.4.15\n",
    )
    assert found["image"] == "bitnami/etcd:3.4.15"


def test_unit_without_flags_in_a_script() -> None:
    """The script writes the unit's variables as well."""
    text = (
        "#!/bin/bash\ncat <<EOF | sudo tee /etc/etcd/etcd.env\nETCD_NAME=a\nETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\nEOF\n"
        "cat << EOF | sudo tee /etc/systemd/system/etcd.service\n[Service]\nEnvironmentFile=/etc/etcd/etcd.env\nExecStart=/usr/local/bin/etcd\nEOF\n"
    )
    (found,) = members("install.sh", text)
    assert (found["format"], found["environment"]["ETCD_NAME"]) == ("systemd unit", "a")


def test_other_units_in_a_script() -> None:
    text = "#!/bin/bash\ncat <<EOF > /etc/systemd/system/x.service\n[Service]\nExecStart=/usr/bin/etcdctl get x\nEOF\n"
    reading = read({"install.sh": text})
    assert reading.document["files"] == []
    assert reading.passed_over == {"install.sh": "it configures no etcd"}


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        ("echo 'ETCD_LISTEN_PEER_URLS=\"http://0.0.0.0:2380\"' | sudo tee -a /etc/default/etcd", "http://0.0.0.0:2380"),
        ("echo ETCD_LISTEN_PEER_URLS=http://$IP:2380 >> /etc/default/etcd", "http://$IP:2380"),
        ("sudo printf 'ETCD_LISTEN_PEER_URLS=%s\\n' $URL >> /etc/default/etcd", "${value}"),
        (
            "sed -i 's/^#*ETCD_LISTEN_PEER_URLS=.*/ETCD_LISTEN_PEER_URLS=http:\\/\\/a:2380/g' /etc/default/etcd",
            "http://a:2380",
        ),
        (
            'sed -i "s|ETCD_LISTEN_PEER_URLS=\\".*\\"|ETCD_LISTEN_PEER_URLS=\\"http://a:2380\\"|" /etc/default/etcd',
            "http://a:2380",
        ),
        ('sed -i \'/# x/a ETCD_NAME="x"\\nETCD_LISTEN_PEER_URLS="http://a:2380"\' /etc/default/etcd', "http://a:2380"),
        ("URL=http://a:2380\necho ETCD_LISTEN_PEER_URLS=$URL >> /etc/default/etcd", "http://a:2380"),
    ],
)
def test_variables_that_commands_write(command: str, variables: str) -> None:
    [found] = members("setup.sh", f"#!/bin/sh\n{command}\n")
    assert (found["format"], found["environment"]["ETCD_LISTEN_PEER_URLS"]) == ("environment file", variables)
    assert found["where"]["ETCD_LISTEN_PEER_URLS"] == ["setup.sh", 2 + command.count("\n", 0, command.find("ETCD_"))]


@pytest.mark.parametrize(
    "command", ["sed -i '/ETCD_LISTEN_PEER_URLS=/d' /etc/default/etcd", "echo use ETCD_ENDPOINTS=http://a:2379"]
)
def test_commands_that_configure_no_member(command: str) -> None:
    assert members("setup.sh", f"#!/bin/sh\n{command}\n") == []


def test_tabs_in_a_here_document() -> None:
    [found] = members(
        "setup.sh", f"#!/bin/sh\n\tcat > etcd.service <<-EOF\n\t[Service]\n\tExecStart=etcd {URLS}\n\tEOF\n"
    )
    assert (found["format"], found["command"]) == ("systemd unit", ["etcd", *URLS.split()])


@pytest.mark.parametrize(
    ("option", "folders"),
    [
        ("-v /data:/var/lib/etcd:Z", {"/var/lib/etcd": "/data"}),
        ("--mount type=volume,src=x,target=/d", {"/d": ""}),
        ("--mount type=bind,source=/tmp/x,destination=/d", {"/d": "/tmp/x"}),
        ("-v /d", {"/d": ""}),
        ("-d", {}),
    ],
)
def test_volumes_of_a_container(option: str, folders: dict[str, str]) -> None:
    [found] = members("run.sh", f"#!/bin/sh\ndocker run {option} quay.io/coreos/etcd:v3.5.1 etcd {URLS}\n")
    assert (found["mounts"], found["folders"]) == ([*folders], folders)


def test_priorities_of_a_unit() -> None:
    [found] = members("etcd.service", f"[Service]\nExecStart=etcd {URLS}\nIOSchedulingClass=realtime\nNice=-20\n")
    assert found["facts"] == {
        "io_class": {"name": "IOSchedulingClass", "value": "realtime"},
        "nice": {"name": "Nice", "value": "-20"},
    }
    assert found["where"]["IOSchedulingClass"] == ["etcd.service", 3]
