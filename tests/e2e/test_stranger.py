"""A repository that somebody made to harm whoever reads or mirrors it: nothing outside the target is written, nothing runs, one line tells."""

import functools
import hashlib
import http.server
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import threading
import time

import duckdb
import pytest
from careless import EndlessFiles
from harness import FAILURE, NOT_FOUND, REFUSED, Lake, command, environment, fdl, text

ESCAPE = "\x1b[31mred\x07\x9b2J\u202e"
FORGED = "\nATTACH 'evil';"  # printed as it stands it would be a line of ours
STEERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


# ---- the honest one, and what is done to it ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A repository with two versions of a table, in a folder."""
    lake = Lake(tmp_path_factory.mktemp("honest"))
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)", message="ten numbers")
    lake.publish("INSERT INTO lake.t VALUES (10)", message="one more")
    return lake.repo.folder


class Hostile:
    """A copy of it to spoil; readers stand in `here`, and `secret` lies beside."""

    def __init__(self, honest, folder):
        self.folder = folder / "stranger"
        shutil.copytree(honest, self.folder)
        self.here = folder / "here"
        self.here.mkdir()
        (folder / "secret").write_text("secret")
        self.id = (self.folder / "refs/heads/main").read_text().strip()

    def path(self, name):
        return self.folder / "versions" / self.id / name

    def json(self, name, **changes):
        path = self.folder / name if name == "fdl.json" else self.path(name)
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    def record(self, field, **changes):
        self.json("version.json", **{field: json.loads(self.path("version.json").read_text())[field] | changes})

    def prove(self, name, field):
        """The record tells the truth about a file of the version."""
        data = self.path(name).read_bytes()
        self.record(field, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def catalog(self, *statements):
        """The catalog with statements run on its tables; `raw` is its name. The index and the packed one would give a lie away."""
        with duckdb.connect() as con:
            con.execute(f"ATTACH {text(self.path('ducklake.duckdb'))} AS raw")
            for statement in statements:
                con.execute(statement)
            con.execute("CHECKPOINT raw")
        self.prove("ducklake.duckdb", "catalog")
        catalog = json.loads(self.path("version.json").read_text())["catalog"]
        if packed := catalog.pop("zstd", None):
            self.path(packed["path"]).unlink()
        self.json("version.json", catalog=catalog)
        self.without_index()

    def without_index(self):
        record = json.loads(self.path("version.json").read_text())
        self.path("files.json").unlink()
        del record["files"]
        self.path("version.json").write_text(json.dumps(record))

    def parent(self):
        return json.loads(self.path("version.json").read_text())["parents"][0]


@pytest.fixture
def hostile(honest, tmp_path):
    return Hostile(honest, tmp_path)


class Files(EndlessFiles):
    """A plain web server's, unless a test makes some of them endless."""


@pytest.fixture
def web(hostile):
    """It on a plain web server."""
    Files.endless = ()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=hostile.folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


READING = {
    "checkout": lambda repo: ("checkout", repo, "work.sqlite"),
    "clone": lambda repo: ("clone", repo, "mirror", "--all"),
    "verify": lambda repo: ("verify", repo, "--all"),
    "diff": lambda repo: ("diff", repo, "main~1", "main"),
    "rows": lambda repo: ("diff", repo, "main~1", "main", "--rows"),
    "show": lambda repo: ("show", repo),
    "log": lambda repo: ("log", repo),
}


def outside(hostile):
    """What lies beside the targets of a checkout and a clone, with its content."""
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in hostile.here.parent.rglob("*")
        if hostile.folder not in path.parents and not path.relative_to(hostile.here.parent).as_posix().startswith(("here/work.sqlite", "here/mirror"))
    }


def read(hostile, repo, name, limits=()):
    """Runs a reading command where it may do no harm: its exit code, and all that it said."""

    def limit():
        for what, value in limits:
            resource.setrlimit(what, (value, value + 5))

    before = outside(hostile)
    for target in hostile.here.iterdir():
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    done = subprocess.run(command(*READING[name](repo)), cwd=hostile.here, capture_output=True, env=environment(), timeout=120, preexec_fn=limit)
    said, told = done.stderr.decode(), done.stdout.decode()
    assert outside(hostile) == before, name
    assert 0 <= done.returncode < 20, (name, done.returncode, said)
    assert done.returncode == 0 or name == "verify" or said.count("\n") == 1, (name, said)
    assert not STEERS.search(said + told) and FORGED not in said + told, (name, said, told)
    assert not any(path.is_symlink() for path in hostile.here.rglob("*"))
    return done.returncode, said + told


# ---- paths that lead out ----------------------------------------------------------------------------------------------

