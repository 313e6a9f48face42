"""The main job on a repository: init, checkout, DuckDB, commit, push, read, log, branch, tag."""

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing

import pytest
from harness import CONFLICT, NOT_FOUND, REFUSED, USAGE, Lake, Repo, duck, fdl, numbers, text

UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


# ---- init ------------------------------------------------------------------------------------------------------------


def test_init_makes_settings_and_head_and_nothing_else(tmp_path):
    fdl("init", tmp_path / "repo")
    made = [path.name for path in (tmp_path / "repo").iterdir() if path.name != ".fdl"]
    assert sorted(made) == ["HEAD", "fdl.json"]
    assert (tmp_path / "repo" / "HEAD").read_text() == "ref: refs/heads/main\n"
    config = json.loads((tmp_path / "repo" / "fdl.json").read_text())
    assert list(config) == ["fdl", "id", "data_dir"]
    assert config["fdl"] == "0.1" and config["data_dir"] == "data/"


def test_a_second_init_changes_nothing_and_says_so(published):
    before = published.repo.contents()
    answer = fdl("init", published.repo.address, "--data-dir", "other/", "--branch", "other")
    assert "already" in answer.stdout
    assert published.repo.contents() == before


def test_init_takes_data_folder_id_url_and_branch(tmp_path):
    lake = Lake(
        tmp_path,
        *("--data-dir", "files/parquet"),
        *("--id", "01890a5d-ac96-774b-bcce-b302099a8057"),
        *("--url", "https://example.org/lake"),
        *("--branch", "trunk"),
    )
    config = lake.repo.config()
    assert config["id"] == "01890a5d-ac96-774b-bcce-b302099a8057"
    assert config["data_dir"] == "files/parquet/"
    assert config["url"] == "https://example.org/lake/"
    lake.checkout()
    lake.write(*numbers(3))
    lake.commit()
    lake.push()
    assert lake.repo.head("trunk") and lake.repo.read("SELECT count(*) FROM lake.t") == [(3,)]
    assert all(name.endswith(".parquet") for name in lake.repo.data_files())
    stored = lake.repo.frozen(lake.repo.head("trunk"), "SELECT value FROM raw.ducklake_metadata WHERE key = 'data_path'")
    assert stored == [("https://example.org/lake/files/parquet/",)]


@pytest.mark.parametrize("data_dir", ["", "/", "/data", "../data", "a/../b", "versions/", "refs/data", "sources", ".", "a//b"])
def test_a_data_folder_that_could_not_work_is_a_usage_error(tmp_path, data_dir):
    fdl("init", tmp_path / "repo", "--data-dir", data_dir, code=USAGE)
    assert not (tmp_path / "repo" / "fdl.json").exists()


# ---- checkout, status, commit, push ------------------------------------------------------------------------------------


def test_real_data_goes_from_an_empty_repository_to_a_reader(tmp_path):
    repo = Repo(tmp_path / "repo")
    work = tmp_path / "work.sqlite"
    printed = fdl("checkout", repo.address, work)
    with duck(printed.attach) as con:
        con.execute("CREATE TABLE lake.t AS SELECT range AS i, 'n' || range AS s FROM range(1000)")
    assert "all but 1 snapshot" in fdl("status", work).stdout
    fdl("commit", work, "-m", "a thousand")
    assert "all but 1 version" in fdl("status", work).stdout
    fdl("push", work)
    status = fdl("status", work).stdout
    assert "committed   everything" in status and "pushed      everything" in status
    with duck(fdl("attach", repo.address).attach) as con:
        assert con.execute("SELECT count(*), sum(i), max(s) FROM lake.t").fetchall() == [(1000, 499500, "n999")]


def test_an_old_version_reads_as_it_was_after_newer_ones(published):
    first = published.repo.head()
    published.publish("DELETE FROM lake.t WHERE i < 5", "INSERT INTO lake.t VALUES (100)")
    published.publish("DROP TABLE lake.t", "CREATE TABLE lake.u AS SELECT 1 AS one")
    assert published.repo.read("SELECT sum(i) FROM lake.t", first) == [(45,)]
    assert published.repo.read("SELECT sum(i) FROM lake.t", "main~1") == [(135,)]
    assert published.repo.read("SELECT * FROM lake.u") == [(1,)]


