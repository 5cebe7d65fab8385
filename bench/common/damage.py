"""Change a value in the database of a stopped member, as a bad disk would."""

from __future__ import annotations

DATABASE = "/var/lib/etcd/data/member/snap/db"
PROGRAM = """
path = {path!r}
content = open(path, 'rb').read()
assert content.count(b'{value}')
open(path, 'r+b').write(content.replace(b'{value}', b'{damaged}'))
"""


def damage_script(value: str) -> str:
    """Return a shell script that damages a value on a member's host. The member's next start has no initial check, which would refuse it."""
    program = PROGRAM.format(path=DATABASE, value=value, damaged=value.swapcase()).replace("\n", "; ").strip("; ")
    return (
        "systemctl stop etcd && sed -i s/,InitialCorruptCheck=true// /etc/etcd/etcd.yml && "
        f'python3 -c "{program}" && systemctl start etcd'
    )
