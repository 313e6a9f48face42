"""Clients that mean harm, on bare sockets. The host answers or hangs up, stays up, and reads on for the others."""

import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest
from harness import duck, fdl
from host import Host, drain, wait_for


@pytest.fixture(scope="module")
def host(tmp_path_factory, flights):
    """A host beside which a secret lies, with limits low enough to be met."""
    (flights.folder.parent / "secret").write_text("secret")
    with Host(flights.folder, "--idle", 2, "--max-connections", 1400, "--max-per-address", 1200) as host:
        yield host


def request(target, *lines, method="GET"):
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: x", *lines, "", ""]).encode("latin-1")


def statuses(answer):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", answer)]


def still_reads(host):
    with duck(fdl("attach", host.url).attach) as con:
        return con.execute("SELECT count(*) FROM lake.t").fetchone() == (30000,)


def test_who_waits_while_all_places_are_taken_gets_the_next_one_that_is_free(flights):
    """Also when all that were there leave at once, so that nothing else would wake the host."""
    ask = request("/HEAD", "Connection: close")
    with Host(flights.folder, "--max-connections", 8) as host:
        taken = [host.socket() for _ in range(8)]
        for plain in taken:
            plain.sendall(request("/HEAD"))
            assert statuses(plain.recv(65536)) == [200]
        waiting = [host.socket() for _ in range(20)]
        for plain in waiting:
            plain.sendall(ask)
        for plain in taken:
            plain.close()
        for plain in waiting:
            with plain:
                assert statuses(drain(plain)) == [200]


def test_no_path_leads_out(host):
    """In every encoding: either it is refused, or there is nothing."""
    ups = ["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%00", "..%c0%af", "%c0%ae%c0%ae", "..%5c", "..\\", "．．", "..;", "%uff0e%uff0e"]
    slashes = ["/", "%2f", "%2F", "//", "%5c", "\\", "/./", "%252f"]
    targets = ["//", "/.", "/..", "/%00", "/HEAD%00", "/HEAD/", "/./HEAD", "/refs/../HEAD", "/refs%2fheads%2fmain", "/%2e/HEAD", "/HEAD%0a",
               "/data/..%2f..%2fsecret", "/%", "/%4", "/%zz", "/\x01", "/" + "a" * 2000, "/" + "%61" * 1200, "/" + "a" * 6000, "*", "HEAD", "?", "/data/" + "a/" * 500]
    targets += [f"{start}{up}{slash}secret" for start in ("/", "/data/", "/versions/") for up in ups for slash in slashes]
    targets += [f"/data/{'../' * depth}secret" for depth in range(1, 9)]
    with host.socket() as plain:  # all on few connections, as far as the host lets us
        for target in targets:
            data = request(target.encode().decode("latin-1"))
            try:
                plain.sendall(data)
                answer = b""
                while b"\r\n\r\n" not in answer:
                    piece = plain.recv(65536)
                    if not piece:
                        break
                    answer += piece
                head, _, rest = answer.partition(b"\r\n\r\n")
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
                while len(rest) < length and (piece := plain.recv(65536)):
                    rest += piece
            except ConnectionError:
                head, rest = b"", b""
            assert b"secret" not in rest.replace(target.encode(), b"").replace(b"/secret", b"").replace(b"\\\\secret", b"").replace(b"fsecret", b"").replace(b"csecret", b"") or b'"error"' in rest, target
            if head:
                assert int(head.split()[1]) in (400, 404, 414, 431), (target, head)
            if not head or b"connection: close" in head.lower():
                plain.close()
                plain = host.socket()
    assert statuses(host.raw(request("http://other/HEAD", "Connection: close"))) == [200]


