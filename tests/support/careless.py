"""Careless servers: one that takes the conditions away from every request to a bucket, and one whose files have no end."""

import http.server

from fault_proxy import FaultProxy


class CarelessProxy(FaultProxy):
    def forward(self, method, request, seen):
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"if-match:", b"if-none-match:"))]
        return super().forward(method, b"\r\n".join(lines) + b"\r\n\r\n" + body, seen)


class EndlessFiles(http.server.SimpleHTTPRequestHandler):
    """The files of a folder; those whose name ends with `endless` go on behind their end for as long as anybody listens."""

    PIECE, ENOUGH = bytes(1 << 16), 256 << 20
    endless = ()
    log_message = lambda *_: None

    def do_GET(self):
        if not self.endless or not self.path.endswith(self.endless):
            return super().do_GET()
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + self.ENOUGH))
        self.end_headers()
        type(self).sent = 0
        try:
            self.wfile.write(content)
            while self.sent < self.ENOUGH:
                self.wfile.write(self.PIECE)
                type(self).sent += len(self.PIECE)
        except OSError:
            pass
