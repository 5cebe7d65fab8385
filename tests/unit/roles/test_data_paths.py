# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which paths role etcd refuses: those of the data and of the write-ahead log, and all paths in etcd's unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
RULE = "must be an absolute path without double slashes or a slash at its end, and is"
IN_UNIT = "must be a path without whitespace, quotes, % or backslashes, because systemd interprets them in etcd.service, and is"


def problems_of(variable: str = "_etcd_wrong_paths", /, **given_too: Any) -> list[str]:
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "vars" / "main" / "obstacles.yml"), trusted_as_template=True),
        "etcd_data_dir": "/var/lib/etcd/data",
        "etcd_wal_dir": "",
        "etcd_install_dir": "/opt/etcd",
        "etcd_config_file": "/etc/etcd/etcd.yml",
        "etcd_user": "etcd",
        **given_too,
    }
    found: list[str] = Templar(loader=loader, variables=given).template(given[variable])
    return found


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
    assert problems_of(etcd_data_dir=data_dir, etcd_wal_dir=wal_dir) == problems


SHARED = ", which other programs use, but only etcd may enter it; choose a path with a folder for etcd, such as /srv/etcd-wal/wal"


@pytest.mark.parametrize(
    ("data_dir", "wal_dir", "problems"),
    [
        ("/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal", []),
        ("/var/lib/etcd", "/srv/etcd-wal/wal", []),
        ("/data", "/fast/wal", []),
        ("/var/lib/etcd/data", "/srv/wal", [f"the folder of etcd_wal_dir is /srv{SHARED}"]),
        ("/var/lib/etcd/data", "/wal", [f"the folder of etcd_wal_dir is /{SHARED}"]),
        ("/mnt", "/var/lib/wal", [f"etcd_data_dir is /mnt{SHARED}", f"the folder of etcd_wal_dir is /var/lib{SHARED}"]),
    ],
)
def test_directories_of_other_programs(data_dir: str, wal_dir: str, problems: list[str]) -> None:
    """etcd's user gets the data dir and the folder above the WAL dir, with mode 0700. A member that already has them stays manageable."""
    paths = {"etcd_data_dir": data_dir, "etcd_wal_dir": wal_dir}
    owned_by_root = {"/srv": {"exists": True, "owner": "root"}, "/mnt": {"exists": False}}
    facts: dict[str, Any] = {"member": {"present": False}, "files": owned_by_root}
    assert problems_of("_etcd_shared_folders", etcd_host_facts=facts, **paths) == problems
    assert problems_of("_etcd_shared_folders", etcd_host_facts=facts, etcd_restore_active=True, **paths) == []
    assert problems_of("_etcd_shared_folders", etcd_host_facts={**facts, "member": {"present": True}}, **paths) == []
    given = {name: {"exists": True, "owner": "etcd"} for name in ("/srv", "/mnt", "/var/lib", "/")}
    assert problems_of("_etcd_shared_folders", etcd_host_facts={**facts, "files": given}, **paths) == []


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("etcd_install_dir", "/opt/etcd/"),
        ("etcd_install_dir", "/opt//etcd"),
        ("etcd_install_dir", "opt/etcd"),
        ("etcd_config_file", "/etc/etcd//etcd.yml"),
        ("etcd_config_file", "etcd.yml"),
    ],
)
def test_paths_that_systemd_shows_in_another_form(name: str, path: str) -> None:
    """systemd shows /opt/etcd//3.7.3/etcd as /opt/etcd/3.7.3/etcd, and starts no relative path."""
    assert problems_of(**{name: path}) == [f"{name} {RULE} {path}"]


@pytest.mark.parametrize(
    ("name", "path", "said"),
    [
        ("etcd_data_dir", "/srv/etcd data/member", ""),
        ("etcd_data_dir", "/srv/it's/etcd", ""),
        ("etcd_data_dir", "/srv/etcd%H", ""),
        ("etcd_data_dir", "/srv/etcd\\x", ""),
        ("etcd_install_dir", "/opt/my\tetcd", ""),
        ("etcd_config_file", '/etc/"etcd"/etcd.yml', ""),
        # The unit contains the folder of the log, and etcd's configuration the log itself.
        ("etcd_wal_dir", "/srv/etcd wal/member/wal", "the folder of etcd_wal_dir {} /srv/etcd wal/member"),
    ],
)
def test_paths_that_a_unit_cannot_contain(name: str, path: str, said: str) -> None:
    """systemd splits ReadWritePaths= at whitespace, and expands % everywhere."""
    assert problems_of(**{name: path}) == [(said or f"{name} {{}} {path}").format(IN_UNIT)]


@pytest.mark.parametrize("wal_dir", ["/srv/etcd-wal_1.0/member/my wal", "/srv/a:b;c#d$e/wal", ""])
def test_paths_that_a_unit_can_contain(wal_dir: str) -> None:
    assert problems_of(etcd_wal_dir=wal_dir) == []


DIRECTORIES = ["backup_dir", "backup_copy_dir", "drill_scratch_dir", "metrics_dir"]


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("etcd", ["etcd_data_dir", "etcd_wal_dir", "etcd_install_dir", "etcd_config_file"]),
        ("etcd_maintenance", [f"etcd_maintenance_{directory}" for directory in DIRECTORIES]),
    ],
)
def test_argument_specs_name_the_refused_paths(role: str, names: list[str]) -> None:
    specs = DataLoader().load_from_file(str(ROLE.parent / role / "meta" / "argument_specs.yml"))
    [sentence] = [text for text in specs["argument_specs"]["main"]["description"] if "whitespace" in text]
    assert all(f"O({name})" in sentence for name in names)
