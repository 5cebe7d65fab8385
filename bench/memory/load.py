"""Loads on real members, by etcd's own benchmark tool, and through etcd's JSON gateway where the tool has no option."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.common.gateway import encode
from bench.common.member import BENCHMARK, Member
from bench.memory.cases import Case

HOLD_SECONDS = 8
LOAD_SECONDS = 900  # longer than any load takes
LEASES_AT_ONCE = 8
WORK_PUTS, WORK_RATE = 40000, 4000
LEASES_A_TXN = 100


class LoadFailed(RuntimeError):
    """The benchmark tool failed; the message is the end of its output."""


def benchmark(members: Sequence[Member], arguments: Sequence[str | bytes]) -> str:
    """Run etcd's benchmark against members and return its output."""
    command: list[str | bytes] = [str(BENCHMARK), "--endpoints", ",".join(member.endpoint for member in members)]
    tls = members[0].tls
    if tls:
        command += ["--cacert", f"{tls}/ca.crt", "--cert", f"{tls}/client.crt", "--key", f"{tls}/client.key"]
    done = subprocess.run([*command, *arguments], capture_output=True, timeout=LOAD_SECONDS, check=False)
    output = done.stdout.decode(errors="replace")
    errors = output[output.find("Error distribution") :] if "Error distribution" in output else ""
    if done.returncode or errors:
        raise LoadFailed((errors + done.stderr.decode(errors="replace"))[-600:])
    return output


def seconds(output: str) -> float:
    """Return the duration that the benchmark reports."""
    return float(re.findall(r"Total:\s+([0-9.]+) secs", output)[-1])


