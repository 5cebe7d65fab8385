# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the formulas of the memory model as Rego, from the syntax trees of _model/formulas/.

Only the formulas that the policies call are rendered, and those that these call. A construct outside the subset that
formulas/__init__.py describes raises Unsupported, which names file and line. tools/render_model.py writes the result.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
}
# The functions of _model/arithmetic.py, which policies/lib/arithmetic has by hand.
PRIMITIVES = ("divide_up", "permille", "scale_up", "size_class")

HEADER = """\
# Generated from {folder} by `make model`: change the files there.

# METADATA
# title: The formulas of the memory model
# description: |
#   The formulas that rules ask for, with the names that they have in Python. `constants` are those of a release's series, `workload` and
#   `settings` as headroom.memory.parse returns them.
package headroom.formulas

import data.headroom.arithmetic
"""


class Unsupported(ValueError):
    """A construct that cannot be rendered; the message starts with file and line."""


class Library:
    """The parsed files of formulas: functions, records and integer constants by name, in the order of the files.

    files: their texts by path. A name means the same in each of them, as Rego has one package for all.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self.functions: dict[str, ast.FunctionDef] = {}
        self.records: dict[str, list[str]] = {}
        self.numbers: dict[str, int] = {}
        self._paths: dict[ast.AST, str] = {}
        for path, text in files.items():
            tree = ast.parse(text)
            self._paths.update(dict.fromkeys(ast.walk(tree), path))
            for node in tree.body:
                self._add(node)

    def _add(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr)):
            return
        if isinstance(node, ast.FunctionDef):
            self._refuse_second(node, node.name)
            self.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            self._refuse_second(node, node.name)
            fields = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
            self.records[node.name] = [field.id for field in fields if isinstance(field, ast.Name)]
        elif isinstance(node, ast.Assign):
            self._add_number(node)
        else:
            raise self.unsupported(node, "only imports, numbers, records and functions may stand here")

    def _add_number(self, node: ast.Assign) -> None:
        target, value = node.targets[0], _product(node.value)
        if not isinstance(target, ast.Name) or value is None:
            raise self.unsupported(node, "a constant has one name and is an integer or a product of integers")
        self._refuse_second(node, target.id)
        self.numbers[target.id] = value

    def _refuse_second(self, node: ast.AST, name: str) -> None:
        if name in self.functions or name in self.records or name in self.numbers:
            raise self.unsupported(node, f"{name} is defined twice")

    def unsupported(self, node: ast.AST, reason: str) -> Unsupported:
        """Return the error for a node, which names file and line."""
        return Unsupported(f"{self._paths[node]}:{getattr(node, 'lineno', 0)}: {reason}")

    def reachable(self, roots: set[str]) -> list[str]:
        """Return the functions that these need, themselves included, in the order of the files."""
        found: set[str] = set()
        waiting = set(roots)
        while waiting:
            name = waiting.pop()
            if name not in self.functions:
                raise Unsupported(f"the policies call formulas.{name}, which no file of formulas defines")
            found.add(name)
            called = {node.id for node in ast.walk(self.functions[name]) if isinstance(node, ast.Name)}
            waiting |= (called & set(self.functions)) - found
        return [name for name in self.functions if name in found]


def _product(node: ast.expr) -> int | None:
    """Return the value of an integer or of a product of integers, None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _product(node.left), _product(node.right)
        return None if left is None or right is None else left * right
    return None


