"""The read-only store on a real web server, and the HTTP client below it."""

import hashlib
import json
import os
import subprocess

import pytest
from fault_proxy import Answer, FaultProxy
from servers import Nginx, clean_environment
from tools import Store, run_program

KEYS = ["a b+c", "100%", "%20", "ü/é", "AC/DC", "x=%2F/y", "q?a=b&c#d", "日本語/郵便"]


def write(folder, key, content):
    path = folder / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def web(nginx):
    return Store(f"{nginx.url}/lake/")


def send(method, url, *words):
    done = run_program("net-http", method, url, *words, environment=clean_environment(), check=True)
    return json.loads(done.stdout)


# ---- reading -----------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_the_file_of_that_name(served, web, key):
    write(served / "lake", key, "text")
    assert web.ok("read", key)["text"] == "text"
    assert web.ok("head", key)["size"] == 4
    assert web.ok("get", key, "1", "2")["sha256"] == hashlib.sha256(b"ex").hexdigest()


@pytest.mark.parametrize("end", ["", "/"])
def test_a_final_slash_makes_no_difference(served, nginx, end):
    write(served, "lake/HEAD", "ref: refs/heads/main\n")
    store = Store(f"{nginx.url}/lake{end}")
    assert store.ok("read", "HEAD")["text"] == "ref: refs/heads/main\n"
    assert store.ok("describe")["address"] == f"{nginx.url}/lake/"


def test_a_repository_may_be_a_whole_server_under_an_escaped_name(served, nginx):
    write(served, "fdl.json", "{}")
    write(served, "a lake/fdl.json", "{ }")
    assert Store(nginx.url).ok("read", "fdl.json")["text"] == "{}"
    assert Store(f"{nginx.url}/a%20lake").ok("read", "fdl.json")["text"] == "{ }"


