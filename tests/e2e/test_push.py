"""Push: what waits goes in order, what is stale is refused and kept, and nothing new is nothing to do."""

import re

from harness import CONFLICT, REFUSED, Lake, duck, fdl, numbers

# ---- nothing new -------------------------------------------------------------------------------------------------------


def nothing_to_commit(lake, *options):
    said = lake.commit(*options).stdout
    assert "nothing to commit" in said
    return said


def test_a_commit_of_the_same_snapshot_makes_no_version(published):
    assert published.repo.head() in nothing_to_commit(published)
    assert published.pending() == []


def test_a_commit_after_create_and_drop_makes_no_version(published):
    published.write("CREATE TABLE lake.x AS SELECT 1 AS i", "DROP TABLE lake.x")
    nothing_to_commit(published)
    published.write("INSERT INTO lake.t VALUES (100)")
    published.commit()
    assert len(published.pending()) == 1


def test_a_commit_after_there_and_back_again_makes_no_version(published):
    published.write(
        "ALTER TABLE lake.t RENAME TO u",
        "ALTER TABLE lake.u RENAME TO t",
        "COMMENT ON TABLE lake.t IS 'x'",
        "COMMENT ON TABLE lake.t IS NULL",
        "CREATE VIEW lake.v AS SELECT 1 AS one",
        "DROP VIEW lake.v",
        "CREATE SCHEMA lake.s",
        "DROP SCHEMA lake.s",
    )
    nothing_to_commit(published)


def test_a_commit_after_a_new_checkout_makes_no_version(published):
    """Twice in a row: nothing changes on the way there and back."""
    for _ in range(2):
        published.checkout()
        nothing_to_commit(published)
        published.write("CREATE TABLE lake.x AS SELECT 1 AS i", "DROP TABLE lake.x")
        nothing_to_commit(published)


def test_a_commit_of_an_empty_repository_makes_no_version(lake):
    nothing_to_commit(lake)
    assert "nothing to push" in lake.push().stdout
    assert lake.repo.versions() == []


def test_every_kind_of_change_makes_a_version(published):
    published.write("CREATE SCHEMA lake.s", "CREATE VIEW lake.v AS SELECT 1 AS one", "CREATE TABLE lake.e (a INTEGER)")
    published.commit()
    for change in (
        "INSERT INTO lake.t VALUES (100)",
        "DELETE FROM lake.t WHERE i = 3",
        "UPDATE lake.t SET i = 50 WHERE i = 5",
        "ALTER TABLE lake.t ADD COLUMN b VARCHAR",
        "ALTER TABLE lake.t ALTER b SET DEFAULT 'x'",
        "ALTER TABLE lake.t RENAME COLUMN b TO c",
        "COMMENT ON TABLE lake.t IS 'x'",
        "COMMENT ON COLUMN lake.t.c IS 'x'",
        "ALTER TABLE lake.t SET PARTITIONED BY (i)",
        "ALTER TABLE lake.t SET SORTED BY (i)",
        "CREATE OR REPLACE VIEW lake.v AS SELECT 2 AS one",
        "COMMENT ON VIEW lake.v IS 'x'",
        "CREATE MACRO lake.m(x) AS x + 1",
        "CREATE OR REPLACE MACRO lake.m(x) AS x + 2",
        "DROP MACRO lake.m",
        "DROP SCHEMA lake.s",
        "INSERT INTO lake.e VALUES (1)",
        "ALTER TABLE lake.e ALTER a SET NOT NULL",
        "DROP TABLE lake.e",
    ):
        before = len(published.pending())
        published.write(change)
        published.commit()
        assert len(published.pending()) == before + 1, change


def test_allow_empty_makes_a_version_without_a_change(published):
    first = published.repo.head()
    published.commit("--allow-empty", message="as it was")
    published.push()
    record = published.repo.record(published.repo.head())
    assert record["parents"] == [first] and record["message"] == "as it was"
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(10,)]


def test_allow_empty_starts_a_repository_without_any_table(lake):
    lake.commit("--allow-empty")
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake'") == [(0,)]
    lake.checkout()
    lake.publish(*numbers(3))
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(3,)]


