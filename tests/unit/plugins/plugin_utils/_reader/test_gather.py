# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of files that were not read: those that a user named, and those of a folder."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather

CLIENT = "#!/bin/sh\netcdctl --endpoints=a get b\n"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.sh", CLIENT, "it configures no etcd"),
        ("etcd.md", "# etcd\n\n[home](a.md)\n", "it configures no etcd"),
        ("etcd.service", "[Service]\nExecStart=/usr/local/bin/start\n", "it starts no etcd"),
        ("Dockerfile", "FROM debian\nRUN apt install etcd\n", "its image does not start etcd by itself"),
    ],
)
def test_a_named_file_without_etcd(tmp_path: Path, name: str, text: str, reason: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = gather([str(path)])
    assert (found.refused, found.passed_over) == ({}, {str(path): reason})
    assert found.document["without_etcd"] == {str(path): reason} and found.document["unparsed"] == {}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.yml", "a: [", "line 2 is not valid YAML"),
        ("hosts", "[web]\na b\n", "not an inventory"),
        ("a.txt", "use --initial-cluster\n", "it mentions --initial-cluster in line 1"),
    ],
)
def test_a_named_file_that_cannot_be_read(tmp_path: Path, name: str, text: str, reason: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = gather([str(path)])
    assert found.refused[str(path)].startswith(reason) and found.passed_over == {}
    assert found.messages() == [f"{path} was not read: {found.refused[str(path)]}"]
    assert "without_etcd" not in found.document


def test_a_folder_must_contain_etcd(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(CLIENT, encoding="utf-8")
    found = gather([str(tmp_path)])
    assert "without_etcd" not in found.document and list(found.passed_over.values()) == ["it configures no etcd"]


def test_other_files_are_named_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(CLIENT, encoding="utf-8")
    (tmp_path / "hosts.yml").write_text("web: {hosts: {a: {}}}\n", encoding="utf-8")
    found = gather([str(tmp_path / "a.sh"), str(tmp_path / "hosts.yml")])
    assert "without_etcd" not in found.document and found.refused == {}


UNIT = "[Service]\nExecStart=/usr/bin/etcd --name n1\n"


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("multi-user.target.wants/etcd.service", "../etcd.service"),
        # In a copy of another host's /etc.
        ("multi-user.target.wants/etcd.service", "/no/etc/systemd/system/etcd.service"),
        ("cluster.target.requires/etcd.service", "../etcd.service"),
        ("etcd2.service", "etcd.service"),
    ],
)
def test_link_to_a_unit(tmp_path: Path, link: str, target: str) -> None:
    (tmp_path / "etcd.service").write_text(UNIT, encoding="utf-8")
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(target)
    found = gather([str(tmp_path)])
    assert [entry["path"] for entry in found.document["files"]] == [str(tmp_path / "etcd.service")]
    assert found.passed_over == {} and found.refused == {}


def test_links_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "units").mkdir()
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "etcd.txt").write_text(UNIT, encoding="utf-8")
    (tmp_path / "units" / "etcd.service").symlink_to("../etcd.txt")
    (tmp_path / "host_vars" / "a.yml").write_text("etcd_name: a\n", encoding="utf-8")
    (tmp_path / "host_vars" / "b.yml").symlink_to("a.yml")
    [*paths] = (entry["path"] for entry in gather([str(tmp_path / "host_vars")]).document["files"])
    assert [Path(path).name for path in paths] == ["a.yml", "b.yml"]
    [unit] = gather([str(tmp_path / "units")]).document["files"]
    assert unit["path"] == str(tmp_path / "units" / "etcd.service")


@pytest.mark.parametrize(
    ("name", "is_read"),
    [
        ("a.conf", True),
        ("a.conf.j2", True),
        ("a.conf.disabled", False),
        ("a.off", False),
        ("README", False),
    ],
)
def test_names_of_drop_ins(tmp_path: Path, name: str, is_read: bool) -> None:
    folder = tmp_path / "etcd.service.d"
    folder.mkdir()
    (tmp_path / "etcd.service").write_text(UNIT, encoding="utf-8")
    (folder / name).write_text("[Service]\nEnvironment=ETCD_UNSAFE_NO_FSYNC=true\n", encoding="utf-8")
    found = gather([str(tmp_path)])
    [member] = (entry["contents"]["headroom_member"] for entry in found.document["files"])
    assert member["environment"] == ({"ETCD_UNSAFE_NO_FSYNC": "true"} if is_read else {})
    ignored = {str(folder / name): "systemd reads only *.conf in this folder"}
    assert found.passed_over == ({} if is_read else ignored)


