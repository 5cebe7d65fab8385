# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzzed input: whole inventories, and named cases that must end in time."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from .fuzzed_values import (
    GROUPS,
    HOSTS,
    KEYS,
    SETTINGS,
    inventory_files,
    numbers,
    scalars,
    texts,
    values,
    variables,
    waivers,
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


EXPORTS = "".join(f"if [ -f /{number} ]; then export VAR_{number}={'x' * 40}; fi\n" for number in range(600)) + "etcd"

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
    "a script with many exports": {
        "etcd.json": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "etcd"},
            "spec": {"containers": [{"name": "etcd", "image": "etcd:v3.6.16", "command": ["sh", "-c", EXPORTS]}]},
        }
    },
    "many groups of one host": {
        "hosts.json": {**{f"g{number}": {"hosts": "n1"} for number in range(3000)}, "etcd": {"hosts": "n1"}}
    },
}
