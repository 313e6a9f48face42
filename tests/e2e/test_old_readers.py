"""One version, read by DuckDB 1.4.4, 1.5.0 and 1.5.5, each through the catalog that the version carries for it.

`make check` installs the older two below build/readers; FDL_READERS names another folder. FDL_SEEDS runs that many random
histories (2), FDL_SEED one again.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from harness import FAILURE, NOT_FOUND, OK, ROOT, USAGE, Lake, duck, extension_directory, fdl
from statements import Author
from test_types import TYPES, rows_of

READERS = Path(os.environ.get("FDL_READERS", ROOT / "build" / "readers"))
OLD = {"1.4.4": "0.3", "1.5.0": "0.4"}
SEEDS = [int(os.environ["FDL_SEED"])] if "FDL_SEED" in os.environ else range(1, 1 + int(os.environ.get("FDL_SEEDS", "2")))


# ---- readers ---------------------------------------------------------------------------------------------------------


def see(release, attach, snapshots=()):
    """All that a DuckDB of that release sees through a printed statement."""
    environment = dict(os.environ)
    folder = Path(extension_directory())
    if release in OLD:
        folder = READERS / release
        environment["PYTHONPATH"] = str(folder)
    found = sorted(folder.glob(f"**/v{release}/**/ducklake.duckdb_extension"))
    assert found, f"no DuckDB {release} in {folder}: run tools/setup check"
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("reader.py")), str(found[0])],
        input=json.dumps([{"attach": attach, "snapshots": list(snapshots)}]),
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, f"DuckDB {release}: {done.stderr}"
    return json.loads(done.stdout)[0]


def assert_read_alike(lake, releases=tuple(OLD), snapshots=()):
    """Every release sees in its own catalog what 1.5.5 sees in the main one."""
    newest = see("1.5.5", fdl("attach", lake.repo.address, "--duckdb", "1.5.5").attach, snapshots)
    assert newest["tables"] and not any(row == ["IOException"] for row in newest["tables"])
    for release in releases:
        old = see(release, fdl("attach", lake.repo.address, "--duckdb", release).attach, snapshots)
        for key in newest.keys() | old.keys():
            assert old.get(key) == newest.get(key), f"DuckDB {release}: {key}"


def ask_for(repo, *formats):
    """What a publisher does: writes the formats into fdl.json."""
    config = repo.config()
    config["catalog_formats"] = [format if isinstance(format, dict) else {"ducklake": format} for format in formats]
    repo.path("fdl.json").write_text(json.dumps(config))


def carried(repo, version=None):
    return [entry["ducklake"] for entry in repo.record(version or repo.head()).get("catalogs", [])]


@pytest.fixture
def lake(tmp_path):
    made = Lake(tmp_path)
    ask_for(made.repo, "0.3", "0.4")
    made.checkout()
    return made


# ---- the same rows -----------------------------------------------------------------------------------------------------

EVERYDAY = [
    "CREATE TABLE lake.plain AS SELECT range::INT AS i, 'x' || range AS s FROM range(100)",
    "DELETE FROM lake.plain WHERE i < 10",
    "DELETE FROM lake.plain WHERE i > 95",
    "UPDATE lake.plain SET s = 'it''s' WHERE i % 7 = 0",
    "INSERT INTO lake.plain VALUES (1000, NULL)",
    "COMMENT ON TABLE lake.plain IS 'it''s; a comment'",
    # renamed, added, dropped and widened columns, with and without defaults
    "CREATE TABLE lake.columns (a INTEGER, b VARCHAR, w TINYINT)",
    "INSERT INTO lake.columns SELECT range, 'b' || range, range FROM range(10)",
    "ALTER TABLE lake.columns RENAME COLUMN a TO c",
    "ALTER TABLE lake.columns ADD COLUMN n INTEGER DEFAULT 7",
    "ALTER TABLE lake.columns ADD COLUMN m VARCHAR DEFAULT 'it''s'",
    "ALTER TABLE lake.columns ADD COLUMN d DATE DEFAULT '2026-01-02'",
    "ALTER TABLE lake.columns ALTER w TYPE BIGINT",
    "INSERT INTO lake.columns (c, n) VALUES (100, 8), (101, NULL)",
    "ALTER TABLE lake.columns DROP COLUMN b",
    "ALTER TABLE lake.columns ADD COLUMN b DATE",
    "ALTER TABLE lake.columns RENAME TO renamed",
    "CREATE TABLE lake.defaults (i INT NOT NULL DEFAULT 3, s VARCHAR DEFAULT 'x', e VARCHAR DEFAULT '', b BOOLEAN DEFAULT true,"
    " f BOOLEAN DEFAULT false, p DECIMAL(9,2) DEFAULT 1.25, z INT DEFAULT NULL, bl BLOB DEFAULT '\\xFF')",
    "INSERT INTO lake.defaults (i) VALUES (1), (2)",
    # booleans alone in their files: a reader must not skip them
    "CREATE TABLE lake.booleans (b BOOLEAN)",
    "INSERT INTO lake.booleans VALUES (true), (true)",
    "INSERT INTO lake.booleans VALUES (false)",
    "INSERT INTO lake.booleans VALUES (NULL)",
    # partitions, and files of two schemes
    "CREATE TABLE lake.parts (k VARCHAR, i INTEGER, ts TIMESTAMP)",
    "ALTER TABLE lake.parts SET PARTITIONED BY (k)",
    "INSERT INTO lake.parts SELECT 'ü/' || range % 3, range, TIMESTAMP '2025-01-01' + to_days(range::INT * 20) FROM range(30)",
    "ALTER TABLE lake.parts SET PARTITIONED BY (year(ts), month(ts))",
    "INSERT INTO lake.parts SELECT 'k', range, TIMESTAMP '2025-01-01' + to_days(range::INT * 20) FROM range(5)",
    "DELETE FROM lake.parts WHERE i % 7 = 3",
    # nested types that changed inside
    "CREATE TABLE lake.nested (i INTEGER, s STRUCT(a INTEGER, b STRUCT(c INTEGER, d VARCHAR)), l VARCHAR[][],"
    " m MAP(INTEGER, STRUCT(x DATE[])[]))",
    "INSERT INTO lake.nested SELECT range, {'a': range, 'b': {'c': 1, 'd': 'd'}}, [['a', NULL], [], NULL],"
    " MAP {1: [{'x': ['2026-10-15'::DATE, NULL]}]} FROM range(5)",
    "ALTER TABLE lake.nested RENAME s.a TO z",
    "ALTER TABLE lake.nested DROP COLUMN s.b.c",
    "ALTER TABLE lake.nested ADD COLUMN s.a VARCHAR DEFAULT 'new'",
    "INSERT INTO lake.nested SELECT 9, {'z': 1, 'b': {'d': 'e'}, 'a': 'x'}, NULL, NULL",
    # files that were merged and rewritten, and one that DuckLake did not write
    "CREATE TABLE lake.merged (i INT)",
    "INSERT INTO lake.merged SELECT range FROM range(10)",
    "INSERT INTO lake.merged SELECT range FROM range(10, 20)",
    "CALL ducklake_merge_adjacent_files('lake')",
    "DELETE FROM lake.merged WHERE i % 4 = 0",
    "CREATE TABLE lake.rewritten AS SELECT range::INT AS i FROM range(100)",
    "DELETE FROM lake.rewritten WHERE i < 60",
    "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    # views, by every way to name a table
    "CREATE SCHEMA lake.s",
    'CREATE TABLE lake.s."o d" AS SELECT 5 AS q',
    "CREATE VIEW lake.big AS SELECT i FROM lake.plain WHERE i > 50",
    "CREATE VIEW lake.named (x, y) AS SELECT i, i * 2 FROM plain",
    'CREATE VIEW lake.s.v AS SELECT q FROM lake.s."o d"',
    "CREATE VIEW lake.qualified AS SELECT lake.plain.i, lake.main.plain.s FROM lake.main.plain",
    "CREATE VIEW lake.of_view AS WITH t AS (SELECT * FROM lake.big) SELECT count(*) AS n FROM t JOIN lake.plain USING (i)",
    "COMMENT ON VIEW lake.big IS 'big ones'",
]


def test_what_people_do_every_day_reads_alike(lake):
    lake.publish(*EVERYDAY)
    assert carried(lake.repo) == ["0.3", "0.4"]
    assert_read_alike(lake)
    fdl("verify", lake.repo.address, "--all", "--data")


def test_every_type_reads_alike(lake):
    """All that 1.4 knows; GEOMETRY and VARIANT are the next test's."""
    statements = []
    for number, kind in enumerate(kind for kind in TYPES if kind not in ("GEOMETRY", "VARIANT")):
        table = f"lake.t{number}"
        statements += [f"CREATE TABLE {table} (id INTEGER, v {kind})", f"INSERT INTO {table} {rows_of(kind)}"]
        statements += [f"DELETE FROM {table} WHERE id = 1", f"ALTER TABLE {table} ADD COLUMN w {kind}"]
    lake.publish(*statements)
    assert carried(lake.repo) == ["0.3", "0.4"]
    assert_read_alike(lake)


