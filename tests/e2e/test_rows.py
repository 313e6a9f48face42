"""A commit recognises the same rows, however they lie in files."""

import os
import re

import pytest
from harness import ROOT, fdl, traced

ROWS = 20_000
A_TABLE = f"""CREATE TABLE lake.t AS SELECT range AS i, (range % 7)::INT AS k, 'name ' || (range % 100) AS s,
    CASE WHEN range % 5 > 0 THEN range / 3 END AS f FROM range({ROWS})"""
REBUILT = ["CREATE TEMP TABLE kept AS FROM lake.t", "DELETE FROM lake.t"]


def rebuilt(query="FROM kept ORDER BY hash(kept)"):
    """Statements that write a table's rows again, into other files."""
    return [*REBUILT, f"INSERT INTO lake.t {query}"]


def makes_version(lake, *options):
    """Whether a commit made a version; the reason it gives with -v must not hold a warning."""
    answer = lake.commit(*options, "--json", "-v")
    assert "warning" not in answer.stderr.lower(), answer
    return answer.json["made"]


@pytest.fixture
def big(lake):
    lake.publish(A_TABLE)
    return lake


def test_rows_written_again_in_another_order_make_no_version(big):
    head = big.repo.head()
    big.write(*rebuilt())
    assert not makes_version(big)
    assert big.pending() == []
    assert "nothing to commit" in big.commit().stdout
    big.push()
    assert big.repo.head() == head


def test_after_a_commit_that_made_no_version_a_change_makes_one(big):
    big.write(*rebuilt())
    assert not makes_version(big)
    big.write("UPDATE lake.t SET s = 'other' WHERE i = 5")
    assert makes_version(big)
    big.push()
    assert big.repo.read("SELECT count(*), count(*) FILTER (s = 'other') FROM lake.t") == [(ROWS, 1)]


@pytest.mark.parametrize(
    "query",
    [
        "FROM kept UNION ALL FROM kept WHERE i = 7",
        "FROM kept WHERE i <> 8 UNION ALL FROM kept WHERE i = 7",
        "SELECT i, k, s, CASE WHEN i <> 9 THEN f END FROM kept",
        "SELECT i, k, CASE WHEN i = 9 THEN 'NULL' ELSE s END, f FROM kept",
        "SELECT i, k, s, nextafter(f, 1e9) FROM kept WHERE i = 11 UNION ALL FROM kept WHERE i <> 11",
    ],
    ids=["a row more", "another row twice", "a NULL", "another text", "the next number"],
)
def test_rows_that_differ_make_one(big, query):
    big.write(*rebuilt(query))
    assert makes_version(big)


def test_another_type_makes_one(big):
    big.write("ALTER TABLE lake.t ALTER k TYPE BIGINT", *rebuilt())
    assert makes_version(big)


def test_a_comment_makes_one(big):
    big.write(*rebuilt(), "COMMENT ON COLUMN lake.t.s IS 'a name'")
    assert makes_version(big)


def test_allow_empty_makes_one(big):
    big.write(*rebuilt())
    assert makes_version(big, "--allow-empty")