def test_a_checkout_of_an_old_version_is_that_version(published):
    first = published.repo.head()
    published.publish("INSERT INTO lake.t VALUES (100)")
    old = Lake(published.folder / "old", repo=published.repo)
    (published.folder / "old").mkdir()
    old.checkout("--ref", first)
    assert old.read("SELECT count(*) FROM lake.t") == [(10,)]
    status = fdl("status", old.work, "--json").json
    assert status["branch"] is None and status["base"] == first


def test_work_from_an_old_version_goes_to_a_new_branch(published):
    first = published.repo.head()
    second = published.publish("INSERT INTO lake.t VALUES (100)")
    published.checkout("--ref", first)
    published.write("INSERT INTO lake.t VALUES (-1)")
    published.commit()
    assert "--branch" in published.push(code=USAGE).complaint
    fdl("branch", published.repo.address, "side", first)
    published.push("--branch", "side")
    assert published.repo.head() == second
    assert published.repo.read("SELECT min(i), max(i) FROM lake.t", "side") == [(-1, 9)]
    assert published.repo.record(published.repo.head("side"))["parents"] == [first]


def test_push_to_a_branch_that_does_not_exist_makes_it(published):
    base = published.repo.head()
    published.write("INSERT INTO lake.t VALUES (100)")
    published.commit()
    published.push("--branch", "new/one")
    assert published.repo.head() == base
    assert published.repo.read("SELECT count(*) FROM lake.t", "new/one") == [(11,)]


def test_commit_changes_neither_the_working_catalog_nor_the_repository(lake):
    lake.write(*numbers(10))
    work, repo = lake.work.read_bytes(), lake.repo.contents()
    lake.commit()
    assert lake.work.read_bytes() == work
    assert lake.repo.contents() == repo


def test_commit_reads_what_a_writer_has_committed_while_it_is_still_attached(lake):
    """The newest snapshots may stand in the WAL alone."""
    with lake.writer() as con:
        con.execute("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
        con.execute("BEGIN")
        con.execute("INSERT INTO lake.t VALUES (100)")
        lake.commit()
        con.execute("COMMIT")
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(10,)]
    lake.publish()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(11,)]


def test_the_first_commit_says_how_to_give_the_repository_an_address_and_later_ones_do_not(lake):
    lake.write(*numbers(10))
    assert "url" in lake.commit().stderr
    lake.write("INSERT INTO lake.t VALUES (1)")
    assert "url" not in lake.commit().stderr


def test_commit_with_push_does_both(lake):
    lake.write(*numbers(10))
    lake.commit("--push")
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(10,)]
    assert lake.pending() == []


def test_writing_goes_on_in_the_same_working_catalog_after_a_push(published):
    for number in range(3):
        published.publish(f"INSERT INTO lake.t VALUES ({100 + number})")
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(13,)]
    assert [v["seq"] for v in fdl("log", published.repo.address, "--json").json["versions"]] == [4, 3, 2, 1]


def test_status_tells_that_the_branch_has_moved(published):
    other = published.another("other")
    other.publish("INSERT INTO lake.t VALUES (100)")
    assert f"the branch now holds {published.repo.head()}" in fdl("status", published.work).stdout
    assert fdl("status", published.work, "--json").json["moved"] is True


def test_status_and_commit_work_while_the_repository_cannot_be_reached(published):
    hidden = published.folder / "hidden"
    published.repo.folder.rename(hidden)
    status = fdl("status", published.work, "--json").json
    assert status["moved"] is None and status["remote_error"]
    hidden.rename(published.repo.folder)


# ---- the layout --------------------------------------------------------------------------------------------------------


