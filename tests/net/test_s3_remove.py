"""Deleting in buckets: a thousand at once, and so that no old version is left; and what time it is there."""

import time

import pytest
from fault_proxy import Answer, FaultProxy
from tools import Store


@pytest.fixture
def store(s3, bucket):
    return Store(f"s3://{bucket}/lake", s3.client_environment())


def versions_of(s3, bucket, prefix=""):
    """Every state of every key that the bucket still has, delete markers included, as Amazon's client lists them."""
    pages = s3.boto().get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix)
    return [item["Key"] for page in pages for item in page.get("Versions", []) + page.get("DeleteMarkers", [])]


def keep_versions(s3, bucket, status="Enabled"):
    s3.boto().put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})


def test_many_objects_are_deleted_with_one_request(s3, bucket):
    names = [f"data/{number} & <more> 'quoted'.parquet" for number in range(20)]
    with FaultProxy(s3.port) as proxy:
        store = Store(f"s3://{bucket}/lake", s3.client_environment(proxy.url))
        store.many(*[("put", name, "x") for name in names], ("put", "data/kept", "x"))
        before = len(proxy.seen)
        store.ok("removemany", *names, "data/never there")
        assert [request.method for request in proxy.seen[before:]] == ["POST"]
    assert store.keys() == ["data/kept"]


def not_deleted(key, code):
    """The answer of a server that has deleted all of a list but one."""
    error = f"<Error><Key>lake/{key}</Key><Code>{code}</Code><Message>not this one</Message></Error>"
    return Answer(200, {"Content-Type": "application/xml"}, f"<DeleteResult>{error}<Deleted><Key>lake/b</Key></Deleted></DeleteResult>".encode())


def test_what_stays_of_a_list_is_named_and_what_passes_is_asked_again(s3, bucket):
    with FaultProxy(s3.port) as proxy:
        store = Store(f"s3://{bucket}/lake", s3.client_environment(proxy.url))
        store.many(("put", "a", "x"), ("put", "b", "x"))
        for code, told in (("AccessDenied", "denied"), ("MethodNotAllowed", "failure")):
            proxy.fault_next("POST", "delete", not_deleted("a", code))
            answer = store("removemany", "a", "b")
            assert answer["code"] == told and answer["message"].endswith(f"does not delete 'a': {code}, not this one"), answer
        proxy.fault_next("POST", "delete", not_deleted("a", "NoSuchKey"))
        store.ok("removemany", "a", "b")
        proxy.fault_next("POST", "delete", not_deleted("a", "SlowDown"), times=100)
        before = proxy.count("POST")
        answer = store("removemany", "a", "b")
        assert answer["code"] == "failure" and "'a': SlowDown" in answer["message"] and 1 < proxy.count("POST") - before < 100
        proxy.reset()
        proxy.fault_next("POST", "delete", not_deleted("a", "InternalError"))
        store.ok("removemany", "a")
        assert store.keys() == ["b"] and proxy.count("POST") == 2
        store.ok("put", "a", "x")
        proxy.fault_next("POST", "delete", Answer(501))
        store.ok("removemany", "a", "b")
        assert store.keys() == [] and proxy.count("DELETE") == 2


def test_a_purge_leaves_no_old_version_in_a_versioned_bucket(moto):
    bucket = "versioned"
    moto.boto().create_bucket(Bucket=bucket)
    keep_versions(moto, bucket)
    store = Store(f"s3://{bucket}/lake", moto.client_environment())
    for text in ("one", "two", "three"):
        store.ok("put", "data/a.parquet", text)
    store.ok("put", "data/a.parquet.kept", "x")
    store.ok("remove", "data/a.parquet")
    assert versions_of(moto, bucket).count("lake/data/a.parquet") == 4, "a plain delete hides the object"
    store.ok("purge", "data/a.parquet")
    store.ok("purge", "data/a.parquet")
    store.ok("purge", "data/never there")
    assert versions_of(moto, bucket) == ["lake/data/a.parquet.kept"]


def test_a_bucket_that_kept_versions_once_is_looked_through_too(moto):
    bucket = "suspended"
    moto.boto().create_bucket(Bucket=bucket)
    keep_versions(moto, bucket)
    store = Store(f"s3://{bucket}/lake", moto.client_environment())
    store.many(("put", "a", "one"), ("put", "a", "two"))
    keep_versions(moto, bucket, "Suspended")
    store.ok("purge", "a")
    assert versions_of(moto, bucket) == []


def test_the_clock_is_the_servers(store):
    before = time.time() * 1000
    now = store.ok("clock")["now_ms"]
    assert before - 2000 <= now <= time.time() * 1000 + 2000
