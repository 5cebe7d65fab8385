# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vocabularies are data that people write: their fields, patterns and sources."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from .tools import REPOSITORY

DATA = REPOSITORY / "policies" / "data"
VOCABULARIES: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "vocabularies.yml").read_text(encoding="utf-8"))[
    "headroom"
]["vocabularies"]
REQUIRED = {"detect", "name", "settings", "version_unknown"}
OPTIONAL = {
    "exclude",
    "images",
    "tags",
    "release",
    "limit",
    "replicas",
    "members",
    "empty_dir",
    "persistent",
    "workloads",
    "kubernetes",
    "elsewhere",
    "sets",
    "defaults",
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_fields(name: str) -> None:
    vocabulary = VOCABULARIES[name]
    assert REQUIRED <= set(vocabulary) <= REQUIRED | OPTIONAL
    conditions = [
        signs for setting in vocabulary["settings"] for signs in [*setting.get("when", []), *setting.get("unless", [])]
    ]
    for signs in [*vocabulary["detect"], *vocabulary.get("exclude", []), *conditions]:
        for pattern in signs.values():
            re.compile(pattern)
    for setting in vocabulary["settings"]:
        assert (
            {"at", "form"}
            <= set(setting)
            <= {"at", "form", "spelling", "type", "within", "gives", "is", "when", "unless"}
        )
        assert "is" not in setting or "gives" in setting
        assert setting["form"] in ("flag", "env", "key")
    for place in vocabulary.get("workloads", []):
        assert {"at"} <= set(place) <= {"at", "within"}


@pytest.mark.parametrize("name", [name for name in VOCABULARIES if "defaults" in VOCABULARIES[name]])
def test_defaults_have_sources(name: str) -> None:
    model = json.loads((DATA / "model.json").read_text(encoding="utf-8"))["headroom"]["model"]
    flags = {entry["flag"] for series in model["settings"].values() for entry in series.values()}
    for default in VOCABULARIES[name]["defaults"]:
        assert set(default) == {"spelling", "value", "source", "read_at"}
        assert default["spelling"] in flags
        assert isinstance(default["value"], str)
        assert re.fullmatch(r"[\w.-]+/[\w.-]+ \S+", default["source"])
        assert re.fullmatch(r"[0-9a-f]{12}", default["read_at"])


def test_every_vocabulary_is_documented() -> None:
    page = (REPOSITORY / "docs" / "vocabularies.md").read_text(encoding="utf-8")
    assert not [name for name in VOCABULARIES if f"`{name}`" not in page]
