"""What commit refuses: exit 7, the thing named, nothing left behind, and a commit right after the cause is gone."""

import pytest
from harness import REFUSED, duck, edit, fdl, text


def refuse(lake, *named, options=()):
    """Commits in vain: everything named, and neither repository nor working catalog nor pending versions changed."""
    repo, work, pending = lake.repo.contents(), lake.work.read_bytes(), lake.pending()
    complaint = lake.commit(*options, code=REFUSED).complaint
    for name in named:
        assert name in complaint
    assert (lake.repo.contents(), lake.work.read_bytes(), lake.pending()) == (repo, work, pending)
    assert [path.name for path in lake.state.rglob("*.duckdb*") if path.name != "base.duckdb"] == []
    return complaint


# ---- rows inlined in the catalog ---------------------------------------------------------------------------------------


def with_inlined_rows(lake):
    """Rows and deletes that stand in the catalog and in no file."""
    lake.write(
        "CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(1000)",
        "CREATE TABLE lake.u (s VARCHAR)",
        "CALL ducklake_set_option('lake', 'data_inlining_row_limit', 10)",
        "INSERT INTO lake.t VALUES (5000), (5001)",
        "INSERT INTO lake.u VALUES ('it''s'), (NULL)",
        "DELETE FROM lake.t WHERE i = 7",
        "DELETE FROM lake.t WHERE i = 5001",
    )


def test_inlined_rows_stop_a_commit_that_names_the_tables_and_the_way_out(lake):
    """Published, they would silently be missing."""
    with_inlined_rows(lake)
    complaint = refuse(lake, "main.t", "main.u", "--flush-inlined")
    assert "ducklake_flush_inlined_data('lake')" in complaint


def test_flush_inlined_publishes_every_row_and_delete(lake):
    with_inlined_rows(lake)
    rows = lake.read("SELECT rowid, i FROM lake.t ORDER BY rowid")
    lake.commit("--flush-inlined")
    lake.push()
    assert lake.repo.read("SELECT rowid, i FROM lake.t ORDER BY rowid") == rows
    assert lake.repo.read("SELECT s FROM lake.u ORDER BY s NULLS LAST") == [("it's",), (None,)]
    lake.checkout()
    assert lake.read("SELECT rowid, i FROM lake.t ORDER BY rowid") == rows


def test_the_statement_that_the_message_names_makes_the_commit_possible(lake):
    with_inlined_rows(lake)
    lake.commit(code=REFUSED)
    lake.write("CALL ducklake_flush_inlined_data('lake')")
    lake.commit()
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(1000,)]


def test_inlined_rows_of_a_dropped_table_stop_nothing(lake):
    with_inlined_rows(lake)
    lake.write("DROP TABLE lake.t", "DROP TABLE lake.u", "CREATE TABLE lake.v AS SELECT 1 AS i FROM range(100)")
    lake.commit()
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.v") == [(100,)]


# ---- files -------------------------------------------------------------------------------------------------------------


def test_a_file_outside_the_data_folder_is_refused_by_name(lake):
    """No reader elsewhere could find it."""
    outside = lake.folder / "outside it's.parquet"
    lake.write(
        "CREATE TABLE lake.t (i INTEGER)",
        f"COPY (SELECT 1::INT AS i) TO {text(outside)}",
        f"CALL ducklake_add_data_files('lake', 't', {text(outside)})",
    )
    refuse(lake, "outside it's.parquet")
    lake.write("DELETE FROM lake.t")
    lake.commit()


def test_a_file_in_the_data_folder_but_not_in_its_tables_folder_is_refused_saying_where_it_must_lie(lake):
    """DuckLake names it by an absolute path, which no copy of the repository has."""
    strange = lake.repo.data / "strange.parquet"
    lake.write(
        "CREATE TABLE lake.t AS SELECT 0::INT AS i",
        f"COPY (SELECT 1::INT AS i) TO {text(strange)}",
        f"CALL ducklake_add_data_files('lake', 't', {text(strange)})",
    )
    refuse(lake, "strange.parquet", "table's folder")


def test_a_file_that_only_starts_like_the_data_folder_is_outside(lake):
    beside = lake.repo.path("data2")
    beside.mkdir()
    lake.write(
        "CREATE TABLE lake.t (i INTEGER)",
        f"COPY (SELECT 1::INT AS i) TO {text(beside / 'x.parquet')}",
        f"CALL ducklake_add_data_files('lake', 't', {text(beside / 'x.parquet')})",
    )
    refuse(lake, "data2/x.parquet")


@pytest.mark.parametrize("path", ["../../../etc/passwd", "a/../../../x.parquet", "./../x.parquet"])
def test_a_relative_path_that_leaves_the_data_folder_is_refused(lake, path):
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
    edit(lake.work, f"UPDATE ducklake_data_file SET path = '{path}'")
    refuse(lake, path.rsplit("/", 1)[1])


