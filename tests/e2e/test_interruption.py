"""Stopped anywhere, two at once, on a full disk: nothing is lost, no reader sees anything unfinished, and doing it
again works."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import (
    BUSY,
    CONFLICT,
    FAILURE,
    KILLED,
    OK,
    PATIENCE_SECONDS,
    SWEEP_STEP,
    Lake,
    command,
    duck,
    environment,
    fdl,
    on_small_disk,
    traced,
)

# What makes a file or folder appear, vanish or change its name. A program killed right before each of these in turn
# has been stopped in every state that others can find.
CHANGES = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir"
# Killed more often than this, a command does far too much.
KILLS_LIMIT = 200


class Rewind:
    """Puts a folder back to how it was, at the same path, since paths are written into working catalogs."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = folder.with_name(folder.name + ".kept")
        shutil.copytree(folder, self.kept, symlinks=True)

    def __call__(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder, symlinks=True)


def killed_everywhere(rewind, *args, syscalls=CHANGES, every=SWEEP_STEP):
    """Runs the command again and again, killed some steps later each time, until it comes through."""
    for step in range(1 + len(args) % every, KILLS_LIMIT, every):
        rewind()
        answer, _ = traced([f"-etrace={syscalls}", f"-einject={syscalls}:signal=KILL:when={step}"], *args)
        if answer.code == OK:
            assert step > 3, "it was never killed: nothing was tested"
            return
        assert answer.code == KILLED, answer
        yield step
    raise AssertionError(f"still killed at step {KILLS_LIMIT}")


@pytest.fixture
def inside(tmp_path):
    """A published lake in a folder of its own, which can be rewound."""
    lake = Lake(tmp_path / "all")
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)")
    return lake


KNOWN = re.compile(
    r"""fdl\.json | HEAD | refs\.json | refs/(heads|tags)/[a-z0-9/]+ | data/main/t/ducklake-[0-9a-f-]+\.parquet
        | versions/[0-9a-f-]{36}/(version\.json|ducklake\.duckdb|catalogs/ducklake\.duckdb\.zst|dataset\.json|files\.json)""",
    re.VERBOSE,
)


def strangers(repo):
    """Files that no reader should meet, such as half of one under another name. What lies in .fdl/ is nobody's."""
    return [name for name in repo.contents() if not KNOWN.fullmatch(name)]


def count(lake, revision=None):
    return lake.repo.read("SELECT count(*) FROM lake.t", revision)[0][0]


# ---- killed ------------------------------------------------------------------------------------------------------------


def test_a_commit_killed_anywhere_loses_nothing_and_can_be_repeated(inside):
    inside.write("INSERT INTO lake.t VALUES (100)")
    work, repo = inside.work.read_bytes(), inside.repo.contents()
    for step in killed_everywhere(Rewind(inside.folder), "commit", inside.work, "-m", "x"):
        assert inside.repo.contents() == repo, step
        inside.commit()
        assert len(inside.pending()) == 1, step
        if step % 4 == 0:
            inside.push()
            assert count(inside) == 11, step
    assert inside.work.read_bytes() == work


def test_a_push_killed_anywhere_shows_readers_the_old_or_the_new_and_can_be_repeated(inside):
    old = inside.repo.head()
    for number in range(2):
        inside.write(f"INSERT INTO lake.t VALUES ({100 + number})")
        inside.commit()
    versions = [old, *fdl("status", inside.work, "--json").json["pending"]]
    rows = dict(zip(versions, (10, 11, 12)))
    seen = set()
    for step in killed_everywhere(Rewind(inside.folder), "push", inside.work, every=1):
        head = inside.repo.head()
        seen.add(head)
        if step % 4 == 0:
            assert count(inside) == rows[head], step
        assert strangers(inside.repo) == [], step
        for version in inside.repo.versions():
            if inside.repo.version_file(version).exists():
                assert inside.repo.version_file(version, "ducklake.duckdb").exists(), step
        fdl("status", inside.work)
        inside.push()
        assert inside.repo.head() == versions[-1], step
        assert [v["id"] for v in fdl("log", inside.repo.address, "--json").json["versions"]] == versions[::-1], step
        inside.commit("--allow-empty")
        inside.push()
        assert inside.pending() == [], step
    assert seen == set(versions), "no kill fell between the two versions"
    assert count(inside) == 12


