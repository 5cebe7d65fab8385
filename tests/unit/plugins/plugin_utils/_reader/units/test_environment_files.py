# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which environment files belong to a unit."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import Reading, read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import (
    read_environment_of_unit,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

from tests.unit.plugins.plugin_utils._reader.reading import members_in

UNIT = "[Service]\nEnvironmentFile=-{named}\nExecStart=/usr/bin/etcd --name n1\n"

PATH = "host/etc/systemd/system/etcd.service"


def members(reading: Reading) -> list[dict[str, Any]]:
    """The members of a reading."""
    return [entry["contents"]["headroom_member"] for entry in reading.document["files"]]


@pytest.mark.parametrize("path", ["host/etc/default/etcd", "host/etc/systemd/system/etcd"])
@pytest.mark.parametrize(
    "environment", [{"GOGC": "off"}, {"ETCD_WAL_DIR": "/w"}, {"ETCD_ENDPOINTS": "a", "ETCD_DATA_DIR": "/d"}]
)
def test_file_that_only_its_unit_describes(path: str, environment: dict[str, str]) -> None:
    text = "".join(f"{name}={value}\n" for name, value in environment.items())
    reading = read({PATH: UNIT.format(named="/etc/default/etcd"), path: text})
    [member] = members(reading)
    assert member["environment"] == environment and member["unknown"] == {}
    assert reading.passed_over == {} and reading.document["unparsed"] == {}


def test_files_of_other_names_do_not_belong_to_the_unit() -> None:
    texts = {PATH: UNIT.format(named="/etc/default/etcd"), "host/other/etcd": "GOGC=off\n"}
    reading = read(texts)
    [member] = members(reading)
    assert member["environment"] == {} and reading.passed_over == {"host/other/etcd": "it configures no etcd"}
    assert member["unknown"] == {"EnvironmentFile=/etc/default/etcd": "it is not among the files"}


@pytest.mark.parametrize("root", ["", "root/"])
def test_file_below_the_root_of_its_unit(root: str) -> None:
    environment = f"{root}etc/etcd/etcd.conf"
    texts = {
        f"{root}etc/systemd/system/etcd.service": UNIT.format(named="/etc/etcd/etcd.conf"),
        environment: "ETCD_LISTEN_CLIENT_URLS=http://10.0.0.1:2379\n",
        "old/etcd.conf": "ETCD_LISTEN_CLIENT_URLS=http://10.0.0.2:2379\n",
    }
    found = {member["where"]["ETCD_LISTEN_CLIENT_URLS"][0]: member for member in members(read(texts))}
    assert set(found) == {environment, "old/etcd.conf"}
    assert found[environment]["format"] == "systemd unit" and found[environment]["unknown"] == {}


@pytest.mark.parametrize("text", ["ETCD_UNSAFE_NO_FSYNC=true\n", "GOGC=50\n"])
def test_files_of_several_hosts(text: str) -> None:
    texts = {}
    for host in ("a", "b"):
        texts[f"{host}/etc/etcd.service"] = UNIT.format(named="/etc/default/etcd")
        texts[f"{host}/etc/default/etcd"] = text
    found = members(read(texts))
    assert [member["unknown"] for member in found] == [{}, {}]
    name = text.partition("=")[0]
    assert [member["where"][name][0] for member in found] == ["a/etc/default/etcd", "b/etc/default/etcd"]


@pytest.mark.parametrize("text", ["ETCD_QUOTA_BACKEND_BYTES=1\n", "GOGC=50\n"])
@pytest.mark.parametrize("named", ["/etc/etcd.env", "/etc/etcd.*"])
def test_file_of_another_host(named: str, text: str) -> None:
    """Host b has no such file: the dash before its path means that it may be missing."""
    units = {f"{host}/etc/systemd/system/etcd.service": UNIT.format(named=named) for host in ("a", "b")}
    own, other = members(read({**units, "a/etc/etcd.env": text}))
    name, value = text.strip().split("=")
    assert own["environment"] == {name: value} and own["unknown"] == {}
    assert other["environment"] == {} and other["unknown"] == {f"EnvironmentFile={named}": "it is not among the files"}


