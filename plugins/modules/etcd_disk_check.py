#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure with fio whether a disk is fast enough for etcd."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_disk_check
short_description: Measure whether a disk is fast enough for etcd
version_added: 0.1.0
description:
  - Uses C(fio) to write in the same pattern as etcd's write-ahead log (small records with an fdatasync after each), and compares the 99th percentile
    of the fdatasync latency with a limit. etcd's documentation asks for less than 10 ms.
  - Measures several times after a short warm-up. Judges the median of the runs, and warns if the runs differ widely.
  - Stores the result on the host, so that a second run does not load a disk that is in use.
  - Removes the files that it writes, even if a run fails or is interrupted.
  - Waits for another measurement on the same host, so that tasks with C(async) measure one volume after the other.
options:
  path:
    description: Directory for etcd's data or WAL. It must exist.
    type: path
    required: true
  profile:
    description:
      - The write pattern.
      - V(etcd) follows etcd's guide, with records of 2300 bytes and 22 MiB per run.
      - V(rke2) is the same with 100 MiB per run, which exceeds more disk caches.
      - V(openshift) writes records of 8000 bytes for 60 seconds per run, as OpenShift's etcd-perf does.
    type: str
    choices: [etcd, rke2, openshift]
    default: etcd
    version_added: 0.3.0
  fsync_p99_max_ms:
    description: Limit for the 99th percentile, in milliseconds.
    type: float
    default: 10
  fsync_p99_warn_ms:
    description:
      - Above this many milliseconds RV(verdict) is V(ignore:warn), because there is little reserve for peak load. At most O(fsync_p99_max_ms).
      - Defaults to half of O(fsync_p99_max_ms).
    type: float
    version_added: 0.3.0
  fail_on_slow:
    description: Whether to fail if the disk is slower than the limit. Otherwise only RV(verdict) reports it.
    type: bool
    default: true
  repeats:
    description: Number of runs, 1 to 9. Fewer if O(timeout) is short, because each run takes at least one second.
    type: int
    default: 3
    version_added: 0.3.0
  warmup:
    description: Seconds of writes before the first run that are not measured, 0 to 60.
    type: int
    default: 1
    version_added: 0.3.0
  timeout:
    description:
      - Time limit in seconds, 1 to 600, for the warm-up and all runs together. A disk that is too slow to write everything is
        judged by the writes until then.
      - If these are too few for a 99th percentile, for example on a busy machine, the module goes on for up to four times as long.
      - Defaults to 30, to 120 with O(profile=rke2), and to 200 with O(profile=openshift).
    type: int
  max_age:
    description:
      - Number of days for which a stored result is used instead of a new measurement.
      - A stored result of a slow disk is used only with O(fail_on_slow=false), so that a replaced or repaired disk is measured again.
    type: int
    default: 30
  force:
    description: Measure even if there is a stored result.
    type: bool
    default: false
  allow_running_member:
    description:
      - Allow measuring in the directory of a running member, or above it. The load can cost the member its leadership.
      - M(etcdops.headroom.etcd_disk_live_info) reads the latencies of a running member instead.
    type: bool
    default: false
    version_added: 0.3.0
  cached_only:
    description: Never measure. Without a stored result for this volume, of any age, RV(verdict) is V(ignore:unknown).
    type: bool
    default: false
  state_dir:
    description: Directory on the host for stored results.
    type: path
    default: /var/lib/headroom
attributes:
  check_mode:
    description: Returns the command that would run, and a stored result if there is one.
    support: full
  diff_mode:
    description: There is no content to compare.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
requirements:
  - fio 3.5 or newer on the host
notes:
  - Burst credits and volatile write caches make a disk look faster than it is under steady load.
  - Refuses directories on tmpfs, overlay and similar filesystems, because an fdatasync there does not reach a disk.
seealso:
  - module: etcdops.headroom.etcd_disk_live_info
  - name: Hardware recommendations of etcd
    description: What etcd requires of disks, and why.
    link: https://etcd.io/docs/latest/op-guide/hardware/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Fail if the disk is too slow for etcd
  etcdops.headroom.etcd_disk_check:
    path: /var/lib/etcd

- name: Measure without failing, with a lower limit
  etcdops.headroom.etcd_disk_check:
    path: /var/lib/etcd-wal
    fsync_p99_max_ms: 5
    fail_on_slow: false
  register: disk

- name: Measure as OpenShift does, once
  etcdops.headroom.etcd_disk_check:
    path: /var/lib/etcd
    profile: openshift
    repeats: 1
"""

RETURN = r"""
verdict:
  description:
    - V(ignore:ok), V(ignore:warn), V(ignore:fail), or V(ignore:unknown) if nothing was measured (check mode or O(cached_only)).
    - Warns above O(fsync_p99_warn_ms), if runs differ widely and one came close to the limit, and on a network filesystem.
  type: str
  returned: always
  sample: ok