def test_a_version_is_described_to_the_letter(published):
    repo, version = published.repo, published.repo.head()
    assert UUID7.fullmatch(version)
    assert sorted(path.name for path in repo.path("versions", version).iterdir()) == [
        "catalogs",
        "dataset.json",
        "ducklake.duckdb",
        "files.json",
        "version.json",
    ]
    record = repo.record(version)
    assert list(record) == [
        *("fdl", "id", "seq", "parents", "created_at", "author", "message", "catalog", "dataset", "files", "ducklake"),
    ]
    assert record["fdl"] == "0.1" and record["id"] == version and record["seq"] == 1 and record["parents"] == []
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", record["created_at"])
    assert record["author"] == {"name": "Ada Writer", "email": "ada@example.org"}
    assert record["message"] == "ten numbers"
    assert list(record["catalog"]) == ["path", "storage", "bytes", "sha256", "zstd"]
    assert list(record["catalog"]["zstd"]) == ["path", "bytes", "sha256"]
    assert record["catalog"]["storage"] == "duckdb-v1.5.0"
    assert list(record["dataset"]) == ["path", "bytes", "sha256"]
    assert record["ducklake"] == {"format": "1.0", "snapshot_id": 1, "snapshots": [0, 1]}
    assert repo.path("refs", "heads", "main").read_bytes() == version.encode() + b"\n"
    assert json.loads(repo.path("refs.json").read_text()) == {
        "head": "refs/heads/main",
        "refs": {"refs/heads/main": version},
    }


def test_the_next_version_names_its_parent_and_its_snapshots(published):
    first = published.repo.head()
    second = published.publish("INSERT INTO lake.t VALUES (1)", "INSERT INTO lake.t VALUES (2)")
    record = published.repo.record(second)
    assert record["seq"] == 2 and record["parents"] == [first]
    assert record["ducklake"]["snapshots"] == [2, 3]
    published.commit("--allow-empty")
    published.push()
    record = published.repo.record(published.repo.head())
    assert record["seq"] == 3 and record["ducklake"]["snapshots"] == [3, 3]


def test_the_description_counts_live_rows_and_names_columns(lake):
    version = lake.publish(
        "CREATE TABLE lake.t (a INTEGER NOT NULL, b DECIMAL(9,2), c STRUCT(x INTEGER)[])",
        "INSERT INTO lake.t SELECT range, 1, [] FROM range(10)",
        "DELETE FROM lake.t WHERE a = 3",
        "CREATE VIEW lake.v AS SELECT a FROM lake.t",
    )
    tables = {table["name"]: table for table in lake.repo.dataset(version)["tables"]}
    assert list(tables) == ["t", "v"]
    assert {field: tables["t"][field] for field in ("schema", "kind", "rows")} == {
        "schema": "main",
        "kind": "table",
        "rows": 9,
    }
    assert tables["t"]["bytes"] > 0 and tables["t"]["files"] > 0
    assert tables["t"]["columns"] == [
        {"name": "a", "type": "INTEGER", "nullable": False},
        {"name": "b", "type": "DECIMAL(9,2)", "nullable": True},
        {"name": "c", "type": "STRUCT(x INTEGER)[]", "nullable": True},
    ]
    assert tables["v"]["kind"] == "view"


def test_the_frozen_catalog_holds_the_last_snapshot_alone(published):
    version = published.publish("INSERT INTO lake.t VALUES (100)", "DELETE FROM lake.t WHERE i = 1")
    assert published.repo.frozen(version, "SELECT count(*) FROM raw.ducklake_snapshot") == [(1,)]
    version = published.repo.folder / "versions" / version
    assert not list(version.glob("*.wal"))


def test_keep_snapshots_keeps_those_since_the_parent(published):
    published.write("INSERT INTO lake.t VALUES (100)", "INSERT INTO lake.t VALUES (200)")
    published.commit("--keep-snapshots")
    published.push()
    with published.repo.reader() as con:
        kept = [row[0] for row in con.execute("SELECT snapshot_id FROM ducklake_snapshots('lake')").fetchall()]
        assert kept == [2, 3]
        for snapshot, rows in ((2, 11), (3, 12)):
            found = con.execute(f"SELECT count(*) FROM lake.t AT (VERSION => {snapshot})").fetchone()
            assert found == (rows,)


def test_a_description_given_by_its_publisher_is_kept_and_inherited(published):
    given = published.folder / "about.json"
    given.write_text(
        json.dumps(
            {
                "title": "Numbers",
                "license": "CC0",
                "tables": [{"schema": "main", "name": "t", "source": "made", "columns": [{"name": "i", "unit": "1"}]}],
            }
        )
    )
    published.commit("--dataset", given)
    published.push()
    described = published.repo.dataset(published.repo.head())
    assert described["title"] == "Numbers" and described["tables"][0]["source"] == "made"
    assert described["tables"][0]["columns"][0]["unit"] == "1" and described["tables"][0]["rows"] == 10
    published.publish("INSERT INTO lake.t VALUES (100)")
    described = published.repo.dataset(published.repo.head())
    assert described["license"] == "CC0" and described["tables"][0]["rows"] == 11


