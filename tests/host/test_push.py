"""Writing over HTTP: what a push to a host sends, what it survives, and what it says.

The host is the real one on a folder or in front of versitygw; the reader is DuckDB over HTTP. Bytes and requests are
counted by proxies and by the host itself, so that "only what is missing" and "straight to the store" are numbers.
"""

import json
import os
import pty
import re
import signal
import subprocess
import uuid
from contextlib import ExitStack
from pathlib import Path

import harness
import pytest
from fault_proxy import Answer, FaultProxy
from harness import CONFLICT, EXPIRED, FAILURE, OK, REFUSED, duck, fdl
from host import Host, add_token
from servers import Nginx

ROWS = "CREATE TABLE lake.t AS SELECT range::INT AS i, md5(range::VARCHAR) AS word FROM range(6000)"
SUM = "SELECT count(*), sum(i) FROM lake.t"


class Site:
    """A repository on its own store, a host before it, and proxies: before the host, and before the store if it is one."""

    def __init__(self, stack, folder, versitygw, kind, *options):
        self.folder, self.kind, self.versitygw = Path(folder), kind, versitygw
        self.environment, self.store = None, str(folder / "repo")
        if kind == "s3":
            self.gate = stack.enter_context(FaultProxy(versitygw.port))
            bucket = f"push-{uuid.uuid4()}"
            versitygw.boto().create_bucket(Bucket=bucket)
            self.store = f"s3://{bucket}/lake"
            self.environment = versitygw.client_environment(self.gate.url)
        fdl("init", self.store, env=self.environment)
        tokens = self.folder / "tokens"
        self.tokens = {role: add_token(tokens, role, role) for role in ("read", "write", "approve")}
        self.options = ("--tokens", tokens, *options)
        self.host = stack.enter_context(Host(self.store, *self.options, environment=self.environment))
        self.proxy = stack.enter_context(FaultProxy(self.host.port))
        self.url = self.proxy.url

    def at_store(self, *args, code=OK):
        return fdl(*args, code=code, env=self.environment)

    def head(self, branch="main"):
        return self.at_store("url", self.store, branch, "--json").json["id"]

    def sound(self):
        assert self.at_store("verify", self.store, "--all", "--json").json["findings"] == []

    def kill(self):
        self.host.stop(signal.SIGKILL)

    def restart(self):
        """A host that was killed comes back where it was."""
        self.host.words[self.host.words.index("--listen") + 1] = f"127.0.0.1:{self.host.port}"
        self.host.__enter__()

    def refuse_once(self, method, part, status):
        self.proxy.fault_next(method, part, Answer(status, {"Content-Type": "text/plain"}, b"no"))


class Writer:
    """A working catalog made over HTTP."""

    def __init__(self, site, name="work", token="write"):
        self.site, self.work = site, site.folder / f"{name}.sqlite"
        self.variables = {"FDL_TOKEN": site.tokens.get(token, token)}
        self.attach = self.fdl("checkout", site.url, self.work).attach

    def fdl(self, *args, code=OK, **variables):
        return fdl(*args, code=code, env={**self.variables, **variables})

    def write(self, *statements):
        with duck(self.attach) as con:
            for statement in statements:
                con.execute(statement).fetchall()

    def commit(self, *statements, options=()):
        """Writes and commits; returns the id of the version."""
        if statements:
            self.write(*statements)
        return self.fdl("commit", self.work, "-m", "a step", "--json", *options).json["id"]

    def push(self, *options, code=OK, **variables):
        return self.fdl("push", self.work, *options, code=code, **variables)

    def status(self):
        return self.fdl("status", self.work, "--json").json

    def bytes_new(self):
        """Of all that the pending versions bring."""
        pending = Path(f"{self.work}.fdl") / "pending"
        total = 0
        for folder in pending.iterdir():
            total += sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".txt")
            lines = (folder / "files.txt").read_text().splitlines()
            total += sum(int(line.split(" ", 2)[1]) for line in lines if line.startswith("+"))
        return total


@pytest.fixture
def stack():
    with ExitStack() as made:
        yield made


@pytest.fixture(params=["folder", "s3"])
def site(request, stack, tmp_path, versitygw):
    return Site(stack, tmp_path, versitygw, request.param)


@pytest.fixture
def folder_site(stack, tmp_path):
    return Site(stack, tmp_path, None, "folder")


