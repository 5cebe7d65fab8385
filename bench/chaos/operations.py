"""The operations that a fault befalls: plays, and the services that timers start.

Each one is prepared, run with a fault, and run again if it failed. Variables that an operation changed stay for the next ones, as in an
inventory that is edited.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bench.chaos import hosts, play
from bench.chaos.client import Write
from bench.chaos.faults import Injection
from bench.chaos.hosts import ETCDCTL, inside
from bench.chaos.play import Outcome, Point
from bench.common.lab import PROJECT, addresses
from bench.common.member import BENCHMARK

BACKUPS = "/var/backups/etcd"
SERVICE_LIMIT = 300.0
IDLE_SECONDS = 25.0
# What a restore adds to the revision of the snapshot, so that watchers notice it.
BUMP = 1_000_000_000


@dataclass
class Lab:
    """The hosts under test, and the variables that site.yml is run with."""

    variables: dict[str, Any] = field(default_factory=dict)
    fresh: Callable[[], None] = hosts.rebuild

    def words(self, playbook: str = "site.yml", **more: Any) -> list[str]:
        """Return the arguments of ansible-playbook."""
        variables = {**self.variables, **more}
        return [playbook, *(["-e", json.dumps(variables)] if variables else [])]

    def rebuild(self) -> None:
        """Begin with bare hosts."""
        self.variables = {}
        self.fresh()

    def settle(self) -> bool:
        """Run site.yml until it changes nothing, twice at most; return whether the cluster is healthy then."""
        for _ in range(2):
            if play.run(self.words()).unchanged:
                break
        return hosts.wait_healthy(30)


class Operation:
    """What a fault befalls. point: the task whose beginning a fault coincides with; moments: when a service is killed, as shares of its time."""

    name = ""
    about = ""
    point: Point | None = None
    moments: tuple[float, ...] = ()
    killable = True
    # The client has a cluster to write to when the operation begins.
    serves_before = True

    def prepare(self, lab: Lab, number: int) -> None:
        """Bring the hosts into the state before the operation."""

    def ready(self, lab: Lab) -> None:
        """Do what needs the client's writes, just before the operation."""

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        """Run it with a fault."""
        raise NotImplementedError

    def again(self, lab: Lab) -> Outcome:
        """Run it as its user or its timer would after a failure."""
        return self.run(lab)

    def kept(self, write: Write) -> bool:
        """Return whether the cluster must still have this acknowledged write afterwards."""
        return True

    def done(self) -> bool:
        """Return whether its result is there, beyond what it said."""
        return True


class Idle(Operation):
    """No operation: what a fault costs by itself."""

    name, about = (
        "nothing",
        f"no operation for {IDLE_SECONDS:.0f} s, to compare with: what etcd itself makes of the fault",
    )
    killable = False

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        if injection:
            injection.begin()
        time.sleep(IDLE_SECONDS)
        return Outcome(0, "", seconds=IDLE_SECONDS)


class Play(Operation):
    """A run of a playbook."""

    def words(self, lab: Lab) -> list[str]:
        """Return the arguments of ansible-playbook."""
        return lab.words()

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        if injection:
            return play.run(self.words(lab), hold=self.point, fault=injection.begin)
        return play.run(self.words(lab), kill=play.parse_point(kill) if kill else None)


class Deploy(Play):
    """site.yml on bare hosts."""

    name, about = "deploy", "`site.yml` on bare hosts"
    point = Point("Wait until the member serves with its settings")
    serves_before = False

    def prepare(self, lab: Lab, number: int) -> None:
        lab.rebuild()


class Change(Play):
    """A setting that restarts every member."""

    name, about = "change", "`site.yml` with another `etcd_snapshot_catchup_entries`, which restarts every member"
    point = Point("Write the configuration file")

    def prepare(self, lab: Lab, number: int) -> None:
        lab.variables["etcd_snapshot_catchup_entries"] = 4000 + number


class Renew(Play):
    """Certificates with another name."""

    name, about = "renew", "`site.yml` with another name in `etcd_tls_extra_sans`, which renews every certificate"
    point = Point("Write the configuration file")

    def prepare(self, lab: Lab, number: int) -> None:
        lab.variables["etcd_tls_extra_sans"] = [f"case-{number}.example.net"]


