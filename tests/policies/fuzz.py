# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzzed input: hypothesis strategies, and named cases that must end in time."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from .tools import POLICIES

MODEL = json.loads((POLICIES / "data" / "model.json").read_text(encoding="utf-8"))["headroom"]["model"]
SETTINGS = sorted(MODEL["settings"])
KEYS = sorted({key for series in MODEL["series"].values() for key in series["config_keys"]})

VARIABLES = [
    *(f"etcd_{name}" for name in SETTINGS),
    *(
        "etcd_version",
        "etcd_cluster_name",
        "etcd_name",
        "etcd_group",
        "etcd_gogc",
        "etcd_gomemlimit",
        "etcd_memory_high",
    ),
    *(
        "etcd_memory_max",
        "etcd_maintenance_defrag_enabled",
        "etcd_maintenance_backup_enabled",
        "etcd_maintenance_backup_dir",
        "etcd_maintenance_drill_enabled",
        "etcd_storage_data_device",
    ),
    *(
        "etcd_storage_wal_device",
        "etcd_storage_fsync_p99_max_ms",
        "etcd_storage_data_min_size",
        "etcd_tls_enabled",
        "etcd_nice",
    ),
    # Other vocabularies.
    *(
        "etcd_deployment_type",
        "kube_network_plugin",
        "etcd_memory_limit",
        "etcd_settings",
        "etcd_environment",
        "dcs_type",
    ),
    *("ansible_host", "ansible_group_priority", "y", "1", ""),
]
# Those whose values are maps that rules look into, more often than their number would have it.
MAPS = ["etcd_workload", "etcd_extra_config", "etcd_workload", "etcd_memory_budget"]
GROUPS = [
    "etcd",
    "all",
    "ungrouped",
    "k8s_cluster",
    "kube_control_plane",
    "etcd_cluster",
    "dc",
    "日本",
    "",
    "etcd:children",
    "n1",
]
HOSTS = [
    "n1",
    "n2",
    "n3",
    "n[1:3]",
    "n[1:",
    "n[9:1]",
    "[a:zz]",
    "n1:22",
    "n1:99999999999999999999",
    "::1",
    "",
    "日本",
    "a b",
    "localhost",
]

