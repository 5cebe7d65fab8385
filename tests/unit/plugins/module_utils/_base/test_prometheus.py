# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prometheus' text format."""

from __future__ import annotations

import math

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import (
    Sample,
    format_gauge,
    parse_samples,
)

PAGE = """# HELP a What a is.
# TYPE a gauge
a 2.147483648e+09
b{le="+Inf",path="/x\\"y}"} 7 1795264800000
c NaN
not a sample at all
"""


def test_parse_samples_yields_name_labels_and_value() -> None:
    plain, labelled, undefined = (sample for sample in parse_samples(PAGE) if sample.name in "abc")
    assert (plain.name, plain.labels, plain.value) == ("a", "", 2147483648.0)
    assert labelled.value == 7
    assert [labelled.label(name) for name in ("le", "path", "none", "e")] == ["+Inf", '/x\\"y}', None, None]
    assert math.isnan(undefined.value)


def test_value_that_is_not_a_number() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        assert Sample("a", "", "many").value


def test_format_gauge_writes_what_parse_samples_reads() -> None:
    lines = format_gauge("a", "What a is.", [({"cluster": 'e "1"', "member": "m"}, 3), ({}, 0.5)])
    assert lines == [
        "# HELP a What a is.",
        "# TYPE a gauge",
        'a{cluster="e \\"1\\"",member="m"} 3',
        "a{} 0.5",
    ]
    assert [sample.value for sample in parse_samples("\n".join(lines))] == [3, 0.5]


def test_labels_escape_only_what_the_format_escapes() -> None:
    """Prometheus refuses the whole file because of another escape, such as that of JSON for an umlaut."""
    labels = {"cluster": 'zürich\t\\"\n'}
    assert format_gauge("a", "What a is.", [(labels, 1)])[2] == 'a{cluster="zürich\t\\\\\\"\\n"} 1'


def test_format_gauge_is_empty_without_samples() -> None:
    assert format_gauge("a", "What a is.", []) == []
