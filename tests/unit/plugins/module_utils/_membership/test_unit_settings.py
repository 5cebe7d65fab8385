# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings are refused because systemd, or etcd at its start, does not accept them, and folders of other programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import unit_settings

from tests.unit.plugins.module_utils._membership.role_settings import DEFAULTS

RULE = "must be an absolute path without double slashes or a slash at its end, and is"
IN_UNIT = "must be a path without whitespace, quotes, % or backslashes, because systemd interprets them in etcd.service, and is"


def problems_of(**settings: Any) -> list[str]:
    """Return the problems of paths, by the names of the role's variables."""
    return unit_settings.path_problems(replace(DEFAULTS, **{name[5:]: value for name, value in settings.items()}))


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


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"data_dir": "/home/etcd/data"}, [("etcd_data_dir", "/home/etcd/data", "/home")]),
        ({"wal_dir": "/root/member/wal"}, [("the folder of etcd_wal_dir", "/root/member", "/root")]),
        ({"wal_dir": "/tmp/wal"}, [("the folder of etcd_wal_dir", "/tmp", "/tmp")]),
        ({"data_dir": "/dev/shm/etcd/data"}, []),  # PrivateDevices= leaves it visible
        ({"install_dir": "/run/user/0/etcd"}, [("etcd_install_dir", "/run/user/0/etcd", "/run/user")]),
        ({"config_file": "/var/tmp/etcd.yml"}, [("etcd_config_file", "/var/tmp/etcd.yml", "/var/tmp")]),
        ({"tls_dir": "/root/tls"}, [("etcd_tls_dir", "/root/tls", "/root")]),
        ({"data_dir": "/homes/etcd", "wal_dir": "/srv/home/wal", "tls_dir": ""}, []),
        ({}, []),
    ],
)
def test_folders_that_the_unit_hides(settings: dict[str, str], found: list[tuple[str, str, str]]) -> None:
    assert unit_settings.hidden_folder_problems(replace(DEFAULTS, **settings)) == [
        f"{name} is {path}, but etcd.service hides {folder} from etcd; choose a path in another folder, such as /var/lib or /srv"
        for name, path, folder in found
    ]


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
    """etcd's user gets the data dir and the folder above the WAL dir, with mode 0700."""
    settings = replace(DEFAULTS, data_dir=data_dir, wal_dir=wal_dir)
    assert unit_settings.shared_folder_problems(settings, []) == problems
    assert unit_settings.shared_folder_problems(settings, ["/srv", "/mnt", "/var/lib", "/"]) == []


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


@pytest.mark.parametrize("wal_dir", ["/srv/etcd-wal_1.0/member/my wal", "/srv/a:b;c#d$e/wal", "", None])
def test_paths_that_a_unit_can_contain(wal_dir: str | None) -> None:
    assert problems_of(etcd_wal_dir=wal_dir) == []


def weights(**settings: Any) -> list[str]:
    return unit_settings.weight_problems(replace(DEFAULTS, **settings))


@pytest.mark.parametrize("weight", [1, 500, "500", 10000])
def test_weights_of_systemd(weight: int | str) -> None:
    assert weights(io_weight=weight, cpu_weight=weight) == []


@pytest.mark.parametrize(
    ("weight", "read"),
    [(0, 0), (10001, 10001), (-5, -5), ("high", 0), ("500 # more", 0), ("", 0), (None, 0), ("0.5", 0)],
)
def test_weights_that_systemd_would_ignore(weight: Any, read: int) -> None:
    assert weights(io_weight=weight) == [f"etcd_io_weight must be 1 to 10000, and is {read}"]
    assert weights(cpu_weight=weight) == [f"etcd_cpu_weight must be 1 to 10000, and is {read}"]


@pytest.mark.parametrize("adjust", [-1000, "-900", 0, 1000])
def test_oom_scores_of_linux(adjust: int | str) -> None:
    assert weights(oom_score_adjust=adjust) == []


@pytest.mark.parametrize("adjust", [-1001, 1001, "low", "-900 # low", ""])
def test_oom_scores_that_systemd_would_ignore(adjust: int | str) -> None:
    problem = f"etcd_oom_score_adjust must be -1000 to 1000, and is {adjust}"
    assert weights(oom_score_adjust=adjust) == [problem]
    assert weights(io_weight=0, oom_score_adjust=adjust) == ["etcd_io_weight must be 1 to 10000, and is 0", problem]


ABOVE = "etcd_election_timeout must be at most 50000 (milliseconds), and is"
CLOSE = "etcd_election_timeout must be at least five times etcd_heartbeat_interval"
BELOW = "etcd_heartbeat_interval must be 1 or more (milliseconds), and is"


@pytest.mark.parametrize(
    ("heartbeat", "election", "problems"),
    [
        (100, 1000, []),
        ("100", "500", []),
        (5000, 50000, []),
        (500, 1000, [f"{CLOSE} (500), better ten times, and is 1000"]),
        (100, 50001, [f"{ABOVE} 50001"]),
        (0, 1000, [f"{BELOW} 0"]),
        ("1s", 1000, [f"{BELOW} 1s"]),
        (10001, 50001, [f"{ABOVE} 50001", f"{CLOSE} (10001), better ten times, and is 50001"]),
    ],
)
def test_timings(heartbeat: int | str, election: int | str, problems: list[str]) -> None:
    """With these, etcd exits at its start."""
    settings = replace(DEFAULTS, heartbeat_interval=heartbeat, election_timeout=election)
    assert unit_settings.timing_problems(settings) == problems
