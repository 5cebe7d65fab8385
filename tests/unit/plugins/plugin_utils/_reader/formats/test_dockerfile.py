# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dockerfiles whose image starts etcd, and those whose image starts something else."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import member_in, members_in

URLS = "http://0.0.0.0:2379"

ENTRYPOINT = f"""\
FROM golang:1.23 AS build
CMD etcd --name wrong
FROM --platform=linux/amd64 quay.io/coreos/etcd:v3.4.3
ENV ETCD_LISTEN_CLIENT_URLS={URLS} \\
    ETCD_UNSAFE_NO_FSYNC=true
ENV ETCD_NAME a b
ENTRYPOINT ["/usr/local/bin/etcd"]
CMD ["--advertise-client-urls={URLS}", "--data-dir=/data"]
"""


def member(text: str, path: str = "Dockerfile") -> dict[str, Any]:
    (found,) = read({path: text}).document["files"]
    return found["contents"]["headroom_member"]


def test_entrypoint_and_command() -> None:
    found = member(ENTRYPOINT)
    assert found["image"] == "quay.io/coreos/etcd:v3.4.3"
    assert found["command"] == ["etcd", f"--advertise-client-urls={URLS}", "--data-dir=/data"]
    assert found["environment"] == {
        "ETCD_LISTEN_CLIENT_URLS": URLS,
        "ETCD_UNSAFE_NO_FSYNC": "true",
        "ETCD_NAME": "a b",
    }
    assert found["where"]["ETCD_UNSAFE_NO_FSYNC"] == ["Dockerfile", 5]
    assert found["where"]["etcd_version"] == ["Dockerfile", 3]
    assert found["silent"] == ["extra_config"]


@pytest.mark.parametrize("path", ["etcd.Dockerfile", "build/Dockerfile.etcd", "Dockerfile-etcd", "Containerfile"])
def test_names(path: str) -> None:
    assert member(f"FROM alpine\nCMD etcd --listen-client-urls {URLS}\n", path)["image"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("FROM quay.io/coreos/etcd:v3.5.1\nCMD ['--name', 'a']\n", ["etcd", "--name", "a"]),
        (f"FROM quay.io/coreos/etcd:v3.5.1\nENV ETCD_LISTEN_CLIENT_URLS={URLS}\n", ["etcd"]),
        ('FROM alpine\nENV NODE=a\nCMD ["sh", "-c", "etcd --name $NODE"]\n', ["etcd", "--name", "a"]),
        ('FROM alpine\nENTRYPOINT ["docker-entrypoint.sh"]\nCMD ["etcd", "--name", "a"]\n', ["etcd", "--name", "a"]),
        ('FROM alpine\nENTRYPOINT ["/tini", "--", "/run.sh"]\nCMD ["etcd"]\n', ["etcd"]),
    ],
)
def test_commands(text: str, words: list[str]) -> None:
    assert member(text)["command"] == words


def test_start_script() -> None:
    """Of an image that a script starts, only the release is known; ARG gives it by default."""
    text = (
        "ARG VERSION=3.6.6\nARG OTHER\nFROM quay.io/coreos/etcd:v${VERSION}\nENV ETCD_RETRIES=5\nENTRYPOINT /start.sh\n"
    )
    found = member(text)
    assert (found["image"], found["environment"]) == ("quay.io/coreos/etcd:v3.6.6", {})
    assert found["silent"] == ["extra_config"]
    assert member("FROM k8s.gcr.io/etcd-amd64:3.1.12\n")["image"] == "k8s.gcr.io/etcd-amd64:3.1.12"
    assert member("FROM quay.io/coreos/etcd:${VERSION:-v3.5.1}\n")["image"] == "quay.io/coreos/etcd:v3.5.1"
    assert member("FROM quay.io/coreos/etcd:$VERSION\n")["image"] == "quay.io/coreos/etcd:$VERSION"


def test_downloaded_release() -> None:
    text = "FROM alpine\nRUN curl -LO https://x/etcd/releases/download/v3.5.0/etcd-v3.5.0-linux-amd64.tar.gz\nCMD etcd --name a\n"
    assert member(text)["release"] == "3.5.0"