VALUES = [
    ("VARCHAR", "NULL", "'NULL'"),
    ("VARCHAR", "''", "NULL"),
    ("DOUBLE", "0.0::DOUBLE", "-0.0::DOUBLE"),
    ("DOUBLE", "'nan'::DOUBLE", "NULL"),
    ("FLOAT", "'nan'::FLOAT", "'inf'::FLOAT"),
    ("INTERVAL", "INTERVAL 1 MONTH", "INTERVAL 30 DAYS"),
    ("TIMETZ", "'12:00:00+00'::TIMETZ", "'12:00:00+01'::TIMETZ"),
    ("BLOB", r"'\x00a'::BLOB", r"'\x00b'::BLOB"),
    ("DECIMAL(30, 3)", "1.001", "1.002"),
    ("TIMESTAMP_NS", "'2020-01-01 00:00:00.000000001'", "'2020-01-01 00:00:00.000000002'"),
    ("TIMESTAMPTZ", "'2020-01-01 00:00:00+00'", "'2020-01-01 00:00:01+00'"),
    ("VARCHAR[]", "[NULL]", "['NULL']"),
    ("VARCHAR[]", "[NULL]", "[]"),
    ("VARCHAR[]", "[]", "NULL"),
    ("VARCHAR[]", "['a, b']", "['a', 'b']"),
    ("VARCHAR[][]", "[['a'], ['b']]", "[['a', 'b']]"),
    ("DOUBLE[]", "[0.0]", "[-0.0::DOUBLE]"),
    ("INTERVAL[]", "[INTERVAL 1 MONTH]", "[INTERVAL 30 DAYS]"),
    ("STRUCT(a VARCHAR, b INT)", "{'a': NULL, 'b': NULL}", "NULL"),
    ("STRUCT(a VARCHAR, b INT)", "{'a': 'NULL', 'b': 1}", "{'a': NULL, 'b': 1}"),
    ("MAP(VARCHAR, INT)", "MAP {'a': 1}", "MAP {'a': NULL}"),
    ("MAP(VARCHAR, INT)", "MAP {'a': 1, 'b': 2}", "MAP {'b': 2, 'a': 1}"),
    ("VARIANT", "1::VARIANT", "'1'::VARIANT"),
    ("VARIANT", "{'a': 1}::VARIANT", "{'a': '1'}::VARIANT"),
    ("VARIANT", "{'a': NULL}::VARIANT", "NULL"),
    ("VARIANT", "[1::TINYINT]::VARIANT", "[1::INT]::VARIANT"),
]


def test_a_value_is_itself_alone(lake):
    """A table for each pair of values that are hard to tell apart: written again it is the same, with one for the other not."""
    with lake.writer() as con:

        def write(number, *values):
            con.execute(f"DELETE FROM lake.t{number}")
            con.execute(f"INSERT INTO lake.t{number} VALUES " + ", ".join(f"({i}, {value})" for i, value in values))

        for number, (kind, one, other) in enumerate(VALUES):
            con.execute(f"CREATE TABLE lake.t{number} (i INT, v {kind})")
            write(number, (1, one), (2, other), (3, one))
        lake.commit("--push")
        for number, (kind, one, other) in enumerate(VALUES):
            write(number, (3, one), (2, other), (1, one))
        assert not makes_version(lake)
        for number, (kind, one, other) in enumerate(VALUES):
            write(number, (1, one), (2, one), (3, one))
        lake.commit("--push")
    changed = fdl("diff", lake.repo.address, "main~1", "main", "--rows", "--json").json["tables"]
    assert len(changed) == len(VALUES)
    for table in changed:
        rows = [(row["more"], row["values"][0]) for row in table["rows"]]
        assert sorted(rows) == [(-1, "2"), (1, "2")], (table, VALUES[int(table["name"][1:])])


def test_columns_may_be_called_anything(lake):
    table = 'lake."a ""t"" @#"'
    lake.publish(
        f'CREATE TABLE {table} AS SELECT range AS side, range AS k0, 1 AS "?", 2.5::DOUBLE AS "x""y" FROM range(9)'
    )
    lake.write(
        f"CREATE TEMP TABLE kept AS FROM {table}",
        f"DELETE FROM {table}",
        f"INSERT INTO {table} FROM kept ORDER BY side DESC",
    )
    assert not makes_version(lake)
    lake.write(f"UPDATE {table} SET \"?\" = 2 WHERE side = 3")
    assert makes_version(lake)


def test_rows_deleted_and_files_without_them_are_the_same(lake):
    lake.publish(A_TABLE, "DELETE FROM lake.t WHERE i % 10 = 3")
    lake.write("CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)")
    assert lake.read("SELECT count(*) FROM ducklake_list_files('lake', 't') WHERE delete_file IS NOT NULL") == [(0,)]
    assert not makes_version(lake)


