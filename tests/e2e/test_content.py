"""What can stand in a lake beside rows: each thing survives commit, push and a new checkout, and can be worked on."""

ODD_NAMES = [
    "it's",
    'say "hi"',
    "a; DROP TABLE x; --",
    "back\\slash",
    "line\nbreak",
    "ünï 表 🦆",
    "%20",
    "select",
    "a.b/c",
    "..",
]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


# ---- names -----------------------------------------------------------------------------------------------------------


def test_odd_names_of_schemas_tables_columns_views_and_macros_are_only_names(twin):
    """A quote, a semicolon or a newline in a name never changes the SQL that runs."""
    for name in ODD_NAMES:
        odd = quoted(name)
        twin.run(
            f"CREATE SCHEMA lake.{odd}",
            f"CREATE TABLE lake.{odd}.{odd} ({odd} INTEGER, s STRUCT({odd} VARCHAR))",
            f"INSERT INTO lake.{odd}.{odd} SELECT range, {{{odd}: 'x'}} FROM range(5)",
            f"DELETE FROM lake.{odd}.{odd} WHERE {odd} = 2",
            f"CREATE VIEW lake.{odd}.{quoted('v ' + name)} AS SELECT {odd} FROM lake.{odd}.{odd}",
            f"CREATE MACRO lake.{odd}.{quoted('m ' + name)}(x) AS x + 1",
            f"COMMENT ON TABLE lake.{odd}.{odd} IS '{name.replace(chr(39), chr(39) * 2)}'",
        )
    twin.compare()
    twin.travel()
    for name in ODD_NAMES:
        odd = quoted(name)
        twin.run(
            f"INSERT INTO lake.{odd}.{odd} SELECT range, {{{odd}: 'y'}} FROM range(3)",
            f"ALTER TABLE lake.{odd}.{odd} RENAME COLUMN {odd} TO {quoted(name + name)}",
            f"ALTER TABLE lake.{odd}.{odd} RENAME TO {quoted(name + ' 2')}",
        )
    twin.run("CALL ducklake_merge_adjacent_files('lake')")
    twin.compare()
    twin.travel()


def test_names_that_differ_by_case_alone_keep_their_case(twin):
    """DuckLake finds names without regard to case and shows them as they were written."""
    twin.run("CREATE SCHEMA lake.Sales", "CREATE TABLE lake.Sales.Items (Id INTEGER, NAME VARCHAR)")
    assert twin.attempt("CREATE TABLE lake.sales.ITEMS (i INTEGER)") != ""
    twin.run("INSERT INTO lake.SALES.items VALUES (1, 'x')")
    twin.travel()
    twin.work_on("lake.sales.items", "name", "SELECT 2 AS id, 'y' AS name")


# ---- schemas, tables, columns ------------------------------------------------------------------------------------------


def test_renamed_tables_and_columns_keep_their_rows(twin):
    twin.run(
        "CREATE TABLE lake.t (a INTEGER, b VARCHAR)",
        "INSERT INTO lake.t SELECT range, 'b' || range FROM range(10)",
        "ALTER TABLE lake.t RENAME COLUMN a TO c",
        "INSERT INTO lake.t SELECT range, 'd' || range FROM range(10)",
        "ALTER TABLE lake.t RENAME TO u",
    )
    twin.travel()
    twin.run("ALTER TABLE lake.u RENAME COLUMN b TO a", "INSERT INTO lake.u VALUES (100, 'new')")
    twin.travel()
    twin.work_on("lake.u", "a", "SELECT 7 AS c, 'x' AS a")


def test_a_column_dropped_and_added_again_does_not_show_old_values(twin):
    """The next column id counts the dropped ones too."""
    twin.run(
        "CREATE TABLE lake.t (a INTEGER, b INTEGER, c INTEGER)",
        "INSERT INTO lake.t SELECT range, range * 10, range * 100 FROM range(10)",
        "ALTER TABLE lake.t DROP COLUMN c",
    )
    twin.travel()
    twin.run("ALTER TABLE lake.t ADD COLUMN c INTEGER", "ALTER TABLE lake.t DROP COLUMN b")
    twin.travel()
    twin.run("ALTER TABLE lake.t ADD COLUMN b VARCHAR DEFAULT 'new'")
    twin.compare()
    twin.work_on("lake.t", "c", "SELECT 1 AS a, 2 AS c, 'x' AS b")


