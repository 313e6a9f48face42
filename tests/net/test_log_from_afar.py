"""The history of a repository behind a web server, which lists nothing: how often one waits for it, and what a stranger's records may do to that.

Waits are counted, not timed: the proxy holds each request a moment, and a wait begins with a request that finds no other on its way.
"""

import json
import time
import uuid

import pytest
from fault_proxy import FaultProxy
from harness import fdl
from test_many_versions import history, version_id

HOLD_SECONDS = 0.01


class WaitsProxy(FaultProxy):
    def reset(self):
        super().reset()
        self.waits = self.under_way = self.most = 0

    def forward(self, method, request, seen):
        with self.lock:
            self.waits += self.under_way == 0
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        time.sleep(HOLD_SECONDS)
        try:
            return super().forward(method, request, seen)
        finally:
            with self.lock:
                self.under_way -= 1


@pytest.fixture
def waits_proxy(nginx):
    with WaitsProxy(nginx.port) as made:
        yield made


def last_ones(number):
    """The numbers of the ancestors that a version of this number names."""
    return [(number - 1) // step * step for step in (16, 256, 4096) if step < number]


def name_ancestors(repo, named):
    """`named` gives the field's ids for a record; they go into each that gets some."""
    for version in repo.versions():
        record = repo.record(version)
        if ids := named(record):
            repo.version_file(version).write_text(json.dumps({**record, "ancestors": ids}))


def told(proxy, repo, *options):
    """What log tells from afar, the same as on the folder, and the requests and waits it took."""
    proxy.reset()
    answer = fdl("log", f"{proxy.url}/repo", "--json", *options).json
    assert answer == fdl("log", repo.address, "--json", *options).json
    return len(answer["versions"]), proxy.count(part="/versions/"), proxy.waits


def test_a_long_history_takes_far_fewer_waits_than_it_has_versions(waits_proxy, served):
    repo = history(served / "repo", [version_id(number) for number in range(1, 601)])
    fdl("expire", repo.address, "--keep", "590")
    name_ancestors(repo, lambda record: [version_id(number) for number in last_ones(record["seq"])])
    shown, requests, waits = told(waits_proxy, repo)
    assert shown == 600 and requests == 2 * 600 and waits < 600 / 4, (requests, waits)
    assert 16 < waits_proxy.most <= 32

    # No more is read than was asked for, and --jobs is heeded.
    for count in (1, 2, 17, 40):
        assert told(waits_proxy, repo, "-n", str(count))[:2] == (count, 2 * count)
    assert told(waits_proxy, repo, "-n", "100", "--jobs", "4")[:2] == (100, 2 * 100) and waits_proxy.most <= 4

    # Tags and branches, read side by side at the start; lines that meet.
    for number in range(10, 600, 30):
        fdl("tag", repo.address, f"v{number}", version_id(number))
    side = [version_id(1000 + number) for number in range(200)]
    for number, version in enumerate(side, 301):
        parent = side[number - 302] if number > 301 else version_id(300)
        ids = [side[last - 301] if last > 300 else version_id(last) for last in last_ones(number)]
        record = {**repo.record(version_id(300)), "id": version, "seq": number, "parents": [parent], "ancestors": ids}
        repo.version_file(version).parent.mkdir()
        repo.version_file(version).write_text(json.dumps(record))
    fdl("branch", repo.address, "side", side[-1])
    shown, requests, waits = told(waits_proxy, repo, "--all")
    assert shown == 800 and requests <= 2 * 900 and waits < 800 / 2, (requests, waits)


class SmallServer(FaultProxy):
    """Lets everyone beyond six at once wait for a second, as Linux does where a server's queue is short."""

    def reset(self):
        super().reset()
        self.under_way = self.late = 0

    def forward(self, method, request, seen):
        with self.lock:
            self.under_way += 1
            late = self.under_way > 6
            self.late += late
        time.sleep(1 if late else HOLD_SECONDS)
        try:
            return super().forward(method, request, seen)
        finally:
            with self.lock:
                self.under_way -= 1


def test_a_server_of_short_queues_is_asked_for_less_at_once(nginx, served):
    repo = history(served / "repo", [version_id(number) for number in range(1, 301)])
    name_ancestors(repo, lambda record: [version_id(number) for number in last_ones(record["seq"])])
    with SmallServer(nginx.port) as proxy:
        assert len(fdl("log", f"{proxy.url}/repo", "--json").json["versions"]) == 300
        assert 0 < proxy.late <= 32 + 16 + 8, proxy.late


LIES = {
    "none": lambda record, ids: [],
    "what there is not": lambda record, ids: [str(uuid.uuid4()) for _ in range(15)],
    "itself and its children": lambda record, ids: [record["id"], *ids[record["seq"] : record["seq"] + 14]],
    "others of its line": lambda record, ids: [ids[(record["seq"] * 7 + place * 17) % len(ids)] for place in range(15)],
    "another line": lambda record, ids: [version_id(1000 + number) for number in last_ones(record["seq"])],
    "the oldest": lambda record, ids: ids[:15],
}


@pytest.mark.parametrize("lie", LIES)
def test_what_records_say_of_their_ancestors_changes_nothing_that_is_told(waits_proxy, served, lie):
    ids = [version_id(number) for number in range(1, 61)]
    repo = history(served / "repo", ids)
    name_ancestors(repo, lambda record: LIES[lie](record, ids))
    for number in range(1, 61):  # the other line: nobody's, its records no worse than ours
        record = {**repo.record(ids[number - 1]), "id": version_id(1000 + number), "message": "not ours"}
        record["parents"] = [version_id(999 + number)] if number > 1 else []
        repo.version_file(version_id(1000 + number)).parent.mkdir()
        repo.version_file(version_id(1000 + number)).write_text(json.dumps(record))
    shown, requests, waits = told(waits_proxy, repo)
    assert shown == 60 and waits <= 90, (requests, waits)
    assert requests <= 2 * 60 * (1 if lie == "none" else 17), requests
