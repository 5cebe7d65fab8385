# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read batch files and PowerShell as shell scripts: their variables and the commands that they run."""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_BATCH = re.compile(r"\.(bat|cmd)$", re.IGNORECASE)
_POWERSHELL = re.compile(r"\.psm?1$", re.IGNORECASE)

_REMARK = re.compile(r"^\s*@?(?:rem\b|::)", re.IGNORECASE)
_SET = re.compile(r"^\s*@?set\s+(?:\"(\w+)=([^\"]*)\"|(\w+)=(.*?))\s*$", re.IGNORECASE)
_PERCENT = re.compile(r"%(\w+)%|!(\w+)!")
# start "title" /b program …, and cmd /c program …
_STARTS = re.compile(
    r"^\s*@?(?:start\s+(?:\"[^\"]*\"\s+)?(?:/\w+(?:\s+[\d]+)?\s+)*|call\s+|cmd(?:\.exe)?\s+/[ck]\s+)", re.IGNORECASE
)
# The program may have a path of Windows, whose backslashes a shell would remove.
_PROGRAM = re.compile(r"(?:[^\s\"'=,]*[\\/])?etcd\.exe\b", re.IGNORECASE)

_ASSIGNED = re.compile(
    r"^(\s*)(?:\[\w+\]\s*)?\$((?:env|script|global):)?(\w+)\s*=\s*(\"[^\"]*\"|'[^']*'|\d+)\s*,?\s*(?:#.*)?$",
    re.IGNORECASE,
)
_ARRAY = re.compile(r"^\s*(?:\[[\w\[\]]+\]\s*)?\$(\w+)\s*=\s*@\((.*)$")
_REFERENCE = re.compile(r"\$(?:env:|script:|global:)(?=\w)|\$\{(?:env|script|global):(?=\w)", re.IGNORECASE)
_SPLATTED = re.compile(r"(?<=\s)@(?=\w+\b)")
_PROCESS = re.compile(r"^(?:\$\w+\s*=\s*)?Start-(?:Process|Job)\b(.*)$", re.IGNORECASE)
_FILE = re.compile(r"(?:-FilePath\s+|^\s*)(\"[^\"]*\"|'[^']*'|[^\s\"'-]\S*)", re.IGNORECASE)
# All up to the next parameter, whose name begins with a capital letter.
_ARGUMENTS = re.compile(
    r"-(?:ArgumentList|Args)\s+(.*?)(?=\s-(?:FilePath|NoNewWindow|PassThru|Redirect\w+|Verb|Wait|WindowStyle|WorkingDirectory)\b|$)",
    re.IGNORECASE,
)


def is_script(path: str) -> bool:
    """Return whether a file is a batch file or a script of PowerShell, by its name."""
    return bool(_BATCH.search(path) or _POWERSHELL.search(path))


def shell_lines(path: str, lines: list[Line]) -> list[Line]:
    """Return the lines of a script of Windows as those of a shell."""
    lines = [line._replace(text=line.text.rstrip()) for line in lines]
    if _BATCH.search(path):
        return [line._replace(text=_batch_line(line.text)) for line in lines]
    return [line._replace(text=_powershell_line(text)) for line, text in zip(lines, _joined(lines))]


def _batch_line(text: str) -> str:
    if _REMARK.match(text):
        return "#"
    assigned = _SET.match(text)
    if assigned:
        value = (assigned[2] if assigned[1] else assigned[4]).strip('"')
        return f'{assigned[1] or assigned[3]}="{_variables(value)}"'
    while (begun := _STARTS.match(text)) is not None:
        text = text[begun.end() :]
    return _continued(_variables(_PROGRAM.sub("etcd", text.lstrip("@ \t"))), "^")


def _variables(text: str) -> str:
    return _PERCENT.sub(lambda found: "${" + (found[1] or found[2]) + "}", text)


def _continued(text: str, mark: str) -> str:
    """Return a line with a shell's mark of continuation. Other backslashes are those of paths."""
    ends = text.endswith(mark)
    text = (text[: -len(mark)] if ends else text).replace("\\", "/")
    return f"{text} \\" if ends else text


def _joined(lines: list[Line]) -> list[str]:
    """Return the lines with each array and each Start-Process of several lines on its first one, and empty lines after it."""
    texts: list[str] = []
    position = 0
    while position < len(lines):
        text = lines[position].text
        found = _ARRAY.match(text)
        parts = [found[2]] if found else []
        while found and ")" not in parts[-1] and position + len(parts) < len(lines):
            parts.append(lines[position + len(parts)].text)
        if found and ")" in parts[-1]:
            items = " ".join(re.sub(r"^\s*#.*|\s#.*$", "", part).strip() for part in parts).partition(")")[0]
            texts += [f"{found[1]}=({_words(items)})", *[""] * (len(parts) - 1)]
            position += len(parts)
        elif _PROCESS.match(text.strip()):
            count = next((number for number, line in enumerate(lines[position:]) if not line.text.endswith("`")), 0) + 1
            texts += [
                " ".join(line.text.rstrip("`") for line in lines[position : position + count]),
                *[""] * (count - 1),
            ]
            position += count
        else:
            texts.append(text)
            position += 1
    return texts


def _words(items: str) -> str:
    """Return the items of a list of PowerShell as words of a shell."""
    listed = re.sub(r"(?<=[\w\"')])\s*,\s*(?=[\"'$\w-])", " ", items)
    return re.sub(r"([\"'])(\S*?)\1(?=\s|$)", r"\2", listed)


def _powershell_line(text: str) -> str:
    assigned = _ASSIGNED.match(text)
    if assigned:
        is_exported = (assigned[2] or "").lower() == "env:"
        value = _REFERENCE.sub("$", assigned[4]).replace("\\", "/")
        return f"{assigned[1]}{'export ' if is_exported else ''}{assigned[3]}={value}"
    text = _REFERENCE.sub(lambda found: "${" if "{" in found[0] else "$", text.strip())
    process = _PROCESS.match(text)
    if process:
        text = _of_process(process[1])
    text = re.sub(r"^[&.]\s+(?=\S)", "", text)
    text = _SPLATTED.sub("$", _PROGRAM.sub("etcd", text))
    return _continued(text, "`")


def _of_process(options: str) -> str:
    """Return the command that Start-Process runs."""
    given = _ARGUMENTS.search(options)
    rest = options[: given.start()] + options[given.end() :] if given else options
    program = _FILE.search(rest)
    arguments = given[1].strip() if given else ""
    if re.fullmatch(r"\"[^\"]*\"|'[^']*'", arguments):
        arguments = arguments[1:-1]
    words = _words(arguments.removeprefix("@(").removesuffix(")") if arguments.startswith("@(") else arguments)
    return f"{program[1] if program else ''} {words}".strip()