@pytest.mark.parametrize("kind", ["GEOMETRY", "VARIANT"])
def test_a_type_that_1_4_does_not_know_reads_alike_in_1_5_0(lake, kind):
    lake.write(f"CREATE TABLE lake.t (id INTEGER, v {kind})", f"INSERT INTO lake.t {rows_of(kind)}")
    said = lake.commit().stderr
    assert f"carries no 'catalogs/0.3.duckdb': DuckLake 0.3 cannot say the type '{kind.lower()}' of column 'main.t.v'" in said
    lake.push()
    assert carried(lake.repo) == ["0.4"]
    assert_read_alike(lake, releases=["1.5.0"])


def test_kept_snapshots_read_alike(lake):
    lake.write(
        "CREATE TABLE lake.t (i INT)",
        "INSERT INTO lake.t SELECT range FROM range(10)",
        "INSERT INTO lake.t SELECT range FROM range(10, 20)",
        "CALL ducklake_merge_adjacent_files('lake')",
        "ALTER TABLE lake.t ADD COLUMN n INT DEFAULT 4",
        "DELETE FROM lake.t WHERE i % 4 = 0",
        "INSERT INTO lake.t VALUES (99, 1)",
        "UPDATE lake.t SET n = 5 WHERE i = 99",
    )
    lake.commit("--keep-snapshots")
    lake.push()
    assert carried(lake.repo) == ["0.3", "0.4"]
    assert_read_alike(lake, snapshots=range(1, 9))
    fdl("verify", lake.repo.address)