def test_a_table_dropped_and_made_again_holds_only_the_new_rows(twin):
    twin.run("CREATE TABLE lake.t (a INTEGER)", "INSERT INTO lake.t SELECT range FROM range(10)")
    twin.travel()
    twin.run("DROP TABLE lake.t", "CREATE TABLE lake.t (a VARCHAR, z DATE)", "INSERT INTO lake.t VALUES ('x', NULL)")
    twin.travel()
    twin.run("CREATE OR REPLACE TABLE lake.t AS SELECT range::BIGINT AS a, 'y' AS z FROM range(3)")
    twin.travel()
    twin.work_on("lake.t", "z", "SELECT 7 AS a, 'x' AS z")


def test_a_schema_dropped_and_made_again_holds_only_the_new_tables(twin):
    twin.run("CREATE SCHEMA lake.s", "CREATE TABLE lake.s.t AS SELECT 1 AS a", "CREATE TABLE lake.s.u AS SELECT 2 AS a")
    twin.travel()
    twin.run("DROP SCHEMA lake.s CASCADE", "CREATE SCHEMA lake.s", "CREATE TABLE lake.s.t AS SELECT 'new' AS b")
    twin.travel()
    twin.work_on("lake.s.t", "b", "SELECT 'more' AS b")


def test_dropped_tables_and_schemas_leave_nothing_behind_in_the_catalog(twin):
    twin.run("CREATE SCHEMA lake.s", "CREATE TABLE lake.s.t AS SELECT 1 AS a", "CREATE TABLE lake.keep AS SELECT 1 AS a")
    twin.travel()
    twin.run("DROP SCHEMA lake.s CASCADE")
    twin.travel()
    repo = twin.lake.repo
    names = repo.frozen(repo.head(), "SELECT table_name FROM raw.ducklake_table")
    assert set(names) == {("keep",)}


def test_nested_fields_renamed_dropped_and_added_again_keep_their_values_apart(twin):
    twin.run(
        "CREATE TABLE lake.t (i INTEGER, s STRUCT(a INTEGER, b STRUCT(c INTEGER, d VARCHAR)))",
        "INSERT INTO lake.t SELECT range, {'a': range, 'b': {'c': range * 2, 'd': 'd'}} FROM range(5)",
        "ALTER TABLE lake.t RENAME s.a TO z",
        "ALTER TABLE lake.t DROP COLUMN s.b.c",
    )
    twin.travel()
    twin.run(
        "ALTER TABLE lake.t ADD COLUMN s.b.c BIGINT",
        "ALTER TABLE lake.t ADD COLUMN s.a VARCHAR DEFAULT 'new'",
        "INSERT INTO lake.t SELECT 9, {'z': 1, 'b': {'d': 'e', 'c': 3}, 'a': 'x'}",
        "ALTER TABLE lake.t RENAME s.b.d TO c2",
    )
    twin.compare()
    twin.travel()
    twin.run("ALTER TABLE lake.t DROP COLUMN s")
    twin.work_on("lake.t", "i", "SELECT 7 AS i")


def test_widened_types_defaults_and_not_null_go_on_holding(twin):
    twin.run(
        "CREATE TABLE lake.t (a TINYINT, b FLOAT DEFAULT 1.5, c VARCHAR NOT NULL DEFAULT 'it''s', d INTEGER)",
        "INSERT INTO lake.t (a, d) VALUES (1, 1), (2, NULL)",
        "ALTER TABLE lake.t ALTER a TYPE INTEGER",
        "ALTER TABLE lake.t ALTER b TYPE DOUBLE",
        "ALTER TABLE lake.t ALTER d SET DEFAULT 7",
        "ALTER TABLE lake.t ADD COLUMN e VARCHAR DEFAULT 'a;b'",
    )
    twin.travel()
    assert twin.attempt("INSERT INTO lake.t (c) VALUES (NULL)").startswith("ConstraintException")
    twin.run(
        "INSERT INTO lake.t (a) VALUES (100000)",
        "ALTER TABLE lake.t ALTER a TYPE BIGINT",
        "ALTER TABLE lake.t ALTER d DROP DEFAULT",
        "ALTER TABLE lake.t ALTER c DROP NOT NULL",
        "INSERT INTO lake.t (a, c) VALUES (10000000000, NULL)",
    )
    twin.compare()
    twin.travel()
    twin.work_on("lake.t", "b", "SELECT 3 AS a, 4 AS b")