@pytest.mark.parametrize(
    "wrong, named",
    [
        ({"tables": [{"schema": "main", "name": "nowhere"}]}, "nowhere"),
        ({"tables": [{"schema": "main", "name": "t", "columns": [{"name": "nothing"}]}]}, "nothing"),
    ],
)
def test_a_description_of_what_does_not_exist_is_refused_naming_it(published, wrong, named):
    given = published.folder / "about.json"
    given.write_text(json.dumps(wrong))
    assert f"{named}'" in published.commit("--dataset", given, code=REFUSED).complaint
    assert published.pending() == []


# ---- reading -----------------------------------------------------------------------------------------------------------


def test_url_is_where_the_catalog_lies(published):
    url = fdl("url", published.repo.address).stdout
    assert url == str(published.repo.version_file(published.repo.head(), "ducklake.duckdb")) + "\n"
    assert os.path.isfile(url.rstrip("\n"))


def test_attach_takes_any_name_for_the_lake(published):
    for name in ("mine", "two words", 'quo"te', "select", "日本"):
        statement = fdl("attach", published.repo.address, "--as", name).attach
        with duck(statement) as con:
            quoted = '"' + name.replace('"', '""') + '"'
            assert con.execute(f"SELECT count(*) FROM {quoted}.t").fetchone() == (10,)


def test_a_reader_cannot_change_what_it_reads(published):
    with published.repo.reader() as con, pytest.raises(Exception, match="read-only"):
        con.execute("INSERT INTO lake.t VALUES (1)")


def test_an_attach_without_data_path_reads_too(published):
    """What the catalog itself says of its data folder: enough where the repository has not moved."""
    url = fdl("url", published.repo.address).stdout.strip()
    with duck(f"ATTACH {text('ducklake:' + url)} AS lake (READ_ONLY)") as con:
        assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (10,)


def test_a_moved_repository_is_read_at_its_new_place(published):
    """No absolute path in the catalog defeats the DATA_PATH of the statement."""
    published.write("DELETE FROM lake.t WHERE i = 3")
    published.commit()
    published.push()
    moved = published.folder / "moved here"
    published.repo.folder.rename(moved)
    with duck(fdl("attach", moved).attach) as con:
        assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (9,)


def test_show_tells_of_record_tables_and_columns(published):
    shown = fdl("show", published.repo.address).stdout
    assert published.repo.head() in shown and "ten numbers" in shown and "Ada Writer" in shown
    assert "table main.t: 10 rows" in shown and "INTEGER" in shown


def test_log_is_newest_first_and_takes_a_number_and_a_revision(published):
    versions = [published.repo.head()]
    for number in range(3):
        versions.insert(0, published.publish(f"INSERT INTO lake.t VALUES ({number})", message=f"step {number}"))
    log = fdl("log", published.repo.address).stdout
    assert re.findall(r"^version (\S+)", log, re.MULTILINE) == versions
    assert "    step 2" in log
    assert re.findall(r"^version (\S+)", fdl("log", published.repo.address, "-n", 2).stdout, re.MULTILINE) == versions[:2]
    from_second = fdl("log", published.repo.address, "main~1", "-n1").stdout
    assert re.findall(r"^version (\S+)", from_second, re.MULTILINE) == versions[1:2]


# ---- revisions ---------------------------------------------------------------------------------------------------------


def test_every_form_of_a_revision_finds_its_version(published):
    first = published.repo.head()
    second = published.publish("INSERT INTO lake.t VALUES (100)")
    repo = published.repo.address
    fdl("branch", repo, "side/one", first)
    fdl("tag", repo, "v1.0", first)
    for revision, version in (
        (None, second),
        ("HEAD", second),
        ("main", second),
        ("refs/heads/main", second),
        (second, second),
        (second[:13], second),
        ("main~0", second),
        ("main~1", first),
        ("HEAD~1", first),
        ("main~", first),
        (f"{second}~1", first),
        ("refs/heads/main~1", first),
        ("side/one", first),
        ("refs/heads/side/one", first),
        ("v1.0", first),
        ("refs/tags/v1.0", first),
        ("refs/tags/v1.0~0", first),
    ):
        found = fdl("url", repo, *([revision] if revision else []), "--json").json
        assert found["id"] == version, revision


