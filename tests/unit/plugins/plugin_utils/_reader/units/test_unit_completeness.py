# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A unit is complete if the files that were read state all settings of its member."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

START = "ExecStart=/usr/bin/etcd --listen-client-urls http://127.0.0.1:2379\n"
UNIT = f"[Service]\n{START}"
WITH_FILE = f"[Service]\nEnvironmentFile=/etc/etcd.env\n{START}"
VARIABLES = "ETCD_NAME=a\nETCD_INITIAL_CLUSTER=a=http://10.0.0.1:2380\n"


def is_complete(texts: dict[str, str]) -> bool:
    """Return whether the only member of these files is complete."""
    (entry,) = read(texts).document["files"]
    return (
        bool(entry["contents"]["headroom_member"].get("complete"))
        and not entry["contents"]["headroom_member"]["unknown"]
    )


@pytest.mark.parametrize(
    "texts",
    [
        {"etcd.service": UNIT},
        {"etcd.service": UNIT, "etcd.service.d/limits.conf": "[Service]\nMemoryMax=4G\n"},
        {"etcd.service": WITH_FILE, "etc/etcd.env": VARIABLES},
    ],
)
def test_complete(texts: dict[str, str]) -> None:
    assert is_complete(texts)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param({"etcd.service": WITH_FILE}, id="an environment file that is unread"),
        pytest.param({"etcd.service": WITH_FILE.replace("=/etc", "=-/etc")}, id="an optional one"),
        pytest.param({"etcd.service": f"{UNIT}Environment=ETCD_NAME={{{{ name }}}}\n"}, id="a template"),
        pytest.param(
            {"etcd.service": f"{UNIT}{{% if a %}}\nEnvironment=ETCD_NAME=a\n{{% endif %}}\n"}, id="a condition"
        ),
        pytest.param({"etcd.service": f"{UNIT}Environment=${{variables}}\n"}, id="variables to fill in"),
        pytest.param({"etcd.service": f"{UNIT}Nice=%NICE%\n"}, id="another word to replace"),
        pytest.param({"etcd.service": f"{UNIT}%{{ if a }}Nice=1%{{ endif }}\n"}, id="a template of Terraform"),
        pytest.param({"etcd.service.erb": f"{UNIT}<%= @flags %>\n"}, id="a template of Puppet"),
        pytest.param(
            {"etcd.service": WITH_FILE, "etc/etcd.env": f"{VARIABLES}ETCD_DATA_DIR=__DIR__\n"}, id="a word to replace"
        ),
        pytest.param(
            {"etcd.service": WITH_FILE, "etc/etcd.env": f"{VARIABLES}#ETCD_ADVERTISE_CLIENT_URLS=\n"},
            id="a line to fill in",
        ),
        pytest.param(
            {"etcd.service": UNIT.replace("/usr/bin/etcd ", "/bin/sh -c 'etcd ").replace("2379", "2379'")}, id="a shell"
        ),
        pytest.param({"etcd.service": UNIT.replace("2379", "2379 $OPTIONS")}, id="flags to fill in"),
        pytest.param({"etcd.service": f"{UNIT}ExecStart=/usr/bin/true\n"}, id="two commands"),
        pytest.param(
            {"etcd.service": UNIT.replace("/usr/bin/etcd", "/usr/bin/env A=b etcd")}, id="a program around etcd"
        ),
        pytest.param(
            {"etcd.service": UNIT.replace("/usr/bin/etcd", "/usr/bin/docker run quay.io/coreos/etcd etcd")},
            id="a container",
        ),
        pytest.param({"etcd.service.d/start.conf": UNIT}, id="a drop-in alone"),
        pytest.param({"install.sh": f"cat > /etc/systemd/system/etcd.service <<EOF\n{UNIT}EOF\n"}, id="a script"),
        pytest.param({"start.sh": "etcd --listen-client-urls http://127.0.0.1:2379\n"}, id="a command"),
    ],
)
def test_not_complete(texts: dict[str, str]) -> None:
    assert not is_complete(texts)
