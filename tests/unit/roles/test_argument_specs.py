# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The defaults in a role's documentation are those of the role, and it names the paths that the role refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

ROLES = Path(topology.__file__).parents[3] / "roles"


@pytest.mark.parametrize("role", sorted(path.name for path in ROLES.iterdir()))
def test_defaults_and_specs_agree(role: str) -> None:
    path = ROLES / role / "defaults/main.yml"
    defaults = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
    options = yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"][
        "main"
    ]["options"]
    assert set(defaults) <= set(options)
    documented = {name: option["default"] for name, option in options.items() if "default" in option}
    # A default that is computed cannot be written down; its description says what it is.
    plain = {name: value for name, value in defaults.items() if not (isinstance(value, str) and "{{" in value)}
    assert documented == plain


DIRECTORIES = ["backup_dir", "backup_copy_dir", "drill_scratch_dir", "metrics_dir"]


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("etcd", ["etcd_data_dir", "etcd_wal_dir", "etcd_install_dir", "etcd_config_file"]),
        ("etcd_maintenance", [f"etcd_maintenance_{directory}" for directory in DIRECTORIES]),
    ],
)
def test_argument_specs_name_the_refused_paths(role: str, names: list[str]) -> None:
    specs = yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))
    [sentence] = [text for text in specs["argument_specs"]["main"]["description"] if "whitespace" in text]
    assert all(f"O({name})" in sentence for name in names)
