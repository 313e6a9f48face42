"""Taking care of history: what restore, expire, gc and withdraw change, what they leave alone, and what they say."""

import json
import os
import re
import shutil
import time

import pytest
from harness import EXPIRED, FAILURE, NOT_FOUND, OK, REFUSED, USAGE, Lake, Mirror, Repo, duck, fdl, held, numbers
from test_interruption import Rewind, killed_everywhere

DAY = 24 * 60 * 60


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """Six versions, each of which rebuilds a table of its number; made once, for it takes its time."""
    lake = Lake(tmp_path_factory.mktemp("six"))
    lake.checkout()
    return lake, [
        lake.publish(f"CREATE OR REPLACE TABLE lake.t AS SELECT {number} AS n, range AS i FROM range(10)")
        for number in range(1, 7)
    ]


@pytest.fixture
def versions(six, tmp_path):
    """A repository with six versions, their ids from 1 on, and a working catalog."""
    made, ids = six
    shutil.copytree(made.repo.folder, tmp_path / "repo")
    lake = Lake(tmp_path, repo=Repo(tmp_path / "repo"))
    lake.checkout()
    lake.ids = [None, *ids]
    return lake


def age(lake, seconds, part=""):
    """Lets time pass for what lies in the repository."""
    then = time.time() - seconds
    for path in lake.repo.path(part).rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def number_of(lake, revision=None):
    return lake.repo.read("SELECT max(n) FROM lake.t", revision)[0][0]


def sound(lake):
    fdl("verify", lake.repo.address, "--all", "--data")


# ---- restore -----------------------------------------------------------------------------------------------------------


def test_a_restored_version_has_the_old_content_and_shares_its_files(versions):
    files = versions.repo.data_files()
    old = versions.repo.head()
    said = fdl("restore", versions.repo.address, versions.ids[2], "-m", "6 was wrong", "--json").json
    head = versions.repo.head()
    assert said == {"made": True, "id": head, "seq": 7, "from": versions.ids[2], "branch": "main"}
    assert number_of(versions) == 2 and number_of(versions, old) == 6
    assert versions.repo.data_files() == files
    record = versions.repo.record(head)
    assert record["parents"] == [old] and record["message"] == "6 was wrong"
    assert record["ducklake"]["snapshot_id"] > versions.repo.record(old)["ducklake"]["snapshot_id"]
    assert versions.repo.dataset(head)["tables"] == versions.repo.dataset(versions.ids[2])["tables"]
    sound(versions)


def test_restoring_what_is_there_makes_no_version(versions):
    fdl("restore", versions.repo.address, "HEAD~3", "-m", "back")
    contents = versions.repo.contents()
    for revision in ("HEAD", versions.ids[3]):
        said = fdl("restore", versions.repo.address, revision, "-m", "again", "--json").json
        assert said["made"] is False and said["id"] == versions.repo.head()
    assert versions.repo.contents() == contents


def test_work_goes_on_from_a_restored_version_and_no_id_repeats(lake):
    lake.publish(
        "CREATE TABLE lake.t (i INTEGER, s VARCHAR)",
        "INSERT INTO lake.t SELECT range, 'a' FROM range(10)",
        "CREATE TABLE lake.gone (i INTEGER)",
        "INSERT INTO lake.gone VALUES (1), (2)",
        "CREATE TABLE lake.empty (i INTEGER)",
    )
    first = lake.repo.head()
    lake.publish(
        "INSERT INTO lake.t SELECT range, 'b' FROM range(100, 120)",
        "ALTER TABLE lake.t ADD COLUMN c INTEGER DEFAULT 7",
        "INSERT INTO lake.gone VALUES (3), (4), (5)",
        "INSERT INTO lake.empty VALUES (1)",
    )
    lake.publish("DROP TABLE lake.gone", "CREATE TABLE lake.other AS SELECT 1 AS i", "ALTER TABLE lake.t DROP COLUMN c")
    tip = lake.repo.record(lake.repo.head())["ducklake"]["snapshot_id"]
    fdl("restore", lake.repo.address, first, "-m", "back")
    lake.checkout()
    given = lake.read("SELECT max(next_file_id), max(next_catalog_id) FROM __ducklake_metadata_lake.ducklake_snapshot")
    lake.write(
        "INSERT INTO lake.t VALUES (1000, 'new')",
        "INSERT INTO lake.gone VALUES (9)",
        "INSERT INTO lake.empty VALUES (8)",
        "ALTER TABLE lake.t ADD COLUMN d INTEGER DEFAULT 3",
        "INSERT INTO lake.t VALUES (1001, 'newer', 4)",
        "UPDATE lake.t SET s = 'u' WHERE i = 2",
        "DELETE FROM lake.t WHERE i = 4",
        "CREATE TABLE lake.next AS SELECT 1 AS i",
    )
    assert lake.read("SELECT rowid FROM lake.t WHERE i = 1000")[0][0] >= 30
    assert lake.read("SELECT rowid FROM lake.gone WHERE i = 9") == [(5,)]
    assert lake.read("SELECT rowid FROM lake.empty") == [(1,)]
    assert lake.read("SELECT i FROM lake.empty WHERE i > 5") == [(8,)]
    columns = lake.read("SELECT max(column_id) FROM __ducklake_metadata_lake.ducklake_column WHERE column_name = 'd'")
    assert columns[0][0] > 3
    ids = lake.read("SELECT min(data_file_id) FROM __ducklake_metadata_lake.ducklake_data_file WHERE begin_snapshot > " + str(tip + 1))
    assert ids[0][0] >= given[0][0]
    lake.write("CALL lake.merge_adjacent_files()", "CALL ducklake_rewrite_data_files('lake', 't', delete_threshold => 0)")
    rows = lake.read("SELECT * FROM lake.t ORDER BY i")
    lake.commit()
    lake.push()
    assert lake.repo.read("SELECT * FROM lake.t ORDER BY i") == rows and len(rows) == 11
    with lake.writer() as con:
        assert con.execute("SELECT count(*) FROM ducklake_snapshots('lake')").fetchone()[0] > 5
    sound(lake)


