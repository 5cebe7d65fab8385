# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lab/addresses.py: a lab host keeps its address."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def choose(file: Path, subnet: str, *hosts: str) -> dict[str, str]:
    command = [PROJECT / "lab/addresses.py", file, subnet, *hosts]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    file.write_text(answer)  # as create.yml does
    return dict(json.loads(answer))


def test_a_host_keeps_its_address_when_others_are_added(tmp_path: Path) -> None:
    file = tmp_path / "addresses.json"
    assert choose(file, "10.89.2.0/24", "etcd-2") == {"etcd-2": "10.89.2.2"}
    both = {"etcd-2": "10.89.2.2", "etcd-1": "10.89.2.3"}
    assert choose(file, "10.89.2.0/24", "etcd-1", "etcd-2") == both
    assert choose(file, "10.89.2.0/24", "etcd-1") == both


def test_hosts_get_other_addresses_in_another_network(tmp_path: Path) -> None:
    file = tmp_path / "addresses.json"
    choose(file, "10.89.2.0/24", "etcd-1", "etcd-2")
    assert choose(file, "10.89.7.0/24", "etcd-1", "etcd-2") == {"etcd-1": "10.89.7.2", "etcd-2": "10.89.7.3"}


def test_each_host_starts_with_its_address() -> None:
    assert 'ip: "{{ (_lab_addresses.stdout | from_json)[item] }}"' in (PROJECT / "lab/create.yml").read_text()
