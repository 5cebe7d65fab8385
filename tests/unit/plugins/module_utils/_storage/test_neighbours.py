# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Neighbours on a disk, found by their usual folders and by open files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import neighbours


def disk_of_all(_number: str) -> list[str]:
    return ["vdb"]


def a_process(proc: Path, pid: int, comm: str, cmdline: str, *files: tuple[Path, str]) -> None:
    """A process as /proc shows it, with files open under their flags (octal)."""
    for folder in ("fd", "fdinfo"):
        (proc / str(pid) / folder).mkdir(parents=True)
    (proc / str(pid) / "comm").write_text(f"{comm}\n")
    (proc / str(pid) / "cmdline").write_text(cmdline.replace(" ", "\0"))
    for number, (path, flags) in enumerate(files):
        os.symlink(path, proc / str(pid) / "fd" / str(number))
        (proc / str(pid) / "fdinfo" / str(number)).write_text(f"pos:\t0\nflags:\t{flags}\n")


@pytest.mark.parametrize(
    ("comm", "cmdline", "name"),
    [
        ("postgres", "", "PostgreSQL"),
        ("mongod", "", "MongoDB"),
        ("java", "java -Xmx1g org.elasticsearch.bootstrap.Elasticsearch", "Elasticsearch"),
        ("java", "java kafka.Kafka server.properties", "Kafka"),
        ("java", "java -jar shop.jar", None),
        ("etcd", "etcd --config-file=/etc/etcd/etcd.yml", None),
        ("bash", "bash kafka.Kafka", None),
    ],
)
def test_service_is_detected_by_process(comm: str, cmdline: str, name: str | None) -> None:
    found = neighbours.detect_service(comm, cmdline)
    assert (found.name if found else None) == name


def test_only_folders_with_content_count(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "var/lib/postgresql/15").mkdir(parents=True)
    (tmp_path / "var/lib/mysql").mkdir()
    (found,) = neighbours.find_neighbours(disk_of_all, str(tmp_path), str(tmp_path / "proc"))
    assert (found.name, found.path, found.disks) == ("PostgreSQL", "/var/lib/postgresql", ("vdb",))


def test_open_files_count_outside_the_usual_folders(tmp_path: Path) -> None:
    data, binary = tmp_path / "srv/data.wt", tmp_path / "binary"
    data.parent.mkdir()
    data.touch()
    binary.touch()
    a_process(tmp_path / "proc", 12, "mongod", "", (binary, "0100000"), (data, "0100002"), (data, "0102001"))
    a_process(tmp_path / "proc", 13, "prometheus", "", (binary, "0100000"))
    a_process(tmp_path / "proc", 14, "cat", "", (data, "0100002"))
    found = neighbours.find_neighbours(disk_of_all, str(tmp_path / "root"), str(tmp_path / "proc"))
    assert [(one.name, one.path) for one in found] == [("MongoDB", str(data))]


def test_data_without_a_disk_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "var/lib/docker/overlay2").mkdir(parents=True)
    assert neighbours.find_neighbours(lambda _number: [], str(tmp_path), str(tmp_path / "proc")) == []


def test_each_service_and_disk_is_named_once() -> None:
    found = [
        neighbours.Neighbour("PostgreSQL", "/var/lib/postgresql", ("vdb",)),
        neighbours.Neighbour("PostgreSQL", "/var/lib/postgresql/15/base/1", ("vdb",)),
        neighbours.Neighbour("Docker", "/var/lib/docker", ("vda", "vdc")),
    ]
    assert neighbours.on_disks(found, ["vdb", "vdc"]) == [
        {"name": "PostgreSQL", "path": "/var/lib/postgresql", "disk": "vdb"},
        {"name": "Docker", "path": "/var/lib/docker", "disk": "vdc"},
    ]
