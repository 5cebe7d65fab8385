# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse blocks and attributes of HCL, as in Terraform, Packer and Nomad. Expressions become placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Unparsed

FILE = re.compile(r"\.(tf|tfvars|hcl|nomad|tofu)$")
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|#[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<end>\n)|<<[-~]?(?P<mark>\w+)[ \t]*\n"
    r"|(?P<text>\"(?:[^\"\\\n$]|\\.|\$(?!\{)|\$\{[^{}\n]{,500}\})*\")|(?P<word>[\w.-]+)|(?P<sign>[={}\[\](),:]|.)",
    re.DOTALL,
)
_DEEPEST = 50
PLACEHOLDER = "${expression}"


class Token(NamedTuple):
    """A part of a file: its kind, its text, and its line."""

    kind: str
    text: str
    line: int


class Block(NamedTuple):
    """A block with its type and labels, its attributes (name → value and line), and the blocks inside."""

    type: str
    labels: tuple[str, ...]
    attributes: dict[str, tuple[Any, int]]
    blocks: list[Block]

    def all(self) -> Iterator[Block]:
        """Yield this block and those inside."""
        yield self
        for block in self.blocks:
            yield from block.all()

    def value(self, name: str) -> Any:
        """Return the value of an attribute, None without one."""
        return self.attributes[name][0] if name in self.attributes else None


def parse(lines: list[Line]) -> Block:
    """Return a block with all blocks of a file. Raises Unparsed."""
    parser = _Parser(list(_tokens("\n".join(line.text for line in lines) + "\n", lines[0].number if lines else 1)))
    return parser.body("", (), 0)


def _tokens(text: str, line: int) -> Iterator[Token]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise Unparsed(f"line {line}: it cannot be parsed as HCL", line)
        position = found.end()
        kind, part = found.lastgroup or "", found[0]
        if kind == "mark":
            ending = re.compile(rf"^[ \t]*{found['mark']}[ \t]*$", re.MULTILINE).search(text, position)
            body = text[position : ending.start() if ending else len(text)]
            yield Token("heredoc", body, line)
            position = ending.end() if ending else len(text)
            part += body
        elif kind != "blank":
            yield Token(kind, part, line)
        line += part.count("\n")


class _Parser:
    """The tokens of a file, and the position in them."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0

    def _next(self) -> Token | None:
        token = self._tokens[self._position] if self._position < len(self._tokens) else None
        self._position += 1
        return token

    def _sees(self, *texts: str) -> bool:
        return self._position < len(self._tokens) and self._tokens[self._position].text in texts

    def body(self, kind: str, labels: tuple[str, ...], depth: int) -> Block:
        """Parse the attributes and blocks up to a closing brace."""
        block = Block(kind, labels, {}, [])
        while (token := self._next()) is not None and token.text != "}":
            if token.kind not in ("word", "text"):
                continue
            name = _unquoted(token.text)
            if self._sees("=", ":") and depth < _DEEPEST:
                self._position += 1
                block.attributes[name] = (self.value(depth + 1), token.line)
                continue
            found = []
            while self._position < len(self._tokens) and self._tokens[self._position].kind in ("word", "text"):
                found.append(_unquoted(self._tokens[self._position].text))
                self._position += 1
            if self._sees("{") and depth < _DEEPEST:
                self._position += 1
                block.blocks.append(self.body(name, tuple(found), depth + 1))
        return block

    def value(self, depth: int) -> Any:
        """Parse a literal with its list or map; skip other expressions up to their end."""
        token = self._next()
        found: Any = PLACEHOLDER
        if token is None or token.kind == "end":
            return found
        if token.kind in ("text", "heredoc"):
            found = _unquoted(token.text) if token.kind == "text" else token.text
        elif token.text == "[" and depth < _DEEPEST:
            found = self._list(depth)
        elif token.text == "{" and depth < _DEEPEST:
            found = {name: value for name, (value, _line) in self.body("", (), depth).attributes.items()}
        elif re.fullmatch(r"\d+|true|false", token.text):
            found = int(token.text) if token.text.isdigit() else token.text == "true"
        else:
            self._position -= 1
        return found if self._skip() == 0 else PLACEHOLDER

    def _list(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._position < len(self._tokens) and not self._sees("]"):
            if self._tokens[self._position].kind == "end" or self._sees(","):
                self._position += 1
            else:
                items.append(self.value(depth + 1))
        self._position += 1
        return items

    def _skip(self) -> int:
        """Skip the rest of an expression, and return the number of its tokens."""
        count = open_brackets = 0
        while self._position < len(self._tokens):
            token = self._tokens[self._position]
            if not open_brackets and (token.kind == "end" or token.text in (",", "]", "}")):
                break
            open_brackets += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            count += 1
            self._position += 1
        return count


def _unquoted(text: str) -> str:
    """Return a text without its quotes and escapes. $${ is a literal ${."""
    if not text.startswith('"'):
        return text
    inner = re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text[1:-1])
    return inner.replace("$${", "${")