DATA_FILES, UP = "raw.ducklake_data_file", "../../../here/outside.parquet"


def absolute(hostile):
    hostile.catalog(f"UPDATE {DATA_FILES} SET path = {text(hostile.here.parent / 'secret')}, path_is_relative = false")


def other(hostile):
    hostile.json("version.json", catalogs=[{**json.loads(hostile.path("version.json").read_text())["catalog"], "path": "../../x", "format": "0.3"}])


def index(hostile):
    files = json.loads(hostile.path("files.json").read_text())
    hostile.path("files.json").write_text(json.dumps(files).replace('"data/', '"data/../../'))
    hostile.prove("files.json", "files")


def test_gc_deletes_nothing_because_an_index_leaves_it_out(hostile):
    """files.json may spare work, and never a file."""
    for record in (hostile.folder / "versions").glob("*/version.json"):
        hostile.id = record.parent.name
        hostile.path("files.json").write_text('{"tables": []}')
        hostile.prove("files.json", "files")
    there = sorted((hostile.folder / "data").rglob("*.parquet"))
    fdl("gc", hostile.folder, "--grace", "0d")
    assert there and sorted((hostile.folder / "data").rglob("*.parquet")) == there


# What is done, and who must not go through with it: whoever needs what was spoilt.
LEADING_OUT = {
    "data_dir": (lambda h: h.json("fdl.json", data_dir="../here/"), ("checkout", "clone")),
    "data_dir in the versions": (lambda h: h.json("fdl.json", data_dir="versions/"), ("checkout", "clone")),
    "catalog.path": (lambda h: h.record("catalog", path="../../../here/x"), ("checkout", "clone", "verify", "show")),
    "dataset.path": (lambda h: h.record("dataset", path="../../../here/x"), ("checkout", "clone", "verify", "show")),
    "files.path": (lambda h: h.record("files", path="/etc/passwd"), ("checkout", "clone", "verify", "show")),
    "another catalog's path": (other, ("checkout", "clone", "verify")),
    "a parent": (lambda h: h.json("version.json", parents=["../../here/x"]), ("checkout", "clone", "verify", "log")),
    "a file of a table": (lambda h: h.catalog(f"UPDATE {DATA_FILES} SET path = {text(UP)}"), ("clone", "verify", "rows")),
    "an absolute file": (absolute, ("clone", "verify", "rows")),
    "a table": (lambda h: h.catalog("UPDATE raw.ducklake_table SET path = '../../../../here/'"), ("clone", "verify", "rows")),
    "a schema": (lambda h: h.catalog("UPDATE raw.ducklake_schema SET path = '/here/', path_is_relative = false"), ("clone", "verify", "rows")),
    "a file of the index": (index, ("clone", "verify")),
    "a ref": (lambda h: (h.folder / "refs/heads/main").write_text("ref: ../../../secret\n"), ("checkout", "clone", "verify", "show")),
    "HEAD": (lambda h: (h.folder / "HEAD").write_text("ref: refs/heads/../../../secret\n"), ("checkout", "show")),
}


@pytest.mark.parametrize("what", LEADING_OUT)
def test_no_path_leads_out(hostile, web, what):
    spoil, refusing = LEADING_OUT[what]
    spoil(hostile)
    for name in dict.fromkeys(("checkout", *refusing)):
        code, said = read(hostile, hostile.folder, name)
        assert (code != 0) >= (name in refusing) and "secret\n" not in said, (name, said)
    if "clone" in refusing and what != "a ref":  # there refs.json tells them
        assert read(hostile, web, "clone")[0] != 0


def test_a_link_in_the_folder_is_read_and_never_written_through(hostile):
    """Data may lie on another disk; a mirror of it holds files."""
    shutil.move(hostile.folder / "data", hostile.here.parent / "disk")
    (hostile.folder / "data").symlink_to(hostile.here.parent / "disk")
    (hostile.folder / "refs/heads/evil").symlink_to(hostile.here.parent / "secret")
    for name in READING:
        read(hostile, hostile.folder, name)
    (hostile.folder / "refs/heads/evil").unlink()
    assert read(hostile, hostile.folder, "clone")[0] == 0
    (hostile.folder / "refs/heads/main").unlink()
    (hostile.folder / "refs/heads/main").symlink_to("/dev/zero")
    assert read(hostile, hostile.folder, "show")[0] != 0