def test_comments_on_tables_columns_and_views_are_kept(twin):
    twin.run(
        "CREATE TABLE lake.t AS SELECT 1 AS a, 2 AS b",
        "COMMENT ON TABLE lake.t IS 'it''s; a \"table\"'",
        "COMMENT ON COLUMN lake.t.a IS 'line\nbreak'",
        "CREATE VIEW lake.v AS SELECT a FROM lake.t",
        "COMMENT ON VIEW lake.v IS '表'",
    )
    twin.travel()
    tables = {table["name"]: table for table in twin.lake.repo.dataset(twin.lake.repo.head())["tables"]}
    assert tables["t"]["comment"] == "it's; a \"table\""
    assert tables["t"]["columns"][0]["comment"] == "line\nbreak"
    assert tables["v"]["comment"] == "表"
    twin.run("COMMENT ON TABLE lake.t IS NULL", "COMMENT ON COLUMN lake.t.a IS 'other'")
    twin.work_on("lake.t", "b", "SELECT 1 AS a, 2 AS b")


# ---- views and macros --------------------------------------------------------------------------------------------------


def test_views_can_be_read_replaced_renamed_and_dropped(twin):
    twin.run(
        "CREATE TABLE lake.t AS SELECT range::INT AS a FROM range(10)",
        "CREATE VIEW lake.big AS SELECT a FROM lake.t WHERE a > 5",
        "CREATE VIEW lake.named (x, y) AS SELECT a, a * 2 FROM lake.t",
        "CREATE VIEW lake.short AS SELECT a FROM t",
        "CREATE VIEW lake.gone AS SELECT 1 AS one",
    )
    twin.travel()
    twin.run(
        "CREATE OR REPLACE VIEW lake.big AS SELECT a FROM lake.t WHERE a > 7",
        "ALTER VIEW lake.named RENAME TO other",
        "DROP VIEW lake.gone",
    )
    twin.compare()
    twin.travel()
    assert twin.lake.repo.read("SELECT * FROM lake.big ORDER BY a") == [(8,), (9,)]


def test_macros_can_be_called_replaced_and_dropped(twin):
    twin.run(
        "CREATE TABLE lake.t AS SELECT range::INT AS a FROM range(10)",
        "CREATE MACRO lake.plus(x, y := 3) AS x + y",
        "CREATE MACRO lake.above(x) AS TABLE SELECT a FROM lake.t WHERE a > x",
        "CREATE MACRO lake.odd(x, label := 'it''s; \"odd\"') AS label || x",
        "CREATE MACRO lake.both(x) AS x, (x, y) AS x * y",
    )
    twin.travel()
    for question, answer in (
        ("SELECT lake.plus(1), lake.plus(1, y := 1)", [(4, 2)]),
        ("SELECT count(*) FROM lake.above(6)", [(3,)]),
        ("SELECT lake.odd('!')", [("it's; \"odd\"!",)]),
        ("SELECT lake.both(2), lake.both(2, 5)", [(2, 10)]),
    ):
        assert twin.lake.repo.read(question) == answer
        assert twin.versioned.execute(question).fetchall() == answer
    twin.run("CREATE OR REPLACE MACRO lake.plus(x) AS x + 100", "DROP MACRO TABLE lake.above")
    twin.compare()
    twin.travel()
    assert twin.lake.repo.read("SELECT lake.plus(1)") == [(101,)]


# ---- partitions and sort keys ------------------------------------------------------------------------------------------


def test_partitions_with_odd_values_are_read_and_filtered(twin):
    twin.run(
        "CREATE TABLE lake.p (k VARCHAR, i INTEGER)",
        "ALTER TABLE lake.p SET PARTITIONED BY (k)",
        "INSERT INTO lake.p VALUES ('a b+c', 1), ('100%', 2), ('ü/é', 3), ('%20', 4), ('', 5), (NULL, 6), ('a=b', 7),"
        " ('..', 8), ('line\nbreak', 9), ('it''s', 10), ('__HIVE_DEFAULT_PARTITION__', 11)",
    )
    twin.travel()
    with twin.lake.repo.reader() as reader:
        for value, number in (("a b+c", 1), ("100%", 2), ("ü/é", 3), ("%20", 4), ("", 5), ("..", 8)):
            assert reader.execute("SELECT i FROM lake.p WHERE k = ?", [value]).fetchall() == [(number,)]
        assert reader.execute("SELECT i FROM lake.p WHERE k IS NULL").fetchall() == [(6,)]
    twin.work_on("lake.p", "i", "SELECT 'ü/é' AS k, 3 AS i UNION ALL SELECT '100%', 2 UNION ALL SELECT NULL, 1")


