"""Histories made by hand: as many versions, or commits, as one likes, as far as `log` looks."""

import json

from measure import fdl, run


def version_id(number):
    """A UUIDv7, a second apart each."""
    return f"{(1760000000000 + number * 1000) >> 16:08x}-{(1760000000000 + number * 1000) & 0xFFFF:04x}-7000-8000-{number:012x}"


def ancestors(number):
    """The field of that name: the last numbers before it that 16, 256, ... divide."""
    steps = (16**power for power in range(1, 16))
    found = [version_id((number - 1) // step * step) for step in steps if step < number]
    return {"ancestors": found} if found else {}


def make_versions(root, count):
    """A repository of `count` versions as far as `log` looks: their records, and the refs."""
    fdl("init", root)
    parent = None
    for number in range(1, count + 1):
        one = version_id(number)
        folder = root / "versions" / one
        folder.mkdir(parents=True)
        record = {
            "fdl": "0.1",
            "id": one,
            "seq": number,
            "parents": [parent] if parent else [],
            **ancestors(number),
            "created_at": "2025-10-09T08:53:20Z",
            "author": {"name": "Ada", "email": "ada@example.org"},
            "message": f"Version {number}",
            "catalog": {"path": "ducklake.duckdb", "storage": "duckdb-v1.5.0", "bytes": 1000, "sha256": "0" * 64},
            "dataset": {"path": "dataset.json", "bytes": 100, "sha256": "0" * 64},
            "ducklake": {"format": "1.0", "snapshot_id": number, "snapshots": [number, number]},
        }
        (folder / "version.json").write_text(json.dumps(record))
        parent = one
    (root / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (root / "refs" / "heads" / "main").write_text(parent + "\n")
    (root / "refs.json").write_text(json.dumps({"head": "refs/heads/main", "refs": {"refs/heads/main": parent}}))


def make_commits(folder, count):
    """As many commits of git, packed as `git gc` leaves them."""
    run("git", "init", "-q", "-b", "main", folder)
    stream = "".join(
        f"commit refs/heads/main\nmark :{n}\ncommitter Ada <ada@example.org> {1760000000 + n} +0000\n"
        f"data {len(f'Version {n}')}\nVersion {n}\n" + (f"from :{n - 1}\n" if n > 1 else "") + "\n"
        for n in range(1, count + 1)
    )
    (folder / "stream").write_text(stream)
    run("sh", "-c", f"cd '{folder}' && git fast-import --quiet <stream && rm stream && git gc -q")
