"""Repositories and places that are broken: one clear line, the right exit code, nothing lost."""

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest
from harness import (
    BUSY,
    EXPIRED,
    FAILURE,
    NOT_FOUND,
    OK,
    PROGRAM,
    REFUSED,
    USAGE,
    Lake,
    command,
    duck,
    environment,
    fdl,
    numbers,
    on_read_only,
)

READING = ["url", "attach", "log", "show"]


def every_reader_says(repo, code, *named):
    """All commands that read a repository fail alike, in one line that names the thing."""
    for name in READING:
        complaint = fdl(name, repo, code=code).complaint
        assert complaint.startswith("fdl: ") and all(word in complaint for word in named), complaint


# ---- no repository -----------------------------------------------------------------------------------------------------


def test_a_folder_that_does_not_exist_is_no_repository(tmp_path):
    every_reader_says(tmp_path / "nowhere", NOT_FOUND, "nowhere")
    fdl("checkout", tmp_path / "nowhere", tmp_path / "work.sqlite", code=NOT_FOUND)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_fdl_json_is_no_repository(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    every_reader_says(tmp_path, NOT_FOUND, "fdl init")
    fdl("branch", tmp_path, code=NOT_FOUND)
    fdl("tag", tmp_path, "v1", code=NOT_FOUND)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_is_no_repository(tmp_path):
    (tmp_path / "file").write_text("mine")
    for command in [*READING, "init", "branch"]:
        assert "'" in fdl(command, tmp_path / "file", code=None).complaint
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("address", ["ftp://example.org/x", "s3://", "gopher:x//"])
def test_an_address_of_an_unknown_kind_is_a_usage_error_or_not_found(address, tmp_path):
    answer = fdl("url", address, code=None, cwd=tmp_path)
    assert answer.code in (USAGE, NOT_FOUND) and answer.complaint


# ---- fdl.json ----------------------------------------------------------------------------------------------------------


BROKEN_SETTINGS = [
    b"",
    b"{",
    b"[]",
    b'"text"',
    b"\xff\xfe",
    b'{"fdl":"0.1","fdl":"0.1"}',
    b'{"id":"01890a5d-ac96-774b-bcce-b302099a8057"}',
    b'{"fdl":1}',
    b'{"fdl":"x"}',
    b'{"fdl":"0.1","data_dir":7}',
    b'{"fdl":"0.1","data_dir":"../x/"}',
    b'{"fdl":"0.1","data_dir":"/etc/"}',
    b'{"fdl":"0.1","data_dir":"versions/x/"}',
    b'{"fdl":"0.1"} trailing',
    b"[" * 100_000,
]


def needing_settings(lake):
    """The commands that need fdl.json. Finding a version does not: its own record says what it is."""
    repo = lake.repo.address
    return [
        ("init", repo),
        ("attach", repo),
        ("checkout", repo, lake.folder / "new.sqlite"),
        ("branch", repo, "side"),
        ("branch", repo, "-d", "side"),
        ("tag", repo, "v1"),
        ("commit", lake.work, "-m", "x"),
        ("push", lake.work),
    ]


def test_a_broken_fdl_json_is_a_failure_that_names_it(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    for content in BROKEN_SETTINGS:
        published.repo.path("fdl.json").write_bytes(content)
        before = published.repo.contents()
        for args in needing_settings(published):
            assert "fdl.json" in fdl(*args, code=FAILURE).complaint, (args, content[:100])
        assert published.repo.contents() == before and published.pending() == []


def test_an_unknown_major_version_of_the_repository_is_a_failure_naming_both(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    published.repo.path("fdl.json").write_text(json.dumps(published.repo.config() | {"fdl": "7.3"}))
    for args in needing_settings(published):
        complaint = fdl(*args, code=FAILURE).complaint
        assert "7.3" in complaint and "0." in complaint, args


def test_a_newer_minor_version_and_unknown_fields_are_read(published):
    config = published.repo.config()
    published.repo.path("fdl.json").write_text(json.dumps(config | {"fdl": "0.9", "colour": ["red", {"x": 1}]}))
    published.publish("INSERT INTO lake.t VALUES (1)")
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(11,)]
    assert published.repo.config()["colour"] == ["red", {"x": 1}]


def test_a_repository_without_an_id_is_readable_and_writable(published):
    config = published.repo.config()
    del config["id"]
    published.repo.path("fdl.json").write_text(json.dumps(config))
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(10,)]
    published.checkout("--force")
    published.publish("INSERT INTO lake.t VALUES (1)")
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(11,)]