texts = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "0",
            "-1",
            "+5",
            "1e999",
            "0x10",
            "8G",
            "8 GB",
            "3.5.2",
            "3.5",
            "v3.6.1",
            "99.99.99",
            "3.7.3-rc.0",
            "5m",
            "1h1h",
            "-5s",
        ]
    ),
    st.sampled_from(
        [
            "{{ x }}",
            "{% if",
            "$ANSIBLE_VAULT;1.1;AES256",
            "true",
            "None",
            "nan",
            "%s%d%!",
            "\\",
            '"',
            "12:30",
            "١٢",
            "ﬀ",
            "🦀",
        ]
    ),
    # YAML takes no control characters.
    st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co"], exclude_characters="\ufeff\u2028\u2029"), max_size=8
    ),
)
numbers = st.one_of(
    st.integers(-5, 20),
    st.sampled_from([2**31, 2**53, 2**53 + 1, 2**63, 10**30, -(10**30), 10**300, 0.1, -0.5, 1e-300, 1e308]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
map_keys = st.one_of(st.sampled_from(sorted(MODEL["workload"])), st.sampled_from(KEYS), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(map_keys, inner, max_size=4)),
    max_leaves=6,
)
maps = st.one_of(st.dictionaries(map_keys, values, max_size=5), values)
# What lets rules speak that want the rest to be readable: one thing is wrong, not all.
plausible = st.fixed_dictionaries(
    {"etcd_version": st.sampled_from(["3.5.2", "3.5.35", "3.6.16", "3.7.3"])},
    optional={
        "etcd_cluster_name": st.one_of(st.sampled_from(["a", "b"]), values),
        "etcd_workload": st.dictionaries(
            st.sampled_from(sorted(MODEL["workload"])),
            st.sampled_from([0, 1, 1000, 10**9, 2**53, "1MB", "8GB", 0.5, None, -1]),
        ),
        "etcd_memory_budget": st.sampled_from([0, 1, "2GB", "8GB", 10**18, 2**62]),
        **{
            f"etcd_{name}": st.one_of(
                numbers, st.sampled_from(["0", "10", "1h", "5m", "8GB", "-1", "true", True, "periodic", None])
            )
            for name in SETTINGS
            if name.startswith(("auto", "election", "heartbeat", "max", "quota", "snapshot"))
        },
    },
)
variables = st.tuples(
    st.dictionaries(st.sampled_from(VARIABLES), values, max_size=8),
    st.dictionaries(st.sampled_from(MAPS), maps, max_size=3),
).map(lambda both: {**both[0], **both[1]})
variables = st.one_of(variables, plausible, st.tuples(plausible, variables).map(lambda both: {**both[1], **both[0]}))
hosts = st.one_of(
    st.dictionaries(st.sampled_from(HOSTS), st.one_of(st.none(), variables, values), max_size=4),
    st.dictionaries(st.sampled_from(HOSTS[:3]), variables, min_size=1, max_size=3),
    values,
)
bodies = st.recursive(
    st.one_of(st.none(), st.fixed_dictionaries({"hosts": hosts, "vars": st.one_of(variables, values)}), values),
    lambda inner: st.fixed_dictionaries(
        {
            "hosts": hosts,
            "children": st.one_of(st.dictionaries(st.sampled_from(GROUPS), inner, max_size=3), values),
            "vars": variables,
        }
    ),
    max_leaves=4,
)
inventory_files = st.one_of(st.dictionaries(st.sampled_from(GROUPS), bodies, max_size=4), values)
waivers = st.fixed_dictionaries(
    {
        "waivers": st.one_of(
            st.lists(
                st.one_of(
                    st.dictionaries(
                        st.sampled_from(["rule", "host", "group", "cluster", "reason", "expires", "x"]),
                        st.one_of(scalars, st.sampled_from(["memory/large_values", "n1", "etcd", "2030-01-01"])),
                        max_size=6,
                    ),
                    values,
                ),
                max_size=3,
            ),
            values,
        )
    }
)


@st.composite
def folders(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an inventory folder, path → content; only its etcd group is certain."""
    files: dict[str, Any] = {
        "hosts.yml": {
            "etcd": {"hosts": {"n1": draw(variables), "n2": None, "n3": draw(variables)}, "vars": draw(variables)}
        }
    }
    if draw(st.booleans()):
        files["more.json"] = draw(inventory_files)
    for path in draw(
        st.lists(st.sampled_from(["all", "etcd", "k8s_cluster", "dc", "etcd/main"]), max_size=3, unique=True)
    ):
        files[f"group_vars/{path}.json"] = draw(st.one_of(variables, variables, values))
    if draw(st.booleans()):
        files["host_vars/n1.json"] = draw(st.one_of(variables, values))
    if draw(st.integers(0, 3)) == 0:
        files["waivers.yml"] = draw(waivers)
    return files


environment = st.dictionaries(st.sampled_from([f"ETCD_{name.upper()}" for name in SETTINGS]), scalars, max_size=4)
flags = st.tuples(st.sampled_from(KEYS), st.one_of(scalars, st.sampled_from([0, 1000, "10m", "8GB", 10**10]))).map(
    lambda pair: f"--{pair[0]}={pair[1]}"
)
container = st.fixed_dictionaries(
    {},
    optional={
        "image": st.one_of(
            st.sampled_from(["quay.io/coreos/etcd:v3.5.2", "registry.k8s.io/etcd:3.6.6-0", "bitnami/etcd"]), scalars
        ),
        "command": st.one_of(st.lists(st.one_of(flags, texts), max_size=6).map(lambda words: ["etcd", *words]), values),
        "environment": st.one_of(environment, values),
        "env": values,
        "resources": values,
        "deploy": values,
        "name": values,
    },
)


@st.composite
def others(draw: st.DrawFn) -> dict[str, Any]:
    """Documents of ansible-inventory, and files that configure etcd, with anything in them."""
    lists = st.one_of(st.lists(st.sampled_from(HOSTS), max_size=3), values)
    children = st.one_of(st.lists(st.sampled_from(GROUPS), max_size=3), values)
    return {
        "listed.json": {
            "_meta": {
                "hostvars": {
                    **draw(st.dictionaries(st.sampled_from(HOSTS), st.one_of(variables, values), max_size=4)),
                    "m1": draw(variables),
                }
            },
            **draw(
                st.dictionaries(
                    st.sampled_from(GROUPS),
                    st.one_of(st.fixed_dictionaries({"hosts": lists, "children": children}), values),
                )
            ),
            **draw(st.sampled_from([{}, {"etcd": {"hosts": ["m1", "n1", "nowhere"]}}])),
        },
        "etcd.json": draw(st.dictionaries(st.sampled_from(KEYS), st.one_of(numbers, values), min_size=1, max_size=8)),
        "compose.json": {
            "services": draw(st.one_of(st.dictionaries(texts, st.one_of(container, values), max_size=3), values))
        },
        "manifest.json": {
            "apiVersion": draw(st.sampled_from(["v1", "apps/v1"])),
            "kind": draw(st.one_of(st.sampled_from(["Pod", "StatefulSet"]), values)),
            "metadata": draw(values),
            "spec": draw(
                st.one_of(
                    st.fixed_dictionaries({"containers": st.one_of(st.lists(container, max_size=2), values)}), values
                )
            ),
        },
    }


def chain(length: int) -> dict[str, Any]:
    """Groups below groups, as deep as asked for."""
    body: dict[str, Any] = {"hosts": {"n1": None}}
    for number in range(length):
        body = {"children": {f"g{number}": body}, "vars": {"v": number}}
    return {"etcd": body}


HOSTILE: dict[str, dict[str, Any]] = {
    "a value of 10 MB": {
        "hosts.json": {"etcd": {"hosts": {"n1": {"etcd_version": "3" * 10_000_000, "etcd_name": "x" * 10_000_000}}}}
    },
    "a million items": {
        "hosts.json": {"etcd": {"hosts": "n1"}},
        "group_vars/etcd.json": {"etcd_extra_config": {"x": [0] * 1_000_000}},
    },
    "a map of 10 MB": {
        "hosts.json": {"etcd": {"hosts": "n1"}},
        "group_vars/etcd.json": {"v": {str(key): "x" * 100 for key in range(80_000)}},
    },
    "groups 100 deep": {"hosts.json": chain(100)},
    "a value 400 deep": {
        "hosts.json": {"etcd": {"hosts": "n1"}},
        "group_vars/etcd.json": {"etcd_workload": json.loads("[" * 400 + "]" * 400)},
    },
    "a cycle": {
        "hosts.json": {"etcd": {"hosts": "n1", "children": {"b": {"children": {"c": {"children": {"etcd": None}}}}}}}
    },
    # Two ways to each group: the number of ways doubles with each step.
    "a ladder of groups": {
        "hosts.json": {
            **{
                f"{side}{step}": {"children": {f"a{step + 1}": None, f"b{step + 1}": None}}
                for step in range(150)
                for side in "ab"
            },
            "a150": {"children": {"etcd": {"hosts": "n1"}}},
        }
    },
    "a ladder of groups, listed": {
        "listed.json": {
            "_meta": {"hostvars": {}},
            **{f"{side}{step}": {"children": [f"a{step + 1}", f"b{step + 1}"]} for step in range(150) for side in "ab"},
            "a150": {"children": ["etcd"]},
            "etcd": {"hosts": ["n1"]},
        }
    },
    "many hosts in one pattern": {
        "hosts.json": {"etcd": {"hosts": {"n[1:90000]": None, "m[1:300][1:300][1:300][1:300]": None}}}
    },
    "many hosts in many patterns": {
        "hosts.json": {
            f"g{group}": {"hosts": {f"n{number}-[1:90000]": None for number in range(200)}} for group in range(20)
        }
        | {"etcd": {"hosts": "n1"}}
    },
    "many groups of one host": {
        "hosts.json": {**{f"g{number}": {"hosts": "n1"} for number in range(3000)}, "etcd": {"hosts": "n1"}}
    },
}
