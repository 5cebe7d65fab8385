#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Erase a block device that an entry of etcd_storage_erase_devices names."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_device_erase
short_description: Erase a block device that nothing uses
version_added: 0.3.0
description:
  - Removes all signatures of a block device (filesystem, partition table, LVM, RAID, encryption, swap), so that it can become a volume of etcd.
  - Claims the device first, so that nothing can mount or activate it, and inspects its content again. Fails if the device is in use, or
    if O(entry) does not permit to erase what it carries now.
  - First writes a mark to the start of the device, so that role P(etcdops.headroom.etcd_storage#role) continues an interrupted erasure.
options:
  device:
    description: The block device.
    type: path
    required: true
  entry:
    description:
      - The entry of O(etcdops.headroom.etcd_storage#role:main:etcd_storage_erase_devices) that permits it - C(UUID=…) of the content, or a name of
        the device below C(/dev/disk/by-id). For anything but a filesystem, a second word names the content, for example C(UUID=… LVM2_member).
      - A volume of etcd (label V(etcd-data) or V(etcd-wal)) is erased only by its C(UUID=…).
    type: str
    required: true
attributes:
  check_mode:
    description: Reports what would be erased, and fails as a real run would.
    support: full
  diff_mode:
    description: An erased device has no content to show.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
requirements:
  - blkid and wipefs of util-linux on the host
notes:
  - Needs root.
seealso:
  - module: etcdops.headroom.etcd_host_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Erase the filesystem with this UUID
  etcdops.headroom.etcd_device_erase:
    device: /dev/disk/by-id/nvme-SAMSUNG_X
    entry: UUID=4ab9ceab-e7c9-474d-bfe2-dd7b405e0d7d
"""

RETURN = r"""
msg:
  description: What was erased, or in check mode would be erased.
  type: str
  returned: always
  sample: Erased /dev/disk/by-id/nvme-SAMSUNG_X (ext4).
content:
  description: What the device carried, null if it was blank.
  type: str
  returned: success
  sample: ext4
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erasure


def main() -> None:
    """Erase the device."""
    module = AnsibleModule(
        argument_spec={"device": {"type": "path", "required": True}, "entry": {"type": "str", "required": True}},
        supports_check_mode=True,
    )
    device = module.params["device"]
    try:
        content = erasure.erase_device(device, module.params["entry"], check=module.check_mode)
    except (erasure.EraseError, OSError) as problem:
        module.fail_json(msg=str(problem))
    action = "Would erase" if module.check_mode else "Erased"
    msg = f"{device} was blank already." if content is None else f"{action} {device} ({content})."
    module.exit_json(changed=content is not None, msg=msg, content=content)


if __name__ == "__main__":
    main()
