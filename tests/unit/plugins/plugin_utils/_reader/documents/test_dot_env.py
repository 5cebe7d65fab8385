# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file .env has values for the Compose file beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import dot_env
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

COMPOSE = """services:
  etcd:
    image: quay.io/coreos/etcd:${ETCD_VERSION:-v3.5.0}
    command: ["etcd", "--name=$NAME", "--quota-backend-bytes=${QUOTA}"]
"""
VARIABLES = "ETCD_VERSION=v3.6.16 # the newest\nNAME='a'\n"


def service_of(texts: dict[str, str], beside: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the only service of the only document of these files."""
    (entry,) = read(texts, beside).document["files"]
    (service,) = entry["contents"]["services"].values()
    return dict(service)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}", "1"),
        ("$A", "1"),
        ("${A:-2}", "1"),
        ("${A-2}", "1"),
        ("${A:?message}", "1"),
        ("x${A}y$A", "x1y1"),
        ("${B:-$A}", "${B:-1}"),
        ("${A:-${B}}", "${A:-${B}}"),
        ("${A:+2}", "${A:+2}"),
        ("${B}", "${B}"),
        ("${B:-2}", "${B:-2}"),
        ("$$A", "$$A"),
        ("$$$A", "$$1"),
    ],
)
def test_substitute(text: str, value: str) -> None:
    document = {"services": {"etcd": {"command": [text], "environment": {"C": text}, "scale": 1}}}
    found = dot_env.substitute(document, {"A": "1"})
    marked = {dot_env.FILLED: True} if value != text else {}
    assert found == {"services": {"etcd": {"command": [value], "environment": {"C": value}, "scale": 1, **marked}}}


@pytest.mark.parametrize(
    ("environment", "value"),
    [
        (["A", "B", "C=$A", {"D": 1}], ["A=1", "B", "C=1", {"D": 1}]),
        ({"A": None, "B": None, "C": 2}, {"A": "1", "B": None, "C": 2}),
        ("A", "A"),
    ],
)
def test_variables_without_a_value(environment: Any, value: Any) -> None:
    found = dot_env.substitute({"services": {"etcd": {"environment": environment}, "other": None}}, {"A": "1"})
    marked = {dot_env.FILLED: True} if value != environment else {}
    assert found == {"services": {"etcd": {"environment": value, **marked}, "other": None}}


@pytest.mark.parametrize("document", [None, ["$A"], {"a": "$A"}, {"services": ["$A"]}])
def test_other_documents(document: Any) -> None:
    assert dot_env.substitute(document, {"A": "1"}) == document


def test_variables() -> None:
    text = '# a comment\nA=1\nexport B="2 # 3"\nC= 4 # a comment\nD=\nE=${A}\nF\nG=a#b\nH="1" # 2\nI=# 1\nJ=1\nJ=\n'
    assert dot_env.variables_of(text) == {"A": "1", "B": "2 # 3", "C": "4", "G": "a#b", "H": "1"}


def test_a_password_is_not_used() -> None:
    """It would be in a finding that shows the URL."""
    assert dot_env.variables_of("A=http://user:secret@a:2379\nB=http://a:2379/@b\n") == {"B": "http://a:2379/@b"}


def test_a_line_of_blanks_takes_no_time() -> None:
    began = time.process_time()
    assert dot_env.variables_of(f"A=x{' ' * 200_000}y\n")["A"].endswith("y")
    assert time.process_time() - began < 1


def test_values_of_a_folder() -> None:
    texts = {"a/.env": VARIABLES, "a/docker-compose.yml": COMPOSE}
    service = service_of(texts)
    assert service["image"] == "quay.io/coreos/etcd:v3.6.16"
    assert service["command"] == ["etcd", "--name=a", "--quota-backend-bytes=${QUOTA}"]
    reading = read(texts)
    assert (reading.passed_over, reading.document["unparsed"]) == ({}, {})
    assert reading.document["lines"]["a/docker-compose.yml"]["words"]["image"] == [3]


@pytest.mark.parametrize("path", ["b/.env", ".env", "a/etcd.env", "a/.env.example"])
def test_other_files(path: str) -> None:
    assert service_of({path: VARIABLES, "a/docker-compose.yml": COMPOSE})["image"].endswith("${ETCD_VERSION:-v3.5.0}")


def test_a_file_for_the_container_too() -> None:
    """With env_file, it is an environment file of the member as well."""
    compose = f"{COMPOSE}    env_file: .env\n"
    files = read({".env": f"{VARIABLES}ETCD_LISTEN_CLIENT_URLS=http://a:2379\n", "compose.yml": compose}).document[
        "files"
    ]
    assert sorted(entry["path"] for entry in files) == [".env", "compose.yml"]


def test_a_file_that_no_compose_file_uses() -> None:
    files = read({".env": "ETCD_LISTEN_CLIENT_URLS=http://a:2379\n", "compose.yml": COMPOSE}).document["files"]
    assert sorted(entry["path"] for entry in files) == [".env", "compose.yml"]


def test_a_compose_file_without_etcd() -> None:
    compose = "services:\n  web:\n    image: nginx:$NAME\n"
    (entry,) = [
        entry
        for entry in read(
            {".env": f"{VARIABLES}ETCD_LISTEN_CLIENT_URLS=http://a:2379\n", "compose.yml": compose}
        ).document["files"]
        if entry["path"] == ".env"
    ]
    assert entry["contents"]["headroom_member"]["format"] == "environment file"


@pytest.mark.parametrize("item", ["- ETCD_LISTEN_CLIENT_URLS", "ETCD_LISTEN_CLIENT_URLS:"])
def test_a_variable_that_is_passed_on(item: str) -> None:
    compose = f"services:\n  etcd:\n    image: quay.io/coreos/etcd\n    environment:\n      {item}\n"
    files = read({".env": "ETCD_LISTEN_CLIENT_URLS=http://a:2379\n", "compose.yml": compose}).document["files"]
    assert [entry["path"] for entry in files] == ["compose.yml"]


def test_beside_a_named_file(tmp_path: Path) -> None:
    compose, variables = tmp_path / "compose.yml", tmp_path / ".env"
    compose.write_text(COMPOSE, encoding="utf-8")

    def image(ignore: str = "") -> str:
        found = gather([str(compose)], ignore)
        assert (found.refused, found.passed_over, len(found.document["files"])) == ({}, {}, 1)
        return str(found.document["files"][0]["contents"]["services"]["etcd"]["image"])

    assert image().endswith("${ETCD_VERSION:-v3.5.0}")
    variables.write_text(VARIABLES, encoding="utf-8")
    assert image().endswith("v3.6.16")
    assert image(r"\.env$").endswith("${ETCD_VERSION:-v3.5.0}")
    variables.write_bytes(b"\xff\n")
    assert image().endswith("${ETCD_VERSION:-v3.5.0}")


def test_all_files_named(tmp_path: Path) -> None:
    for name, text in {"compose.yml": COMPOSE, ".env": VARIABLES}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = gather([str(tmp_path / "compose.yml"), str(tmp_path / ".env")])
    assert (found.refused, found.passed_over, found.document["unparsed"]) == ({}, {}, {})
