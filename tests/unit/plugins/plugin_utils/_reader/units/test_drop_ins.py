# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which drop-ins belong to a unit."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

UNIT = "[Service]\nExecStart=/usr/bin/etcd --name {host}\n"


def limits(texts: dict[str, str]) -> dict[str, str | None]:
    """Return name → limit of the members in these files."""
    found = [entry["contents"]["headroom_member"] for entry in read(texts).document["files"]]
    return {member["name"]: member["limit"] and member["limit"]["size"] for member in found}


@pytest.mark.parametrize("folder", ["etc/systemd/system", "usr/lib/systemd/system"])
def test_drop_ins_of_several_hosts(folder: str) -> None:
    units = {f"{host}/{folder}/etcd.service": UNIT.format(host=host) for host in ("a", "b", "c")}
    drop_ins = {
        f"{host}/etc/systemd/system/etcd.service.d/memory.conf": f"[Service]\nMemoryMax={size}\n"
        for host, size in (("b", "1G"), ("c", "2G"))
    }
    assert limits({**units, **drop_ins}) == {"a": None, "b": "1G", "c": "2G"}


def test_drop_ins_inside_other_files() -> None:
    texts = {}
    for host in ("a", "b"):
        path = "/etc/systemd/system/etcd.service"
        drop_in = f"[Service]\nEnvironment=ETCD_LISTEN_CLIENT_URLS=http://{host}:2379\n"
        files = {path: UNIT.format(host=host), f"{path}.d/x.conf": drop_in}
        written = "".join(f"cat > {name} <<'EOF'\n{text}EOF\n" for name, text in files.items())
        texts[f"{host}.sh"] = f"#!/bin/sh\n{written}"
    found = [entry["contents"]["headroom_member"]["environment"] for entry in read(texts).document["files"]]
    assert found == [{"ETCD_LISTEN_CLIENT_URLS": f"http://{host}:2379"} for host in ("a", "b")]


def test_drop_ins_in_the_order_of_their_names() -> None:
    texts = {
        "etc/systemd/system/etcd.service.d/20.conf": "[Service]\nMemoryMax=2G\n",
        "run/systemd/system/etcd.service.d/10.conf": "[Service]\nMemoryMax=1G\n",
        "usr/lib/systemd/system/etcd.service": UNIT.format(host="a"),
    }
    assert limits(texts) == {"a": "2G"}


def test_drop_ins_of_several_hosts_without_their_units() -> None:
    texts = {
        f"{host}/etc/systemd/system/etcd.service.d/{number}.conf": f'[Service]\nEnvironment="ETCD_NAME={host}"\n'
        for host in ("a", "b")
        for number in (1, 2)
    }
    assert [entry["contents"]["headroom_member"]["name"] for entry in read(texts).document["files"]] == ["a", "b"]


@pytest.mark.parametrize("folder", ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"])
def test_drop_in_of_a_host_without_its_unit(folder: str) -> None:
    """The unit of a package was not fetched from host b."""
    texts = {
        f"a/{folder}/etcd.service": UNIT.format(host="a"),
        "b/etc/systemd/system/etcd.service.d/10.conf": '[Service]\nMemoryMax=1G\nEnvironment="ETCD_NAME=b"\n',
    }
    assert limits(texts) == {"a": None, "b": "1G"}


@pytest.mark.parametrize(
    ("unit", "root"),
    [
        ("etc/systemd/system", "a"),
        ("common/etc/systemd/system", "common/a"),
        ("units", "a"),
        ("roles/etcd/files/etc/systemd/system", "roles/etcd/templates"),
    ],
)
def test_drop_in_of_a_unit_for_all_hosts(unit: str, root: str) -> None:
    drop_in = "[Service]\nMemoryMax=1G\n"
    texts = {f"{unit}/etcd.service": UNIT.format(host="a"), f"{root}/etc/systemd/system/etcd.service.d/1.conf": drop_in}
    assert limits(texts) == {"a": "1G"}
