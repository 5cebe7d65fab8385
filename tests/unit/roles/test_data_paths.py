# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which paths of the data and of the write-ahead log role etcd refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
RULE = "must be an absolute path without a slash at its end, and is"


@pytest.mark.parametrize(
    ("data_dir", "wal_dir", "problems"),
    [
        ("/var/lib/etcd/data", "", []),
        ("/data", "/srv/wal", []),
        ("/var/lib/etcd/data/", "", [f"etcd_data_dir {RULE} /var/lib/etcd/data/"]),
        ("/var/lib/etcd/data", "/srv/wal/", [f"etcd_wal_dir {RULE} /srv/wal/"]),
        ("data", "//srv/wal", [f"etcd_data_dir {RULE} data", f"etcd_wal_dir {RULE} //srv/wal"]),
        ("/", "", [f"etcd_data_dir {RULE} /"]),
    ],
)
def test_paths_of_the_data(data_dir: str, wal_dir: str, problems: list[str]) -> None:
    """With a slash at its end, the folder next to the data would be a folder in the data."""
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True),
        "etcd_data_dir": data_dir,
        "etcd_wal_dir": wal_dir,
    }
    assert Templar(loader=loader, variables=given).template(given["_etcd_wrong_paths"]) == problems