# ---- HEAD and refs -----------------------------------------------------------------------------------------------------


def test_a_head_whose_branch_does_not_exist_yet_is_no_version_yet(lake):
    every_reader_says(lake.repo.address, NOT_FOUND, "no version yet", "main")
    assert fdl("branch", lake.repo.address).stdout == ""


def test_a_head_that_names_no_branch_is_a_failure_that_names_it(published):
    for content in ("", "main\n", "ref: \n", "ref: refs/tags/x\n", "ref: refs/heads/../x\n", "ref: refs/heads/A\n"):
        published.repo.path("HEAD").write_text(content)
        every_reader_says(published.repo.address, FAILURE, "HEAD")
    assert fdl("url", published.repo.address, "refs/heads/main").stdout


def test_without_a_head_init_is_named_and_makes_it_again(published):
    published.repo.path("HEAD").unlink()
    every_reader_says(published.repo.address, NOT_FOUND, "fdl init")
    fdl("init", published.repo.address)
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(10,)]


def test_refs_and_head_may_have_crlf_a_bom_or_no_final_newline(published):
    for count, form in enumerate(("{}", "{}\r\n", "\ufeff{}\n", "\ufeff{}\r\n"), 11):
        version = published.repo.head()
        published.repo.path("refs", "heads", "main").write_bytes(form.format(version).encode())
        published.repo.path("HEAD").write_bytes(form.format("ref: refs/heads/main").encode())
        assert fdl("url", published.repo.address, "--json").json["id"] == version
        published.publish("INSERT INTO lake.t VALUES (1)")
        assert published.repo.read("SELECT count(*) FROM lake.t") == [(count,)]


def test_a_ref_that_holds_no_version_id_is_a_failure_that_names_it(published):
    version = published.repo.head()
    for content in ("", "\n", "x\n", "{id}{id}", "{id}\n{id}\n", " {id}\n", "{ID}\n", "../../fdl.json\n", "{id}\0"):
        content = content.format(id=version, ID=version.upper())
        published.repo.path("refs", "heads", "main").write_text(content)
        every_reader_says(published.repo.address, FAILURE, "refs/heads/main")


BAD_NAMES = [
    *("../x", "a/../b", "..", ".", ".hidden", "a/.b", "a//b", "/a", "a/", "x.lock", "a.lock/b", "UPPER", "two words"),
    *("tab\t", "new\nline", "a\\b", "%2e%2e", "ü", "a..b", "a~1", "a^", "a:b", "-d2", "@{x", "x" * 201, "a/" * 150 + "b"),
]


@pytest.mark.parametrize("command", ["branch", "tag"])
def test_a_ref_name_that_breaks_the_rules_is_a_usage_error_and_leaves_nothing(published, command):
    """One rule for every command: nothing is ever read or written outside refs/."""
    before = published.repo.contents()
    for name in BAD_NAMES:
        assert fdl(command, published.repo.address, "--", name, code=USAGE).complaint
        assert fdl(command, published.repo.address, "-d", "--", name, code=USAGE).complaint
    assert published.repo.contents() == before


def test_a_bad_branch_name_is_refused_by_init_and_push_too(published, tmp_path):
    published.write("INSERT INTO lake.t VALUES (1)")
    published.commit()
    before = published.repo.contents()
    for name in ("../x", "a//b", "x.lock", "UPPER"):
        fdl("init", tmp_path / "other", "--branch", name, code=USAGE)
        assert not (tmp_path / "other").exists()
        published.push("--branch", name, code=USAGE)
    assert published.repo.contents() == before and len(published.pending()) == 1


