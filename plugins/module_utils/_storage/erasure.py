# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Erase the content of a device that nothing uses, if an entry of etcd_storage_erase_devices permits it.

The plan's facts are older than the erasure. Therefore the device is claimed first, and its content is inspected again: while it is claimed, the
kernel lets nobody mount it or activate it in LVM, RAID, encryption or swap.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._host import device_content
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.devices import stable_links

WIPE_SECONDS = 60


class EraseError(ValueError):
    """A device that may not be erased, or could not be."""


def _claim(path: str) -> int:
    """Open a device for this process alone. Raises EraseError if the kernel uses it."""
    try:
        return os.open(path, os.O_RDWR | os.O_EXCL)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise EraseError(f"{path} cannot be opened: {error.strerror}. Nothing was erased.") from error
        raise EraseError(
            f"{path} is in use: since this play inspected it, something mounted it, or activated it in LVM, RAID, encryption or "
            "swap. Nothing was erased: name another device, or release this one."
        ) from error


def erase_device(path: str, entry: str, *, check: bool = False, links: Sequence[str] | None = None) -> str | None:
    """Erase a device, and return what it carried; None if it was blank. Raises EraseError if the entry does not permit it now.

    ``links`` are the device's names below /dev/disk (tests set them). With ``check``, nothing is erased.
    """
    resolved = os.path.realpath(path)
    handle = _claim(resolved)
    try:
        content = device_content.content_facts(resolved, host_facts.run)
        names = stable_links(resolved) if links is None else list(links)
        device = {**content, "resolved": resolved, "links": names}
        if content["probe_error"]:
            raise EraseError(f"{path} {content['probe_error']}. Nothing was erased: replace the disk.")
        kind = erase_list.content_of(device)
        if kind is None:
            return None
        if erase_list.permitting_entry(device, [entry]) is None:
            raise EraseError(
                f"{path} has another content than when this play inspected it ({erase_list.describe_content(device)}), which "
                f"'{entry}' in etcd_storage_erase_devices does not permit to erase. Nothing was erased. If the content is not "
                f"needed, {erase_list.how_to_permit(device)}."
            )
        if not check:
            _overwrite(handle, resolved)
        return kind
    finally:
        os.close(handle)


def _overwrite(handle: int, path: str) -> None:
    """Write the mark, then remove all signatures: the mark lets the next run continue if this one is interrupted in between."""
    os.pwrite(handle, device_content.ERASED_MARK.encode().ljust(device_content.ALIGNMENT, b"\0"), 0)
    os.fsync(handle)
    # This process has claimed the device, so wipefs cannot claim it too: --force lets it write nevertheless.
    done = run_process([host_facts.find_command("wipefs") or "wipefs", "--all", "--force", path], WIPE_SECONDS)
    if done.returncode != 0:
        reason = (
            "did not end" if done.returncode is None else done.stderr.strip() or f"failed with code {done.returncode}"
        )
        raise EraseError(f"wipefs on {path}: {reason}. Run this again to continue.")
