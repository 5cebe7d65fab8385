# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files of any form, and build the document that headroom-lint hands to the policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import forms, inventories, member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.code_files import (
    NO_IMAGE,
    AddInner,
    add_dockerfile,
    add_makefile,
    add_nix,
    add_script,
    add_terraform,
    add_windows_script,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import (
    broken_yaml,
    chart_values,
    document_wrappers,
    dot_env,
    playbook,
    variable_files,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import Parsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats import (
    dockerfile,
    flag_list,
    ini,
    process_managers,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.forms import PROSE, Form
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import (
    DOCUMENT,
    MANIFEST,
    Text,
    begins_as_playbook,
    first_server_setting,
    is_about_etcd,
    is_configuration,
    is_manifest,
    is_resource,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.release import find_release
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import script_detection, upstart, windows
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.state import State
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text import notes, templates
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Unparsed, lines_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units import unit
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units.services import NO_UNIT, add_units

# Ansible ignores a file of variables or an inventory with another suffix.
_EXAMPLE = re.compile(r"\.(ya?ml|json)\.\w+$|\.(template|sample|example|dist)$", re.IGNORECASE)
_CLOUD_CONFIG = re.compile(r"\A(## template: jinja\s+)?#cloud-config\b")
_VARS_FILE = re.compile(r"(^|/)(group_vars|host_vars)/[^.]*$")

# Such as a recipe of Chef or a manifest of Puppet.
_PROGRAM = re.compile(r"\.(rb|pp|py|pl|go|js|ts|java|groovy|lua|rs|c|cc|cpp|cs|php)$", re.IGNORECASE)
_UNREAD_PROGRAM = "headroom-lint does not read this programming language; lint the files that the program writes"
_VAGRANTFILE = re.compile(r"(^|/)Vagrantfile[\w.-]*$")

# A client that compacts, such as a job of cron. The same pattern is in policies/rules/compaction/off/off.rego.
COMPACTS = re.compile(r"(?m)^[^#\n]*\betcdctl\b([^#\n]|\\\n){0,300}(\\\n|[^\w#\n-])compact(ion)?([^\w-]|$)", re.ASCII)

# One block is read with the text around it.
_SEVERAL = 2

# Why a file that was read counts for nothing.
_NO_SETTINGS = "it configures no etcd"
WITHOUT_ETCD = (_NO_SETTINGS, NO_UNIT, NO_IMAGE)


class Reading(NamedTuple):
    """What was read: the document for the policies (see build_document), and path → why a file was passed over."""

    document: dict[str, Any]
    passed_over: dict[str, str]


def read(
    texts: Mapping[str, str], beside: Mapping[str, str] | None = None, empty_folders: Iterable[str] = ()
) -> Reading:
    """Read files, given as path → text.

    beside: files .env that only have values for a Compose file among them; empty_folders: folders without such files
    """
    state = State(texts, beside or {})
    reader = _Reader(state)
    for path, text in texts.items():
        if not dot_env.is_used(path, texts):
            reader.add(path, text)
    add_units(state)
    inventories.add_inventories(state, empty_folders)
    # A job that compacts starts no member, so the document would not contain it otherwise.
    compacts = sorted(path for path, text in texts.items() if COMPACTS.search(text) and not PROSE.search(path))
    return Reading(state.document(compacts), state.passed_over)


class _Reader:
    """Dispatches each text by its form, also those inside other files."""

    def __init__(self, state: State) -> None:
        self._state = state

    def add(self, path: str, text: str) -> None:
        """Read a file, or keep it for its unit."""
        before = self._state.size()
        lines = lines_of(path, text)
        release = find_release(windows.shell_lines(path, lines) if windows.is_script(path) else lines)
        if release:
            self._state.releases[path] = release
        try:
            self._add(Text(path, path, lines))
        except Unparsed as problem:
            about_etcd = first_server_setting(text) or is_about_etcd(text) or is_configuration(Text(path, path, lines))
            (self._state.unparsed if about_etcd else self._state.passed_over)[path] = str(problem)
            return
        if release and self._state.alone and before == self._state.size() and _VAGRANTFILE.search(path):
            # Its scripts are other files.
            self._state.add_members(path, [member.elsewhere("variables")])
        if before == self._state.size():
            # A Dockerfile that configures no etcd is known to start something else.
            mentioned = "" if dockerfile.is_dockerfile(path, text) else script_detection.mentioned_in(path, text)
            if mentioned and path not in self._state.unparsed:
                self._state.unparsed[path] = f"it mentions {mentioned}, in a form that headroom-lint does not know"
            elif path not in self._state.unparsed:
                self._state.passed_over.setdefault(path, _NO_SETTINGS)

    def _add(self, file: Text) -> None:
        text = file.text
        parts = notes.parts_of(file.lines) if file.path == file.target else []
        run = process_managers.commands_of(file.target, file.lines)
        if run:
            self._add_script(file._replace(lines=run))
        elif parts:
            for target, lines in parts:
                self._add_inner(Text(file.path, target, lines))
        elif DOCUMENT.search(file.target) or _VARS_FILE.search(file.target) or _CLOUD_CONFIG.match(text):
            self._add_documents(file)
        elif file.path == file.target and inventories.is_document(file):
            self._add_documents(file)
            self._state.translated[file.path] = True
        elif file.path != file.target and MANIFEST.match(text):
            self._add_documents(file)
        elif not self._add_blocks(file):
            self._add_text(file)

    def _add_blocks(self, file: Text) -> bool:
        """Read the files in several fenced blocks of Markdown, and then the commands of all others as one script."""
        blocks = notes.blocks_of(file.lines) if PROSE.search(file.target) else []
        inner = [Text(file.path, target, lines) for target, lines in blocks]
        files: list[Text] = []
        others = [block.lines for block in inner if not forms.is_file(block)]
        for block in inner:
            if block.lines not in others and not notes.is_again(block.lines, others):
                files.append(block)
                others.append(block.lines)
        if len(blocks) < _SEVERAL or not files:
            return False
        for block in files:
            self._add_inner(block)
        read = {line for block in files for line in block.lines}
        self._add_text(file._replace(lines=[line._replace(text="") if line in read else line for line in file.lines]))
        self._state.unparsed.pop(file.path, None)  # the rest is prose
        return True

    def _add_text(self, original: Text) -> None:
        """Read a text whose name does not mean YAML or JSON, by its form."""
        settled = original._replace(lines=templates.settle(original.lines))
        form = forms.form_of(original, settled)
        if form is None:
            return
        # No value of a document with conditions is known from its settled text, so documents are read from the original.
        from_original: dict[Form, Callable[[Text], None]] = {
            Form.MANIFEST: self._add_documents,
            Form.CONFIGURATION: self._add_documents,
            Form.WINDOWS: lambda file: add_windows_script(self._state, file),
        }
        from_settled: dict[Form, Callable[[Text], None]] = {
            Form.DOCKERFILE: self._with_inner(add_dockerfile),
            Form.NIX: self._with_inner(add_nix),
            Form.MAKEFILE: lambda file: add_makefile(self._state, file),
            Form.TERRAFORM: self._with_inner(add_terraform),
            Form.UPSTART: lambda file: self._add_script(file._replace(lines=upstart.shell_lines(file.lines))),
            Form.SCRIPT: self._add_script,
            Form.FLAGS: lambda file: self._state.add_members(file.path, [flag_list.member_of(file.lines)]),
            Form.UNIT: self._state.units.append,
            Form.ENVIRONMENT: self._state.environments.append,
        }
        if form in from_original:
            from_original[form](original)
        elif form in from_settled:
            from_settled[form](settled)
        else:
            self._add_inventory(original)
            self._add_example(settled)

    def _add_script(self, file: Text) -> None:
        add_script(self._state, file, self._add_inner)

    def _with_inner(self, add: Callable[[State, Text, AddInner], None]) -> Callable[[Text], None]:
        """Return the reader of one form, which needs the state and reads texts inside the file."""
        return lambda file: add(self._state, file, self._add_inner)

    def _add_example(self, file: Text) -> None:
        """Read variables or a playbook in a file whose name is not that of YAML, such as pillar.example."""
        if (
            self._state.files
            or not self._state.alone
            or not (is_about_etcd(file.text) or begins_as_playbook(file.text))
        ):
            return
        try:
            documents = self._parse(file).documents
        except Unparsed:
            return
        if begins_as_playbook(file.text):
            self._add_documents(file)
            return
        roles = variable_files.members_of(self._state.releases.get(file.path), documents, file)
        self._state.add_members(file.path, roles)

    def _add_documents(self, file: Text) -> None:
        try:
            parsed = self._parse(file)
        except Unparsed:
            parts = notes.named_parts_of(file.lines) if file.path == file.target else []
            if not parts and not script_detection.has_here_document(file.text):
                raise
            # Notes with the name of a document.
            for target, lines in parts:
                self._add_inner(Text(file.path, target, lines))
            if not parts:
                self._add_script(file)
            return
        is_compose = file.path == file.target and dot_env.is_compose(file.path, file.text)
        variables = self._state.variables_beside(file.path) if is_compose else {}
        filled = [dot_env.substitute(document, variables) for document in parsed.documents]
        parsed = parsed._replace(documents=document_wrappers.unwrap(filled))
        roles = (
            variable_files.members_of(self._state.releases.get(file.path), parsed.documents, file)
            if self._state.alone
            else []
        )
        # Variables of a group that the reader has read are not read again.
        if not (roles and variable_files.is_of_group(file.path)):
            self._state.add_documents(file.path, parsed.documents)
        if is_configuration(file):
            self._state.configurations.append(file)
        if _EXAMPLE.search(file.target) and playbook.is_inventory(parsed.documents):
            # Ansible would ignore it because of its name.
            self._state.translated[file.path] = True
        is_alone = self._state.alone and not variable_files.is_of_group(file.path)
        in_values = chart_values.members_of(parsed.documents) if is_alone and file.path == file.target else ()
        started = [*playbook.containers(parsed.documents), *in_values]
        is_service = file.path in self._state.releases and playbook.starts_etcd(parsed.documents)
        self._state.add_members(file.path, started if is_service else started or roles)
        self._state.index(file, parsed)
        before = self._state.size()
        for inner in parsed.embedded:
            self._add_inner(Text(file.path, inner.target, inner.lines))
        # The unit of a service is elsewhere only if the playbook does not write it.
        if is_service and before == self._state.size():
            self._state.add_members(file.path, [member.elsewhere("playbook")])

    def _parse(self, file: Text) -> Parsed:
        parsed, why = broken_yaml.parse_or_mend(file, bool(_CLOUD_CONFIG.match(file.text)))
        is_of_etcd = (
            first_server_setting(file.text)
            or is_about_etcd(file.text)
            or is_configuration(file)
            or is_manifest(file.text)
        )
        if why and (is_of_etcd or playbook.is_inventory(parsed.documents) or inventories.is_variables(file.path)):
            self._state.unparsed[file.path] = why
        return parsed

    def _add_inner(self, inner: Text) -> None:
        """Read a text inside a file if it is about etcd. One that cannot be parsed makes the whole file unparsed."""
        states_settings = first_server_setting(inner.text) or is_configuration(inner) or is_resource(inner)
        starts = (
            unit.starts_etcd(inner.text)
            or script_detection.runs_image(inner.text)
            or script_detection.starts_etcd(inner)
        )
        if not (states_settings or starts or _CLOUD_CONFIG.match(inner.text)):
            return
        if DOCUMENT.search(inner.target) and not is_configuration(inner) and not is_resource(inner):
            return
        self._find_inner_release(inner)
        self._add(inner)

    def _find_inner_release(self, inner: Text) -> None:
        """Find the release in a text whose lines are not lines of the file, as in JSON."""
        is_packed = len(inner.lines) > 1 and len({line.number for line in inner.lines}) == 1
        release = find_release(inner.lines) if is_packed else None
        if release:
            self._state.releases.setdefault(inner.path, release)

    def _add_inventory(self, file: Text) -> None:
        if not re.search(r"^\[[^\]]+\]", file.text, re.MULTILINE):
            if ini.is_list_of_hosts(file.lines):
                self._state.host_lists.append(file)
            return
        try:
            groups = ini.groups_of(file.lines, self._state.releases.get(file.path))
        except Unparsed as problem:
            if ini.is_of_program(file.lines) and not first_server_setting(file.text):
                return
            # Any file with sections comes here, and a program with a list of texts.
            why = _UNREAD_PROGRAM if _PROGRAM.search(file.path) else f"not an inventory: {problem}"
            self._state.passed_over[file.path] = why
            return
        self._state.add_documents(file.path, [groups])
        self._state.translated[file.path] = True
        self._state.index(file, Parsed([], {}, []))