def test_partition_keys_by_time_and_bucket_go_on_and_can_change(twin):
    twin.run(
        "CREATE TABLE lake.p (ts TIMESTAMP, k VARCHAR, i INTEGER)",
        "ALTER TABLE lake.p SET PARTITIONED BY (year(ts), month(ts), bucket(4, k))",
        "INSERT INTO lake.p SELECT TIMESTAMP '2025-11-01' + to_days(range::INT), 'k' || range, range FROM range(100)",
    )
    twin.travel()
    twin.run(
        "ALTER TABLE lake.p SET PARTITIONED BY (k)",
        "INSERT INTO lake.p SELECT TIMESTAMP '2026-01-01', 'k' || (range % 3), range FROM range(10)",
    )
    twin.travel()
    twin.run("ALTER TABLE lake.p RESET PARTITIONED BY", "INSERT INTO lake.p VALUES (NULL, 'k', 1)")
    twin.travel()
    twin.work_on("lake.p", "i", "SELECT TIMESTAMP '2025-12-01' AS ts, 'x' AS k, 1 AS i")


def test_a_renamed_partition_column_still_partitions(twin):
    twin.run(
        "CREATE TABLE lake.p (k INTEGER, i INTEGER)",
        "ALTER TABLE lake.p SET PARTITIONED BY (k)",
        "INSERT INTO lake.p SELECT range % 3, range FROM range(30)",
        "ALTER TABLE lake.p RENAME COLUMN k TO key",
    )
    twin.travel()
    twin.work_on("lake.p", "i", "SELECT 1 AS key, 5 AS i")


def test_sort_keys_go_on_and_can_change(twin):
    twin.run(
        "CREATE TABLE lake.t (a INTEGER, b VARCHAR)",
        "ALTER TABLE lake.t SET SORTED BY (a DESC NULLS LAST, lower(b) ASC)",
        "INSERT INTO lake.t SELECT (range * 7) % 20, 'B' || range FROM range(20)",
        "INSERT INTO lake.t VALUES (NULL, NULL)",
    )
    twin.travel()
    twin.run("INSERT INTO lake.t SELECT range, 'c' FROM range(10)", "CALL ducklake_merge_adjacent_files('lake')")
    twin.compare()
    twin.run("ALTER TABLE lake.t SET SORTED BY (b)")
    twin.travel()
    twin.run("ALTER TABLE lake.t RESET SORTED BY")
    twin.work_on("lake.t", "b", "SELECT 5 AS a, 'x' AS b")


# ---- files -------------------------------------------------------------------------------------------------------------


def test_deleted_rows_stay_deleted_for_a_reader_and_after_a_checkout(twin):
    """The paths of delete files travel like those of data files."""
    twin.run(
        "CREATE TABLE lake.t AS SELECT range::INT AS i, 'x' AS s FROM range(100)",
        "INSERT INTO lake.t SELECT range, 'y' FROM range(100, 200)",
        "DELETE FROM lake.t WHERE i % 10 = 0",
    )
    twin.travel()
    assert twin.lake.repo.read("SELECT count(*) FROM lake.t") == [(180,)]
    twin.run("DELETE FROM lake.t WHERE i % 10 = 1", "UPDATE lake.t SET s = 'z' WHERE i % 10 = 2")
    twin.travel()
    twin.work_on("lake.t", "s", "SELECT 1000 AS i, 'w' AS s")


def test_deletion_vectors_are_published_and_worked_on(twin):
    twin.run(
        "CALL ducklake_set_option('lake', 'write_deletion_vectors', true)",
        "CREATE TABLE lake.t AS SELECT range::INT AS i, 'x' AS s FROM range(1000)",
        "DELETE FROM lake.t WHERE i % 7 = 0",
    )
    twin.travel()
    assert any(name.endswith(".puffin") for name in twin.lake.repo.data_files())
    twin.run("DELETE FROM lake.t WHERE i % 7 = 1", "UPDATE lake.t SET s = 'z' WHERE i % 7 = 2")
    twin.travel()
    twin.work_on("lake.t", "s", "SELECT 2000 AS i, 'w' AS s")


def test_files_added_by_name_keep_their_mapping(twin):
    """Each has columns of its own, in an order of its own."""
    twin.run("CREATE TABLE lake.t (a INTEGER, b VARCHAR, c STRUCT(x INTEGER, y VARCHAR))")
    twin.folder("main/t")
    for number, columns in enumerate(
        ["{'y': 'q', 'x': range::INT} AS c, 'b' || range AS b, range::INT AS a", "range::INT AS a, 'short' AS b"]
    ):
        path = f"{{data}}main/t/foreign {number} ü.parquet"
        twin.run(
            f"COPY (SELECT {columns} FROM range(5)) TO '{path}'",
            f"CALL ducklake_add_data_files('lake', 't', '{path}', allow_missing => true)",
        )
    twin.compare()
    twin.travel()
    twin.run("ALTER TABLE lake.t RENAME COLUMN b TO bb", "DELETE FROM lake.t WHERE a = 2")
    twin.compare()
    twin.work_on("lake.t", "bb", "SELECT 7 AS a, 'x' AS bb, {'x': 1, 'y': 'z'} AS c")