def test_no_row_id_repeats_when_another_branch_brings_a_table_back(lake):
    """Its line is longer than the branch's own, on which the table had got further before it was dropped."""
    lake.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(5)")
    fdl("branch", lake.repo.address, "side")
    grown = lake.publish("INSERT INTO lake.t SELECT range FROM range(100, 120)")
    lake.publish("DROP TABLE lake.t", "CREATE TABLE lake.other AS SELECT 1 AS i")
    lake.checkout("--ref", "side", "--force")
    for number in range(3):
        lake.publish(f"INSERT INTO lake.t VALUES ({number})")
    fdl("restore", lake.repo.address, "side", "-m", "as it was there")
    lake.checkout("--force")
    lake.publish("INSERT INTO lake.t VALUES (777)")
    assert lake.repo.read("SELECT max(rowid) FROM lake.t", grown) == [(24,)]
    assert lake.repo.read("SELECT rowid FROM lake.t WHERE i = 777") == [(25,)]
    sound(lake)


def test_views_comments_and_the_description_come_back(lake, tmp_path):
    described = tmp_path / "dataset.json"
    described.write_text(json.dumps({"title": "Numbers", "tables": [{"schema": "main", "name": "t", "source": "a book"}]}))
    lake.write(*numbers(10), "CREATE VIEW lake.v AS SELECT count(*) AS n FROM t", "COMMENT ON TABLE lake.t IS 'the t'")
    lake.commit("--dataset", described)
    lake.push()
    first = lake.repo.head()
    lake.publish("DROP VIEW lake.v", "COMMENT ON TABLE lake.t IS 'other'", "DELETE FROM lake.t")
    fdl("restore", lake.repo.address, first, "-m", "back")
    assert lake.repo.read("FROM lake.v") == [(10,)]
    dataset = lake.repo.dataset(lake.repo.head())
    assert dataset == lake.repo.dataset(first)
    lake.checkout()
    lake.publish("COMMENT ON TABLE lake.t IS 'newest'")
    tables = {table["name"]: table for table in lake.repo.dataset(lake.repo.head())["tables"]}
    assert tables["t"]["comment"] == "newest" and tables["t"]["source"] == "a book"


def test_a_restore_onto_another_branch_leaves_heads_alone(versions):
    fdl("branch", versions.repo.address, "dev", versions.ids[5])
    fdl("restore", versions.repo.address, versions.ids[1], "-m", "x", "--branch", "dev")
    assert number_of(versions, "dev") == 1 and versions.repo.head() == versions.ids[6]
    assert versions.repo.record(versions.repo.head("dev"))["parents"] == [versions.ids[5]]


def test_what_cannot_be_restored_is_said(versions):
    repo = versions.repo.address
    fdl("expire", repo, "--keep", 3)
    assert versions.ids[1] in fdl("restore", repo, versions.ids[1], "-m", "x", code=EXPIRED).complaint
    fdl("restore", repo, "nothing", "-m", "x", code=NOT_FOUND)
    fdl("restore", repo, versions.ids[5], "-m", "x", "--branch", "nothing", code=NOT_FOUND)
    fdl("restore", repo, versions.ids[5], code=USAGE)
    assert versions.repo.head() == versions.ids[6]


def test_a_restore_killed_anywhere_leaves_the_old_or_the_new_and_can_be_repeated(tmp_path):
    lake = Lake(tmp_path / "all")
    lake.checkout()
    old = lake.publish(*numbers(10))
    new = lake.publish("DELETE FROM lake.t WHERE i < 5", "INSERT INTO lake.t VALUES (77)")
    # It works in a folder of its own; what it changes of the repository are the last of its steps.
    syscalls = "rename,renameat,renameat2,link,linkat"
    for step in killed_everywhere(Rewind(lake.folder), "restore", lake.repo.address, old, "-m", "x", syscalls=syscalls):
        if lake.repo.head() == new:
            assert lake.repo.read("SELECT count(*) FROM lake.t") == [(6,)], step
        fdl("restore", lake.repo.address, old, "-m", "x")
        assert lake.repo.read("SELECT count(*) FROM lake.t") == [(10,)], step
        assert len(fdl("log", lake.repo.address, "--json").json["versions"]) == 3, step
    sound(lake)


# ---- expire ------------------------------------------------------------------------------------------------------------


def test_who_asks_for_an_expired_version_gets_the_reason(versions):
    repo, gone = versions.repo.address, versions.ids[2]
    fdl("tag", repo, "kept", versions.ids[3])
    said = fdl("expire", repo, "--keep", 2, "--json").json
    assert [version["id"] for version in said["versions"]] == [versions.ids[1], gone, versions.ids[4]]
    assert {version["outcome"] for version in said["versions"]} == {"expired"}
    assert said["count"] == len(said["deletions"]) >= 3 and said["bytes"] > 0
    assert all(versions.repo.path(item["key"]).exists() is False for item in said["deletions"])
    marker = json.loads(versions.repo.version_file(gone, "expired.json").read_text())
    assert marker["reason"] == "retention" and marker["expired_at"].endswith("Z")
    for words in (["url", repo, gone], ["attach", repo, gone], ["checkout", repo, versions.work, "--force", "--ref", gone], ["tag", repo, "late", gone], ["branch", repo, "late", gone]):
        complaint = fdl(*words, code=EXPIRED).complaint
        assert gone in complaint and "expired on" in complaint, words
        error = fdl(*words, "--json", code=EXPIRED).json["error"]
        assert error["code"] == "expired", words
    assert "expired on" in fdl("show", repo, gone).stdout
    log = fdl("log", repo, "--json").json["versions"]
    assert [version["id"] for version in log] == versions.ids[:0:-1]
    assert [bool(version.get("expired")) for version in log] == [False, False, True, False, True, True]
    assert number_of(versions, "kept") == 3 and number_of(versions) == 6
    sound(versions)


