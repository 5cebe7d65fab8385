"""Write generated pages, and generated parts of pages that a person wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.common.lab import PROJECT


def with_part(page: Path, begin: str, end: str, text: str) -> str:
    """Return a page's content with text between two marks."""
    head, _, rest = page.read_text(encoding="utf-8").partition(begin)
    return f"{head}{begin}{text}{end}{rest.partition(end)[2]}"


def publish(pages: Mapping[Path, str], command: str, *, check: bool) -> int:
    """Write pages and return 0; with check write nothing, and return 1 if a page is not current. command: what writes them."""
    stale = [page for page, text in pages.items() if not page.exists() or page.read_text(encoding="utf-8") != text]
    if check:
        for page in stale:
            print(f"{page.relative_to(PROJECT)} is not current: run `{command}`")
        return 1 if stale else 0
    for page in stale:
        page.write_text(pages[page], encoding="utf-8")
    return 0
