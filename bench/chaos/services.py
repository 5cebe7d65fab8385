"""The services of timers that a fault befalls."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from bench.common.campaign import hosts, play
from bench.common.campaign.faults import AWAY_SECONDS, Injection
from bench.common.campaign.hosts import ETCDCTL, inside
from bench.common.campaign.operation import BACKUPS, Lab, Operation
from bench.common.campaign.play import Outcome
from bench.common.lab import addresses
from bench.common.member import BENCHMARK

SERVICE_LIMIT = 300.0


class Service(Operation):
    """A service that a timer starts on every host at the same moment."""

    service = ""
    operation = ""
    moments = (0.1, 0.3, 0.5, 0.7, 0.9)

    def __init__(self) -> None:
        # How long an undisturbed run takes; the first case of the campaign measures it.
        self.seconds = 8.0

    def rerun(self, lab: Lab, kill: str = "") -> Outcome:
        undisturbed, outcome = self.seconds, self.run(lab, kill=kill)
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
            self._wait(AWAY_SECONDS)  # services wait for healthy members
            injection.finish()
        self._wait(SERVICE_LIMIT)
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

    def has_work_left(self) -> bool:
        return not self.is_complete()

    def _wait(self, seconds: float) -> None:
        """Wait until the service runs on no host, at most this many seconds."""
        end = time.monotonic() + seconds
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
            inside(host, f"systemctl reset-failed {self.service}", check=False)
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

    def is_complete(self) -> bool:
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

    def is_complete(self) -> bool:
        return bool(self._backups() - self.before)

    @staticmethod
    def _backups() -> set[str]:
        """Return the backups of all hosts that have their checksums."""
        listed = f"cd {BACKUPS} && ls *.db.sha256 2>/dev/null"
        return {f"{host}:{name}" for host in addresses() for name in inside(host, listed, check=False).split()}
