"""Connections to a bucket that break, and servers that stumble: at each call, once and for ever.

The right answer is known from what reached the server: a write that was done is done, one that was not is sent
again, and where nobody can tell, the store says so.
"""

import hashlib
import os

import pytest
from tools import Store

ONCE = ["drop", "lose", "cut", "delay", 409, 500, 503]


@pytest.fixture
def direct(s3, bucket):
    """The bucket without the proxy."""
    return Store(f"s3://{bucket}/lake", s3.client_environment())


@pytest.fixture
def store(s3, bucket, proxy):
    """The bucket behind it."""
    return Store(f"s3://{bucket}/lake", s3.client_environment(proxy.url))


# ---- writes under a condition ---------------------------------------------------


@pytest.mark.parametrize("fault", ONCE)
def test_a_creation_survives_a_fault(direct, store, proxy, fault):
    proxy.fault_next("PUT", "/main", fault)
    put = store.ok("put", "refs/heads/main", "ours", "absent")
    assert put["etag"] == direct.ok("head", "refs/heads/main")["etag"]
    assert direct.ok("read", "refs/heads/main")["text"] == "ours"


@pytest.mark.parametrize("fault", ONCE)
def test_a_swap_survives_a_fault(direct, store, proxy, fault):
    seen = direct.ok("put", "refs/heads/main", "before")["etag"]
    proxy.fault_next("PUT", "/main", fault)
    put = store.ok("put", "refs/heads/main", "ours", "match", seen)
    assert put["etag"] == direct.ok("head", "refs/heads/main")["etag"] != seen
    assert direct.ok("read", "refs/heads/main")["text"] == "ours"


@pytest.mark.parametrize("fault", ONCE)
def test_an_empty_object_survives_a_fault(direct, store, proxy, fault):
    proxy.fault_next("PUT", "/empty", fault)
    store.ok("put", "empty", "", "absent")
    assert direct.ok("head", "empty")["size"] == 0


@pytest.mark.parametrize("fault", ["lose", "cut"])
@pytest.mark.parametrize("text", ["ours", ""])
def test_a_write_whose_answer_was_lost_is_not_sent_twice(store, proxy, fault, text):
    # On a kept connection libcurl would send it again by itself, and call its own success a conflict.
    proxy.fault_next("PUT", "/main", fault)
    answers = store.many(("head", "other"), ("put", "main", text, "absent"))
    assert answers[1]["code"] == "ok"
    assert proxy.count("PUT", "/main") == 1


@pytest.mark.parametrize("fault", ["lose", "drop", 500])
def test_a_creation_that_met_somebody_elses_object_cannot_tell(direct, store, proxy, fault):
    direct.ok("put", "main", "theirs")
    proxy.fault_next("PUT", "/main", fault)
    answer = store("put", "main", "ours", "absent")
    assert answer["code"] == "uncertain", answer
    assert direct.ok("read", "main")["text"] == "theirs"


def test_a_swap_that_others_built_on_cannot_tell(direct, store, proxy):
    seen = direct.ok("put", "main", "before")["etag"]
    direct.ok("put", "main", "theirs")
    proxy.fault_next("PUT", "/main", "lose")
    assert store("put", "main", "ours", "match", seen)["code"] == "uncertain"


def test_a_412_is_a_conflict_and_is_asked_once(store, proxy):
    proxy.fault_next("PUT", "/main", 412)
    assert store("put", "main", "ours", "absent")["code"] == "conflict"
    assert proxy.count() == 1


@pytest.mark.parametrize("fault, code", [("drop", "uncertain"), (500, "failure"), (503, "busy"), (409, "busy"), (429, "busy")])
def test_a_creation_that_never_goes_through_ends(direct, store, proxy, fault, code):
    proxy.fault_next("PUT", "/main", fault, times=1000)
    answer = store("put", "main", "ours", "absent")
    assert answer["code"] == code, answer
    assert proxy.count("PUT") == 6
    assert direct("head", "main")["code"] == "not_found"


def test_without_the_right_to_read_a_creation_that_was_not_done_is_done_again(direct, store, proxy):
    # Amazon answers 403 for a missing key to those who may not list.
    proxy.fault_next("PUT", "/main", "drop")
    proxy.fault_next("HEAD", "/main", 403)
    store.ok("put", "main", "ours", "absent")
    assert direct.ok("read", "main")["text"] == "ours"


def test_without_the_right_to_read_doubt_about_what_was_done_stays(store, proxy):
    proxy.fault_next("PUT", "/main", "lose")
    proxy.fault_next("HEAD", "/main", 403, times=2)
    assert store("put", "main", "ours", "absent")["code"] == "uncertain"


# ---- writes without one ----------------------------------------------------------


@pytest.mark.parametrize("fault", [*ONCE, 429])
def test_a_plain_write_survives_a_fault(direct, store, proxy, fault):
    proxy.fault_next("PUT", "/refs.json", fault)
    store.ok("put", "refs.json", "ours")
    assert direct.ok("read", "refs.json")["text"] == "ours"