def test_expire_can_be_asked_what_it_would_do(versions):
    contents = versions.repo.contents()
    dry = fdl("expire", versions.repo.address, "--keep", 2, "--dry-run", "--json").json
    assert dry["dry_run"] is True and versions.repo.contents() == contents
    done = fdl("expire", versions.repo.address, "--keep", 2, "--json").json
    assert [item["key"] for item in dry["deletions"]] == [item["key"] for item in done["deletions"]]
    assert "nothing to expire" in fdl("expire", versions.repo.address, "--keep", 2).stdout


def test_expire_by_date_keeps_what_is_younger(versions):
    fdl("expire", versions.repo.address, "--keep", 1, "--before", "2020-01-01")
    assert number_of(versions, versions.ids[1]) == 1
    fdl("expire", versions.repo.address, "--keep", 4, "--before", "2999-01-01")
    fdl("url", versions.repo.address, versions.ids[2], code=EXPIRED)
    assert number_of(versions, versions.ids[3]) == 3


@pytest.mark.parametrize("words", [[], ["--keep", "-1"], ["--keep", "x"], ["--keep", "1", "--before", "soon"], ["--before", "2026-13-01"]])
def test_expire_needs_to_be_told_clearly(tmp_path, words):
    fdl("expire", tmp_path, *words, code=USAGE)


def test_expire_of_a_branch_that_is_not_there_does_nothing(versions):
    contents = versions.repo.contents()
    fdl("expire", versions.repo.address, "--keep", 1, "--branch", "nothing", code=NOT_FOUND)
    assert versions.repo.contents() == contents


def test_an_expire_killed_anywhere_can_be_repeated(tmp_path):
    lake = Lake(tmp_path / "all")
    lake.checkout()
    ids = [lake.publish(f"CREATE OR REPLACE TABLE lake.t AS SELECT {number} AS n") for number in range(4)]
    for step in killed_everywhere(Rewind(lake.folder), "expire", lake.repo.address, "--keep", 1):
        for number, version in enumerate(ids):
            marked = lake.repo.version_file(version, "expired.json").exists()
            assert marked or number_of(lake, version) == number, step
        fdl("expire", lake.repo.address, "--keep", 1)
        assert [lake.repo.version_file(version, "ducklake.duckdb").exists() for version in ids] == [False] * 3 + [True], step
        sound(lake)


# ---- gc ----------------------------------------------------------------------------------------------------------------


def test_gc_deletes_what_no_version_needs_and_nothing_else(versions):
    repo = versions.repo
    (repo.data / "README.txt").write_text("not a data file")
    neighbour = repo.folder.with_name("repo2") / "data" / "main" / "x.parquet"
    neighbour.parent.mkdir(parents=True)
    neighbour.write_text("x")
    fdl("tag", repo.address, "kept", versions.ids[3])
    fdl("expire", repo.address, "--keep", 1)
    plan = fdl("gc", repo.address, "--grace", "0s", "--dry-run", "--json").json
    assert len(versions.repo.data_files()) == 7
    done = fdl("gc", repo.address + "/", "--grace", "0s", "--json").json
    assert sorted(item["key"] for item in plan["deletions"]) == sorted(item["key"] for item in done["deletions"])
    assert done["count"] == 4 and done["needed_files"] == 2 and done["left"] == ["data/README.txt"]
    assert {item["kind"] for item in done["deletions"]} == {"data"}
    assert len(repo.data_files()) == 3 and neighbour.exists()
    assert number_of(versions) == 6 and number_of(versions, "kept") == 3
    assert fdl("gc", repo.address, "--grace", "0s", "--json").json["deletions"] == []
    sound(versions)


def test_gc_spares_what_a_writer_may_be_about_to_publish(versions):
    versions.write("INSERT INTO lake.t VALUES (7, 1)")
    assert fdl("gc", versions.repo.address, "--json").json["young_files"] == 1
    age(versions, 13 * DAY, "data")
    assert fdl("gc", versions.repo.address, "--json").json["young_files"] == 1
    versions.commit()
    versions.push()
    assert number_of(versions) == 7
    age(versions, 15 * DAY, "data")
    assert fdl("gc", versions.repo.address, "--json").json["deletions"] == []


def test_what_no_version_came_to_name_goes_after_the_grace(versions):
    versions.write("INSERT INTO lake.t VALUES (7, 1)")
    age(versions, 15 * DAY, "data")
    assert fdl("gc", versions.repo.address, "--json").json["count"] == 1
    assert "missing" in versions.commit(code=REFUSED).complaint


def test_the_grace_of_a_file_runs_from_the_end_of_its_last_version(versions):
    age(versions, 100 * DAY)
    fdl("expire", versions.repo.address, "--keep", 1)
    said = fdl("gc", versions.repo.address, "--json").json
    assert said["deletions"] == [] and said["young_files"] == 5
    for version in versions.ids[1:6]:
        marker = versions.repo.version_file(version, "expired.json")
        marker.write_text(json.dumps({"expired_at": "2026-01-01T00:00:00Z", "reason": "retention"}))
    assert fdl("gc", versions.repo.address, "--json").json["count"] == 5
    assert number_of(versions) == 6