@pytest.mark.parametrize(
    ("unit", "path"),
    [
        ("etc/systemd/system", "a/etc/etcd.env"),
        ("a/units", "b/etc/etcd.env"),
        ("a/etc/systemd/system", "b/templates/etcd.env"),
        ("roles/etcd/files/etc/systemd/system", "roles/etcd/templates/etc/etcd.env"),
    ],
)
def test_file_elsewhere_of_no_other_host(unit: str, path: str) -> None:
    texts = {f"{unit}/etcd.service": UNIT.format(named="/etc/etcd.env"), path: "ETCD_QUOTA_BACKEND_BYTES=1\n"}
    [member] = members(read(texts))
    assert member["environment"] == {"ETCD_QUOTA_BACKEND_BYTES": "1"}


def test_relative_path_of_an_environment_file() -> None:
    """Docker resolves it from a folder that the unit does not name."""
    unit = "[Service]\nExecStart=/usr/bin/docker run --env-file {named} quay.io/coreos/etcd:v3.5.1\n"
    texts = {f"{folder}/etcd.env": f"ETCD_LISTEN_CLIENT_URLS=http://{folder}:2379\n" for folder in ("a", "old")}
    for named, environment in (
        ("a/etcd.env", {"ETCD_LISTEN_CLIENT_URLS": "http://a:2379"}),
        ("./a/etcd.env", {"ETCD_LISTEN_CLIENT_URLS": "http://a:2379"}),
        # Not the end of old/etcd.env.
        ("ld/etcd.env", {}),
    ):
        [found] = [
            member for member in members(read({"etcd.service": unit.format(named=named), **texts})) if member["image"]
        ]
        assert found["environment"] == environment, named


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("/etc/etcd.d/*.env", ["GOGC", "ETCD_UNSAFE_NO_FSYNC"]),
        ("/etc/etcd.d/[1-2].env", ["GOGC", "ETCD_UNSAFE_NO_FSYNC"]),
        ("/etc/etcd.d/[!1].env", ["ETCD_UNSAFE_NO_FSYNC"]),
        ("/etc/etcd.d/?.env", ["GOGC", "ETCD_UNSAFE_NO_FSYNC"]),
        ("/etc/*.env", ["ETCD_DEBUG"]),
        ("/etc/etcd.d/[", []),
        ("/etc/etcd.d/[z-a].env", []),
        ("/etc/etcd.d/[!]", []),
        ("/etc/none/*", []),
    ],
)
def test_pattern_of_a_unit(pattern: str, names: list[str]) -> None:
    files = {"2.env": "ETCD_UNSAFE_NO_FSYNC=true\n", "1.env": "GOGC=50\nETCD_UNSAFE_NO_FSYNC=false\n"}
    texts = {f"host/etc/etcd.d/{name}": text for name, text in files.items()}
    [member, *_rest] = members(read({PATH: UNIT.format(named=pattern), **texts, "host/etc/x.env": "ETCD_DEBUG=1\n"}))
    values = {"GOGC": "50", "ETCD_UNSAFE_NO_FSYNC": "true", "ETCD_DEBUG": "1"}
    assert member["environment"] == {name: values[name] for name in names}
    assert (member["unknown"] == {}) is bool(names)


def test_pattern_of_the_units_of_several_hosts() -> None:
    texts = {}
    for host in ("a", "b"):
        texts[f"{host}/etc/etcd.service"] = UNIT.format(named="/etc/etcd.d/*.env")
        texts[f"{host}/etc/etcd.d/1.env"] = f"ETCD_LISTEN_CLIENT_URLS=http://{host}:2379\n"
    found = [member["environment"]["ETCD_LISTEN_CLIENT_URLS"] for member in members(read(texts))]
    assert found == ["http://a:2379", "http://b:2379"]


@pytest.mark.parametrize(
    ("path", "variable", "count"),
    [
        ("web.service.d/x.conf", "ETCD_UNSAFE_NO_FSYNC", 1),
        ("web.service.d/x.conf", "ETCD_FORCE_NEW_CLUSTER", 1),
        ("web.service.d/x.conf", "ETCD_MAX_TXN_OPS", 0),
        ("etcd.service.d/x.conf", "ETCD_MAX_TXN_OPS", 1),
        ("etcd.service.d/x.conf", "GOGC", 1),
        ("etcd.service.d/x.conf", "PATH", 0),
    ],
)
def test_drop_in_without_its_unit(path: str, variable: str, count: int) -> None:
    found = members(read({path: f'[Service]\nEnvironment="{variable}=5"\n'}))
    assert [member["environment"] for member in found] == [{variable: "5"}] * count


