"""What a published catalog is made of: only what is live, in the types it should have, as small as its content."""

import shutil

from harness import duck, fdl, text

# Child -> the column that names its parent -> the parent's table.
PARENTS = [
    ("ducklake_data_file", "table_id", "ducklake_table"),
    ("ducklake_delete_file", "data_file_id", "ducklake_data_file"),
    ("ducklake_file_column_stats", "data_file_id", "ducklake_data_file"),
    ("ducklake_file_variant_stats", "data_file_id", "ducklake_data_file"),
    ("ducklake_file_partition_value", "data_file_id", "ducklake_data_file"),
    ("ducklake_table", "schema_id", "ducklake_schema"),
    ("ducklake_view", "schema_id", "ducklake_schema"),
    ("ducklake_macro", "schema_id", "ducklake_schema"),
    ("ducklake_macro_impl", "macro_id", "ducklake_macro"),
    ("ducklake_macro_parameters", "macro_id", "ducklake_macro"),
    ("ducklake_column", "table_id", "ducklake_table"),
    ("ducklake_table_stats", "table_id", "ducklake_table"),
    ("ducklake_table_column_stats", "table_id", "ducklake_table"),
    ("ducklake_column_mapping", "table_id", "ducklake_table"),
    ("ducklake_name_mapping", "mapping_id", "ducklake_column_mapping"),
    ("ducklake_partition_info", "table_id", "ducklake_table"),
    ("ducklake_partition_column", "partition_id", "ducklake_partition_info"),
    ("ducklake_sort_info", "table_id", "ducklake_table"),
    ("ducklake_sort_expression", "sort_id", "ducklake_sort_info"),
    ("ducklake_inlined_data_tables", "table_id", "ducklake_table"),
]

RICH = [
    "CREATE SCHEMA lake.s",
    "CREATE TABLE lake.s.t (i INTEGER, k VARCHAR, v VARIANT)",
    "ALTER TABLE lake.s.t SET PARTITIONED BY (k)",
    "ALTER TABLE lake.s.t SET SORTED BY (i)",
    "INSERT INTO lake.s.t SELECT range, 'k' || range % 3, {'a': range}::VARIANT FROM range(30)",
    "DELETE FROM lake.s.t WHERE i % 5 = 0",
    "ALTER TABLE lake.s.t RENAME COLUMN i TO j",
    "COMMENT ON TABLE lake.s.t IS 'x'",
    "CREATE VIEW lake.s.v AS SELECT j FROM lake.s.t",
    "CREATE MACRO lake.s.m(x, y := 2) AS x + y",
]


def rows(lake, version):
    """Every table of a frozen catalog, in no order that matters."""
    tables = lake.repo.frozen(version, "SELECT table_name FROM duckdb_tables() WHERE database_name = 'raw' ORDER BY 1")
    return {name: sorted(map(str, lake.repo.frozen(version, f"SELECT COLUMNS(*)::VARCHAR FROM raw.{name}"))) for (name,) in tables}


def size(lake, version):
    return lake.repo.record(version)["catalog"]["bytes"]


def test_checkout_and_commit_without_a_change_give_equal_catalogs_twice_in_a_row(lake):
    versions = [lake.publish(*RICH)]
    for _ in range(2):
        lake.checkout()
        lake.commit("--allow-empty")
        lake.push()
        versions.append(lake.repo.head())
    one, two, three = (rows(lake, version) for version in versions)
    assert one == two == three
    assert any(one.values())


def test_a_published_catalog_has_the_types_that_ducklake_declares(lake, tmp_path):
    """SQLite knows neither time nor UUID nor BOOLEAN; a frozen catalog does."""
    version = lake.publish(*RICH)
    plain = tmp_path / "plain.duckdb"
    with duck(f"ATTACH {text(f'ducklake:{plain}')} AS lake (DATA_PATH {text(f'{tmp_path}/d/')}, DATA_INLINING_ROW_LIMIT 0)") as con:
        for statement in RICH:
            con.execute(statement)
    columns = """SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns()
                 WHERE database_name = 'raw' ORDER BY table_name, column_index"""
    with duck(f"ATTACH {text(plain)} AS raw (READ_ONLY)") as con:
        declared = con.execute(columns).fetchall()
    assert lake.repo.frozen(version, columns) == declared


