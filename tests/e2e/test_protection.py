"""DuckLake's own clean-up on a working catalog must never delete what other versions need."""

import sqlite3

import pytest
from harness import duck, text

CLEAN = [
    "CALL ducklake_merge_adjacent_files('lake')",
    "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    "SELECT count(*) FROM ducklake_expire_snapshots('lake', older_than => now())",
    "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)",
    "CALL ducklake_cleanup_old_files('lake', older_than => now())",
    "CALL ducklake_delete_orphaned_files('lake')",
    "CHECKPOINT lake",
]


def with_two_versions(lake):
    """Small files, deletes and updates, in two versions; returns what each must read for ever."""
    lake.write("CREATE TABLE lake.t (i INTEGER, s VARCHAR)", "CREATE TABLE lake.gone AS SELECT 1 AS i")
    lake.write(*[f"INSERT INTO lake.t SELECT range, 's{number}' FROM range(10)" for number in range(4)])
    first = lake.publish("DELETE FROM lake.t WHERE i = 3", "UPDATE lake.t SET s = 'u' WHERE i = 4")
    second = lake.publish("DROP TABLE lake.gone", "DELETE FROM lake.t WHERE i = 5", "INSERT INTO lake.t VALUES (100, 'x')")
    return {version: content(lake, version) for version in (first, second)}


def content(lake, version):
    return lake.repo.read("SELECT rowid, i, s FROM lake.t ORDER BY rowid", version)


def assert_unharmed(lake, versions):
    for version, rows in versions.items():
        assert content(lake, version) == rows


def stored_options(work):
    with sqlite3.connect(work) as con:
        return dict(con.execute("SELECT key, value FROM ducklake_metadata WHERE scope IS NULL OR scope = ''"))


@pytest.mark.parametrize("fresh", [False, True], ids=["in the catalog it was made in", "after a new checkout"])
def test_merge_rewrite_expire_and_clean_up_delete_no_file_of_any_version(lake, fresh):
    versions = with_two_versions(lake)
    if fresh:
        lake.checkout()
    there = set(lake.repo.data_files())
    for statement in CLEAN:
        lake.write(statement)
        assert there <= set(lake.repo.data_files()), statement
    assert_unharmed(lake, versions)
    lake.publish()
    lake.write(*CLEAN, "DROP TABLE lake.t", *CLEAN)
    assert there <= set(lake.repo.data_files())
    assert_unharmed(lake, versions)


def test_the_ages_that_clean_up_goes_by_cannot_be_set_in_a_working_catalog(lake):
    """With small ones, CHECKPOINT takes every file that only older versions name for an orphan and deletes it."""
    versions = with_two_versions(lake)
    for _ in range(2):
        with lake.writer() as con:
            for name in ("expire_older_than", "delete_older_than"):
                with pytest.raises(Exception, match="other versions"):
                    con.execute(f"CALL ducklake_set_option('lake', '{name}', '0 seconds')")
            con.execute("DELETE FROM lake.t WHERE i % 2 = 0")
            con.execute("CHECKPOINT lake")
            con.execute("CHECKPOINT lake")
        assert_unharmed(lake, versions)
        versions[lake.publish()] = lake.read("SELECT rowid, i, s FROM lake.t ORDER BY rowid")
        lake.checkout()
    assert_unharmed(lake, versions)


def test_files_that_a_version_waiting_for_its_push_needs_are_not_deleted(lake):
    lake.write("CREATE TABLE lake.t (i INTEGER)", *[f"INSERT INTO lake.t VALUES ({number})" for number in range(5)])
    lake.commit()
    lake.write(*CLEAN, "DROP TABLE lake.t", *CLEAN)
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(5,)]


def test_a_checkout_stores_what_protects_and_a_version_does_not_carry_it(lake):
    versions = with_two_versions(lake)
    lake.checkout()
    stored = stored_options(lake.work)
    assert stored["delete_older_than"] == stored["expire_older_than"] == "36500 days"
    assert stored["data_inlining_row_limit"] == "0" and stored["hive_file_pattern"] == "false"
    for version in versions:
        published = lake.repo.frozen(version, "SELECT key FROM raw.ducklake_metadata")
        assert {key for (key,) in published} == {"version", "created_by", "data_path", "encrypted"}
        assert lake.repo.frozen(version, "SELECT * FROM raw.ducklake_files_scheduled_for_deletion") == []


def test_nothing_is_scheduled_for_deletion_in_a_working_catalog(lake):
    with_two_versions(lake)
    lake.checkout()
    lake.write("CALL ducklake_merge_adjacent_files('lake')", "DROP TABLE lake.t")
    lake.write("SELECT count(*) FROM ducklake_expire_snapshots('lake', older_than => now())")
    with sqlite3.connect(lake.work) as con:
        assert con.execute("SELECT count(*) FROM ducklake_files_scheduled_for_deletion").fetchone() == (0,)


def test_no_row_is_inlined_though_the_attach_forgets_the_option(lake):
    """Without the stored option up to ten rows, and deletes, would stay in the catalog."""
    for _ in range(2):
        with duck(f"ATTACH {text(f'ducklake:{lake.work}')} AS lake (META_TYPE 'sqlite')") as con:
            con.execute("CREATE OR REPLACE TABLE lake.t (i INTEGER)")
            con.execute("INSERT INTO lake.t VALUES (1), (2)")
            con.execute("DELETE FROM lake.t WHERE i = 1")
        lake.commit()
        lake.push()
        assert lake.repo.read("SELECT * FROM lake.t") == [(2,)]
        lake.checkout()


def test_partition_values_make_paths_that_every_web_server_understands(lake):
    odd = "('a b+c'), ('100%'), ('ü/é'), ('%20'), (''), (NULL), ('..'), ('a=b')"
    lake.publish(
        "CREATE TABLE lake.p (k VARCHAR)", "ALTER TABLE lake.p SET PARTITIONED BY (k)", f"INSERT INTO lake.p VALUES {odd}"
    )
    assert len(lake.repo.data_files()) == 8
    assert not [name for name in lake.repo.data_files() if not name.isascii() or set(name) & set("% +=")]
    lake.checkout()
    lake.publish(f"INSERT INTO lake.p VALUES {odd}", "DELETE FROM lake.p WHERE k = '%20'")
    assert not [name for name in lake.repo.data_files() if "%" in name]


def test_commit_warns_of_paths_with_a_percent_sign(lake):
    lake.write(
        "CALL ducklake_set_option('lake', 'hive_file_pattern', true)",
        "CREATE TABLE lake.p (k VARCHAR)",
        "ALTER TABLE lake.p SET PARTITIONED BY (k)",
        "INSERT INTO lake.p VALUES ('100%')",
    )
    said = lake.commit().stderr
    assert "warning" in said and "%" in said and "main/p/" in said
    lake.push()
    assert lake.repo.read("SELECT * FROM lake.p") == [("100%",)]


def test_push_notices_files_that_something_else_has_deleted(lake):
    """ducklake_delete_orphaned_files with cleanup_all is the one call that nothing in the catalog stops."""
    lake.write("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    lake.commit()
    lake.write("DROP TABLE lake.t", "SELECT count(*) FROM ducklake_expire_snapshots('lake', older_than => now())")
    lake.write("CALL ducklake_delete_orphaned_files('lake', cleanup_all => true)")
    assert "missing" in lake.push(code=7).complaint
    assert not lake.repo.path("refs", "heads", "main").exists()
