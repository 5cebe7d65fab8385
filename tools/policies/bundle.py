# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the policies as an archive for `conftest test -p`, without examples: `python -m tools.policies.bundle [PATH]`.

The same sources give the same bytes. PATH defaults to .headroom/headroom-policies-VERSION.tar.gz.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import tarfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
POLICIES = REPOSITORY / "policies"


def version() -> str:
    """Return the collection's version."""
    found = re.search(r"^version: (\S+)$", (REPOSITORY / "galaxy.yml").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError("galaxy.yml states no version")
    return found.group(1)


def sources() -> list[Path]:
    """Return what conftest needs, sorted: the policies, their data, and the conftest.toml that calls them."""
    rego = POLICIES.rglob("*.rego")
    data = [path for path in (POLICIES / "data").iterdir() if path.suffix in (".json", ".yml")]
    return sorted([*rego, *data, REPOSITORY / "conftest.toml", REPOSITORY / "LICENSE"])


def bundle(name: str) -> bytes:
    """Return the archive, with everything below a folder of this name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sources():
            content = path.read_bytes()
            member = tarfile.TarInfo(f"{name}/{path.relative_to(REPOSITORY).as_posix()}")
            member.size = len(content)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(content))
    # No time and no file name in the header.
    return gzip.compress(packed.getvalue(), mtime=0)


def main() -> int:
    """Write the archive, print its path."""
    name = f"headroom-policies-{version()}"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / ".headroom" / f"{name}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bundle(name))
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
