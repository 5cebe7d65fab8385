"""Cells of the tables that report a campaign."""

from __future__ import annotations

from bench.common.campaign.results import KILLED

MAX_CHARACTERS = 160


def cut(text: str) -> str:
    """Return a text for a cell of a table."""
    plain = text.replace("|", "\\|").replace("<", "&lt;")
    return plain if len(plain) <= MAX_CHARACTERS else plain[: MAX_CHARACTERS - 1] + "…"


def ending(code: str, said: str) -> str:
    """Return how a run ended: killed, or its exit code and its last error."""
    if code == KILLED:
        return code
    return f"exit {code}" + (f": {cut(said)}" if said and code != "0" else "")
