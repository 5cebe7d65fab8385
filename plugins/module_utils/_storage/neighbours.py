# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find noisy neighbours: databases and container engines that write to the same disk.

Looks into the folders that distributions use, and at the files that running processes hold open for writing. Reads only.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text

Disks = Callable[[str], Sequence[str]]

_WRITES = os.O_WRONLY | os.O_RDWR
_FLAGS = re.compile(r"^flags:\s*([0-7]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Service:
    """A program that writes much: its usual folders, its process names, or a word of its Java command line."""

    name: str
    folders: tuple[str, ...]
    programs: tuple[str, ...] = ()
    java: str = ""


SERVICES = (
    Service("PostgreSQL", ("/var/lib/postgresql", "/var/lib/pgsql"), ("postgres", "postmaster")),
    Service("MySQL or MariaDB", ("/var/lib/mysql",), ("mysqld", "mariadbd")),
    Service("MongoDB", ("/var/lib/mongodb", "/var/lib/mongo"), ("mongod",)),
    Service("Elasticsearch", ("/var/lib/elasticsearch",), java="org.elasticsearch"),
    Service("OpenSearch", ("/var/lib/opensearch",), java="org.opensearch"),
    Service("Kafka", ("/var/lib/kafka", "/var/kafka-logs"), java="kafka.Kafka"),
    Service("Cassandra", ("/var/lib/cassandra",), java="CassandraDaemon"),
    Service("ZooKeeper", ("/var/lib/zookeeper",), java="org.apache.zookeeper"),
    Service("Prometheus", ("/var/lib/prometheus",), ("prometheus",)),
    Service("ClickHouse", ("/var/lib/clickhouse",), ("clickhouse-serv", "clickhouse")),
    Service("InfluxDB", ("/var/lib/influxdb", "/var/lib/influxdb2"), ("influxd",)),
    Service("Redis or Valkey", ("/var/lib/redis", "/var/lib/valkey"), ("redis-server", "valkey-server")),
    Service("RabbitMQ", ("/var/lib/rabbitmq",)),
    Service("MinIO", (), ("minio",)),
    Service("containerd", ("/var/lib/containerd",), ("containerd",)),
    Service("Docker", ("/var/lib/docker",), ("dockerd",)),
    Service("CRI-O or Podman", ("/var/lib/containers",), ("crio",)),
    Service("kubelet", ("/var/lib/kubelet",), ("kubelet",)),
)


@dataclass(frozen=True)
class Neighbour:
    """A service with one of its folders or files and the disks below it."""

    name: str
    path: str
    disks: tuple[str, ...]


def _number(status: os.stat_result) -> str:
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"


def _in_folders(service: Service, disks: Disks, root: str) -> Iterator[Neighbour]:
    for folder in service.folders:
        try:
            used, status = bool(os.listdir(root + folder)), os.stat(root + folder)
        except OSError:
            continue
        if used:
            yield Neighbour(service.name, folder, tuple(disks(_number(status))))


def detect_service(comm: str, cmdline: str) -> Service | None:
    """Return the service of a process, detected by its name or, for Java, by its command line."""
    for service in SERVICES:
        if comm in service.programs or (comm == "java" and service.java and service.java in cmdline):
            return service
    return None


def _written_files(process: str) -> Iterator[tuple[str, str]]:
    """Return device number and path of each regular file that a process holds open for writing. ``process``: /proc/PID."""
    try:
        names = os.listdir(f"{process}/fd")
    except OSError:
        return
    for name in names:
        try:
            status, path = os.stat(f"{process}/fd/{name}"), os.readlink(f"{process}/fd/{name}")
        except OSError:
            continue
        flags = _FLAGS.search(read_text(f"{process}/fdinfo/{name}"))
        if stat.S_ISREG(status.st_mode) and flags and int(flags.group(1), 8) & _WRITES:
            yield _number(status), path


def _in_processes(disks: Disks, proc: str) -> Iterator[Neighbour]:
    for pid in sorted(name for name in os.listdir(proc) if name.isdigit()):
        comm = read_text(f"{proc}/{pid}/comm").strip()
        service = detect_service(comm, read_text(f"{proc}/{pid}/cmdline") if comm == "java" else "")
        seen = set()
        for number, path in _written_files(f"{proc}/{pid}") if service else ():
            if service and number not in seen:
                seen.add(number)
                yield Neighbour(service.name, path, tuple(disks(number)))


def find_neighbours(disks: Disks, root: str = "", proc: str = "/proc") -> list[Neighbour]:
    """Return all services of this host that write to a disk. ``disks`` maps a device number to the disks below it."""
    found = [neighbour for service in SERVICES for neighbour in _in_folders(service, disks, root)]
    return [neighbour for neighbour in [*found, *_in_processes(disks, proc)] if neighbour.disks]


def on_disks(neighbours: Sequence[Neighbour], names: Sequence[str]) -> list[dict[str, str]]:
    """Return name, path and disk of the neighbours on any of these disks, each service and disk once."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for neighbour in neighbours:
        for disk in neighbour.disks:
            if disk in names:
                found.setdefault((neighbour.name, disk), {"name": neighbour.name, "path": neighbour.path, "disk": disk})
    return list(found.values())
