"""Run real etcd members on loopback for the benchmarks, and sample their memory from /proc."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ARCHIVES = PROJECT / ".headroom" / "archives"
BENCHMARK = PROJECT / ".headroom" / "bin" / "benchmark"
SAMPLE_SECONDS = 0.02
READY_SECONDS = 120


def binary(version: str, name: str = "etcd") -> Path:
    """Return the path of a program of this release, which the project's set-up builds."""
    path = ARCHIVES / f"v{version}" / "bin" / name
    if not path.exists():
        raise SystemExit(f"there is no {name} {version}: `make setup` builds {', '.join(releases())}")
    return path


def releases() -> list[str]:
    """Return the releases that the project's set-up built, oldest first."""
    return sorted(
        (folder.name[1:] for folder in ARCHIVES.glob("v*")), key=lambda text: [int(n) for n in text.split(".")]
    )


@dataclass
class Peaks:
    """The highest memory figures of a process in bytes, from /proc/PID/status."""

    rss_anon: int = 0
    rss_file: int = 0
    rss: int = 0


class Sampler(threading.Thread):
    """A thread that records the memory peaks of a process until it ends or `stop` is called."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peaks = Peaks()
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.is_set():
            if not self._sample():
                return
            self._done.wait(SAMPLE_SECONDS)

    def _sample(self) -> bool:
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        kib = {name: int(value) for name, value in re.findall(r"^(VmHWM|RssAnon|RssFile):\s+(\d+) kB$", status, re.M)}
        if len(kib) < 3:  # a zombie reports none
            return False
        peaks = self.peaks
        peaks.rss_anon = max(peaks.rss_anon, kib["RssAnon"] * 1024)
        peaks.rss_file = max(peaks.rss_file, kib["RssFile"] * 1024)
        peaks.rss = max(peaks.rss, kib["VmHWM"] * 1024)
        return True

    def stop(self) -> Peaks:
        """Stop sampling and return the peaks."""
        self._done.set()
        self.join()
        return self.peaks


def metrics(url: str) -> dict[str, float]:
    """Return the metrics of a member by name, without those that have labels."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^([a-z0-9_]+) (\S+)$", text, re.M)}


def leader_of(members: Sequence[Member]) -> Member:
    """Return the member that leads."""
    for member in members:
        if metrics(member.metrics_url)["etcd_server_is_leader"]:
            return member
    raise RuntimeError("no member leads")


@dataclass
class Member:
    """One member of a cluster on loopback.

    flags: in addition to those for addresses and the data dir. environment: for Go's runtime (GOGC, GOMEMLIMIT). prefix: a
    command that starts the member, for example inside a control group. tls: the folder with certificates for the client port;
    metrics are always served without TLS.
    """

    version: str
    folder: Path
    port: int
    flags: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    name: str = "default"
    peers: Mapping[str, int] = field(default_factory=dict)
    tls: Path | None = None

    process: subprocess.Popen[bytes] | None = None
    sampler: Sampler | None = None

    @property
    def endpoint(self) -> str:
        """Return the client URL."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def metrics_url(self) -> str:
        """Return the URL of /metrics and /health, without TLS."""
        return f"http://127.0.0.1:{self.port + 2}"

    def mvcc_metric(self, name: str) -> int:
        """Return one of the member's metrics below etcd_debugging_mvcc."""
        return int(metrics(self.metrics_url)[f"etcd_debugging_mvcc_{name}"])

    def command(self) -> list[str]:
        """Return the whole command line."""
        peer = f"http://127.0.0.1:{self.port + 1}"
        cluster = ",".join(
            f"{name}=http://127.0.0.1:{port + 1}" for name, port in (self.peers or {self.name: self.port}).items()
        )
        tls = []
        if self.tls:
            tls = [f"--cert-file={self.tls}/server.crt", f"--key-file={self.tls}/server.key", "--client-cert-auth"]
            tls += [f"--trusted-ca-file={self.tls}/ca.crt"]
        return [
            *self.prefix,
            str(binary(self.version)),
            f"--name={self.name}",
            f"--data-dir={self.folder / self.name}",
            f"--listen-client-urls={self.endpoint}",
            f"--advertise-client-urls={self.endpoint}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster={cluster}",
            f"--listen-metrics-urls={self.metrics_url}",
            "--log-level=warn",
            *tls,
            *self.flags,
        ]

    def start(self) -> None:
        """Start the process and its sampler without waiting until it serves."""
        for port in range(self.port, self.port + 3):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))  # raises OSError if another process uses the port
        self.folder.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ETCD_", "GO"))}
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, env={**environment, **self.environment}, cwd=self.folder
            )
        self.sampler = Sampler(self.process.pid)
        self.sampler.start()

    def wait_ready(self) -> None:
        """Wait until the member reports that it is healthy."""
        assert self.process
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{self.log_tail()}")
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(f"{self.metrics_url}/health", timeout=5) as answer:
                    if b'"true"' in answer.read() and self.process.poll() is None:
                        return
            time.sleep(0.02)
        raise RuntimeError(f"{self.name} was not healthy after {READY_SECONDS} s:\n{self.log_tail()}")

    def log_tail(self) -> str:
        """Return the last lines of the member's log."""
        return "\n".join((self.folder / f"{self.name}.log").read_text(errors="replace").splitlines()[-5:])

    def stop(self) -> Peaks:
        """Stop the member as systemd would and return its peaks."""
        assert self.process and self.sampler
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.sampler.stop()


@contextlib.contextmanager
def running(members: Sequence[Member]) -> Iterator[Sequence[Member]]:
    """Start members, wait until all are healthy, and always stop them at the end."""
    try:
        for member in members:
            member.start()
        for member in members:
            member.wait_ready()
        yield members
    finally:
        for member in members:
            if member.process:
                member.stop()