def test_files_merged_are_the_same(lake):
    lake.publish("CREATE TABLE lake.t (i INT)", *(f"INSERT INTO lake.t VALUES ({i}), (NULL)" for i in range(12)))
    lake.write("CALL ducklake_merge_adjacent_files('lake')")
    assert not makes_version(lake)


def test_a_table_made_again_is_the_same_and_a_column_added_before_too(lake):
    lake.publish(
        "CREATE TABLE lake.t AS SELECT range AS i FROM range(10)",
        "ALTER TABLE lake.t ADD COLUMN j INT DEFAULT 5",
        "INSERT INTO lake.t VALUES (10, 6)",
    )
    lake.write(*rebuilt())
    assert not makes_version(lake)


def test_partitions_laid_out_anew_are_the_same(lake):
    lake.publish(
        "CREATE TABLE lake.t (k INT, v INT)",
        "ALTER TABLE lake.t SET PARTITIONED BY (k)",
        "INSERT INTO lake.t SELECT range % 4, range FROM range(100)",
    )
    lake.write(*rebuilt())
    assert not makes_version(lake)


def opened(trace):
    """The data files that a run opened, by name."""
    names = re.findall(r'open(?:at)?\([^"]*"([^"]*\.parquet)"', trace)
    return {name.rsplit("/", 1)[1] for name in names}


def test_only_what_was_rewritten_is_read(lake):
    """A thousand files, of which one is written again."""
    lake.publish(
        "CREATE TABLE lake.t (k INT, v INT)",
        "ALTER TABLE lake.t SET PARTITIONED BY (k)",
        "INSERT INTO lake.t SELECT range % 1000, range FROM range(3000)",
    )
    before = set(lake.repo.data_files())
    assert len(before) == 1000
    lake.write(
        "CREATE TEMP TABLE kept AS FROM lake.t WHERE k = 77",
        "DELETE FROM lake.t WHERE k = 77",
        "INSERT INTO lake.t FROM kept ORDER BY v DESC",
    )
    answer, trace = traced(["-etrace=open,openat", "-s4096"], "commit", lake.work, "-m", "again", "--json", env={})
    assert answer.code == 0 and not answer.json["made"], answer
    new = {name.rsplit("/", 1)[1] for name in set(lake.repo.data_files()) - before}
    read = opened(trace)
    assert len(new) == 1 and new <= read and len(read) == 2, (new, read)


def test_a_file_that_cannot_be_read_makes_a_version_and_a_warning(big):
    big.write(*rebuilt())
    [(old,)] = big.repo.frozen(big.repo.head(), "SELECT 'main/t/' || path FROM raw.ducklake_data_file")
    path = big.repo.data / old
    path.write_bytes(b"x" * path.stat().st_size)
    answer = big.commit("--json")
    assert answer.json["made"]
    assert "rows cannot be compared" in answer.stderr


def test_without_the_extension_there_is_a_version_and_a_warning(big, tmp_path):
    big.write(*rebuilt())
    home = tmp_path / "home"
    home.mkdir()
    library = tmp_path / "lib" / "libduckdb.so"  # with no extensions beside it
    library.parent.mkdir()
    library.symlink_to(os.environ.get("FDL_LIBDUCKDB", ROOT / "build" / "deps" / "libduckdb.so"))
    answer = big.commit("--json", env={"HOME": home, "FDL_LIBDUCKDB": library, "FDL_EXTENSIONS": None})
    assert answer.json["made"]
    assert "rows cannot be compared" in answer.stderr and "ducklake" in answer.stderr


def test_nothing_stays_behind(big):
    big.write(*rebuilt())
    before = big.repo.contents()
    assert not makes_version(big)
    assert big.repo.contents() == before
    assert not (big.state / "new").exists()