def test_kept_snapshots_with_a_second_delete_in_a_file_read_alike_in_1_5_0(lake):
    """Both deletes are in one delete file then, and 1.4 would take both for the first."""
    lake.write("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)", *(f"DELETE FROM lake.t WHERE i = {i}" for i in (3, 5)))
    said = lake.commit("--keep-snapshots").stderr
    assert "DuckLake 0.3 cannot say deletes of several snapshots in one file of table 'main.t'" in said
    lake.push()
    assert_read_alike(lake, releases=["1.5.0"], snapshots=range(1, 4))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_histories_read_alike(lake, seed):
    chance = random.Random(seed)
    told = []
    with lake.writer() as con:
        author = Author(chance, con, lambda folder: (lake.repo.data / folder).mkdir(parents=True, exist_ok=True))
        author.deeds = [deed for deed in author.deeds if deed.__name__ not in ("macro", "sort", "checkpoint")]
        for _ in range(50):
            for statement in author.next():
                statement = statement.replace("{data}", f"{lake.repo.data}/")
                if "write_deletion_vectors" in statement or "bucket(" in statement or "VIEW" in statement:
                    continue
                told.append(statement)
                try:
                    con.execute(statement).fetchall()
                except Exception:
                    told[-1] = f"-- {statement}"
                    try:
                        con.execute("ROLLBACK")
                    except Exception:
                        pass
        con.execute("CREATE TABLE lake.always AS SELECT 1 AS one")
    print(f"\nFDL_SEED={seed}\n" + ";\n".join(told))
    lake.commit()
    lake.push()
    assert carried(lake.repo) == ["0.3", "0.4"]
    assert_read_alike(lake)