def test_a_nightly_rebuild_with_expire_and_gc_stays_as_large_as_it_is(lake):
    """The markers of a night are as old as the night; the files of its expired version go when their grace is over."""
    for night in range(6):
        age(lake, (6 - night) * 5 * DAY)
        lake.publish(f"CREATE OR REPLACE TABLE lake.t AS SELECT {night} AS n")
        fdl("expire", lake.repo.address, "--keep", 2)
        for marker in lake.repo.path("versions").glob("*/expired.json"):
            if marker.stat().st_mtime < time.time() - DAY:
                then = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(marker.stat().st_mtime))
                marker.write_text(json.dumps({"expired_at": then, "reason": "retention"}))
        fdl("gc", lake.repo.address, "--grace", "12d")
    assert len(lake.repo.data_files()) <= 2 + 3
    sound(lake)


def test_a_mirror_of_the_newest_version_is_looked_after_too(versions, tmp_path):
    """It holds bare records of the older versions, which need no files, and are no damage."""
    mirror = Repo(tmp_path / "mirror", "--id", versions.repo.config()["id"])
    fdl("clone", versions.repo.address, mirror.address)
    assert [path.name for path in mirror.path("versions", versions.ids[2]).iterdir()] == ["version.json"]
    kept = mirror.data_files()
    (mirror.data / "main" / "t" / "x.parquet").write_text("x")
    records = mirror.contents()
    fdl("expire", mirror.address, "--keep", 1)
    assert mirror.contents() == records
    assert [deletion["key"] for deletion in fdl("gc", mirror.address, "--grace", "0s", "--json").json["deletions"]] == [
        "data/main/t/x.parquet"
    ]
    assert mirror.data_files() == kept and mirror.read("SELECT max(n) FROM lake.t") == [(6,)]
    fdl("withdraw", mirror.address, versions.ids[2], "--yes")
    assert "withdrawn" in fdl("url", mirror.address, versions.ids[2], code=EXPIRED).complaint
    assert mirror.data_files() == kept and mirror.read("SELECT max(n) FROM lake.t") == [(6,)]
    fdl("clone", versions.repo.address, mirror.address, "--all")
    fdl("gc", mirror.address, "--grace", "0s")
    assert mirror.read("SELECT max(n) FROM lake.t", versions.ids[3]) == [(3,)]


def test_a_branch_on_a_bare_record_stops_gc(versions, tmp_path):
    mirror = Repo(tmp_path / "mirror", "--id", versions.repo.config()["id"])
    fdl("clone", versions.repo.address, mirror.address)
    mirror.path("refs", "heads", "old").write_text(versions.ids[2] + "\n")
    assert versions.ids[2] in fdl("gc", mirror.address, "--grace", "0s", code=FAILURE).complaint


@pytest.mark.parametrize("words", ["", "x", "14", "-1d", "1y", "9999999d"])
def test_gc_takes_only_a_grace_it_understands(tmp_path, words):
    fdl("gc", tmp_path, "--grace", words, code=USAGE)


def test_gc_deletes_nothing_when_a_catalog_is_damaged(versions):
    catalog = versions.repo.version_file(versions.ids[2], "ducklake.duckdb")
    catalog.write_bytes(catalog.read_bytes()[:-1])
    (versions.repo.data / "main" / "t" / "x.parquet").write_text("x")
    complaint = fdl("gc", versions.repo.address, "--grace", "0s", code=FAILURE).complaint
    assert versions.ids[2] in complaint and "nothing is deleted" in complaint
    assert len(versions.repo.data_files()) == 7


def test_versions_that_no_branch_leads_to_go_only_when_asked(versions):
    lost = versions.another("lost")
    versions.publish("INSERT INTO lake.t VALUES (7, 1)")
    lost.write("INSERT INTO lake.t VALUES (8, 1)")
    lost.commit()
    fdl("push", lost.work, "--branch", "side")
    orphan = versions.repo.head("side")
    lost.publish("INSERT INTO lake.t VALUES (9, 1)")
    child = versions.repo.head("side")
    fdl("branch", versions.repo.address, "-d", "side")
    fdl("gc", versions.repo.address, "--grace", "0s")
    assert number_of(versions, orphan) == 8
    age(versions, 20 * DAY, f"versions/{orphan}")
    fdl("gc", versions.repo.address, "--prune-unreachable")
    assert number_of(versions, orphan) == 8, "its child is too young to go, and keeps its history"
    fdl("gc", versions.repo.address, "--prune-unreachable", "--grace", "0s")
    for gone in (orphan, child):
        fdl("url", versions.repo.address, gone, code=NOT_FOUND)
        assert not [path for path in versions.repo.path("versions", gone).rglob("*") if path.is_file()]
    sound(versions)


def test_a_gc_killed_anywhere_can_be_repeated(tmp_path):
    lake = Lake(tmp_path / "all")
    lake.checkout()
    for number in range(4):
        lake.publish(f"CREATE OR REPLACE TABLE lake.t AS SELECT {number} AS n")
    fdl("expire", lake.repo.address, "--keep", 1)
    for step in killed_everywhere(Rewind(lake.folder), "gc", lake.repo.address, "--grace", "0s", syscalls="unlink,unlinkat,fsync"):
        assert number_of(lake) == 3, step
        fdl("gc", lake.repo.address, "--grace", "0s")
        assert len(lake.repo.data_files()) == 1, step
    sound(lake)


