# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the command line, the environment and the config file of a running etcd, without passwords."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.config_text import (
    HIDDEN,
    SECRET,
    config_settings,
    hide,
    hide_secrets,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import (
    read_text,
    read_text_below,
    resolve_below,
)

# Read only the beginning, because the file may be of any size.
MAX_FILE = 1 << 20
_GO = ("GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS")


@dataclass(frozen=True)
class ProcessSettings:
    """The settings of an etcd process. folder: its folder in /proc. readable: whether its environment and files could be read.

    config: settings of the config file by the flags' names; config_text: the file's text; problem: why the file could not be read.
    """

    folder: str
    command_line: list[str]
    environment: dict[str, str]
    cwd: str
    readable: bool
    config_path: str = ""
    config_text: str = ""
    problem: str = ""

    def setting(self, flag: str) -> str:
        """Return the value of a setting, empty if it is unset. With a config file etcd reads nothing else."""
        if self.config_path:
            return config_settings(self.config_text).get(flag, "")
        variable = "ETCD_" + flag.upper().replace("-", "_")
        return flag_value(self.command_line, flag) or self.environment.get(variable, "")

    def path(self, path: str) -> str:
        """Return the path of a file of the process as visible from this process. Raises OSError if it has too many links."""
        return resolve_below(f"{self.folder}/root", os.path.join(self.cwd, path))

    def read(self, path: str) -> str:
        """Return the text of a file of the process, empty if it cannot be read."""
        return read_text_below(f"{self.folder}/root", os.path.join(self.cwd, path), MAX_FILE)


def read_process_settings(folder: str) -> ProcessSettings:
    """Read the settings of a process. ``folder``: its folder in /proc. Never fails: fields that cannot be read are empty."""
    command_line = [
        hide(argument) for argument in _hide_secrets_in(read_text(f"{folder}/cmdline", MAX_FILE).split("\0"))
    ]
    while command_line and not command_line[-1]:
        command_line.pop()
    readable = os.access(f"{folder}/environ", os.R_OK)
    environment = {}
    for entry in read_text(f"{folder}/environ", MAX_FILE).split("\0"):
        name, _equals, value = entry.partition("=")
        if name.startswith("ETCD_") or name in _GO:
            environment[name] = HIDDEN if SECRET.search(name) else hide(value)
    try:
        cwd = os.readlink(f"{folder}/cwd")
    except OSError:
        cwd, readable = "/", False
    settings = ProcessSettings(folder, command_line, environment, cwd, readable)
    config = flag_value(command_line, "config-file") or environment.get("ETCD_CONFIG_FILE", "")
    if not config:
        return settings
    text = settings.read(config)
    return ProcessSettings(
        folder, command_line, environment, cwd, readable, config, hide_secrets(text), _config_problem(config, text)
    )


def _config_problem(path: str, text: str) -> str:
    """Return why the settings of a config file are not known, empty if they are."""
    if not text:
        return f"its config file {path} cannot be read"
    if config_settings(text):
        return ""
    return f"its config file {path} has no setting that the audit can read: write them as plain YAML, one setting a line, or as JSON"


def flag_value(command_line: list[str], flag: str) -> str:
    """Return the last value of a flag on a command line, empty without one."""
    value = ""
    for position, argument in enumerate(command_line):
        for dashes in ("--", "-"):
            if argument.startswith(f"{dashes}{flag}="):
                value = argument.partition("=")[2]
            elif argument == dashes + flag and position + 1 < len(command_line):
                value = command_line[position + 1]
    return value


def _hide_secrets_in(arguments: list[str]) -> list[str]:
    """Replace the values of flags such as --discovery-password."""
    found: list[str] = []
    for argument in arguments:
        name, equals, _value = argument.partition("=")
        before = found[-1] if found else ""
        if name.startswith("-") and SECRET.search(name) and equals:
            found.append(f"{name}={HIDDEN}")
        elif before.startswith("-") and "=" not in before and SECRET.search(before):
            found.append(HIDDEN)
        else:
            found.append(argument)
    return found
