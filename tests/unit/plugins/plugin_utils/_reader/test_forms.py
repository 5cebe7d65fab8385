# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A text that looks like several forms has the first of them."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.forms import Form, form_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

UNIT = "[Service]\nExecStart=/usr/bin/etcd --name=a\n"
ENVIRONMENT = "ETCD_NAME=a\nETCD_LISTEN_CLIENT_URLS=http://10.0.0.1:2379\n"


@pytest.mark.parametrize(
    ("path", "text", "form"),
    [
        ("Dockerfile", "FROM alpine\nRUN etcd --name=a\n", Form.DOCKERFILE),
        ("main.tf", f"locals {{\n  unit = <<EOF\n{UNIT}EOF\n}}\n", Form.TERRAFORM),
        ("run.ps1", "etcd --name=a\n", Form.WINDOWS),
        ("host.nix", f"{{ config, ... }}: {{\n  text = ''\n{ENVIRONMENT}'';\n}}\n", Form.NIX),
        ("start.sh", f"#!/bin/sh\ncat > /etc/systemd/system/etcd.service <<EOF\n{UNIT}EOF\n", Form.SCRIPT),
        ("start.sh", f"#!/bin/sh\n{ENVIRONMENT}etcd\n", Form.SCRIPT),
        ("etcd.service", UNIT, Form.UNIT),
        ("etcd.env", ENVIRONMENT, Form.ENVIRONMENT),
        ("hosts.ini", "[etcd]\nn1\n", Form.OTHER),
        ("README.md", "# etcd\n", None),
    ],
)
def test_the_first_form_counts(path: str, text: str, form: Form | None) -> None:
    file = Text(path, path, lines_of(path, text))
    assert form_of(file, file) is form
