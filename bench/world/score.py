"""Compare the linter's answers with an expert's expectations, and count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench.world.lint import Answer
from bench.world.table import Entry


@dataclass(frozen=True)
class Row:
    """One file as one tool judged it. The lists hold rules, separated by blanks."""

    tool: str
    set: str
    vocabulary: str
    repository: str
    path: str
    found: str
    missed: str
    # Found rules whose message names the offending key.
    named: int
    allowed: int
    false_denials: str
    noise: str
    lines: int
    error: str


def judge(entry: Entry, answer: Answer, tool: str) -> Row:
    """Compare one answer with what was expected of the file."""
    printed = {finding.rule for finding in answer.findings}
    found = [rule for rule in entry.expected if rule in printed]
    wrong = [each for each in answer.findings if each.rule not in entry.expected and not entry.allows(each.rule)]
    named = sum(
        any(each.rule == rule and entry.expected[rule] in each.message for each in answer.findings) for rule in found
    )
    return Row(
        tool=tool,
        set=entry.set,
        vocabulary=entry.vocabulary,
        repository=entry.repository,
        path=entry.path,
        found=" ".join(found),
        missed=" ".join(rule for rule in entry.expected if rule not in printed),
        named=named,
        allowed=sum(entry.allows(each.rule) for each in answer.findings),
        false_denials=" ".join(each.rule for each in wrong if each.severity == "deny"),
        noise=" ".join(each.rule for each in wrong if each.severity == "warn"),
        lines=len(answer.findings),
        error=answer.error.split("\n")[0][:120] if answer.error else "",
    )


@dataclass(frozen=True)
class Total:
    """Counts of some rows."""

    files: int
    expected: int
    found: int
    false_denials: int
    files_denied: int
    noise: int
    noisiest: int
    unread: int

    @property
    def recall(self) -> float | None:
        """Return the share of the expected findings that were found; None where none was expected."""
        return self.found / self.expected if self.expected else None

    @property
    def precision(self) -> float | None:
        """Return the share of right findings among those that are right or wrong; None where there are none."""
        judged = self.found + self.false_denials + self.noise
        return self.found / judged if judged else None


def total(rows: Iterable[Row]) -> Total:
    """Count the rows."""
    every = list(rows)
    return Total(
        files=len(every),
        expected=sum(len(row.found.split()) + len(row.missed.split()) for row in every),
        found=sum(len(row.found.split()) for row in every),
        false_denials=sum(len(row.false_denials.split()) for row in every),
        files_denied=sum(bool(row.false_denials) for row in every),
        noise=sum(len(row.noise.split()) for row in every),
        noisiest=max((len(row.noise.split()) for row in every), default=0),
        unread=sum(bool(row.error) for row in every),
    )
