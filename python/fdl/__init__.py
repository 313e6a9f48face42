"""FDL in Python: versions of a DuckLake catalog, written and read with the duckdb package.

    import duckdb, fdl

    fdl.init("/srv/lake")
    work = fdl.checkout("/srv/lake", "work.sqlite")
    con = duckdb.connect()
    work.attach(con)                                    # as lake, to write to
    con.execute("CREATE TABLE lake.towns AS FROM read_csv('towns.csv')")
    con.execute("DETACH lake")
    work.commit("Two towns", author="Ada <ada@example.org>")
    work.push()

    fdl.attach(con, "/srv/lake")                        # the newest version, as lake, to read
    fdl.attach(con, "/srv/lake", "main~1", alias="before")

Thin: each call is one of libfdl's (fdl/flow.h), which lies in this package.  A
call that fails raises fdl.Error.  Warnings go to the logger "fdl".  The program
itself is installed as the command `fdl`.
"""

import ctypes
import logging
import os
import pathlib
import re
import sys
from dataclasses import dataclass

from . import _abi
from ._abi import library

__all__ = ["Error", "Commit", "Push", "Work", "init", "checkout", "attach", "version"]

_log = logging.getLogger("fdl")
_PLACE = pathlib.Path(__file__).parent


class Error(Exception):
    """What libfdl says went wrong.

    code     "usage", "conflict", "expired", "not_found", "busy", "refused", "denied", ..., or "failure"
    message  one line, which names the thing and says what to do
    key      the key, file or ref it is about, or ""
    """

    def __init__(self, code, message, key):
        super().__init__(message)
        self.code, self.message, self.key = code, message, key


@dataclass(frozen=True)
class Commit:
    made: bool  # False: everything equals the version `id`
    id: str
    seq: int


@dataclass(frozen=True)
class Push:
    branch: str
    versions: list  # ids, oldest first; empty: nothing to push
    waiting: str  # a version that is uploaded, and that somebody at the host has to approve; or ""
    files: int
    bytes: int


# ---- calling ---------------------------------------------------------------


def _encoded(value):
    """A string or path for C; None stays None."""
    return None if value is None else os.fsencode(value)


def _call(function, *arguments):
    error = _abi.Error()
    if function(*arguments, ctypes.byref(error)) != 0:
        name = library.fdl_code_name(error.code).decode()
        raise Error(name, error.message.decode(errors="replace"), error.key.decode(errors="replace"))


def _taken(pointer):
    """A string that C handed out, which is ours to release."""
    text = ctypes.string_at(pointer).decode() if pointer.value else None
    _abi.free(pointer)
    return text


@_abi.NOTE
def _note(_, level, line):
    _log.log((logging.WARNING, logging.INFO, logging.DEBUG)[level], "%s", line.decode(errors="replace"))


# One for the process, since the library keeps the pointer.
_context = _abi.Context(note=_note)


class _Repo:
    """An open repository, closed at the end of a with."""

    def __init__(self, address):
        self.pointer = ctypes.c_void_p()
        _call(library.fdl_repo_open, ctypes.byref(_context), _encoded(address), ctypes.byref(self.pointer))

    def __enter__(self):
        return self.pointer

    def __exit__(self, *_):
        library.fdl_repo_free(self.pointer)


def _attach(con, repo, statement):
    """Attaches with the extensions of this package where they fit this duckdb, else with those it finds itself."""
    secret = ctypes.c_void_p()
    _call(library.fdl_secret_statement, repo, ctypes.byref(secret))
    secret = _taken(secret)
    release, system = con.execute("SELECT (SELECT library_version FROM pragma_version()), (FROM pragma_platform())").fetchone()
    for name in ("ducklake", "sqlite_scanner", "httpfs"):
        file = _PLACE / "lib" / "fdl" / "extensions" / release / system / f"{name}.duckdb_extension"
        if file.exists():
            con.execute("LOAD '{}'".format(str(file).replace("'", "''")))
    for each in filter(None, (secret, statement)):
        con.execute(each)


# ---- the verbs ---------------------------------------------------------------


def version():
    """The version of libfdl."""
    return library.fdl_version_string().decode()


