"""Limits of writes in both versions of control groups."""

from __future__ import annotations

import pytest

from bench.common import write_limits
from bench.common.write_limits import WriteLimits, writes_of

VERSION_1 = "9:name=systemd:/lab/a/init.scope\n7:blkio:/lab/a/init.scope\n1:cpu:/lab/a/init.scope\n"
VERSION_2 = "0::/lab/a/init.scope\n"


@pytest.mark.parametrize(
    ("cgroup", "host", "unit"),
    [
        (
            VERSION_1,
            "/sys/fs/cgroup/blkio/lab/a/blkio.throttle.write_iops_device",
            "/sys/fs/cgroup/blkio/lab/a/system.slice/etcd.service/blkio.throttle.write_iops_device",
        ),
        (VERSION_2, "/sys/fs/cgroup/lab/a/io.max", "/sys/fs/cgroup/lab/a/io.max"),
        (
            f"{VERSION_1}0::/\n",
            "/sys/fs/cgroup/blkio/lab/a/blkio.throttle.write_iops_device",
            "/sys/fs/cgroup/blkio/lab/a/system.slice/etcd.service/blkio.throttle.write_iops_device",
        ),
    ],
    ids=["version 1", "version 2", "both"],
)
def test_the_file_is_that_of_the_version(cgroup: str, host: str, unit: str) -> None:
    limits = write_limits.of_process(cgroup)
    assert str(limits.file) == host
    assert str(limits.narrowed(f"{limits.group}/system.slice/etcd.service").file) == unit


def test_a_machine_without_a_controller_is_refused() -> None:
    with pytest.raises(RuntimeError, match="neither blkio of version 1 nor version 2"):
        write_limits.of_process("1:cpu:/lab/a/init.scope\n")


@pytest.mark.parametrize(
    ("version", "writes", "line", "text"),
    [
        (1, 20, "7:3 20", "7:31 5\n7:3 20\n"),
        (1, 0, "7:3 0", "7:31 5\n"),
        (2, 20, "7:3 wiops=20", "7:31 rbps=max wbps=max riops=max wiops=5\n7:3 rbps=9 wbps=max riops=max wiops=20\n"),
        (2, 0, "7:3 wiops=max", "7:31 rbps=max wbps=max riops=max wiops=5\n7:3 rbps=9 wbps=max riops=9 wiops=max\n"),
    ],
)
def test_a_limit_is_written_and_read_back(version: int, writes: int, line: str, text: str) -> None:
    assert WriteLimits(version, "/lab/a").line("7:3", writes) == line
    assert writes_of(text, "7:3") == writes