def test_flags_in_a_quoted_value_of_several_lines() -> None:
    unit = "[Service]\nEnvironmentFile=/etc/default/etcd\nExecStart=/usr/bin/etcd $ETCD_OPTS --name n1\n"
    environment = 'ETCD_OPTS="--snapshot-count=10000\n--unsafe-no-fsync"\n'
    [member] = members(read({PATH: unit, "host/etc/default/etcd": environment}))
    assert member["command"] == ["etcd", "--snapshot-count=10000", "--unsafe-no-fsync", "--name", "n1"]


CONTAINER = """systemd:
  units:
    - name: etcd-member.service
      contents: |
        [Service]
        Environment=ETCD_IMAGE=quay.io/coreos/etcd:v3.5.4
        ExecStartPre=/usr/bin/docker run -d --env-file /etc/etcd/etcd.env $${ETCD_IMAGE}
        ExecStart=docker logs -f etcd
storage:
  files:
    - path: FILE
      contents:
        inline: |
          ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
"""


@pytest.mark.parametrize(("path", "found"), [("/etc/etcd/etcd.env", True), ("/etc/other.env", False)])
def test_a_container_with_an_environment_file(path: str, found: bool) -> None:
    member = members_in("etcd.yaml", CONTAINER.replace("FILE", path))[0]
    assert member["image"] == "quay.io/coreos/etcd:v3.5.4"
    assert ("ETCD_LISTEN_CLIENT_URLS" in member["environment"]) == found
    unread = {"--env-file /etc/etcd/etcd.env": "it is not among the files"}
    assert member["unknown"] == ({} if found else unread)
    [started] = members_in("a.sh", "docker run --env-file /etc/etcd/etcd.env quay.io/coreos/etcd:v3.5.4\n")
    assert started["unknown"] == unread


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        # There are no comments behind a value.
        ('A="/var/lib/etcd"   # disk\n', [("A", "/var/lib/etcd# disk", 1)]),
        ("A='5m'# text\nB=c # d  \n", [("A", "5m# text", 1), ("B", "c # d", 2)]),
        ("# A=1\n  ; A=2\n[Member]\n\nA = 3 \n", [("A", "3", 5)]),
        # Quotes end a text; in one without quotes they are characters.
        ('A="b" \'c d\' e"f"\n', [("A", 'bc de"f"', 1)]),
        ('A=""\nB=\nC="d "\n', [("A", "", 1), ("B", "", 2), ("C", "d ", 3)]),
        # Backslashes continue a line, and escape.
        ("A=b\\\n  c\nD=e\\ f\n", [("A", "b  c", 1), ("D", "e f", 3)]),
        ('A="b\\"\\$\\n\\\nc"\nD=\'\\"\'\n', [("A", 'b"$\\nc', 1), ("D", '\\"', 3)]),
        # A value may have several lines, and one that nobody closes has all.
        ("A='b\nC=d'\nE=f\n", [("A", "b\nC=d", 1), ("E", "f", 3)]),
        ('A=1\nB="c\nD=e\n', [("A", "1", 1), ("B", "c\nD=e\n", 2)]),
        ("1A=b\nA B=c\nC: d\n=e\n", []),
    ],
)
def test_value_as_systemd_reads_it(text: str, variables: list[tuple[str, str, int]]) -> None:
    """The values are those of systemd 252: the program in /usr/lib/systemd/user-environment-generators reads such a file."""
    found = read_environment_of_unit(lines_of("etcd", text))
    assert [(variable.name, variable.value, variable.line) for variable in found] == variables


@pytest.mark.parametrize(
    "value",
    [
        'http://{{ ansible_facts["default_ipv4"]["address"] }}:2379',
        '{% for h in groups["etcd"] %}{{ h }}=https://{{ hostvars[h]["ip"] }}:2380{% if not loop.last %},{% endif %}{% endfor %}',
        'http://<%= @node["ip"] %>:2379',
        'http://${lookup(var.ips, "etcd")}:2379',
    ],
)
@pytest.mark.parametrize("quote", ['"', "'"])
def test_quotes_in_the_expressions_of_a_template(value: str, quote: str) -> None:
    """systemd reads the file without them."""
    written = value.replace('"', quote)
    found = read_environment_of_unit(lines_of("etcd", f"A={quote}{written}{quote}\nB=c\n"))
    assert [(one.name, one.value, one.line) for one in found] == [("A", written, 1), ("B", "c", 2)]


COMMENTED = 'ETCD_DATA_DIR="/var/lib/etcd"  # separate disk\n'


