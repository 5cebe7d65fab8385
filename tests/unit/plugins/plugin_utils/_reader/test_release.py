# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release of etcd that a text names."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.release import find_release
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

from tests.unit.plugins.plugin_utils._reader.reading import members_in


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


@pytest.mark.parametrize("text", ["ETCD_VERSION=${ETCD_VERSION:-'2.3.7'}", 'ETCD_VERSION="${ETCD_VERSION:-"2.3.7"}"'])
def test_a_default_in_quotes(text: str) -> None:
    found = find_release(lines_of("a.sh", text))
    assert found is not None and found[0] == "2.3.7"


def test_the_release_in_a_packed_text() -> None:
    unit = "[Service]\\nEnvironment=ETCD_IMAGE_TAG=v3.2.0\\nExecStart=/usr/bin/etcd --name a\\n"
    [member] = members_in("a.json", f'{{"units": [{{"name": "etcd.service", "contents": "{unit}"}}]}}')
    assert member["release"] == "3.2.0"
