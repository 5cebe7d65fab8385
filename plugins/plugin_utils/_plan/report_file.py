# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the picture or the page of a plan to a file on the controller."""

from __future__ import annotations

import os

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import write_as_new
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.html import page
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import Report
from ansible_collections.etcdops.headroom.plugins.plugin_utils._plan import picture

ENDINGS = ("html", "svg", "png")


class ReportFileError(ValueError):
    """A report file that cannot be written; the message says why, and how to fix it."""


def report_file(path: str) -> str:
    """Return the absolute path of a report file. Raises ReportFileError if it cannot be written."""
    target = os.path.realpath(os.path.expanduser(path))
    ending = os.path.splitext(target)[1].lstrip(".").lower()
    folder = os.path.dirname(target)
    problem = None
    if ending not in ENDINGS:
        shown = f"ends in .{ending}" if ending else "has no ending"
        problem = f"it {shown}; write {', '.join(f'plan.{known}' for known in ENDINGS[:-1])} or plan.{ENDINGS[-1]}"
    elif picture.MATPLOTLIB_ERROR is not None:
        problem = (
            f"matplotlib is missing on the controller ({picture.MATPLOTLIB_ERROR}); install it for the Python of "
            "Ansible (python3 -m pip install matplotlib), or leave report out"
        )
    elif not os.path.isdir(folder):
        problem = f"the folder {folder} does not exist; create it, or choose another"
    elif os.path.isdir(target):
        problem = "it is a folder; name a file in it"
    elif not os.access(folder, os.W_OK | os.X_OK):
        problem = f"the folder {folder} is not writable for you; choose another"
    if problem is not None:
        raise ReportFileError(f"report {path} cannot be written: {problem}")
    return target


def write_report(report: Report, target: str, check_mode: bool) -> tuple[bool, str]:
    """Write a plan to a file of ``report_file``, unless its content is the same or in check mode.

    Return whether the content differs, and a line that says what was done. Raises ReportFileError.
    """
    content = _content(report, target)
    changed = content != _read(target)
    if changed and not check_mode:
        _write(target, content)
    outcome = ("not written, because of --check" if check_mode else "written") if changed else "unchanged"
    return changed, f"  report: {target}, {outcome}"


def _content(report: Report, target: str) -> bytes:
    """Render the report in the format of the file's extension."""
    ending = os.path.splitext(target)[1].lstrip(".").lower()
    if ending == "html":
        return page(report, picture.draw(report, "svg"))
    return picture.draw(report, ending)


def _read(target: str) -> bytes | None:
    """Return the file's content, None if it cannot be read."""
    try:
        with open(target, "rb") as file:
            return file.read()
    except OSError:
        return None


def _write(target: str, content: bytes) -> None:
    """Write the file atomically, with the mode that a new file would have."""
    try:
        write_as_new(target, content)
    except OSError as error:
        raise ReportFileError(f"report {target} cannot be written: {error.strerror}") from error