def test_a_branch_wins_over_a_tag_and_a_full_name_over_both(published):
    first = published.repo.head()
    second = published.publish("INSERT INTO lake.t VALUES (100)")
    repo = published.repo.address
    fdl("branch", repo, "same", second)
    fdl("tag", repo, "same", first)
    assert fdl("url", repo, "same", "--json").json["id"] == second
    assert fdl("url", repo, "refs/tags/same", "--json").json["id"] == first


@pytest.mark.parametrize(
    "revision, code",
    [
        ("nothing", NOT_FOUND),
        ("refs/heads/nothing", NOT_FOUND),
        ("main~1", NOT_FOUND),
        ("main~99999999999999999999", USAGE),
        ("main~x", USAGE),
        ("01", NOT_FOUND),
        ("ffffffff", NOT_FOUND),
        ("ffffffff-ffff-7fff-bfff-ffffffffffff", NOT_FOUND),
        ("../fdl.json", USAGE),
        ("refs/heads/../../fdl.json", USAGE),
    ],
)
def test_a_revision_that_finds_nothing_says_so(published, revision, code):
    """Exit 5 for what is not there, 2 for what cannot be a revision."""
    for command in ("url", "attach", "log", "show"):
        assert fdl(command, published.repo.address, revision, code=code).complaint.startswith("fdl: ")


def test_an_ambiguous_id_prefix_is_a_usage_error_that_says_so(published):
    second = published.publish("INSERT INTO lake.t VALUES (100)")
    twin = second[:20] + ("a" if second[20] != "a" else "b") + second[21:]
    shutil.copytree(published.repo.path("versions", second), published.repo.path("versions", twin))
    assert "ambiguous" in fdl("url", published.repo.address, second[:13], code=USAGE).complaint


# ---- branch and tag ----------------------------------------------------------------------------------------------------


def test_branches_and_tags_are_made_listed_and_deleted(published):
    repo, version = published.repo.address, published.repo.head()
    fdl("branch", repo, "side")
    fdl("tag", repo, "v1")
    assert fdl("branch", repo).stdout.split() == ["*", "main", version, "side", version]
    assert fdl("tag", repo).stdout.split() == ["v1", version]
    listed = json.loads(published.repo.path("refs.json").read_text())["refs"]
    assert listed == {f"refs/{name}": version for name in ("heads/main", "heads/side", "tags/v1")}
    fdl("branch", repo, "-d", "side")
    fdl("tag", repo, "v1", "--delete")
    assert fdl("branch", repo).stdout.split() == ["*", "main", version]
    assert fdl("tag", repo).stdout == ""
    assert json.loads(published.repo.path("refs.json").read_text())["refs"] == {"refs/heads/main": version}


def test_a_tag_that_exists_is_a_conflict_and_does_not_move(published):
    first = published.repo.head()
    fdl("tag", published.repo.address, "v1")
    published.publish("INSERT INTO lake.t VALUES (100)")
    assert "'v1'" in fdl("tag", published.repo.address, "v1", code=CONFLICT).complaint
    assert fdl("url", published.repo.address, "v1", "--json").json["id"] == first


def test_a_branch_that_exists_is_a_conflict(published):
    assert "'main'" in fdl("branch", published.repo.address, "main", code=CONFLICT).complaint


def test_a_name_and_a_name_below_it_cannot_both_exist(published):
    fdl("branch", published.repo.address, "a/b")
    fdl("branch", published.repo.address, "a", code=CONFLICT)
    fdl("branch", published.repo.address, "a/b/c", code=CONFLICT)
    fdl("tag", published.repo.address, "a")


def test_the_default_branch_cannot_be_deleted(published):
    assert "HEAD" in fdl("branch", published.repo.address, "-d", "main", code=REFUSED).complaint
    fdl("branch", published.repo.address, "-d", "nothing", code=NOT_FOUND)
    fdl("tag", published.repo.address, "-d", "nothing", code=NOT_FOUND)


