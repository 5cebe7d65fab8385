# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of the program on the hosts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import configuration

from tests.unit.plugins.module_utils._maintenance.configurations import BUCKET, CONFIG, changed


def test_parse_config() -> None:
    config = configuration.parse_config(CONFIG)
    assert (config.defrag.free_size, config.snapshot.keep, config.snapshot.keep_days) == (100 << 20, 14, None)
    assert config.connection.timeout == 1.0
    assert configuration.parse_config(changed("snapshot", keep_days="30")).snapshot.keep_days == 30


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "the configuration is not a mapping"),
        ({**CONFIG, "extra": 1}, "extra is unknown"),
        ({**CONFIG, "cluster": 5}, "cluster is 5, which is not text"),
        ({name: value for name, value in CONFIG.items() if name != "drill"}, "drill is missing"),
        (changed("connection", endpoints=[]), "endpoints: the list is empty"),
        (changed("defrag", free_share=120), "etcd_maintenance_defrag_free_share is 120, but must be 0 to 99 percent"),
        (
            changed("defrag", free_share="half"),
            "etcd_maintenance_defrag_free_share is 'half', which is not a whole number",
        ),
        (changed("defrag", free_size="lots"), "etcd_maintenance_defrag_free_size is 'lots', which is not a valid size"),
        (changed("defrag", free_size=-1), "etcd_maintenance_defrag_free_size is -1"),
        (changed("defrag", pause=-1), "etcd_maintenance_defrag_pause is -1"),
        (changed("defrag", timeout=0), "etcd_maintenance_defrag_timeout is 0, but must be 1 to 86400 seconds"),
        (
            changed("defrag", raise_memory="yes"),
            "etcd_maintenance_defrag_raise_memory is 'yes', which is not a boolean",
        ),
        (changed("snapshot", keep=0), "etcd_maintenance_backup_keep is 0, but must be 1 to"),
        (changed("snapshot", keep_days=0), "etcd_maintenance_backup_keep_days is 0, but must be 1 to"),
        (changed("snapshot", directory=""), "backups are enabled, but etcd_maintenance_backup_dir is empty"),
        (changed("snapshot", encrypt_to="age1"), "etcd_maintenance_backup_encrypt_to is 'age1', which is not a list"),
        (changed("snapshot", directory=None), "etcd_maintenance_backup_dir is None, which is not text"),
        (
            changed("snapshot", bucket="etcd-backups"),
            "etcd_maintenance_backup_bucket is 'etcd-backups', which is not a mapping",
        ),
        (changed("snapshot", bucket={"name": "b"}), "snapshot.bucket.ca_cert is missing"),
        (changed("snapshot", bucket={**BUCKET, "secret_key": "x"}), "snapshot.bucket.secret_key is unknown"),
        (changed("snapshot", bucket={**BUCKET, "name": 1}), "etcd_maintenance_backup_bucket is 1, which is not text"),
        (changed("snapshot", bucket={**BUCKET, "region": None}), "etcd_maintenance_backup_bucket_region is None"),
        (changed("drill", memory_max=""), "etcd_maintenance_drill_memory_max is ''"),
    ],
)
def test_parse_config_refuses(data: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        configuration.parse_config(data)
