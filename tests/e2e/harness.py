"""What every end-to-end test stands on: the real program, the real DuckDB, and a repository to work in.

Nothing here knows the inside of fdl. The program is run as a person runs it, DuckDB is given the statement that
the program printed, and a repository is looked at as the files that it consists of.
"""

import functools
import hashlib
import http.server
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("FDL", ROOT / "build" / "fdl")).absolute()
EXTENSIONS = ROOT / "build" / "deps" / "extensions"

# A program that hangs is a failure, not a reason to wait for ever.
PATIENCE_SECONDS = 120

# Where something is made to fail at one step after the other: at every one in `make soak`, else at every third.
SWEEP_STEP = 1 if os.environ.get("FDL_TEST_SWEEP") == "every" else 3

OK, FAILURE, USAGE, CONFLICT, EXPIRED, NOT_FOUND, BUSY, REFUSED = range(8)


# ---- the program ---------------------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What a run of the program left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        """The one JSON document on stdout."""
        return json.loads(self.stdout, object_pairs_hook=without_twins)

    @property
    def attach(self):
        """The statement for DuckDB, exactly as printed."""
        found = re.search(r"^ATTACH .*?;$", self.stdout, re.MULTILINE | re.DOTALL)
        assert found, f"no ATTACH statement starts a line of {self.stdout!r}"
        return found.group(0)

    @property
    def complaint(self):
        """The one line on stderr that says what went wrong."""
        lines = self.stderr.splitlines()
        assert len(lines) == 1, f"expected one line on stderr, got {self.stderr!r}"
        return lines[0]


def without_twins(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a field stands twice in {names}"
    return dict(pairs)


def environment(**changes):
    """The environment of a run: nothing of the tester's own settings for fdl or git gets in."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("FDL_") or name == "FDL_LIBDUCKDB"}
    env.update(FDL_AUTHOR_NAME="Ada Writer", FDL_AUTHOR_EMAIL="ada@example.org", GIT_CONFIG_GLOBAL="/dev/null")
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def command(*args):
    assert PROGRAM.exists(), f"{PROGRAM} is not built"
    return [str(PROGRAM), *(str(arg) for arg in args)]


def fdl(*args, code=OK, env=None, cwd=None, stdin=None):
    """Runs the program and insists on its exit code (None takes any)."""
    done = subprocess.run(
        command(*args),
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        input=stdin,
        timeout=PATIENCE_SECONDS,
    )
    answer = Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert code is None or answer.code == code, f"fdl {' '.join(map(str, args))}: {answer}"
    return answer


# ---- DuckDB --------------------------------------------------------------------------------------------------------


# Checking an extension's signature takes DuckDB an eighth of a second, each time: the setup has checked the file's sha256.
QUICK = {"autoinstall_known_extensions": False, "allow_unsigned_extensions": True, "threads": 1}


def extension_directory():
    """The signed extensions that `make` fetched, else the ones that this user has installed."""
    for folder in (EXTENSIONS, Path.home() / ".duckdb" / "extensions"):
        if all(list(folder.rglob(f"{name}.duckdb_extension")) for name in ("ducklake", "sqlite_scanner")):
            return str(folder)
    raise AssertionError(f"no DuckDB extensions below {EXTENSIONS}: run make")


def duck(attach=None):
    """A fresh DuckDB, as someone opens it who never heard of fdl; it loads the extensions that a statement needs."""
    con = duckdb.connect(config={"extension_directory": extension_directory(), **QUICK})
    con.execute("SET TimeZone = 'UTC'")
    if attach:
        con.execute(attach)
    return con


def text(value):
    """A string as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"


def ident(*parts):
    """A name as an SQL identifier."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


# ---- a repository and the work on it ----------------------------------------------------------------------------------


class Repo:
    """A repository. Where it lies is decided here and nowhere else, so that FDL_TEST_STORE can move it."""

    def __init__(self, folder, *init_options):
        store = os.environ.get("FDL_TEST_STORE", "folder")
        assert store == "folder", f"FDL_TEST_STORE={store}: no such store in these tests"
        self.folder = Path(folder)
        self.address = str(self.folder)
        fdl("init", self.address, *init_options)

    def path(self, *parts):
        return self.folder.joinpath(*parts)

    def config(self):
        return json.loads(self.path("fdl.json").read_text())

    @property
    def data(self):
        return self.path(self.config().get("data_dir", "data/"))

    def head(self, branch="main"):
        """The version on a branch, as the ref file has it."""
        return self.path("refs", "heads", branch).read_text().strip()

    def refs(self, kind):
        """The refs of a kind, "heads" or "tags", as their files have them."""
        return {path.name: path.read_text().strip() for path in self.path("refs", kind).glob("*")}

    def version_file(self, version, name="version.json"):
        return self.path("versions", version, name)

    def record(self, version):
        return json.loads(self.version_file(version).read_text(), object_pairs_hook=without_twins)

    def dataset(self, version):
        return json.loads(self.version_file(version, "dataset.json").read_text(), object_pairs_hook=without_twins)

    def versions(self):
        folder = self.path("versions")
        return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []

    def data_files(self):
        return sorted(str(path.relative_to(self.data)) for path in self.data.rglob("*") if path.is_file())

    def contents(self):
        """Every file of the repository with its bytes' hash: equal before and after means that nothing changed."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".fdl" not in path.relative_to(self.folder).parts
        }

    def reader(self, revision=None):
        """A fresh DuckDB with a version attached by the statement that fdl prints."""
        return duck(fdl("attach", self.address, *([revision] if revision else [])).attach)

    def read(self, sql, revision=None):
        with self.reader(revision) as con:
            return con.execute(sql).fetchall()

    def frozen(self, version, sql):
        """A query on the tables of a published catalog itself; `raw` is its name."""
        with duckdb.connect() as con:
            con.execute(f"ATTACH {text(self.version_file(version, 'ducklake.duckdb'))} AS raw (READ_ONLY)")
            return con.execute(sql).fetchall()


