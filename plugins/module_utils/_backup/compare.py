# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare a restored backup with its cluster.

etcd's hash of keys (HashKV) covers every revision up to the requested one, except those that a compaction to the member's compact
revision removes. So the restored copy is compacted to the cluster's compact revision, and both must then have the same hash at the
backup's revision. Source: newKVHasher in server/storage/mvcc/hash.go.
If the cluster has compacted that revision, each of its keys that is as old as the backup must be in the backup, because a key that
exists since a revision existed at every later one too.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.key_listing import (
    Endpoint,
    Key,
    first_pages,
    keys_between,
    lists_from_index,
    read_status,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.key_sizes import (
    KeySizes,
    read_key_sizes,
    sizes_without_values,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import Limits, ScratchMemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    command_line,
    failure_reason,
    run_etcd_tool,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hash_requests import (
    COMPACTED,
    FUTURE,
    request_hash,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hashes import Hash

# As the timer that compares the members' hashes.
_HASH_SECONDS = 600.0
_AUTHENTICATION = ("user name is empty", "permission denied", "invalid auth token")


class ContradictionError(ScratchMemberError):
    """The backup contradicts its records or the cluster."""


@dataclass(frozen=True)
class Finding:
    """The result of a comparison. ``compared`` is ``hash`` (everything), ``keys`` (``keys_compared`` of them) or ``nothing``.

    ``keys`` is the number of keys in the backup at its revision, None if authentication could not be disabled in the copy.
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
        """Return the fields as a dict."""
        return asdict(self)


def check_copy(copy: Endpoint, metadata: Metadata) -> Finding:
    """Check the restored copy against its records. Raises ScratchMemberError if they differ."""
    revision = metadata.revision
    found = hash_at(copy, revision)
    if (
        found is None
    ):  # the last change was a deletion, removed by compaction: the database starts at the compact revision
        revision = current_revision(copy)
        found = hash_at(copy, revision)
    if found is None:
        raise ContradictionError(
            f"after its restore it is at revision {current_revision(copy)}, but at {metadata.revision} according to its record"
        )
    keys = count_at(copy, revision)
    # etcdutl 3.5 counts all entries of the database. Later releases count keys, with the empty one that --bump-revision adds.
    if keys is not None and metadata.storage_version and not 0 <= metadata.total_keys - keys <= 1:
        raise ContradictionError(
            f"after its restore it has {keys} keys, but {metadata.total_keys} according to its record"
        )
    # The drill disables authentication in the copy. It cannot find the switch in a database that it cannot parse.
    sentence = "it was not compared with a cluster, and its keys were not counted, because authentication could not be disabled in the restored copy."
    if keys is not None:
        sentence = f"it has {keys} keys, and was not compared with a cluster."
    return Finding(
        revision,
        keys,
        found.hash,
        found.compact_revision,
        "nothing",
        0,
        "",
        sentence,
    )


def compare_with_cluster(copy: Endpoint, live: Endpoint, database: str, finding: Finding, limits: Limits) -> Finding:
    """Compare the copy with a member of the cluster. Raises ScratchMemberError if they differ.

    ``database``: the path of the copy's database.
    """
    revision = finding.revision
    keys = count_at(live, revision)
    if None not in (keys, finding.keys) and keys != finding.keys:
        raise ContradictionError(f"it has {finding.keys} keys, but {live.name} had {keys} at revision {revision}")
    theirs = hash_at(live, revision, min(_HASH_SECONDS, limits.seconds_left()))
    ours = hash_with_compaction_of(copy, theirs, finding) if theirs else None
    if theirs is None or ours is None:
        compared = compare_keys(copy, live, database, revision, limits)
        what = f"the {compared} compared keys of that age are in it" if compared else "none of its keys is that old"
        sentence = f"the cluster is compacted past revision {revision}, so that not all keys could be compared: {what}"
        if theirs is not None:
            sentence = f"the cluster is compacted up to revision {revision}, so that no hash could be compared: {what}"
        return _found(finding, live, sentence, compared="keys" if compared else "nothing", keys_compared=compared)
    if ours.hash != theirs.hash:
        raise ContradictionError(
            f"its keys differ from the cluster's: at revision {revision}, compacted to {ours.compact_revision}, its hash "
            f"is {ours.hash}, and that of {live.name} is {theirs.hash}"
        )
    counted = "" if finding.keys is None else f"{finding.keys} keys and "
    sentence = f"{counted}hash {ours.hash} are equal to those of {live.name} at revision {revision}"
    more = {"hash": ours.hash, "compact_revision": ours.compact_revision, "keys_compared": finding.keys or 0}
    return _found(finding, live, sentence, compared="hash", **more)


def hash_with_compaction_of(copy: Endpoint, theirs: Hash, finding: Finding) -> Hash | None:
    """Compact the copy as the cluster was compacted, and return its hash; None if their compactions still differ.

    They differ if the backup was compacted further: a member keeps the hash that it stored before compacting to a revision. Source:
    HashByRev and Store in server/storage/mvcc/hash.go.
    """
    if theirs.compact_revision > finding.compact_revision:
        answer = run_etcdctl(copy.link, [copy.url], "compaction", str(theirs.compact_revision))
        if answer.returncode != 0:
            raise ScratchMemberError(
                f"it could not be compacted to {theirs.compact_revision}: {failure_reason(answer)}"
            )
    ours = hash_at(copy, finding.revision)
    return ours if ours is not None and ours.compact_revision == theirs.compact_revision else None


def _found(finding: Finding, live: Endpoint, sentence: str, **more: Any) -> Finding:
    return Finding(**{**asdict(finding), "member": live.name, "sentence": f"{sentence}.", **more})


def hash_at(endpoint: Endpoint, revision: int, seconds: float = 0.0) -> Hash | None:
    """Return the hash of all keys up to a revision, None if it is compacted. Raises ScratchMemberError.

    seconds: how long the member may take, if that is longer than the connection's timeout: it reads every revision.
    """
    patient = replace(endpoint.link, timeout=max(endpoint.link.timeout, seconds))
    found = request_hash(patient, endpoint.url, revision)
    if isinstance(found, Hash):
        return found
    if found == COMPACTED:
        return None
    if found == FUTURE:
        raise ScratchMemberError(_behind(endpoint, revision))
    raise ScratchMemberError(f"{endpoint.name} returned no hash: {found}")


def _behind(endpoint: Endpoint, revision: int) -> str:
    return f"{endpoint.name} has not reached revision {revision}: the cluster has lost data since the backup, or was restored"


def current_revision(endpoint: Endpoint) -> int:
    """Return a member's current revision. Raises ScratchMemberError."""
    return int(read_status(endpoint)["header"]["revision"])


def count_at(endpoint: Endpoint, revision: int) -> int | None:
    """Return the number of keys at a revision, None if it is compacted, or if the member demands another user. Raises ScratchMemberError."""
    words = ["-w", "fields", "get", "", "--from-key", "--count-only", f"--rev={revision}", "--consistency=s"]
    argv = [*command_line(endpoint.link, [endpoint.url]), *words]
    answer = run_etcd_tool(argv, endpoint.link.timeout + 1.0, "etcdctl")
    if answer.returncode != 0:
        if any(text in answer.stderr for text in (COMPACTED, *_AUTHENTICATION)):
            return None
        if FUTURE in answer.stderr:
            raise ScratchMemberError(_behind(endpoint, revision))
        raise ScratchMemberError(f"{endpoint.name} could not count its keys: {failure_reason(answer)}")
    found = re.search(r'^"Count" : (\d+)$', answer.stdout, re.MULTILINE)
    if found is None:
        raise ScratchMemberError(f"{endpoint.name} returned no number of keys, but {answer.stdout[:80]!r}")
    return int(found.group(1))


def compare_keys(copy: Endpoint, live: Endpoint, database: str, revision: int, limits: Limits) -> int:
    """Compare those of the cluster's keys that are as old as the backup. Returns their number.

    Compares the first keys in the order of names, as many as ``first_pages`` yields. ``database``: the path of the copy's database.
    Raises ScratchMemberError for the first key that differs.
    """
    copy_sizes, live_sizes = _page_sizes(copy, live, database, limits)
    compared = 0
    for start, stop, page in first_pages(live, live_sizes, limits):
        old = {key: one for key, one in page.items() if one.create_revision <= revision}
        stored = keys_between(copy, start, stop, revision, copy_sizes, limits) if old else {}
        for key, theirs in old.items():
            problem = key_problem(theirs, stored.get(key), revision)
            if problem:
                raise ContradictionError(f"the key {key.decode(errors='backslashreplace')!r} {problem}")
        compared += len(old)
    return compared


def _page_sizes(copy: Endpoint, live: Endpoint, database: str, limits: Limits) -> tuple[KeySizes, KeySizes]:
    """Return the sizes that limit requests to the copy, and to the member."""
    from_index = [lists_from_index(endpoint) for endpoint in (copy, live)]
    of_index = sizes_without_values()
    of_values = of_index if all(from_index) else read_key_sizes(database, limits.seconds_left)
    return of_index if from_index[0] else of_values, of_index if from_index[1] else of_values


def key_problem(theirs: Key, ours: Key | None, revision: int) -> str:
    """Return how a key of the cluster, as old as the backup at ``revision``, contradicts the backup; else empty."""
    if ours is None:
        return f"exists in the cluster since revision {theirs.create_revision} and is not in the backup"
    if ours.create_revision != theirs.create_revision:
        return f"exists in the cluster since revision {theirs.create_revision}, but in the backup since {ours.create_revision}"
    if theirs.mod_revision <= revision and ours != theirs:
        return f"last changed at revision {theirs.mod_revision}, but in the backup at {ours.mod_revision}"
    return ""
