# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategies of hypothesis for variables, hosts and groups, with anything as their values."""

from __future__ import annotations

import json

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
