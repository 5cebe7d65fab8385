"""Results files of the campaign: a row for each case, written after each case, and the tasks of the undisturbed runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from bench.common.campaign.case import Case
from bench.common.campaign.play import Point, Step
from bench.common.tables import column_names, parse_row, read_table, write_table

KILLED, SEPARATOR = "killed", "; "


@dataclass(frozen=True)
class Row:
    """The result of a case.

    seconds: of the whole case; run_seconds: of the disturbed run. tasks: those in which the second and later runs were killed, if the case
    kills more than one, separated by "; ". failed: writes that nobody accepted in their time while a majority served;
    failed_otherwise: those while none did. lost: acknowledged writes that the cluster does not have. pause: the longest time without an
    acknowledged write, in seconds. said: how the disturbed run ended; next_said: how the next run ended (empty if there was none);
    converged: whether one of them finished the work and all members were healthy; unchanged: whether site.yml changed nothing after that;
    last_said: if not, its error or the tasks that changed something. load: the machine's load average over the last minute of the case.
    problem: what went wrong with the case itself.
    """

    operation: str
    fault: str
    at: str
    date: str
    commit: str
    seconds: float
    run_seconds: float
    writes: int
    failed: int
    failed_otherwise: int
    lost: int
    pause: float
    code: str
    said: str
    next_code: str
    next_said: str
    next_seconds: float
    converged: bool
    unchanged: bool
    last_said: str
    load: float
    problem: str
    tasks: str

    @property
    def case(self) -> Case:
        """Return the case."""
        return Case(self.operation, self.fault, self.at)

    @property
    def kills(self) -> int:
        """Return how many runs were killed, one after the other."""
        return 1 + len(self.later_tasks) if self.code == KILLED else 0

    @property
    def later_tasks(self) -> list[str]:
        """Return the tasks in which the second and later runs were killed."""
        return self.tasks.split(SEPARATOR) if self.tasks else []

    @property
    def holds(self) -> bool:
        """Return whether nothing was lost, no write failed while a majority served, and the next run finished the work."""
        return not (self.failed or self.lost or self.problem) and self.converged and self.unchanged


@dataclass(frozen=True)
class _Task:
    operation: str
    task: str
    nth: int
    action: str
    changed: bool
    seconds: float


AnyRow = TypeVar("AnyRow", bound=Row)
ROWS, TASKS = "cases.csv", "tasks.csv"


def write(
    folder: Path,
    head: Mapping[str, str],
    rows: Sequence[Row],
    traces: Mapping[str, Sequence[Step]],
    kind: type[Row] = Row,
) -> None:
    """Write all cases, and the tasks of the undisturbed runs. kind: the class of the cases."""
    tasks = [
        asdict(_Task(operation, step.point.task, step.point.nth, step.action, step.changed, step.seconds))
        for operation, steps in traces.items()
        for step in steps
    ]
    write_table(folder / TASKS, {"order": "as they begin"}, column_names(_Task), tasks)
    write_table(folder / ROWS, head, column_names(kind), [asdict(row) for row in rows])


def read(folder: Path, kind: type[AnyRow]) -> tuple[dict[str, str], list[AnyRow], dict[str, list[Step]]]:
    """Return the machine, the cases and the tasks; all are empty if there is no file yet. kind: the class of the cases."""
    if not (folder / ROWS).exists():
        return {}, [], {}
    head, rows = read_table(folder / ROWS)
    traces: dict[str, list[Step]] = {}
    for line in read_table(folder / TASKS)[1]:
        task = parse_row(_Task, line)
        traces.setdefault(task.operation, []).append(
            Step(Point(task.task, task.nth), task.action, task.changed, task.seconds)
        )
    return head, [parse_row(kind, row) for row in rows], traces


def line(row: Row) -> str:
    """Return a case's result in one line."""
    verdict = "ok  " if row.holds else "MISS"
    return (
        f"{verdict} {row.case} ({row.seconds:.0f} s): {row.writes} writes, {row.failed} + {row.failed_otherwise} failed, {row.lost} lost, "
        f"longest pause {row.pause:.1f} s; said: {row.code} {row.said}; next: {row.next_code or 'none'} {row.next_said}; "
        f"converged {row.converged}, unchanged {row.unchanged} {row.last_said}{'; ' if row.problem else ''}{row.problem}"
    )
