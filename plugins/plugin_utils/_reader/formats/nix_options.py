# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the options of services.etcd in a NixOS module whose values are written out. Expressions are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

# Option → the variable that the module sets.
_VARIABLES = {
    "name": "ETCD_NAME",
    "listenClientUrls": "ETCD_LISTEN_CLIENT_URLS",
    "listenPeerUrls": "ETCD_LISTEN_PEER_URLS",
    "advertiseClientUrls": "ETCD_ADVERTISE_CLIENT_URLS",
    "initialAdvertisePeerUrls": "ETCD_INITIAL_ADVERTISE_PEER_URLS",
    "initialCluster": "ETCD_INITIAL_CLUSTER",
    "dataDir": "ETCD_DATA_DIR",
    "clientCertAuth": "ETCD_CLIENT_CERT_AUTH",
    "peerClientCertAuth": "ETCD_PEER_CLIENT_CERT_AUTH",
    "trustedCaFile": "ETCD_TRUSTED_CA_FILE",
    "certFile": "ETCD_CERT_FILE",
    "keyFile": "ETCD_KEY_FILE",
    "peerTrustedCaFile": "ETCD_PEER_TRUSTED_CA_FILE",
    "peerCertFile": "ETCD_PEER_CERT_FILE",
    "peerKeyFile": "ETCD_PEER_KEY_FILE",
}
_BLOCK = re.compile(r"(?<![\w.])(?:services\.)?etcd\s*=\s*(?:(?:lib\.)?mk\w+\s+(?:\([^()]*\)|[\w.]+)\s+|rec\s+)?\{")
_OPTION = re.compile(r"(?<![\w.])services\.etcd\.([\w.\"]+)\s*=\s*")
_PAIR = re.compile(r"([\w.]+|\"[\w.-]+\")\s*=\s*")
# A package of nixpkgs has any release of its series.
_PACKAGE = re.compile(r"^pkgs\.etcd_(\d+)_(\d+)$")
_COMMENT = re.compile(r"/\*.*?\*/|(^|\s)#[^\n]*", re.DOTALL)
_WRAPPER = re.compile(r"^(?:lib\.)?mk(?:Force|Default|Override\s+\d+)\s+")
_TEXT = r"\"(?:[^\"\\]|\\.)*\""
_SUBSTITUTION = re.compile(r"\$\{([^{}]+)\}")
_MAX_LENGTH = 20_000


def member_of(lines: list[Line]) -> dict[str, Any] | None:
    """Return the member that the options describe; None if nothing is written out."""
    text = _without_comments("\n".join(line.text for line in lines))[:_MAX_LENGTH]
    options = dict(_options(text))
    if options.get("enable") == "false":
        return None
    given = [
        {"name": option, "form": "env", "spelling": variable, "value": options[option]}
        for option, variable in _VARIABLES.items()
        if option in options
    ]
    given += [
        {"name": name, "form": "env", "spelling": f"ETCD_{name.removeprefix('extraConf.')}", "value": value}
        for name, value in options.items()
        if re.fullmatch(r"extraConf\.[A-Z_]+", name)
    ]
    if not any(entry["spelling"].startswith(("ETCD_LISTEN", "ETCD_INITIAL", "ETCD_ADVERTISE")) for entry in given):
        return None
    found = member.elsewhere("variables")
    found["given"] = given
    package = _PACKAGE.match(options.get("package", ""))
    if package:
        found["release"] = f"{package[1]}.{package[2]}"
        found["where"]["etcd_version"] = _position("package", lines)
    found["where"].update({entry["name"]: position for entry in given if (position := _position(entry["name"], lines))})
    return found


def _without_comments(text: str) -> str:
    # The number of lines does not matter here.
    return _COMMENT.sub(" ", text)


def _position(name: str, lines: list[Line]) -> list[Any] | None:
    key = re.compile(rf"(?<!\w)\"?{re.escape(name.rsplit('.', 1)[-1])}\"?\s*=")
    return next(([line.path, line.number] for line in lines if key.search(line.text)), None)


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Yield options and values, in blocks and one by one."""
    for found in _OPTION.finditer(text):
        yield from _pair(found[1].replace('"', ""), text[found.end() : _end(text, found.end(), ";")])
    for found in _BLOCK.finditer(text):
        yield from _pairs(text[found.end() : _end(text, found.end(), "}")], "")


def _pairs(body: str, prefix: str) -> Iterator[tuple[str, str]]:
    position = 0
    while found := _PAIR.search(body, position):
        position = _end(body, found.end(), ";")
        yield from _pair(prefix + found[1].strip('"'), body[found.end() : position])


def _pair(name: str, value: str) -> Iterator[tuple[str, str]]:
    value = _WRAPPER.sub("", value.strip())
    if value.startswith("{") and value.endswith("}"):
        yield from _pairs(value[1:-1], f"{name}.")
        return
    items = re.findall(_TEXT, value)
    if re.fullmatch(rf"\[(\s*{_TEXT})*\s*\]|{_TEXT}", value):
        yield name, ",".join(_SUBSTITUTION.sub(_variable, item[1:-1]) for item in items)
    elif re.fullmatch(r"true|false|\d+", value) or _PACKAGE.match(value):
        yield name, value


def _variable(found: re.Match[str]) -> str:
    """Return an expression in a text as one variable, such as ${config_networking_hostName}."""
    return "${" + re.sub(r"\W+", "_", found[1]).strip("_") + "}"


def _end(text: str, position: int, ending: str) -> int:
    """Return the position of the character that ends a value or a block, outside of texts, lists and inner blocks."""
    depth, quoted = 0, False
    while position < len(text):
        character = text[position]
        if quoted:
            position += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif depth == 0 and character == ending:
            break
        elif character in "{[(":
            depth += 1
        elif character in "}])":
            depth -= 1
        position += 1
    return position
