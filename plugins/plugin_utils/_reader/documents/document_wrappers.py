# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unwrap documents: the resources in a List or a Template, the services of a Compose file of version 1, and containers of ECS, Marathon and LinuxKit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.container_orchestrators import (
    compose_files_of,
    services_of_linuxkit,
)

# Kind → the key with the resources.
_RESOURCES = {"List": "items", "Template": "objects"}
# Keys that only a service of Compose has beside its image.
_OF_SERVICE = {"command", "container_name", "entrypoint", "environment", "links", "net", "ports", "restart", "volumes"}


def unwrap(documents: Iterable[Any]) -> list[Any]:
    """Return documents with the resources that they wrap as documents of their own."""
    unwrapped: list[Any] = []
    for document in documents:
        scheduled = compose_files_of(document)
        if not isinstance(document, dict):
            unwrapped += scheduled or [document]
        elif services := services_of_linuxkit(document):
            unwrapped.append({"services": services})
        elif all(map(_has_image, document.values())) and any(map(_is_service, document.values())):
            unwrapped.append({"services": document})
        else:
            resources = document.get(_RESOURCES.get(str(document.get("kind")), ""))
            unwrapped += [document, *(resources if isinstance(resources, list) else ()), *scheduled]
    return unwrapped


def _has_image(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("image", value.get("build")), str)


def _is_service(value: Any) -> bool:
    return not value.keys().isdisjoint(_OF_SERVICE)
