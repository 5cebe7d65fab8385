# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that scripts write."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import documents_in, members_in

URLS = "--listen-client-urls http://0.0.0.0:2379"


def test_unit_without_flags_in_a_script() -> None:
    """The script writes the unit's variables as well."""
    text = (
        "#!/bin/bash\ncat <<EOF | sudo tee /etc/etcd/etcd.env\nETCD_NAME=a\nETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379\nEOF\n"
        "cat << EOF | sudo tee /etc/systemd/system/etcd.service\n[Service]\nEnvironmentFile=/etc/etcd/etcd.env\nExecStart=/usr/local/bin/etcd\nEOF\n"
    )
    (found,) = members_in("install.sh", text)
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
    [found] = members_in("setup.sh", f"#!/bin/sh\n{command}\n")
    assert (found["format"], found["environment"]["ETCD_LISTEN_PEER_URLS"]) == ("environment file", variables)
    assert found["where"]["ETCD_LISTEN_PEER_URLS"] == ["setup.sh", 2 + command.count("\n", 0, command.find("ETCD_"))]


@pytest.mark.parametrize(
    "command", ["sed -i '/ETCD_LISTEN_PEER_URLS=/d' /etc/default/etcd", "echo use ETCD_ENDPOINTS=http://a:2379"]
)
def test_commands_that_configure_no_member(command: str) -> None:
    assert members_in("setup.sh", f"#!/bin/sh\n{command}\n") == []


def test_tabs_in_a_here_document() -> None:
    [found] = members_in(
        "setup.sh", f"#!/bin/sh\n\tcat > etcd.service <<-EOF\n\t[Service]\n\tExecStart=etcd {URLS}\n\tEOF\n"
    )
    assert (found["format"], found["command"]) == ("systemd unit", ["etcd", *URLS.split()])


def test_a_script_that_writes_a_short_configuration() -> None:
    script = (
        "#!/bin/sh\ncat > /etc/etcd/etcd.conf.yml<<EOF\nname: a\ndata-dir: /b\nlisten-client-urls: http://a:2379\nEOF\n"
    )
    [file] = read({"a.sh": script}).document["files"]
    assert file["contents"] == {"name": "a", "data-dir": "/b", "listen-client-urls": "http://a:2379"}


def test_a_manifest_in_a_script() -> None:
    manifest = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: etcd, command: [etcd, --listen-client-urls=http://0.0.0.0:2379]}\n"
    [entry] = read({"up.sh": f"kubectl apply -f - <<EOF\n{manifest}EOF\n"}).document["files"]
    assert entry["contents"]["kind"] == "Pod"


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ('echo "ETCD_NAME=$1\nETCD_DATA_DIR=$D\nETCD_LISTEN_CLIENT_URLS=http://a:2379" > /etc/etcd.conf', 1),
        ("sudo printf 'ETCD_DATA_DIR=/d\nETCD_LISTEN_CLIENT_URLS=http://a:2379\n' | tee /etc/etcd.conf", 1),
        ('echo "ETCD_DATA_DIR=/d\nETCD_LISTEN_CLIENT_URLS=http://a:2379"', 0),
        ('echo "ETCD_DATA_DIR=/d\nETCD_LISTEN_CLIENT_URLS=http://a:2379', 0),
    ],
)
def test_a_text_that_echo_writes(command: str, count: int) -> None:
    written = documents_in("a.sh", f"#!/bin/sh\nD=/d\n{command}\nexit 0\n")
    assert [each["headroom_member"]["environment"]["ETCD_DATA_DIR"] for each in written] == ["/d"] * count
    if written:
        assert written[0]["headroom_member"]["where"]["ETCD_LISTEN_CLIENT_URLS"][0] == "a.sh"
