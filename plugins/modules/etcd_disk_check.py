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
  - Writes with C(fio) as etcd writes its write-ahead log, in small records with an fdatasync after each, and compares the 99th percentile of
    the fdatasync latency with a limit. etcd's documentation asks for less than 10 ms.
  - Measures several times after a short warm-up. The verdict rests on the median, and says so if the runs lie far apart.
  - The figures are kept on the host, so that running a play again does not load a disk that is in use.
  - The files written are removed, also when a run fails or is interrupted.
options:
  path:
    description: The directory in which etcd's data or WAL will live. It must exist.
    type: path
    required: true
  profile:
    description:
      - The pattern that is written.
      - V(etcd) is that of etcd's guide, records of 2300 bytes, 22 MiB a run.
      - V(rke2) is the same with 100 MiB a run, which reaches further into a disk's cache.
      - V(openshift) writes records of 8000 bytes for 60 seconds a run, as OpenShift's etcd-perf.
    type: str
    choices: [etcd, rke2, openshift]
    default: etcd
    version_added: 0.2.0
  fsync_p99_max_ms:
    description: The limit of the 99th percentile, in milliseconds.
    type: float
    default: 10
  fsync_p99_warn_ms:
    description:
      - Above this many milliseconds RV(verdict) is V(ignore:warn), since little is left for busy hours. Not above O(fsync_p99_max_ms).
      - The default is half of O(fsync_p99_max_ms).
    type: float
    version_added: 0.2.0
  fail_on_slow:
    description: Whether the module fails when the disk is slower than the limit. Otherwise only RV(verdict) says so.
    type: bool
    default: true
  repeats:
    description: How often it is measured, 1 to 9 times. O(timeout) may allow fewer; each run gets at least a second.
    type: int
    default: 3
    version_added: 0.2.0
  warmup:
    description: Seconds that are written before the first run and not counted, 0 to 60.
    type: int
    default: 1
    version_added: 0.2.0
  timeout:
    description:
      - Seconds, 1 to 600, after which writing stops, for all runs and the warm-up together. A disk that is too slow for the whole amount is
        judged by what it did until then.
      - The default is 30, with O(profile=rke2) 120, and with O(profile=openshift) 200.
    type: int
  max_age:
    description:
      - For how many days figures that were kept are used instead of a new measurement.
      - Kept figures of a slow disk are used only if O(fail_on_slow=false), so that a disk that was exchanged or repaired is measured.
    type: int
    default: 30
  force:
    description: Measure even if figures were kept.
    type: bool
    default: false
  allow_running_member:
    description:
      - Measure in the directory of a member that runs, or above it. Load on its disk can cost it its leadership; without this option it is
        refused.
      - M(etcdops.headroom.etcd_disk_live_info) asks a running member for its latencies instead.
    type: bool
    default: false
    version_added: 0.2.0
  cached_only:
    description: Never measure. Without kept figures of this volume, whatever their age, RV(verdict) is V(ignore:unknown).
    type: bool
    default: false
  state_dir:
    description: The directory on the host in which figures are kept.
    type: path
    default: /var/lib/headroom
attributes:
  check_mode:
    description: Says what would be run, and returns figures only if they were kept.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
requirements:
  - fio 3.5 or newer on the host
notes:
  - Volumes with burst credits and volatile write caches make figures look better than the disk will be under steady load.
  - Directories on tmpfs, overlay and the like are refused, since an fdatasync there says nothing about a disk.
seealso:
  - module: etcdops.headroom.etcd_disk_live_info
  - name: Hardware recommendations of etcd
    description: What etcd asks of disks, and why.
    link: https://etcd.io/docs/latest/op-guide/hardware/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Stop if the disk is too slow for etcd
  etcdops.headroom.etcd_disk_check:
    path: /var/lib/etcd

- name: Look only, with a limit of one's own
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
    - It warns above O(fsync_p99_warn_ms), of runs that lie far apart and came near the limit, and of a network filesystem.
  type: str
  returned: always
  sample: ok
msg:
  description: The verdict in words, with the figures it rests on.
  type: str
  returned: always
  sample: >-
    99 % of 30087 fdatasync calls on /dev/vdb (ext4 at /var/lib/etcd) took at most 1.73 ms (median of 3 runs, 1.61 ms to 1.80 ms; half of
    them 0.42 ms, the slowest 5.75 ms); the limit is 10 ms: fast enough.
p50_us:
  description: Median latency of fdatasync in microseconds, of several runs the median, as with the other percentiles.
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
  version_added: 0.2.0
  sample: [1729, 1614, 1802]
spread_percent:
  description: How far the runs lie apart, the slowest 99th percentile less the fastest as a share of the median. Above 50 it is said in RV(msg).
  type: int
  returned: when measured
  version_added: 0.2.0
  sample: 11
iops:
  description: Records written and synchronised in a second.
  type: int
  returned: when measured
  sample: 2030
bandwidth:
  description: Bytes written and synchronised in a second.
  type: int
  returned: when measured
  sample: 4668427
runtime_ms:
  description: How long fio wrote, in milliseconds, all runs together.
  type: int
  returned: when measured
  sample: 14823
fio_version:
  description: The fio that measured.
  type: str
  returned: when measured
  sample: fio-3.33
measured_at:
  description: When the figures were measured, in seconds since 1970.
  type: int
  returned: when measured
  sample: 1795239113
cached:
  description: Whether the figures were kept from an earlier run.
  type: bool
  returned: always
  sample: false