def init(repo, *, data_dir=None, url=None, branch=None):
    """Makes a repository; False when there was one already."""
    options = _abi.InitOptions(_encoded(data_dir), None, _encoded(url), _encoded(branch))
    created = ctypes.c_bool()
    with _Repo(repo) as opened:
        _call(library.fdl_init, opened, ctypes.byref(options), ctypes.byref(created))
    return created.value


def attach(con, repo, revision=None, *, alias="lake"):
    """Attaches a version to a duckdb connection, to read; HEAD's when none is named."""
    location, statement = _abi.Location(), ctypes.c_void_p()
    with _Repo(repo) as opened:
        _call(library.fdl_locate, opened, _encoded(revision), ctypes.byref(location))
        try:
            _call(library.fdl_attach_statement, opened, ctypes.byref(location), None, _encoded(alias), ctypes.byref(statement))
        finally:
            library.fdl_location_clear(ctypes.byref(location))
        _attach(con, opened, _taken(statement))


def checkout(repo, work, revision=None, *, force=False):
    """A version becomes a working catalog; HEAD's when none is named."""
    options, result = _abi.CheckoutOptions(_encoded(revision), force), _abi.CheckoutResult()
    with _Repo(repo) as opened:
        _call(library.fdl_checkout, opened, _encoded(work), ctypes.byref(options), ctypes.byref(result))
    library.fdl_checkout_result_clear(ctypes.byref(result))
    return Work(work)


class Work:
    """A working catalog that checkout, the function or the command, has made."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def attach(self, con):
        """Attaches it to a duckdb connection as lake, to write to."""
        status = _abi.StatusResult()
        _call(library.fdl_status, ctypes.byref(_context), _encoded(self.path), ctypes.byref(status))
        address, statement = os.fsdecode(status.repo), status.attach_statement.decode()
        library.fdl_status_result_clear(ctypes.byref(status))
        with _Repo(address) as opened:
            _attach(con, opened, statement)

    def commit(self, message, *, author=None, dataset=None, dbt=None, sign=None, allow_empty=False):
        """Makes a version, on this machine only.

        author   "Name <email>"; else FDL_AUTHOR_NAME and FDL_AUTHOR_EMAIL, else the name of the login
        dataset  a dataset.json that describes the tables
        dbt      a folder with dbt's manifest.json, whose descriptions are taken
        sign     the file of an SSH key to sign with
        """
        name, email = _author(author)
        result = _abi.CommitResult()
        options = _abi.CommitOptions(
            message=message.encode(),
            author_name=name.encode(),
            author_email=email.encode() if email else None,
            dataset_path=_encoded(dataset),
            dbt_folder=_encoded(dbt),
            sign_key=_encoded(sign),
            allow_empty=allow_empty,
        )
        _call(library.fdl_commit, ctypes.byref(_context), _encoded(self.path), ctypes.byref(options), ctypes.byref(result))
        return Commit(result.made, result.id.decode(), result.seq)

    def push(self, branch=None):
        """Publishes what was committed.  Error with the code "conflict": somebody else was quicker."""
        options, result = _abi.PushOptions(_encoded(branch)), _abi.PushResult()
        try:
            _call(library.fdl_push, ctypes.byref(_context), _encoded(self.path), ctypes.byref(options), ctypes.byref(result))
            ids = ctypes.string_at(result.pushed, result.pushed_count * _abi.ID_BYTES) if result.pushed_count else b""
            versions = [ids[at : at + _abi.ID_BYTES - 1].decode() for at in range(0, len(ids), _abi.ID_BYTES)]
            return Push(result.branch.decode(), versions, result.waiting.decode(), result.sent.files, result.sent.bytes)
        finally:
            library.fdl_push_result_clear(ctypes.byref(result))


def _author(given):
    if given is None:
        import getpass

        return os.environ.get("FDL_AUTHOR_NAME") or getpass.getuser(), os.environ.get("FDL_AUTHOR_EMAIL")
    named = re.fullmatch(r"\s*(.*?)\s*(?:<([^<>]*)>)?\s*", given)
    return named[1], named[2]


def main():
    """The command `fdl`."""
    program = str(_PLACE / "bin" / "fdl")
    os.execv(program, [program, *sys.argv[1:]])
