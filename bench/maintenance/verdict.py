"""Whether a maintenance kept to its aim: no failed request, no lease or event lost, latency high no longer than an election."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.maintenance.load import REQUESTS, WINDOW, Window
from bench.maintenance.results import Row, Run

# p99 may be this many times what it is when idle, or more for no longer than an election (etcd's default election timeout).
MOST_P99 = 3.0
ELECTION_SECONDS = 1.0


@dataclass(frozen=True)
class Verdict:
    """One method for one group of clients, over all repeats."""

    method: str
    group: str
    runs: tuple[Run, ...]

    @property
    def rows(self) -> list[Row]:
        """The group's row of each repeat."""
        return [row for run in self.runs for row in run.rows if row.group == self.group]

    @property
    def failed(self) -> int:
        """Requests that failed."""
        return sum(row.failed for row in self.rows)

    @property
    def leases_lost(self) -> int:
        """Leases that ended although they were kept alive."""
        return sum(row.leases_lost for row in self.rows)

    @property
    def watch_gaps(self) -> int:
        """Events that a watcher never got, and watches that etcd ended."""
        return sum(row.watch_missed + row.watches_closed for row in self.rows)

    @property
    def stretch(self) -> float:
        """The longest time without a break in which p99 was too high, in seconds; the worst of the repeats."""
        return max(stretch(run, row, after=0.0) for run, row in zip(self.runs, self.rows, strict=True))

    @property
    def idle_stretch(self) -> float:
        """The same before the maintenance began: what the machine does by itself."""
        return max(stretch(run, row, after=None) for run, row in zip(self.runs, self.rows, strict=True))

    @property
    def high(self) -> float:
        """How long p99 was too high in all, in seconds; the worst of the repeats."""
        return max(
            WINDOW * sum(too_high(windows, row) for start, windows in by_start(run, row.group) if start >= 0)
            for run, row in zip(self.runs, self.rows, strict=True)
        )

    @property
    def prompt(self) -> bool:
        """Whether p99 was too high no longer than an election takes."""
        return self.stretch <= ELECTION_SECONDS

    @property
    def done(self) -> bool:
        """Whether the maintenance did what it was to do."""
        return not any(row.message for row in self.rows)

    @property
    def holds(self) -> bool:
        """Whether all of the aim was reached."""
        return self.done and self.prompt and not (self.failed or self.leases_lost or self.watch_gaps)


def by_start(run: Run, group: str) -> list[tuple[float, list[Window]]]:
    """A group's windows of requests, those of one half second together."""
    found: dict[float, list[Window]] = {}
    for window in run.windows:
        if window.group == group and window.kind in REQUESTS:
            found.setdefault(window.start, []).append(window)
    return sorted(found.items())


def too_high(windows: Sequence[Window], row: Row) -> bool:
    """Whether the p99 of one kind of request was above what is allowed."""
    rest = {"put": row.idle_put_p99, "range": row.idle_range_p99}
    return any(window.p99 > MOST_P99 * rest[window.kind] for window in windows)


def stretch(run: Run, row: Row, after: float | None) -> float:
    """The longest row of half seconds with a p99 that was too high, from a moment on, or (None) before the maintenance began."""
    longest = now = 0
    for start, windows in by_start(run, row.group):
        if (start < 0) if after is None else (start >= after):
            now = now + 1 if too_high(windows, row) else 0
            longest = max(longest, now)
    return longest * WINDOW


def judge(runs: Sequence[Run]) -> list[Verdict]:
    """A verdict for each method and group, in the order of the runs."""
    keys = dict.fromkeys((run.method, row.group) for run in runs for row in run.rows)
    return [Verdict(method, group, tuple(run for run in runs if run.method == method)) for method, group in keys]