def test_a_deleted_name_can_be_made_again(published):
    for _ in range(2):
        fdl("branch", published.repo.address, "deep/er/side")
        fdl("branch", published.repo.address, "deep/er/side", "-d")
    fdl("branch", published.repo.address, "deep")


# ---- places ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two words", "it's", 'say "hi"', "a;b", "ünïcödé 表", "100%", "%20", "a+b", "#hash"])
def test_a_repository_may_lie_at_any_path(tmp_path, name):
    lake = Lake(tmp_path, repo=Repo(tmp_path / name / "repo"))
    lake.work = tmp_path / name / "work.sqlite"
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)", "DELETE FROM lake.t WHERE i = 3")
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(9,)]
    lake.checkout()
    lake.publish("INSERT INTO lake.t VALUES (100)")
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(10,)]


def test_every_spelling_of_a_path_is_the_same_repository(published):
    folder, parent = published.repo.folder, published.repo.folder.parent
    link = parent / "link"
    link.symlink_to(folder)
    head = published.repo.head()
    for cwd, address in (
        (None, str(folder)),
        (None, f"{folder}/"),
        (None, f"{folder}//"),
        (None, f"{parent}/./repo/../repo/"),
        (None, str(link)),
        (parent, "repo"),
        (parent, "./repo/"),
        (folder, "."),
    ):
        assert fdl("url", address, "--json", cwd=cwd).json["id"] == head, address
        with duck(fdl("attach", address, cwd=cwd).attach) as con:
            assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (10,)


def test_work_through_a_link_is_published_with_relative_names(published):
    """The same file under two spellings is one file, inside the data folder."""
    link = published.folder / "link"
    link.symlink_to(published.repo.folder)
    there = published.folder / "there"
    there.mkdir()
    lake = Lake(there, repo=published.repo)
    lake.attach = fdl("checkout", link, lake.work).attach
    lake.publish("INSERT INTO lake.t VALUES (100)")
    foreign = published.repo.data / "main" / "t" / "foreign.parquet"
    lake.write(
        f"COPY (SELECT 7::INT AS i) TO {text(foreign)}",
        f"CALL ducklake_add_data_files('lake', 't', {text(foreign)})",
    )
    lake.commit()
    lake.push()
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(12,)]
    paths = published.repo.frozen(published.repo.head(), "SELECT path, path_is_relative FROM raw.ducklake_data_file")
    assert all(relative and not path.startswith("/") for path, relative in paths), paths


def test_a_repository_does_not_touch_a_neighbour_with_a_longer_name(tmp_path):
    one = Lake(tmp_path, repo=Repo(tmp_path / "lake"))
    one.checkout()
    other = Repo(tmp_path / "lake2")
    before = other.contents()
    one.publish(*numbers(3))
    assert other.contents() == before


def test_a_working_catalog_may_not_lie_in_the_repository(published):
    for work in (published.repo.path("work.sqlite"), published.repo.path("data", "work.sqlite")):
        assert "repository" in fdl("checkout", published.repo.address, work, code=REFUSED).complaint
        assert not work.exists()


def test_the_working_catalog_is_sqlite_with_the_indexes_and_types_of_ducklake_itself(published, tmp_path):
    published.checkout()
    plain = tmp_path / "plain.sqlite"
    attach = (
        f"ATTACH {text(f'ducklake:{plain}')} AS lake (META_TYPE 'sqlite', "
        f"DATA_PATH {text(f'{tmp_path}/d/')}, DATA_INLINING_ROW_LIMIT 0)"
    )
    with duck(attach) as con:
        con.execute("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)")

    def schema(path):
        with closing(sqlite3.connect(path)) as con:
            found = {}
            for (table,) in con.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                columns = con.execute(f"SELECT name, type, \"notnull\", pk FROM pragma_table_info('{table}')").fetchall()
                indexes = con.execute(
                    f"""SELECT i."unique", group_concat(c.name) FROM pragma_index_list('{table}') i,
                        pragma_index_info(i.name) c GROUP BY i.name ORDER BY 2"""
                ).fetchall()
                found[table] = (columns, indexes)
            return found

    assert schema(published.work) == schema(plain)