def test_a_missing_data_file_is_refused_by_name(lake):
    lake.write("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    [name] = lake.repo.data_files()
    lake.repo.data.joinpath(name).rename(lake.folder / "kept")
    refuse(lake, name, "missing")
    (lake.folder / "kept").rename(lake.repo.data / name)
    lake.commit()


def test_a_short_data_file_is_refused_by_name_with_both_sizes(lake):
    """A file is there when its name and its size are."""
    lake.write("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    [name] = lake.repo.data_files()
    path = lake.repo.data / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    refuse(lake, name, str(len(whole)), str(len(whole) - 1))
    path.write_bytes(whole)
    lake.commit()


def test_a_missing_delete_file_is_refused_by_name(published):
    before = set(published.repo.data_files())
    published.write("DELETE FROM lake.t WHERE i = 3")
    [name] = set(published.repo.data_files()) - before
    (published.repo.data / name).unlink()
    refuse(published, name)


def test_a_lost_file_of_the_parent_is_noticed_too(published):
    [name] = published.repo.data_files()
    published.write("INSERT INTO lake.t VALUES (100)")
    (published.repo.data / name).unlink()
    refuse(published, name)


# ---- what the catalog says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.4", "1.1", "2.0", "none"])
def test_a_format_that_is_not_known_is_refused_by_its_number(published, version):
    published.write("INSERT INTO lake.t VALUES (100)")
    edit(published.work, f"UPDATE ducklake_metadata SET value = '{version}' WHERE key = 'version'")
    refuse(published, f"'{version}'")


@pytest.mark.parametrize(
    "change, named",
    [
        ("CREATE TABLE ducklake_future AS SELECT 1 AS id", "ducklake_future"),
        ("CREATE TABLE notes AS SELECT 'mine' AS note", "notes"),
        ("ALTER TABLE ducklake_table ADD COLUMN colour VARCHAR", "colour"),
        ("DROP TABLE ducklake_view", "27 of 28 tables"),
        ("ALTER TABLE ducklake_data_file RENAME COLUMN record_count TO records", "record"),
    ],
)
def test_a_table_that_cannot_be_carried_over_is_refused_by_name(published, change, named):
    published.write("INSERT INTO lake.t VALUES (100)")
    edit(published.work, change)
    refuse(published, named)


@pytest.mark.parametrize(
    "damage, named",
    [
        ("DELETE FROM ducklake_schema", "t"),
        ("UPDATE ducklake_table SET schema_id = 999", "999"),
        ("UPDATE ducklake_data_file SET table_id = 999", "999"),
        ("UPDATE ducklake_delete_file SET data_file_id = 999", "999"),
        ("UPDATE ducklake_delete_file SET table_id = 999", "999"),
        ("UPDATE ducklake_data_file SET mapping_id = 999", "999"),
        ("UPDATE ducklake_file_column_stats SET data_file_id = 999", "999"),
        ("UPDATE ducklake_column SET table_id = 999", "999"),
        ("DELETE FROM ducklake_snapshot", "snapshot"),
        ("UPDATE ducklake_view SET schema_id = 999", "999"),
        ("UPDATE ducklake_column SET parent_column = 999 WHERE parent_column IS NOT NULL", "main.t"),
    ],
)
def test_a_catalog_in_which_references_dangle_is_refused_naming_them(lake, damage, named):
    lake.write(
        "CREATE TABLE lake.t (i INTEGER, s STRUCT(a INTEGER))",
        "INSERT INTO lake.t SELECT range, {'a': 1} FROM range(10)",
        "DELETE FROM lake.t WHERE i = 3",
        "CREATE VIEW lake.v AS SELECT 1 AS one",
    )
    edit(lake.work, damage)
    refuse(lake, named)


def test_an_encrypted_lake_is_refused_since_its_keys_would_be_published(lake):
    edit(lake.work, "UPDATE ducklake_metadata SET value = 'true' WHERE key = 'encrypted'")
    lake.write("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    complaint = refuse(lake, "--allow-encrypted")
    assert "key" in complaint
    lake.commit("--allow-encrypted")
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(10,)]
    lake.checkout()
    lake.write("INSERT INTO lake.t VALUES (100)")
    refuse(lake, "--allow-encrypted")
    lake.commit("--allow-encrypted")
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(11,)]


def test_a_view_works_under_any_name_of_the_lake_whatever_its_writer_called_it(lake):
    with duck(lake.attach.replace(" AS lake ", " AS mine ")) as con:
        con.execute("CREATE TABLE mine.t AS SELECT range AS i FROM range(10)")
        con.execute("CREATE VIEW mine.v AS SELECT count(*) AS n FROM mine.t")
    assert "warning" not in lake.commit().stderr
    lake.push()
    assert lake.repo.read("SELECT n FROM lake.v") == [(10,)]
    with duck(fdl("attach", lake.repo.address, "--as", "other").attach) as con:
        assert con.execute("SELECT n FROM other.v").fetchall() == [(10,)]


def test_views_and_macros_that_work_for_their_writer_alone_are_told_by_name(lake):
    with duck(lake.attach.replace(" AS lake ", " AS mine ")) as con:
        con.execute("ATTACH ':memory:' AS elsewhere")
        con.execute("CREATE TABLE elsewhere.e AS SELECT 1 AS i")
        con.execute("CREATE TABLE mine.t AS SELECT 1 AS i")
        con.execute("CREATE VIEW mine.abroad AS SELECT * FROM elsewhere.e")
        con.execute("CREATE VIEW mine.at_home AS SELECT * FROM mine.t")
        con.execute("CREATE MACRO mine.local() AS TABLE SELECT * FROM mine.t")
    said = lake.commit().stderr
    assert "'main.abroad'" in said and "'elsewhere'" in said
    assert "'main.local'" in said and "'mine'" in said
    assert "at_home" not in said
    lake.push()
    assert lake.repo.read("SELECT * FROM lake.at_home") == [(1,)]
