# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read containers of ECS, Marathon and LinuxKit as services of a Compose file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Keys that only a container of ECS has beside its name and image.
_OF_ECS = {"entryPoint", "essential", "logConfiguration", "memoryReservation", "mountPoints", "portMappings"}

_OF_LINUXKIT = {"init", "kernel", "onboot"}
# LinuxKit → Compose. The command is the whole one.
_KEYS_OF_LINUXKIT = {
    "image": "image",
    "command": "entrypoint",
    "env": "environment",
    "binds": "volumes",
    "tmpfs": "tmpfs",
}


def compose_files_of(document: Any) -> list[dict[str, Any]]:
    """Return a Compose file for each task definition of ECS and each app of Marathon in a document."""
    if isinstance(document, list):
        return [_compose_of_ecs(document)] if _is_list_of_containers(document) else []
    if not isinstance(document, dict):
        return []
    return [*map(_compose_of_ecs, _tasks_of(document)), *({"services": service} for service in _apps_of(document))]


def services_of_linuxkit(document: dict[str, Any]) -> dict[str, Any]:
    """Return the services of an image of LinuxKit; empty for other documents."""
    if document.keys().isdisjoint(_OF_LINUXKIT):
        return {}
    return {
        str(item["name"]): {ours: item[theirs] for theirs, ours in _KEYS_OF_LINUXKIT.items() if item.get(theirs)}
        for item in _objects(document.get("services"))
        if isinstance(item.get("name"), str) and isinstance(item.get("image"), str)
    }


def _tasks_of(document: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield the containers of each task definition of ECS: of the document itself, or of a template of CloudFormation."""
    resources = document.get("Resources")
    inner = [one.get("Properties") for one in _values(resources) if one.get("Type") == "AWS::ECS::TaskDefinition"]
    for task in (document, document.get("taskDefinition"), *inner):
        for key in ("containerDefinitions", "ContainerDefinitions"):
            if isinstance(task, dict) and isinstance(task.get(key), list):
                yield task[key]


def _values(value: Any) -> list[dict[str, Any]]:
    return [item for item in value.values() if isinstance(item, dict)] if isinstance(value, dict) else []


def _is_list_of_containers(document: list[Any]) -> bool:
    """Return whether a list is that of a task definition, as Terraform takes it."""
    return bool(document) and all(map(_is_ecs_container, document))


def _is_ecs_container(value: Any) -> bool:
    return isinstance(value, dict) and {"name", "image"} <= value.keys() and not value.keys().isdisjoint(_OF_ECS)


def _compose_of_ecs(containers: list[Any]) -> dict[str, Any]:
    """Return the containers of a task as services of Compose. CloudFormation begins its keys with a capital letter."""
    services = {}
    for container in filter(lambda item: isinstance(item, dict), containers):
        found = {key[:1].lower() + key[1:]: value for key, value in container.items()}
        service = {
            "image": found.get("image"),
            "entrypoint": found.get("entryPoint"),
            "command": found.get("command"),
            "environment": _pairs(found.get("environment")),
            "volumes": [{"target": _either(mount, "containerPath")} for mount in _objects(found.get("mountPoints"))],
            # ECS gives memory in MiB. memoryReservation limits nothing.
            "mem_limit": f"{found['memory']}m" if str(found.get("memory", "")).isdigit() else None,
            # These files may set etcd's variables, too.
            "env_file": found.get("environmentFiles"),
        }
        services[str(found.get("name"))] = {key: value for key, value in service.items() if value}
    return {"services": services}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _either(item: dict[str, Any], key: str) -> Any:
    return item.get(key, item.get(key[:1].upper() + key[1:]))


def _pairs(value: Any) -> dict[str, Any]:
    """Return variables as a map. CloudFormation fills in a value in the form of a map."""
    pairs = ((str(_either(item, "name")), _either(item, "value")) for item in _objects(value))
    return {name: text if isinstance(text, (str, int, float)) else "${value}" for name, text in pairs}


def _apps_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the app of Marathon, or those of a group, that run in a container of docker, each as a service of Compose."""
    pending = [document]
    while pending:
        app = pending.pop()
        pending += [*_objects(app.get("apps")), *_objects(app.get("groups"))]
        container = app.get("container")
        docker = container.get("docker") if isinstance(container, dict) else None
        if not (isinstance(container, dict) and isinstance(docker, dict) and isinstance(app.get("id"), str)):
            continue
        environment = app.get("env")
        service = {
            "image": docker.get("image"),
            "command": app.get("args") or app.get("cmd"),
            "environment": _pairs([{"name": name, "value": value} for name, value in environment.items()])
            if isinstance(environment, dict)
            else None,
            "volumes": [{"target": volume.get("containerPath")} for volume in _objects(container.get("volumes"))],
            "mem_limit": f"{int(app['mem'])}m" if isinstance(app.get("mem"), (int, float)) else None,
            "deploy": {"replicas": app.get("instances", 1)},
        }
        yield {app["id"].strip("/").split("/")[-1]: {key: value for key, value in service.items() if value}}