def test_a_plain_write_whose_answers_are_all_lost_is_uncertain(direct, store, proxy):
    proxy.fault_next("PUT", "/x", "lose", times=1000)
    assert store("put", "x", "ours")["code"] == "uncertain"
    assert direct.ok("read", "x")["text"] == "ours"


# ---- deletes -----------------------------------------------------------------------


@pytest.mark.parametrize("fault", ONCE)
@pytest.mark.parametrize("condition", ["always", "match"])
def test_a_delete_survives_a_fault(direct, store, proxy, condition, fault):
    seen = direct.ok("put", "refs/tags/v1", "x")["etag"]
    proxy.fault_next("DELETE", "/v1", fault)
    store.ok("remove", "refs/tags/v1", *([] if condition == "always" else ["match", seen]))
    assert direct("head", "refs/tags/v1")["code"] == "not_found"


def test_a_delete_of_what_changed_meanwhile_is_a_conflict(direct, store, proxy):
    seen = direct.ok("put", "main", "x")["etag"]
    direct.ok("put", "main", "y")
    assert store("remove", "main", "match", seen)["code"] == "conflict"
    assert proxy.count("DELETE") == 0
    assert direct.ok("read", "main")["text"] == "y"


# ---- reads ---------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ONCE)
@pytest.mark.parametrize("command", [("read", "x"), ("head", "x"), ("list", "", "all")], ids=lambda command: command[0])
def test_a_read_survives_a_fault(direct, store, proxy, command, fault):
    direct.ok("put", "x", "text")
    proxy.fault(1, fault)
    answer = store.ok(*command)
    assert answer.get("text", "text") == "text"
    assert answer.get("size", 4) == 4
    assert [entry["key"] for entry in answer.get("entries", [{"key": "x"}])] == ["x"]


def test_a_read_that_breaks_off_goes_on_where_it_was(direct, store, proxy, tmp_path):
    content = os.urandom(3_000_000)
    (tmp_path / "file").write_bytes(content)
    direct.ok("putfile", "x", tmp_path / "file")
    for number in (1, 2, 3):
        proxy.fault(number, "cut")
    got = store.ok("get", "x")
    assert got["sha256"] == hashlib.sha256(content).hexdigest()
    assert [seen.headers.get("range") for seen in proxy.seen] == [
        None,
        "bytes=1500000-2999999",
        "bytes=2250000-2999999",
        "bytes=2625000-2999999",
    ]


def test_a_part_that_breaks_off_goes_on_where_it_was(direct, store, proxy, tmp_path):
    content = os.urandom(300_000)
    (tmp_path / "file").write_bytes(content)
    direct.ok("putfile", "x", tmp_path / "file")
    proxy.fault(1, "cut")
    got = store.ok("get", "x", "1000", "200000")
    assert got["sha256"] == hashlib.sha256(content[1000:201000]).hexdigest()
    assert [seen.headers.get("range") for seen in proxy.seen] == ["bytes=1000-200999", "bytes=101000-200999"]


def test_a_read_never_mixes_two_states(s3, bucket, direct, store, proxy, tmp_path):
    for name, byte in (("old", b"o"), ("new", b"n")):
        (tmp_path / name).write_bytes(byte * 100_000)
    direct.ok("putfile", "x", tmp_path / "old")

    def replace_and_cut(seen):
        direct.ok("putfile", "x", tmp_path / "new")

    proxy.fault(1, "cut")
    proxy.before[2] = replace_and_cut
    answer = store("get", "x")
    assert answer["code"] == "failure" and "may have changed since" in answer["message"], answer
    assert answer["bytes"] == 50_000


@pytest.mark.parametrize("fault, code", [("drop", "failure"), ("cut", "failure"), (500, "failure"), (503, "busy")])
def test_a_read_that_never_goes_through_ends(direct, store, proxy, fault, code):
    direct.ok("put", "x", "text")
    proxy.fault_next("GET", "/x", fault, times=1000)
    assert store("read", "x")["code"] == code
    assert proxy.count() == 6


def test_a_403_is_not_asked_again(direct, store, proxy):
    direct.ok("put", "x", "text")
    proxy.fault_next("GET", "/x", 403)
    answer = store("read", "x")
    assert answer["code"] == "denied" and proxy.count() == 1


# ---- how many requests ------------------------------------------------------------------


def test_each_call_is_one_request_over_one_connection(store, proxy):
    store.many(
        ("put", "a", "1", "absent"),
        ("put", "a", "2"),
        ("read", "a"),
        ("get", "a", "0", "1"),
        ("head", "a"),
        ("list", "", "all"),
        ("remove", "a"),
    )
    assert [seen.method for seen in proxy.seen] == ["PUT", "PUT", "GET", "GET", "HEAD", "GET", "DELETE"]
    assert proxy.connections == 1
