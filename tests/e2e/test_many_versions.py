"""Ten thousand versions: what a command opens does not grow with history."""

import json
import re
import uuid

import pytest
from harness import Repo, fdl, traced

FEW, MANY = 30, 10_000


def version_id(number):
    """A UUIDv7 a second later than the one before."""
    return str(uuid.UUID(int=(0x0192_0000_0000 + number * 1000) << 80 | 7 << 76 | 2 << 62 | number))


def history(folder, versions):
    """A repository of these versions, written as the format says. No command here opens a catalog."""
    repo = Repo(folder)
    for number, version in enumerate(versions, 1):
        record = {
            "fdl": "0.1",
            "id": version,
            "seq": number,
            "parents": versions[number - 2 : number - 1] if number > 1 else [],
            "created_at": "2026-10-15T09:00:00Z",
            "author": {"name": "Ada Writer"},
            "message": f"step {number}",
            "catalog": {"path": "ducklake.duckdb", "storage": "duckdb-v1.5.0", "bytes": 1, "sha256": "0" * 64},
            "dataset": {"path": "dataset.json", "bytes": 1, "sha256": "0" * 64},
            "ducklake": {"format": "1.0", "snapshot_id": number, "snapshots": [number, number]},
        }
        repo.path("versions", version).mkdir(parents=True)
        repo.version_file(version).write_text(json.dumps(record, indent=2) + "\n")
    repo.path("refs", "heads").mkdir(parents=True)
    repo.path("refs", "heads", "main").write_text(version + "\n")
    return repo


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    return [
        history(tmp_path_factory.mktemp("history") / "repo", [version_id(number) for number in range(1, length + 1)])
        for length in (FEW, MANY)
    ]


def asked_for(repo, *args):
    """The paths of the repository that a command asked the system about, in order, ids left out."""
    args = [repo.address if arg is repo else arg for arg in args]
    answer, trace = traced(["-etrace=%file,getdents64", "-s4096"], *args)
    assert answer.code == 0, answer
    names = re.findall(r'"([^"]*)"', "\n".join(line for line in trace.splitlines() if str(repo.folder) in line))
    inside = [name.removeprefix(str(repo.folder)) for name in names if name.startswith(str(repo.folder))]
    return [re.sub(r"[0-9a-f-]{36}", "ID", name) for name in inside], trace.count("getdents64(")


@pytest.mark.parametrize(
    "args",
    [["log", "REPO", "-n", "20"], ["log", "REPO", "main~3", "-n", "20"], ["url", "REPO"], ["attach", "REPO"], ["url", "REPO", "main~20"]],
    ids=" ".join,
)
def test_what_is_opened_does_not_grow_with_history(histories, args):
    few, many = (asked_for(repo, *[repo if arg == "REPO" else arg for arg in args]) for repo in histories)
    assert few == many


def test_url_reads_head_the_ref_the_record_and_the_marker_and_nothing_else(histories):
    names, listings = asked_for(histories[1], "url", histories[1])
    assert listings == 0
    assert set(names) - {"", "/"} == {
        "/HEAD",
        "/refs/heads/main",
        "/versions/ID/version.json",
        "/versions/ID/expired.json",
    }
    assert len(names) <= 10


def test_log_of_twenty_reads_two_files_a_version(histories):
    names, listings = asked_for(histories[1], "log", histories[1], "-n", "20")
    assert listings == 0
    assert names.count("/versions/ID/version.json") == 20 == names.count("/versions/ID/expired.json")


def test_the_whole_history_and_its_oldest_version_are_found(histories):
    repo = histories[1]
    log = fdl("log", repo.address, "--json").json["versions"]
    assert [version["seq"] for version in log] == list(range(MANY, 0, -1))
    assert fdl("url", repo.address, f"main~{MANY - 1}", "--json").json["id"] == version_id(1)
    assert fdl("url", repo.address, version_id(77)[:13], "--json").json["id"] == version_id(77)
    fdl("url", repo.address, f"main~{MANY}", code=5)


def test_an_address_for_readers_is_read_without_a_client_for_it(tmp_path):
    repo = Repo(tmp_path / "repo", "--url", "https://data.example.org/lake")
    for words in (["log", repo.address, "--all"], ["gc", repo.address]):
        answer, trace = traced(["-etrace=openat"], *words)
        assert answer.code == 0 and "fdl.json" in trace, (words, answer)
        assert "libcurl" not in trace, words