# Latin-1, and what PowerShell writes.
@pytest.mark.parametrize("content", [b"# f\xfcr etcd \x85\n", "\ufeff# für etcd\n".encode("utf-16-le")])
def test_file_that_is_not_utf_8(tmp_path: Path, content: bytes) -> None:
    setting = "ETCD_UNSAFE_NO_FSYNC=true\n"
    (tmp_path / "etcd.env").write_bytes(content + setting.encode("utf-16-le" if b"\0" in content else "ascii"))
    (tmp_path / "etcd.service").write_text(f"{UNIT}EnvironmentFile={tmp_path}/etcd.env\n", encoding="utf-8")
    for paths in ([tmp_path], [tmp_path / "etcd.service", tmp_path / "etcd.env"]):
        found = gather(map(str, paths))
        [member] = (entry["contents"]["headroom_member"] for entry in found.document["files"])
        assert member["environment"] == {"ETCD_UNSAFE_NO_FSYNC": "true"} and member["unknown"] == {}
        assert member["where"]["ETCD_UNSAFE_NO_FSYNC"] == [str(tmp_path / "etcd.env"), 2]
        assert found.document["unparsed"] == found.refused == found.passed_over == {}


def test_yaml_that_is_not_utf_8(tmp_path: Path) -> None:
    # Neither Ansible nor etcd reads it.
    path = tmp_path / "etcd.yml"
    path.write_bytes(b"name: a # f\xfcr etcd\nlisten-client-urls: http://a:1\nunsafe-no-fsync: true\n")
    why = {str(path): "it is not UTF-8 text, as YAML and JSON must be: save it as UTF-8"}
    for named, refused in ((tmp_path, {}), (path, why)):
        found = gather([str(named)])
        assert (found.document["unparsed"], found.refused, found.passed_over) == (why, refused, {})
        [entry] = found.document["files"]
        assert entry["contents"]["unsafe-no-fsync"] is True
        assert found.messages() == [f"{name} was read only in part: {reason}" for name, reason in refused.items()]


def test_other_files_that_are_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_bytes(b"a: \xfc\n")
    (tmp_path / "b").write_bytes(b"\x7fELF\0\xff ETCD_INITIAL_CLUSTER=a\n")
    found = gather([str(tmp_path)])
    assert found.document["unparsed"] == found.refused == {}
    assert [Path(path).name for path in found.passed_over] == ["a.yml", "b"]


@pytest.mark.parametrize("links", [1, 2])
def test_links_to_a_folder_around_them(tmp_path: Path, links: int) -> None:
    roles = tmp_path / "molecule" / "default" / "roles"
    roles.mkdir(parents=True)
    (tmp_path / "etcd.service").write_text(UNIT, encoding="utf-8")
    for number in range(links):
        (roles / f"me{number}").symlink_to("../../..")
    [unit] = gather([str(tmp_path)]).document["files"]
    assert unit["path"] == str(tmp_path / "etcd.service")


def test_two_links_to_one_folder(tmp_path: Path) -> None:
    # Of two inventories with the same variables, each has them.
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "all.yml").write_text("etcd_name: a\n", encoding="utf-8")
    for name in ("a", "b"):
        (tmp_path / "inventories" / name).mkdir(parents=True)
        (tmp_path / "inventories" / name / "group_vars").symlink_to("../../shared")
    found = gather([str(tmp_path / "inventories")]).document["files"]
    assert [entry["path"] for entry in found] == [
        str(tmp_path / "inventories" / name / "group_vars" / "all.yml") for name in ("a", "b")
    ]


def test_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def scandir(path: str) -> Any:
        if Path(path).name == "secret":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    (tmp_path / "secret").mkdir()
    monkeypatch.setattr(os, "scandir", scandir)
    assert gather([str(tmp_path)]).passed_over == {str(tmp_path / "secret"): "Permission denied"}


def test_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "etcd.service"
    os.mkfifo(pipe)
    # Nobody writes into it: opening it would block for ever.
    assert gather([str(tmp_path)]).passed_over == {str(pipe): "it is a pipe, a socket or a device"}
    writer = threading.Thread(target=pipe.write_text, args=(UNIT,), daemon=True)
    writer.start()
    [unit] = gather([str(pipe)]).document["files"]
    writer.join(10)
    assert unit["path"] == str(pipe) and unit["contents"]["headroom_member"]["command"][-1] == "n1"


def test_working_directory_only_for_paths_that_need_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for path in ("waivers.yml", "work/waivers.yml"):
        (tmp_path / path).write_text("waivers: []\n")
    assert "working_directory" not in gather(["waivers.yml"]).document
    for path in ("../waivers.yml", str(tmp_path / "waivers.yml")):
        assert gather([path]).document["working_directory"] == str(tmp_path / "work")
