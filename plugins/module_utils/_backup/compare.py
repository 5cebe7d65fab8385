# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a restored backup against the cluster that it is of. Private to the collection.

etcd's own hash of keys (HashKV) is over every revision up to one asked for, without those that a compaction up to the
member's compact revision removes. So the restored copy is compacted to where the cluster is, and then both have to give
the same hash at the backup's revision. Source: newKVHasher in server/storage/mvcc/hash.go.
A cluster that has compacted that revision cannot tell it any more. Then each of its keys that is as old as the
backup has to be in the backup: a key that exists since a revision has been there at every one since.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import Bounds, DrillError
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    command_line,
    failure_reason,
    run_etcd_tool,
)

# A member reads the values of a range even if it is asked for keys alone: what one question makes it hold in memory.
_PAGE_BYTES = 8 << 20
_PAGE_KEYS = 2000
_PAGES = 50
_COMPACTED = "required revision has been compacted"
_FUTURE = "required revision is a future revision"
_AUTHENTICATION = ("user name is empty", "permission denied", "invalid auth token")


class ContradictionError(DrillError):
    """The backup does not hold what its records or the cluster say it has to."""


@dataclass(frozen=True)
class Side:
    """One of the two: how to ask it, where, and its name for messages."""

    link: Connection
    url: str
    name: str


@dataclass(frozen=True)
class Hash:
    """What HashKV answers: the hash, and the revision up to which the member was compacted."""

    hash: str
    compact_revision: int


@dataclass(frozen=True)
class Key:
    """A key without its value: the revisions at which it came to be and last changed, and its number of changes since."""

    create_revision: int
    mod_revision: int
    version: int


@dataclass(frozen=True)
class Finding:
    """What was found. ``compared`` is ``hash`` (everything), ``keys`` (``keys_compared`` of them) or ``nothing``.

    ``keys`` is how many the backup holds at its revision, None if it has auth enabled and so cannot be read.
    """

    revision: int
    keys: int | None
    hash: str
    compact_revision: int
    compared: str
    keys_compared: int
    member: str
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def alone(copy: Side, metadata: Metadata) -> Finding:
    """Read the restored copy. Raises DrillError if it does not hold what the records say."""
    revision = metadata.revision
    found = hash_at(copy, revision)
    if found is None:  # the last change was a deletion, since compacted away: the database starts at the compaction
        revision = current_revision(copy)
        found = hash_at(copy, revision)
    if found is None:
        raise ContradictionError(
            f"restored, it is at revision {current_revision(copy)}, its record says {metadata.revision}"
        )
    keys = count_at(copy, revision)
    # etcdutl 3.5 counts every entry of the database, later ones the keys: also the empty one that bumping the revision makes.
    if keys is not None and metadata.storage_version and not 0 <= metadata.total_keys - keys <= 1:
        raise ContradictionError(f"restored, it holds {keys} keys, its record says {metadata.total_keys}")
    held = "keys were not counted, as auth is enabled in it" if keys is None else f"it holds {keys} keys"
    return Finding(
        revision, keys, found.hash, found.compact_revision, "nothing", 0, "", f"{held}, held against no cluster."
    )


def with_cluster(copy: Side, live: Side, metadata: Metadata, finding: Finding, bounds: Bounds) -> Finding:
    """Compare the copy with a member of the cluster. Raises DrillError if they differ."""
    revision = finding.revision
    keys = count_at(live, revision)
    if None not in (keys, finding.keys) and keys != finding.keys:
        raise ContradictionError(f"it holds {finding.keys} keys, {live.name} had {keys} at revision {revision}")
    theirs = hash_at(live, revision)
    ours = compacted_alike(copy, theirs, finding) if theirs else None
    if theirs is None or ours is None:
        compared = compare_keys(copy, live, metadata, revision, bounds)
        what = f"the {compared} keys looked at that are as old are in it" if compared else "none of its keys is as old"
        sentence = f"the cluster is compacted past revision {revision}, so that not all could be compared: {what}"
        if theirs is not None:
            sentence = f"the cluster is compacted up to revision {revision}, so that no hash could be compared: {what}"
        return _found(finding, live, sentence, compared="keys" if compared else "nothing", keys_compared=compared)
    if ours.hash != theirs.hash:
        raise ContradictionError(
            f"its keys are not those of the cluster: at revision {revision}, compacted to {ours.compact_revision}, its hash "
            f"is {ours.hash}, that of {live.name} is {theirs.hash}"
        )
    counted = "" if finding.keys is None else f"{finding.keys} keys and "
    sentence = f"{counted}hash {ours.hash} are those of {live.name} at revision {revision}"
    more = {"hash": ours.hash, "compact_revision": ours.compact_revision, "keys_compared": finding.keys or 0}
    return _found(finding, live, sentence, compared="hash", **more)