limit_us:
  description: The limit of the 99th percentile in microseconds.
  type: int
  returned: always
  sample: 10000
warn_us:
  description: Above this many microseconds it warns.
  type: int
  returned: always
  version_added: 0.2.0
  sample: 5000
device:
  description: The device below the directory, as it is mounted.
  type: str
  returned: always
  sample: /dev/vdb
filesystem:
  description: Type of the filesystem.
  type: str
  returned: always
  sample: ext4
network_filesystem:
  description: Whether the filesystem is a remote one. etcd's documentation advises against these.
  type: bool
  returned: always
  sample: false
mount:
  description: Where the filesystem is mounted.
  type: str
  returned: always
  sample: /var/lib/etcd
scheduler:
  description: The disk's I/O scheduler, none where it has none of its own.
  type: str
  returned: always
  sample: mq-deadline
rotational:
  description: Whether the disk says that it rotates, none where unknown. Virtual disks often say so without reason.
  type: bool
  returned: always
  sample: false
write_cache:
  description: What the kernel assumes of the disk's cache, V(ignore:write back) or V(ignore:write through), none where unknown.
  type: str
  returned: always
  sample: write back
command:
  description: The command of the first run, in O(path). In check mode, the one that would be run.
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
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import disk_check, fio

# Option -> the least and the most that it may be, and an example.
RANGES = {"timeout": (1, 600, 30), "repeats": (1, 9, 3), "warmup": (0, 60, 1)}


def keep(module: AnsibleModule, target: str, text: str) -> None:
    """Write the figures in one step, so that a reader never sees half of them."""
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, 0o644)
    module.atomic_move(temporary, target)


def measured_facts(measured: fio.Measurement, measured_at: int) -> dict[str, Any]:
    """The part of the result that was measured."""
    return {
        **vars(measured.figures),
        "p99_runs_us": list(measured.p99_runs_us),
        "spread_percent": measured.spread_percent,
        "measured_at": measured_at,
    }


def check(module: AnsibleModule) -> dict[str, Any]:
    """The module's result. Raises ValueError with one message if no verdict can be given."""
    asked = module.params
    path, profile = asked["path"], fio.PROFILES[asked["profile"]]
    limits = fio.limits(asked["fsync_p99_max_ms"], asked["fsync_p99_warn_ms"])
    seconds = profile.timeout if asked["timeout"] is None else asked["timeout"]
    for name, (least, most, example) in RANGES.items():
        if asked[name] is not None and not least <= asked[name] <= most:
            unit = "" if name == "repeats" else " seconds"
            raise ValueError(f"{name} is {asked[name]}, but must be {least} to {most}{unit}, for example {example}.")
    if not os.path.isdir(path):
        raise ValueError(f"{path} is no directory on this host: make it, or mount its volume, first.")
    volume = disk_check.Volume(path)
    target = disk_check.record_file(asked["state_dir"], volume.identity, profile)
    warmup, repeats = fio.schedule(seconds, asked["warmup"], asked["repeats"])
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

    kept = None if asked["force"] else fio.load_record(host_facts.read_text(target), volume.identity, profile)
    # A few samples that proved a disk slow do not prove it fast under a higher limit.
    if kept and fio.conclusive(kept[0], limits):
        measured, measured_at = kept
        verdict, sentence = fio.judge(measured, limits, volume.place, network=volume.network)
        fresh = time.time() - measured_at < asked["max_age"] * 86400
        if asked["cached_only"] or (fresh and (verdict != "fail" or not asked["fail_on_slow"])):
            date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(measured_at))
            return {
                **result,
                **measured_facts(measured, measured_at),
                "verdict": verdict,
                "msg": f"{sentence} Measured {date}.",
            }
    if asked["cached_only"]:
        return {**result, "cached": False, "verdict": "unknown", "msg": f"{volume.place} has not been measured yet."}

    problem = disk_check.refusal(
        path, volume, profile, beside_member=asked["allow_running_member"]
    ) or disk_check.unwritable(asked["state_dir"])
    if module.check_mode:
        # On a fresh host the role that installs fio has not run for real either: a refusal is foretold, not raised.
        times = ("once" if repeats == 1 else f"{repeats} times") + (f", after {warmup} s of warm-up" if warmup else "")
        sentence = f"Would run in {path}, {times}: {result['command']}" + (
            f". As it is now, that fails: {problem}" if problem else ""
        )
        return {**result, "changed": True, "cached": False, "verdict": "unknown", "msg": sentence}
    if problem:
        raise ValueError(problem)
    measured = disk_check.measure(path, profile, seconds, asked["warmup"], asked["repeats"])
    verdict, sentence = fio.judge(measured, limits, volume.place, network=volume.network)
    measured_at = int(time.time())
    keep(module, target, fio.dump_record(measured, volume.identity, profile, measured_at))
    if verdict == "warn" or (verdict == "fail" and not asked["fail_on_slow"]):
        module.warn(sentence)
    return {
        **result,
        **measured_facts(measured, measured_at),
        "changed": True,
        "cached": False,
        "verdict": verdict,
        "msg": sentence,
    }


def main() -> None:
    """Measure, or take what was kept, and say whether it is good enough."""
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
        result = check(module)
    except (ValueError, OSError) as problem:
        module.fail_json(msg=str(problem))
    if result["verdict"] == "fail" and module.params["fail_on_slow"]:
        result["msg"] += (
            " To go on all the same: etcd_storage_accept_slow_disk: true (of this module: fail_on_slow: false)."
        )
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