def test_the_longest_ref_name_works(published):
    name = "x" * 200
    fdl("branch", published.repo.address, name)
    assert fdl("url", published.repo.address, name).stdout
    fdl("branch", published.repo.address, "-d", name)


def test_files_under_refs_that_are_no_ref_names_do_not_harm(published):
    """A person's editor or a sync tool leaves such things."""
    published.repo.path("refs", "heads", "main~").write_text("x")
    published.repo.path("refs", "heads", ".DS_Store").write_text("x")
    published.repo.path("refs", "heads", "Copy of main").write_text("x")
    published.repo.path("refs", "heads", "empty").mkdir()
    assert fdl("branch", published.repo.address).stdout.split()[:2] == ["*", "main"]
    published.publish("INSERT INTO lake.t VALUES (1)")
    assert list(json.loads(published.repo.path("refs.json").read_text())["refs"]) == ["refs/heads/main"]


# ---- versions ----------------------------------------------------------------------------------------------------------


def test_a_version_folder_without_its_record_is_no_version(published):
    version = published.repo.head()
    published.repo.version_file(version).rename(published.folder / "kept")
    every_reader_says(published.repo.address, NOT_FOUND, version)
    fdl("checkout", published.repo.address, published.folder / "new.sqlite", code=NOT_FOUND)
    (published.folder / "kept").rename(published.repo.version_file(version))
    published.publish("INSERT INTO lake.t VALUES (1)")


BAD_RECORDS = [
    ({"id": "01890a5d-ac96-774b-bcce-b302099a8057"}, "01890a5d-ac96-774b-bcce-b302099a8057"),
    ({"fdl": "3.0"}, "3.0"),
    ({"seq": "one"}, "seq"),
    ({"seq": -1}, "seq"),
    ({"parents": ["../x"]}, "parents"),
    ({"catalog": None}, "catalog"),
    ({"catalog": {"path": "../../../x", "storage": "duckdb-v1.5.0", "bytes": 1, "sha256": "0" * 64}}, "path"),
    ({"author": "me"}, "author"),
]


def test_a_record_that_is_not_what_it_should_be_is_a_failure_that_names_it(published):
    version = published.repo.head()
    right = published.repo.record(version)
    for change, named in BAD_RECORDS:
        published.repo.version_file(version).write_text(json.dumps(right | change))
        every_reader_says(published.repo.address, FAILURE, named)
    for content in (b"", b"{", b"\xff", b"null"):
        published.repo.version_file(version).write_bytes(content)
        every_reader_says(published.repo.address, FAILURE, version)


def test_unknown_fields_and_files_of_a_version_are_ignored(published):
    version = published.repo.head()
    record = published.repo.record(version) | {"colour": "red", "fdl": "0.8"}
    published.repo.version_file(version).write_text(json.dumps(record))
    published.repo.version_file(version, "preview.png").write_bytes(b"x")
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(10,)]
    published.publish("INSERT INTO lake.t VALUES (1)")


def test_a_catalog_whose_sha256_differs_is_never_checked_out(published):
    """After a failed checkout the old working catalog is byte-equal."""
    catalog = published.repo.version_file(published.repo.head(), "ducklake.duckdb")
    content = catalog.read_bytes()
    work, state = published.work.read_bytes(), sorted(path.name for path in published.state.iterdir())
    one_bit = content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
    for damaged in (one_bit, content[:-1], content + b"\0", b""):
        catalog.write_bytes(damaged)
        complaint = published.checkout(code=FAILURE).complaint
        said = "larger than" if len(damaged) > len(content) else "sha256"
        assert said in complaint and "ducklake.duckdb" in complaint
        assert published.work.read_bytes() == work
        assert sorted(path.name for path in published.state.iterdir() if path.name != "new") == state
    catalog.write_bytes(content)
    published.checkout()