def test_a_push_that_gc_passes_at_any_step_publishes_nothing_that_is_missing(tmp_path):
    """Even without a grace: the push is held, gc takes what nobody names yet, and the push goes on."""
    lake = Lake(tmp_path / "all")
    lake.checkout()
    old = lake.publish(*numbers(10))
    lake.write("INSERT INTO lake.t VALUES (77)")
    lake.commit()
    rewind = Rewind(lake.folder)
    steps = "rename,renameat,renameat2,link,linkat"
    for step in range(1, 30):
        rewind()
        gc = lambda: fdl("gc", lake.repo.address, "--grace", "0s")  # noqa: E731
        answer, stopped = held([f"-etrace={steps}", f"-einject={steps}:signal=STOP:when={step}"], gc, "push", lake.work)
        assert stopped and answer.code in (OK, REFUSED), (step, answer)
        if answer.code == OK:  # gc has seen the version: its record was there
            break
        assert "was deleted while" in answer.complaint and lake.repo.head() == old, step
    assert step > 3 and lake.repo.read("SELECT count(*) FROM lake.t") == [(11,)]
    sound(lake)


# ---- withdraw ----------------------------------------------------------------------------------------------------------


def rewrite_statement(complaint):
    """What the message says to run, as it says it."""
    return re.search(r"rewrite the table with: (.*;)  then commit with --allow-empty", complaint).group(1)


def secrets_in(folder):
    """Files below a folder that a reader finds the secret in."""
    found = []
    for path in folder.rglob("*.parquet"):
        with duck() as con:
            if "position" not in (names := [row[0] for row in con.execute(f"DESCRIBE FROM '{path}'").fetchall()]) and "s" in names:
                found += [path] * con.execute(f"SELECT count(*) FROM '{path}' WHERE s = 'secret'").fetchone()[0]
    return found


@pytest.fixture
def leaked(lake):
    """A table with a secret in its second version and a deleted one in its third, and another table in all of them."""
    lake.publish("CREATE TABLE lake.people AS SELECT range AS i, 'ok' AS s FROM range(10)", "CREATE TABLE lake.towns AS SELECT 1 AS i")
    lake.bad = lake.publish("INSERT INTO lake.people SELECT range, CASE range WHEN 13 THEN 'secret' ELSE 'ok' END FROM range(10, 20)")
    fdl("tag", lake.repo.address, "release")
    lake.publish("DELETE FROM lake.people WHERE s = 'secret'")
    assert len(secrets_in(lake.repo.data)) == 1
    return lake


def test_a_deleted_row_is_still_in_its_file_and_withdraw_says_how_to_get_it_out(leaked):
    contents = leaked.repo.contents()
    complaint = fdl("withdraw", leaked.repo.address, leaked.bad, "--yes", code=REFUSED).complaint
    assert leaked.repo.head() in complaint and "'main.people'" in complaint and ".parquet" in complaint
    assert leaked.repo.contents() == contents
    leaked.write(rewrite_statement(complaint))
    leaked.commit("--allow-empty")
    leaked.push()
    plan = fdl("withdraw", leaked.repo.address, leaked.bad, "--json").json
    assert plan["done"] is False and len(secrets_in(leaked.repo.data)) == 1
    receipt = fdl("withdraw", leaked.repo.address, leaked.bad, "--yes", "--text", "names", "--json").json
    assert receipt["done"] is True and receipt["deletions"] == plan["deletions"] and receipt["text"] == "names"
    assert secrets_in(leaked.repo.data) == []
    assert not leaked.repo.path("refs", "tags", "release").exists()
    kinds = [item["kind"] for item in receipt["deletions"]]
    assert kinds.count("tag") == 1 and kinds.count("data") >= 2 and kinds.count("content") >= 2
    for item in receipt["deletions"]:
        assert not leaked.repo.path(item["key"]).exists()
        if item["key"].endswith("ducklake.duckdb"):
            assert item["sha256"] == leaked.repo.record(item["version"])["catalog"]["sha256"]
    assert {reader["table"] for reader in receipt["staying"]} == {"people", "towns"} and receipt["out_of_reach"]
    complaint = fdl("url", leaked.repo.address, leaked.bad, code=EXPIRED).complaint
    assert "was withdrawn on" in complaint and complaint.endswith(": names")
    assert leaked.repo.read("SELECT count(*) FROM lake.people") == [(19,)] and leaked.repo.read("FROM lake.towns") == [(1,)]
    assert "nothing to withdraw" in fdl("withdraw", leaked.repo.address, leaked.bad, "--yes").stdout
    sound(leaked)


