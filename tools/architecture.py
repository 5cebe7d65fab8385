"""Draw docs/images/architecture.svg from the code: roles, packages with their files, and what each package imports; --check only compares.

The rows are the layers of import-linter's contract in pyproject.toml, top first.
"""

from __future__ import annotations

import argparse
import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import tomllib

PROJECT = Path(__file__).resolve().parent.parent
PLUGINS = PROJECT / "plugins"
PICTURE = PROJECT / "docs/images/architecture.svg"
PACKAGE = "ansible_collections.etcdops.headroom.plugins"

WIDTH, MARGIN, LABEL, GAP, PADDING = 960, 16, 118, 12, 10
TITLE, SMALL, LINE = 13, 11, 16
# An average character of a sans-serif font, in ems; a little too wide, so that no text leaves its box.
CHARACTER, BOLD = 0.56, 0.66
COLORS = {"user": "#e8f1fb", "entry": "#e6f4ea", "package": "#fff8e1"}
LABELS = (
    ("what users run",),
    ("roles",),
    ("plugins:", "what Ansible calls"),
    ("reports",),
    ("the controller;", "scheduled jobs;", "audits"),
    ("one job each",),
    ("the cluster",),
    ("the host;", "the memory model"),
    ("shared helpers",),
)


@dataclass(frozen=True)
class Box:
    """A package: its title, the names in it, the packages that it imports, and its color."""

    title: str
    names: tuple[str, ...]
    uses: tuple[str, ...]
    color: str

    def weight(self) -> int:
        """Return how much of a row's width the box asks for."""
        return max(len(self.title) + 4, len(" ".join((*self.names, *self.uses))) // 2, 18)


def room_of(module: str) -> str | None:
    """Return the package of a dotted module name below PACKAGE, such as module_utils._etcd or filter; None outside PACKAGE."""
    if not module.startswith(f"{PACKAGE}."):
        return None
    parts = module.removeprefix(f"{PACKAGE}.").split(".")
    return ".".join(parts[:2]) if parts[0] in ("module_utils", "plugin_utils") and len(parts) > 1 else parts[0]


def imports(package: str) -> set[str]:
    """Return the other packages that the files of this package import."""
    found: set[str] = set()
    for path in sorted((PLUGINS / package.replace(".", "/")).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            found.update(filter(None, map(room_of, names)))
    return found - {package}


def short(package: str) -> str:
    """Return a package's name as other boxes list it. Both `_utils` folders have a `_plan`, so those of plugin_utils keep their folder."""
    return package.removeprefix("module_utils.").replace(".", "/")


def room_box(package: str, order: list[str]) -> Box:
    """Return the box of a package. order: all packages, the top layer first."""
    folder = PLUGINS / package.replace(".", "/")
    files = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    names = sorted(name for name in files if name not in ("__init__", "__pycache__"))
    uses = tuple(short(name) for name in sorted(imports(package), key=order.index))
    is_entry = "_utils" not in package
    return Box(package.replace(".", "/"), tuple(names), uses, COLORS["entry" if is_entry else "package"])


def rows() -> list[list[Box]]:
    """Return the picture's rows: playbooks and policies, roles, then the layers of the contract."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    packages = [[package.strip() for package in layer.split("|")] for layer in layers]
    order = [package for layer in packages for package in layer]
    playbooks = tuple(sorted(path.stem for path in (PROJECT / "playbooks").glob("*.yml")))
    rules = tuple(sorted(path.name for path in (PROJECT / "policies/rules").iterdir() if path.is_dir()))
    roles = tuple(sorted(path.name for path in (PROJECT / "roles").iterdir() if (path / "tasks").is_dir()))
    users = [
        Box("playbooks", playbooks, ("roles",), COLORS["user"]),
        Box("policies/rules (Rego)", rules, ("policies/lib",), COLORS["user"]),
    ]
    return [
        users,
        [Box("roles", roles, ("modules", "filter"), COLORS["user"])],
        *([room_box(package, order) for package in layer] for layer in packages),
    ]


def wrap(words: tuple[str, ...], width: float) -> list[str]:
    """Break names into lines of at most `width` pixels."""
    lines: list[str] = []
    for word in words:
        if lines and (len(lines[-1]) + 2 + len(word)) * SMALL * CHARACTER <= width:
            lines[-1] += f"  {word}"
        else:
            lines.append(word)
    return lines


def minimum_widths(row: list[Box]) -> list[float]:
    """Return the width in pixels that the title of each box needs."""
    return [len(box.title) * TITLE * BOLD + 2 * PADDING for box in row]


def spare_width(row: list[Box]) -> float:
    """Return how much wider the picture is than the row's titles; negative if they do not fit side by side."""
    return WIDTH - 2 * MARGIN - LABEL - GAP * (len(row) - 1) - sum(minimum_widths(row))


def widths(row: list[Box]) -> list[float]:
    """Share the row's width by the boxes' weights; no box is narrower than its title."""
    spare = spare_width(row)
    weights = [box.weight() for box in row]
    minimums = minimum_widths(row)
    return [minimum + spare * weight / sum(weights) for minimum, weight in zip(minimums, weights, strict=True)]


def fold(row: list[Box]) -> list[list[Box]]:
    """Break a layer into as few lines of boxes as its titles need, of nearly equal length."""
    for count in range(1, len(row) + 1):
        size = -(-len(row) // count)
        lines = [row[start : start + size] for start in range(0, len(row), size)]
        if all(spare_width(line) >= 0 for line in lines):
            return lines
    raise ValueError(f"no line of the picture is wide enough for {' or '.join(box.title for box in row)}")


def text(x: float, y: float, content: str, style: str = "") -> str:
    """Return an SVG text element. y: of the baseline. style: further attributes."""
    return f'<text x="{x:.0f}" y="{y:.0f}"{style} xml:space="preserve">{escape(content)}</text>'


def draw_box(box: Box, x: float, y: float, width: float, height: float) -> list[str]:
    """Return the SVG elements of a box: frame, title, names, and at the bottom the imported packages."""
    frame = f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="5" fill="{box.color}" stroke="#8a8f98"/>'
    left, top = x + PADDING, y + PADDING + TITLE - 2
    parts = [frame, text(left, top, box.title, f' font-size="{TITLE}" font-weight="bold"')]
    for number, line in enumerate(wrap(box.names, width - 2 * PADDING), 1):
        parts.append(text(left, top + number * LINE, line))
    if box.uses:
        uses = wrap(("uses", *box.uses), width - 2 * PADDING)
        for number, line in enumerate(uses):
            bottom = y + height - PADDING - (len(uses) - 1 - number) * LINE
            parts.append(text(left, bottom, line, ' fill="#57606a" font-style="italic"'))
    return parts


def height_of(box: Box, width: float) -> float:
    """Return the height in pixels that a box of this width needs."""
    lines = len(wrap(box.names, width - 2 * PADDING)) + (
        len(wrap(("uses", *box.uses), width - 2 * PADDING)) if box.uses else 0
    )
    return 2 * PADDING + TITLE + lines * LINE + 2


def picture() -> str:
    """Return the SVG."""
    parts: list[str] = []
    y: float = MARGIN
    for row, label in zip(rows(), LABELS, strict=True):
        top = y
        for boxes in fold(row):
            shares = widths(boxes)
            height = max(height_of(box, width) for box, width in zip(boxes, shares, strict=True))
            x: float = MARGIN + LABEL
            for box, width in zip(boxes, shares, strict=True):
                parts += draw_box(box, x, y, width, height)
                x += width + GAP
            y += height + GAP
        middle = (top + y - GAP) / 2
        for number, line in enumerate(label):
            parts.append(text(MARGIN, middle + 4 + (number - (len(label) - 1) / 2) * LINE, line, ' fill="#57606a"'))
    legend = (
        "Each package lists its files, and the packages that it imports: only those in lower layers, never neighbours."
    )
    parts.append(text(MARGIN, y + 12, legend, ' fill="#57606a"'))
    total = y + 12 + MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{total:.0f}" viewBox="0 0 {WIDTH} {total:.0f}" '
    head += f'font-family="Helvetica, Arial, sans-serif" font-size="{SMALL}" fill="#1f2328">'
    background = f'<rect width="{WIDTH}" height="{total:.0f}" fill="#ffffff"/>'
    return "\n".join([head, "<!-- Generated by make architecture. -->", background, *parts, "</svg>"]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if the picture is stale, and write nothing")
    drawn = picture()
    name = PICTURE.relative_to(PROJECT)
    if parser.parse_args().check:
        is_current = PICTURE.exists() and PICTURE.read_text() == drawn
        print(f"{name} is {'current' if is_current else 'stale: run make architecture'}")
        return 0 if is_current else 1
    PICTURE.write_text(drawn)
    print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