def compacted_alike(copy: Side, theirs: Hash, finding: Finding) -> Hash | None:
    """Return the copy's hash once it is compacted as the cluster was for its hash; None if that cannot be.

    It cannot if the backup had been compacted further: a member that compacts to a revision keeps the hash that it had there
    before. Source: HashByRev and Store in server/storage/mvcc/hash.go.
    """
    if theirs.compact_revision > finding.compact_revision:
        answer = _run(copy, "compaction", str(theirs.compact_revision))
        if answer.returncode != 0:
            raise DrillError(f"it cannot be compacted to {theirs.compact_revision}: {failure_reason(answer)}")
    ours = hash_at(copy, finding.revision)
    return ours if ours is not None and ours.compact_revision == theirs.compact_revision else None


def _found(finding: Finding, live: Side, sentence: str, **more: Any) -> Finding:
    return Finding(**{**asdict(finding), "member": live.name, "sentence": f"{sentence}.", **more})


def hash_at(side: Side, revision: int) -> Hash | None:
    """Return the hash of all keys up to a revision, None if that is compacted. Raises DrillError."""
    answer = _run(side, "endpoint", "hashkv", f"--rev={revision}")
    if answer.returncode != 0:
        if _COMPACTED in answer.stderr:
            return None
        if _FUTURE in answer.stderr:
            raise DrillError(_behind(side, revision))
        raise DrillError(f"{side.name} gave no hash: {failure_reason(answer)}")
    data = _json(answer, side)
    try:
        found = data[0]["HashKV"]
        return Hash(format(int(found["hash"]), "x"), int(found.get("compact_revision", 0)))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DrillError(f"{side.name} gave no hash but {answer.stdout[:80]!r}") from error


def _behind(side: Side, revision: int) -> str:
    return (
        f"{side.name} has not reached revision {revision}: the cluster has lost data since the backup, or was restored"
    )


def current_revision(side: Side) -> int:
    """Return the revision that a member is at."""
    data = _json(_ask(side, "endpoint", "status"), side)
    try:
        return int(data[0]["Status"]["header"]["revision"])
    except (LookupError, TypeError, ValueError) as error:
        raise DrillError(f"{side.name} did not say its revision") from error


def count_at(side: Side, revision: int) -> int | None:
    """Return the number of keys at a revision, None if that is compacted or needs a password. Raises DrillError."""
    words = ["get", "", "--from-key", "--count-only", f"--rev={revision}", "--consistency=s"]
    answer = _run(side, *words, form="fields")
    if answer.returncode != 0:
        if any(text in answer.stderr for text in (_COMPACTED, *_AUTHENTICATION)):
            return None
        if _FUTURE in answer.stderr:
            raise DrillError(_behind(side, revision))
        raise DrillError(f"{side.name} did not count its keys: {failure_reason(answer)}")
    found = re.search(r'^"Count" : (\d+)$', answer.stdout, re.MULTILINE)
    if found is None:
        raise DrillError(f"{side.name} gave no number of keys but {answer.stdout[:80]!r}")
    return int(found.group(1))


