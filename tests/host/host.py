"""Running `fdl serve`, and talking to it as clients do: well-behaved ones by http.client, others by a bare socket."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

from servers import clean_environment

ROOT = Path(__file__).resolve().parents[2]
# The host is the one under test, so it is the one with the sanitizers; what only prepares runs from the usual build.
PROGRAM = Path(os.environ.get("FDL_BUILD", ROOT / "build")).absolute() / "fdl"
PATIENCE_SECONDS = 60


class Answered:
    """An answer whole: status, headers by any case, body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """The code of a JSON error, its shape checked."""
        assert set(self.json) == {"error"} and {"code", "message"} <= set(self.json["error"]), self.body
        assert self.headers["Cache-Control"] == "no-store"
        return self.json["error"]["code"]


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} does not come"
        time.sleep(0.02)


class Host:
    """`fdl serve` of a repository; stopped at the end, when it must have nothing to complain about."""

    def __init__(self, repo, *options, environment=None):
        self.words = [str(PROGRAM), "serve", str(repo), "--listen", "127.0.0.1:0", "--log", "json", *map(str, options)]
        self.environment = {**(environment or clean_environment()), "ASAN_OPTIONS": "detect_leaks=1"}
        self.tls = None

    def __enter__(self):
        self.lines, self.log = [], []
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        )
        self.readers = [
            threading.Thread(target=self.collect, args=pair, daemon=True)
            for pair in ((self.process.stderr, self.lines), (self.process.stdout, self.log))
        ]
        for reader in self.readers:
            reader.start()
        try:
            wait_for("the host", lambda: self.process.poll() is not None or self.address())
            assert self.address(), f"the host does not start: {self.lines}"
        except BaseException:
            self.process.kill()
            raise
        self.url, self.port = self.address()
        return self

    @staticmethod
    def collect(stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))

    def address(self):
        found = re.search(r" at (https?://\S+:(\d+)/)$", "\n".join(self.lines), re.MULTILINE)
        return (found[1], int(found[2])) if found else None

    def stop(self, how=signal.SIGTERM):
        """Ends it, or waits for its end, and returns its exit code."""
        if how and self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE_SECONDS)
        for reader in self.readers:
            reader.join(PATIENCE_SECONDS)
        return code

    def __exit__(self, kind, *_):
        code = self.stop()
        complaints = [line for line in self.lines if "ERROR:" in line or "runtime error" in line or "SUMMARY" in line]
        if kind is None:
            assert code == 0 and not complaints, "\n".join(self.lines)

    # ---- talking to it ----------------------------------------------------------------------------------------------

    def connection(self):
        if self.tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    def ask(self, method, path, headers=None, body=None, token=None):
        """One request on a connection of its own; the path goes out as it is."""
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = self.connection()
        try:
            connection.request(method, path, body=body, headers=headers)
            return Answered(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, {name.replace("_", "-"): value for name, value in headers.items()})

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS)

    def raw(self, data, *, half_close=False):
        """Sends bytes and returns everything that comes until the host closes the connection."""
        with self.socket() as plain:
            try:
                plain.sendall(data)
                if half_close:
                    plain.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it was refused while it was sent
            return drain(plain)

    def metric(self, name):
        """The sum of a metric's samples."""
        text = self.get("/metrics").body.decode()
        return sum(int(line.split()[-1]) for line in text.splitlines() if re.match(rf"{name}[ {{]", line))

    def logged(self, count):
        """The log once it has so many lines."""
        wait_for(f"line {count} of the log", lambda: len(self.log) >= count)
        return [json.loads(line) for line in self.log]

    def processor_seconds(self):
        return sum(map(int, Path(f"/proc/{self.process.pid}/stat").read_text().split()[13:15])) / os.sysconf("SC_CLK_TCK")

    def memory_kib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1])


def drain(plain):
    """Everything that comes until the other side closes."""
    pieces = []
    try:
        while piece := plain.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def trusting(certificate):
    """A TLS client that trusts this one certificate."""
    return ssl.create_default_context(cafile=str(certificate))


def add_token(file, name, role):
    done = subprocess.run(
        [str(PROGRAM), "serve", "unused", "--tokens", str(file), "--add-token", f"{name}:{role}"],
        capture_output=True, text=True, check=True, env=clean_environment(),
    )
    return done.stdout.strip()