def test_comment_behind_a_value_in_the_file_of_a_unit() -> None:
    [member] = members(read({PATH: UNIT.format(named="/etc/default/etcd"), "host/etc/default/etcd": COMMENTED}))
    assert member["environment"] == {"ETCD_DATA_DIR": "/var/lib/etcd# separate disk"}
    assert member["where"]["ETCD_DATA_DIR"] == ["host/etc/default/etcd", 1]


@pytest.mark.parametrize(
    ("line", "commented"),
    [
        ('ETCD_DATA_DIR="/data"# disk', True),
        ("ETCD_DATA_DIR=/data #disk", True),
        ("ETCD_DATA_DIR=# none yet", True),
        ('ETCD_INITIAL_CLUSTER_TOKEN="team #1"', False),
        ("ETCD_INITIAL_CLUSTER_TOKEN=#1", False),
        ("ETCD_WAL_DIR=/data#1", False),
    ],
)
def test_which_values_have_a_comment_behind_them(line: str, commented: bool) -> None:
    [member] = members(read({PATH: UNIT.format(named="/etc/default/etcd"), "host/etc/default/etcd": f"{line}\n"}))
    assert member["commented"] == [line.partition("=")[0]] * commented


def test_number_sign_in_environment_of_a_unit() -> None:
    [member] = members_in("etcd.service", '[Service]\nEnvironment="ETCD_NAME=team #1"\nExecStart=/usr/bin/etcd\n')
    assert member["environment"] == {"ETCD_NAME": "team #1"} and member["commented"] == []


def test_comment_of_jinja_in_the_file_of_a_unit() -> None:
    """The file that systemd reads does not have it."""
    text = 'ETCD_DATA_DIR=/d {# a volume of its own #}\nETCD_NAME="a{# b #}" \n'
    [member] = members(read({PATH: UNIT.format(named="/etc/default/etcd"), "host/etc/default/etcd": text}))
    assert member["environment"] == {"ETCD_DATA_DIR": "/d", "ETCD_NAME": "a"} and member["commented"] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("etcd.container", "[Container]\nImage=quay.io/coreos/etcd:v3.6.16\nEnvironmentFile=/etc/etcd.env\n"),
        ("etcd.service", "[Service]\nExecStart=docker run --env-file /etc/etcd.env quay.io/coreos/etcd:v3.6.16\n"),
    ],
)
def test_other_readers_of_a_file(path: str, text: str) -> None:
    """A container engine reads the file, not systemd."""
    [member] = members(read({path: text, "etc/etcd.env": COMMENTED}))
    assert member["environment"] == {"ETCD_DATA_DIR": "/var/lib/etcd"}


EXPORTED = 'export ETCD_NAME="b"\nexport GOGC=50\nexport PATH=/bin\nETCD_WAL_DIR=/w\nETCD_LISTEN_CLIENT_URLS: http://10.0.0.1:2379\n'
ONLY_SHELL = "only a shell or Compose reads a line with {}; write NAME=VALUE in etcd.env"


@pytest.mark.parametrize(
    "text",
    [UNIT.format(named="/etc/etcd.env"), "[Service]\nExecStart=docker run --env-file /etc/etcd.env etcd:v3.6.16\n"],
)
def test_lines_that_assign_nothing_in_the_file_of_a_unit(text: str) -> None:
    [member] = members(read({PATH: text, "host/etc/etcd.env": EXPORTED}))
    assert member["environment"] == {"ETCD_WAL_DIR": "/w"}
    assert member["unknown"] == {
        "export ETCD_NAME": ONLY_SHELL.format("export"),
        "export GOGC": ONLY_SHELL.format("export"),
        "ETCD_LISTEN_CLIENT_URLS:": ONLY_SHELL.format("a colon"),
    }


# What systemd 252 leaves out of these files, as its program in /usr/lib/systemd/user-environment-generators shows.
@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("# 8G \\\nETCD_NAME=1\nGOGC=2\n", ["ETCD_NAME"]),
        ("  ; a\\\n# b\\\nETCD_NAME=1\\\n x\\\nETCD_WAL_DIR=1\nGOGC=2\n", ["ETCD_NAME"]),
        ('# a \\\nETCD_NAME="1\n#x"\nGOGC=2\n', ["ETCD_NAME"]),
        ("# a \\\\\nETCD_NAME=1\n", []),
        ("# a \\\n\nETCD_NAME=1\n", []),
        ("# a \\ \nETCD_NAME=1\n", []),
        ("ETCD_WAL_DIR='\n# a \\\n'\nETCD_NAME=1\n", []),
        # No variable of etcd.
        ("# a \\\nPATH=1\nETCD_NAME=1\n", []),
    ],
)
def test_line_below_a_comment_that_ends_with_a_backslash(text: str, hidden: list[str]) -> None:
    [member] = members(read({PATH: UNIT.format(named="/etc/etcd.env"), "host/etc/etcd.env": text}))
    reason = "systemd before release 254 takes this line as part of the comment above it, which ends in a backslash; remove the backslash in etcd.env"
    assert member["unknown"] == {f"{name}=": reason for name in hidden}
    assert ("ETCD_NAME" in member["environment"]) is not bool(hidden)