# ---- what an older format cannot say ----------------------------------------------------------------------------------

CANNOT_SAY = {
    "macro": (["CREATE MACRO lake.plus(x) AS x + 1"], {"0.3": "the macro 'main.plus'"}),
    "sort key": (["ALTER TABLE lake.t SET SORTED BY (i DESC)"], {"0.3": "the sort key of table 'main.t'"}),
    "default": (
        ["CREATE TABLE lake.d (i INT, made TIMESTAMP DEFAULT now())"],
        {"0.3": "the default 'now()' of column 'main.d.made'"},
    ),
    "partition key": (
        ["ALTER TABLE lake.t SET PARTITIONED BY (bucket(4, i))"],
        {"0.3": "the partition key 'bucket(4)' of table 'main.t'", "0.4": "the partition key 'bucket(4)' of table 'main.t'"},
    ),
    "deletion vector": (
        ["CALL ducklake_set_option('lake', 'write_deletion_vectors', true)", "DELETE FROM lake.t WHERE i < 3"],
        {"0.3": "the deletes of table 'main.t' in the form 'puffin'", "0.4": "the deletes of table 'main.t' in the form 'puffin'"},
    ),
    "view": (
        ["CREATE VIEW lake.v AS SELECT '{DUCKLAKE_CATALOG}' AS s, i FROM lake.t"],
        {"0.3": "the view 'main.v'", "0.4": "the view 'main.v'"},
    ),
}


@pytest.mark.parametrize("thing", CANNOT_SAY)
def test_a_format_that_cannot_say_a_thing_is_left_out_and_the_thing_named(lake, thing):
    statements, said = CANNOT_SAY[thing]
    lake.write("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)", *statements)
    answer = lake.commit()
    for format, what in said.items():
        line = f"fdl: warning: the version carries no 'catalogs/{format}.duckdb': DuckLake {format} cannot say {what}"
        assert line in answer.stderr
    lake.push()
    assert carried(lake.repo) == [format for format in ("0.3", "0.4") if format not in said]
    version = lake.repo.version_file(lake.repo.head(), "catalogs")
    assert sorted(path.name for path in version.glob("*")) == [
        *(f"{format}.duckdb" for format in carried(lake.repo)),
        "ducklake.duckdb.zst",
    ]
    assert_read_alike(lake, releases=[release for release, format in OLD.items() if format not in said])


# ---- which formats -----------------------------------------------------------------------------------------------------


def test_a_repository_that_asks_for_nothing_carries_the_main_catalog_alone(tmp_path):
    lake = Lake(tmp_path)
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    assert "catalogs" not in lake.repo.record(lake.repo.head())
    assert [path.name for path in lake.repo.version_file(lake.repo.head(), "catalogs").iterdir()] == ["ducklake.duckdb.zst"]


def test_the_main_format_is_never_carried_twice_and_no_format_is(lake):
    ask_for(lake.repo, "1.0", "0.4", "0.4")
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    assert carried(lake.repo) == ["0.4"]


def test_a_format_ends_with_its_last_day(lake):
    ask_for(lake.repo, {"ducklake": "0.3", "until": "2020-01-31"}, {"ducklake": "0.4", "until": "2999-01-31"})
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    assert carried(lake.repo) == ["0.4"]