def test_a_checkout_after_a_push_was_killed_anywhere_takes_any_version(inside):
    """A killed push may leave the folder of a version that is on the branch already."""
    inside.write("INSERT INTO lake.t VALUES (100)")
    inside.commit()
    for step in killed_everywhere(Rewind(inside.folder), "push", inside.work):
        fdl("checkout", inside.repo.address, inside.work, "--force")
        inside.commit("--allow-empty")
        inside.push()
        fdl("checkout", inside.repo.address, inside.work, "--ref", "main~1")
        inside.commit("--allow-empty")
        assert len(inside.pending()) == 1, step


def test_a_first_push_killed_anywhere_can_be_repeated(tmp_path):
    lake = Lake(tmp_path / "all")
    lake.checkout()
    lake.write("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    lake.commit()
    for step in killed_everywhere(Rewind(lake.folder), "push", lake.work):
        lake.push()
        assert "nothing to push" in lake.push().stdout, step
    assert count(lake) == 10


def test_a_checkout_killed_anywhere_leaves_the_old_or_the_new_catalog_and_can_be_repeated(inside):
    inside.publish("INSERT INTO lake.t VALUES (100)")
    for step in killed_everywhere(Rewind(inside.folder), "checkout", inside.repo.address, inside.work, "--ref", "main~1"):
        answer = fdl("checkout", inside.repo.address, inside.work, "--ref", "main~1", code=None)
        if answer.code != OK:  # it stopped between catalog and state, and says so
            assert "--force" in answer.complaint, step
            answer = fdl("checkout", inside.repo.address, inside.work, "--ref", "main~1", "--force")
        with duck(answer.attach) as con:
            assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (10,), step
        fdl("status", inside.work)


def test_a_first_checkout_killed_anywhere_can_be_repeated(inside):
    new = inside.folder / "new.sqlite"
    for step in killed_everywhere(Rewind(inside.folder), "checkout", inside.repo.address, new):
        answer = fdl("checkout", inside.repo.address, new)
        with duck(answer.attach) as con:
            assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (10,), step


def test_a_forced_checkout_killed_anywhere_loses_no_work(inside):
    inside.write("INSERT INTO lake.t VALUES (100)")
    inside.commit()
    inside.write("INSERT INTO lake.t VALUES (200)")
    [waiting] = inside.pending()
    for step in killed_everywhere(Rewind(inside.folder), "checkout", inside.repo.address, inside.work, "--force"):
        kept = [path for path in inside.folder.glob("work.sqlite*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
        assert 12 in [rows_of(inside, path) for path in kept], step
        assert list(inside.folder.glob(f"*.fdl/pending/{waiting}/version.json")), step
        fdl("checkout", inside.repo.address, inside.work, "--force")
        assert rows_of(inside, inside.work) == 10, step


def rows_of(lake, catalog):
    with duck(lake.attach.replace(str(lake.work), str(catalog))) as con:
        return con.execute("SELECT count(*) FROM lake.t").fetchone()[0]


def test_an_init_killed_anywhere_can_be_repeated(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    for _ in killed_everywhere(Rewind(folder), "init", folder / "repo"):
        fdl("init", folder / "repo")
        assert fdl("log", folder / "repo", code=5).complaint.count("no version yet") == 1


@pytest.mark.parametrize("command", ["branch", "tag"])
def test_a_ref_made_or_deleted_while_killed_is_there_or_not(inside, command):
    repo = inside.repo.address
    fdl(command, repo, "gone")
    rewind = Rewind(inside.folder)
    for step in killed_everywhere(rewind, command, repo, "new/one"):
        assert strangers(inside.repo) == [], step
        assert fdl(command, repo, "new/one", code=None).code in (OK, CONFLICT), step
        assert fdl("url", repo, "new/one").stdout
    for step in killed_everywhere(rewind, command, repo, "gone", "-d"):
        fdl(command, repo, "gone", "-d", code=None)
        fdl(command, repo, "gone")


# ---- a full disk -------------------------------------------------------------------------------------------------------


def test_a_file_that_may_grow_no_further_is_an_error_and_not_the_end(inside):
    """ulimit -f: the signal that comes with it would end the program where it stands."""
    for args in (("clone", inside.repo.address, inside.folder / "mirror"), ("checkout", inside.repo.address, inside.folder / "new.sqlite")):
        limit = "ulimit -c 0; ulimit -f 64; exec \"$@\""
        done = subprocess.run(["bash", "-c", limit, "bash", *command(*args)], capture_output=True, env=environment(), timeout=60)
        assert done.returncode == FAILURE and done.stderr.decode().splitlines() == [done.stderr.decode().strip()], done
        assert "file too large" in done.stderr.decode() and not list(inside.folder.glob("new.sqlite*"))
        fdl(*args)


@pytest.mark.parametrize("what", ["commit", "push", "checkout"])
def test_on_a_full_disk_a_command_fails_in_one_line_and_loses_nothing(inside, what):
    inside.write("INSERT INTO lake.t VALUES (100)")
    if what == "push":
        inside.commit()
    args = {
        "commit": ["commit", inside.work, "-m", "x"],
        "push": ["push", inside.work],
        "checkout": ["checkout", inside.repo.address, inside.folder / "new.sqlite"],
    }[what]
    failures = 0
    for spare in (4096, 20_000, 100_000, 400_000, 800_000, 1_200_000):
        answer = on_small_disk(inside.folder, spare, *args)
        if answer.code == OK:
            break
        failures += 1
        assert answer.code == FAILURE and answer.complaint, (spare, answer)
        assert "no space left" in answer.complaint or "full" in answer.complaint, (spare, answer.stderr)
        assert count(inside) == 10
    assert failures
    if answer.code != OK:
        fdl(*args)
    if what == "checkout":
        assert rows_of(inside, inside.folder / "new.sqlite") == 10
        return
    inside.commit()
    inside.push()
    assert count(inside) == 11


@pytest.mark.parametrize("what", ["commit", "push", "checkout"])
def test_a_write_that_fails_anywhere_is_a_failure_in_one_line_and_loses_nothing(inside, what):
    """Each write in turn finds the disk full; the later ones only now and then."""
    inside.write("INSERT INTO lake.t VALUES (100)")
    if what == "push":
        inside.commit()
    args = {
        "commit": ["commit", inside.work, "-m", "x"],
        "push": ["push", inside.work],
        "checkout": ["checkout", inside.repo.address, inside.folder / "new.sqlite"],
    }[what]
    writes = "write,pwrite64,writev,pwritev,copy_file_range,sendfile,fallocate,ftruncate"
    rewind = Rewind(inside.folder)
    came_through = False
    for step in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 300):
        rewind()
        answer, _ = traced([f"-etrace={writes}", f"-einject={writes}:error=ENOSPC:when={step}"], *args)
        if answer.code == OK:
            came_through = True
        else:
            assert answer.code == FAILURE and len(answer.stderr.splitlines()) <= 1, (step, answer)
        fdl(*args, code=None)
    assert came_through
    if what != "checkout":
        inside.commit()
        inside.push()
        assert count(inside) == 11
    else:
        assert rows_of(inside, inside.folder / "new.sqlite") == 10


# ---- at once -----------------------------------------------------------------------------------------------------------


def at_once(*commands):
    """Starts commands together; their exit codes."""
    started = [
        subprocess.Popen(command(*args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        for args in commands
    ]
    for process in started:
        process.communicate(timeout=PATIENCE_SECONDS)
    return [process.returncode for process in started]


def test_two_commits_at_once_make_one_version(inside):
    for number in range(3):
        inside.write(f"INSERT INTO lake.t VALUES ({100 + number})")
        codes = at_once(*[("commit", inside.work, "-m", f"by {who}") for who in range(3)])
        assert OK in codes and set(codes) <= {OK, BUSY}
        assert len(inside.pending()) == number + 1
    inside.push()
    assert count(inside) == 13


def test_two_pushes_at_once_from_one_working_catalog_publish_once(inside):
    for number in range(3):
        inside.write(f"INSERT INTO lake.t VALUES ({100 + number})")
        inside.commit()
        codes = at_once(*[("push", inside.work)] * 3)
        assert OK in codes and set(codes) <= {OK, BUSY}
        assert inside.pending() == [] and count(inside) == 11 + number


def test_two_pushes_at_once_from_two_working_catalogs_have_one_winner(inside):
    for number in range(3):
        others = []
        for who in range(3):
            folder = inside.folder / f"{number}-{who}"
            folder.mkdir()
            other = Lake(folder, repo=inside.repo)
            other.checkout()
            other.write(f"INSERT INTO lake.t VALUES ({100 * number + who})")
            other.commit()
            others.append(other)
        codes = at_once(*[("push", other.work) for other in others])
        assert sorted(codes) == [OK, CONFLICT, CONFLICT]
        assert count(inside) == 11 + number
        loser = others[codes.index(CONFLICT)]
        assert len(loser.pending()) == 1
        assert fdl("branch", inside.repo.address).code == OK
    assert [v["seq"] for v in fdl("log", inside.repo.address, "--json").json["versions"]] == [4, 3, 2, 1]


def test_many_tags_at_once_all_stand_in_refs_json(inside):
    names = [f"t{number}" for number in range(8)]
    assert set(at_once(*[("tag", inside.repo.address, name) for name in names])) == {OK}
    assert fdl("tag", inside.repo.address).stdout.split()[::2] == names
    assert [name for name in names if f'"refs/tags/{name}"' not in inside.repo.path("refs.json").read_text()] == []


def test_one_tag_made_twice_at_once_has_one_winner(inside):
    versions = [inside.repo.head(), *(inside.publish(f"INSERT INTO lake.t VALUES ({number})") for number in range(2))]
    for number in range(5):
        codes = at_once(*[("tag", inside.repo.address, f"v{number}", version) for version in versions])
        assert sorted(codes) == [OK, CONFLICT, CONFLICT]
        assert fdl("url", inside.repo.address, f"v{number}", "--json").json["id"] == versions[codes.index(OK)]


def test_two_inits_at_once_agree_on_one_id(tmp_path):
    for number in range(5):
        repo = tmp_path / f"repo{number}"
        assert at_once(*[("init", repo)] * 3) == [OK, OK, OK]
        assert fdl("init", repo, "--json").json["created"] is False


def test_a_commit_while_duckdb_writes_sees_one_snapshot(inside):
    """Every snapshot has as many rows in t as in u; a reader of any version must find that."""
    inside.publish("CREATE TABLE lake.u AS SELECT * FROM lake.t")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from harness import duck\n"
        "con = duck(sys.argv[2])\n"
        "for number in range(40):\n"
        "    for statement in ('BEGIN', f'INSERT INTO lake.t VALUES ({number})', f'INSERT INTO lake.u VALUES ({number})', 'COMMIT'):\n"
        "        con.execute(statement)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script, str(Path(__file__).parent), inside.attach])
    commits = 0
    while writer.poll() is None:
        commits += fdl("commit", inside.work, "-m", "meanwhile", code=None).code == OK
    assert writer.returncode == 0 and commits
    inside.commit()
    inside.push()
    for version in inside.repo.versions():
        rows = {table["name"]: table["rows"] for table in inside.repo.dataset(version)["tables"]}
        assert "u" not in rows or rows["t"] == rows["u"], version
    assert count(inside) == 50