class Formula:
    """One function, rendered."""

    def __init__(self, library: Library, node: ast.FunctionDef) -> None:
        self.library = library
        self.node = node
        self.arguments = [argument.arg for argument in node.args.args]
        self.assigned: dict[str, ast.expr] = {}
        *statements, last = node.body
        for statement in statements:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if (
                not isinstance(statement, ast.Assign)
                or len(statement.targets) != 1
                or not isinstance(statement.targets[0], ast.Name)
            ):
                raise library.unsupported(statement, "only `name = expression` may stand before the return")
            name = statement.targets[0].id
            if name in self.assigned or name in self.arguments:
                raise library.unsupported(statement, f"{name} is assigned twice")
            self.assigned[name] = statement.value
        if not isinstance(last, ast.Return) or last.value is None:
            raise library.unsupported(last, "a formula ends with `return expression`")
        self.result = last.value

    def render(self) -> str:
        """Return the comment and the Rego function."""
        head = f"{self.node.name}({', '.join(self.arguments)})"
        branches = []
        for number, (conditions, value) in enumerate(self._branches(self.result)):
            body = [*conditions, *self._assignments(conditions, value)]
            start = head if number == 0 else "else"
            inner = " if {\n\t" + "\n\t".join(body) + "\n}" if body else ""
            branches.append(f"{start} := {self.expression(value)}{inner}")
        return f"# {first_line(self.node)}\n" + " ".join(branches) + "\n"

    def _branches(self, value: ast.expr) -> Iterator[tuple[list[str], ast.expr]]:
        """Yield each branch of a chain of conditional expressions: its conditions and its value."""
        while isinstance(value, ast.IfExp):
            yield list(self._conditions(value.test)), value.body
            value = value.orelse
        yield [], value

    def _assignments(self, conditions: list[str], value: ast.expr) -> list[str]:
        """Return the assignments that a branch needs, in the order of the function."""
        needed = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        needed |= {word for text in conditions for word in re.findall(r"\w+", text)}
        for name in reversed(self.assigned):
            if name in needed:
                needed |= {node.id for node in ast.walk(self.assigned[name]) if isinstance(node, ast.Name)}
        return [f"{name} := {self.expression(term)}" for name, term in self.assigned.items() if name in needed]

    def _conditions(self, test: ast.expr) -> Iterator[str]:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                yield from self._conditions(part)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in COMPARISONS:
            left, right = self.expression(test.left), self.expression(test.comparators[0])
            yield f"{left} {COMPARISONS[type(test.ops[0])]} {right}"
        elif isinstance(test, (ast.Name, ast.Attribute)):
            yield self.expression(test)
        else:
            raise self.library.unsupported(test, "a condition is one comparison, a flag, or several with `and`")

    def expression(self, node: ast.expr) -> str:
        """Return an expression as Rego."""
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, (int, str))):
            return json.dumps(node.value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return f"{self.expression(node.value)}.{node.attr}"
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node, node.func.id)
        raise self.library.unsupported(node, f"{type(node).__name__} is outside the subset that can be rendered")

    def _name(self, node: ast.Name) -> str:
        if node.id in self.library.numbers:
            return node.id.lower()
        if node.id in self.arguments or node.id in self.assigned:
            return node.id
        raise self.library.unsupported(node, f"{node.id} is neither an argument, nor assigned here, nor a number")

    def _operation(self, node: ast.BinOp) -> str:
        if isinstance(node.op, ast.FloorDiv):
            return f"arithmetic.divide_down({self.expression(node.left)}, {self.expression(node.right)})"
        if type(node.op) not in OPERATORS:
            raise self.library.unsupported(node, f"the operator {type(node.op).__name__} is outside the subset")
        sides = [
            f"({self.expression(side)})" if _is_infix(side) else self.expression(side)
            for side in (node.left, node.right)
        ]
        return f"{sides[0]} {OPERATORS[type(node.op)]} {sides[1]}"

    def _call(self, node: ast.Call, name: str) -> str:
        if name in self.library.records:
            return self._record(node, name)
        if node.keywords:
            raise self.library.unsupported(node, "only records take keywords")
        arguments = ", ".join(self.expression(argument) for argument in node.args)
        if name in ("min", "max"):
            return f"{name}([{arguments}])"
        if name in PRIMITIVES:
            return f"arithmetic.{name}({arguments})"
        if name in self.library.functions:
            return f"{name}({arguments})"
        raise self.library.unsupported(node, f"{name}() is outside the subset that can be rendered")

    def _record(self, node: ast.Call, name: str) -> str:
        given = [keyword.arg for keyword in node.keywords]
        if node.args or given != self.library.records[name]:
            raise self.library.unsupported(node, f"{name} takes all its fields by keyword, in their order")
        fields = [f'\t"{keyword.arg}": {self.expression(keyword.value)},' for keyword in node.keywords]
        return "{\n" + "\n".join(fields) + "\n}"


def _is_infix(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and not isinstance(node.op, ast.FloorDiv)


def first_line(node: ast.FunctionDef) -> str:
    """Return the first line of a docstring."""
    return (ast.get_docstring(node) or "").partition("\n")[0]


def called_by_policies(policies: Path, generated: Path) -> set[str]:
    """Return the formulas that the handwritten policies call."""
    texts = (path.read_text(encoding="utf-8") for path in policies.rglob("*.rego") if path != generated)
    return {name for text in texts for name in re.findall(r"\bformulas\.(\w+)\(", text)}


def rego(files: Mapping[str, str], folder: str, roots: set[str]) -> str:
    """Return the Rego package for these formulas, as `opa fmt` writes it.

    files: texts by path. folder: of the files, for the header.
    """
    library = Library(files)
    formulas = [Formula(library, library.functions[name]).render() for name in library.reachable(roots)]
    body = "\n".join(formulas)
    numbers = [
        f"{name.lower()} := {value}\n"
        for name, value in library.numbers.items()
        if re.search(rf"\b{name.lower()}\b", body)
    ]
    return formatted("\n".join([HEADER.format(folder=folder), *numbers, body]))


def formatted(text: str) -> str:
    """Return Rego as `opa fmt` writes it."""
    done = subprocess.run(["opa", "fmt"], input=text, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise Unsupported(f"opa fmt refuses what was rendered: {done.stderr.strip()}")
    return done.stdout
