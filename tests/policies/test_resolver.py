# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resolver in Rego against Ansible itself: a value that differs must be reported as unknown.

Inventories are resolved in batches, by one run of conftest each, and by Ansible's own code in this process; a few also by the command
ansible-inventory. HEADROOM_PROPERTY_INVENTORIES sets the number of random inventories for each form (default 500, and 100 as headroom-lint reads
them, always the same ones, about a minute in all; any other number draws new ones). What was compared is printed at the end.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather

from bench.lint.inventory import write_folder, write_listed

from .inventories import Files, ansible_view, any_inventories, inventories, listed, write
from .sampling import Draw, in_batches
from .tools import REPOSITORY, resolve, tool

INVENTORIES = Draw("HEADROOM_PROPERTY_INVENTORIES", 500)
# The number by default for headroom-lint, which takes some seconds.
READ = 100
COUNTS: dict[str, Counter[str]] = {"folder": Counter(), "listed": Counter(), "read": Counter()}


@pytest.fixture(scope="module", autouse=True)
def counted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Print at the end how many inventories and values were compared."""
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        for form, counts in COUNTS.items():
            if counts:
                print(
                    f"\n{form} form: " + ", ".join(f"{number} {what}" for what, number in sorted(counts.items())),
                    end="",
                )


@functools.cache
def drawn() -> list[Files]:
    """Inventories that Ansible alone can read."""
    return INVENTORIES.of(any_inventories())


def count(form: str, ansible: dict[str, Any], ours: dict[str, Any]) -> None:
    """Count an inventory that was compared."""
    COUNTS[form]["inventories"] += 1
    COUNTS[form]["hosts"] += len(ansible["hosts"])
    COUNTS[form]["values"] += sum(len(variables) for variables in ansible["hosts"].values())
    COUNTS[form]["values unknown"] += sum(len(variables) for variables in ours["unknown"].values())


def same(value: Any) -> str:
    """A value as JSON, so that 1 and true differ; 1.0 is 1, as JSON does not tell them apart."""
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {name: _whole(item) for name, item in value.items()} if isinstance(value, dict) else value


def differences(ansible: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """The differences between the two views that the resolver does not report as unknown."""
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
            if name not in known or name not in expected or same(known[name]) != same(expected[name]):
                found.append(
                    f"{host}: {name} is {expected.get(name, 'not set')!r} to Ansible, {known.get(name, 'not set')!r} to us"
                )
    return found


def show(files: Files) -> str:
    return "\n".join(f"### {path}\n{text}" for path, text in files.items())


def test_random_inventories(tmp_path: Path) -> None:
    for batch_number, batch in enumerate(in_batches(INVENTORIES.of(inventories()))):
        base = tmp_path / f"batch{batch_number}"
        for number, files in enumerate(batch):
            write(base / f"i{number}", files)
        resolved = resolve(base)
        for number, files in enumerate(batch):
            ours = resolved[str(base / f"i{number}")]
            ansible = ansible_view(base / f"i{number}")
            found = differences(ansible, ours)
            assert not found, "\n".join(found) + "\n" + show(files)
            assert not ours["refused"], show(files)
            count("folder", ansible, ours)
    # A resolver that knows nothing would pass all the above.
    values, unknown = COUNTS["folder"]["values"], COUNTS["folder"]["values unknown"]
    assert unknown <= 0.6 * values, f"{unknown} of {values} values are unknown"
    assert COUNTS["folder"]["inventories"] >= INVENTORIES.number


def test_random_inventories_listed(tmp_path: Path) -> None:
    """What ansible-inventory prints, read by the policies: nothing but templates is unknown."""
    for batch_number, batch in enumerate(in_batches(drawn())):
        base = tmp_path / f"batch{batch_number}"
        (base / "documents").mkdir(parents=True)
        for number, files in enumerate(batch):
            write(base / f"i{number}", files)
            document = json.dumps(listed(base / f"i{number}"))
            (base / "documents" / f"i{number}.json").write_text(document, encoding="utf-8")
        resolved = resolve(base / "documents")
        for number, files in enumerate(batch):
            ours = resolved[str(base / "documents" / f"i{number}.json")]
            ansible = ansible_view(base / f"i{number}")
            # Groups without hosts are not in the document.
            for view in (ansible, ours):
                view["groups"] = {name: hosts for name, hosts in view["groups"].items() if hosts}
            found = differences(ansible, ours)
            assert not found, "\n".join(found) + "\n" + show(files)
            for host, reasons in ours["unknown"].items():
                assert set(reasons.values()) <= {"a template", "a template inside"}, f"{host}: {reasons}"
            count("listed", ansible, ours)
    assert COUNTS["listed"]["inventories"] >= INVENTORIES.number


def test_random_inventories_read_by_headroom_lint(tmp_path: Path) -> None:
    """headroom-lint passes INI, files without an ending and empty files on, which conftest drops."""
    number_of_all = INVENTORIES.asked or READ
    for batch_number, batch in enumerate(in_batches(drawn()[:number_of_all])):
        base = tmp_path / f"batch{batch_number}"
        for number, files in enumerate(batch):
            write(base / "inventories" / f"i{number}", files)
        read = {"headroom_lint": gather([str(base / "inventories")]).document}
        (base / "read.json").write_text(json.dumps(read), encoding="utf-8")
        resolved = resolve(base / "read.json")
        for number, files in enumerate(batch):
            ours = resolved[str(base / "inventories" / f"i{number}")]
            ansible = ansible_view(base / "inventories" / f"i{number}")
            found = differences(ansible, ours)
            assert not found, "\n".join(found) + "\n" + show(files)
            count("read", ansible, ours)
    assert COUNTS["read"]["inventories"] >= number_of_all


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


# What conftest cannot convey: only the listed form is equal.
ONLY_LISTED: dict[str, Files] = {
    "ini": {
        "hosts.ini": "n0 v=5\n[etcd]\nn[1:2] v='5' w=yes\nn3:22 v=\"[1, 2]\"\n[etcd:vars]\nw = 0644\nx = '5'\n[up:children]\netcd\n",
        "group_vars/up.yml": "x: up\n",
    },
    "no_ending": {
        "hosts": "[etcd]\nn1\n[etcd:vars]\nv=1\n",
        "group_vars/all": "v: all\nw: 1e3\n",
        "group_vars/etcd": "w: 12:30\n",
        "host_vars/n1/main": "x: {a: '{{ v }}'}\n",
    },
}


@pytest.mark.parametrize("name", [*HAND_WRITTEN, *ONLY_LISTED])
def test_same_as_the_command_line(name: str, tmp_path: Path) -> None:
    """Both of our forms against the real ansible-inventory: the folder as it lies, and its own output."""
    folder = tmp_path / "inventory"
    write(folder, {**HAND_WRITTEN, **ONLY_LISTED}[name])
    document = command_line_view(folder)
    expected = {**ansible_view(folder), "hosts": document["_meta"]["hostvars"]}
    expected["hosts"] = {**{host: {} for host in expected["groups"]["all"]}, **expected["hosts"]}
    if name in HAND_WRITTEN:
        (ours,) = resolve(folder).values()
        assert not differences(expected, ours)

    (tmp_path / "listed.json").write_text(json.dumps(document), encoding="utf-8")
    (ours,) = resolve(tmp_path / "listed.json").values()
    for view in (expected, ours):
        view["groups"] = {group: hosts for group, hosts in view["groups"].items() if hosts}
    assert not differences(expected, ours)
    assert listed(folder) == document


def test_what_cannot_be_known(tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    files = {
        "hosts.yml": (
            "etcd: {hosts: {n1: {a: 1}}, vars: {big: 9007199254740993, time: 12:30, two: 1}}\n"
            "up: {children: {etcd: {vars: {two: 2}, hosts: {n1: {a: 2}}}}}\n"
        ),
        "dynamic.yml": "plugin: constructed\n",
        "two.yml": "a: {hosts: n7}\n---\nb: {hosts: n8}\n",
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


@pytest.mark.parametrize("distinct", [0, 2])
def test_inventories_of_the_benchmark(distinct: int, tmp_path: Path) -> None:
    """Both forms of what bench/lint measures are the same inventory, and Ansible's."""
    folder = write_folder(tmp_path / "inventory", 20, distinct)
    document = write_listed(tmp_path / "listed.json", 20, distinct)
    assert json.loads(document.read_text(encoding="utf-8"))["_meta"]["hostvars"] == listed(folder)["_meta"]["hostvars"]
    views = [next(iter(resolve(path).values())) for path in (folder, document)]
    for view in views:
        view["groups"] = {group: hosts for group, hosts in view["groups"].items() if hosts}
    assert views[0] == views[1]
    assert not differences({**ansible_view(folder), "groups": views[0]["groups"]}, views[0])


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ("etcd_storage_data_device: /dev/sdb\n", 'inventory/no_members: no host of group "etcd" is in'),
        ("", "inventory/unknown_value: a future member"),
    ],
)
def test_ini_does_not_end_the_run(tmp_path: Path, variables: str, said: str) -> None:
    """conftest stops at an INI inventory; conftest.toml passes over it, and what can be seen is linted for a future member.

    Variables of another role alone do not say that hosts are missing.
    """
    folder = tmp_path / "inventory"
    write(folder, {"hosts.ini": "[etcd]\nn1\nn2\n", "group_vars/etcd.yml": f"etcd_version: 3.5.2\n{variables}"})
    command = [tool("conftest"), "test", "--no-color", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY)
    assert 'version/data_corruption: a future member of group "etcd": etcd 3.5.2' in done.stdout, (
        done.stdout + done.stderr
    )
    assert said in done.stdout, done.stdout
    assert done.returncode == 1


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
