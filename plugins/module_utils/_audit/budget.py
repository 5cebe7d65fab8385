# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit what reading costs a member: bytes for each page, bytes a second, and the largest total, which is known beforehand.

Pure: the clock and the pause are parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Page

# etcd's default of max_request_bytes, the largest value that it accepts.
MAX_VALUE = 3 << 19
# A member builds a page in memory before it sends it, and without values it reads them too. Only the number of keys limits that, because no request
# tells the sizes of values in advance.
MAX_PAGE = 64 << 20


@dataclass
class Budget:
    """How much may be read, and how much has been.

    limit: bytes after which no further page is read. rate: bytes a second. in_use: bytes of data in the database, 0 if unknown. entry_size: an
    estimate; after a page with a larger entry, that one counts for the next page, and half of it for the page after that. page_bytes, page_keys: the
    aim and the limit of one page, which has at most MAX_PAGE bytes.
    """

    limit: int
    rate: int
    in_use: int
    entry_size: int
    page_bytes: int
    page_keys: int
    clock: Callable[[], float]
    pause: Callable[[float], None]
    read: int = 0
    pages: int = 0
    bound: int = field(init=False)
    _largest: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Compute the maximum of bytes that can be read: the limit, and the page that exceeds it."""
        self.bound = self.limit + min(self._wanted_keys * MAX_VALUE, MAX_PAGE, max(self.in_use or MAX_PAGE, MAX_VALUE))

    @property
    def page_limit(self) -> int:
        """The number of keys to request next: as many as may all have the largest size, or more if all unread keys fit into a page."""
        fits = 0 < self.in_use <= self.read + MAX_PAGE
        return self._wanted_keys if fits else min(self._wanted_keys, MAX_PAGE // MAX_VALUE)

    @property
    def _wanted_keys(self) -> int:
        return max(1, min(self.page_keys, self.page_bytes // max(1, self.entry_size, self._largest)))

    @property
    def left(self) -> bool:
        """Return whether another page may be read."""
        return self.read < self.limit

    def fetch(self, read: Callable[[], Page]) -> Page:
        """Read a page, count it, and pause to keep the rate."""
        began = self.clock()
        page = read()
        size = page.bytes
        self.read += size
        self.pages += 1
        self._largest = max(self._largest // 2, max((key.size for key in page.keys), default=0))
        seconds = size / self.rate - (self.clock() - began)
        if seconds > 0:
            self.pause(seconds)
        return page
