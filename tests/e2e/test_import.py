"""init --from: a DuckLake that somebody has becomes the first version of a repository, and is only read."""

import hashlib

import pytest

from harness import CONFLICT, NOT_FOUND, REFUSED, Lake, Repo, duck, edit, fdl, text


class Own:
    """Somebody's DuckLake: a catalog, in a file of one of the two kinds, and a folder of data beside it."""

    def __init__(self, folder, kind):
        self.folder = folder / "own"
        self.folder.mkdir()
        self.catalog = self.folder / ("meta.ducklake" if kind == "duckdb" else "meta.sqlite")
        self.attach = f"ATTACH 'ducklake:{kind + ':' if kind == 'sqlite' else ''}{self.catalog}' AS lake (DATA_PATH {text(self.folder / 'files')})"

    def run(self, *statements):
        with duck(self.attach) as con:
            return [con.execute(statement).fetchall() for statement in statements][-1]

    def bytes(self):
        return {path.relative_to(self.folder): hashlib.sha256(path.read_bytes()).digest() for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(params=["duckdb", "sqlite"])
def own(request, tmp_path):
    """One with a past: ended tables and columns, deletes, an update, odd names, a view, inlined rows that were flushed."""
    made = Own(tmp_path, request.param)
    made.run(
        "CREATE TABLE lake.t AS SELECT range AS i, 'x' || range AS s FROM range(1000)",
        "CREATE TABLE lake.gone AS SELECT 1 AS one",
        "INSERT INTO lake.t VALUES (1000, 'small')",
        "DELETE FROM lake.t WHERE i % 10 = 3",
        "UPDATE lake.t SET s = 'changed' WHERE i < 50",
        "ALTER TABLE lake.t ADD COLUMN d DATE",
        "ALTER TABLE lake.t RENAME COLUMN s TO words",
        "COMMENT ON TABLE lake.t IS 'numbers'",
        "DROP TABLE lake.gone",
        "CREATE SCHEMA lake.\"odd %20 名\"",
        "CREATE TABLE lake.\"odd %20 名\".\"a'b\" AS SELECT 7 AS \"select\"",
        "CREATE VIEW lake.v AS SELECT count(*) AS n FROM lake.t",
        "CALL ducklake_flush_inlined_data('lake')",
    )
    return made


ROWS = ["SELECT * FROM lake.t ORDER BY ALL", "SELECT * FROM lake.\"odd %20 名\".\"a'b\"", "SELECT * FROM lake.v"]


def test_a_ducklake_becomes_the_first_version_and_is_worked_on(own, tmp_path):
    before = own.bytes()
    wanted = [own.run(sql) for sql in ROWS]
    repo = tmp_path / "repo"
    said = fdl("init", repo, "--from", own.catalog, "-m", "moved", "--url", "https://data.example.org/lake")
    assert said.stdout.startswith(f"made the repository '{repo}/'\nrefs/heads/main -> ".replace("refs/heads/", "")), said
    assert own.bytes() == before

    lake = Lake.__new__(Lake)
    lake.folder, lake.work, lake.repo = tmp_path, tmp_path / "work.sqlite", Repo(repo)
    head = lake.repo.head()
    assert lake.repo.versions() == [head] and lake.repo.record(head)["message"] == "moved"
    assert [lake.repo.read(sql) for sql in ROWS] == wanted
    tables = {table["name"]: table for table in lake.repo.dataset(head)["tables"]}
    assert tables["t"]["rows"] == len(wanted[0]) and tables["t"]["comment"] == "numbers" and "gone" not in tables
    fdl("verify", repo, "--all", "--data")
    assert fdl("init", repo, "--from", own.catalog, code=CONFLICT).complaint.endswith("to import into")

    lake.checkout()
    lake.write("INSERT INTO lake.t VALUES (5000, 'later', DATE '2026-02-02')", "DELETE FROM lake.t WHERE i = 0")
    lake.commit("--push")
    assert lake.repo.read("SELECT count(*), max(i) FROM lake.t") == [(len(wanted[0]), 5000)]
    assert [lake.repo.read(sql, "HEAD~1") for sql in ROWS] == wanted


def test_what_cannot_be_published_is_said_before_anything_is_made(own, tmp_path):
    repo = tmp_path / "repo"
    own.run("INSERT INTO lake.t VALUES (1, 'inlined', NULL)")
    assert "ducklake_flush_inlined_data" in fdl("init", repo, "--from", own.catalog, code=REFUSED).complaint
    own.run("CALL ducklake_flush_inlined_data('lake')")
    outside = tmp_path / "outside.parquet"
    with duck() as con:
        con.execute(f"COPY (SELECT 1::BIGINT AS i, 'x' AS words, NULL::DATE AS d) TO {text(outside)}")
    own.run(f"CALL ducklake_add_data_files('lake', 't', {text(outside)})")
    assert "outside.parquet" in fdl("init", repo, "--from", own.catalog, code=REFUSED).complaint
    assert not repo.exists()


@pytest.mark.parametrize("own", ["sqlite"], indirect=True)
def test_a_file_that_is_missing_stops_it_and_it_goes_on_when_it_is_back(own, tmp_path):
    repo = tmp_path / "repo"
    (lost, *_) = sorted((own.folder / "files" / "main" / "t").glob("*.parquet"))
    lost.rename(tmp_path / "lost")
    assert lost.name in fdl("init", repo, "--from", own.catalog, code=NOT_FOUND).complaint
    (tmp_path / "lost").rename(lost)
    fdl("init", repo, "--from", own.catalog)
    assert Repo(repo).read(ROWS[0]) == own.run(ROWS[0])


def test_what_is_no_ducklake_is_told(tmp_path):
    other = tmp_path / "other"
    fdl("init", tmp_path / "repo", "--from", other, code=NOT_FOUND)
    other.write_bytes(b"x" * 100)
    assert "is not a DuckLake catalog" in fdl("init", tmp_path / "repo", "--from", other, code=REFUSED).complaint
    with duck() as con:
        con.execute(f"ATTACH {text(tmp_path / 'plain.duckdb')} AS plain")
        con.execute("CREATE TABLE plain.t (i INTEGER)")
    assert "is not a DuckLake catalog" in fdl("init", tmp_path / "repo", "--from", tmp_path / "plain.duckdb", code=REFUSED).complaint
    edit(tmp_path / "plain.sqlite", "CREATE TABLE t (i)")
    fdl("init", tmp_path / "repo", "--from", tmp_path / "plain.sqlite", code=REFUSED)
    assert not (tmp_path / "repo").exists()