def test_a_first_checkout_that_fails_leaves_nothing(published, tmp_path):
    repo, place = published.repo, tmp_path / "place"
    catalog = repo.version_file(repo.head(), "ducklake.duckdb")
    sound = catalog.read_bytes()
    catalog.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    place.mkdir()
    for work in (place / "work.sqlite", place / "new" / "and" / "deep" / "work.sqlite"):
        fdl("checkout", repo.address, work, code=FAILURE)
        assert list(place.iterdir()) == []
    # What somebody put there stays, and two who stand in line do not meet.
    (place / "work.sqlite").write_text("mine")
    fdl("checkout", repo.address, place / "work.sqlite", code=REFUSED)
    assert [path.name for path in place.iterdir()] == ["work.sqlite"]
    line = [subprocess.Popen(command("checkout", repo.address, place / "other.sqlite"), env=environment(), stderr=subprocess.PIPE) for _ in range(4)]
    assert {process.communicate()[1].count(b"is damaged") for process in line} == {1}
    assert [path.name for path in place.iterdir()] == ["work.sqlite"]
    catalog.write_bytes(sound)
    fdl("checkout", repo.address, place / "other.sqlite")


def test_a_missing_catalog_says_so_and_leaves_the_work_alone(published):
    version = published.repo.head()
    published.repo.version_file(version, "ducklake.duckdb").unlink()
    work = published.work.read_bytes()
    assert version in published.checkout(code=NOT_FOUND).complaint
    assert published.work.read_bytes() == work


def test_work_goes_on_after_its_base_catalog_was_lost_here(published):
    """What lies beside the working catalog can be fetched again."""
    (published.state / "base.duckdb").unlink()
    published.publish("INSERT INTO lake.t VALUES (1)")
    (published.state / "base.duckdb").write_bytes(b"damaged")
    published.publish("INSERT INTO lake.t VALUES (2)")
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(12,)]


@pytest.mark.parametrize("reason, text", [("retention", None), ("withdrawn", "names of people")])
def test_an_expired_version_says_why_and_stays_in_the_log(published, reason, text):
    old = published.repo.head()
    published.publish("INSERT INTO lake.t VALUES (1)")
    marker = {"expired_at": "2026-10-15T09:00:00Z", "reason": reason} | ({"text": text} if text else {})
    published.repo.version_file(old, "expired.json").write_text(json.dumps(marker))
    published.repo.version_file(old, "ducklake.duckdb").unlink()
    for name in ("url", "attach"):
        complaint = fdl(name, published.repo.address, old, code=EXPIRED).complaint
        assert old in complaint and "2026-10-15" in complaint and (text or "expired") in complaint
    fdl("checkout", published.repo.address, published.work, "--ref", old, code=EXPIRED)
    fdl("tag", published.repo.address, "v1", old, code=EXPIRED)
    log = fdl("log", published.repo.address, "--json").json["versions"]
    assert [("expired" in version) for version in log] == [False, True]
    assert log[1]["expired"] == marker
    assert "2026-10-15" in fdl("log", published.repo.address).stdout
    assert fdl("show", published.repo.address, old, "--json").json["version"]["expired"] == marker
    published.publish("INSERT INTO lake.t VALUES (2)")


def test_a_chain_that_turns_back_on_itself_ends_with_a_failure(published):
    first = published.repo.head()
    second = published.publish("INSERT INTO lake.t VALUES (1)")
    record = published.repo.record(first)
    published.repo.version_file(first).write_text(json.dumps(record | {"parents": [second]}))
    assert fdl("log", published.repo.address, code=FAILURE).stderr


def test_a_record_or_ref_of_gigabytes_is_not_read_into_memory(published):
    version = published.repo.head()
    with open(published.repo.version_file(version), "r+b") as file:
        file.truncate(8 << 30)
    assert fdl("log", published.repo.address, code=None).code in (FAILURE, REFUSED)
    with open(published.repo.path("refs", "heads", "main"), "r+b") as file:
        file.truncate(8 << 30)
    assert fdl("url", published.repo.address, code=None).code in (FAILURE, REFUSED)


# ---- working catalogs --------------------------------------------------------------------------------------------------


