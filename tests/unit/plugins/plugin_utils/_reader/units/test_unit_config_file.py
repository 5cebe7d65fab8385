# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A unit and the config file that it names."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

CONFIG = """\
name: cp1
listen-client-urls: https://a:2379
advertise-client-urls: https://a:2379
client-transport-security:
  cert-file: a
peer-transport-security:
  cert-file: b
"""
PATH = "host/etc/systemd/system/etcd.service"
KEYS = ["name", "listen-client-urls", "advertise-client-urls", "client-transport-security", "peer-transport-security"]


def unit(*directives: str) -> str:
    """A unit that starts etcd with a config file."""
    return "\n".join(["[Service]", "ExecStart=/usr/bin/etcd --config-file /etc/etcd/etcd.yml", *directives, ""])


def documents(texts: dict[str, str]) -> list[tuple[str, Any]]:
    """The documents of a reading by their paths; a member's own fields in place of its document."""
    files = read(texts).document["files"]
    return [(entry["path"], entry["contents"].get("headroom_member", entry["contents"])) for entry in files]


@pytest.mark.parametrize("directive", ["MemoryMax=2G", "Environment=GOGC=off", "Nice=-5"])
@pytest.mark.parametrize("path", ["host/etc/etcd/etcd.yml", "files/etcd.yml"])
def test_unit_with_its_config_file(directive: str, path: str) -> None:
    [(found_at, member)] = documents({PATH: unit(directive), path: CONFIG})
    assert found_at == PATH and member["name"] == "cp1" and list(member["config"]) == KEYS
    assert member["complete"] is True
    assert member["where"]["name"] == [path, 1]
    assert member["where"]["client-transport-security.cert-file"] == [path, 5]
    assert member["where"]["peer-transport-security.cert-file"] == [path, 7]


def test_config_file_in_a_variable() -> None:
    text = "[Service]\nEnvironment=ETCD_CONFIG_FILE=/etc/etcd/etcd.yml\nMemoryMax=1G\nExecStart=/usr/bin/etcd\n"
    [(_path, member)] = documents({PATH: text, "host/etc/etcd/etcd.yml": CONFIG})
    assert list(member["config"]) == KEYS and member["limit"] == {"name": "MemoryMax", "size": "1G"}


def test_config_file_with_a_relative_path() -> None:
    text = "[Service]\nMemoryMax=1G\nExecStart=/usr/bin/etcd --config-file=tcd.yml\n"
    [(_path, member), *others] = documents({PATH: text, "host/etc/etcd/etcd.yml": CONFIG})
    assert len(others) == 1 and "config" not in member
    [(_path, member)] = documents({PATH: text.replace("tcd.yml", "etcd.yml"), "host/etc/etcd/etcd.yml": CONFIG})
    assert list(member["config"]) == KEYS


def test_config_files_of_several_hosts() -> None:
    texts = {}
    for host in ("a", "b"):
        texts[f"{host}/etc/etcd.service"] = unit("MemoryMax=1G")
        texts[f"{host}/etc/etcd/etcd.yml"] = CONFIG.replace("cp1", host)
    assert [(path, member["name"]) for path, member in documents(texts)] == [
        ("a/etc/etcd.service", "a"),
        ("b/etc/etcd.service", "b"),
    ]


def test_config_files_inside_other_files() -> None:
    texts = {}
    for host in ("a", "b"):
        files = {
            "/etc/systemd/system/etcd.service": unit("MemoryMax=1G"),
            "/etc/etcd/etcd.yml": CONFIG.replace("cp1", host),
        }
        written = "".join(f"cat > {path} <<'EOF'\n{text}EOF\n" for path, text in files.items())
        texts[f"{host}.sh"] = f"#!/bin/sh\n{written}"
    assert [(path, member["name"]) for path, member in documents(texts)] == [("a.sh", "a"), ("b.sh", "b")]


def test_config_file_that_fills_in_later() -> None:
    config = CONFIG.replace("cp1", "{{ name }}")
    [(_path, member)] = documents({PATH: unit("MemoryMax=1G"), "host/etc/etcd/etcd.yml": config})
    assert "config" in member and "complete" not in member


@pytest.mark.parametrize(
    "others",
    [
        {"etcd/other.yml": CONFIG},
        # Which of them is the unit's is open.
        {"a/etcd.yml": CONFIG, "b/etcd.yml": CONFIG},
        {"etcd/etcd.yml": f"{CONFIG}---\n{CONFIG}"},
    ],
)
def test_unit_without_its_config_file(others: dict[str, str]) -> None:
    found = documents({PATH: unit("MemoryMax=1G"), **others})
    [member] = [member for path, member in found if path == PATH]
    assert "config" not in member and len(found) > 1
