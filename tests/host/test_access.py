"""Who may do what: tokens, roles, private repositories, TLS."""

import base64
import os
import stat
import subprocess
import time

import pytest
from harness import duck, fdl, text
from host import PROGRAM, Host, add_token, trusting, wait_for
from servers import clean_environment


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """A token file with one of each role: its path, and the tokens by role."""
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    return file, {role: add_token(file, f"a-{role}r", role) for role in ("read", "write", "approve")}


def source_of(repo):
    name = "ab" * 32
    (repo.folder / "sources").mkdir(exist_ok=True)
    (repo.folder / "sources" / name).write_text("the original")
    return f"/sources/{name}"


def serve_once(*words):
    """A run of `fdl serve` that is to end by itself."""
    return subprocess.run([PROGRAM, "serve", *map(str, words)], capture_output=True, text=True, env=clean_environment(), timeout=60)


def test_a_token_is_shown_once_and_kept_as_a_salted_hash(tokens):
    file, made = tokens
    lines = file.read_text().splitlines()
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert len(lines) == 3 and len(set(made.values())) == 3
    for line, (role, token) in zip(lines, made.items()):
        name, written, hashed = line.split(" ")
        assert (name, written) == (f"a-{role}r", role) and hashed.startswith("$sha256$")
        assert token not in file.read_text() and len(token) >= 40
    again = serve_once("x", "--tokens", file, "--add-token", "a-readr:read")
    assert again.returncode == 3 and "a-readr" in again.stderr
    for bad in ("name", "name:king", ":read", "a b:read"):
        assert serve_once("x", "--tokens", file, "--add-token", bad).returncode == 2
    assert file.read_text().splitlines() == lines


def test_reading_is_open_unless_private(flights, tokens):
    file, made = tokens
    source = source_of(flights)
    with Host(flights.folder, "--tokens", file) as host:
        assert host.get("/HEAD").status == 200
        for role, token in made.items():
            assert host.ask("GET", "/HEAD", token=token).status == 200
            assert host.ask("GET", source, token=token).status == (403 if role == "read" else 200)
        unknown = host.ask("GET", "/HEAD", token="fdl_" + "0" * 40)
        assert (unknown.status, unknown.error) == (401, "denied") and unknown.headers["WWW-Authenticate"].startswith("Bearer")
        assert host.get(source).status == 401
        assert host.ask("PUT", "/data/x.parquet", token=made["read"], body=b"x").status in (403, 405)
        for header in ("Bearer", "Bearer ", "Basic", "Basic !!!", "Basic " + base64.b64encode(b"no colon").decode(), "Digest x", "Bearer " + "x" * 2000):
            assert host.ask("GET", "/HEAD", {"Authorization": header}).status == 401, header
    with Host(flights.folder, "--tokens", file, "--private", "--public-sources") as host:
        for path in ("/HEAD", "/none", "/ducklake.duckdb", "/metrics", source):
            assert host.get(path).status in (401, 404), path
            assert b"refs" not in host.get(path).body
        assert host.get("/healthz").status == 200
        assert host.ask("OPTIONS", "/HEAD").status == 204
        basic = base64.b64encode(f"anybody:{made['read']}".encode()).decode()
        assert host.ask("GET", "/HEAD", {"Authorization": f"Basic {basic}"}).status == 200
        answer = host.ask("GET", f"/versions/{flights.head()}/version.json", token=made["read"])
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert host.ask("GET", source, token=made["read"]).body == b"the original"
        names = {line.get("who") for line in host.logged(13)}  # the first ten were nobody's
        assert "a-readr" in names and not any(token in str(host.log) for token in made.values())


def test_duckdb_reads_a_private_repository_with_a_token(flights, tokens):
    file, made = tokens
    with Host(flights.folder, "--tokens", file, "--private") as host:
        with duck() as con:
            con.execute(f"CREATE SECRET (TYPE http, BEARER_TOKEN {text(made['read'])}, SCOPE {text(host.url)})")
            root = f"{host.url}versions/{flights.head()}/ducklake.duckdb"
            con.execute(f"ATTACH 'ducklake:{root}' AS lake (READ_ONLY, DATA_PATH '{host.url}data/', OVERRIDE_DATA_PATH true)")
            assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (30000,)


def test_without_tokens_sources_are_closed_and_nothing_is_written(reading, flights):
    source = source_of(flights)
    assert reading.get(source).error == "denied"
    assert reading.ask("PUT", "/HEAD", body=b"x").status == 405
    assert reading.ask("GET", "/HEAD", token="whatever").status == 200


def test_a_token_is_revoked_by_taking_its_line_out(flights, tmp_path):
    file = tmp_path / "tokens"
    first, second = add_token(file, "one", "read"), add_token(file, "two", "read")
    with file.open("a") as lines:
        lines.write("# a comment\n\nthree read plain-token")
    with Host(flights.folder, "--tokens", file, "--private") as host:
        assert [host.ask("GET", "/HEAD", token=token).status for token in (first, second, "plain-token")] == [200, 200, 200]
        assert any("'three'" in line and "--add-token" in line for line in host.lines)
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[1:]))
        wait_for("the end of the first token", lambda: host.ask("GET", "/HEAD", token=first).status == 401)
        assert host.ask("GET", "/HEAD", token=second).status == 200
        third = add_token(file, "four", "read")
        wait_for("the new token", lambda: host.ask("GET", "/HEAD", token=third).status == 200)
        assert host.ask("GET", "/HEAD", token="plain-token").status == 200
        file.unlink()
        wait_for("the end of all tokens", lambda: host.ask("GET", "/HEAD", token=second).status == 401)


def test_https(flights, tmp_path, data_file):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )
    with Host(flights.folder, "--tls-cert", certificate, "--tls-key", key) as host:
        plain = host.raw(b"GET /HEAD HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"refs/heads" not in plain
        host.tls = trusting(certificate)
        assert host.url.startswith("https://") and host.get("/HEAD").body == b"ref: refs/heads/main\n"
        original = (flights.folder / data_file).read_bytes()
        assert host.get(f"/{data_file}").body == original
        assert host.get(f"/{data_file}", Range="bytes=100-200,5-9").status == 206
        with host.socket() as silent:  # in the middle of its handshake: that costs no processor
            silent.sendall(b"\x16\x03\x01")
            assert host.get("/HEAD").status == 200
            before = host.processor_seconds()
            time.sleep(1)
            assert host.processor_seconds() - before < 0.5
        answer = fdl("url", host.url, env={"AWS_CA_BUNDLE": None, "CURL_CA_BUNDLE": None, "SSL_CERT_FILE": certificate})
        assert answer.stdout.strip() == f"{host.url}versions/{flights.head()}/ducklake.duckdb"
    broken = serve_once(flights.folder, "--tls-cert", key, "--tls-key", key, "--listen", "127.0.0.1:0")
    assert broken.returncode == 1 and str(key) in broken.stderr


@pytest.mark.parametrize(
    "words, code",
    [
        (["--private"], 2), (["--approve", "*"], 2), (["--tls-key", "k"], 2), (["--listen", "nowhere"], 2), (["--listen", "::1:80"], 2),
        (["--listen", "127.0.0.1:99999"], 2), (["--log", "xml"], 2), (["--tokens", "/nonexistent/tokens"], 5), (["--max-connections", "x"], 2),
        (["--add-token", "a:read"], 2),
    ],
)
def test_options_that_make_no_sense_are_refused(flights, words, code):
    done = serve_once(flights.folder, *words)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert len(done.stderr.splitlines()) <= 2 and done.stderr.splitlines()[-1].startswith("fdl: ")
