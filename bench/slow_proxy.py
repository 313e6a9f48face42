"""A proxy that is as far away as one likes: every request waits before it goes on, and is counted.

    with SlowProxy(server.port, seconds=0.05) as proxy:
        ... run the program against proxy.url ...
        proxy.count(), proxy.answer_bytes
"""

import time

from fault_proxy import FaultProxy


class SlowProxy(FaultProxy):
    def __init__(self, port, seconds, host="127.0.0.1"):
        super().__init__(port, host)
        self.seconds = seconds

    def reset(self):
        super().reset()
        self.answer_bytes = 0

    def forward(self, method, request, seen):
        time.sleep(self.seconds)
        head, body = super().forward(method, request, seen)
        with self.lock:
            self.answer_bytes += len(head) + len(body)
        return head, body
