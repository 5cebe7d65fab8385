# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every key is read once, and the member's index is visited a bounded number of times."""

from __future__ import annotations

import random
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit import walk as walking
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.budget import MAX_PAGE
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import ReadError
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.walk import walk
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import prefix_end


def tree() -> dict[bytes, int]:
    """Return names as Kubernetes has them."""
    return {
        b"/registry/%s/ns%d/name-%05d" % (kind, number % 7, number): 9
        for kind in (b"events", b"pods", b"secrets")
        for number in range(3000)
    }


def noise() -> dict[bytes, int]:
    """Return names of random bytes, the extreme ones included."""
    drawn = random.Random(1)
    return {
        **{drawn.randbytes(drawn.randint(1, 6)): 9 for _number in range(5000)},
        b"\0": 1,
        b"\xff": 1,
        b"\xff" * 9: 1,
        b"\xff\xffa": 1,
    }


@pytest.mark.parametrize("wide", [50, 500, 1_000_000])
@pytest.mark.parametrize("names", [tree(), noise(), {}, {b"one": 1}])
def test_every_key_is_read_once_and_in_order(
    keys_of: Any, budget: Any, monkeypatch: pytest.MonkeyPatch, names: dict[bytes, int], wide: int
) -> None:
    monkeypatch.setattr(walking, "WIDE", wide)
    keys = keys_of(names)
    read = [key.name for page in walk(keys, budget(), 1 << 40) for key in page.keys]
    assert read == sorted(names)


def test_narrow_ranges_visit_far_fewer_keys(keys_of: Any, budget: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    visits = []
    for wide in (1_000_000, 500):
        monkeypatch.setattr(walking, "WIDE", wide)
        keys = keys_of(tree())
        requests = sum(1 for _page in walk(keys, budget(), 1 << 40))
        visits.append((keys.walked, requests))
    assert visits[1][0] * 3 < visits[0][0] and visits[1][1] < visits[0][1] * 2, visits


def test_a_prefix_is_never_left(keys_of: Any, budget: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "WIDE", 100)
    prefix = b"/registry/pods/"
    keys = keys_of(tree())
    read = [key.name for page in walk(keys, budget(), 1 << 40, prefix, prefix_end(prefix)) for key in page.keys]
    assert len(read) == 3000 and all(name.startswith(prefix) for name in read)
    assert all(prefix <= start and end <= b"/registry/pods0" for start, end, _limit in keys.requests)


def test_the_limits_end_it(keys_of: Any, budget: Any) -> None:
    assert sum(len(page.keys) for page in walk(keys_of(tree()), budget(), 1234)) == 1234
    limited = budget(1000)
    assert sum(page.bytes for page in walk(keys_of(tree()), limited, 1 << 40)) == limited.read <= limited.bound
    assert limited.pages == 2


@pytest.mark.parametrize(("large", "size"), [(500, 700 << 10), (200, (3 << 19) - 100)])
def test_large_values_after_small_ones_stay_below_a_constant(keys_of: Any, budget: Any, large: int, size: int) -> None:
    small = {b"/registry/pods/ns/%05d" % number: 1500 for number in range(20_000)}
    secrets = {b"/registry/secrets/ns/sh.helm.release.v1.%05d" % number: size for number in range(large)}
    in_use = sum({**small, **secrets}.values()) + 5_000_000
    limited = budget(page_bytes=1 << 20, page_keys=512, in_use=in_use)
    sizes = [page.bytes for page in walk(keys_of({**small, **secrets}), limited, 1 << 40)]
    assert sum(sizes) > in_use - 5_000_000 and max(sizes) <= MAX_PAGE
    assert sum(one > 2 << 20 for one in sizes) == 1, "only the first large page exceeds the aim"


def test_an_error_is_raised_after_what_was_read(keys_of: Any, budget: Any) -> None:
    pages = walk(keys_of(tree(), fails_after=3), budget(), 1 << 40)
    assert len([next(pages) for _number in range(3)]) == 3
    with pytest.raises(ReadError, match="the member stopped"):
        next(pages)
