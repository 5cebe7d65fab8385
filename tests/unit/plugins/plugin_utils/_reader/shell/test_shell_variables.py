# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of shell scripts: several assignments on a line, exports, and conditions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import constants_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

FLAGS = "--data-dir /d --listen-client-urls https://0.0.0.0:2379"
UNKNOWN = "${ETCD_CLIENT_CERT_AUTH}"


def member(text: str, path: str = "start.sh") -> dict[str, Any]:
    """The member that a script starts."""
    files = read({path: f"#!/bin/sh\n{text}\n"}).document["files"]
    [found] = [entry["contents"]["headroom_member"] for entry in files]
    return dict(found)


@pytest.mark.parametrize(
    "line",
    [
        "export ETCD_CERT_FILE=/a ETCD_CLIENT_CERT_AUTH=true ETCD_KEY_FILE=/b",
        "export ETCD_CERT_FILE=/a \\\n  ETCD_CLIENT_CERT_AUTH=true",
        "export ETCD_NAME=a && export ETCD_CLIENT_CERT_AUTH=true",
        "declare -x ETCD_CLIENT_CERT_AUTH=true",
        "typeset -x ETCD_CLIENT_CERT_AUTH=true # always",
        "A=1; ETCD_CLIENT_CERT_AUTH=true; B='x y'\nexport A ETCD_CLIENT_CERT_AUTH B",
        "set -a\nETCD_CLIENT_CERT_AUTH=true\nset +a",
        "set -o allexport; ETCD_CLIENT_CERT_AUTH=true",
        "mkdir -p /d; export ETCD_CLIENT_CERT_AUTH=true",
        "setup() {\n  export ETCD_NAME=a ETCD_CLIENT_CERT_AUTH=true\n}\nsetup",
        "for name in a b; do export ETCD_CLIENT_CERT_AUTH=true; done",
    ],
)
def test_exported_at_once(line: str) -> None:
    assert member(f"{line}\nexec etcd {FLAGS}")["environment"]["ETCD_CLIENT_CERT_AUTH"] == "true"


@pytest.mark.parametrize(
    "line",
    [
        '[ -n "$TLS" ] && export ETCD_CLIENT_CERT_AUTH=true',
        '[ -z "$TLS" ] || export ETCD_CLIENT_CERT_AUTH=true',
        'if [ -n "$TLS" ]; then export ETCD_CLIENT_CERT_AUTH=true; fi',
        'if [ -n "$TLS" ]; then\n  export ETCD_CLIENT_CERT_AUTH=true\nfi',
        'export ETCD_CLIENT_CERT_AUTH=false\nif [ "$TLS" ]\nthen\nexport ETCD_CLIENT_CERT_AUTH=true\nelse\nA=1\nfi',
        "case $MODE in\n  tls) export ETCD_CLIENT_CERT_AUTH=true ;;\n  *)\n    echo plain\nesac",
        "(export ETCD_CLIENT_CERT_AUTH=true)",
        # A value from outside of the script.
        "export ETCD_CLIENT_CERT_AUTH",
    ],
)
def test_exported_under_a_condition(line: str) -> None:
    assert member(f"{line}\nexec etcd {FLAGS}")["environment"]["ETCD_CLIENT_CERT_AUTH"] == UNKNOWN


def test_a_condition_around_the_start_too() -> None:
    text = 'if [ "$TLS" ]; then\n  export ETCD_CLIENT_CERT_AUTH=true\n  exec etcd FLAGS\nelse\n  exec etcd FLAGS --name b\nfi'
    files = read({"a.sh": "#!/bin/sh\n" + text.replace("FLAGS", FLAGS)}).document["files"]
    secured, plain = (entry["contents"]["headroom_member"]["environment"] for entry in files)
    assert (secured["ETCD_CLIENT_CERT_AUTH"], plain["ETCD_CLIENT_CERT_AUTH"]) == ("true", UNKNOWN)


@pytest.mark.parametrize(
    "line",
    ["ETCD_CLIENT_CERT_AUTH=true true", "ETCD_CLIENT_CERT_AUTH=true", "set -a; set +a; ETCD_CLIENT_CERT_AUTH=true"],
)
def test_not_exported(line: str) -> None:
    assert "ETCD_CLIENT_CERT_AUTH" not in member(f"{line}\nexec etcd {FLAGS}")["environment"]


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("A=1 B='x y'; readonly C=3", {"A": "1", "B": "x y", "C": "3"}),
        # Set again, perhaps.
        ("A=1; B=2\n[ -n x ] && A=2", {"B": "2"}),
        ("A=1; B=2\nif x; then A+=' 2'; fi", {"B": "2"}),
        # A text over several lines, and keywords in it.
        ('A="x\nif y\n"; B=2\nC=3', {"C": "3"}),
        ("A=(b c); B=2", {"B": "2"}),
        (": ${A:=1}", {"A": "1"}),
        ('A=$(b "$(c d)" e) B="f $(g "h i") j" C=$((2 * (3 + 4))) D=5', {"D": "5"}),
    ],
)
def test_constants(text: str, constants: dict[str, str]) -> None:
    assert constants_of(lines_of("a.sh", text)) == constants


@pytest.mark.parametrize(
    "lines",
    [
        "ARGS=(FLAGS)\nARGS+=(--client-cert-auth)",
        "ARGS=()\nARGS+=( # both\n  FLAGS\n)\nARGS+=(--client-cert-auth)",
        "start() {\n  local ARGS=(FLAGS)\n  ARGS+=(--client-cert-auth)\n}",
        "if x; then\n  ARGS=(FLAGS)\n  ARGS+=(--client-cert-auth)\nfi",
    ],
)
def test_elements_that_a_script_adds_to_an_array(lines: str) -> None:
    found = member(f'{lines.replace("FLAGS", FLAGS)}\nexec etcd "${{ARGS[@]}}"')
    assert found["command"] == ["etcd", *FLAGS.split(), "--client-cert-auth"] and not found["unknown"]


@pytest.mark.parametrize(
    "line",
    [
        "if [ -f /ca ]; then ARGS+=(--client-cert-auth); fi",
        "if [ -f /ca ]; then\n  ARGS+=(--client-cert-auth)\nfi",
        "if [ -f /ca ]; then\nARGS+=(--client-cert-auth)\nfi",
        "[ -f /ca ] && ARGS+=(--client-cert-auth --peer-client-cert-auth)",
        "case $1 in\n  tls) ARGS+=(--client-cert-auth) ;;\nesac",
    ],
)
@pytest.mark.parametrize("elements", ["", "--name a --pre-vote", "\n  --pre-vote --listen-peer-urls x\n"])
def test_elements_under_a_condition_are_unknown(elements: str, line: str) -> None:
    found = member(f'ARGS=({elements})\n{line}\nexec etcd {FLAGS} "${{ARGS[@]}}"')
    assert found["command"] == ["etcd", *FLAGS.split(), *elements.split(), "${ARGS[@]}"]
    assert "${ARGS[@]}" in found["unknown"]


def test_words_under_a_condition_on_one_line_are_unknown() -> None:
    found = member(f'A="--pre-vote"\n[ -f /ca ] && A="$A --client-cert-auth"\nexec etcd {FLAGS} $A')
    assert found["command"][-1] == "$A" and "$A" in found["unknown"]