def test_comment_that_ends_with_a_backslash_in_the_file_of_a_container() -> None:
    unit = "[Service]\nExecStart=docker run --env-file /etc/etcd.env etcd:v3.6.16\n"
    [member] = members(read({PATH: unit, "host/etc/etcd.env": "# a \\\nETCD_NAME=b\n"}))
    assert member["environment"] == {"ETCD_NAME": "b"} and member["unknown"] == {}


def test_file_with_export_that_a_shell_may_source() -> None:
    [member] = members(read({"etcd.env": EXPORTED}))
    assert member["environment"].keys() == {"ETCD_NAME", "GOGC", "ETCD_WAL_DIR", "ETCD_LISTEN_CLIENT_URLS"}
    assert member["unknown"] == {}


OPTIONS = {
    "host/etc/default/etcd": 'ETCD_OPTS="--snapshot-count=1 --name n1"\nNAME=--name=a\nEMPTY=""\nTAG=v3.6.16\nRUN="--net host"\n'
}
JOINED = "--snapshot-count=1 --name n1"
DOCKER = "/usr/bin/docker run --name etcd ${RUN} quay.io/coreos/etcd:${TAG}"


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("/usr/bin/etcd ${ETCD_OPTS}", [JOINED]),
        ("/usr/bin/etcd $ETCD_OPTS ${NAME}", [*JOINED.split(), "--name=a"]),
        ("/usr/bin/etcd --debug ${OTHER}", ["--debug", "${OTHER}"]),
        ("/usr/bin/env A=b /usr/bin/etcd ${ETCD_OPTS}", [JOINED]),
        (f"{DOCKER} ${{ETCD_OPTS}}", [JOINED]),
        (f"{DOCKER} /usr/local/bin/etcd ${{ETCD_OPTS}}", [JOINED]),
        ("/usr/bin/rkt run docker://quay.io/coreos/etcd:v3.6.16 -- ${ETCD_OPTS}", [JOINED]),
        # systemd replaces the variable, and then the shell splits the text.
        ("/bin/sh -c 'exec etcd ${ETCD_OPTS}'", JOINED.split()),
    ],
)
def test_variable_in_braces_is_one_argument(start: str, words: list[str]) -> None:
    unit = f"[Service]\nEnvironmentFile=/etc/default/etcd\nExecStart={start}\n"
    [member] = members(read({PATH: unit, **OPTIONS}))
    assert member["command"] == ["etcd", *words]


@pytest.mark.parametrize(
    ("start", "unknown"),
    [
        ("/usr/bin/etcd --name a ${EMPTY}", ["${EMPTY}"]),
        ("/usr/bin/etcd --name a $EMPTY", []),
        ("/bin/sh -c 'etcd --name a ${EMPTY}'", []),
    ],
)
def test_empty_variable_in_braces(start: str, unknown: list[str]) -> None:
    unit = f"[Service]\nEnvironmentFile=/etc/default/etcd\nExecStart={start}\n"
    [member] = members(read({PATH: unit, **OPTIONS}))
    assert list(member["unknown"]) == unknown and member["command"] == ["etcd", "--name", "a"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--cert-file ${EMPTY} --key-file ${EMPTY} --name a", ["--cert-file=", "--key-file=", "--name", "a"]),
        ('--discovery-srv "" --name a', ["--discovery-srv=", "--name", "a"]),
        # flags/wrong_type denies an empty value of a flag that takes none.
        ("--debug ${EMPTY}", ["--debug="]),
    ],
)
def test_empty_value_of_a_flag(arguments: str, words: list[str]) -> None:
    unit = f"[Service]\nEnvironmentFile=/etc/default/etcd\nExecStart=/usr/bin/etcd {arguments}\n"
    [member] = members(read({PATH: unit, **OPTIONS}))
    assert member["command"] == ["etcd", *words] and member["unknown"] == {}
