"""A proxy in front of an S3 server that takes the conditions away from every request, as a careless server would."""

from fault_proxy import FaultProxy


class CarelessProxy(FaultProxy):
    def forward(self, method, request, seen):
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"if-match:", b"if-none-match:"))]
        return super().forward(method, b"\r\n".join(lines) + b"\r\n\r\n" + body, seen)
