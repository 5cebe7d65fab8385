# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what configures etcd in Terraform, Packer and Nomad: commands of provisioners, containers, and releases of Bitnami's chart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import maps_below
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats.hcl import PLACEHOLDER, Block
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.release import is_of_server
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    Command,
    find_etcd,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, lines_of

_RELEASE = re.compile(r"v?(\d+\.\d+\.\d+)")
_IMAGE = re.compile(r"(?:[\w.-]+(?::\d+)?/)*etcd:v?(\d+\.\d+\.\d+)(?:-\d+)?")

_SERVICE = re.compile(r"(^|[/\s])etcd\.service\b|\b(restart|start|enable)\s+etcd\b")
# What else a module may install.
_OTHERS = re.compile(
    r"(?i)kube|docker|consul|vault|nomad|patroni|postgres|calico|flannel|fleet|locksmith|cilium|\bk[038]s|rke|coredns|traefik|haproxy|confd"
)


def scripts_of(root: Block, lines: list[Line]) -> Iterator[list[Line]]:
    """Yield the commands of each provisioner."""
    for block in root.all():
        for name in ("inline", "command"):
            value, number = block.attributes.get(name, (None, 0))
            commands = value if isinstance(value, list) and name == "inline" else []
            if isinstance(value, str) and name == "command" and block.labels == ("local-exec",):
                commands = [value]
            texts = [command for command in commands if isinstance(command, str)]
            if texts:
                yield [line for text in texts for line in _placed(text, lines, number)]


def _placed(text: str, lines: list[Line], first: int) -> list[Line]:
    """Return the lines of a text, all with the number of the line in which it begins."""
    beginning = text.split('"')[0][:30].split("\n")[0]
    number = next((line.number for line in lines if line.number >= first and beginning in line.text), first)
    return [line._replace(number=number) for line in lines_of(lines[0].path, text)]


def containers_of(root: Block) -> Iterator[dict[str, Any]]:
    """Yield the members in containers of docker, Kubernetes and Nomad. Their volumes may be other resources."""
    names = [str(block.value("name")) for block in root.all() if block.labels[:1] == ("docker_image",)]
    images = [name for name in names if _IMAGE.fullmatch(name)]
    tasks = {id(inner): block for block in root.all() for inner in block.blocks if block.type == "task"}
    for block in root.all():
        command = _container(block, tasks.get(id(block)), images)
        if command is not None:
            yield {**member.build("script", command), "silent": ["data_dir"]}
        for value, _line in block.attributes.values():
            for container in maps_below(value):
                words = [word for name in ("entrypoint", "command", "args") for word in _texts(container.get(name))]
                command = find_etcd(words) if "image" in container else None
                if command is not None:
                    command = command._replace(image=str(container["image"]))
                    # More containers or environment may be in expressions.
                    yield {**member.build("script", command), "silent": ["data_dir", "extra_config"]}


def _container(block: Block, task: Block | None, images: list[str]) -> Command | None:
    """Return the command of etcd that a container runs. images: those of etcd that the file pulls."""
    image = block.value("image")
    text = image if isinstance(image, str) else ""
    if text.startswith("${") and block.labels[:1] == ("docker_container",) and find_etcd(_command(block)):
        # The container names the resource that pulls its image.
        command = find_etcd(_words(block, "etcd", None))
        return command and command._replace(image=images[0] if len(images) == 1 else None)
    # Machines have images, too.
    command = find_etcd(_words(block, text, task)) if re.search(r"[/:]", text) else None
    return command if command is not None and command.image else None


def _words(block: Block, image: str, task: Block | None) -> list[str]:
    """Return the command of docker that a container stands for. task: the Nomad task around it, which sets its environment and memory."""
    variables = block.value("env")
    pairs = (
        [f"{name}={value}" for name, value in variables.items()] if isinstance(variables, dict) else _texts(variables)
    )
    pairs += [f"{inner.value('name')}={inner.value('value')}" for inner in block.blocks if inner.type == "env"]
    of_task = {inner.type: inner for inner in task.blocks} if task else {}
    if "env" in of_task:
        pairs += [f"{name}={value}" for name, (value, _line) in of_task["env"].attributes.items()]
    memory = _hard_limit(block, of_task["resources"]) if "resources" in of_task else block.value("memory")
    # Docker's provider and Nomad give memory in MiB.
    limit = ["--memory", f"{memory}m"] if isinstance(memory, int) and memory else []
    return ["docker", "run", *limit, *(word for pair in pairs for word in ("-e", pair)), image, *_command(block)]


