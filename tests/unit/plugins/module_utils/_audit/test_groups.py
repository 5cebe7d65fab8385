# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of groups."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.groups import (
    by_prefix,
    choose_grouping,
    detect_separator,
    kubernetes_group,
    printable,
)


@pytest.mark.parametrize(
    ("key", "group"),
    [
        (b"/registry/pods/kube-system/coredns", "/registry/pods/kube-system/"),
        (b"/registry/minions/node-1", "/registry/minions/"),
        (b"/registry/services/specs/default/kubernetes", "/registry/services/specs/default/"),
        (
            b"/registry/apiextensions.k8s.io/customresourcedefinitions/a.b",
            "/registry/apiextensions.k8s.io/customresourcedefinitions/",
        ),
        (b"/registry/cert-manager.io/certificates/web/tls", "/registry/cert-manager.io/certificates/web/"),
        (b"/kubernetes.io/pods/openshift-etcd/etcd-0", "/kubernetes.io/pods/openshift-etcd/"),
        (b"/kubernetes.io/operator.openshift.io/etcds/cluster", "/kubernetes.io/operator.openshift.io/etcds/"),
        (b"/openshift.io/routes/web/shop", "/openshift.io/routes/web/"),
        (b"/registry/health", "/registry/"),
        (b"/registry/", "/registry/"),
        (b"/other/x", "/other/"),
        (b"compact_rev_key", ""),
    ],
)
def test_keys_of_kubernetes(key: bytes, group: str) -> None:
    assert kubernetes_group(key) == group


@pytest.mark.parametrize(
    ("depth", "key", "group"),
    [
        (1, b"/apisix/routes/1", "/apisix/"),
        (2, b"/apisix/routes/1", "/apisix/routes/"),
        (9, b"/apisix/routes/1", "/apisix/routes/"),
        (2, b"by-dev/meta/session/x", "by-dev/meta/"),
        (1, b"/single", "/"),
        (1, b"single", ""),
        (1, b"", ""),
        (1, b"a\xff\0/b", "a\\xff\\x00/"),
    ],
)
def test_first_parts_of_a_name(depth: int, key: bytes, group: str) -> None:
    assert by_prefix(b"/", depth)(key) == group


@pytest.mark.parametrize(
    ("keys", "separator"),
    [([b"/a/b", b"/c"], b"/"), ([b"user:1", b"user:2:x", b"z"], b":"), ([b"a", b"b", b"c/d"], b""), ([], b"")],
)
def test_the_separator_that_most_keys_have(keys: list[bytes], separator: bytes) -> None:
    assert detect_separator(keys) == separator


def test_the_user_chooses_before_kubernetes() -> None:
    keys = [b"/registry/pods/a/b"]
    assert choose_grouping(keys, "", 0)[1] == "Kubernetes resource and namespace"
    for key in (b"/kubernetes.io/pods/a/b", b"/openshift.io/routes/a/b"):
        assert choose_grouping([key], "", 0)[1] == "Kubernetes resource and namespace"
    assert choose_grouping(keys, "", 2)[0](keys[0]) == "/registry/pods/"
    assert choose_grouping(keys, ":", 0)[0](keys[0]) == ""
    assert choose_grouping([b"abc"], "", 0)[1] == "one group, because keys have no separator"


def test_keys_are_printed_as_text() -> None:
    assert printable("kö\n".encode() + b"\xfe") == "kö\\x0a\\xfe"
