"""What ansible-test's slow pylint refuses in any plugin, so that the fast checks find it too."""

from __future__ import annotations

import ast
from pathlib import Path

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"


def test_no_variable_is_called_underscore() -> None:
    """ansible-test keeps this name for translations: an unused value is called _colon, _name or the like."""
    sources = sorted(PLUGINS.rglob("*.py"))
    assert len(sources) > 100
    assert [
        f"{path.relative_to(PLUGINS)}:{node.lineno}"
        for path in sources
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Store)
    ] == []
