# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the containers that Podman runs as services, in files such as etcd.container: podman-systemd.unit(5)."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import read_environment
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units.unit import (
    Directive,
    FindFile,
    own_variables,
    variables_of_files,
)

# Directive → the option of podman run that it becomes.
_OPTIONS = {
    "Volume": "--volume",
    "Mount": "--mount",
    "Tmpfs": "--tmpfs",
    "Entrypoint": "--entrypoint",
    "Memory": "--memory",
}


def is_container(text: str) -> bool:
    """Return whether a text has the section of a container."""
    return re.search(r"^\[Container\]\s*$", text, re.MULTILINE) is not None


def member_of(directives: list[Directive], find_file: FindFile) -> dict[str, Any] | None:
    """Return the member that a container runs; None if it runs something else."""
    last = {directive.name: directive for directive in directives}
    image = last.get("Image")
    if image is None:
        return None
    words = ["podman", "run"]
    for directive in directives:
        if directive.name in _OPTIONS:
            words += [_OPTIONS[directive.name], directive.value]
        elif directive.name == "PodmanArgs":
            words += split_words(directive.value)
    arguments = split_words(last["Exec"].value) if "Exec" in last else []
    command = find_etcd([*words, image.value, *arguments])
    if command is None:
        return None
    # It becomes podman's --env-file.
    more, unknown = variables_of_files(directives, find_file, read_environment)
    found = member.build(
        "systemd unit",
        command,
        source=last["Exec"].source if "Exec" in last else None,
        variables=[*more, *own_variables(directives)],  # which win over those of files in Podman
        unknown=unknown,
        where={"etcd_version": image.source.position("Image")},
    )
    # Podman's configuration and drop-ins may add volumes.
    return {**found, "silent": ["data_dir"]}
