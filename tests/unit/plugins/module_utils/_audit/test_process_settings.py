# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.process_settings import (
    flag_value,
    read_process_settings,
)

CONFIG = """# Managed by somebody
name: "m1"
data-dir: /var/lib/etcd  # the disk
discovery-config:
  client:
    auth:
      password: hunter2
client-transport-security:
  cert-file: /pki/server.crt
peer-transport-security:
  cert-file: '/pki/peer.crt'
"""


@pytest.fixture(name="folder")
def folder_of_process(tmp_path: Path) -> Path:
    """Return a process's folder in /proc whose root is the folder ``root`` in it."""
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "cwd").symlink_to("/srv")
    return tmp_path


def start(folder: Path, words: list[str], environment: dict[str, str]) -> None:
    (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
    entries = (f"{name}={value}".encode() + b"\0" for name, value in environment.items())
    (folder / "environ").write_bytes(b"".join(entries))


def test_flags_win_over_variables_and_no_password_is_returned(folder: Path) -> None:
    words = ["etcd", "--name=m1", "--discovery-password", "hunter2", "--discovery-endpoints=https://me:hunter2@a:2379"]
    environment = {"ETCD_NAME": "m2", "ETCD_DATA_DIR": "data", "ETCD_ROOT_PASSWORD": "hunter2", "AWS_KEY": "hunter2"}
    start(folder, [*words, "--discovery-secret=hunter2"], environment)
    found = read_process_settings(str(folder))
    assert (found.setting("name"), found.setting("data-dir"), found.setting("wal-dir")) == ("m1", "data", "")
    assert found.path("data") == f"{folder}/root/srv/data"
    assert "hunter2" not in repr(found) and "AWS_KEY" not in found.environment
    assert found.command_line[2:] == [
        "--discovery-password",
        "***",
        "--discovery-endpoints=https://***@a:2379",
        "--discovery-secret=***",
    ]


def test_with_a_config_file_nothing_else_counts(folder: Path) -> None:
    (folder / "root" / "etc" / "etcd.yml").write_text(CONFIG)
    start(folder, ["etcd", "--config-file", "/etc/etcd.yml", "--name=m9"], {"ETCD_NAME": "m2"})
    found = read_process_settings(str(folder))
    assert (found.setting("name"), found.setting("data-dir")) == ("m1", "/var/lib/etcd")
    assert (found.setting("cert-file"), found.setting("peer-cert-file")) == ("/pki/server.crt", "/pki/peer.crt")
    assert "hunter2" not in found.config_text and '      password: "***"\n' in found.config_text


def test_a_config_file_that_is_gone_is_a_problem(folder: Path) -> None:
    start(folder, ["etcd"], {"ETCD_CONFIG_FILE": "/etc/etcd.yml"})
    assert read_process_settings(str(folder)).problem == "its config file /etc/etcd.yml cannot be read"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"name": "m1"}', ""),
        ("listen-peer-urls: http://a:2380\n", ""),
        ("# only a comment\n", "has no setting"),
        ("- name: m1\n", "has no setting"),
        ('---\n# etcd reads it as YAML\n{\n"name": "m1",\n}\n', "has no setting"),
        ("data-dir: /d\n", ""),
        ("{name: m1,\n data-dir: /d}\n", "has no setting"),
    ],
)
def test_a_config_file_that_is_not_understood_is_a_problem(folder: Path, text: str, problem: str) -> None:
    (folder / "root" / "etc" / "etcd.yml").write_text(text)
    start(folder, ["etcd", "--config-file=/etc/etcd.yml"], {})
    found = read_process_settings(str(folder))
    assert problem in found.problem and bool(problem) == bool(found.problem)


def test_a_process_that_is_gone_is_empty(tmp_path: Path) -> None:
    found = read_process_settings(str(tmp_path / "nothing"))
    assert (found.command_line, found.environment, found.readable) == ([], {}, False)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["etcd", "--name=a"], "a"),
        (["etcd", "-name", "a"], "a"),
        (["etcd", "--name=a", "--name", "b"], "b"),
        (["etcd", "--names=a"], ""),
        (["etcd", "--name"], ""),
        ([], ""),
    ],
)
def test_the_last_value_of_a_flag_counts(words: list[str], value: str) -> None:
    assert flag_value(words, "name") == value


def test_links_of_a_container_lead_nowhere_outside_it(folder: Path) -> None:
    """A container decides what its links point to. The audit runs as root of the host."""
    (folder / "secret").write_text("of the host")
    root = folder / "root"
    (root / "etc" / "absolute").symlink_to(folder / "secret")
    (root / "etc" / "upwards").symlink_to("../../secret")
    (root / "etc" / "loop").symlink_to("loop")
    (root / "srv").mkdir()
    (root / "srv" / "etcd.yml").write_text("name: inside")
    (root / "etc" / "etcd.yml").symlink_to("/srv/etcd.yml")
    os.mkfifo(root / "etc" / "pipe")
    for name, text in [("absolute", ""), ("upwards", ""), ("loop", ""), ("pipe", ""), ("etcd.yml", "name: inside")]:
        start(folder, ["etcd", f"--config-file=/etc/{name}"], {})
        assert read_process_settings(str(folder)).config_text == text
