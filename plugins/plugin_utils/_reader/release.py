# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the release of etcd that a script or a configuration of cloud-init downloads, since a command line does not state it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_NUMBER = r"v?(\d{1,3}\.\d{1,3}\.\d{1,3})"
# A pre-release counts as its release, whose defects it has.
_PRE = r"(?:-(?:rc|alpha|beta)\.?\d+)?"
_ARCHITECTURE = r"(?:-(?:amd64|arm64|ppc64le|s390x))?"
# The revision of a distribution's package, as in 3.3.25+dfsg-6 and 3.5.16-4.
_REVISION = r"(?:(?:\+[a-z][\w.]*)?-\d[\w.+~]*)?"
# A variable for the release of the server, such as etcd_server_version, k8s_etcd_version or etcd::version of Puppet. Others, such as
# min_etcd_version or etcd_operator_version, are about something else.
_BEFORE = r"(?:(?:default|install|k8s|kube|kubernetes|local|my)_)?"
_BETWEEN = r"(?:(?:archive|bin|binary|cluster|container|current|docker|download|git|image|install|package|pkg|release|server|software|target)_?)*"
_VARIABLE = rf"{_BEFORE}(?:ETCD|ECTD)3?(?:_|::)?{_BETWEEN}(?:VER|VERSION|RELEASE|TAG)"
_IMAGE = rf"{_BEFORE}ETCD3?_?(?:container|docker|server)?_?IMAGE(?:_NAME|_URL)?"
# In a shell or a template of Jinja, the value unless another one is set.
_DEFAULT = r"(?:\$\{\w+:?[-=][\"']?|\{\{\s*\w+\s*\|\s*(?:default|d)\(\s*[\"'])?(?:etcd[-_])?"
_CLOSED = _PRE + r"(?:[\"']\s*(?:,\s*true\s*)?\)\s*\}\})?"
_END = r"\s*(?:\s#.*|;.*|&&.*)?$"
_KEYWORD = r"(?:(?:export|local|readonly|ARG|ENV|(?:declare|typeset)(?:\s+-\w+)*)\s+|-\s*)?"
# Assignments before it in the same line.
_OTHERS = r"(?:[A-Za-z_]\w{0,50}=[^\s;\"']{0,200}(?:;\s*|\s+)){1,5}"
_STATED = re.compile(
    rf"etcd/releases/download/{_NUMBER}{_PRE}/"
    rf"|^\s*(?:{_KEYWORD}|Environment=[\"']?|{_OTHERS}){_VARIABLE}[\"']?(?:\s*[?:]?[=:]\s*|\s+)[\"']?"
    rf"{_DEFAULT}{_NUMBER}(?:{_ARCHITECTURE}|{_REVISION}){_CLOSED}[\"']?\}}?[\"']?,?{_END}"
    rf"|^\s*{_KEYWORD}{_IMAGE}[\"']?\s*[?:]?[=:]\s*[\"']?{_DEFAULT}[\w./:-]*/etcd:{_NUMBER}(?:-\d+)?{_ARCHITECTURE}\}}?[\"']?{_END}",
    re.IGNORECASE,
)
# The name of an archive or a package, which may also be that of an old one.
_ARCHIVE = re.compile(
    rf"=[\"']?[\w./${{}}-]*/etcd-{_NUMBER}{_PRE}[\"']?\s*$"
    rf"|\betcd-{_NUMBER}{_PRE}(?:/|-linux|-darwin|-windows|\.tar|\.tgz|\.zip|-\d+[\w.]*\.rpm)|\betcd(?:-server)?[=_]{_NUMBER}[+~-]"
    rf"|\bgit\s+clone\s.*(?:-b|--branch)[\s=]{_NUMBER}\s.*/etcd(?:\.git)?\b|go\.etcd\.io/etcd(?:/server)?(?:/v3)?@{_NUMBER}",
    re.IGNORECASE,
)
# The same with a variable, and the variable's value.
_NAME = r"(?:\{\{\s*(\w+)\s*\}\}|\$[{(]?(\w+)[})]?)"
_INDIRECT = re.compile(
    rf"\betcd-v?{_NAME}(?:-linux|-darwin|-windows|-\$|-\{{\{{|\.tar|\.zip)|\betcd/releases/download/v?{_NAME}/",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(
    rf"^\s*{_KEYWORD}(\w+)[\"']?(?:\s*[?:]?[=:]\s*|\s+)[\"']?{_DEFAULT}{_NUMBER}{_CLOSED}[\"']?\}}?[\"']?{_END}",
    re.IGNORECASE,
)
# A map about etcd, and the release in it.
_SECTION = re.compile(r"^(\s*)etcd:\s*(?:#.*)?$", re.IGNORECASE)
_IN_SECTION = re.compile(
    rf"^\s*(?:etcd_)?(?:version|ver|release|tag)\s*:\s*[\"']?{_DEFAULT}{_NUMBER}{_CLOSED}[\"']?{_END}", re.IGNORECASE
)
# An image among others.
_LISTED = re.compile(rf"^\s*-\s+[\"']?(?:[\w.:-]+/)+etcd:{_NUMBER}(?:-[\w.]+)*[\"']?{_END}")
# Another variable's value, as in ETCD_VER="${version}".
_ALIAS = re.compile(rf"^\s*{_KEYWORD}(\w+)=[\"']?\$\{{?(\w+)\}}?[\"']?\s*(?:;|$)")


def find_release(lines: Iterable[Line]) -> tuple[str, Line] | None:
    """Return the release with its line; None if the file names none or several."""
    kept = [line for line in lines if not line.text.lstrip().startswith("#")]
    for found in (
        _named(_STATED, kept),
        _by_variable(kept),
        _named(_ARCHIVE, kept),
        _of_section(kept),
        _named(_LISTED, kept),
    ):
        if found:
            return next(iter(found.items())) if len(found) == 1 else None
    return None


def _named(pattern: re.Pattern[str], lines: list[Line]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    for line in lines:
        for match in pattern.finditer(line.text):
            found.setdefault(next(filter(None, match.groups())), line)
    return found


def is_of_server(name: str) -> bool:
    """Return whether a variable with this name is the release of the server."""
    return re.fullmatch(_VARIABLE, name, re.IGNORECASE) is not None


def _by_variable(lines: list[Line]) -> dict[str, Line]:
    """Return the values of the variables that stand for the release in the name of an archive."""
    found = (match.groups() for line in lines for match in _INDIRECT.finditer(line.text))
    names = {next(filter(None, groups)) for groups in found}
    names |= {match[2] for line in lines if (match := _ALIAS.match(line.text)) and match[1] in names}
    assigned = [(match, line) for line in lines if (match := _ASSIGNMENT.match(line.text)) and match[1] in names]
    return {match[2]: line for match, line in reversed(assigned)}


def _of_section(lines: list[Line]) -> dict[str, Line]:
    """Return the releases that stand directly below a map called etcd."""
    found: dict[str, Line] = {}
    section = inside = -1
    for line in lines:
        if not line.text.strip():
            continue
        indent = len(line.text) - len(line.text.lstrip())
        opening = _SECTION.match(line.text)
        if opening:
            section, inside = indent, -1
        elif section >= 0 and indent > section:
            inside = indent if inside < 0 else inside
            stated = _IN_SECTION.match(line.text) if indent == inside else None
            if stated:
                found.setdefault(stated[1], line)
        else:
            section = -1
    return found