def test_odd_requests_are_refused(host):
    close = "Connection: close"
    for data, expected in [
        (request("/HEAD", close, method="TRACE"), [405]),
        (request("/HEAD", close, method="PROPFIND"), [405]),
        (request("/HEAD", close, method="get"), [405]),
        (request("/HEAD", close, method="X" * 300), [405]),
        (request("/HEAD", close, method="DELETE"), [405]),
        (request("/HEAD", close, "Content-Length: 3", method="PUT") + b"abc", [405]),
        (request("/HEAD", close, "Content-Length: 3") + b"abc", [413]),
        (request("/HEAD", "Content-Length: 4", "Transfer-Encoding: chunked") + b"0\r\n\r\n" + request("/fdl.json"), [400]),
        (request("/HEAD", "Transfer-Encoding: chunked", "Content-Length: 0") + b"0\r\n\r\n" + request("/fdl.json"), [400]),
        (request("/HEAD", "Content-Length: 0", "Content-Length: 4") + b"abcd", [400]),
        (request("/HEAD", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", [400]),
        (request("/HEAD", close, "Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n", [413]),
        (request("/HEAD", "Content-Length: -1"), [400]),
        (request("/HEAD", "Content-Length: 99999999999999999999999"), [400, 413]),
        (request("/HEAD", close, "Content-Length: 9999999999", method="PUT"), [405]),
        (request("/HEAD", "Host: y" * 9000), [431, 413, 400]),
        (request("/HEAD", *[f"X-{number}: {'x' * 100}" for number in range(2000)]), [431, 413, 400]),
        (request("/HEAD", close, "Range: bytes=" + "0-0," * 3000), [416]),
        (request("/HEAD", close, *["Range: bytes=0-1"] * 3), [206]),
        (request("/HEAD", close, 'If-None-Match: "' + "x" * 9000), [200]),
        (b"GET /HEAD HTTP/1.1\r\n\r\n", [400]),
        (b"GET /HEAD HTTP/9.9\r\nHost: x\r\n\r\n", [400, 505]),
        (b"GET /HEAD\r\n\r\n", [400]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [400]),
        (b"\r\n\r\n\r\n", [400]),
        (b"\x00" * 5000, [400]),
        (b"A" * 200000, [400, 414, 431]),
    ]:
        answer = host.raw(data, half_close=True)
        found = set(statuses(answer))  # the daemon's own refusals may come twice; they say the same
        assert len(found) <= 1 and found <= set(expected), (data[:120], answer[:300])
        assert b"fdl.json" not in answer and b'"data_dir"' not in answer, data[:120]
    assert host.get("/healthz").status == 200


def test_pipelined_requests_are_answered_in_order(host, flights):
    many = b"".join(request("/HEAD") + request("/refs/heads/main") + request("/none") for _ in range(50))
    answer = host.raw(many + request("/healthz", "Connection: close"))
    assert statuses(answer) == [200, 200, 404] * 50 + [200]
    assert answer.count(flights.head().encode()) == 50


def test_one_byte_at_a_time_and_half_closed_is_answered(host):
    with host.socket() as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request("/HEAD", "Connection: close"):
            plain.sendall(bytes([byte]))
        plain.shutdown(socket.SHUT_WR)
        assert drain(plain).endswith(b"ref: refs/heads/main\n")


def test_a_body_that_drips_is_cut_off(host):
    """Never silent, and never done: the host gives it as long as a connection may idle."""
    with host.socket() as plain:
        plain.sendall(request("/HEAD", "Content-Length: 100000", method="PUT"))

        def ended():
            try:
                plain.sendall(b"x")
                return False
            except OSError:
                return True

        wait_for("the end of the slow body", ended)
    assert host.get("/healthz").status == 200


def test_who_goes_away_in_the_middle_costs_nothing(host, data_file):
    for _ in range(50):
        with host.socket() as plain:
            plain.sendall(request(f"/{data_file}"))
            plain.recv(1000)
    wait_for("the end of what was broken off", lambda: host.metric("fdl_requests_in_flight") == 1)


def test_who_hangs_up_within_a_header_is_gone_at_once(flights):
    """The host may idle for a minute, and nobody waits so long here."""
    with Host(flights.folder) as host:
        for half in (False, True):
            for _ in range(8):
                with host.socket() as plain:
                    plain.sendall(b"GET /HEAD HTTP/1.1\r\nHo")
                    if half:
                        plain.shutdown(socket.SHUT_WR)
                        assert drain(plain) == b""
        wait_for("the end of those that hung up", lambda: host.metric("fdl_connections") == 1)


def test_who_asks_and_never_reads_is_cut_off(host, data_file):
    silent = []
    for _ in range(20):
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.connect(("127.0.0.1", host.port))
        plain.sendall(request(f"/{data_file}"))
        silent.append(plain)
    wait_for("the end of those that do not read", lambda: host.metric("fdl_connections") == 1)
    for plain in silent:
        plain.close()


def test_slow_headers_are_swept_and_a_thousand_idle_connections_bother_nobody(host):
    before = host.memory_kib()
    idle = [host.socket() for _ in range(1000)]
    for number, plain in enumerate(idle):
        if number % 3:
            plain.sendall(b"GET /HEAD HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    assert still_reads(host)
    dripping = idle[1]

    def ended():
        try:
            dripping.sendall(b"x")  # never silent, and never done
            return False
        except OSError:
            return True

    wait_for("the end of the slow header", ended)
    for plain in idle:
        plain.close()
    wait_for("the end of the idle connections", lambda: host.metric("fdl_connections") < 10)
    assert host.metric("fdl_swept_connections_total") > 0
    assert still_reads(host)
    assert host.memory_kib() - before < 200 << 10


def test_one_address_cannot_take_all_connections(flights):
    with Host(flights.folder, "--max-per-address", 20) as host:
        greedy = [host.socket() for _ in range(40)]
        with socket.socket() as other:
            other.bind(("127.0.0.2", 0))
            other.connect(("127.0.0.1", host.port))
            other.sendall(request("/healthz", "Connection: close"))
            assert statuses(drain(other)) == [200]
        assert sum(refused(plain) for plain in greedy) >= 20
        for plain in greedy:
            plain.close()


def refused(plain):
    """Whether the host hung up at once."""
    plain.setblocking(False)
    try:
        return plain.recv(1) == b""
    except ConnectionError:
        return True
    except BlockingIOError:
        return False


@pytest.mark.parametrize("count", [128, 256])
def test_as_many_requests_at_once_as_the_library_takes_at_a_time_are_all_answered(flights, count):
    """libmicrohttpd takes 128 events at a time.  In one thread of a host that stood still meanwhile, they are there together."""
    host = Host(flights.folder, "--idle", 5, "--max-per-address", 300)
    host.words = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *host.words]
    with host:
        clients = [host.socket() for _ in range(count)]
        wait_for("all connections", lambda: host.metric("fdl_connections") == count + 1)
        time.sleep(0.2)  # the one that asked is gone too
        host.process.send_signal(signal.SIGSTOP)
        tasks = list(Path(f"/proc/{host.process.pid}/task").iterdir())
        wait_for("standing still", lambda: all("\nState:\tT" in (task / "status").read_text() for task in tasks))
        for client in clients:
            client.sendall(request("/HEAD", "Connection: close"))
        host.process.send_signal(signal.SIGCONT)
        assert [statuses(drain(client)) for client in clients] == [[200]] * count
