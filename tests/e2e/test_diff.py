"""What one version has and another has not."""

import re

import pytest
from harness import EXPIRED, NOT_FOUND, USAGE, fdl, traced


@pytest.fixture
def pair(lake):
    """Two versions that differ in all that a catalog can say."""
    lake.publish(
        "CREATE TABLE lake.stays AS SELECT range AS i FROM range(5)",
        "CREATE TABLE lake.goes AS SELECT range AS i FROM range(3)",
        "CREATE TABLE lake.t AS SELECT range::INT AS i, 'a' AS s, 1.5 AS gone FROM range(10)",
        "CREATE VIEW lake.v AS SELECT 1 AS one",
        message="before",
    )
    lake.publish(
        "DROP TABLE lake.goes",
        "CREATE SCHEMA lake.more",
        "CREATE TABLE lake.more.comes AS SELECT range AS i FROM range(4)",
        "ALTER TABLE lake.t ALTER i TYPE BIGINT",
        "ALTER TABLE lake.t ADD COLUMN n VARCHAR",
        "ALTER TABLE lake.t DROP COLUMN gone",
        "INSERT INTO lake.t VALUES (10, 'b', 'new'), (11, 'c', 'new')",
        "DELETE FROM lake.t WHERE i = 3",
        "CREATE OR REPLACE VIEW lake.v AS SELECT 2 AS two",
        "CREATE MACRO lake.plus(a, b) AS a + b",
        "COMMENT ON TABLE lake.stays IS 'it does'",
        message="after",
    )
    return lake


def test_tables_rows_files_and_columns(pair):
    found = fdl("diff", pair.repo.address, "main~1", "main", "--json").json
    assert [found["from"]["seq"], found["to"]["seq"]] == [1, 2]
    tables = {f"{table['schema']}.{table['name']}": table for table in found["tables"]}
    assert sorted(tables) == ["main.goes", "main.stays", "main.t", "more.comes"] or "main.v" in tables
    assert tables["main.goes"]["after"] is None and tables["main.goes"]["before"]["rows"] == 3
    assert tables["more.comes"]["before"] is None and tables["more.comes"]["after"]["rows"] == 4
    assert tables["main.goes"]["files_removed"] == 1 == tables["more.comes"]["files_added"]
    t = tables["main.t"]
    assert (t["before"]["rows"], t["after"]["rows"]) == (10, 11)
    assert (t["files_added"], t["files_removed"]) == (2, 0)
    assert t["bytes_added"] == t["after"]["bytes"] - t["before"]["bytes"] and t["bytes_removed"] == 0
    columns = {column["name"]: column for column in t["columns"]}
    assert sorted(columns) == ["gone", "i", "n"]
    assert (columns["i"]["before"]["type"], columns["i"]["after"]["type"]) == ("INTEGER", "BIGINT")
    assert columns["n"]["before"] is None and columns["gone"]["after"] is None


def test_the_rest_is_told_in_words(pair):
    found = fdl("diff", pair.repo.address, "main~1", "main", "--json").json
    texts = [difference["text"] for difference in found["differences"]]
    assert "view 'main.v' differs" in texts
    assert "macro 'main.plus' was added" in texts
    assert "table 'main.stays': the comment was added" in texts
    assert not [kind for kind in (d["kind"] for d in found["differences"]) if kind.endswith("_file")]


def test_for_people(pair):
    lines = fdl("diff", pair.repo.address, "main~1", "main").stdout.splitlines()
    assert any(re.match(r"- table main\.goes: 3 rows, -1 file", line) for line in lines), lines
    assert any(re.match(r"\+ table more\.comes: 4 rows, \+1 file", line) for line in lines), lines
    assert any(re.match(r"\* table main\.t: 10 -> 11 rows, \+2 files", line) for line in lines), lines
    assert "    * i  INTEGER -> BIGINT" in lines
    assert "    + n  VARCHAR" in lines
    assert "* macro 'main.plus' was added" in lines