msg:
  description: The verdict with the measured latencies and their limit.
  type: str
  returned: always
  sample: >-
    99 % of 30087 fdatasync calls on /dev/vdb (ext4 at /var/lib/etcd) took at most 1.73 ms (median of 3 runs, 1.61 ms to 1.80 ms; half of
    them 0.42 ms, the slowest 5.75 ms); the limit is 10 ms: fast enough.
p50_us:
  description: Median latency of fdatasync in microseconds. Of several runs, each percentile is the median.
  type: int
  returned: when measured
  sample: 420
p99_us:
  description: 99th percentile in microseconds.
  type: int
  returned: when measured
  sample: 1729
p999_us:
  description: 99.9th percentile in microseconds.
  type: int
  returned: when measured
  sample: 3162
max_us:
  description: The slowest fdatasync of all runs in microseconds.
  type: int
  returned: when measured
  sample: 5754
samples:
  description: Number of fdatasync calls measured in all runs.
  type: int
  returned: when measured
  sample: 30087
p99_runs_us:
  description: The 99th percentile of each run in microseconds.
  type: list
  elements: int
  returned: when measured
  version_added: 0.3.0
  sample: [1729, 1614, 1802]
spread_percent:
  description: The slowest minus the fastest 99th percentile of the runs, in percent of the median. RV(msg) mentions it above 50.
  type: int
  returned: when measured
  version_added: 0.3.0
  sample: 11
iops:
  description: Records written and synchronized per second.
  type: int
  returned: when measured
  sample: 2030
bandwidth:
  description: Bytes written and synchronized per second.
  type: int
  returned: when measured
  sample: 4668427
runtime_ms:
  description: Time that fio wrote in all runs, in milliseconds.
  type: int
  returned: when measured
  sample: 14823
fio_version:
  description: Version of fio.
  type: str
  returned: when measured
  sample: fio-3.33
measured_at:
  description: Time of the measurement, in seconds since 1970.
  type: int
  returned: when measured
  sample: 1795239113
cached:
  description: Whether the result was stored by an earlier run.
  type: bool
  returned: always
  sample: false
limit_us:
  description: Limit for the 99th percentile in microseconds.
  type: int
  returned: always
  sample: 10000
warn_us:
  description: Warns above this many microseconds.
  type: int
  returned: always
  version_added: 0.3.0
  sample: 5000
device:
  description: Device that is mounted below the directory.
  type: str
  returned: always
  sample: /dev/vdb
filesystem:
  description: Type of the filesystem.
  type: str
  returned: always
  sample: ext4
network_filesystem:
  description: Whether it is a network filesystem, which etcd's documentation advises against.
  type: bool
  returned: always
  sample: false
mount:
  description: Mount point of the filesystem.
  type: str
  returned: always
  sample: /var/lib/etcd
scheduler:
  description: I/O scheduler of the disk, null if the device has none.
  type: str
  returned: always
  sample: mq-deadline
rotational:
  description: Whether the disk reports that it rotates, null if unknown. Many virtual disks report so.
  type: bool
  returned: always
  sample: false
write_cache:
  description: The disk's cache mode as the kernel assumes it, V(ignore:write back) or V(ignore:write through), null if unknown.
  type: str
  returned: always
  sample: write back
command:
  description: Command of the first run, started in O(path). In check mode, the command that would run.
  type: str
  returned: always
  sample: >-
    fio --name=etcd --rw=write --ioengine=sync --fdatasync=1 --thread --size=23068672 --bs=2300 --runtime=9
    --filename=.headroom-fio-XXXXXXXX --output-format=json
