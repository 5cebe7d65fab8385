"""Run a playbook and time it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from bench.common.lab import PROJECT


def timed_play(*arguments: str, **environment: str) -> tuple[float, str]:
    """Run ansible-playbook and return seconds and output. environment: variables in addition to the own ones. Exits if the playbook fails."""
    began = time.monotonic()
    done = subprocess.run(
        ["ansible-playbook", *arguments],
        cwd=PROJECT,
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"ansible-playbook {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return time.monotonic() - began, done.stdout
