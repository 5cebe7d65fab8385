# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detect the form of a text whose name does not mean YAML or JSON."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import COMMAND
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats import dockerfile, flag_list, hcl
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import (
    TEMPLATE,
    Text,
    begins_as_manifest,
    is_configuration,
    is_environment,
    is_manifest,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import (
    makefile,
    script,
    script_detection,
    upstart,
    windows,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units import quadlet, unit

PROSE = re.compile(r"\.(md|markdown|rst|adoc)$", re.IGNORECASE)


class Form(enum.Enum):
    """A form of text."""

    DOCKERFILE = "Dockerfile"
    MANIFEST = "manifest"
    NIX = "NixOS module"
    MAKEFILE = "Makefile"
    WINDOWS = "batch file or PowerShell"
    TERRAFORM = "Terraform, Packer or Nomad"
    UPSTART = "job of upstart"
    SCRIPT = "shell script"
    UNIT = "systemd unit or Quadlet"
    FLAGS = "list of flags"
    ENVIRONMENT = "environment file"
    CONFIGURATION = "config file or template of a manifest"
    OTHER = "INI inventory, or YAML under another name"


def form_of(original: Text, settled: Text) -> Form | None:
    """Return the first form that a text has. settled: the text without the statements of templates, see templates.settle."""
    return next((form for form, has_form in _FORMS if has_form(original, settled)), None)


# A text of these forms is one file. Several texts with commands belong together.
_FILES = {Form.UNIT, Form.ENVIRONMENT, Form.CONFIGURATION}


def is_file(text: Text) -> bool:
    """Return whether a text inside of another one, such as a block of Markdown, is a file of its own."""
    return form_of(text, text) in _FILES


def _is_dockerfile(_original: Text, settled: Text) -> bool:
    return dockerfile.is_dockerfile(settled.target, settled.text)


def _is_manifest(original: Text, _settled: Text) -> bool:
    return begins_as_manifest(original.text)


def _is_nix(_original: Text, settled: Text) -> bool:
    return settled.target.endswith(".nix")


def _is_makefile(_original: Text, settled: Text) -> bool:
    return makefile.is_makefile(settled.target)


def _is_windows_script(_original: Text, settled: Text) -> bool:
    return windows.is_script(settled.target)


def _is_terraform(_original: Text, settled: Text) -> bool:
    return hcl.FILE.search(settled.target) is not None


def _is_job(_original: Text, settled: Text) -> bool:
    return upstart.is_job(settled.text)


def _is_script(_original: Text, settled: Text) -> bool:
    return (
        script_detection.is_script(settled.text) or settled.target == COMMAND or script_detection.starts_etcd(settled)
    )


def _is_unit(_original: Text, settled: Text) -> bool:
    is_named = unit.unit_of(settled.target) != settled.target
    return unit.is_unit(settled.text) or quadlet.is_container(settled.text) or is_named


def _is_list_of_flags(_original: Text, settled: Text) -> bool:
    return flag_list.is_list(settled.lines)


def _has_commands(_original: Text, settled: Text) -> bool:
    return script_detection.has_commands(settled.text) and settled.target != script.PRINTED


def _is_environment(_original: Text, settled: Text) -> bool:
    return is_environment(settled)


def _is_configuration(_original: Text, settled: Text) -> bool:
    return is_configuration(settled) or (TEMPLATE.search(settled.target) is not None and is_manifest(settled.text))


def _is_other(_original: Text, settled: Text) -> bool:
    return settled.path == settled.target and not PROSE.search(settled.path)


_FORMS: tuple[tuple[Form, Callable[[Text, Text], bool]], ...] = (
    # Before scripts: a Dockerfile and the commands of a container in a manifest may look like one.
    (Form.DOCKERFILE, _is_dockerfile),
    (Form.MANIFEST, _is_manifest),
    # Before scripts, units and environment files: these may contain all of them, and their names are clear signs.
    (Form.NIX, _is_nix),
    (Form.MAKEFILE, _is_makefile),
    (Form.WINDOWS, _is_windows_script),
    (Form.TERRAFORM, _is_terraform),
    # Before scripts: its commands may be one.
    (Form.UPSTART, _is_job),
    # Before units and files of settings: a script may write whole ones with here-documents.
    (Form.SCRIPT, _is_script),
    # Before texts with commands: a unit has commands too, such as ExecStart=.
    (Form.UNIT, _is_unit),
    (Form.FLAGS, _is_list_of_flags),
    # Before environment files and config files: commands may set variables and write settings.
    (Form.SCRIPT, _has_commands),
    (Form.ENVIRONMENT, _is_environment),
    (Form.CONFIGURATION, _is_configuration),
    # Last: any text with sections may be an inventory.
    (Form.OTHER, _is_other),
)
