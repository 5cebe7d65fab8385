# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files of code that start etcd or write its files: scripts, Makefiles, Dockerfiles, modules of Terraform and of NixOS.

Each function adds what it finds to the state. Texts inside a file, such as here-documents, are read by ``add_inner``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import Parsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats import (
    dockerfile,
    hcl,
    nix,
    nix_options,
    terraform,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import (
    Text,
    configures_member,
    is_configuration,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import k3s, makefile, script, windows
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.sources import with_sourced
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import exported_variables
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.state import State
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

AddInner = Callable[[Text], None]

NO_IMAGE = "its image does not start etcd by itself"
_K3S = re.compile(r"--(etcd-arg|cluster-init)\b")


def add_makefile(state: State, file: Text) -> None:
    """Read the commands of a Makefile."""
    lines = makefile.shell_lines(file.lines)
    service = script.served_elsewhere(lines) if file.path in state.releases else None
    state.add_members(file.path, script.members_of(lines) or ([service] if service else []))


def add_windows_script(state: State, file: Text) -> None:
    """Read a script of PowerShell or cmd."""
    members = script.members_of(windows.shell_lines(file.target, file.lines))
    # Branches may start the same member in the foreground and in the background.
    state.add_members(file.path, {str(one["command"]): one for one in members}.values())


def add_script(state: State, file: Text, add_inner: AddInner) -> None:
    """Read a shell script, the scripts that it reads, and the files that it writes."""
    written, own = script.split_script(file.lines)
    before = state.size()
    for inner in written:
        add_inner(Text(file.path, inner.target, inner.lines))
    configured = {inner.target for inner in written if is_configuration(Text(file.path, inner.target, inner.lines))}
    # The config file itself is the member that a start with --config-file runs.
    run = with_sourced(own, lambda named: state.lines_of_sourced(named, file.path))
    members = [found for found in script.members_of(run) if member.config_file(found) not in configured]
    state.passed_on |= {
        found["where"][name][0]
        for found in members
        for name, value in found["environment"].items()
        if name in found["where"] and value != f"${{{name}}}"  # a value under a condition did not arrive
    } - {file.path}
    # Only the release that it downloads is known of a service whose unit is elsewhere, or a job of another init system.
    is_release_alone = before == state.size() and not members and file.path not in state.unparsed
    # Here-documents for a shell are commands, too, such as those for another host.
    commands_run = [*own, *(line for inner in written if inner.target == script.SCRIPT for line in inner.lines)]
    service = script.served_elsewhere(commands_run) if file.path in state.releases and is_release_alone else None
    server = k3s.document_of(own) if is_release_alone and _K3S.search(file.text) else None
    if server:
        state.add_documents(file.path, [server])
        state.index(file, Parsed([], {}, []))
        return
    exported = exported_variables(own)
    # A file for the scripts that read it.
    settings = [member.from_environment(exported)] if not (written or members) and configures_member(exported) else []
    state.add_members(file.path, [*members, *settings, *([service] if service else [])])


def add_dockerfile(state: State, file: Text, add_inner: AddInner) -> None:
    """Read what the image of a Dockerfile starts, and the files that its here-documents write."""
    found = dockerfile.member_of(file.lines)
    before = state.size()
    # Here-documents, such as a Procfile.
    for inner in script.split_script(file.lines)[0] if found is None else []:
        add_inner(Text(file.path, inner.target, inner.lines))
    is_other = found is None and before == state.size()
    if is_other and file.path in state.releases and dockerfile.serves_by_script(file.lines):
        found = member.elsewhere("Dockerfile")
    elif is_other:
        state.passed_over[file.path] = NO_IMAGE
    state.add_members(file.path, [found] if found else [])


def add_terraform(state: State, file: Text, add_inner: AddInner) -> None:
    """Read the scripts, containers and charts of a module of Terraform, and the release in its variables."""
    before = state.size()
    lines = [line._replace(text=line.text.replace("$${", "${")) for line in file.lines]
    for inner in script.split_script(lines)[0]:
        add_inner(Text(file.path, inner.target, inner.lines))
    root = hcl.parse(file.lines)
    for commands_of in terraform.scripts_of(root, file.lines):
        add_inner(Text(file.path, script.SCRIPT, commands_of))
    state.add_members(file.path, terraform.containers_of(root))
    state.add_documents(file.path, terraform.charts_of(root))
    release = terraform.release_of(root)
    if release and state.alone:
        state.releases.setdefault(file.path, (release[0], Line(file.path, release[1], "")))
        if before == state.size():
            state.add_members(file.path, [member.elsewhere("variables")])


def add_nix(state: State, file: Text, add_inner: AddInner) -> None:
    """Read the texts in a module of NixOS, such as cloud-config, and the options that are written out."""
    for lines in nix.texts_of(file.lines):
        add_inner(Text(file.path, "", lines))
    found = nix_options.member_of(file.lines) if nix.has_options(file.text) else None
    if found:
        state.add_members(file.path, [found])
    elif nix.has_options(file.text):
        state.unparsed[file.path] = "headroom-lint does not evaluate options of NixOS; lint the unit that they become"
