# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the members' hashes of all keys at one revision (etcd's HashKV). Pure.

Two hashes are comparable if both members are compacted to the same revision. Source: newKVHasher in server/storage/mvcc/hash.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Union

AGREE, DIFFER, UNDECIDED, UNKNOWN = "agree", "differ", "undecided", "unknown"


@dataclass(frozen=True)
class Hash:
    """The answer of HashKV: the hash, and the revision to which the member is compacted."""

    hash: str
    compact_revision: int


@dataclass(frozen=True)
class Behind:
    """A member that applied every entry, but whose revision is lower than that of the leader."""

    revision: int


# What a member answered, or why it could not be compared.
Answer = Union[Hash, Behind, str]


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    verdict: ``agree`` (a majority of the voting members has the same hash, and no other hash was found), ``differ`` (a majority has the same
    hash, and ``differing`` have others), ``undecided`` (hashes differ, and none has a majority) or ``unknown`` (too few answered).
    hashes: by member, as text; unknown: why a member could not be compared. corrupt: members for which the alarm CORRUPT is set.
    cluster_id: of the cluster that was compared.
    """

    verdict: str
    revision: int = 0
    agreeing: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    corrupt: list[str] = field(default_factory=list)
    cluster_id: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return asdict(self)

    def sentence(self) -> str:
        """Describe the finding in one sentence without a full stop."""
        return describe(self.as_dict())


def judge(voters: Sequence[str], answers: Mapping[str, Answer], revision: int) -> Comparison:
    """Judge the answers of the voting members."""
    unknown = {name: answer for name, answer in answers.items() if isinstance(answer, str)}
    compactions = [answer.compact_revision for answer in answers.values() if isinstance(answer, Hash)]
    compacted = max(compactions, key=lambda one: (compactions.count(one), one), default=0)
    hashes: dict[str, str] = {}
    for name, answer in answers.items():
        if isinstance(answer, Behind):
            hashes[name] = f"none, at revision {answer.revision}"
        elif isinstance(answer, Hash) and answer.compact_revision == compacted:
            hashes[name] = answer.hash
        elif isinstance(answer, Hash):
            unknown[name] = f"is compacted to revision {answer.compact_revision}, and others to {compacted}"
    groups: dict[str, list[str]] = {}
    for name, text in sorted(hashes.items()):
        groups.setdefault(text, []).append(name)
    largest = max(groups.values(), key=len, default=[])
    differing = sorted(name for name in hashes if name not in largest)
    if len(largest) > len(voters) // 2:
        verdict = DIFFER if differing else AGREE
        return Comparison(verdict, revision, largest, differing, hashes, unknown)
    return Comparison(UNDECIDED if differing else UNKNOWN, revision, [], [], hashes, unknown)


def describe(found: Mapping[str, Any]) -> str:
    """Describe a comparison, given as a dict, in one sentence without a full stop."""
    hashes, unknown = found["hashes"], found["unknown"]
    groups: dict[str, list[str]] = {}
    for name, text in sorted(hashes.items()):
        groups.setdefault(text, []).append(name)
    shown = "; ".join(f"{text} ({', '.join(names)})" for text, names in groups.items())
    where = f"at revision {found['revision']}"
    left = f"; not compared: {'; '.join(f'{name}: {why}' for name, why in sorted(unknown.items()))}" if unknown else ""
    if found["verdict"] == AGREE:
        agreeing = found["agreeing"]
        same = "have the same hash" if len(agreeing) > 1 else "is the only voting member, and has this hash"
        return f"{', '.join(agreeing)} {same} {where}: {shown}{left}"
    if found["verdict"] == DIFFER:
        return f"{', '.join(found['differing'])} differs from the majority {where}: {shown}{left}"
    if found["verdict"] == UNDECIDED:
        return f"the members differ, and no hash has a majority, so the wrong one is unknown {where}: {shown}{left}"
    return f"too few members could be compared {where}{f': {shown}' if shown else ''}{left}"