def compare_keys(copy: Side, live: Side, metadata: Metadata, revision: int, bounds: Bounds) -> int:
    """Compare the cluster's keys that are as old as the backup, page by page; returns their number.

    Bounded: the first ones by name, as many as _PAGES pages hold. Raises DrillError for the first that differs.
    """
    mean = metadata.size // max(1, metadata.total_keys)
    limit = max(2, min(_PAGE_KEYS, _PAGE_BYTES // max(1, mean)))
    compared = 0
    for first, page in _pages(live, limit, bounds):
        old = {key: one for key, one in page.items() if one.create_revision <= revision}
        stored = _range(copy, first, max(page), limit, revision, bounds) if old else None
        if stored is None:
            continue
        for key, theirs in old.items():
            problem = key_problem(theirs, stored.get(key), revision)
            if problem:
                raise ContradictionError(f"the key {key.decode(errors='backslashreplace')!r} {problem}")
        compared += len(old)
    return compared


def key_problem(theirs: Key, ours: Key | None, revision: int) -> str:
    """Say how a key of the cluster, as old as the backup at ``revision``, contradicts what the backup holds; else empty."""
    if ours is None:
        return f"exists in the cluster since revision {theirs.create_revision} and is not in the backup"
    if ours.create_revision != theirs.create_revision:
        return f"exists since revision {theirs.create_revision}, in the backup since {ours.create_revision}"
    if theirs.mod_revision <= revision and ours != theirs:
        return f"last changed at revision {theirs.mod_revision}, in the backup at {ours.mod_revision}"
    return ""


def _pages(side: Side, limit: int, bounds: Bounds) -> Iterator[tuple[bytes, dict[bytes, Key]]]:
    """Give the first pages of a cluster's keys, each with the key at which it starts."""
    start = b""
    for _number in range(_PAGES):
        bounds.left()
        words = ["--from-key", f"--limit={limit}", "--consistency=s"]
        page = _keys(_run(side, "get", *words, "--keys-only", "--", os.fsdecode(start)), side)
        if start:
            page.pop(start, None)
        if not page:
            return
        yield start or min(page), page
        start = max(page)
        if b"\0" in start:  # cannot be an argument
            return


def _range(side: Side, first: bytes, last: bytes, limit: int, revision: int, bounds: Bounds) -> dict[bytes, Key] | None:
    """Return the keys from the first to the last at a revision, asked for by ``limit`` at a time.

    None if that cannot be asked, because a key on the way holds NUL, which cannot stand in an argument.
    """
    found: dict[bytes, Key] = {}
    words = ["--keys-only", f"--rev={revision}", "--consistency=s"]
    while b"\0" not in first + last:
        bounds.left()
        if first == last:  # the end of a range is not part of it
            return {**found, **_keys(_run(side, "get", *words, "--", os.fsdecode(last)), side)}
        ends = [os.fsdecode(first), os.fsdecode(last)]
        page = _keys(_run(side, "get", *words, f"--limit={limit}", "--", *ends), side)
        found.update(page)
        first = max(page) if len(page) == limit else last
    return None


def _keys(answer: ProcessResult, side: Side) -> dict[bytes, Key]:
    if answer.returncode != 0:
        raise DrillError(f"{side.name} did not name its keys: {failure_reason(answer)}")
    return {
        base64.b64decode(entry["key"]): Key(
            int(entry["create_revision"]), int(entry["mod_revision"]), int(entry["version"])
        )
        for entry in _json(answer, side).get("kvs", [])
    }


def _run(side: Side, *words: str, form: str = "json") -> ProcessResult:
    argv = [*command_line(side.link, [side.url]), "-w", form, *words]
    return run_etcd_tool(argv, side.link.timeout + 1.0, "etcdctl")


def _ask(side: Side, *words: str) -> ProcessResult:
    answer = _run(side, *words)
    if answer.returncode != 0:
        raise DrillError(f"{side.name}: {' '.join(words)}: {failure_reason(answer)}")
    return answer


def _json(answer: ProcessResult, side: Side) -> Any:
    try:
        return json.loads(answer.stdout)
    except ValueError as error:
        raise DrillError(f"{side.name}: etcdctl printed no JSON but {answer.stdout[:80]!r}") from error