@pytest.fixture
def s3_site(stack, tmp_path, versitygw):
    return Site(stack, tmp_path, versitygw, "s3")


def read(address, sql, *revision):
    with duck(fdl("attach", address, *revision).attach) as con:
        return con.execute(sql).fetchall()


# ---- the whole story -----------------------------------------------------------------------------------------------


def test_a_repository_is_written_and_read_through_a_host(site):
    writer = Writer(site)
    first = writer.commit(ROWS)
    sent = writer.push("--json").json
    assert sent["pushed"] == [first] and sent["uploaded_bytes"] == sum_of_puts(site)
    second = writer.commit("DELETE FROM lake.t WHERE i < 1000", "INSERT INTO lake.t VALUES (9000, 'more')")
    third = writer.commit("INSERT INTO lake.t VALUES (9001, 'more')")
    assert writer.push("--json").json["pushed"] == [second, third]
    assert "nothing to push" in writer.push().stdout
    assert site.head() == third
    assert read(site.url, SUM) == [(5002, sum(range(1000, 6000)) + 18001)]
    assert read(site.url, SUM, "HEAD~2") == [(6000, sum(range(6000)))]

    writer.fdl("branch", site.url, "side", "HEAD~1")
    writer.fdl("tag", site.url, "v1", first)
    assert "exists already" in writer.fdl("tag", site.url, "v1", second, code=CONFLICT).complaint
    assert "side/b" in writer.fdl("branch", site.url, "side/b", code=CONFLICT).complaint
    writer.fdl("branch", site.url, "side", "-d")
    assert "cannot be deleted" in writer.fdl("branch", site.url, "main", "-d", code=REFUSED).complaint
    restored = writer.fdl("restore", site.url, first, "-m", "back", "--json").json["id"]
    assert site.head() == restored and read(site.url, SUM) == [(6000, sum(range(6000)))]
    refs = json.loads(site.host.get("/refs.json").body)["refs"]
    assert refs == {"refs/heads/main": restored, "refs/tags/v1": first}
    assert writer.fdl("init", site.url, "--json").json["created"] is False
    site.sound()


def puts(seen):
    """What was taken: the paths of files, with their bytes."""
    return {
        one.target.split("?")[0]: one.body_bytes
        for one in seen
        if one.method == "PUT" and "/refs/" not in one.target and 200 <= one.status < 300
    }


def sum_of_puts(site):
    """Through the host, and by signed addresses."""
    signed = [one for one in site.gate.seen if "X-Amz-Signature" in one.target] if site.kind == "s3" else []
    return sum(puts(site.proxy.seen).values()) + sum(puts(signed).values())


# ---- straight to the store ---------------------------------------------------------------------------------------------


def test_files_go_past_the_host_to_its_bucket(s3_site):
    writer = Writer(s3_site)
    writer.commit(ROWS)
    brought = writer.bytes_new()
    received = s3_site.host.metric("fdl_received_bytes_total")
    s3_site.gate.reset()
    assert writer.push("--json").json["uploaded_bytes"] == brought
    assert s3_site.host.metric("fdl_received_bytes_total") - received < 3000 < brought
    direct = [one for one in s3_site.gate.seen if "X-Amz-Signature" in one.target]
    assert sum(one.body_bytes for one in direct) == brought
    for one in direct:
        assert "authorization" not in one.headers and one.headers["if-none-match"] == "*"
        assert one.headers["x-amz-checksum-sha256"]
    assert s3_site.proxy.count("POST") == 2, "one to see who is there, one for all files"


def test_an_address_that_ran_out_is_asked_for_again_and_no_other(s3_site):
    writer = Writer(s3_site)
    version = writer.commit(ROWS, "CREATE TABLE lake.u AS SELECT 1 AS i", "CREATE TABLE lake.v AS SELECT 1 AS i")
    s3_site.gate.reset()
    s3_site.gate.fault_next("PUT", "/u/", 403)
    s3_site.gate.fault_next("PUT", "/dataset.json", "lose")
    writer.push()
    assert s3_site.head() == version
    questions = [one.body_bytes for one in s3_site.proxy.seen if one.method == "POST"]
    assert len(questions) == 3 and questions[2] < questions[1] / 4
    direct = [one.target for one in s3_site.gate.seen if "X-Amz-Signature" in one.target]
    assert len(direct) == 8 + 2  # three data files, five of the version; one twice for each fault
    s3_site.sound()

    writer.commit("INSERT INTO lake.u VALUES (2)")
    s3_site.gate.fault_next("PUT", "/u/", 403, times=9)
    assert "answers 403 to the upload of 'data/main/u/" in writer.push(code=FAILURE).complaint
    s3_site.gate.reset()
    writer.push()