def test_added_files_whose_partition_stands_only_in_their_path_keep_it(twin):
    twin.run("CREATE TABLE lake.t (k INTEGER, a INTEGER)", "ALTER TABLE lake.t SET PARTITIONED BY (k)")
    for key in (1, 2):
        twin.folder(f"main/t/k={key}")
        path = f"{{data}}main/t/k={key}/foreign.parquet"
        twin.run(
            f"COPY (SELECT range::INT AS a FROM range(5)) TO '{path}'",
            f"CALL ducklake_add_data_files('lake', 't', '{path}', hive_partitioning => true)",
        )
    twin.compare()
    twin.travel()
    assert twin.lake.repo.read("SELECT k, count(*) FROM lake.t GROUP BY k ORDER BY k") == [(1, 5), (2, 5)]
    twin.work_on("lake.t", "a", "SELECT 3 AS k, 1 AS a")


def test_merged_and_rewritten_files_are_read_like_the_ones_they_replace(twin):
    twin.run("CREATE TABLE lake.t (i INTEGER, s VARCHAR)")
    for number in range(6):
        twin.run(f"INSERT INTO lake.t SELECT range, 's{number}' FROM range(10)")
    twin.run("DELETE FROM lake.t WHERE i = 3")
    twin.travel()
    twin.run("CALL ducklake_merge_adjacent_files('lake')")
    twin.travel()
    twin.run("CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)")
    twin.travel()
    twin.work_on("lake.t", "s", "SELECT 1 AS i, 'x' AS s")


def test_a_file_merged_from_several_snapshots_keeps_the_row_ids(twin):
    """Merging files of different snapshots writes the row ids and snapshots into the file itself."""
    twin.run("CREATE TABLE lake.t (i INTEGER, s VARCHAR)")
    for number in range(4):
        twin.run(f"INSERT INTO lake.t SELECT range, 's{number}' FROM range(5)")
    twin.run("UPDATE lake.t SET s = 'u' WHERE i = 2", "CALL ducklake_merge_adjacent_files('lake')")
    twin.compare()
    twin.travel()
    for number in range(4):
        twin.run(f"INSERT INTO lake.t SELECT range, 'n{number}' FROM range(5)")
    twin.run("CALL ducklake_merge_adjacent_files('lake')")
    twin.travel()


def test_row_ids_go_on_after_all_rows_were_deleted(twin):
    """Without the table's statistics, row ids would start again from 0."""
    twin.run("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)", "DELETE FROM lake.t")
    twin.travel()
    twin.run("INSERT INTO lake.t VALUES (1)")
    twin.compare()
    assert twin.versioned.execute("SELECT rowid FROM lake.t").fetchall() == [(10,)]
    twin.run("TRUNCATE lake.t")
    twin.travel()
    twin.run("INSERT INTO lake.t VALUES (2)")
    twin.travel()


def test_options_of_the_lake_schema_and_table_are_kept(twin):
    twin.run(
        "CREATE SCHEMA lake.s",
        "CREATE TABLE lake.s.t AS SELECT 1 AS a",
        "CALL ducklake_set_option('lake', 'target_file_size', '10MB')",
        "CALL ducklake_set_option('lake', 'parquet_compression', 'zstd', schema => 's')",
        "CALL ducklake_set_option('lake', 'parquet_row_group_size', 5000, schema => 's', table_name => 't')",
    )
    twin.travel()
    options = "SELECT option_name, value, scope, scope_entry FROM ducklake_options('lake') WHERE option_name LIKE 'par%'"
    assert twin.versioned.execute(options).fetchall() == twin.control.execute(options).fetchall()
    size = "SELECT value FROM ducklake_options('lake') WHERE option_name = 'target_file_size'"
    assert twin.versioned.execute(size).fetchall() == twin.control.execute(size).fetchall()
    twin.work_on("lake.s.t", "a", "SELECT 2 AS a")


def test_an_empty_lake_an_empty_table_and_an_empty_schema_are_versions_too(twin):
    twin.run("CREATE SCHEMA lake.s", "CREATE TABLE lake.t (a INTEGER)")
    twin.travel()
    twin.run("DROP SCHEMA lake.s", "DROP TABLE lake.t")
    twin.travel()
    twin.run("CREATE TABLE lake.t (b INTEGER)", "INSERT INTO lake.t VALUES (1)")
    twin.travel()
