"""A proxy for tests that breaks the request it is told to break, and keeps a record of all.

    with FaultProxy(server.port) as proxy:
        proxy.fault(3, "lose")                      the third request from now on, counted from 1
        proxy.fault_next("PUT", "/refs/", "drop")   the next request of that method with that in its target
        ... run the program against proxy.url ...
        assert proxy.count("PUT") == 2

Faults:

    drop        the request is read and goes nowhere; the connection is closed
    lose        the request is done and its answer thrown away; the connection is closed
    cut         the answer comes with its headers and half of its body, then the connection is closed
    delay       the request is done after a while
    stall       the answer comes with its headers and half of its body, then nothing until the client gives up
    409, 412, 500, 503, ...   answered by the proxy, with the error as S3 words it; the request goes nowhere
    Answer(...) answered by the proxy in just these words

Host headers go through as they are, so that signatures stay good.  Connections from clients are kept open, also
where the server behind closes its own.
"""

import socket
import threading
from dataclasses import dataclass, field

DELAY_SECONDS = 0.3
PATIENCE_SECONDS = 60

CODES = {
    403: "AccessDenied",
    409: "ConditionalRequestConflict",
    412: "PreconditionFailed",
    429: "TooManyRequests",
    500: "InternalError",
    503: "SlowDown",
}


@dataclass
class Seen:
    """A request as it came, and what was done to it."""

    number: int
    method: str
    target: str
    headers: dict
    body_bytes: int
    connection: int
    fault: object = None
    status: int = 0


@dataclass
class Answer:
    """What the proxy answers in a server's place.  A length of None sends no Content-Length."""

    status: int
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    length: object = -1

    def bytes(self, method):
        lines = [f"HTTP/1.1 {self.status} Fault", *(f"{name}: {value}" for name, value in self.headers.items())]
        if self.length is not None:
            lines.append(f"Content-Length: {len(self.body) if self.length < 0 else self.length}")
        return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else self.body)


@dataclass
class Rule:
    method: str
    part: str
    fault: object
    left: int = field(default=1)


class Reader:
    """Reads one connection by lines and lengths."""

    def __init__(self, connection):
        self.file = connection.makefile("rb")

    def head(self):
        """The first line and the headers as bytes, and the headers as a dict; None at the end."""
        lines = []
        headers = {}
        while True:
            line = self.file.readline()
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                if lines:
                    return b"".join(lines) + b"\r\n", lines[0].decode("latin-1").split(), headers
                continue
            lines.append(line)
            if len(lines) > 1:
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.strip().lower()] = value.strip()

    def body(self, headers, until_closed=False):
        """The bytes as sent, chunk lines and all."""
        if "chunked" in headers.get("transfer-encoding", ""):
            pieces = []
            while True:
                line = self.file.readline()
                size = int(line.split(b";")[0], 16)
                pieces += [line, self.file.read(size + 2)]
                if size == 0:
                    return b"".join(pieces)
        if "content-length" in headers:
            return self.file.read(int(headers["content-length"]))
        return self.file.read() if until_closed else b""


def refusal(status):
    """An error in S3's words."""
    xml = f"<?xml version='1.0'?><Error><Code>{CODES.get(status, 'Fault')}</Code><Message>a fault for a test</Message></Error>"
    return Answer(status, {"Content-Type": "application/xml"}, xml.encode())


class FaultProxy:
    """Listens on this machine and passes on to `port` of it; `host` may be "::1"."""

    def __init__(self, port, host="127.0.0.1"):
        self.upstream = ("127.0.0.1", port)
        self.lock = threading.Lock()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family, backlog=128)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        self.connections = 0
        self.open = set()
        self.closing = threading.Event()
        self.reset()

    def reset(self):
        """Forgets what was seen and what was planned; counting starts again at 1."""
        with self.lock:
            self.seen = []
            self.by_number = {}
            self.before = {}  # number -> a function called with the request before anything is done with it
            self.rules = []

    def fault(self, number, fault):
        self.by_number[number] = fault

    def fault_next(self, method, part, fault, times=1):
        self.rules.append(Rule(method, part, fault, times))

    def count(self, method=None, part=""):
        return len([one for one in self.seen if method in (None, one.method) and part in one.target])

    # ---- serving -------------------------------------------------------------

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.listener.close()
        with self.lock:
            for connection in self.open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.open.add(connection)
            threading.Thread(target=self.serve, args=(connection, self.connections), daemon=True).start()

    def serve(self, connection, number):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = Reader(connection)
            while self.exchange(connection, reader, number):
                pass
        except (OSError, ValueError):
            pass  # the client went away; it has its reasons
        finally:
            with self.lock:
                self.open.discard(connection)
            connection.close()

    def note(self, method, target, headers, body, connection):
        with self.lock:
            seen = Seen(len(self.seen) + 1, method, target, headers, len(body), connection)
            seen.fault = self.by_number.get(seen.number)
            for rule in self.rules:
                if seen.fault is None and rule.left > 0 and rule.method in (None, method) and rule.part in target:
                    rule.left -= 1
                    seen.fault = rule.fault
            self.seen.append(seen)
            return seen

    def exchange(self, connection, reader, number):
        """One request and its answer; False when the connection is to be closed."""
        head = reader.head()
        if head is None:
            return False
        raw, (method, target, *_), headers = head
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            raw = b"".join(line for line in raw.splitlines(True) if not line.lower().startswith(b"expect:"))
        body = reader.body(headers)
        seen = self.note(method, target, headers, body, number)
        fault = seen.fault
        if seen.number in self.before:
            self.before[seen.number](seen)
        if fault == "drop":
            return False
        if isinstance(fault, int):
            fault = refusal(fault)
        if isinstance(fault, Answer):
            seen.status = fault.status
            connection.sendall(fault.bytes(method))
            return fault.length is not None
        if fault == "delay":
            self.closing.wait(DELAY_SECONDS)
        answer, answer_body = self.forward(method, raw + body, seen)
        if fault == "lose":
            return False
        if fault in ("cut", "stall"):
            connection.sendall(answer + answer_body[: len(answer_body) // 2])
            if fault == "stall":
                reader.file.read(1)  # until the client has had enough
            return False
        connection.sendall(answer + answer_body)
        return self.bodiless(method, seen) or b"content-length:" in answer.lower() or b"chunked" in answer.lower()

    def forward(self, method, request, seen):
        with socket.create_connection(self.upstream, PATIENCE_SECONDS) as upstream:
            upstream.sendall(request)
            reader = Reader(upstream)
            while True:
                raw, words, headers = reader.head()
                seen.status = int(words[1])
                if seen.status != 100:
                    break
            # Whether to keep the connection is between each two neighbours.
            raw = b"".join(line for line in raw.splitlines(True) if not line.lower().startswith(b"connection:"))
            return raw, b"" if self.bodiless(method, seen) else reader.body(headers, until_closed=True)

    def bodiless(self, method, seen):
        return method == "HEAD" or seen.status in (204, 304)