# ---- in order ----------------------------------------------------------------------------------------------------------


def test_several_commits_wait_and_are_pushed_in_order(published):
    first = published.repo.head()
    for number in range(4):
        published.write(f"INSERT INTO lake.t VALUES ({100 + number})")
        published.commit(message=f"step {number}")
    assert len(published.pending()) == 4
    assert published.repo.head() == first
    waiting = fdl("status", published.work, "--json").json["pending"]
    said = published.push().stdout
    assert re.findall(r"main -> (\S+)", said) == waiting
    log = fdl("log", published.repo.address, "--json").json["versions"]
    assert [version["message"] for version in log] == ["step 3", "step 2", "step 1", "step 0", "ten numbers"]
    assert [version["id"] for version in log] == [*reversed(waiting), first]
    for back, rows in enumerate([14, 13, 12, 11, 10]):
        assert published.repo.read("SELECT count(*) FROM lake.t", f"main~{back}") == [(rows,)]
    assert published.pending() == []


def test_a_second_push_has_nothing_to_do(published):
    before = published.repo.contents()
    assert "nothing to push" in published.push().stdout
    assert published.repo.contents() == before


def test_a_push_with_nothing_to_do_repairs_a_stale_refs_json(published):
    refs = published.repo.path("refs.json")
    right = refs.read_bytes()
    refs.write_text('{"head":"refs/heads/main","refs":{}}')
    published.push()
    assert refs.read_bytes() == right
    refs.unlink()
    published.push()
    assert refs.read_bytes() == right


# ---- stale -------------------------------------------------------------------------------------------------------------


def test_a_stale_push_is_a_conflict_that_keeps_the_version_and_says_how_to_redo(published):
    other = published.another("other")
    other.publish("INSERT INTO lake.t VALUES (1000)")
    head = published.repo.head()
    published.write("INSERT INTO lake.t VALUES (2000)")
    published.commit()
    waiting, before = published.pending(), published.repo.contents()
    complaint = published.push(code=CONFLICT).complaint
    assert "'main'" in complaint and "checkout" in complaint
    assert published.pending() == waiting
    assert published.repo.contents() == before and published.repo.head() == head
    assert published.push(code=CONFLICT).complaint == complaint


def test_stale_work_is_redone_on_a_new_checkout_while_the_old_one_is_kept(published):
    other = published.another("other")
    published.write("INSERT INTO lake.t VALUES (2000)")
    published.commit()
    other.publish("INSERT INTO lake.t VALUES (1000)")
    published.push(code=CONFLICT)
    published.checkout(code=REFUSED)
    published.checkout("--force")
    published.publish("INSERT INTO lake.t VALUES (2000)")
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(12,)]


def test_stale_work_can_go_to_a_branch_of_its_own(published):
    base = published.repo.head()
    other = published.another("other")
    published.write("INSERT INTO lake.t VALUES (2000)")
    published.commit()
    other.publish("INSERT INTO lake.t VALUES (1000)")
    published.push(code=CONFLICT)
    published.push("--branch", "mine")
    assert published.repo.record(published.repo.head("mine"))["parents"] == [base]
    assert published.repo.read("SELECT max(i) FROM lake.t", "mine") == [(2000,)]
    assert published.repo.read("SELECT max(i) FROM lake.t", "main") == [(1000,)]


def test_a_push_to_a_deleted_branch_is_a_conflict(published):
    fdl("branch", published.repo.address, "side")
    published.checkout("--ref", "side")
    published.write("INSERT INTO lake.t VALUES (100)")
    published.commit()
    fdl("branch", published.repo.address, "-d", "side")
    assert "'side'" in published.push(code=CONFLICT).complaint
    assert len(published.pending()) == 1


def test_two_first_versions_of_an_empty_repository_conflict(lake):
    other = lake.another("other")
    lake.publish(*numbers(3))
    other.write(*numbers(5))
    other.commit()
    other.push(code=CONFLICT)
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(3,)]