"""

import os
import shlex
import tempfile
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import disk_check, fio, verdict

# Option → minimum, maximum and an example.
RANGES = {"timeout": (1, 600, 30), "repeats": (1, 9, 3), "warmup": (0, 60, 1)}


def store_result(module: AnsibleModule, target: str, text: str) -> None:
    """Write the result atomically."""
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, 0o644)
    module.atomic_move(temporary, target)


def validate(params: dict[str, Any]) -> None:
    """Raise ValueError for an option out of range, or a path that is not a directory."""
    for name, (lowest, highest, example) in RANGES.items():
        if params[name] is not None and not lowest <= params[name] <= highest:
            unit = "" if name == "repeats" else " seconds"
            raise ValueError(
                f"{name} is {params[name]}, but must be {lowest} to {highest}{unit}, for example {example}."
            )
    if not os.path.isdir(params["path"]):
        raise ValueError(f"{params['path']} is not a directory on this host: create it, or mount its volume.")


def stored_result(
    params: dict[str, Any], volume: disk_check.Volume, profile: fio.Profile, limits: verdict.Limits
) -> dict[str, Any] | None:
    """Return the stored result to use instead of a measurement, None if there is none."""
    stored = None if params["force"] else disk_check.recorded_check(volume, params["state_dir"], profile, limits)
    if stored:
        fresh = time.time() - stored["measured_at"] < params["max_age"] * 86400
        if params["cached_only"] or (fresh and (stored["verdict"] != "fail" or not params["fail_on_slow"])):
            return stored
    if params["cached_only"]:
        return {"cached": False, "verdict": "unknown", "msg": f"{volume.place} has not been measured yet."}
    return None


def predict(path: str, command: str, warmup: int, repeats: int, problem: str | None) -> dict[str, Any]:
    """Return the result of check mode. It reports a problem instead of failing: on a fresh host, check mode has not installed fio either."""
    times = ("once" if repeats == 1 else f"{repeats} times") + (f", after {warmup} s of warm-up" if warmup else "")
    failure = f". At present this would fail: {problem}" if problem else ""
    sentence = f"Would run in {path}, {times}: {command}{failure}"
    return {"changed": True, "cached": False, "verdict": "unknown", "msg": sentence}


def run_check(module: AnsibleModule) -> dict[str, Any]:
    """Return the module's result. Raises ValueError if no verdict can be given."""
    params = module.params
    path, profile = params["path"], fio.PROFILES[params["profile"]]
    limits = verdict.parse_limits(params["fsync_p99_max_ms"], params["fsync_p99_warn_ms"])
    validate(params)
    seconds = profile.timeout if params["timeout"] is None else params["timeout"]
    volume = disk_check.Volume(path)
    warmup, repeats = fio.plan_runs(seconds, params["warmup"], params["repeats"])
    first = fio.command(
        profile, f"{disk_check.FILE_PREFIX}XXXXXXXX", fio.run_seconds(profile, seconds - warmup, repeats)
    )
    result: dict[str, Any] = {
        "changed": False,
        "cached": True,
        "limit_us": limits.fail_us,
        "warn_us": limits.warn_us,
        "command": shlex.join(first),
        **volume.facts(),
    }
    stored = stored_result(params, volume, profile, limits)
    if stored:
        return {**result, **stored}
    problem = disk_check.measurement_problem(
        path, volume, profile, allow_running_member=params["allow_running_member"]
    ) or disk_check.state_dir_problem(params["state_dir"])
    if module.check_mode:
        return {**result, **predict(path, result["command"], warmup, repeats, problem)}
    if problem:
        raise ValueError(problem)
    with disk_check.measuring_alone(params["state_dir"], disk_check.wait_seconds(seconds)):
        # The other measurement may have been of this volume: the play that began it in the background was killed.
        stored = stored_result(params, volume, profile, limits)
        if stored:
            return {**result, **stored}
        return {**result, **measure(module, volume, profile, seconds, limits)}


def measure(
    module: AnsibleModule, volume: disk_check.Volume, profile: fio.Profile, seconds: int, limits: verdict.Limits
) -> dict[str, Any]:
    """Measure the volume, store the figures, and return the module's result."""
    params = module.params
    measured = disk_check.measure(
        params["path"],
        profile,
        seconds,
        params["warmup"],
        params["repeats"],
        lambda measured: verdict.is_conclusive(measured, limits),
    )
    grade, sentence = verdict.judge(measured, limits, volume.place, network=volume.network)
    measured_at = int(time.time())
    target = disk_check.record_file(params["state_dir"], volume.identity, profile)
    store_result(module, target, fio.dump_record(measured, volume.identity, profile, measured_at))
    if grade == "warn" or (grade == "fail" and not params["fail_on_slow"]):
        module.warn(sentence)
    measurement = disk_check.measured_facts(measured, measured_at)
    return {**measurement, "changed": True, "cached": False, "verdict": grade, "msg": sentence}


def main() -> None:
    """Measure the disk, or use the stored result, and compare it with the limit."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "profile": {"type": "str", "choices": ["etcd", "rke2", "openshift"], "default": "etcd"},
            "fsync_p99_max_ms": {"type": "float", "default": 10},
            "fsync_p99_warn_ms": {"type": "float"},
            "fail_on_slow": {"type": "bool", "default": True},
            "repeats": {"type": "int", "default": 3},
            "warmup": {"type": "int", "default": 1},
            "timeout": {"type": "int"},
            "max_age": {"type": "int", "default": 30},
            "force": {"type": "bool", "default": False},
            "allow_running_member": {"type": "bool", "default": False},
            "cached_only": {"type": "bool", "default": False},
            "state_dir": {"type": "path", "default": "/var/lib/headroom"},
        },
        mutually_exclusive=[("force", "cached_only")],
        supports_check_mode=True,
    )
    try:
        result = run_check(module)
    except (ValueError, OSError) as problem:
        module.fail_json(msg=str(problem))
    if result["verdict"] == "fail" and module.params["fail_on_slow"]:
        result["msg"] += (
            " To continue anyway, set etcd_storage_accept_slow_disk: true (for this module alone: fail_on_slow: false)."
        )
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