def test_scheme_and_host_are_written_in_one_way():
    for typed, canonical in [
        ("http://HostName:80/Lake", "http://hostname/Lake/"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:8443/x/", "https://example.com:8443/x/"),
        ("http://[::1]:80/x", "http://[::1]/x/"),
    ]:
        assert Store(typed).ok("describe")["address"] == canonical


def test_size_etag_and_time_are_what_the_server_says(served, web):
    path = write(served, "lake/x", "text")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    for answer in (web.ok("head", "x"), web.ok("read", "x"), web.ok("get", "x", "0", "1")):
        assert answer["size"] == 4
        assert answer["modified_ms"] == 1_600_000_000_000
        assert answer["etag"].startswith('"') and answer["etag"] == web.ok("head", "x")["etag"]


def test_ranges_are_cut_at_the_end_and_refused_behind_it(served, web):
    write(served, "lake/x", "0123456789")
    assert web.ok("get", "x", "5", "100")["bytes"] == 5
    assert web.ok("get", "x", "0", str(2**63))["bytes"] == 10
    answer = web("get", "x", "10", "1")
    assert answer["code"] == "failure" and "has 10 bytes" in answer["message"]


def test_an_empty_file_is_an_object(served, web):
    write(served, "lake/empty", "")
    assert web.ok("read", "empty")["text"] == ""
    assert web.ok("head", "empty")["size"] == 0


def test_what_is_missing_is_not_found_and_named(web):
    for command in [("read", "refs/heads/none"), ("head", "refs/heads/none")]:
        answer = web(*command)
        assert answer["code"] == "not_found" and "'refs/heads/none'" in answer["message"]


def test_what_is_gone_for_good_is_not_found(served, nginx, web_proxy):
    web_proxy.fault(1, 410)
    assert Store(web_proxy.url)("read", "x")["code"] == "not_found"


def test_what_must_not_be_read_is_denied(web_proxy):
    web_proxy.fault_next("GET", "/x", 403)
    web_proxy.fault_next("GET", "/x", 401)
    for _ in range(2):
        answer = Store(web_proxy.url)("read", "x")
        assert answer["code"] == "denied" and "ask its owner" in answer["message"]
    assert web_proxy.count() == 2


# ---- what a web server cannot do ---------------------------------------------------


def test_writing_and_listing_say_in_one_line_that_they_cannot(web):
    for command in [("put", "x", "y", "absent"), ("remove", "x"), ("list", "", "all"), ("promises",)]:
        answer = web(*command)
        assert answer["code"] == "unsupported"
        assert web.address in answer["message"]


@pytest.mark.parametrize(
    "address",
    ["http://", "http:///x", "https://host/x?token=very-private", "https://host/x#y", "http://a b/", "http://host:port/", "http://host?"],
)
def test_what_is_no_address_is_refused(address):
    answer = Store(address)("head", "x")
    assert answer["code"] == "usage", answer


def test_a_password_in_an_address_is_refused_and_not_repeated():
    answer = Store("https://me:very-private@host/lake")("head", "x")
    assert answer["code"] == "usage" and "leave it out" in answer["message"]
    assert "very-private" not in str(answer)


# ---- servers with ideas of their own --------------------------------------------------


def test_a_small_file_is_cut_for_a_server_without_ranges(served, tmp_path):
    write(served, "x", "0123456789")
    with Nginx(tmp_path, served, "max_ranges 0;") as server:
        store = Store(server.url)
        got = store.ok("get", "x", "3", "4")
        assert got["sha256"] == hashlib.sha256(b"3456").hexdigest() and got["size"] == 10
        assert store("get", "x", "10", "1")["code"] == "failure"


def test_a_large_file_is_not_read_whole_for_a_part_of_it(served, tmp_path):
    write(served, "x", b"x" * 9_000_000)
    with Nginx(tmp_path, served, "max_ranges 0;") as server:
        answer = Store(server.url)("get", "x", "3", "4")
        assert answer["code"] == "failure" and "range requests turned on" in answer["message"]
        assert answer["bytes"] == 0


@pytest.mark.parametrize("command", [("read", "x"), ("get", "x", "0", "2"), ("head", "x")])
def test_a_compressed_answer_is_refused(served, tmp_path, command):
    write(served, "x", "0123456789")
    with Nginx(tmp_path, served, "add_header Content-Encoding gzip;") as server:
        answer = Store(server.url)(*command)
        assert answer["code"] == "failure" and "compressed (content-encoding 'gzip')" in answer["message"]


def test_compression_is_not_asked_for(served, tmp_path):
    write(served, "x.json", "0123456789" * 1000)
    with Nginx(tmp_path, served, "gzip on; gzip_types *; gzip_proxied any;") as server:
        assert Store(server.url).ok("get", "x.json")["bytes"] == 10_000


def test_a_head_without_a_length_is_refused(served, web_proxy):
    web_proxy.fault(1, Answer(200, {"ETag": '"x"'}, length=None))
    answer = Store(web_proxy.url)("head", "x")
    assert answer["code"] == "failure" and "HEAD without content-length" in answer["message"]


def test_a_file_without_a_length_is_refused(served, web_proxy):
    # It would end where the connection does, wherever that is.
    web_proxy.fault(1, Answer(200, {}, b"half of somethi", length=None))
    answer = Store(web_proxy.url)("read", "x")
    assert answer["code"] == "failure" and "without saying how long it is" in answer["message"]


def test_a_file_in_chunks_is_read(web_proxy):
    web_proxy.fault(1, Answer(200, {"Transfer-Encoding": "chunked"}, b"4\r\ntext\r\n3\r\n!!!\r\n0\r\n\r\n", length=None))
    answer = Store(web_proxy.url).ok("read", "x")
    assert answer["text"] == "text!!!" and answer["size"] == 7


def test_another_part_than_asked_for_is_refused(web_proxy):
    web_proxy.fault(1, Answer(206, {"Content-Range": "bytes 0-3/10"}, b"0123"))
    answer = Store(web_proxy.url)("get", "x", "3", "4")
    assert answer["code"] == "failure" and "another part of 'x'" in answer["message"]
    assert answer["bytes"] == 0


@pytest.mark.parametrize("count, size", [(300, 10), (10, 10_000)])
def test_headers_without_end_are_refused(web_proxy, count, size):
    headers = {f"X-{number}": "x" * size for number in range(count)}
    web_proxy.fault(1, Answer(200, headers, b"text"))
    answer = Store(web_proxy.url)("read", "x")
    assert answer["code"] == "failure"


# ---- redirects -----------------------------------------------------------------------------


def test_a_redirect_is_followed(served, nginx, web_proxy):
    write(served, "there/x", "text")
    web_proxy.fault_next("GET", "/x", Answer(302, {"Location": f"{nginx.url}/there/x"}))
    assert Store(web_proxy.url).ok("read", "x")["text"] == "text"
    web_proxy.fault_next("GET", "/x", Answer(301, {"Location": "/there/x"}))
    assert Store(web_proxy.url).ok("get", "x", "1", "2")["sha256"] == hashlib.sha256(b"ex").hexdigest()
    assert web_proxy.seen[-1].headers["range"] == "bytes=1-2"


def test_a_redirect_in_circles_ends(web_proxy):
    web_proxy.fault_next("GET", "/x", Answer(302, {"Location": "/x"}), times=1000)
    answer = Store(web_proxy.url)("read", "x")
    assert answer["code"] == "failure" and "redirects more than 5 times" in answer["message"]
    assert web_proxy.count() == 6


def test_credentials_go_along_to_the_same_host_only(served, nginx, web_proxy):
    write(served, "x", "text")
    private = ["header", "Authorization", "Bearer secret", "header", "x-amz-security-token", "secret", "header", "Range", "bytes=0-1"]
    with FaultProxy(nginx.port) as elsewhere:
        web_proxy.fault(1, Answer(307, {"Location": "/y"}))
        web_proxy.fault(2, Answer(307, {"Location": f"{elsewhere.url}/x"}))
        assert send("GET", f"{web_proxy.url}/x", "follow", *private)["text"] == "te"
        assert web_proxy.seen[1].headers["authorization"] == "Bearer secret"
        assert elsewhere.seen[0].headers["range"] == "bytes=0-1"
        assert not {"authorization", "x-amz-security-token"} & set(elsewhere.seen[0].headers)


@pytest.mark.parametrize("words", [(), ("follow",)])
def test_a_write_is_never_redirected(web_proxy, words):
    web_proxy.fault(1, Answer(307, {"Location": "/y"}))
    answer = send("PUT", f"{web_proxy.url}/x", "body", "text", *words)
    assert answer["status"] == 307 and web_proxy.count() == 1


def test_a_redirect_to_a_file_of_this_machine_is_not_followed(web_proxy, tmp_path):
    secret = write(tmp_path, "secret", "secret")
    web_proxy.fault_next("GET", "/x", Answer(302, {"Location": f"file://{secret}"}), times=10)
    answer = Store(web_proxy.url)("read", "x")
    assert answer["code"] == "failure" and "secret" not in answer.get("text", "")
    assert answer["message"].startswith(f"'{web_proxy.url.split('/')[2]}' redirects to 'file:///") and "no web address" in answer["message"]


# ---- connections that break ------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["drop", "lose", "cut", "delay", 429, 500, 502, 503, 504])
@pytest.mark.parametrize("command", ["read", "head"])
def test_a_read_survives_a_fault(served, web_proxy, command, fault):
    write(served, "x", "text")
    web_proxy.fault(1, fault)
    assert Store(web_proxy.url).ok(command, "x")["size"] == 4


def test_a_read_that_breaks_off_goes_on_where_it_was(served, web_proxy):
    content = os.urandom(1_000_000)
    write(served, "x", content)
    web_proxy.fault(1, "cut")
    assert Store(web_proxy.url).ok("get", "x")["sha256"] == hashlib.sha256(content).hexdigest()
    assert web_proxy.seen[1].headers["range"] == "bytes=500000-999999"


def test_without_an_etag_a_read_that_breaks_off_is_not_patched_together(served, tmp_path):
    write(served, "x", b"x" * 100_000)
    with Nginx(tmp_path, served, "etag off;") as server, FaultProxy(server.port) as proxy:
        proxy.fault(1, "cut")
        answer = Store(proxy.url)("get", "x")
        assert answer["code"] == "failure" and "may have changed since" in answer["message"]


def test_a_server_that_stops_sending_is_left(served, web_proxy):
    write(served, "x", b"x" * 100_000)
    web_proxy.fault(1, "stall")
    answer = send("GET", f"{web_proxy.url}/x", "idle", "1")
    assert answer["outcome"] == "lost" and "stopped answering" in answer["message"]


def test_what_cannot_have_arrived_is_told_from_what_can(web_proxy):
    assert send("PUT", "http://127.0.0.1:1/x", "once", "body", "text")["outcome"] == "not sent"
    web_proxy.fault(1, "drop")
    assert send("PUT", f"{web_proxy.url}/x", "once", "body", "text")["outcome"] == "lost"


@pytest.mark.parametrize("body", [(), ("body", ""), ("body", "text")])
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_what_is_sent_once_is_never_repeated_on_a_dead_connection(web_proxy, method, body):
    web_proxy.fault(2, "drop")
    answer = send(method, f"{web_proxy.url}/x", "once", "twice", *body)
    assert answer["outcome"] == "lost"
    assert web_proxy.count() == 2


def test_a_host_that_does_not_exist_is_told():
    answer = send("GET", "http://no-such-host.invalid/x")
    assert answer["outcome"] == "not sent" and "'no-such-host.invalid'" in answer["message"]


# ---- TLS and proxies -----------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path):
    """A certificate that signs itself for 127.0.0.1."""
    made = tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
        + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key.pem", "-out", made],
        check=True,
        capture_output=True,
    )
    return made