# ---- breaks ------------------------------------------------------------------------------------------------------------


def test_a_host_killed_at_any_request_leaves_a_sound_repository_and_a_push_that_goes_on(folder_site):
    """Killed at one, it stays away, and the writer runs the push again; killed at the next, it is back at once."""
    writer = Writer(folder_site)
    writer.commit(ROWS)
    writer.push()
    number, met = 2, True
    while met:
        number += 1
        brings_data = number in (4, 5)  # the requests before and for a data file
        version = writer.commit("INSERT INTO lake.t VALUES (1, 'x')") if brings_data else writer.commit(options=["--allow-empty"])
        folder_site.proxy.reset()

        def strike(_, back=number % 2 == 0):
            folder_site.kill()
            if back:
                folder_site.restart()

        folder_site.proxy.before[number] = strike
        answer = writer.push(code=None)
        first = list(folder_site.proxy.seen)
        met = len(first) >= number
        dead = folder_site.host.process.poll() is not None
        assert answer.code == (FAILURE if met and dead else OK), (number, answer)
        folder_site.proxy.reset()
        if dead:
            folder_site.restart()
        writer.push()
        assert not puts(first).keys() & puts(folder_site.proxy.seen).keys(), number
        assert folder_site.head() == version and writer.status()["pending"] == []
        assert number < 40
    assert number >= 10
    folder_site.sound()
    assert read(folder_site.url, "SELECT count(*) FROM lake.t") == [(6002,)]


def test_a_push_settles_every_answer_that_was_lost(folder_site):
    writer = Writer(folder_site)
    writer.commit(ROWS)
    writer.push()
    number, met = 0, True
    while met:
        number += 1
        version = writer.commit(options=["--allow-empty"])
        folder_site.proxy.reset()
        folder_site.proxy.fault(number, "lose")
        assert writer.push("--json").json["pushed"] == [version]
        met = len(folder_site.proxy.seen) >= number + 1
        assert folder_site.head() == version and number < 40
    folder_site.sound()


# ---- two writers ---------------------------------------------------------------------------------------------------------


def test_of_two_writers_one_is_told_to_redo_the_work(folder_site):
    one, two = Writer(folder_site, "one"), Writer(folder_site, "two")
    first = one.commit(ROWS)
    two.commit("CREATE TABLE lake.other AS SELECT 1 AS i")
    folder_site.proxy.reset()
    # both have looked at the branch before either moves it
    folder_site.proxy.before[3] = lambda seen: fdl("push", one.work, env={"FDL_TOKEN": folder_site.tokens["write"]}) if seen.connection else None
    answer = two.push(code=CONFLICT)
    assert "has moved to" in answer.complaint and "fdl checkout" in answer.complaint
    assert folder_site.head() == first and len(two.status()["pending"]) == 1
    assert two.push(code=CONFLICT).complaint == answer.complaint
    folder_site.sound()


# ---- a network that is none ---------------------------------------------------------------------------------------------

PAGE = Answer(200, {"Content-Type": "text/html", "ETag": '"page"'}, b"<!DOCTYPE html>\n<title>Welcome</title>" + b" " * 9000 + b"log in")


