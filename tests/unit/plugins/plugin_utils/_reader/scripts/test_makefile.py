# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makefiles that start or install etcd."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts.makefile import is_makefile, shell_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

from tests.unit.plugins.plugin_utils._reader.reading import documents_in, member_in

URLS = "--listen-client-urls http://0.0.0.0:2379"


@pytest.mark.parametrize(
    ("path", "found"), [("a/Makefile", True), ("Makefile.etcd", True), ("etcd.mk", True), ("Makefiles/a", False)]
)
def test_names_of_makefiles(path: str, found: bool) -> None:
    assert is_makefile(path) == found


MAKEFILE = f"""ETCD_IMAGE ?= quay.io/coreos/etcd:v3.5.3 # newest
export ARGS := --name a "x"
etcd: deps
\t@docker run $(ETCD_IMAGE) \\
  etcd --name $$HOSTNAME {URLS}
"""


def test_a_makefile() -> None:
    texts = [line.text for line in shell_lines(lines_of("Makefile", MAKEFILE))]
    assert texts == [
        'ETCD_IMAGE="quay.io/coreos/etcd:v3.5.3"',
        "export ARGS='--name a \"x\"'",
        "",
        "docker run ${ETCD_IMAGE} \\",
        f"  etcd --name $HOSTNAME {URLS}",
    ]
    found = member_in("Makefile", MAKEFILE)
    assert found["image"] == "quay.io/coreos/etcd:v3.5.3"
    assert found["where"]["--name"] == ["Makefile", 5]


INSTALLS = """PRODUCT = etcd
VERSION = 3.4.3
ARCHIVE = ${PRODUCT}-v${VERSION}-linux-amd64.tar.gz

fetch:
\tcurl -LO https://github.com/etcd-io/etcd/releases/download/v$(VERSION)/${ARCHIVE}
\ttar xzf ${ARCHIVE}

install:
\tinstall -m 0755 ${PRODUCT}-v${VERSION}-linux-amd64/etcdctl /usr/bin/
"""


@pytest.mark.parametrize(
    ("more", "releases"),
    [
        ("", []),
        ("\tinstall -m 0644 files/host-${PRODUCT}.service /etc/systemd/system/\n", ["3.4.3"]),
        ("\tinstall ${PRODUCT}-v${VERSION}-linux-amd64/${PRODUCT} /usr/bin/\n", ["3.4.3"]),
    ],
)
def test_a_makefile_that_installs(more: str, releases: list[str]) -> None:
    found = [one["headroom_member"] for one in documents_in("Makefile", INSTALLS + more) if "headroom_member" in one]
    assert [one["release"] for one in found] == releases