def _hard_limit(config: Block, resources: Block) -> Any:
    """Return the memory limit that Nomad's docker driver sets, None if an expression states it or there is none.

    Above ``memory``, which the scheduler then only reserves, the larger of the other two counts (memoryLimits in drivers/docker/driver.go of Nomad).
    """
    above = [value for value in (resources.value("memory_max"), config.value("memory_hard_limit")) if value]
    if not above:
        return resources.value("memory")
    return max(above) if all(isinstance(value, int) for value in above) else None


def _command(block: Block) -> list[str]:
    return [word for name in ("entrypoint", "command", "args") for word in _texts(block.value(name))]


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    return split_words(value) if isinstance(value, str) else []


def charts_of(root: Block) -> Iterator[dict[str, Any]]:
    """Yield the releases of Bitnami's chart of etcd as resources of Kubernetes."""
    for block in root.all():
        origin = f"{block.value('repository')}/{block.value('chart')}"
        if block.type != "resource" or block.labels[:1] != ("helm_release",) or "bitnami" not in origin:
            continue
        values = _values(block)
        if values is not None and origin.endswith("/etcd"):
            chart = {"spec": {"chart": "etcd", "version": str(block.value("version"))}}
            yield {
                "apiVersion": "helm.toolkit.fluxcd.io/v2",
                "kind": "HelmRelease",
                "metadata": {"name": str(block.value("name"))},
                "spec": {"chart": chart, "values": values},
            }


def release_of(root: Block) -> tuple[str, int] | None:
    """Return the only release of etcd that a variable has as its default, or that a file sets for one, perhaps in an image, with its line."""
    stated = [
        ("".join(block.labels), block.attributes["default"])
        for block in root.blocks
        if block.type == "variable" and "default" in block.attributes
    ]
    stated += [pair for block in root.all() for pair in block.attributes.items()]
    found = [
        (release[1], line)
        for name, (value, line) in stated
        if is_of_server(name) and (release := _RELEASE.fullmatch(str(value)))
    ]
    found += [
        (release[1], line)
        for name, (value, line) in stated
        for key, item in [(name, value), *(pair for inner in maps_below(value) for pair in inner.items())]
        if re.search(r"(?i)etcd", key) and (release := _IMAGE.fullmatch(str(item)))
    ]
    found = found or _release_of_module(root)
    return found[0] if len({release for release, _line in found}) == 1 else None


def _release_of_module(root: Block) -> list[tuple[str, int]]:
    """Return the default of the variable `version` in a module that installs etcd as a service, and nothing else."""
    texts = [label for block in root.all() for label in block.labels]
    texts += [text for block in root.all() for value, _line in block.attributes.values() for text in _texts_in(value)]
    if not any(map(_SERVICE.search, texts)) or any(map(_OTHERS.search, texts)):
        return []
    defaults = [
        block.attributes["default"]
        for block in root.blocks
        if (block.type, block.labels) == ("variable", ("version",)) and "default" in block.attributes
    ]
    releases = [(release[1], line) for value, line in defaults if (release := _RELEASE.fullmatch(str(value)))]
    # Other numbers are those of the module.
    return [pair for pair in releases if re.match(r"[23]\.", pair[0])]


def _texts_in(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)]


def _values(block: Block) -> dict[str, Any] | None:
    """Return the values of a chart; None if some are elsewhere."""
    values: dict[str, Any] = {}
    for text in block.value("values") or []:
        try:
            found = yaml.safe_load(text) if isinstance(text, str) and text != PLACEHOLDER else None
        except yaml.YAMLError:
            found = None
        if not isinstance(found, dict):
            return None
        values.update(found)
    listed = block.value("set")
    pairs = [(inner.value("name"), inner.value("value")) for inner in block.blocks if inner.type == "set"]
    pairs += [(item.get("name"), item.get("value")) for item in listed or [] if isinstance(item, dict)]
    for name, value in pairs:
        _put(values, str(name).split("."), value)
    return values


def _put(values: dict[str, Any], path: list[str], value: Any) -> None:
    for key in path[:-1]:
        inner = values.get(key)
        values[key] = inner if isinstance(inner, dict) else {}
        values = values[key]
    text = str(value)
    values[path[-1]] = int(text) if text.isdigit() else text == "true" if text in ("true", "false") else value