def test_a_working_catalog_that_was_never_checked_out_is_not_found(tmp_path):
    work = tmp_path / "nothing.sqlite"
    for command in (["status"], ["commit", "-m", "x"], ["push"]):
        assert "checkout" in fdl(command[0], work, *command[1:], code=NOT_FOUND).complaint
    assert list(tmp_path.iterdir()) == []


def test_a_lost_working_catalog_is_said_and_can_be_checked_out_again(published):
    published.work.unlink()
    assert "work.sqlite" in published.commit(code=None).complaint
    published.checkout()
    published.publish("INSERT INTO lake.t VALUES (1)")


def test_a_damaged_working_catalog_is_refused_in_one_line(published):
    for content in (b"", b"no database", b"SQLite format 3\0" + b"\xff" * 4096):
        published.work.write_bytes(content)
        answer = published.commit(code=None)
        assert answer.complaint and answer.code in (FAILURE, REFUSED)
        assert published.work.read_bytes() == content
        published.checkout("--force")
        assert published.read("SELECT count(*) FROM lake.t") == [(10,)]


def test_a_damaged_state_is_a_failure_that_names_it_and_a_forced_checkout_keeps_the_work(published):
    for content in (b"", b"{", b"[]", b'{"repo": 7}'):
        published.write("INSERT INTO lake.t VALUES (1)")
        (published.state / "origin.json").write_bytes(content)
        for command in (["status"], ["commit", "-m", "x"], ["push"]):
            assert "origin.json" in fdl(command[0], published.work, *command[1:], code=FAILURE).complaint
        published.checkout(code=REFUSED)
        assert published.read("SELECT count(*) FROM lake.t") == [(11,)]
        backup = fdl("checkout", published.repo.address, published.work, "--force", "--json").json["backup"]
        with duck(published.attach.replace(str(published.work), backup)) as con:
            assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (11,)
        assert published.read("SELECT count(*) FROM lake.t") == [(10,)]


