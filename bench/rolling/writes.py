"""Write to an etcd cluster at a steady pace during a change, and report the writes that no member accepted.

Sends a write every 50 ms through all endpoints in turn, with a timeout of 2 s. If a member refuses or does not answer, the write goes to
the next one, as with a client that has several endpoints. Uses etcd's JSON gateway over TLS with a client certificate, and one connection
for each endpoint. Stops when its standard input closes, or after --seconds.
"""

from __future__ import annotations

import argparse
import select
import sys
import time
from pathlib import Path

from bench.common.gateway import Endpoint, Errors, encode, tls_context


def write(members: list[Endpoint], number: int, timeout: float, attempt: float) -> list[str]:
    """Write with a deadline and return the members' refusals, with a last entry FAILED if none accepted it."""
    body = {"key": encode(f"/headroom/rolling/{number % 100}"), "value": encode(str(number))}
    deadline = time.monotonic() + timeout
    refusals: list[str] = []
    turn = number
    while (left := deadline - time.monotonic()) > 0:
        member = members[turn % len(members)]
        turn += 1
        try:
            member.call("/v3/kv/put", body, min(left, attempt))
            return refusals
        except Errors as error:
            refusals.append(f"{member.url.netloc}: {error or type(error).__name__}")
            time.sleep(0.01)
    return [*refusals, "FAILED"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("endpoints", nargs="+", help="client URLs of all members")
    parser.add_argument("--tls", type=Path, required=True, help="folder with ca.crt, client.crt and client.key")
    parser.add_argument("--seconds", type=float, default=600, help="stop after this time at the latest")
    parser.add_argument("--interval", type=float, default=0.05)
    parser.add_argument("--timeout", type=float, default=2.0, help="after which a write has failed")
    parser.add_argument("--attempt", type=float, default=0.7, help="how long one member is waited for")
    arguments = parser.parse_args()
    context = tls_context(arguments.tls)
    members = [Endpoint(url, context) for url in arguments.endpoints]

    latencies: list[float] = []
    passed_over = failed = 0
    end = time.monotonic() + arguments.seconds
    due = time.monotonic()
    while time.monotonic() < end and not select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
        due = max(due + arguments.interval, time.monotonic())
        began = time.monotonic()
        refusals = write(members, len(latencies), arguments.timeout, arguments.attempt)
        latencies.append(time.monotonic() - began)
        for refusal in refusals:
            print(f"write {len(latencies)}: {refusal}", file=sys.stderr)
        passed_over += bool(refusals)
        failed += refusals[-1:] == ["FAILED"]
    ordered = sorted(latencies)
    print(
        f"{len(ordered)} writes, {failed} failed, {passed_over} went on to another member; "
        f"p50 {ordered[len(ordered) // 2] * 1000:.1f} ms, p99 {ordered[len(ordered) * 99 // 100] * 1000:.1f} ms, "
        f"max {ordered[-1] * 1000:.1f} ms"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