def test_a_login_page_that_answers_200_to_everything_takes_no_version(folder_site, tmp_path):
    """From a request of a push on: what is not in the repository stays here, and the next push brings it."""
    writer = Writer(folder_site)
    writer.commit(ROWS)
    writer.push()
    writer.commit("INSERT INTO lake.t VALUES (1, 'x')")
    folder_site.proxy.reset()
    writer.push()
    moves = next(seen.number for seen in folder_site.proxy.seen if seen.method == "PUT" and "/refs/" in seen.target)
    for start in (moves - 1, moves, moves + 1):
        version = writer.commit("INSERT INTO lake.t VALUES (2, 'x')")
        folder_site.proxy.reset()
        for number in range(start, 200):
            folder_site.proxy.fault(number, PAGE)
        answer = writer.push(code=FAILURE)
        folder_site.proxy.reset()
        assert "web page" in answer.complaint, answer
        assert writer.status()["pending"] == [version] and (folder_site.head() == version) == (start > moves)
        writer.push()
        assert folder_site.head() == version and writer.status()["pending"] == []
    folder_site.sound()

    # Who only reads is told what answers, and not that a file is broken.
    folder_site.proxy.fault_next(None, "", PAGE, times=1000)
    url, target = folder_site.url, tmp_path / "target"
    for args in (
        ("url", url), ("attach", url), ("attach", url, "--local"), ("log", url), ("log", url, "--all"), ("show", url, "v1"), ("branch", url),
        ("diff", url, version, "main"), ("checkout", url, target), ("clone", url, target), ("verify", url, "--all"), ("init", url),
    ):  # fmt: skip
        answer = writer.fdl(*args, code=FAILURE)
        assert "web page" in answer.complaint and not target.exists(), answer
    assert "web page" in writer.fdl("doctor", url, code=FAILURE).stdout


# ---- who may -----------------------------------------------------------------------------------------------------------


def test_who_may_not_write_is_told_what_to_do(folder_site, tmp_path):
    writer = Writer(folder_site)
    version = writer.commit(ROWS)
    for token, words in ((None, "(401): set FDL_TOKEN"), ("fdl_unknown", "does not know the token in FDL_TOKEN"), (folder_site.tokens["read"], "does not let us write")):
        answer = writer.push("--json", code=FAILURE, FDL_TOKEN=token)
        assert words in answer.complaint and "FDL_TOKEN" in answer.complaint
        assert answer.json["error"]["code"] == "denied"
    assert "character" in writer.push(code=harness.USAGE, FDL_TOKEN="a b").complaint
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text(f"machine 127.0.0.1 login anybody password {folder_site.tokens['write']}\n")
    assert writer.push("--json", FDL_TOKEN=None, HOME=home).json["pushed"] == [version]
    authorizations = {one.headers.get("authorization", "").split(" ")[0] for one in folder_site.proxy.seen if one.status == 201}
    assert authorizations == {"Basic"}


def test_a_redirect_does_not_take_the_token_along(folder_site):
    writer = Writer(folder_site)
    with FaultProxy(folder_site.host.port) as elsewhere:
        folder_site.proxy.fault_next("GET", "/HEAD", Answer(302, {"Location": f"{elsewhere.url}/HEAD"}))
        writer.fdl("url", folder_site.url, code=None)
        assert [one.target for one in elsewhere.seen] == ["/HEAD"] and "authorization" not in elsewhere.seen[0].headers
        writer.commit(ROWS)
        folder_site.proxy.fault_next("PUT", "/data/", Answer(307, {"Location": elsewhere.url}))
        assert f"elsewhere ('{elsewhere.url}')" in writer.push(code=FAILURE).complaint
        assert len(elsewhere.seen) == 1


# ---- a host that asks somebody -------------------------------------------------------------------------------------------


def test_a_version_waits_for_approval_and_those_behind_it_wait_here(stack, tmp_path):
    site = Site(stack, tmp_path, None, "folder", "--approve", "*")
    writer = Writer(site)
    first, second = writer.commit(ROWS), writer.commit("INSERT INTO lake.t VALUES (9000, 'x')")
    answer = writer.push("--json").json
    assert (answer["pushed"], answer["waiting"], answer["request"]) == ([], first, {"number": 1, "state": "waiting"})
    said = writer.push().stdout
    assert f"{first} is uploaded and waits for approval (request 1)" in said and "1 version behind it" in said
    status = writer.status()
    assert status["pending"] == [first, second] and status["request"] == {"number": 1, "state": "waiting"}
    assert not status["moved"] and "waits" not in writer.fdl("status", writer.work).stderr
    site.at_store("requests", site.store, "approve", "1")
    assert writer.push("--json").json == {
        "branch": "main", "pushed": [first], "uploaded_files": 6, "uploaded_bytes": sum_of_last(site),
        "waiting": second, "request": {"number": 2, "state": "waiting"},
    }
    site.at_store("requests", site.store, "reject", "2", "-m", "not like this")
    assert writer.status()["request"]["reason"] == "not like this"
    assert "request 2" in writer.push(code=REFUSED).complaint
    assert writer.push("--json").json["request"]["number"] == 3
    # What was withdrawn on top is not sent again, however often that is tried.
    site.at_store("requests", site.store, "reject", "3")
    site.at_store("withdraw", site.store, second, "--yes")
    sent = puts(site.proxy.seen)
    for _ in range(2):
        assert "withdrawn" in writer.push(code=EXPIRED).complaint
    assert puts(site.proxy.seen) == sent and site.head() == first


