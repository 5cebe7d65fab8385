"""Write a generated part into a page that a person wrote."""

from __future__ import annotations

from pathlib import Path


def write_part(page: Path, begin: str, end: str, text: str) -> None:
    """Put text between two marks of a page."""
    page.write_text(_replaced(page.read_text(encoding="utf-8"), begin, end, text), encoding="utf-8")


def is_current(page: Path, begin: str, end: str, text: str) -> bool:
    """Return whether a page has the text between two marks."""
    content = page.read_text(encoding="utf-8")
    return content == _replaced(content, begin, end, text)


def _replaced(content: str, begin: str, end: str, text: str) -> str:
    head, _, rest = content.partition(begin)
    return f"{head}{begin}{text}{end}{rest.partition(end)[2]}"
