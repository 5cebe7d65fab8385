# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are passed over or not read, variables that files expand, and clients of etcd."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

UNREAD = {
    "etcd.yaml": ("etcd:\n{{- if x }}\n- --listen-client-urls={{ y }}\n", "it is a template (line 2)"),
    "bad.yml": ("a: [\nquota-backend-bytes: 5\n--snapshot-count=1\n", "line 4 is not valid YAML"),
    "main.tf": ('args = [\n  "--listen-client-urls=x",\n]\n', "it mentions --listen-client-urls in line 2, in a form"),
}


@pytest.mark.parametrize("path", UNREAD)
def test_unread_files_are_named(path: str) -> None:
    text, reason = UNREAD[path]
    reading = read({path: text})
    assert reason in reading.document["unparsed"][path]
    assert not reading.document["files"]


def test_other_files_are_passed_over() -> None:
    texts = {
        "README.md": "# etcd\n",
        "a.service": "[Service]\nExecStart=/bin/true\n",
        "b.sh": "#!/bin/sh\nls\n",
        "e": "",
    }
    reading = read(texts)
    assert reading.document == {"files": [], "lines": {}, "unparsed": {}, "translated": {}, "expanded": []}
    assert set(reading.passed_over) == set(texts)


def test_expanded_variables() -> None:
    texts = {
        "a.sh": "export ETCD_PORT=2379 ETCD_NAME=a\netcd --listen-client-urls http://$ETCD_HOST:${ETCD_PORT}\n",
        "b.ps1": 'etcd --name "$env:ETCD_HOSTNAME"\n',
        "c.cmd": "etcd --name %ETCD_COMPUTER%\n",
        "d.yml": "command: [etcd, --name, $(ETCD_POD)]\n",
        "e.sh": 'export ETCD_QUOTA="${ETCD_QUOTA:-5}" ETCD_SIZE=$ETCD_SIZE\n',
    }
    expected = ["ETCD_COMPUTER", "ETCD_HOST", "ETCD_HOSTNAME", "ETCD_POD", "ETCD_PORT"]
    assert read(texts).document["expanded"] == expected


@pytest.mark.parametrize(
    ("path", "text", "compacts"),
    [
        ("a.sh", "etcdctl --endpoints=http://a:2379 compact $revision\n", True),
        ("a.sh", "etcdctl --endpoints=http://a:2379 \\\n  compact $revision\n", True),
        ("job.yml", "command: [sh, -c, etcdctl compaction 5]\n", True),
        ("a.sh", "# etcdctl compact 5\netcdctl defrag # and compact\n", False),
        ("a.sh", "cp etcd etcdctl /bin; etcd --auto-compaction-retention=0\n", False),
        ("a.md", "etcdctl compact 5\n", False),
    ],
)
def test_a_client_that_compacts(path: str, text: str, compacts: bool) -> None:
    assert read({path: text}).document.get("compacts") == ([path] if compacts else None)


CONFIG = "name: cp1\ndata-dir: /d\nlisten-client-urls: https://a:2379\nadvertise-client-urls: https://a:2379\n"


@pytest.mark.parametrize(
    ("directives", "path", "number"),
    [
        ("ExecStart=/usr/bin/etcd --config-file /etc/etcd/etcd.yml", "etcd/etcd.yml", 0),
        ("ExecStart=/usr/bin/etcd --config-file=/etc/etcd/etcd.yml", "files/etcd.yml", 0),
        # What the unit adds is judged, and so is a start with another config file.
        ("Environment=ETCD_NAME=a\nExecStart=/usr/bin/etcd --config-file /etc/etcd.yml", "etcd.yml", 1),
        ("MemoryMax=1G\nExecStart=/usr/bin/etcd --config-file /etc/etcd.yml", "etcd.yml", 1),
        ("ExecStart=/usr/bin/etcd --config-file /etc/etcd.yml --pre-vote", "etcd.yml", 1),
        ("ExecStart=/usr/bin/etcd --config-file /etc/other.yml", "etcd.yml", 1),
    ],
)
def test_a_unit_whose_config_file_is_among_the_files(directives: str, path: str, number: int) -> None:
    unit = f"[Service]\n{directives}\n"
    assert number_of_members({path: CONFIG, "etcd.service": unit}) == number
    cloud = "#cloud-config\nwrite_files:\n"
    for target, text in ((f"/etc/{path}", CONFIG), ("/etc/systemd/system/etcd.service", unit)):
        cloud += f"  - path: {target}\n    content: |\n" + "".join(f"      {line}\n" for line in text.splitlines())
    assert number_of_members({"user-data": cloud}) == number


def number_of_members(texts: dict[str, str]) -> int:
    """The number of members besides those of config files."""
    return sum("headroom_member" in entry["contents"] for entry in read(texts).document["files"])


@pytest.mark.parametrize(
    ("text", "is_of_program"),
    [
        ("[server]\nport = 8080\n[etcd] # client\nendpoints = http://10.0.0.1:2379\ntimeout = 5\n", True),
        ("[etcd]\nhost=10.0.0.1\nport=2379\n", True),
        ('[etcd]\nhosts = [\n  "10.0.0.1:2379",\n]\nname = "svc"\n[[etcd.more]]\n"a.b" = 1\n', True),
        # Inventories with a mistake, and settings of a server.
        ("[etcd]\nn1 10.0.0.1\n", False),
        ("[etcd]\nansible_host=10.0.0.1\n", False),
        ("[etcd]\nn1\n[etcd:vars]\nb=c\n[other]\na=b\n", False),
        ("[etcd]\nquota-backend-bytes = 8\nlisten-client-urls = http://a:2379\n", False),
    ],
)
def test_settings_of_a_client(text: str, is_of_program: bool) -> None:
    reading = read({"conf.ini": text})
    reasons = [*reading.passed_over.values(), *reading.document["unparsed"].values()]
    assert (reasons == ["it configures no etcd"]) is is_of_program and reasons


@pytest.mark.parametrize("text", ['args = ["--listen-client-urls", "x"]', "<string>--listen-client-urls</string>"])
def test_no_form_is_passed_over_in_silence(text: str) -> None:
    assert "--listen-client-urls in line 1" in read({"etcd.nomad": text}).document["unparsed"]["etcd.nomad"]
