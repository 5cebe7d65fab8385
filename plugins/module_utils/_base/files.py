# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and hash files, flush them to the disk, and replace them atomically."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator

CHUNK_BYTES = 1 << 20
# As many symbolic links as Linux follows.
MAX_LINKS = 40


def read_text(path: str, limit: int = -1) -> str:
    """Return a file's text, or an empty text if it cannot be read. limit: maximum number of characters, negative for all."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(limit)
    except OSError:
        return ""


def resolve_below(root: str, path: str) -> str:
    """Return where a path of another root is, with symbolic links followed as a process with that root follows them.

    root: its folder, such as /proc/PID/root. The kernel would follow an absolute link from the root of this process. Raises OSError if there are
    too many links.
    """
    rest, found, links = path.split("/")[::-1], [root], 0
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            found = found[:-1] or [root]
            continue
        try:
            target = os.readlink("/".join([*found, part]))
        except OSError:  # no link, or nothing there
            found.append(part)
            continue
        links += 1
        if links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if target.startswith("/"):
            found = [root]
        rest.extend(reversed(target.split("/")))
    return "/".join(found)


def read_text_below(root: str, path: str, limit: int) -> str:
    """Return the text of a regular file of another root, at most ``limit`` characters; an empty text if it cannot be read.

    A process there may exchange a folder for a link at any time, so no link is followed once the path is resolved.
    """
    try:
        parts = resolve_below(root, path)[len(root) :].strip("/").split("/")
        handle = os.open(root, os.O_PATH | os.O_DIRECTORY)
        for number, part in enumerate(parts, 1):
            last = number == len(parts)
            try:
                inner = os.open(
                    part, os.O_NOFOLLOW | (os.O_RDONLY | os.O_NONBLOCK if last else os.O_PATH), dir_fd=handle
                )
            finally:
                os.close(handle)
            handle = inner
        with open(handle, encoding="utf-8", errors="replace") as stream:
            return stream.read(limit) if stat.S_ISREG(os.fstat(handle).st_mode) else ""
    except OSError:
        return ""


def sha256_of_file(path: str) -> tuple[int, str]:
    """Return the size in bytes and the SHA-256 of a file. Raises OSError."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(CHUNK_BYTES), b""):
            digest.update(chunk)
        return stream.tell(), digest.hexdigest()


def drop_page_cache(path: str) -> None:
    """Make the next reader read the file from the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def sync_path(path: str) -> None:
    """Flush a file, or the entries of a directory, to the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_and_drop_cache(path: str) -> None:
    """Flush a file to the disk, and make the next reader read it from there. Raises OSError."""
    sync_path(path)  # the kernel keeps pages that are not yet written
    drop_page_cache(path)


@contextlib.contextmanager
def errors_name(path: str) -> Iterator[None]:
    """Add the path to an OSError of the block that names no file: that of a write, unlike that of an open."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise


def write_as_new(path: str, content: str | bytes) -> None:
    """Write a file atomically, with the mode that a new file of this process would have. Raises OSError."""
    umask = os.umask(0)
    os.umask(umask)
    write_atomically(path, content, 0o666 & ~umask)


def write_atomically(path: str, content: str | bytes, mode: int = 0o644) -> None:
    """Replace a file, so that a reader finds the old content or the new one, never a part.

    mode: the permissions of the new file. The content is not flushed to the disk. Raises OSError; the old file stays.
    """
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with errors_name(path), os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            os.fchmod(stream.fileno(), mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