def test_a_damaged_pending_version_is_a_failure_and_is_not_pushed(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    published.commit()
    [version] = published.pending()
    record = published.state / "pending" / version / "version.json"
    content = record.read_bytes()
    record.write_bytes(content[:-20])
    before = published.repo.contents()
    assert "version.json" in published.push(code=FAILURE).complaint
    assert published.repo.contents() == before
    record.write_bytes(content)
    catalog = record.with_name("ducklake.duckdb")
    whole = catalog.read_bytes()
    catalog.write_bytes(whole[:-1])
    published.push(code=None)
    assert published.repo.contents()["refs/heads/main"] == before["refs/heads/main"]
    catalog.write_bytes(whole)
    published.push()
    assert published.repo.read("SELECT count(*) FROM lake.t") == [(11,)]


def test_a_locked_working_catalog_is_waited_for_a_bounded_time_and_then_busy(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    with closing(sqlite3.connect(published.work)) as con:
        con.execute("PRAGMA locking_mode = EXCLUSIVE")
        con.execute("BEGIN EXCLUSIVE")
        assert "work.sqlite" in published.commit(code=BUSY).complaint
    published.commit()


def test_a_working_catalog_in_use_is_not_replaced(published):
    with published.writer() as con:
        con.execute("BEGIN")
        con.execute("INSERT INTO lake.t VALUES (1)")
        published.checkout(code=BUSY)
        con.execute("COMMIT")
    assert published.read("SELECT count(*) FROM lake.t") == [(11,)]


# ---- the machine -------------------------------------------------------------------------------------------------------


def test_a_read_only_repository_can_be_read_and_not_pushed_to(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    published.commit()
    repo, before = published.repo.address, published.repo.contents()
    for name in READING:
        assert on_read_only(repo, name, repo).code == 0
    for args in (["push", published.work], ["tag", repo, "v1"], ["branch", repo, "-d", "side"]):
        answer = on_read_only(repo, *args)
        assert answer.code in (FAILURE, NOT_FOUND) and answer.complaint
    answer = on_read_only(repo, "push", published.work)
    assert answer.code == FAILURE and "read-only" in answer.complaint
    assert published.repo.contents() == before and len(published.pending()) == 1
    published.push()


def test_init_in_a_read_only_folder_is_a_failure(tmp_path):
    answer = on_read_only(tmp_path, "init", tmp_path / "repo")
    assert answer.code == FAILURE and "read-only" in answer.complaint


def test_a_read_only_place_for_the_working_catalog_is_a_failure(published):
    there = published.folder / "there"
    there.mkdir()
    answer = on_read_only(there, "checkout", published.repo.address, there / "work.sqlite")
    assert answer.code == FAILURE and "read-only" in answer.complaint
    assert list(there.iterdir()) == []


def test_a_read_only_working_catalog_can_be_asked_for_its_status_and_keeps_what_cannot_be_committed(published):
    there = published.folder / "there"
    there.mkdir()
    lake = Lake(there, repo=published.repo)
    lake.checkout()
    assert on_read_only(there, "status", lake.work).code == OK
    lake.write("INSERT INTO lake.t VALUES (1)")
    before = lake.work.read_bytes()
    answer = on_read_only(there, "commit", lake.work, "-m", "x")
    assert answer.code == FAILURE and str(lake.work) in answer.complaint
    assert lake.work.read_bytes() == before
    lake.commit()


# ---- libduckdb ---------------------------------------------------------------------------------------------------------


def test_a_missing_libduckdb_is_one_line_that_says_where_and_how(published):
    lake = published
    lake.write("INSERT INTO lake.t VALUES (1)")
    nowhere = lake.folder / "nowhere.so"
    for answer in (
        lake.commit(code=FAILURE, env={"FDL_LIBDUCKDB": nowhere}),
        lake.commit("--libduckdb", nowhere, code=FAILURE),
        fdl("checkout", lake.repo.address, lake.folder / "new", code=FAILURE, env={"FDL_LIBDUCKDB": nowhere}),
    ):
        assert str(nowhere) in answer.complaint
    assert lake.pending() == []
    lake.commit()


def test_a_program_alone_on_a_machine_tells_where_it_looked_and_how_to_get_the_library(lake, tmp_path):
    """Copied away from its download, with nothing in the standard places."""
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(PROGRAM, alone / "fdl")
    lake.write(*numbers(3))
    done = subprocess.run(
        [alone / "fdl", "commit", lake.work, "-m", "x"],
        capture_output=True,
        text=True,
        env=environment(HOME=alone, FDL_LIBDUCKDB=None, LD_LIBRARY_PATH=None),
        timeout=60,
    )
    assert done.returncode == FAILURE and done.stderr.count("\n") == 1
    assert "libduckdb" in done.stderr and "FDL_LIBDUCKDB" in done.stderr and "looked" in done.stderr


def test_what_needs_no_catalog_never_loads_libduckdb(published):
    env = {"FDL_LIBDUCKDB": published.folder / "nowhere.so"}
    repo = published.repo.address
    published.write("INSERT INTO lake.t VALUES (1)")
    published.commit()
    for args in (
        ["init", repo],
        ["url", repo],
        ["attach", repo],
        ["log", repo],
        ["show", repo],
        ["branch", repo, "side"],
        ["tag", repo, "v1"],
        ["status", published.work],
        ["push", published.work],
        ["--version"],
        ["--help"],
    ):
        fdl(*args, env=env)


def test_a_file_that_is_no_libduckdb_is_said_by_name(lake):
    lake.write(*numbers(3))
    text, library = lake.folder / "text.so", lake.folder / "library.so"
    text.write_text("no library")
    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", str(library)], input="int x;", text=True, check=True)
    for wrong in (text, library):
        assert wrong.name in lake.commit("--libduckdb", wrong, code=FAILURE).complaint


def test_a_home_that_does_not_exist_is_no_obstacle(lake):
    lake.write(*numbers(3))
    lake.commit(env={"HOME": "/nonexistent"})
    lake.push()
    assert lake.repo.read("SELECT count(*) FROM lake.t") == [(3,)]