def test_a_published_catalog_can_be_opened_by_the_oldest_duckdb_it_promises(published):
    """Storage v1.5.0, and all of it in the one file."""
    catalog = published.repo.version_file(published.repo.head(), "ducklake.duckdb")
    with duck(f"ATTACH {text(catalog)} AS raw (READ_ONLY)") as con:
        tags = con.execute("SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'raw'").fetchone()
    assert tags[0].startswith("v1.5.0")
    assert not list(catalog.parent.glob("*.wal"))


def test_every_row_of_a_published_catalog_has_a_live_parent(lake):
    lake.publish(*RICH, "CREATE TABLE lake.keep AS SELECT 1 AS i")
    version = lake.publish(
        "DROP TABLE lake.s.t",
        *RICH[1:6],
        "DROP MACRO lake.s.m",
        "CREATE OR REPLACE TABLE lake.keep AS SELECT 2 AS i",
        "DROP SCHEMA lake.s CASCADE",
    )
    for child, column, parent in PARENTS:
        lost = lake.repo.frozen(version, f"SELECT * FROM raw.{child} WHERE {column} NOT IN (SELECT {column} FROM raw.{parent})")
        assert lost == [], child
    names = lake.repo.frozen(version, "SELECT DISTINCT table_name FROM raw.ducklake_table")
    assert names == [("keep",)]


def test_a_hundred_replacements_of_everything_leave_a_catalog_as_small_as_one(lake):
    """A catalog's size follows its live rows, not its history."""
    once = "CREATE OR REPLACE TABLE lake.t AS SELECT range AS i, 's' || range AS s FROM range(100)"
    first = lake.publish(once)
    with lake.writer() as con:
        for _ in range(100):
            con.execute(once)
    last = lake.publish()
    assert size(lake, last) <= size(lake, first) * 1.1
    counts = {name: (len(before), len(after)) for name, before, after in zip_tables(lake, first, last)}
    grown = {name: count for name, count in counts.items() if count[1] > count[0]}
    assert grown == {}, "these tables keep dead rows"


def zip_tables(lake, first, last):
    one, other = rows(lake, first), rows(lake, last)
    return [(name, one[name], other[name]) for name in one]


def test_versions_are_never_written_again(published):
    """Neither by later commits and pushes nor by checkouts and clean-ups."""
    before = {key: value for key, value in published.repo.contents().items() if key.startswith(("versions/", "data/"))}
    published.publish("INSERT INTO lake.t VALUES (1)")
    published.checkout()
    published.write("DELETE FROM lake.t", "CHECKPOINT lake")
    published.commit("--push")
    fdl("tag", published.repo.address, "v1")
    after = published.repo.contents()
    assert {key: after.get(key) for key in before} == before


def test_a_commit_while_a_transaction_deletes_takes_nothing_from_it(published):
    """Pruning happens in the copy: the writer's transaction finds its snapshot and its files as they were."""
    with published.writer() as con:
        con.execute("INSERT INTO lake.t SELECT range FROM range(100, 200)")
        con.execute("BEGIN")
        con.execute("DELETE FROM lake.t WHERE i % 2 = 0")
        published.commit()
        con.execute("COMMIT")
    published.commit()
    published.push()
    assert published.repo.read("SELECT count(*) FROM lake.t", "main~1") == [(110,)]
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(55,)]


def test_a_version_reads_the_same_from_a_copy_made_with_ordinary_tools(published, tmp_path):
    published.publish("DELETE FROM lake.t WHERE i = 3")
    shutil.copytree(published.repo.folder, tmp_path / "copy")
    shutil.rmtree(published.repo.folder)
    with duck(fdl("attach", tmp_path / "copy").attach) as con:
        assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (9,)
