"""The packages: each is made from the tree, installed as its users do, and used."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import PROGRAM, ROOT, environment

BUILD = PROGRAM.parent


def ran(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
    return done.stdout


# ---- Python ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The python of a fresh environment that has the wheel, and duckdb from the package index."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = ran(ROOT / "tools" / "make-wheel", BUILD, folder).strip()
    ran(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv").glob("lib/python3*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--no-compile", "--quiet"]
    ran(*pip, "--disable-pip-version-check", wheel)
    for name in ("duckdb", "_duckdb*", "duckdb-*.dist-info"):
        for found in Path(sys.executable).parents[1].glob(f"lib/python3*/site-packages/{name}"):
            (site / found.name).symlink_to(found)
    yield python


def says(python, script, folder):
    # No extension is anywhere but in the wheel.
    return ran(python, "-c", script, cwd=folder, env=environment(HOME=folder, PYTHONPATH=None)).splitlines()


def test_the_wheel_writes_and_reads_versions_with_duckdb(python, tmp_path):
    script = """
import duckdb, fdl, logging
logging.basicConfig()
print(fdl.init("repo", branch="trunk"), fdl.init("repo"))
con = duckdb.connect(config={"autoinstall_known_extensions": False})
work = fdl.checkout("repo", "work.sqlite")
work.attach(con)
con.execute("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
con.execute("DETACH lake")
first = work.commit("ten", author="Ada <ada@example.org>")
print(first.made, first.seq, len(first.id))
pushed = work.push()
print(pushed.branch, pushed.versions == [first.id], pushed.files > 3, pushed.bytes > 0)
print(work.commit("again").made, work.push().versions)

# Another's working catalog, found again by its path.
fdl.checkout("repo", "other.sqlite")
other = fdl.Work("other.sqlite")
other.attach(con)
con.execute("DELETE FROM lake.t WHERE i > 3")
con.execute("DETACH lake")
other.commit("four")
other.push()
fdl.attach(con, "repo")
fdl.attach(con, "repo", "trunk~1", alias="before")
print(con.execute("SELECT (SELECT count(*) FROM lake.t), (SELECT count(*) FROM before.t)").fetchone())
"""
    assert says(python, script, tmp_path) == [
        "True False",
        "True 1 36",
        "refs/heads/trunk True True True",
        "False []",
        "(4, 10)",
    ]
    log = ran(python.parent / "fdl", "log", tmp_path / "repo", env=environment())
    assert "Ada <ada@example.org>" in log and "Ada Writer" in log and "    four" in log


def test_the_wheel_tells_of_errors_with_their_code_message_and_key(python, tmp_path):
    script = """
import duckdb, fdl
def tells(call, *words, **more):
    try:
        call(*words, **more)
    except fdl.Error as error:
        print(error.code, "|", error.key, "|", error)
con = duckdb.connect()
tells(fdl.attach, con, "nowhere")
fdl.init("repo")
tells(fdl.attach, con, "repo", "nothing")
work, slow = fdl.checkout("repo", "a.sqlite"), fdl.checkout("repo", "b.sqlite")
for each in (work, slow):
    each.attach(con)
    con.execute("CREATE TABLE lake.t (i INTEGER)")
    con.execute("DETACH lake")
    tells(each.commit, "")
    each.commit("a table")
work.push()
tells(slow.push)
"""
    lines = [line.split(" | ") for line in says(python, script, tmp_path)]
    assert [line[0] for line in lines] == ["not_found", "not_found", "usage", "usage", "conflict"]
    assert "'nothing'" in lines[1][2] and "message" in lines[2][2] and lines[4][1] == "refs/heads/main"


def test_the_structs_of_the_wheel_are_those_of_the_headers(python, tmp_path):
    script = "from fdl import _abi\nfor s in _abi.MIRRORED: print(s.__name__, _abi.ctypes.sizeof(s), [getattr(s, f[0]).offset for f in s._fields_], *[f[0] for f in s._fields_])"
    lines = says(python, script + "\nprint(_abi.LOCATION_BYTES)", tmp_path)
    checks = [f"_Static_assert(sizeof(fdl_location) <= {lines.pop()}, \"fdl_location\");"]
    for line in lines:
        head, rest = line.split(" [")
        name, size = head.split()
        offsets, fields = rest.split("] ")
        checks.append(f'_Static_assert(sizeof({name}) == {size}, "{name}");')
        for offset, field in zip(offsets.split(", "), fields.split()):
            checks.append(f'_Static_assert(offsetof({name}, {field}) == {offset}, "{name}.{field}");')
    source = tmp_path / "sizes.c"
    source.write_text("#include <stddef.h>\n#include <fdl.h>\n" + "\n".join(checks) + "\n")
    ran("cc", "-fsyntax-only", f"-I{ROOT / 'include'}", source)


# ---- Debian ----------------------------------------------------------------------------------------------------------


def test_the_debian_package_installs_and_what_it_installs_works(tmp_path):
    """Into a root of its own, whose list of installed packages is this machine's: what it depends on must be there."""
    package = ran(ROOT / "tools" / "make-deb", BUILD, tmp_path).strip()
    root = tmp_path / "root"
    (root / "var" / "lib" / "dpkg" / "updates").mkdir(parents=True)
    (root / "var" / "lib" / "dpkg" / "info").mkdir()
    (root / "var" / "lib" / "dpkg" / "status").write_bytes(Path("/var/lib/dpkg/status").read_bytes())
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    ran(*as_root, "dpkg", f"--root={root}", "--force-not-root", "--force-bad-path", f"--log={tmp_path}/log", "--no-triggers", "-i", package)
    usr = root / "usr"

    env = environment(FDL_LIBDUCKDB=None, FDL_EXTENSIONS=None, HOME=tmp_path)
    fdl = usr / "bin" / "fdl"
    ran(fdl, "init", tmp_path / "repo", env=env)
    ran(fdl, "checkout", tmp_path / "repo", tmp_path / "work.sqlite", env=env)
    ran(fdl, "commit", tmp_path / "work.sqlite", "-m", "DuckDB is there", "--allow-empty", "--push", env=env)
    assert b"fdl push" in gzip.open(usr / "share" / "man" / "man1" / "fdl-push.1.gz").read()
    for path in ("bash-completion/completions/fdl", "zsh/vendor-completions/_fdl", "fish/vendor_completions.d/fdl.fish", "doc/fdl/copyright"):
        assert (usr / "share" / path).exists()

    source = tmp_path / "prints.c"
    source.write_text('#include <fdl.h>\n#include <stdio.h>\nint main(void) { puts(fdl_version_string()); return 0; }\n')
    flags = ran("pkg-config", "--define-prefix", "--cflags", "--libs", usr / "lib" / "pkgconfig" / "fdl.pc").split()
    ran("cc", source, "-o", tmp_path / "prints", *flags)
    assert ran(tmp_path / "prints", env={**env, "LD_LIBRARY_PATH": str(usr / "lib")}).strip() in package
