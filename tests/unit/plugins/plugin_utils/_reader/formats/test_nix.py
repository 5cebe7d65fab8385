# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of NixOS."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read

from tests.unit.plugins.plugin_utils._reader.reading import members_in

NIX = """{ config, ... }: {
  services.nginx.enable = true;
  text = ''
    #cloud-config
    write_files:
      - path: /etc/default/etcd
        content: |
          ETCD_NAME=a
          ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
  '';
}
"""


def test_texts_in_nix() -> None:
    (found,) = members_in("host.nix", NIX)
    assert found["where"]["ETCD_NAME"] == ["host.nix", 8]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ services.etcd.enable = true; }", "does not evaluate options of NixOS"),
        ("{\n  services = {\n    etcd = {\n", "does not evaluate options of NixOS"),
        ("{ services.nginx.enable = true; }", None),
    ],
)
def test_options_of_nix(text: str, reason: str | None) -> None:
    unparsed = read({"host.nix": text}).document["unparsed"]
    assert (reason in unparsed["host.nix"]) if reason else unparsed == {}