def test_backwards_is_the_opposite(pair):
    tables = fdl("diff", pair.repo.address, "main", "main~1", "--json").json["tables"]
    [t] = [table for table in tables if table["name"] == "t"]
    assert (t["files_added"], t["files_removed"]) == (0, 2)
    assert [column["before"] is None for column in t["columns"] if column["name"] == "n"] == [False]


def test_a_version_does_not_differ_from_itself(pair):
    assert fdl("diff", pair.repo.address, "main", "main", "--json").json["tables"] == []
    assert "no difference" in fdl("diff", pair.repo.address, "main", pair.repo.head()).stdout


def test_one_version_is_compared_with_its_parent(pair):
    both = fdl("diff", pair.repo.address, "main~1", "main").stdout
    assert fdl("diff", pair.repo.address, "main").stdout == fdl("diff", pair.repo.address, "HEAD").stdout == both


def test_no_data_file_is_read(pair):
    answer, trace = traced(["-e", "trace=%file", "-s4096"], "diff", pair.repo.address, "main~1", "main")
    assert answer.code == 0 and ".parquet" not in trace


def test_what_is_not_there(pair):
    fdl("diff", pair.repo.address, code=USAGE)
    assert "is the first and has no parent" in fdl("diff", pair.repo.address, "main~1", code=NOT_FOUND).complaint
    fdl("diff", pair.repo.address, "main", "nothing", code=NOT_FOUND)
    pair.repo.version_file(pair.repo.record(pair.repo.head())["parents"][0], "expired.json").write_text(
        '{"expired_at": "2026-12-01T00:00:00Z", "reason": "retention"}'
    )
    fdl("diff", pair.repo.address, "main~1", "main", code=EXPIRED)


def rows_of(repo, *options):
    found = fdl("diff", repo.address, "main~1", "main", "--rows", "--json", *options).json
    return {table["name"]: table.get("rows") for table in found["tables"]}


def test_rows_added_and_removed(lake):
    lake.publish(
        "CREATE TABLE lake.t (i INT, s VARCHAR, f DOUBLE)",
        "INSERT INTO lake.t SELECT range, 'x', '-0.0' FROM range(1000)",
        "INSERT INTO lake.t VALUES (5, NULL, 'nan'), (5, NULL, 'nan'), (6, 'NULL', 1)",
    )
    lake.publish(
        "CREATE TEMP TABLE kept AS FROM lake.t WHERE i <> 7 AND s <> 'NULL'",
        "DELETE FROM lake.t",
        "INSERT INTO lake.t FROM kept ORDER BY hash(i)",
        "INSERT INTO lake.t VALUES (6, NULL, 1), (2000, 'a | b', 2), (2000, 'a | b', 2)",
    )
    rows = rows_of(lake.repo)["t"]
    assert sorted((row["more"], *row["values"]) for row in rows if row["values"][1] is not None) == [
        (-1, "6", "NULL", "1.0"),
        (-1, "7", "x", "-0.0"),
        (2, "2000", "a | b", "2.0"),
    ]
    assert sorted((row["more"], *row["values"]) for row in rows if row["values"][1] is None) == [
        (-2, "5", None, "nan"),
        (1, "6", None, "1.0"),
    ]
    lines = fdl("diff", lake.repo.address, "main~1", "main", "--rows").stdout.splitlines()
    assert "    - 7 | x | -0.0" in lines
    assert "    + 2000 | a | b | 2.0  (2 times)" in lines


def test_rows_are_bounded(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    lake.publish("INSERT INTO lake.t SELECT range FROM range(100, 200)")
    assert len(rows_of(lake.repo)["t"]) == 20
    assert len(rows_of(lake.repo, "-n", "3")["t"]) == 3
    assert len(rows_of(lake.repo, "-n", "1000")["t"]) == 100
    fdl("diff", lake.repo.address, "main~1", "main", "-n", "3", code=USAGE)


def test_rows_of_tables_that_come_go_and_change(pair):
    rows = rows_of(pair.repo)
    assert sorted((row["more"], row["values"]) for row in rows["goes"]) == [(-1, ["0"]), (-1, ["1"]), (-1, ["2"])]
    assert [row["more"] for row in rows["comes"]] == [1] * 4
    assert rows["t"] is None
