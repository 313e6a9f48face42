"""fdl run: a job publishes what it made, nothing when it fails or nothing changed, and again when others were quicker."""

import os
import sys

import pytest

from harness import CONFLICT, FAILURE, NOT_FOUND, OK, REFUSED, USAGE, Lake, Repo, extension_directory, fdl

HEAD = f"""
import os, subprocess, sys, duckdb
con = duckdb.connect(config={{"extension_directory": {extension_directory()!r}}})
con.execute(os.environ["FDL_ATTACH"])
"""


@pytest.fixture
def scratch(tmp_path):
    """Where fdl makes its temporary folders, to see what is left of them."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


@pytest.fixture
def job(tmp_path, scratch):
    """Runs a job of Python lines on a repository."""

    def run(repo, lines, *options, code=OK, **env):
        script = tmp_path / "job.py"
        script.write_text(HEAD + lines)
        return fdl("run", repo.address, "-m", "nightly", *options, "--", sys.executable, script, code=code,
                   env={"TMPDIR": scratch, **env})

    return run


REBUILD = "con.execute('CREATE OR REPLACE TABLE lake.t AS SELECT range::INT AS i FROM range(100)')\n"


def test_a_job_publishes_once_and_not_again_when_its_rows_are_the_same(tmp_path, scratch, job):
    repo = Repo(tmp_path / "repo")
    first = job(repo, REBUILD, "--json").json
    assert first == {"made": True, "id": repo.head(), "seq": 1, "branch": "main", "attempts": 1}
    assert repo.read("SELECT count(*), sum(i) FROM lake.t") == [(100, 4950)]
    again = job(repo, REBUILD + "print('from the job')\n")
    assert again.stdout.splitlines()[0] == "from the job"
    assert "nothing to publish" in again.stdout
    assert repo.versions() == [first["id"]]
    assert os.listdir(scratch) == []


def test_a_job_is_told_what_it_works_on(tmp_path, job):
    repo = Repo(tmp_path / "repo")
    told = "print([os.environ[n] for n in ('FDL_WORK', 'FDL_DATA_PATH', 'FDL_REPO', 'FDL_BASE_VERSION')])\n"
    work, data, address, base = eval(job(repo, told).stdout.splitlines()[0])
    assert work.endswith("/work.sqlite") and data == f"{repo.address}/data/"
    assert address == f"{repo.address}/" and base == ""
    job(repo, REBUILD)
    assert eval(job(repo, told).stdout.splitlines()[0])[3] == repo.head()
    # A document alone on stdout: what the job prints goes elsewhere.
    said = job(repo, told, "--json")
    assert said.json["made"] is False and repo.head() in said.stderr


def test_of_a_job_that_fails_nothing_is_committed(tmp_path, scratch, job):
    repo = Repo(tmp_path / "repo")
    before = repo.contents()
    said = job(repo, REBUILD + "sys.exit(9)\n", code=FAILURE)
    assert "ended with 9" in said.complaint and "nothing is committed" in said.complaint
    said = job(repo, REBUILD + "os.kill(os.getpid(), 15)\n", code=FAILURE)
    assert f"ended with {128 + 15}" in said.complaint
    after = repo.contents()
    assert {name for name in after if name not in before} == {f"data/{name}" for name in repo.data_files()}
    assert repo.versions() == [] and os.listdir(scratch) == []


def test_a_job_that_others_overtook_starts_again_from_their_version(tmp_path, scratch, job):
    lake = Lake(tmp_path)
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    lake.write("INSERT INTO lake.t VALUES (10)")
    lake.commit()
    push = f"[{str(fdl.__globals__['PROGRAM'])!r}, 'push', {str(lake.work)!r}]"
    slow = f"""
con.execute('INSERT INTO lake.t VALUES (100)')
con.close()
subprocess.run({push}, check=True, stdout=2)
"""
    said = job(lake.repo, slow, "--json")
    assert said.json["attempts"] == 2 and said.json["seq"] == 3
    assert lake.repo.read("SELECT sum(i) FROM lake.t") == [(111,)]
    lake.checkout()
    lake.write("INSERT INTO lake.t VALUES (1000)")
    lake.commit()
    head = lake.repo.head()
    job(lake.repo, slow, "--retries", "0", code=CONFLICT)
    assert lake.repo.record(lake.repo.head())["parents"] == [head]
    assert lake.repo.read("SELECT sum(i) FROM lake.t") == [(1111,)]
    assert os.listdir(scratch) == []


def kept(said):
    """The command that the program tells to go on with."""
    line = next(line for line in said.stderr.splitlines() if "is kept" in line)
    return line.split("'fdl ")[1].rstrip("'").split(" ", 1)


def test_what_a_job_made_is_kept_when_it_cannot_be_committed_or_pushed(tmp_path, job):
    repo = Repo(tmp_path / "repo")
    wrong = tmp_path / "dataset.json"
    wrong.write_text('{"tables": [{"schema": "main", "name": "nowhere"}]}')
    verb, work = kept(job(repo, REBUILD, "--dataset", wrong, code=REFUSED))
    assert verb == "commit"
    fdl("commit", work, "-m", "by hand", "--push")
    assert repo.read("SELECT count(*) FROM lake.t") == [(100,)]
    # Where temporary files of the store lie, there is a file now.
    scratch = repo.path(".fdl")
    blocked = f"""
con.execute('DELETE FROM lake.t WHERE i > 0')
subprocess.run(['rm', '-rf', {str(scratch)!r}], check=True)
open({str(scratch)!r}, 'w')
"""
    verb, work = kept(job(repo, blocked, code=None))
    assert verb == "push"
    scratch.unlink()
    fdl("push", work)
    assert repo.read("SELECT count(*) FROM lake.t") == [(1,)]


def test_what_a_job_cannot_start_from_is_said(tmp_path, job):
    repo = Repo(tmp_path / "repo")
    assert "no-such-program" in fdl("run", repo.address, "-m", "x", "--", "no-such-program", code=NOT_FOUND).complaint
    fdl("run", repo.address, "-m", "x", code=USAGE)
    fdl("run", repo.address, "--", "true", code=USAGE)
    job(repo, REBUILD)
    fdl("tag", repo.address, "v1")
    assert "no branch" in job(repo, REBUILD, "--branch", "v1", code=USAGE).complaint
    job(repo, REBUILD, "--branch", "none", code=NOT_FOUND)
