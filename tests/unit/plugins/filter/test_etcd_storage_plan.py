# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter's own part; what it decides is tested with its core."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.etcdops.headroom.plugins.filter.etcd_storage_plan import FilterModule

VOLUME = {
    "name": "data",
    "device": "",
    "mount": "/var/lib/etcd",
    "directory": "/var/lib/etcd/data",
    "label": "etcd-data",
    "fstype": "ext4",
    "options": ["noatime"],
    "min_size": 1,
}


def test_it_passes_on_what_the_core_decides() -> None:
    etcd_storage_plan = FilterModule().filters()["etcd_storage_plan"]
    assert etcd_storage_plan({}, [VOLUME], "/var/lib/etcd/data") == {
        "problems": [],
        "volumes": [],
        "wal_move": {},
        "warnings": [],
        "notes": [],
        "unused_volume": "",
        "scheduler": {"rules": "", "pending": []},
    }


def test_a_wrong_setting_is_a_problem_and_an_unknown_argument_an_error() -> None:
    etcd_storage_plan = FilterModule().filters()["etcd_storage_plan"]
    found = etcd_storage_plan({}, [VOLUME], "/var/lib/etcd/data", scheduler="cfq", fsync_p99_max_ms=-1, check_seconds=0)
    assert [problem.split()[0] for problem in found["problems"]] == [
        "etcd_storage_scheduler",
        "etcd_storage_fsync_p99_max_ms",
        "etcd_storage_check_seconds",
    ]
    with pytest.raises(AnsibleFilterError, match="has no argument quotas"):
        etcd_storage_plan({}, [VOLUME], "/var/lib/etcd/data", quotas=1)
    with pytest.raises(AnsibleFilterError, match="etcd_quota_backend_bytes is 'much', which is not a valid size"):
        etcd_storage_plan({}, [VOLUME], "/var/lib/etcd/data", quota="much")


def test_a_host_that_was_not_asked_for_the_device_is_an_error_not_a_guess() -> None:
    etcd_storage_plan = FilterModule().filters()["etcd_storage_plan"]
    host = {"devices": {}, "mounts": {}}
    with pytest.raises(AnsibleFilterError, match="has not described '/dev/vdb'"):
        etcd_storage_plan(host, [{**VOLUME, "device": "/dev/vdb"}], "/var/lib/etcd/data")
