# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group keys by their names: by the parts between separators, or as Kubernetes names them. Pure."""

from __future__ import annotations

from collections.abc import Callable

# Where API servers store their keys: those of Kubernetes, and the two of OpenShift (storage prefixes kubernetes.io and openshift.io).
KUBERNETES = (b"/registry/", b"/kubernetes.io/", b"/openshift.io/")
SEPARATORS = b"/:.|"
# Groups that get an entry of their own; the keys of further ones are added up under OTHER.
MAX_GROUPS = 10_000
OTHER = "(other groups)"
# Resources of one API group that Kubernetes stores below /registry/GROUP/RESOURCE, recognized by the dot in the group's name.
_UNNAMED = ""

Grouping = Callable[[bytes], str]


def printable(key: bytes) -> str:
    """Return a key as text; unprintable bytes become \\xNN."""
    text = key.decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def detect_separator(keys: list[bytes]) -> bytes:
    """Return the separator that most of some keys have; empty if fewer than half of them have one."""
    if not keys:
        return b""
    counts = [(sum(bytes([byte]) in key for key in keys), bytes([byte])) for byte in SEPARATORS]
    most, separator = max(counts, key=lambda found: found[0])
    return separator if most * 2 >= len(keys) else b""


def by_prefix(separator: bytes, depth: int) -> Grouping:
    """Return the grouping by the first ``depth`` parts of a name. The last part of a name names one key, and no group."""

    def group(key: bytes) -> str:
        if not separator:
            return _UNNAMED
        lead = separator if key.startswith(separator) else b""
        parts = key[len(lead) :].split(separator)[:-1][:depth]
        return printable(lead + b"".join(part + separator for part in parts))

    return group


def kubernetes_group(key: bytes) -> str:
    """Return resource and namespace of a key of Kubernetes: /registry/pods/kube-system/; others by their first part."""
    root = next((one for one in KUBERNETES if key.startswith(one)), b"")
    if not root:
        return by_prefix(b"/", 1)(key)
    parts = key[len(root) :].split(b"/")
    named = 2 if b"." in parts[0] else 1
    if parts[:2] == [b"services", b"specs"] or parts[:2] == [b"services", b"endpoints"]:
        named = 2
    named = min(named, len(parts) - 1)
    groups = parts[: named + 1] if len(parts) > named + 1 else parts[:named]
    return printable(root + b"".join(part + b"/" for part in groups))


def choose_grouping(keys: list[bytes], separator: str, depth: int) -> tuple[Grouping, str]:
    """Return the grouping that suits some keys of a key space, and its name.

    separator: the one to use; empty to detect it. depth: the number of parts; 0 for Kubernetes' names if there are any, else 1.
    """
    if depth == 0 and not separator and any(key.startswith(KUBERNETES) for key in keys):
        return kubernetes_group, "Kubernetes resource and namespace"
    chosen = separator.encode() or detect_separator(keys)
    parts = depth or 1
    first = "the first part" if parts == 1 else f"the first {parts} parts"
    name = f"{first} between {printable(chosen)!r}" if chosen else "one group, because keys have no separator"
    return by_prefix(chosen, parts), name