class Restore(Play):
    """A snapshot, taken while the client writes, replaces the data."""

    name, about = "restore", "`playbooks/restore.yml` with a snapshot of a moment before"
    point = Point("Activate the new data")

    def __init__(self) -> None:
        self.path, self.revision = "", 0

    def ready(self, lab: Lab) -> None:
        asked = ["etcd-2", "-b", "-m", "etcdops.headroom.etcd_snapshot", "-a", f"dest={BACKUPS}"]
        done = subprocess.run(["ansible", *asked], cwd=PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        self.path = inside("etcd-2", f"ls -t {BACKUPS}/*.db | head -n 1").strip()
        self.revision = int(json.loads(inside("etcd-2", f"cat {self.path}.json"))["revision"])

    def words(self, lab: Lab) -> list[str]:
        asked = {"etcd_restore_snapshot": self.path, "etcd_restore_confirm": "example"}
        return lab.words("playbooks/restore.yml", **asked)

    def again(self, lab: Lab) -> Outcome:
        outcome = self.run(lab)
        if outcome.code and "etcd_restore_again" in outcome.output:
            return replace(outcome, code=0, said="refused, since the cluster already runs on the snapshot")
        return outcome

    def kept(self, write: Write) -> bool:
        """Writes between the snapshot and the restored cluster are replaced, as the user asked."""
        return write.revision <= self.revision or write.revision > self.revision + BUMP // 2


class Service(Operation):
    """A service that a timer starts on every host at the same moment."""

    service = ""
    operation = ""
    moments = (0.1, 0.3, 0.5, 0.7, 0.9)

    def __init__(self) -> None:
        # How long an undisturbed run takes; the first case of the campaign measures it.
        self.seconds = 8.0

    def again(self, lab: Lab) -> Outcome:
        undisturbed, outcome = self.seconds, self.run(lab)
        self.seconds = undisturbed
        return outcome

    def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
        began = time.monotonic()
        for host in addresses():
            inside(host, f"systemctl start --no-block {self.service}", check=False)
        said = ""
        if kill:
            time.sleep(float(kill) * self.seconds)
            said = self._kill()
        elif injection:
            time.sleep(self.moments[1] * self.seconds)
            injection.begin()
        self._wait()
        took = time.monotonic() - began
        if not kill and not injection:
            self.seconds = took
        code, reasons = self._results()
        return Outcome(None if kill else code, play.shorten(said + reasons), seconds=took)

    def _kill(self) -> str:
        """Kill the service on the host that holds the lock, or else on every host where it runs."""
        holder = inside("etcd-1", f"{ETCDCTL} get /headroom/lock --print-value-only", check=False)
        chosen = [host for host in addresses() if f'"{host}"' in holder] or list(addresses())
        for host in chosen:
            inside(host, f"systemctl kill -s KILL {self.service}", check=False)
        return f"killed on {', '.join(chosen)}: "

    def _wait(self) -> None:
        """Wait until the service runs on no host."""
        end = time.monotonic() + SERVICE_LIMIT
        while time.monotonic() < end:
            states = [
                inside(host, f"systemctl show -P ActiveState {self.service}", check=False) for host in addresses()
            ]
            if all(state.strip() in ("inactive", "failed", "") for state in states):
                return
            time.sleep(0.5)

    def _results(self) -> tuple[int, str]:
        """Return 0 if the service succeeded on every host, and the records of the hosts that did something."""
        code, reasons = 0, []
        for host in addresses():
            result = inside(host, f"systemctl show -P Result {self.service}", check=False).strip()
            inside(host, f"systemctl reset-failed {self.service} || true", check=False)
            code = code if result == "success" else 1
            try:
                record = json.loads(inside(host, f"cat /var/lib/headroom/{self.operation}.json", check=False))
            except ValueError:
                continue
            if record["result"] != "skipped" or result != "success":
                reasons.append(f"{host} {record['result']}: {record['reason']}")
        return code, "; ".join(reasons)


class Defragment(Service):
    """Databases with many free pages."""

    name, about = "defragment", "`headroom-defrag.service`, with free pages in every member"
    service, operation = "headroom-defrag", "defrag"

    def prepare(self, lab: Lab, number: int) -> None:
        folder = hosts.fetch_certificates()
        command: Sequence[Any] = [
            BENCHMARK, "--endpoints", ",".join(hosts.urls()), "--cacert", f"{folder}/ca.crt", "--cert", f"{folder}/client.crt",
            "--key", f"{folder}/client.key", "--conns", "3", "--clients", "12", "put", "--sequential-keys",
            "--key-space-size", "300", "--val-size", "10000", "--total", "3000",
        ]  # fmt: skip
        subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
        header = hosts.statuses()["etcd-1"]["header"]
        assert isinstance(header, dict)
        inside("etcd-1", f"{ETCDCTL} compact --physical {header['revision']}")

    def done(self) -> bool:
        free = [1 - int(str(one["dbSizeInUse"])) / int(str(one["dbSize"])) for one in hosts.statuses().values()]
        return len(free) == len(addresses()) and max(free) < 0.6


class BackUp(Service):
    """The backup of an interval, which one host takes for all."""

    name, about = "back up", "`headroom-snapshot.service`"
    service, operation = "headroom-snapshot", "snapshot"

    def __init__(self) -> None:
        super().__init__()
        self.before: set[str] = set()

    def prepare(self, lab: Lab, number: int) -> None:
        inside("etcd-1", f"{ETCDCTL} del /headroom/backup")
        self.before = self._backups()

    def done(self) -> bool:
        return bool(self._backups() - self.before)

    @staticmethod
    def _backups() -> set[str]:
        """Return the backups of all hosts that have their checksums."""
        listed = f"cd {BACKUPS} && ls *.db.sha256 2>/dev/null || true"
        return {f"{host}:{name}" for host in addresses() for name in inside(host, listed, check=False).split()}


OPERATIONS: tuple[Callable[[], Operation], ...] = (Idle, Change, Renew, Restore, BackUp, Defragment, Deploy)
