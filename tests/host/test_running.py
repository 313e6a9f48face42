"""A host as a program that runs: it starts, counts, writes its log, and ends well."""

import re
import signal
import subprocess

from fault_proxy import FaultProxy
from host import PROGRAM, Host, wait_for
from servers import clean_environment


def test_every_request_is_logged_and_counted(flights, data_file):
    size = (flights.folder / data_file).stat().st_size
    with Host(flights.folder) as host:
        host.get("/HEAD")
        host.get(f"/{data_file}")
        host.get(f"/{data_file}", Range="bytes=0-99")
        host.ask("HEAD", f"/{data_file}")
        host.get("/none?x=\"y\"")
        host.ask("PUT", "/HEAD", body=b"12345")
        log = host.logged(6)  # in the order in which they ended, on several threads
        told = {(line["method"], line["target"], line["status"]): line for line in log}
        sent = {key: line["bytes"] for key, line in told.items()}
        none, put = told.get(("GET", "/none?x=%22y%22", 404)), told.get(("PUT", "/HEAD", 403)) or told.get(("PUT", "/HEAD", 405))
        assert len(told) == 6 and none and put
        assert (sent["GET", "/HEAD", 200], sent["GET", f"/{data_file}", 200]) == (21, size)
        assert (sent["GET", f"/{data_file}", 206], sent["HEAD", f"/{data_file}", 200]) == (100, 0)
        assert put["received"] == 5 and put["complete"] is True and put["address"] == "127.0.0.1"
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", line["time"]) for line in log)
        text = host.get("/metrics").body.decode()
        samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert samples['fdl_requests_total{method="GET",status="2xx"}'] == "3"
        assert samples['fdl_requests_total{method="HEAD",status="2xx"}'] == "1"
        assert samples['fdl_requests_total{method="GET",status="4xx"}'] == "1"
        assert samples['fdl_requests_total{method="PUT",status="4xx"}'] == "1"
        assert int(samples["fdl_sent_bytes_total"]) == 21 + size + 100 + none["bytes"] + put["bytes"]
        assert samples["fdl_received_bytes_total"] == "5"
        assert samples["fdl_requests_in_flight"] == "1"
        names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
        assert names == {re.match(r"\w+", line)[0] for line in samples}


def test_a_transfer_is_finished_before_the_host_ends(flights, data_file):
    """And nobody new gets in meanwhile, nor keeps the host with an idle connection."""
    original = (flights.folder / data_file).read_bytes()
    with Host(flights.folder) as host, host.socket() as plain, host.socket() as idle:
        plain.sendall(f"GET /{data_file} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        got = plain.recv(1000)
        host.process.send_signal(signal.SIGTERM)
        wait_for("the end of listening", lambda: not connects(host))
        assert idle.recv(1) == b""
        while piece := plain.recv(1 << 20):
            got += piece
        assert got.partition(b"\r\n\r\n")[2] == original
        assert host.stop(None) == 0


def connects(host):
    try:
        host.socket().close()
        return True
    except OSError:
        return False


def test_ctrl_c_ends_it_too_and_the_port_is_free_again(flights):
    with Host(flights.folder) as host:
        port = host.port
        taken = subprocess.run([PROGRAM, "serve", flights.folder, "--listen", f"127.0.0.1:{port}"], capture_output=True, text=True, env=clean_environment())
        assert taken.returncode == 6 and str(port) in taken.stderr
        assert host.stop(signal.SIGINT) == 0


def test_it_takes_no_more_connections_than_it_may_open_files(flights):
    def limited(count):
        words = ["sh", "-c", f'ulimit -n {count}; exec "$@"', "sh"]
        host = Host(flights.folder, "--max-connections", 500)
        host.words = words + host.words
        return host

    few = subprocess.run(limited(255).words, capture_output=True, text=True, env=clean_environment())
    assert few.returncode == 1 and "255 files" in few.stderr
    with limited(256) as host:
        assert "at most 64 connections: this process may open 256 files" in "\n".join(host.lines)
        idle = [host.socket() for _ in range(100)]  # more than have a place: the others wait
        for plain in idle:
            plain.close()
        assert host.get("/HEAD").status == 200


def test_the_text_log_is_a_line_a_request(flights):
    with Host(flights.folder, "--log", "text") as host:
        host.get("/HEAD")
        wait_for("the line", lambda: host.log)
        assert re.fullmatch(r"\S+Z 127\.0\.0\.1 - GET /HEAD 200 21 \d+ms", host.log[0])


def test_what_is_no_repository_is_not_served(tmp_path):
    done = subprocess.run([PROGRAM, "serve", tmp_path, "--listen", "127.0.0.1:0"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 5 and done.stderr.splitlines()[-1].startswith("fdl: ")



def test_a_bucket_that_stumbles_is_asked_again_and_one_that_refuses_has_nothing(flights_s3, versitygw):
    with FaultProxy(versitygw.port) as proxy:
        with Host(flights_s3, environment=versitygw.client_environment(proxy.url)) as host:
            assert host.get("/refs.json").status == host.get("/refs.json", Range="bytes=2-").status - 6 == 200
            assert (proxy.count("HEAD"), proxy.count("GET")) == (0, 3)  # one each, and fdl.json at the start
            for fault, status in ((503, 200), ("drop", 200), (403, 404)):
                proxy.fault_next("GET", "/lake/HEAD", fault)
                assert host.get("/HEAD").status == status, fault
                proxy.fault_next("HEAD", "/lake/HEAD", fault)
                assert host.ask("HEAD", "/HEAD").status == status, fault