def test_no_later_version_tells_the_smallest_and_largest_values_of_what_is_gone(lake):
    """DuckLake keeps them in the statistics of the table, whichever way the rows went."""
    columns = "i BIGINT, s VARCHAR, d DATE, z TIMESTAMPTZ, f DOUBLE, m DECIMAL(9, 2)"
    row = "INSERT INTO lake.people VALUES ({0}, '{1}', '{2}-01-01', '{2}-01-01 00:00:00+00', {0}.5, {0}.25)"
    lake.publish(f"CREATE TABLE lake.people ({columns})", row.format(10, "ok", 2010), row.format(9, "fine", 2009), "INSERT INTO lake.people (i) VALUES (10)")
    bad = lake.publish(row.format(-99, "a secret", 1066), row.format(9999, "secret", 2999))
    lake.publish("DELETE FROM lake.people WHERE s LIKE '%secret'")
    fdl("withdraw", lake.repo.address, bad, "--yes")
    assert not [path for path in lake.repo.folder.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    statistics = "SELECT column_id, min_value, max_value FROM raw.ducklake_table_column_stats ORDER BY ALL"
    dates = (3, "2009-01-01", "2010-01-01"), (4, "2009-01-01 00:00:00+00", "2010-01-01 00:00:00+00")
    assert lake.repo.frozen(lake.repo.head(), statistics) == [(1, "9", "10"), (2, "fine", "ok"), *dates, (5, "9.5", "10.5"), (6, "9.25", "10.25")]
    for condition, count in (("i > 9", 2), ("s = 'ok'", 1), ("d < '2010-01-01'", 1), ("m > 10", 1), ("m IS NULL", 1), ("s IS NOT NULL", 2)):
        assert lake.repo.read(f"SELECT count(*) FROM lake.people WHERE {condition}") == [(count,)], condition
    lake.checkout("--force")
    lake.publish(row.format(11, "older", 2011))
    for condition in ("i < 10", "s < 'h'", "d < '2010-01-01'", "z < '2010-01-01'", "f < 10", "m < 10"):
        assert lake.repo.read(f"SELECT count(*) FROM lake.people WHERE {condition}") == [(1,)], condition
    lake.publish("DELETE FROM lake.people")
    assert {values[1:] for values in lake.repo.frozen(lake.repo.head(), statistics)} == {(None, None)}
    lake.checkout("--force")
    lake.publish(row.format(7, "new", 2007))
    for condition in ("i = 7", "s = 'new'", "d > '2006-12-31'", "m = 7.25", "f < 8"):
        assert lake.repo.read(f"SELECT count(*) FROM lake.people WHERE {condition}") == [(1,)], condition
    lake.publish("CREATE TABLE lake.other AS SELECT 99 AS i", row.format(8, "old", 2008), row.format(99, "newest", 2999))
    lake.publish("DELETE FROM lake.people WHERE i = 99")  # at one end, beside a table that keeps all
    assert lake.repo.frozen(lake.repo.head(), statistics)[:3] == [(1, "7", "8"), (1, "99", "99"), (2, "new", "old")]
    sound(lake)


def test_values_that_cannot_be_compared_stay_in_the_statistics_and_find_every_row(lake):
    """Made unknown, they would be a span of the next row alone: DuckDB would look into no other file."""
    row = "INSERT INTO lake.t VALUES ({0}.25, INTERVAL {0} DAY, '\\x0{0}'::BLOB, {{'x': {0}.25::DECIMAL(20, 12)}})"
    lake.publish("CREATE TABLE lake.t (m DECIMAL(30, 10), v INTERVAL, b BLOB, s STRUCT(x DECIMAL(20, 12)))", row.format(5), row.format(6), row.format(9), row.format(1))
    lake.publish("DELETE FROM lake.t WHERE m IN (9.25, 1.25)")
    lake.checkout("--force")
    lake.publish(row.format(7))
    for condition in ("m < 6", "v < INTERVAL 6 DAY", "b < '\\x06'::BLOB", "s.x < 6"):
        assert lake.repo.read(f"SELECT count(*) FROM lake.t WHERE {condition}") == [(1,)], condition
    sound(lake)


def test_a_withdrawal_reaches_the_catalogs_that_attach_keeps_on_a_machine(leaked, tmp_path):
    """They tell the smallest and largest values: here at once, elsewhere when the version is asked for again."""
    repo, here, there = leaked.repo.address, {"XDG_CACHE_HOME": tmp_path / "here"}, {"XDG_CACHE_HOME": tmp_path / "there"}

    def kept(env):
        return [path for path in env["XDG_CACHE_HOME"].rglob("*.duckdb") if b"secret" in path.read_bytes()]

    leaked.write("DROP TABLE lake.people")
    leaked.commit()
    leaked.push()
    for env in (here, there):
        fdl("attach", repo, leaked.bad, "--local", env=env)
        fdl("attach", repo, "--local", env=env)
        assert len(kept(env)) == 1
    fdl("withdraw", repo, "--table", "main.people", env=here)
    assert len(kept(here)) == 1
    fdl("withdraw", repo, "--table", "main.people", "--yes", env=here)
    assert kept(here) == [] and len(kept(there)) == 1
    fdl("attach", repo, leaked.bad, "--local", code=EXPIRED, env=there)
    assert kept(there) == [] and len(list(tmp_path.glob("*/fdl/catalogs/*.duckdb"))) == 2


def test_a_table_finds_the_versions_by_itself_under_whatever_name_it_had(leaked):
    leaked.write("ALTER TABLE lake.people RENAME TO persons")
    leaked.commit()
    leaked.push()
    complaint = fdl("withdraw", leaked.repo.address, "--table", "main.persons", code=REFUSED).complaint
    leaked.write(rewrite_statement(complaint))
    leaked.commit("--allow-empty")
    leaked.push()
    receipt = fdl("withdraw", leaked.repo.address, "--table", "Main.PERSONS", "--yes", "--json").json
    assert len(receipt["versions"]) == 4 and all(version["given"] for version in receipt["versions"])
    assert secrets_in(leaked.repo.data) == []
    assert leaked.repo.read("SELECT count(*) FROM lake.persons") == [(19,)]
    fdl("withdraw", leaked.repo.address, "--table", "main.nobody", code=NOT_FOUND)
    sound(leaked)


def test_rows_that_a_merge_took_along_before_they_were_deleted_are_told_of(lake):
    bad = lake.publish("CREATE TABLE lake.people AS SELECT 'ok' AS s", "INSERT INTO lake.people VALUES ('secret'), ('fine')")
    lake.publish("CALL lake.merge_adjacent_files()", "DELETE FROM lake.people WHERE s = 'secret'")
    said = fdl("withdraw", lake.repo.address, bad, "--yes").stderr
    assert lake.repo.head() in said and f"'fdl withdraw {lake.repo.address}/ --table main.people'" in said and len(secrets_in(lake.repo.data)) == 1
    by_table = ["withdraw", lake.repo.address, "--table", "main.people", "--yes"]
    lake.write(rewrite_statement(fdl(*by_table, code=REFUSED).complaint))
    lake.commit("--allow-empty")
    lake.push()
    assert fdl(*by_table).stderr == "" and secrets_in(lake.repo.data) == []
    assert not [path for path in lake.repo.folder.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert lake.repo.read("FROM lake.people ORDER BY ALL") == [("fine",), ("ok",)]
    sound(lake)


def test_an_expired_version_that_names_what_goes_is_withdrawn_with_it(lake):
    """With a file of its own that gc had left for its grace."""
    old = lake.publish("CREATE TABLE lake.people AS SELECT 'secret' AS s", "CREATE TABLE lake.friends AS SELECT 'secret' AS s")
    bad = lake.publish("DROP TABLE lake.friends")
    fdl("tag", lake.repo.address, "release")
    lake.publish("CREATE OR REPLACE TABLE lake.people AS SELECT 'fine' AS s")
    fdl("expire", lake.repo.address, "--keep", 1)
    receipt = fdl("withdraw", lake.repo.address, bad, "--yes", "--json").json
    assert [(version["id"], version["given"]) for version in receipt["versions"]] == [(old, False), (bad, True)]
    assert secrets_in(lake.repo.data) == []
    for version in (old, bad):
        assert "was withdrawn on" in fdl("url", lake.repo.address, version, code=EXPIRED).complaint
        assert not lake.repo.version_file(version, "files.json").exists()
    sound(lake)


def test_mirrors_delete_what_was_withdrawn_on_their_next_run(leaked, tmp_path):
    """One has the version whole, the other had let it expire before and knows its files from their list alone."""
    repo = leaked.repo
    mirrors = [Repo(tmp_path / name, "--id", repo.config()["id"]) for name in ("whole", "expired")]
    leaked.publish("CREATE OR REPLACE TABLE lake.people AS SELECT 1 AS i, 'ok' AS s")
    for mirror in mirrors:
        fdl("clone", repo.address, mirror.address, "--all")
    fdl("tag", repo.address, "-d", "release")
    fdl("expire", repo.address, "--keep", 1)
    fdl("tag", mirrors[1].address, "-d", "release")
    fdl("clone", repo.address, mirrors[1].address)
    assert not mirrors[1].version_file(leaked.bad, "ducklake.duckdb").exists()
    fdl("withdraw", repo.address, "--table", "main.people", "--yes", "--text", "names")
    for mirror in mirrors:
        assert secrets_in(mirror.data) != []
        fdl("clone", repo.address, mirror.address)
        assert secrets_in(mirror.data) == [] and mirror.read("FROM lake.people") == [(1, "ok")]
        assert fdl("url", mirror.address, leaked.bad, code=EXPIRED).complaint.endswith(": names")
        assert not mirror.version_file(leaked.bad, "ducklake.duckdb").exists()
        assert not mirror.path("refs", "tags", "release").exists()
        sound(Lake(tmp_path, repo=mirror))
        contents = mirror.contents()
        fdl("clone", repo.address, mirror.address)
        assert mirror.contents() == contents


def test_a_mirror_deletes_what_no_ref_of_the_source_leads_to_any_more(tmp_path):
    lake = Lake(tmp_path)
    repo, mirror = lake.repo, Mirror(tmp_path / "mirror")
    lake.checkout()
    first = lake.publish("CREATE TABLE lake.people AS SELECT 1 AS id, 'secret-1' AS name")
    fdl("branch", repo.address, "dev")
    fdl("branch", repo.address, "draft")
    lake.checkout("--ref", "dev", "--force")
    lake.write("INSERT INTO lake.people VALUES (2, 'secret-2')")
    lake.commit()
    lake.push()
    leak = repo.head("dev")
    lake.checkout("--ref", "draft", "--force")
    lake.write("INSERT INTO lake.people VALUES (3, 'more')")
    lake.commit()
    lake.push()
    draft = repo.head("draft")
    lake.checkout("--force")
    fdl("clone", repo.address, mirror.address, "--all")
    # One version is withdrawn though no ref leads to it; of another, the mirror alone still knows that it reads the file.
    fdl("branch", repo.address, "-d", "dev")
    fdl("withdraw", repo.address, leak, "--yes")
    fdl("branch", repo.address, "-d", "draft")
    fdl("gc", repo.address, "--grace", "0s", "--prune-unreachable")
    lake.publish("CREATE OR REPLACE TABLE lake.people AS SELECT 4 AS id, 'fine' AS name")
    fdl("withdraw", repo.address, first, "--yes")
    for branch in ("dev", "draft"):
        complaint = fdl("clone", repo.address, mirror.address, "--all", code=REFUSED).complaint
        assert f"'{branch}'" in complaint and f"fdl branch {mirror.address}/ -d {branch}" in complaint
        fdl("branch", mirror.address, "-d", branch)
    fdl("clone", repo.address, mirror.address, "--all")
    assert mirror.data_files() == repo.data_files()
    for version in (first, leak, draft):
        assert "was withdrawn on" in fdl("url", mirror.address, version, code=EXPIRED).complaint
        assert not mirror.version_file(version, "ducklake.duckdb").exists()
    assert mirror.read("FROM lake.people") == [(4, "fine")]
    contents = mirror.contents()
    fdl("clone", repo.address, mirror.address, "--all")
    assert mirror.contents() == contents


@pytest.mark.parametrize("last", ["catalogs/ducklake.duckdb.zst", "ducklake.duckdb"])
def test_what_a_stopped_clone_left_of_a_withdrawn_version_is_deleted(tmp_path, last):
    """Nothing in the mirror, and no ref of the source, leads to it; `last` is what came over last."""
    lake, mirror = Lake(tmp_path), Mirror(tmp_path / "mirror")
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    fdl("branch", lake.repo.address, "dev")
    lake.checkout("--ref", "dev", "--force")
    lake.write("CREATE TABLE lake.people AS SELECT 'secret' AS s")
    lake.commit()
    lake.push()
    bad = lake.repo.head("dev")
    fdl("clone", lake.repo.address, mirror.address)
    fdl("branch", mirror.address, "-d", "dev")
    order = ["catalogs/ducklake.duckdb.zst", "ducklake.duckdb", "dataset.json", "files.json", "version.json"]
    for name in order[order.index(last) + 1 :]:
        mirror.version_file(bad, name).unlink()
    fdl("branch", lake.repo.address, "-d", "dev")
    fdl("withdraw", lake.repo.address, bad, "--yes")
    assert secrets_in(mirror.data) != []
    fdl("clone", lake.repo.address, mirror.address)
    if last != "ducklake.duckdb":  # before that nothing here tells which files are of it; they are gc's
        fdl("gc", mirror.address, "--grace", "0s")
    assert secrets_in(mirror.data) == [] and not list(mirror.path("versions", bad).rglob("*duckdb*"))
    assert "was withdrawn on" in fdl("url", mirror.address, bad, code=EXPIRED).complaint
    sound(Lake(tmp_path, repo=mirror))


def test_what_was_withdrawn_stays_marked_when_the_versions_before_it_are_pruned(lake):
    lake.publish("CREATE TABLE lake.people AS SELECT 1 AS i")
    fdl("branch", lake.repo.address, "dev")
    lake.checkout("--ref", "dev", "--force")
    ids = []
    for number in (2, 3):
        lake.write(f"CREATE OR REPLACE TABLE lake.people AS SELECT {number} AS i")
        lake.commit()
        lake.push()
        ids.append(lake.repo.head("dev"))
    fdl("branch", lake.repo.address, "-d", "dev")
    fdl("withdraw", lake.repo.address, ids[1], "--yes")
    fdl("gc", lake.repo.address, "--grace", "0s", "--prune-unreachable")
    fdl("url", lake.repo.address, ids[0], code=NOT_FOUND)
    assert "was withdrawn on" in fdl("url", lake.repo.address, ids[1], code=EXPIRED).complaint
    sound(lake)
    # On a line that a ref leads to, the same is a finding.
    lake.repo.path("refs", "heads", "old").write_text(ids[1] + "\n")
    assert f"'{ids[1]}' names it as its parent" in fdl("verify", lake.repo.address, "--all", code=None).stdout


def test_a_branch_that_points_to_it_stops_a_withdrawal(leaked):
    complaint = fdl("withdraw", leaked.repo.address, "HEAD", "--yes", code=REFUSED).complaint
    assert "'main'" in complaint and leaked.repo.head() in complaint
    fdl("branch", leaked.repo.address, "old", leaked.bad)
    fdl("restore", leaked.repo.address, "HEAD~2", "-m", "undo")
    assert "'old'" in fdl("withdraw", leaked.repo.address, leaked.bad, "--yes", code=REFUSED).complaint
    fdl("branch", leaked.repo.address, "-d", "old")
    fdl("withdraw", leaked.repo.address, leaked.bad, "--yes")
    assert secrets_in(leaked.repo.data) == [] and leaked.repo.read("SELECT count(*) FROM lake.people") == [(10,)]
    sound(leaked)


def test_an_original_file_can_be_withdrawn(published):
    sha = "ab" * 32
    original = published.repo.path("sources", sha)
    original.parent.mkdir()
    original.write_text("a spreadsheet")
    fdl("withdraw", published.repo.address, "--source", sha)
    assert original.exists()
    receipt = fdl("withdraw", published.repo.address, "--source", sha, "--yes", "--json").json
    assert [(item["kind"], item["sha256"]) for item in receipt["deletions"]] == [("source", sha)] and not original.exists()
    assert "withdraw it there too" in receipt["out_of_reach"][-1]
    fdl("withdraw", published.repo.address, "--source", sha, code=NOT_FOUND)
    fdl("withdraw", published.repo.address, "--source", "../fdl.json", "--yes", code=None)
    assert published.repo.path("fdl.json").exists()


@pytest.mark.parametrize("words", [[], ["--table", "people"], ["--yes"]])
def test_withdraw_needs_to_be_told_what(tmp_path, words):
    fdl("withdraw", tmp_path, *words, code=USAGE)


def test_a_withdrawal_killed_anywhere_can_be_repeated(tmp_path):
    lake = Lake(tmp_path / "all")
    lake.checkout()
    lake.publish("CREATE TABLE lake.people AS SELECT 'ok' AS s")
    old = lake.publish("CREATE OR REPLACE TABLE lake.people AS SELECT 'secret' AS s")
    bad = lake.publish("CREATE TABLE lake.towns AS SELECT 1 AS i")
    fdl("tag", lake.repo.address, "release")
    worse = lake.publish("CREATE TABLE lake.rivers AS SELECT 1 AS i")
    fdl("tag", lake.repo.address, "late")
    lake.publish("CREATE OR REPLACE TABLE lake.people AS SELECT 'fine' AS s")
    fdl("expire", lake.repo.address, "--keep", 1)
    for step in killed_everywhere(Rewind(lake.folder), "withdraw", lake.repo.address, bad, "--yes"):
        assert lake.repo.read("FROM lake.people") == [("fine",)], step
        fdl("withdraw", lake.repo.address, bad, "--yes")
        assert secrets_in(lake.repo.data) == [], step
        for version in (old, bad, worse):
            assert not lake.repo.version_file(version, "ducklake.duckdb").exists(), step
            assert json.loads(lake.repo.version_file(version, "expired.json").read_text())["reason"] == "withdrawn", step
        assert not lake.repo.path("refs", "tags", "release").exists(), step
        assert "release" not in lake.repo.path("refs.json").read_text(), step
        sound(lake)