SCRIPT_WITH_RELEASE = """\
FROM debian AS download
ARG ETCD_VERSION=v3.4.1
RUN curl -L https://storage.googleapis.com/etcd/${ETCD_VERSION}/etcd-${ETCD_VERSION}-linux-amd64.tar.gz | tar xz -C /etcd
FROM debian
COPY --from=download /etcd/etcd* /usr/bin/
EXPOSE 2379 2380
ENTRYPOINT ["/dumb-init", "--", "/start.sh"]
"""


def test_installed_release_that_a_script_starts() -> None:
    found = member(SCRIPT_WITH_RELEASE)
    assert (found["release"], found["command"], found["silent"]) == ("3.4.1", ["etcd"], ["extra_config"])
    assert found["where"]["etcd_version"] == ["Dockerfile", 2]


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("EXPOSE 2379 2380", "EXPOSE 8080"),
        ('"/start.sh"', '"/bin/other"'),
        ('"--", "/start.sh"', '"etcdctl", "/start.sh"'),
        ("COPY --from=download /etcd/etcd* /usr/bin/", "COPY --from=download /etcd/etcdctl /usr/bin/"),
    ],
)
def test_installed_release_of_another_program(part: str, other: str) -> None:
    assert part in SCRIPT_WITH_RELEASE
    assert read({"Dockerfile": SCRIPT_WITH_RELEASE.replace(part, other)}).document["files"] == []


def test_here_document() -> None:
    text = (
        "FROM alpine\nENV ETCD_VERSION=v3.5.13\nRUN cat > /Procfile <<'EOF'\n"
        'a: etcd --name a --listen-client-urls http://0.0.0.0:2379\nEOF\nCMD ["/start.sh"]\n'
    )
    found = member(text)
    assert (found["release"], found["command"][:3]) == ("3.5.13", ["etcd", "--name", "a"])
    assert found["where"]["--name"] == ["Dockerfile", 4]


@pytest.mark.parametrize(
    "text",
    [
        "FROM scratch\nCOPY a /a\n",
        "FROM alpine\nENV ETCD_INITIAL_CLUSTER=x\nCMD /start.sh\n",
    ],
)
def test_other_images(text: str) -> None:
    """A start script that is not shown may set anything, so nothing is judged; nor is the file about etcd's settings in a form that is not known."""
    found = read({"Dockerfile": text})
    assert found.document["files"] == []
    assert found.document["unparsed"] == {}
    assert found.passed_over == {"Dockerfile": "its image does not start etcd by itself"}


def test_variables_of_an_image() -> None:
    text = (
        "FROM debian\nARG ETCD_VERSION=v3.5.5\nENV ETCD_ROOT=/opt ETCD_NMAE=a\nENV ETCD_LISTEN_CLIENT_URLS http://0.0.0.0:2379\n"
        'RUN rm -f etcd-v2.0.10-linux-amd64*\nENTRYPOINT ["/run.sh"]\nCMD ["bash", "-c", "${ETCD_ROOT}/etcd"]\n'
    )
    [member] = members_in("Dockerfile", text)
    assert set(member["environment"]) == {"ETCD_NMAE", "ETCD_LISTEN_CLIENT_URLS"}, "the file uses ETCD_ROOT itself"
    assert member["release"] == "3.5.5"


def test_an_image_of_etcdctl() -> None:
    assert members_in("Dockerfile", 'FROM quay.io/coreos/etcd:v3.5.0\nENTRYPOINT ["etcdctl"]\n') == []


@pytest.mark.parametrize(
    ("copy", "image"),
    [
        ("COPY --from=build /usr/local/bin/etcd /bin/", "quay.io/coreos/etcd:v3.5.2"),
        ("COPY --chown=a --from=quay.io/coreos/etcd:v3.5.1 /usr/local/bin/etcd* /bin/", "quay.io/coreos/etcd:v3.5.1"),
        ("COPY --from=build /usr/local/bin/etcdctl /bin/", None),
        ("COPY --from=other /etcd /bin/", None),
    ],
)
def test_an_image_that_copies_etcd(copy: str, image: str | None) -> None:
    text = f"FROM quay.io/coreos/etcd:v3.5.2 AS build\nFROM golang AS other\nFROM debian\n{copy}\nCMD etcd\n"
    assert member_in("Dockerfile", text)["image"] == image