class Mirror(Repo):
    """Where a clone goes, which makes it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.address = str(self.folder)


class Lake:
    """A repository and a working catalog made from it."""

    def __init__(self, folder, *init_options, repo=None):
        self.folder = Path(folder)
        self.repo = repo or Repo(self.folder / "repo", *init_options)
        self.work = self.folder / "work.sqlite"
        self.attach = None

    @property
    def state(self):
        return Path(f"{self.work}.fdl")

    def pending(self):
        folder = self.state / "pending"
        return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []

    def checkout(self, *options, code=OK):
        answer = fdl("checkout", self.repo.address, self.work, *options, code=code)
        if code == OK:
            self.attach = answer.attach
        return answer

    def writer(self):
        """A fresh DuckDB with the working catalog attached by the statement that checkout printed."""
        return duck(self.attach)

    def write(self, *statements):
        with self.writer() as con:
            for statement in statements:
                con.execute(statement).fetchall()

    def read(self, sql):
        """What the writer sees."""
        with self.writer() as con:
            return con.execute(sql).fetchall()

    def commit(self, *options, message="a step", code=OK, env=None):
        return fdl("commit", self.work, "-m", message, *options, code=code, env=env)

    def push(self, *options, code=OK):
        return fdl("push", self.work, *options, code=code)

    def publish(self, *statements, message="a step"):
        """Writes, commits and pushes; returns the id of the version."""
        self.write(*statements)
        self.commit(message=message)
        self.push()
        return self.repo.head()

    def another(self, name):
        """Another person's working catalog on the same repository."""
        other = Lake(self.folder, repo=self.repo)
        other.work = self.folder / f"{name}.sqlite"
        other.checkout()
        return other


def numbers(count, table="t"):
    """Statements that make a table of the first `count` numbers."""
    return [f"CREATE TABLE lake.{table} AS SELECT range::INT AS i FROM range({count})"]


def edit(work, *statements):
    """Changes a working catalog past DuckLake, as no one should."""
    with closing(sqlite3.connect(work)) as con, con:
        for statement in statements:
            con.execute(statement)


# ---- a hostile machine -----------------------------------------------------------------------------------------------


def traced(strace_options, *args, env=None):
    """Runs the program under strace, which counts its system calls, kills it at one, or lets one fail."""
    with tempfile.NamedTemporaryFile("r") as trace:
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", trace.name, *strace_options, *command(*args)],
            capture_output=True,
            env=environment(ASAN_OPTIONS="detect_leaks=0", **(env or {})),
            timeout=PATIENCE_SECONDS,
        )
        # Killed, strace ends as its child did.
        code = 128 - done.returncode if done.returncode < 0 else done.returncode
        return Answer(code, done.stdout.decode(), done.stderr.decode()), trace.read()


@contextmanager
def served(folder):
    """A plain web server for the files of a folder."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


KILLED = 128 + 9


def held(strace_options, meanwhile, *args):
    """Runs the program under strace, which stops it at one of its system calls; it goes on after `meanwhile`."""
    with tempfile.NamedTemporaryFile("r") as trace:
        words = ["strace", "-f", "-qq", "-o", trace.name, *strace_options, *command(*args)]
        env = environment(ASAN_OPTIONS="detect_leaks=0")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as running:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while running.poll() is None and not (found := re.search(r"^(\d+) .*stopped by SIGSTOP", trace.read(), re.M)):
                assert time.monotonic() < deadline, "it neither stops nor ends"
                trace.seek(0)
                time.sleep(0.01)
            stopped = running.poll() is None
            if stopped:
                meanwhile()
                os.kill(int(found.group(1)), signal.SIGCONT)
            out, err = running.communicate(timeout=PATIENCE_SECONDS)
        return Answer(running.returncode, out.decode(), err.decode()), stopped


def mounted(script, *args):
    """Runs the program in a mount namespace of its own, after a shell script that has mounted something there."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    # Nothing that is mounted there is seen elsewhere; in a chroot "/" is no mount, so what the tests lie on is made private.
    alone = f'mount --make-rprivate / 2>/dev/null || mount --make-rprivate "$(stat -c %m {shlex.quote(tempfile.gettempdir())})"\n'
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "unchanged", *as_root, "sh", "-ec", alone + script, "sh", *command(*args)],
        capture_output=True,
        env=environment(),
        timeout=PATIENCE_SECONDS,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def on_read_only(folder, *args):
    """Runs the program while a folder cannot be written to, by root neither."""
    quoted = shlex.quote(str(folder))
    return mounted(f"mount --bind {quoted} {quoted}; mount -o remount,bind,ro {quoted}; exec \"$@\"", *args)


def on_small_disk(folder, spare_bytes, *args):
    """Runs the program while a folder lies on a disk with little room left. What it did there stays."""
    inside, after = shlex.quote(str(folder)), Path(f"{folder}.after")
    used = sum(-(-path.stat().st_size // 4096) * 4096 + 4096 for path in Path(folder).rglob("*"))
    kept = shlex.quote(str(after))
    script = f"""
        cp -a {inside} {kept}
        mount -t tmpfs -o size={used + spare_bytes} none {inside}
        cp -a {kept}/. {inside}/
        set +e
        "$@"
        code=$?
        rm -rf {kept}
        cp -a {inside} {kept}
        exit $code"""
    answer = mounted(script, *args)
    shutil.rmtree(folder)
    after.rename(folder)
    return answer