def put(members: Sequence[Member], case: Case, total: int, rate: int, sequential: bool = True) -> float:
    """Put values to one key after the other, or to random keys, and return the puts a second."""
    sizes = ["--val-size", str(case.value_size), "--key-size", str(case.key_size), "--key-space-size", str(case.keys)]
    shared = ["--clients", str(case.clients), "--conns", str(case.connections or case.clients)]
    if case.txn_ops > 1:
        work = ["txn-put", "--txn-ops", str(case.txn_ops), "--total", str(total // case.txn_ops)]
    else:
        work = ["put", *(["--sequential-keys"] if sequential else []), "--total", str(total)]
        if case.compact_every:
            work += ["--compact-interval", f"{case.compact_every}s", "--compact-index-delta", str(case.compact_keep)]
    if rate:
        work += ["--rate", str(rate)]
    return total / seconds(benchmark(members, [*shared, *work, *sizes]))


def connect(members: Sequence[Member], case: Case) -> None:
    """Hold connections that each send an occasional put."""
    rate = 200
    benchmark(
        members,
        [
            *("--clients", str(case.connections), "--conns", str(case.connections), "put", "--rate", str(rate)),
            *("--total", str(rate * HOLD_SECONDS), "--val-size", "16", "--key-size", "32", "--key-space-size", "1000"),
        ],
    )


def watch(members: Sequence[Member], case: Case) -> None:
    """Hold watch streams with their watchers; one watched key receives a put each second."""
    connections = str(case.connections)
    benchmark(
        members,
        [
            *("--clients", connections, "--conns", connections, "watch", "--streams", str(case.streams)),
            *("--watch-per-stream", str(case.watchers_per_stream), "--watched-key-total", str(case.watched_keys)),
            *("--sequential-keys", "--key-space-size", str(case.watched_keys), "--key-size", str(case.key_size)),
            *("--put-rate", "1", "--put-total", str(HOLD_SECONDS)),
        ],
    )


def lease(members: Sequence[Member], case: Case) -> None:
    """Grant leases, a few at a time, and attach a key to each. The benchmark tool would need a client for each lease."""
    with ThreadPoolExecutor(LEASES_AT_ONCE) as pool:
        shares = [range(first, case.leases, LEASES_AT_ONCE) for first in range(LEASES_AT_ONCE)]
        granted = [found for part in pool.map(lambda share: grant(members[0], len(share)), shares) for found in part]
    for first in range(0, len(granted), LEASES_A_TXN):
        puts = [
            {"request_put": {"key": encode(f"key-of-lease-{lease}"), "value": encode("x"), "lease": lease}}
            for lease in granted[first : first + LEASES_A_TXN]
        ]
        gateway(members[0], "kv/txn", {"success": puts})


def grant(member: Member, count: int) -> list[str]:
    """Grant leases of an hour over one connection and return their ids."""
    connection = http.client.HTTPConnection("127.0.0.1", member.port, timeout=60)
    found = []
    for _ in range(count):
        connection.request("POST", "/v3/lease/grant", json.dumps({"TTL": 3600}))
        found.append(json.load(connection.getresponse())["ID"])
    connection.close()
    return found


def work(members: Sequence[Member]) -> float:
    """Put small values for a while, so that the garbage collector runs as in production, and return the puts a second."""
    small = Case("", "", "", members[0].version.rpartition(".")[0], value_size=200, key_size=24, keys=1000, clients=8)
    return put(members, small, WORK_PUTS, WORK_RATE)


def hold(members: Sequence[Member], case: Case) -> float:
    """Hold connections or watches on a loaded member and return the puts a second."""
    rates: list[float] = []
    beside = threading.Thread(target=lambda: rates.append(work(members)))
    beside.start()
    (watch if case.streams else connect)(members, case)
    beside.join()
    return rates[0]


def range_all(members: Sequence[Member], case: Case) -> None:
    """Read all keys with many clients at once. The benchmark's keys are varints, so this range contains all but the first."""
    clients = str(case.range_clients)
    benchmark(
        members,
        [
            "--clients",
            clients,
            "--conns",
            clients,
            "range",
            b"\x01",
            b"\xff\xff",
            "--total",
            str(case.range_clients * 15),
        ],
    )


def gateway(member: Member, path: str, request: dict[str, Any]) -> dict[str, Any]:
    """Call the member's JSON gateway over plain HTTP."""
    body = urllib.request.Request(f"{member.endpoint}/v3/{path}", json.dumps(request).encode(), method="POST")
    with urllib.request.urlopen(body, timeout=60) as answer:
        result: dict[str, Any] = json.load(answer)
    return result


def apply(members: Sequence[Member], case: Case) -> float:
    """Apply the load of a case, step by step, and return the puts a second."""
    rate = 0.0
    if case.puts:
        rate = put(members, case, case.puts, case.rate)
    if case.leases:
        lease(members, case)
        rate = work(members)
    if case.range_clients:
        range_all(members, case)
    if case.held:
        rate = hold(members, case)
    return rate


def after_restart(members: Sequence[Member], case: Case) -> None:
    """Continue the load until the raft log is at its longest and the garbage collector has run."""
    put(members, replace(case, compact_every=0), case.puts_after_restart, case.rate)
    time.sleep(1)


def certificates(folder: Path, address: str = "127.0.0.1", days: int = 1) -> Path:
    """Create a CA, a server certificate and a client certificate for an address."""
    folder.mkdir(parents=True, exist_ok=True)
    issue(folder, "ca", "/CN=bench", [], days)
    for name in ("server", "client"):
        issue(folder, name, f"/CN={name}", [*SIGNED, "-addext", f"subjectAltName=IP:{address}"], days)
    return folder


# Options of issue() for a certificate that the CA of its folder signs.
SIGNED = ("-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:FALSE")


def issue(folder: Path, file: str, subject: str, options: Sequence[str], days: int = 1) -> None:
    """Create a key and a certificate with openssl. subject: as openssl reads it, such as /CN=server."""
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes".split()
    command += ["-days", str(days), "-subj", subject, "-keyout", f"{file}.key", "-out", f"{file}.crt", *options]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
