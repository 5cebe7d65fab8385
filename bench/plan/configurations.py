"""The three compared configurations, each with etcd members in control groups."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series

from bench.common.member import Member, leader_of, metrics
from bench.plan.cgroup import Group, Hierarchy
from bench.plan.load import Slice, put
from bench.plan.workloads import Workload

# The plan under its MemoryMax; default flags under the same limit; default flags without a limit.
PLAN, LIMITED, UNLIMITED = CONFIGURATIONS = ("plan", "defaults, limited", "defaults")
# The defaults use these of the plan's settings: the default quota would stop them before memory does.
ALIKE = ("quota_backend_bytes", "auto_compaction_mode", "auto_compaction_retention")
PORTS_PER_CONFIGURATION = 30


def flags(version: str, settings: dict[str, Any]) -> list[str]:
    """Return settings as command-line flags of this version."""
    return [f"--{SETTINGS[name][series(version)]['flag']}={value}" for name, value in settings.items()]


@dataclass
class Configuration:
    """One configuration of one workload in one repeat."""

    name: str
    workload: Workload
    plan: dict[str, Any]
    folder: Path
    members: list[Member] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    restarted: Member | None = None
    # "running", then "survived", "killed", "stalled" (no answer for long) or "killed at restart"
    outcome: str = "running"
    rss_anon_peak: int = 0
    restart_rss_anon_peak: int = 0
    restart_entries: int = 0
    restart_seconds: float = 0.0
    oom_kills: int = 0
    major_faults: int = 0
    cgroup_peak: int = 0

    def start(self, hierarchy: Hierarchy, port: int) -> None:
        """Start the members, each in its own group, and wait until they are healthy."""
        shutil.rmtree(self.folder, ignore_errors=True)
        limited, planned = self.name != UNLIMITED, self.name == PLAN
        settings = self.plan["settings"]
        names = [f"m{number}" for number in range(self.workload.members)]
        for number, name in enumerate(names):
            group = Group.make(
                hierarchy,
                f"{port}-{name}",
                self.plan["memory_max"] if limited else None,
                self.plan["memory_high"] if planned else None,
            )
            self.groups.append(group)
            member = Member(
                version=self.workload.version,
                folder=self.folder,
                port=port + 3 * number,
                flags=flags(self.workload.version, settings if planned else {name: settings[name] for name in ALIKE}),
                environment=self.plan["environment"] if planned else {},
                prefix=group.prefix(),
                name=name,
                peers={other: port + 3 * index for index, other in enumerate(names)},
            )
            self.members.append(member)
            member.start()
        for member in self.members:
            member.wait_ready()

    def alive(self) -> bool:
        """Return whether all members run."""
        return all(member.process is not None and member.process.poll() is None for member in self.members)

    @property
    def running(self) -> bool:
        """Return whether the members still run."""
        return self.outcome == "running"

    def drive(self, puts: int) -> Slice | None:
        """Send puts to all members. Returns None, and sets the outcome, if members died or stalled."""
        done = put([member.endpoint for member in self.members], self.workload, puts, self.alive)
        if done is None:
            self._fell("killed")
        return done

    def slice(self) -> None:
        """Drive one slice and keep its result."""
        done = self.drive(self.workload.slice_puts)
        if done is not None:
            self.slices.append(done)

    def _fell(self, outcome: str) -> None:
        """Set the outcome after members died or stopped answering."""
        if self.alive():
            self.outcome = "stalled"
            return
        if not sum(group.oom_kills() for group in self.groups):
            logs = "\n".join(member.log_tail() for member in self.members)
            raise RuntimeError(
                f"{self.workload.name}, {self.name}: a member ended, but not by its memory limit:\n{logs}"
            )
        self.outcome = outcome

    def restart(self) -> None:
        """Restart a member with its longest possible WAL and continue the load, while the replayed log is in memory."""
        leader = leader_of(self.members)
        member = next((member for member in self.members if member is not leader), leader)
        count = self.snapshot_count
        missing = count - max(50, count // 50) - self._entries(member)
        if missing > 0 and self.drive(missing) is None:
            return
        self.restart_entries = self._entries(member)
        self.rss_anon_peak = max(self.rss_anon_peak, member.stop().rss_anon)
        self.restarted, began = member, time.monotonic()
        member.start()
        try:
            member.wait_ready()
        except RuntimeError:
            self._fell("killed at restart")
        else:
            self.restart_seconds = time.monotonic() - began
            if self.drive(self.workload.slice_puts // 2) is None and self.outcome == "killed":
                self.outcome = "killed at restart"

    def default(self, name: str) -> int:
        """Return this version's default of a setting."""
        return int(SETTINGS[name][series(self.workload.version)]["default"])

    @property
    def snapshot_count(self) -> int:
        """Return the plan's snapshot-count, or the default."""
        return int(self.plan["settings"]["snapshot_count"]) if self.name == PLAN else self.default("snapshot_count")

    def _entries(self, member: Member) -> int:
        """Return the entries since the member's last disk snapshot, which a restart replays."""
        applied = metrics(member.metrics_url)["etcd_server_proposals_applied_total"]
        snapshots = (self.folder / member.name / "member" / "snap").glob("*.snap")
        return int(applied) - max((snapshot_index(path.name) for path in snapshots), default=0)

    def close(self) -> None:
        """Stop the members, record the counters, and remove groups and data. Safe to call twice."""
        for member in self.members:
            if member.process is not None and member.process.poll() is None:
                member.process.kill()
                member.process.wait()
            if member.sampler is not None:
                peak = member.sampler.stop().rss_anon
                if member is self.restarted:
                    self.restart_rss_anon_peak = peak
                else:
                    self.rss_anon_peak = max(self.rss_anon_peak, peak)
        for group in self.groups:
            if group.path.exists():
                self.oom_kills += group.oom_kills()
                self.major_faults += group.major_faults()
                self.cgroup_peak = max(self.cgroup_peak, group.peak())
                group.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


def snapshot_index(name: str) -> int:
    """Return the raft index from the name of a disk snapshot, TERM-INDEX.snap, both in hexadecimal."""
    found = re.fullmatch(r"[0-9a-f]+-([0-9a-f]+)\.snap", name)
    return int(found[1], 16) if found else 0


def close_all(configurations: Sequence[Configuration]) -> None:
    """Close every configuration, then raise the first error if there was one."""
    errors = []
    for configuration in configurations:
        try:
            configuration.close()
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]
