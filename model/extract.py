#!/usr/bin/env python3
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the config-file keys of an etcd release out of its source, in the shape of model/releases.yml.

    model/extract.py $(go env GOMODCACHE)/go.etcd.io/etcd 3.7.3            print the keys
    model/extract.py $(go env GOMODCACHE)/go.etcd.io/etcd --check          compare all series with releases.yml

The keys are the json tags of embed.Config, configJSON and securityConfig, and of the structs nested in them.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

# Go types as they read in a config file. time.Duration is an integer of nanoseconds there.
TYPES = {
    "string": "string",
    "config.V2DeprecationEnum": "string",
    "[]string": "strings",
    "bool": "bool",
    "uint": "uint",
    "uint32": "uint",
    "uint64": "uint",
    "int": "int",
    "int64": "int",
    "time.Duration": "duration",
}
# Struct-valued keys: where the struct is.
NESTED = {
    "securityConfig": ("server", "embed/config.go", "securityConfig"),
    "transport.SocketOpts": ("client/pkg", "transport/sockopt.go", "SocketOpts"),
    "v3discovery.DiscoveryConfig": ("server", "etcdserver/api/v3discovery/discovery.go", "DiscoveryConfig"),
    "clientv3.ConfigSpec": ("client", "config.go", "ConfigSpec"),
    "*SecureConfig": ("client", "config.go", "SecureConfig"),
    "*AuthConfig": ("client", "config.go", "AuthConfig"),
}
# Set by programs that embed etcd, never in a file.
NOT_IN_FILES = {"-", "grpc-additional-server-options"}

FIELD = re.compile(r'^\s+(?:\w+\s+)?(?P<type>\S+)\s+`json:"(?P<tag>[^",]+)(?:,[^"]*)?"`')


def struct_keys(modules: Path, version: str, module: str, file: str, struct: str) -> dict[str, Any]:
    """Return the keys of one Go struct, grouped by type, nested structs under "sections"."""
    source = (modules / module / f"v3@v{version}" / file).read_text(encoding="utf-8")
    match = re.search(rf"^type {struct} struct {{\n(.*?)^}}", source, re.MULTILINE | re.DOTALL)
    if match is None:
        raise ValueError(f"{module} {version}: no struct {struct} in {file}")
    groups: dict[str, list[str]] = {}
    sections: dict[str, Any] = {}
    for line in match.group(1).splitlines():
        field = FIELD.match(line)
        if field is None or field["tag"] in NOT_IN_FILES:
            continue
        if field["type"] in NESTED:
            sections[field["tag"]] = struct_keys(modules, version, *NESTED[field["type"]])
        elif field["type"] in TYPES:
            groups.setdefault(TYPES[field["type"]], []).append(field["tag"])
        else:
            raise ValueError(
                f"{module} {version}: {field['tag']} has the type {field['type']}, which TYPES does not know"
            )
    keys: dict[str, Any] = {kind: sorted(names) for kind, names in sorted(groups.items())}
    if sections:
        keys["sections"] = sections
    return keys


def config_keys(modules: Path, version: str) -> dict[str, Any]:
    """Return all config-file keys that this etcd release reads."""
    keys = struct_keys(modules, version, "server", "embed/config.go", "Config")
    extra = struct_keys(modules, version, "server", "embed/config.go", "configJSON")
    for kind, names in extra.items():
        if kind == "sections":
            keys.setdefault("sections", {}).update(names)
        else:
            keys[kind] = sorted(keys.get(kind, []) + names)
    return keys


def main() -> int:
    """Print or check; the exit code is 1 where releases.yml differs from a source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", type=Path, help="the module cache's folder go.etcd.io/etcd")
    parser.add_argument("version", nargs="?", help="a release whose source is in the cache, for example 3.7.3")
    parser.add_argument("--check", action="store_true", help="compare with releases.yml")
    arguments = parser.parse_args()
    if not arguments.check:
        print(
            yaml.safe_dump(
                config_keys(arguments.modules, arguments.version), sort_keys=False, width=150, default_flow_style=None
            )
        )
        return 0
    releases = yaml.safe_load((Path(__file__).parent / "releases.yml").read_text(encoding="utf-8"))
    failed = 0
    for series, release in releases["series"].items():
        same = config_keys(arguments.modules, release["newest"]) == release["config_keys"]
        print(f"{series}: config keys {'agree with' if same else 'DIFFER from'} the source of {release['newest']}")
        failed += not same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