def test_a_repository_made_anew_at_the_same_place_is_another_one(published):
    published.write("INSERT INTO lake.t VALUES (100)")
    published.commit()
    config = published.repo.path("fdl.json")
    config.write_text(config.read_text().replace(published.repo.config()["id"], "01890a5d-ac96-774b-bcce-b302099a8057"))
    assert "id" in published.push(code=CONFLICT).complaint
    assert len(published.pending()) == 1


# ---- checkout over work ------------------------------------------------------------------------------------------------


def test_checkout_does_not_overwrite_work_that_is_not_committed(published):
    published.write("INSERT INTO lake.t VALUES (100)")
    work, state = published.work.read_bytes(), sorted(published.state.rglob("*"))
    assert "--force" in published.checkout(code=REFUSED).complaint
    assert published.work.read_bytes() == work and sorted(published.state.rglob("*")) == state
    published.publish()
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(11,)]


def test_checkout_does_not_overwrite_versions_that_are_not_pushed(published):
    published.write("INSERT INTO lake.t VALUES (100)")
    published.commit()
    assert "--force" in published.checkout(code=REFUSED).complaint
    published.push()
    published.checkout()


def test_checkout_over_pushed_work_needs_no_force(published):
    published.publish("INSERT INTO lake.t VALUES (100)")
    published.checkout("--ref", "main~1")
    assert published.read("SELECT count(*) FROM lake.t") == [(10,)]


def test_a_forced_checkout_keeps_a_backup_that_can_be_committed_and_pushed(published):
    published.write("INSERT INTO lake.t VALUES (100)")
    published.commit(message="waiting")
    published.write("INSERT INTO lake.t VALUES (200)")
    said = fdl("checkout", published.repo.address, published.work, "--force", "--json").json
    assert published.read("SELECT count(*) FROM lake.t") == [(10,)]
    backup = Lake(published.folder, repo=published.repo)
    backup.work = type(published.work)(said["backup"])
    backup.attach = fdl("status", backup.work).attach
    assert backup.read("SELECT count(*) FROM lake.t") == [(12,)]
    backup.commit()
    backup.push()
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(12,)]
    assert published.repo.read("SELECT count(*) FROM lake.t", "main~1") == [(11,)]


def test_forced_checkouts_keep_every_backup(published):
    kept = set()
    for number in range(3):
        published.write(f"INSERT INTO lake.t VALUES ({number})")
        kept.add(fdl("checkout", published.repo.address, published.work, "--force", "--json").json["backup"])
    assert len(kept) == 3 and all(type(published.work)(path).exists() for path in kept)


def test_checkout_does_not_overwrite_a_file_that_it_did_not_make(published, tmp_path):
    """Whatever lies there is not ours to throw away."""
    for content in (b"", b"precious notes", b"SQLite format 3\0" + b"x" * 100):
        precious = tmp_path / "precious"
        precious.write_bytes(content)
        fdl("checkout", published.repo.address, precious, code=REFUSED)
        assert precious.read_bytes() == content
    kept = fdl("checkout", published.repo.address, precious, "--force", "--json").json["backup"]
    assert open(kept, "rb").read() == content


def test_a_working_catalog_and_its_state_that_do_not_belong_together_are_refused(published):
    """Replaced by hand: the state says what it was made from."""
    other = published.another("other")
    other.publish("INSERT INTO lake.t VALUES (100)")
    published.work.write_bytes(other.work.read_bytes())
    assert "do not belong together" in published.commit(code=1).complaint
    published.checkout("--force")
    assert published.read("SELECT count(*) FROM lake.t") == [(11,)]


def test_a_lake_that_duckdb_made_by_itself_can_not_be_committed(lake):
    """No state beside it: it was never checked out."""
    plain = lake.folder / "plain.sqlite"
    with duck(f"ATTACH 'ducklake:{plain}' AS lake (META_TYPE 'sqlite', DATA_PATH '{lake.folder}/plain/')") as con:
        con.execute("CREATE TABLE lake.t AS SELECT 1 AS i")
    assert "checkout" in fdl("commit", plain, "-m", "x", code=5).complaint
