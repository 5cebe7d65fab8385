# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Config files of etcd in YAML and JSON, and their passwords."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.config_text import config_settings, hide_secrets

EXPECTED = {"name": "m1", "data-dir": "/var/lib/etcd", "cert-file": "/pki/s.crt", "peer-cert-file": "/pki/p.crt"}
FORMS = {
    "plain": """---
name: m1
data-dir: /var/lib/etcd
client-transport-security:
  cert-file: /pki/s.crt
peer-transport-security:
  cert-file: /pki/p.crt
""",
    "comments": """# name: m9
name: m1 # the first
data-dir: /var/lib/etcd  # the disk
client-transport-security:  # of clients
  # cert-file: /other
  cert-file: /pki/s.crt
peer-transport-security: # of peers
    cert-file: "/pki/p.crt"   # "quoted"
""",
    "quoted keys": """"name": "m1"
'data-dir': '/var/lib/etcd'
"client-transport-security":
  "cert-file": "/pki/s.crt"
'peer-transport-security':
  'cert-file': /pki/p.crt
""",
    "sections in braces": """name: m1
data-dir: /var/lib/etcd
client-transport-security: {cert-file: /pki/s.crt, "key-file": ~}
peer-transport-security: { 'cert-file': "/pki/p.crt" } # of peers
""",
    "unknown sections": """discovery-config:
  name: other
name: m1
data-dir: /var/lib/etcd
client-transport-security:
  cert-file: /pki/s.crt
distributed: # x
  data-dir: /other
peer-transport-security:
  cert-file: /pki/p.crt
""",
    "JSON": json.dumps(
        {
            "name": "m1",
            "data-dir": "/var/lib/etcd",
            "client-transport-security": {"cert-file": "/pki/s.crt", "key-file": None},
            "peer-transport-security": {"cert-file": "/pki/p.crt"},
            "discovery-config": {"name": "other"},
            "listen-client-urls": "",
        }
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_settings(form: str) -> None:
    text = FORMS[form]
    found = config_settings(text)
    assert {flag: value for flag, value in found.items() if flag != "key-file"} == EXPECTED
    # The settings are those that a complete reader finds, which hiding passwords does not change.
    assert yaml.safe_load(text)["name"] == "m1" and config_settings(hide_secrets(text)) == found
    assert yaml.safe_load(hide_secrets(text)) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('name: "a # b"', "a # b"),
        ("name: 'it''s'  # c", "it''s"),
        ("name: a#b", "a#b"),
        ("name: # nothing", ""),
        ("name: null", ""),
        ('{"name": 7}', "7"),
        ('{"name": true}', "true"),
        ('{"name": ["a"]}', ""),
    ],
)
def test_values(line: str, value: str) -> None:
    assert config_settings(line).get("name", "") == value


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "\0\0", "name:\n", "{json: 1}", "[1]", "[" * 5000, '"name"'])
def test_text_that_has_no_settings_gives_none(text: str) -> None:
    assert config_settings(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2 # x\nname: m1", {"password": "***", "name": "m1"}),
        ('"discovery-password": "hunter2"\nname: m1', {"discovery-password": "***", "name": "m1"}),
        ("password: |\n  hunter2\n\n  hunter2\nname: m1", {"password": "***", "name": "m1"}),
        ("a:\n# no password: hunter2\n  name: b\nname: m1", {"a": {"name": "b"}, "name": "m1"}),
        ("secrets:\n- hunter2\n- hunter2\nname: m1", {"secrets": "***", "name": "m1"}),
        ("secrets:\n  a: hunter2\nname: m1", {"secrets": "***", "name": "m1"}),
        (
            "users:\n- password: hunter2\n  name: a\nname: m1",
            {"users": [{"password": "***", "name": "a"}], "name": "m1"},
        ),
        ("auth: {user: a, password: hunter2}\nname: m1", {"auth": {"user": "a", "password": "***"}, "name": "m1"}),
        ("auth: {a: {Password: hunter2, b: c}}\nname: m1", {"auth": {"a": {"Password": "***"}}, "name": "m1"}),
        ("u: http://me:hunter2@a:1\nname: m1", {"u": "http://***@a:1", "name": "m1"}),
        (
            "initial-cluster: m1=http://secret:2380\nname: m1",
            {"initial-cluster": "m1=http://secret:2380", "name": "m1"},
        ),
        ('{"password":"hunter2","name":"m1"}', {"password": "***", "name": "m1"}),
        (
            '{"a": [{"secret": ["hunter2"]}, "https://me:hunter2@b"], "name": "m1", "password": ""}',
            {"a": [{"secret": "***"}, "https://***@b"], "name": "m1", "password": ""},
        ),
    ],
)
def test_no_password_is_returned(text: str, expected: dict[str, object]) -> None:
    hidden = hide_secrets(text)
    assert "hunter2" not in hidden
    assert yaml.safe_load(hidden) == expected
