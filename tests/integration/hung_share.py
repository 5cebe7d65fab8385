# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mount a filesystem whose server does not answer: ``hung_share.py DIRECTORY``.

A process that accesses it waits in the kernel, where even SIGKILL does not end it, until this server ends. Source: linux/fuse.h.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_INIT = 26
_REQUEST = 1 << 17


def main(directory: str) -> None:
    """Mount the filesystem, print a line, then read requests without answering them."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={handle},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"hung", os.fsencode(directory), b"fuse", 0, options.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), directory)
    _length, request, number = struct.unpack_from("<IIQ", os.read(handle, _REQUEST))
    if request != _INIT:
        raise ValueError(f"the first request is {request}, not {_INIT}")
    # The version of the protocol, readahead, flags, limits of requests in the background, and the largest write.
    answer = struct.pack("<IIIIHHI36x", 7, 19, 0, 0, 12, 9, 4096)
    os.write(handle, struct.pack("<IiQ", 16 + len(answer), 0, number) + answer)
    print("mounted", flush=True)
    while True:
        os.read(handle, _REQUEST)


if __name__ == "__main__":
    main(sys.argv[1])