@pytest.fixture
def tls(tmp_path, served, certificate):
    with Nginx(tmp_path, served, tls=(certificate, tmp_path / "key.pem")) as server:
        yield server


def test_a_certificate_that_nobody_knows_is_refused(served, tls):
    write(served, "x", "text")
    answer = Store(tls.url)("read", "x")
    assert answer["code"] == "failure"
    assert "cannot trust the certificate" in answer["message"] and "SSL_CERT_FILE" in answer["message"]


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE"])
def test_an_authority_of_ones_own_is_named_by_the_usual_variables(served, tls, certificate, variable):
    write(served, "x", "text")
    assert Store(tls.url, **{variable: str(certificate)}).ok("read", "x")["text"] == "text"
    answer = Store(tls.url, **{variable: "/nonexistent/ca.pem"})("read", "x")
    assert "/nonexistent/ca.pem" in answer["message"] and variable in answer["message"]


def test_a_redirect_never_leads_from_https_to_http(served, tmp_path, nginx, certificate):
    write(served, "x", "text")
    away = f"return 302 {nginx.url}/x;"
    with Nginx(tmp_path, served, away, tls=(certificate, tmp_path / "key.pem")) as server:
        answer = Store(server.url, SSL_CERT_FILE=str(certificate))("read", "x")
        assert answer["code"] == "failure" and "from https" in answer["message"]


def test_proxy_variables_are_heeded(web_proxy):
    web_proxy.fault(1, Answer(200, {}, b"by proxy"))
    store = Store("http://example.invalid/lake", http_proxy=web_proxy.url)
    assert store.ok("read", "x")["text"] == "by proxy"
    assert web_proxy.seen[0].target == "http://example.invalid/lake/x"
