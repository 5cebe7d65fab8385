# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbooks scale and replace are asked for, read from variables."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request, parse_request


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Request()),
        ({"replace": "a, b", "replace_healthy": "true"}, Request(replace=["a", "b"], replace_healthy=True)),
        (
            {"remove": ["a"], "allow_even": True, "version": "3.7.3"},
            Request(remove=["a"], allow_even=True, version="3.7.3"),
        ),
    ],
)
def test_requests_are_parsed(given, expected):
    assert vars(parse_request(given)) == {
        **vars(expected),
        "replace": list(expected.replace),
        "remove": list(expected.remove),
    }


@pytest.mark.parametrize("value", [5, {"a": 1}, [1]])
def test_an_invalid_list_of_names_is_refused(value):
    with pytest.raises(ValueError, match=r"etcd_scale_remove is .*, but must be a list of members' names"):
        parse_request({"remove": value})