def sum_of_last(site):
    """Of the version pushed last: its data and its files."""
    taken = puts(site.proxy.seen)
    newest = max(path.split("/")[2] for path in taken if path.startswith("/versions/"))
    data = [path for path in taken if path.startswith("/data/")]
    return sum(size for path, size in taken.items() if path.startswith(f"/versions/{newest}/") or path == data[-1])


def test_a_host_that_keeps_the_branch_to_itself_decides(folder_site):
    writer = Writer(folder_site)
    version = writer.commit(ROWS)
    folder_site.refuse_once("PUT", "/refs/heads/", 403)
    answer = writer.push("--json").json
    assert (answer["waiting"], answer["request"]) == (version, {"number": None, "state": "waiting"})
    assert "the host decides" in writer.fdl("status", writer.work).stdout
    assert writer.push("--json").json["pushed"] == [version]


# ---- a web server that only takes files --------------------------------------------------------------------------------


def test_a_web_server_that_takes_files_is_written_when_nobody_else_writes(stack, tmp_path):
    served, conf = tmp_path / "served", tmp_path / "conf"
    conf.mkdir()
    fdl("init", served / "lake")
    dav = "dav_methods PUT DELETE; create_full_put_path on; client_max_body_size 0;"
    nginx = stack.enter_context(Nginx(conf, served, dav))
    site = Site.__new__(Site)
    site.proxy = stack.enter_context(FaultProxy(nginx.port))
    site.folder, site.url, site.tokens = tmp_path, f"{site.proxy.url}/lake", {"write": None}
    writer = Writer(site)
    version = writer.commit(ROWS)
    assert "does not keep conditional writes" in writer.push(code=REFUSED).complaint
    writer.push("--unsafe-no-conditions")
    assert read(f"{nginx.url}/lake", SUM) == [(6000, sum(range(6000)))]
    refs = served / "lake" / "refs.json"
    assert json.loads(refs.read_text())["refs"] == {"refs/heads/main": version}
    refs.unlink()
    site.refuse_once("PUT", "/refs.json", 403)
    writer.push()
    assert not refs.exists()
    fdl("tag", site.url, "v1")
    assert json.loads(refs.read_text())["refs"] == {"refs/heads/main": version, "refs/tags/v1": version}
    site.refuse_once("POST", "?batch", 501)
    site.proxy.fault_next("PUT", "/dataset.json", "drop")
    second = writer.commit("DELETE FROM lake.t WHERE i < 10")
    writer.push()
    assert fdl("verify", served / "lake", "--all", "--json").json["findings"] == []
    assert (served / "lake" / "refs" / "heads" / "main").read_text().strip() == second


# ---- how far it is -------------------------------------------------------------------------------------------------------


def test_a_terminal_is_told_how_far_a_long_push_is_and_nothing_else_is(folder_site):
    writer = Writer(folder_site)
    writer.commit(ROWS)
    writer.push()

    def said_by_a_slow_push(*options, terminal):
        writer.commit(options=["--allow-empty"])
        folder_site.proxy.fault_next("PUT", "", "delay", times=5)
        command, env = harness.command("push", writer.work, *options), harness.environment(**writer.variables)
        if not terminal:
            return subprocess.run(command, env=env, stderr=subprocess.PIPE, check=True).stderr.decode()
        ours, theirs = pty.openpty()
        subprocess.run(command, env=env, stderr=theirs, check=True)
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 65536):
                pieces.append(piece.decode())
        except OSError:
            pass  # the other side is closed
        os.close(ours)
        return "".join(pieces)

    line = r"\ruploading \d of 5 files, [\d.]+ \w+ of [\d.]+ \w+, [\d.]+ \w+/s, [\d:]+( s)? left\x1b\[K"
    assert re.fullmatch(rf"({line})+\r\x1b\[K", said_by_a_slow_push(terminal=True))
    assert said_by_a_slow_push("-q", terminal=True) == "" == said_by_a_slow_push(terminal=False)
