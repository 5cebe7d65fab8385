# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resolver in Rego against Ansible itself: no value may ever differ in silence.

Inventories are resolved in batches, by one run of conftest each, and by Ansible in this process; a few also by the real ansible-inventory.
HEADROOM_PROPERTY_BATCHES sets the number of random batches of 25 inventories (default 20, always the same ones; any other number draws new ones).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .inventories import Files, ansible_view, inventories, write
from .tools import resolve

BATCH = 25
BATCHES = int(os.environ.get("HEADROOM_PROPERTY_BATCHES", "0"))


def differences(ansible: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Where the two views differ without the resolver saying so."""
    found = []
    if ansible["groups"] != ours["groups"]:
        found.append(f"groups: Ansible {ansible['groups']}, ours {ours['groups']}")
    if set(ansible["hosts"]) != set(ours["hosts"]):
        found.append(f"hosts: Ansible {sorted(ansible['hosts'])}, ours {sorted(ours['hosts'])}")
    for host, expected in ansible["hosts"].items():
        known = ours["hosts"].get(host, {})
        unknown = ours["unknown"].get(host, {})
        for name in set(expected) | set(known):
            if name in unknown and name not in known:
                continue
            # As JSON, so that 1 and true differ.
            if (
                name not in known
                or name not in expected
                or json.dumps(known[name], sort_keys=True) != json.dumps(expected[name], sort_keys=True)
            ):
                found.append(
                    f"{host}: {name} is {expected.get(name, 'not set')!r} to Ansible, {known.get(name, 'not set')!r} to us"
                )
    return found


def show(files: Files) -> str:
    return "\n".join(f"### {path}\n{text}" for path, text in files.items())


@settings(
    max_examples=BATCHES or 20,
    derandomize=not BATCHES,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(batch=st.lists(inventories(), min_size=BATCH, max_size=BATCH))
def test_random_inventories(batch: list[Files]) -> None:
    values = unknown = 0
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "batch"
        for number, files in enumerate(batch):
            write(base / f"i{number}", files)
        resolved = resolve(base)
        for number, files in enumerate(batch):
            ours = resolved[str(base / f"i{number}")]
            ansible = ansible_view(base / f"i{number}")
            found = differences(ansible, ours)
            assert not found, "\n".join(found) + "\n" + show(files)
            assert not ours["refused"], show(files)
            values += sum(len(variables) for variables in ansible["hosts"].values())
            unknown += sum(len(variables) for variables in ours["unknown"].values())
    # A resolver that knows nothing would pass all the above.
    assert unknown <= 0.6 * values + 10, f"{unknown} of {values} values are unknown"


def command_line_view(folder: Path) -> dict[str, Any]:
    command = [str(Path(sys.executable).parent / "ansible-inventory"), "-i", str(folder), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd=folder.parent)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


HAND_WRITTEN: dict[str, Files] = {
    "layers": {
        "hosts.yml": "etcd:\n  hosts: {n1: , n2: {v: host}}\n  vars: {v: file, w: file}\n",
        "group_vars/all.yml": "v: all\nw: all\n",
        "host_vars/n2.yml": "w: host_vars\n",
    },
    "nesting": {
        "hosts.yml": "a: {children: {b: {children: {c: {children: {d: {children: {e: {children: {f: {hosts: n1, vars: {v: f}}}}}}}}}}}}\n",
        "b.yml": "f: {vars: {w: f}}\ne: {vars: {v: e, w: e}}\nz: {hosts: {n1: }, vars: {v: z, w: z}}\n",
    },
    "priority": {
        "hosts.yml": "a: {hosts: n1, vars: {v: a, ansible_group_priority: 5}}\nb: {hosts: n1, vars: {v: b}}\n",
        "group_vars/b.yml": "ansible_group_priority: 9\nw: b\n",
    },
    "hidden_by_directory": {
        "hosts.yml": "etcd: {hosts: n1}\n",
        "group_vars/etcd.yml": "v: file\n",
        "group_vars/etcd/main.yml": "w: directory\n",
    },
    "odd_names": {
        "hosts.yml": "all: {hosts: {'n1:22': , 'n[1:2]:23': , '[2001:db8::1]:22': , 'n_:22': , 'n[07:9].x': }}\n".replace(
            "07:9", "07:09"
        )
    },
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_same_as_the_command_line(name: str, tmp_path: Path) -> None:
    """Both of our forms against the real ansible-inventory: the folder as it lies, and its own output."""
    folder = tmp_path / "inventory"
    write(folder, HAND_WRITTEN[name])
    document = command_line_view(folder)
    expected = {**ansible_view(folder), "hosts": document["_meta"]["hostvars"]}
    expected["hosts"] = {**{host: {} for host in expected["groups"]["all"]}, **expected["hosts"]}
    (ours,) = resolve(folder).values()
    assert not differences(expected, ours)

    (tmp_path / "listed.json").write_text(json.dumps(document), encoding="utf-8")
    (listed,) = resolve(tmp_path / "listed.json").values()
    assert listed["hosts"] == expected["hosts"]
    assert {group: hosts for group, hosts in listed["groups"].items() if hosts} == {
        group: hosts for group, hosts in expected["groups"].items() if hosts
    }


def test_what_cannot_be_known(tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    files = {
        "hosts.yml": (
            "etcd: {hosts: {n1: {a: 1}}, vars: {big: 9007199254740993, time: 12:30, two: 1}}\n"
            "up: {children: {etcd: {vars: {two: 2}, hosts: {n1: {a: 2}}}}}\n"
        ),
        "dynamic.yml": "plugin: constructed\n",
        "two.yml": "a: 1\n---\nb: 2\n",
        "hosts.toml": "[etcd]\n",
        "group_vars/etcd/vault.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
        "group_vars/etcd/main.yml": "secret: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162\ntemplate: ['{{ x }}']\nplain: 1\n",
        "host_vars/n1.yml": "- 1\n- 2\n",
        "bad.yml": "etcd: {hosts: [n1]}\nleft: {hosts: {'n[1]': , n9: 5}, children: {right: 5}}\n",
    }
    write(folder, files)
    (ours,) = resolve(folder).values()
    assert ours["hosts"]["n1"] == {"plain": 1}
    assert set(ours["unknown"]["n1"]) == {"a", "big", "time", "two", "secret", "template"}
    base = str(folder)
    assert set(ours["opaque"]) == {
        f"{base}/{name}"
        for name in ["dynamic.yml", "two.yml", "hosts.toml", "group_vars/etcd/vault.yml", "host_vars/n1.yml"]
    }
    assert len(ours["refused"][f"{base}/bad.yml"]) == 4


def test_inventories_below_one_folder_are_kept_apart(tmp_path: Path) -> None:
    for name, version in (("production", "3.6.16"), ("staging", "3.7.3")):
        write(
            tmp_path / "inventory" / name,
            {"hosts.yml": "etcd: {hosts: n1}\n", "group_vars/all.yml": f"etcd_version: {version}\n"},
        )
    resolved = resolve(tmp_path / "inventory")
    assert {Path(name).name: found["hosts"] for name, found in resolved.items()} == {
        "production": {"n1": {"etcd_version": "3.6.16"}},
        "staging": {"n1": {"etcd_version": "3.7.3"}},
    }
