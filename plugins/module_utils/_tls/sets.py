# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stage certificates and keys next to the current ones of a member, and switch to them in one step.

etcd reads certificate and key again for each connection, so both must change at once. The files that etcd's configuration
names are links into a directory of a whole set:

    server.crt -> current/server.crt
    current -> generation-1
    next -> generation-2

``next`` appears once a set is complete, and renaming it to ``current`` is the switch. Files of a directory without such links,
as older releases wrote them, are moved behind links first; their content stays the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path, write_atomically

CURRENT = "current"
NEXT = "next"
# Names of unfinished files, which an interruption may leave behind.
TEMPORARY = ".headroom-"
_GENERATION = re.compile(r"generation-(\d+)")
# The name of a set: `_adopt` adds a hyphen and the eight characters of mkdtemp. An administrator may keep others, such as generation-1-backup.
_SET = re.compile(r"generation-\d+(-[a-z0-9_]{8})?")


def _target(directory: str, link: str) -> str | None:
    """Return the name of the directory that a link points to, None without a link."""
    try:
        return os.readlink(os.path.join(directory, link))
    except OSError:
        return None


def staging_directory(directory: str) -> str:
    """Return where the next set is staged."""
    found = _GENERATION.match(_target(directory, CURRENT) or "")
    return os.path.join(directory, f"generation-{int(found.group(1)) + 1 if found else 1}")


def is_staged(directory: str) -> bool:
    """Return whether a complete set is staged."""
    return os.path.islink(os.path.join(directory, NEXT)) and os.path.isdir(os.path.join(directory, NEXT))


def _copy(source: str, target: str) -> None:
    """Copy a file with its mode and owner, flush it, and only then give it its name."""
    handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as stream, open(source, "rb") as given:
            status = os.fstat(given.fileno())
            shutil.copyfileobj(given, stream)
            os.fchown(stream.fileno(), status.st_uid, status.st_gid)
            os.fchmod(stream.fileno(), status.st_mode & 0o7777)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _link(directory: str, name: str, target: str) -> None:
    """Create or replace a link atomically."""
    folder = tempfile.mkdtemp(prefix=TEMPORARY, dir=directory)
    try:
        temporary = os.path.join(folder, name)
        os.symlink(target, temporary)
        os.replace(temporary, os.path.join(directory, name))
    finally:
        shutil.rmtree(folder)
    sync_path(directory)


def _copy_owner_and_mode(directory: str, folder: str) -> None:
    """Set owner and mode of a set's directory to those of its parent."""
    status = os.stat(directory)
    os.chown(folder, status.st_uid, status.st_gid)
    os.chmod(folder, status.st_mode & 0o7777)


def prepare(directory: str, copies: Iterable[str], keep: Iterable[str]) -> str:
    """Create the directory of the next set and return it. Raises OSError.

    copies: names of installed files that it takes over. keep: the same for files that it does not have yet. Other files that an unfinished set
    left there are removed, because activation would install them too.
    """
    kept = set(keep)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, NEXT))
    folder = staging_directory(directory)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder)
    _copy_owner_and_mode(directory, folder)
    for name in set(os.listdir(folder)) - kept:
        _remove(os.path.join(folder, name))
    missing = [name for name in kept if not os.path.exists(os.path.join(folder, name))]
    for name in [*copies, *missing]:
        source = os.path.join(directory, name)
        if os.path.exists(source):
            _copy(source, os.path.join(folder, name))
    return folder


def complete(directory: str, certificates: Mapping[str, str] | None = None) -> bool:
    """Write the last files of the staged set and mark it as complete; return whether it had been incomplete. Raises OSError.

    certificates: texts of certificates by the names of their files, which everyone who may enter the directory may read.
    """
    if is_staged(directory):
        return False
    folder = staging_directory(directory)
    status = os.stat(directory)
    for name, text in (certificates or {}).items():
        write_atomically(os.path.join(folder, name), text)
        os.chown(os.path.join(folder, name), status.st_uid, status.st_gid)
    for name in os.listdir(folder):
        sync_path(os.path.join(folder, name))
    sync_path(folder)
    _link(directory, NEXT, os.path.basename(folder))
    return True


def activate(directory: str) -> bool:
    """Switch to the staged set; return whether there was one. Raises OSError.

    After an interruption either the old set is in use as a whole, and the next call continues, or the new one is.
    """
    if not is_staged(directory):
        return False
    names = sorted(name for name in os.listdir(os.path.join(directory, NEXT)) if not name.startswith("."))
    own = {name for name in names if _target(directory, name) == os.path.join(CURRENT, name)}
    plain = [name for name in names if name not in own and os.path.lexists(os.path.join(directory, name))]
    if plain:
        _adopt(directory, names, plain)
    for name in names:
        if not os.path.lexists(os.path.join(directory, name)):
            _link(directory, name, os.path.join(CURRENT, name))
    before = _target(directory, CURRENT)
    os.replace(os.path.join(directory, NEXT), os.path.join(directory, CURRENT))
    sync_path(directory)
    _remove_old(directory, {before, _target(directory, CURRENT)})
    return True


def _adopt(directory: str, names: list[str], plain: list[str]) -> None:
    """Replace plain files by links to their copies atomically."""
    found = _GENERATION.match(_target(directory, CURRENT) or "")
    folder = tempfile.mkdtemp(prefix=f"generation-{found.group(1) if found else 0}-", dir=directory)
    _copy_owner_and_mode(directory, folder)
    for name in names:
        if os.path.exists(os.path.join(directory, name)):
            _copy(os.path.join(directory, name), os.path.join(folder, name))
    sync_path(folder)
    _link(directory, CURRENT, os.path.basename(folder))
    for name in plain:
        _link(directory, name, os.path.join(CURRENT, name))


def _remove_old(directory: str, kept: set[str | None]) -> None:
    """Remove all sets except the current and the previous one. The next activation removes what cannot be removed now."""
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        is_set = _SET.fullmatch(name) and os.path.isdir(path) and not os.path.islink(path)
        if (is_set or name.startswith(TEMPORARY)) and name not in kept:
            with contextlib.suppress(OSError):
                _remove(path)


def _remove(path: str) -> None:
    """Remove a file, a link, or a directory with its contents. Raises OSError."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