def test_a_format_that_fdl_cannot_write_is_a_warning(lake):
    ask_for(lake.repo, "0.2", "0.4", "7.0")
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
    said = lake.commit().stderr
    assert "'0.2', which this fdl cannot write" in said and "'7.0', which this fdl cannot write" in said
    lake.push()
    assert carried(lake.repo) == ["0.4"]


def test_a_broken_list_of_formats_stops_commit_and_no_reader(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    ask_for(lake.repo, {"ducklake": "0.3", "until": "soon"})
    lake.write("INSERT INTO lake.t VALUES (2)")
    assert "until 'soon' must be a day" in lake.commit(code=FAILURE).complaint
    assert lake.repo.read("FROM lake.t") == [(1,)]


def test_the_record_tells_of_each_catalog_what_it_is(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    version = lake.repo.head()
    for entry, storage in zip(lake.repo.record(version)["catalogs"], ["duckdb-v1.0.0", "duckdb-v1.5.0"]):
        path = lake.repo.version_file(version, entry["path"])
        assert entry["path"] == f"catalogs/{entry['ducklake']}.duckdb" and entry["storage"] == storage
        assert entry["bytes"] == path.stat().st_size
        assert entry["sha256"] == sha256(path.read_bytes()).hexdigest()


# ---- attach ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, path",
    [
        ("1.4", "catalogs/0.3.duckdb"),
        ("1.4.0", "catalogs/0.3.duckdb"),
        ("v1.4.4", "catalogs/0.3.duckdb"),
        ("1.5.0", "catalogs/0.4.duckdb"),
        ("1.5.1", "catalogs/0.4.duckdb"),
        ("1.5.2", "ducklake.duckdb"),
        ("1.5.5", "ducklake.duckdb"),
        ("1.5", "ducklake.duckdb"),
    ],
)
def test_attach_chooses_the_catalog_for_a_release(lake, release, path):
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    said = fdl("attach", lake.repo.address, "--duckdb", release, "--json").json
    assert said["url"] == str(lake.repo.version_file(lake.repo.head(), path))
    assert said["url"] in said["attach"]


def test_attach_without_a_catalog_for_the_release_names_those_there_are(lake):
    ask_for(lake.repo, "0.4")
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    complaint = fdl("attach", lake.repo.address, "--duckdb", "1.4", code=NOT_FOUND).complaint
    assert "DuckDB '1.4', which reads DuckLake 0.3; it has 1.0, 0.4" in complaint


@pytest.mark.parametrize("release", ["", "1", "1.", "1.4.", "1.4.4.4", "1.6", "2.0", "latest", "-1.4"])
def test_attach_for_a_release_nobody_knows_is_a_usage_error(published, release):
    fdl("attach", published.repo.address, f"--duckdb={release}", code=USAGE)


# ---- on the way --------------------------------------------------------------------------------------------------------


def test_clone_takes_all_formats_along(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)")
    lake.publish("DELETE FROM lake.t WHERE i < 3")
    mirror = lake.folder / "mirror"
    fdl("clone", lake.repo.address, mirror)
    fdl("verify", mirror, "--all")
    rows = "rows of " + '"lake"."main"."t"'
    there = see("1.4.4", fdl("attach", mirror, "--duckdb", "1.4").attach)
    assert there[rows] == see("1.4.4", fdl("attach", lake.repo.address, "--duckdb", "1.4").attach)[rows]


def forge(repo, version, change):
    """Changes a version and makes its record agree, as who can write to the store could."""
    record = repo.record(version)
    change(record)
    for entry in [record["catalog"], record["dataset"], record["files"], *record.get("catalogs", [])]:
        data = repo.version_file(version, entry["path"]).read_bytes()
        entry["bytes"], entry["sha256"] = len(data), sha256(data).hexdigest()
    repo.version_file(version).write_text(json.dumps(record))


def test_verify_finds_a_catalog_of_another_format_that_says_something_else(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)")
    first = lake.repo.head()
    lake.publish("DELETE FROM lake.t WHERE i < 3")
    version = lake.repo.head()

    def swap(record):
        shutil.copy(lake.repo.version_file(first, "catalogs/0.3.duckdb"), lake.repo.version_file(version, "catalogs/0.3.duckdb"))

    forge(lake.repo, version, swap)
    findings = fdl("verify", lake.repo.address, "--json", code=FAILURE).json["findings"]
    assert [finding["key"] for finding in findings] == [f"versions/{version}/catalogs/0.3.duckdb"]
    assert "does not say what the main catalog says" in findings[0]["message"]


@pytest.mark.parametrize("rubbish", [b"", b"not a database", b"\0" * 8192])
def test_verify_finds_rubbish_in_the_place_of_a_catalog(lake, rubbish):
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    version = lake.repo.head()
    forge(lake.repo, version, lambda _: lake.repo.version_file(version, "catalogs/0.4.duckdb").write_bytes(rubbish))
    findings = fdl("verify", lake.repo.address, "--json", code=FAILURE).json["findings"]
    assert [finding["key"] for finding in findings] == [f"versions/{version}/catalogs/0.4.duckdb"]


# ---- a version of somebody else whose main format is older -------------------------------------------------------------


def make_main_0_4(repo):
    """The version on main as a publisher with DuckDB 1.5.0 would have it: 0.4 first, and 1.0 beside."""
    version = repo.head()

    def turn(record):
        other = next(entry for entry in record["catalogs"] if entry["ducklake"] == "0.4")
        old, new = repo.version_file(version, other["path"]), repo.version_file(version, "ducklake.duckdb")
        newer = repo.version_file(version, "catalogs/1.0.duckdb")
        repo.version_file(version, record["catalog"].pop("zstd")["path"]).unlink()  # which it need not have
        new.rename(newer)
        old.rename(new)
        record["catalogs"] = [entry for entry in record["catalogs"] if entry is not other]
        record["catalogs"].append({**other, "ducklake": "1.0", "path": "catalogs/1.0.duckdb"})
        record["ducklake"]["format"] = "0.4"

    forge(repo, version, turn)


def test_checkout_of_an_older_main_format_migrates_the_working_copy_only(lake):
    lake.publish(*EVERYDAY)
    make_main_0_4(lake.repo)
    before = lake.repo.contents()
    other = lake.another("other")
    assert lake.repo.contents() == before
    with duck(other.attach) as con:
        version = con.execute("SELECT value FROM __ducklake_metadata_lake.ducklake_metadata WHERE key = 'version'").fetchone()
        assert version == ("1.0",)
        con.execute("INSERT INTO lake.plain VALUES (2000, 'after')")
    other.commit()
    other.push()
    assert lake.repo.record(lake.repo.head())["ducklake"]["format"] == "1.0"
    assert carried(lake.repo) == ["0.3", "0.4"]
    assert {path: hash for path, hash in lake.repo.contents().items() if path in before} | {
        "refs/heads/main": "", "refs.json": ""
    } == before | {"refs/heads/main": "", "refs.json": ""}
    assert_read_alike(lake)
    fdl("verify", lake.repo.address, "--all")


def test_a_version_whose_main_format_is_older_reads_by_every_release(lake):
    lake.publish(*EVERYDAY)
    make_main_0_4(lake.repo)
    assert_read_alike(lake)
    fdl("verify", lake.repo.address)
    complaint = fdl("attach", lake.repo.address, "--duckdb", "1.3", code=NOT_FOUND).complaint
    assert "it has 0.4, 0.3, 1.0" in complaint


def test_an_unchanged_checkout_of_an_older_main_format_is_nothing_to_commit(lake):
    lake.publish(*EVERYDAY)
    make_main_0_4(lake.repo)
    other = lake.another("other")
    other.write("CREATE TABLE lake.gone (i INT)", "DROP TABLE lake.gone")
    assert "nothing to commit" in other.commit(code=OK).stdout