def test_a_pipe_or_a_file_without_end_in_the_folder_is_not_waited_for(hostile):
    """Neither where it is copied from nor where it is read as it lies."""
    catalog, data = hostile.path("ducklake.duckdb"), max((hostile.folder / "data").rglob("*.parquet"), key=lambda path: path.stat().st_mtime)
    for path, needing in ((catalog, ("checkout", "clone", "verify", "diff")), (hostile.path("dataset.json"), ("clone", "verify")), (data, ("verify", "rows"))):
        there = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        for name in needing:
            assert read(hostile, hostile.folder, name)[0] in (FAILURE, NOT_FOUND), (path, name)
        assert fdl("clone", hostile.folder, hostile.here / "mirror", code=None).code in (FAILURE, NOT_FOUND)
        path.unlink()
        with open(path, "wb") as file:
            file.truncate(1 << 40)
        for name in needing:
            code, said = read(hostile, hostile.folder, name)
            assert code in (FAILURE, REFUSED), (path, name, said)
        path.write_bytes(there)


# ---- catalogs ----------------------------------------------------------------------------------------------------------


def checksum(block):
    """DuckDB's, over words of eight bytes."""
    found = 5381
    for (word,) in struct.iter_unpack("<Q", block):
        found ^= word * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
    return found


def ring(path):
    """Leads the free list of a DuckDB file back to its own beginning, and makes it long."""
    data = bytearray(path.read_bytes())
    header = max((4096, 8192), key=lambda at: struct.unpack_from("<Q", data, at + 8)[0])
    free, _, block_size = struct.unpack_from("<3Q", data, header + 24)
    block = 12288 + (free & (1 << 56) - 1) * block_size
    struct.pack_into("<QQ", data, block + 8 + (free >> 56) * ((block_size - 8) // 64 & ~7), free, 1 << 62)
    struct.pack_into("<Q", data, block, checksum(data[block + 8 : block + block_size]))
    path.write_bytes(data)


def test_a_catalog_that_keeps_duckdb_busy_for_ever_is_given_up(hostile):
    """By half of the time that the process may take; without a limit it is a minute."""
    ring(hostile.path("ducklake.duckdb"))
    hostile.prove("ducklake.duckdb", "catalog")
    hostile.without_index()
    for name in ("checkout", "clone", "verify", "diff"):
        code, said = read(hostile, hostile.folder, name, [(resource.RLIMIT_CPU, 2)])
        assert code == (FAILURE if name == "verify" else REFUSED), (name, said)
        assert "still busy after 1 s" in said and "ducklake.duckdb" in said + "ducklake.duckdb" * (name != "verify"), said
    assert not list(hostile.here.rglob("work.sqlite"))


def test_sql_in_a_catalog_does_not_run(hostile, tmp_path):
    """Every reader opens it where nothing else can be reached; verify tells of it."""
    secret = text(tmp_path / "secret")
    hostile.catalog(
        f"CREATE MACRO raw.max(x) AS (SELECT length(content) FROM read_text({secret}))",
        f"CREATE MACRO raw.duckdb_tables() AS TABLE (SELECT content AS table_name FROM read_text({secret}))",
        f"CREATE VIEW raw.beside AS FROM read_text({secret})",
        f"COPY (SELECT 1) TO {text(tmp_path / 'stranger' / 'made.csv')}",  # it could, when it were let
    )
    for name in READING:
        code, said = read(hostile, hostile.folder, name)
        assert "secret" not in said.replace(str(tmp_path), ""), said
        assert (code, "would run SQL" in said) == ((FAILURE, True) if name == "verify" else (0, False)), (name, said)


def test_names_and_messages_cannot_speak_to_the_terminal(hostile):
    """In JSON they come back as they are, and the text that carries them does not steer it either."""
    hostile.json("version.json", message=ESCAPE + FORGED, author={"name": ESCAPE + FORGED, "email": ESCAPE + FORGED, "time": "2026-10-15T09:00:00Z"})
    hostile.catalog(
        f"UPDATE raw.ducklake_table SET table_name = {text(ESCAPE + FORGED)}", f"UPDATE raw.ducklake_column SET column_name = {text(ESCAPE + FORGED)}",
        f"UPDATE {DATA_FILES} SET path = {text(ESCAPE + '.parquet')}",
    )
    dataset = hostile.path("dataset.json")
    dataset.write_text(dataset.read_text().replace('"t"', json.dumps(ESCAPE + FORGED)).replace('"i"', json.dumps(ESCAPE + FORGED)))
    hostile.prove("dataset.json", "dataset")
    told = "".join(read(hostile, hostile.folder, name)[1] for name in READING)
    assert "[31mred" in told and told.count("?ATTACH 'evil'") > 5
    answer = fdl("show", hostile.folder, "--json")
    assert not STEERS.search(answer.stdout) and answer.json["version"]["message"] == ESCAPE + FORGED
    assert answer.json["dataset"]["tables"][0]["name"] == ESCAPE + FORGED
    (hostile.folder / "refs/heads/main").write_text(ESCAPE)
    for name in READING:
        assert read(hostile, hostile.folder, name)[0] != 0 or name == "verify"


def test_a_record_that_lies_about_its_snapshot_makes_no_work_pass_for_published(hostile):
    """By it, what is written next would count as committed, and be overwritten."""
    last = json.loads(hostile.path("version.json").read_text())["ducklake"]["snapshot_id"]
    for lie in (last + 1, (1 << 63) - 1):
        hostile.record("ducklake", snapshot_id=lie, snapshots=[lie, lie])
        code, said = read(hostile, hostile.folder, "checkout")
        assert code == FAILURE and f"ends with snapshot {last}, version.json says {lie}" in said, said
        assert not list(hostile.here.iterdir())


# ---- what is too much --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fdl.json", "refs.json", "HEAD", "version.json", "dataset.json", "files.json", "expired.json"])
def test_a_giant_or_a_deep_file_is_refused_in_little_memory(hostile, web, name):
    path = hostile.folder / name if name in ("fdl.json", "refs.json", "HEAD") else hostile.path(name)
    ends = 0
    for content in (None, b"[" * 200_000, b'{"a":' * 100_000):
        path.unlink(missing_ok=True)
        if content is None:
            with open(path, "wb") as file:
                file.truncate(1 << 30)
        else:
            path.write_bytes(content)
        for reader, repo in [("verify", hostile.folder)] + [("clone", web)] * (content is not None):
            ends += read(hostile, repo, reader, [(resource.RLIMIT_AS, 2 << 30)])[0] != 0
    assert ends or name == "refs.json"  # which is asked for only where nothing can be listed


def test_more_refs_than_a_reader_takes_are_refused(hostile, web):
    """On a web server, where one file tells them all: some million."""
    refs = ",".join(f'"refs/heads/{number:020}":"{hostile.id}"' for number in range(1_000_000))
    (hostile.folder / "refs.json").write_text(f'{{"default":"refs/heads/main","refs":{{{refs}}}}}')
    code, said = read(hostile, web, "clone")
    assert code != 0 and "refs.json" in said, said
    assert read(hostile, web, "checkout")[0] == 0


@pytest.mark.parametrize("endless", [".duckdb.zst", "ducklake.duckdb", "dataset.json", ".parquet"])
def test_a_file_that_does_not_end_is_not_taken(hostile, web, endless):
    """What its record says comes, and then more: a few pieces on their way are all that is ever held."""
    if endless == "ducklake.duckdb":
        hostile.path("catalogs/ducklake.duckdb.zst").unlink()
    Files.endless = endless
    for name in ("checkout", "clone") if "duckdb" in endless else ("clone",):
        Files.sent = None
        code, said = read(hostile, web, name)
        assert Files.sent is not None and Files.sent < Files.ENOUGH // 4, "it was read on"
        assert code == (0 if endless == ".duckdb.zst" else FAILURE) and endless in said and "larger than" in said, said
        assert sum(path.stat().st_size for path in hostile.here.rglob("*") if path.is_file()) < 16 << 20


def test_a_packed_catalog_is_no_bomb(hostile, web):
    """64 KiB that stand for 2 GiB, under a record that says just that."""
    packed = hostile.path("catalogs/ducklake.duckdb.zst")
    blocks = [(131072 << 3 | 2 | (number == 16383)).to_bytes(3, "little") + b"\0" for number in range(16384)]
    packed.write_bytes(b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(blocks))
    there = {"bytes": packed.stat().st_size, "sha256": hashlib.sha256(packed.read_bytes()).hexdigest()}
    hostile.record("catalog", bytes=2 << 30, sha256="0" * 64, zstd={"path": "catalogs/ducklake.duckdb.zst", **there})
    for name in ("checkout", "clone", "verify", "diff"):
        code, said = read(hostile, web, name, [(resource.RLIMIT_FSIZE, 32 << 20)])
        assert code == FAILURE and "ducklake.duckdb" in said and "damaged" in said, said


def test_history_that_runs_in_a_circle_ends(hostile):
    """Each walk has an end: seq falls by one from version to version."""
    first = hostile.parent()
    path = hostile.folder / "versions" / first / "version.json"
    for seq in (1, 3):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"parents": [hostile.id], "seq": seq}))
        for name in READING:
            code, said = read(hostile, hostile.folder, name)
            assert code != 0 or name in ("checkout", "clone", "show", "diff", "rows"), (name, said)
        for args in (("diff", hostile.folder, "main~9", "main"), ("gc", hostile.folder, "--dry-run"), ("checkout", hostile.folder, hostile.here / "x", "--ref", "main~9")):
            assert fdl(*args, code=None).code in range(0, 20), args
