"""The S3 store on real servers: addresses, keys, credentials, large objects, signed URLs.

Amazon's own client (boto) looks at what we wrote, and writes what we read.
"""

import base64
import hashlib
import os
import subprocess
import urllib.error
import urllib.request

import pytest
from fault_proxy import Answer, FaultProxy
from servers import clean_environment
from tools import Store, run_program

KEYS = ["a b+c", "100%", "%20", "ü/é", "AC/DC", "x=%2F/y", "k=__HIVE_DEFAULT_PARTITION__/p", "q?a=b&c#d", "日本語/郵便"]


@pytest.fixture
def store(s3, bucket):
    return Store(f"s3://{bucket}/lake/", s3.client_environment())


def fetch(url, method="GET", data=None, headers=None):
    """What a client without any idea of S3 gets."""
    request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


# ---- keys and addresses --------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_the_same_to_everybody(s3, bucket, store, key):
    boto = s3.boto()
    store.ok("put", key, "ours")
    assert boto.get_object(Bucket=bucket, Key=f"lake/{key}")["Body"].read() == b"ours"
    boto.put_object(Bucket=bucket, Key=f"lake/{key}", Body=b"theirs!")
    assert store.ok("read", key)["text"] == "theirs!"
    assert store.ok("head", key)["size"] == 7
    assert store.keys() == [key]
    assert fetch(store.ok("presign", "GET", key, "60")["url"]) == (200, b"theirs!")
    store.ok("remove", key)
    assert store.keys() == []
    assert boto.list_objects_v2(Bucket=bucket).get("KeyCount", 0) == 0


def test_an_etag_is_the_same_to_everybody(s3, bucket, store):
    ours = store.ok("put", "x", "text")["etag"]
    assert ours == s3.boto().head_object(Bucket=bucket, Key="lake/x")["ETag"]
    assert ours == store.ok("head", "x")["etag"]
    assert ours == store.ok("list", "", "all")["entries"][0]["etag"]


def test_a_prefix_does_not_see_its_longer_neighbour(s3, bucket):
    environment = s3.client_environment()
    lake, lake2 = (Store(f"s3://{bucket}/{name}", environment) for name in ("lake", "lake2"))
    lake.ok("put", "a", "1")
    lake2.ok("put", "b", "2")
    assert lake.keys() == ["a"]
    assert lake.keys(depth="one") == ["a"]
    assert lake2.keys() == ["b"]


def test_a_final_slash_makes_no_difference(s3, bucket):
    environment = s3.client_environment()
    without, with_one = (Store(f"s3://{bucket}/a/lake{end}", environment) for end in ("", "/"))
    without.ok("put", "x", "text")
    assert with_one.ok("read", "x")["text"] == "text"
    assert without.ok("describe")["address"] == with_one.ok("describe")["address"] == f"s3://{bucket}/a/lake/"


@pytest.mark.parametrize("end", ["", "/"])
def test_a_repository_may_be_a_whole_bucket(s3, bucket, end):
    root = Store(f"s3://{bucket}{end}", s3.client_environment())
    root.ok("put", "refs/heads/main", "id")
    assert root.keys() == ["refs/heads/main"]
    assert root.keys(depth="one") == ["refs/"]
    assert s3.boto().get_object(Bucket=bucket, Key="refs/heads/main")["Body"].read() == b"id"
    root.ok("remove", "refs/heads/main")
    assert root.keys() == []


def test_the_stores_scratch_is_listed_only_when_asked_for(store):
    store.ok("put", ".fdl/doctor-1/key", "x")
    store.ok("put", "a", "x")
    assert store.keys() == ["a"]
    assert store.keys(depth="one") == ["a"]
    assert store.keys(".fdl/") == [".fdl/doctor-1/key"]


def test_folders_that_consoles_make_are_passed_over(s3, bucket, store):
    boto = s3.boto()
    for key in ("lake/", "lake/data/"):
        boto.put_object(Bucket=bucket, Key=key, Body=b"")
    store.ok("put", "data/x", "x")
    assert store.keys() == ["data/x"]


@pytest.mark.parametrize(
    "address, part",
    [
        ("s3://", "names no bucket"),
        ("s3:///x", "names no bucket"),
        ("s3://a b/x", "names no bucket"),
        ("s3://bucket//x", "empty part"),
        ("s3://bucket/a/../b", "'..' part"),
        ("s3://bucket/x?s3_region=eu", "has a '?'"),
    ],
)
def test_what_is_no_address_is_refused(s3, address, part):
    answer = Store(address, s3.client_environment())("head", "x")
    assert answer["code"] == "usage" and part in answer["message"], answer


def test_an_endpoint_may_be_ipv6(s3, bucket):
    with FaultProxy(s3.port, "::1") as proxy:
        store = Store(f"s3://{bucket}", s3.client_environment(proxy.url))
        store.ok("put", "a b", "x", "absent")
        assert store.keys() == ["a b"]
        assert fetch(store.ok("presign", "GET", "a b", "60")["url"]) == (200, b"x")


def test_an_endpoint_that_nobody_answers_on_is_told(s3, bucket):
    answer = Store(f"s3://{bucket}", s3.client_environment("http://127.0.0.1:1"))("head", "x")
    assert answer["code"] == "failure"
    assert "cannot connect to '127.0.0.1:1'" in answer["message"]


def test_a_missing_bucket_is_told_as_one(s3):
    nowhere = Store("s3://no-such-bucket/lake", s3.client_environment())
    for command in [("read", "x"), ("put", "x", "y"), ("put", "x", "y", "match", "z"), ("list", "", "all"), ("remove", "x")]:
        answer = nowhere(*command)
        assert answer["code"] == "not_found", answer
        assert "no bucket 'no-such-bucket'" in answer["message"], answer


# ---- who we are ------------------------------------------------------------------


def test_a_wrong_secret_is_told_with_where_it_came_from(versitygw):
    versitygw.boto().create_bucket(Bucket="bucket-secret")
    environment = {**versitygw.client_environment(), "AWS_SECRET_ACCESS_KEY": "very-private-thing"}
    for command in [("read", "x"), ("head", "x"), ("put", "x", "y", "absent"), ("list", "", "all")]:
        answer = Store("s3://bucket-secret/lake", environment)(*command)
        assert answer["code"] == "denied", answer
        assert "the environment (AWS_ACCESS_KEY_ID)" in answer["message"]
        assert "very-private-thing" not in str(answer)


def test_a_profile_is_used_and_named(s3, bucket, tmp_path):
    (tmp_path / "credentials").write_text(
        f"[default]\naws_access_key_id = x\naws_secret_access_key = y\n\n"
        f"[lake]\naws_access_key_id = {s3.access_key}\naws_secret_access_key = {s3.secret_key}\n"
    )
    (tmp_path / "config").write_text(f"[profile lake]\nregion = us-east-1\nendpoint_url = {s3.url}\n")
    environment = clean_environment() | {
        "AWS_PROFILE": "lake",
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
    }
    store = Store(f"s3://{bucket}/lake", environment)
    store.ok("put", "x", "text", "absent")
    place = store.ok("describe")
    assert place["source"] == f"profile 'lake' in '{tmp_path}/credentials'"
    assert place["endpoint"] == s3.url.removeprefix("http://")
    assert place["path_style"] and not place["anonymous"]


def test_without_credentials_a_private_bucket_says_what_to_set(versitygw):
    versitygw.boto().create_bucket(Bucket="bucket-private")
    environment = versitygw.client_environment()
    del environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]
    answer = Store("s3://bucket-private/lake", environment)("read", "x")
    assert answer["code"] == "denied"
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE" in answer["message"]


def test_a_public_bucket_is_read_without_credentials(versitygw):
    boto = versitygw.boto()
    boto.create_bucket(Bucket="bucket-public")
    boto.put_bucket_policy(
        Bucket="bucket-public",
        Policy='{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket-public/*"}]}',
    )
    boto.put_object(Bucket="bucket-public", Key="lake/x", Body=b"for all")
    environment = versitygw.client_environment()
    del environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]
    store = Store("s3://bucket-public/lake", environment)
    assert store.ok("read", "x")["text"] == "for all"
    assert store("put", "x", "mine")["code"] == "denied"
    assert store("list", "", "all")["code"] == "denied"


# ---- what answers mean ----------------------------------------------------------------


def error(status, code, headers=None, **fields):
    xml = "".join(f"<{name}>{value}</{name}>" for name, value in {"Code": code, "Message": "m", **fields}.items())
    return Answer(status, headers or {}, f"<Error>{xml}</Error>".encode())


@pytest.mark.parametrize("told", ["header", "body"])
@pytest.mark.parametrize("command", [("read", "x"), ("put", "x", "new", "absent"), ("list", "", "all")])
def test_a_bucket_of_another_region_is_signed_for_again_once(s3, bucket, proxy, told, command):
    moved = {
        "header": error(301, "PermanentRedirect", {"x-amz-bucket-region": "eu-west-1"}),
        "body": error(400, "AuthorizationHeaderMalformed", Region="eu-west-1"),
    }[told]
    proxy.fault(1, moved)
    store = Store(f"s3://{bucket}", s3.client_environment(proxy.url))
    store(*command)
    scopes = [seen.headers["authorization"].split("/")[2] for seen in proxy.seen]
    assert scopes[:2] == ["us-east-1", "eu-west-1"]


def test_the_right_region_is_remembered(moto):
    moto.boto().create_bucket(Bucket="bucket-region")
    with FaultProxy(moto.port) as proxy:
        proxy.fault(1, error(301, "PermanentRedirect", {"x-amz-bucket-region": "eu-west-1"}))
        store = Store("s3://bucket-region", moto.client_environment(proxy.url))
        answers = store.many(("put", "x", "1"), ("read", "x"), ("describe",))
        assert [answer["code"] for answer in answers] == ["ok"] * 3
        assert answers[2]["region"] == "eu-west-1"
        assert proxy.count() == 3


def test_a_region_that_leads_in_circles_is_named(s3, bucket, proxy):
    proxy.fault_next("GET", "/", error(400, "AuthorizationHeaderMalformed", Region="eu-west-1"))
    proxy.fault_next("GET", "/", error(400, "AuthorizationHeaderMalformed", Region="ap-south-1"))
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("read", "x")
    assert answer["code"] == "failure"
    assert "'ap-south-1'" in answer["message"] and "AWS_REGION" in answer["message"]
    assert proxy.count() == 2


def test_a_region_that_would_be_another_host_is_not_believed(s3, bucket, proxy):
    proxy.fault(1, error(301, "PermanentRedirect", {"x-amz-bucket-region": "evil.example/"}))
    Store(f"s3://{bucket}", s3.client_environment(proxy.url))("read", "x")
    assert proxy.count() == 1


def test_a_redirect_is_not_followed_with_credentials(s3, bucket, proxy):
    with FaultProxy(s3.port) as elsewhere:
        proxy.fault(1, Answer(307, {"Location": f"{elsewhere.url}/{bucket}/x"}))
        answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("read", "x")
        assert answer["code"] == "failure" and "307" in answer["message"]
        assert elsewhere.count() == 0


@pytest.mark.parametrize("command", [("read", "x"), ("head", "x"), ("put", "x", "y", "absent")])
def test_a_clock_that_is_off_is_named_with_by_how_much(s3, bucket, proxy, command):
    skewed = error(403, "RequestTimeTooSkewed", {"Date": "Thu, 01 Jan 2015 00:00:00 GMT"})
    proxy.fault(1, skewed)
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))(*command)
    assert answer["code"] in ("failure",), answer
    assert "minutes ahead of" in answer["message"] and "set the clock" in answer["message"]


def test_expired_credentials_are_told_as_such(s3, bucket, proxy):
    proxy.fault(1, error(400, "ExpiredToken"))
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("read", "x")
    assert answer["code"] == "denied" and "have expired" in answer["message"]


@pytest.mark.parametrize("status", [304, 404, 412])
def test_every_way_to_say_that_a_match_failed_is_a_conflict(s3, bucket, proxy, status):
    proxy.fault_next("PUT", "/main", Answer(status))
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("put", "main", "new", "match", "old")
    assert answer["code"] == "conflict"
    assert "somebody changed it meanwhile" in answer["message"]


def test_an_answer_that_is_no_s3_is_told(s3, bucket, proxy):
    proxy.fault(1, Answer(200, {"Content-Type": "text/html"}, b"<html><body>Welcome!</body></html>"))
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("list", "", "all")
    assert answer["code"] == "failure"
    proxy.fault_next("GET", "/", Answer(200, {}, b"<!DOCTYPE html><p>hello"))
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("list", "", "all")
    assert answer["code"] == "failure" and "is it an s3 endpoint?" in answer["message"]


def test_a_listing_without_an_end_is_noticed(s3, bucket, proxy):
    page = b"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>"
    proxy.fault_next("GET", "list-type", Answer(200, {}, page), times=1000)
    answer = Store(f"s3://{bucket}", s3.client_environment(proxy.url))("list", "", "all")
    assert answer["code"] == "failure" and "again and again" in answer["message"]
    assert proxy.count() == 2


# ---- large objects ---------------------------------------------------------------------

MIB = 1 << 20
PARTS = {"FDL_TEST_MULTIPART_FROM": str(5 * MIB), "FDL_TEST_PART": str(5 * MIB)}


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(os.urandom(12 * MIB + 1))
    return path


def uploads(s3, bucket):
    return s3.boto().list_multipart_uploads(Bucket=bucket).get("Uploads", [])


@pytest.mark.parametrize("condition", [(), ("absent",)])
def test_a_large_file_goes_up_in_parts_and_comes_back_whole(s3, bucket, large, condition):
    store = Store(f"s3://{bucket}/lake", s3.client_environment(), **PARTS)
    put = store.ok("putfile", "data/a b.parquet", large, *condition)
    assert put["etag"].strip('"').endswith("-3")
    got = store.ok("get", "data/a b.parquet")
    assert got["sha256"] == hashlib.sha256(large.read_bytes()).hexdigest()
    assert got["etag"] == put["etag"] and got["size"] == put["size"] == 12 * MIB + 1
    assert uploads(s3, bucket) == []


def test_a_large_file_is_created_once(s3, bucket, large):
    store = Store(f"s3://{bucket}", s3.client_environment(), **PARTS)
    store.ok("put", "x", "was here")
    assert store("putfile", "x", large, "absent")["code"] == "conflict"
    assert store("putfile", "x", large, "match", '"stale"')["code"] == "conflict"
    assert store.ok("read", "x")["text"] == "was here"
    assert uploads(s3, bucket) == []
    store.ok("putfile", "x", large, "match", store.ok("head", "x")["etag"])
    assert store.ok("head", "x")["size"] == 12 * MIB + 1


def test_a_creation_that_comes_between_start_and_end_of_parts_wins(s3, bucket, large, proxy):
    # The look before the first part finds nothing; another writer is there before the last step.
    store = Store(f"s3://{bucket}", s3.client_environment(proxy.url), **PARTS)
    Store(f"s3://{bucket}", s3.client_environment()).ok("put", "x", "was here")
    proxy.fault_next("HEAD", "/x", 404)
    assert store("putfile", "x", large, "absent")["code"] == "conflict"
    assert store.ok("read", "x")["text"] == "was here"
    assert uploads(s3, bucket) == []


def test_parts_of_a_failed_upload_are_given_up(s3, bucket, large, proxy):
    proxy.fault_next("PUT", "partNumber=2", 403)
    store = Store(f"s3://{bucket}", s3.client_environment(proxy.url), **PARTS)
    assert store("putfile", "x", large)["code"] == "denied"
    assert uploads(s3, bucket) == []
    assert store("head", "x")["code"] == "not_found"


@pytest.mark.parametrize("fault", ["drop", "lose", "cut", 500, 503])
@pytest.mark.parametrize("request_number", range(1, 7))  # head, start, three parts, the last step
def test_an_upload_in_parts_survives_each_fault(s3, bucket, large, proxy, request_number, fault):
    proxy.fault(request_number, fault)
    store = Store(f"s3://{bucket}", s3.client_environment(proxy.url), **PARTS)
    store.ok("putfile", "x", large, "absent")
    assert Store(f"s3://{bucket}", s3.client_environment()).ok("get", "x")["sha256"] == (
        hashlib.sha256(large.read_bytes()).hexdigest()
    )


def test_a_200_that_holds_an_error_is_no_success(s3, bucket, large, proxy):
    late = Answer(200, {}, b"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>m</Message></Error>")
    proxy.fault_next("POST", "uploadId=", late)
    store = Store(f"s3://{bucket}", s3.client_environment(proxy.url), **PARTS)
    store.ok("putfile", "x", large, "absent")
    assert proxy.count("POST", "uploadId=") == 2
    assert store.ok("head", "x")["size"] == 12 * MIB + 1


def test_a_large_file_takes_little_memory(versitygw, tmp_path):
    versitygw.boto().create_bucket(Bucket="bucket-large")
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(400 * MIB)
    # A sanitizer keeps freed memory back; not so much of it here.
    store = Store("s3://bucket-large", versitygw.client_environment(), ASAN_OPTIONS="quarantine_size_mb=8")
    store.ok("putfile", "x", path)
    assert store.peak_kib < 64 * 1024
    assert store.ok("get", "x")["bytes"] == 400 * MIB
    assert store.peak_kib < 64 * 1024


# ---- signed URLs --------------------------------------------------------------------------


def upload_headers(content):
    return {
        "Content-Length": str(len(content)),
        "If-None-Match": "*",
        "x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(content).digest()).decode(),
    }


def test_a_signed_url_uploads_once_and_only_what_was_meant(versitygw):
    versitygw.boto().create_bucket(Bucket="bucket-presign")
    store = Store("s3://bucket-presign/lake", versitygw.client_environment())
    headers = upload_headers(b"the content")
    flat = [word for pair in headers.items() for word in pair]
    url = store.ok("presign", "PUT", "data/a b+c.parquet", "600", *flat)["url"]

    assert fetch(url, "PUT", b"the contenT", headers)[0] == 400
    assert store("head", "data/a b+c.parquet")["code"] == "not_found"
    without = {name: value for name, value in headers.items() if name != "If-None-Match"}
    assert fetch(url, "PUT", b"the content", without)[0] == 403
    assert fetch(url, "PUT", b"the content", headers)[0] == 200
    assert store.ok("read", "data/a b+c.parquet")["text"] == "the content"
    assert fetch(url, "PUT", b"the content", headers)[0] == 412
    assert fetch(url)[0] == 403


def curl(url, content, headers):
    """The status of an upload by a program that knows nothing of S3."""
    words = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    done = subprocess.run(
        ["curl", "-s", "-S", "--noproxy", "*", "-o", os.devnull, "-w", "%{http_code}", "-X", "PUT", *words, "--data-binary", "@-", url],
        input=content,
        capture_output=True,
        check=True,
    )
    return int(done.stdout)


def test_an_upload_url_creates_one_object_and_nothing_else(s3, bucket):
    store = Store(f"s3://{bucket}/lake", s3.client_environment())
    key, content = "data/main/t/a b+c.parquet", b"the content"
    sha256 = hashlib.sha256(content).hexdigest()
    answer = store.ok("presignput", key, len(content), "600", sha256)
    url, headers = answer["url"], answer["headers"]
    assert headers == {"Content-Type": "application/vnd.apache.parquet", **upload_headers(content)}
    if s3.checks:
        for name in headers:
            left_out = {other: value for other, value in headers.items() if other != name}
            if name != "Content-Length":  # curl has its own
                assert curl(url, content, left_out) in (400, 403), name
        assert curl(url, b"the contenT", headers) == 400
        longer = {**headers, "Content-Length": "12"}
        assert curl(url, b"the content!", longer) == 403
        unproved = store.ok("presignput", key, len(content), "600")
        assert "x-amz-checksum-sha256" not in unproved["headers"]
        assert curl(unproved["url"], b"longer content", {**unproved["headers"], "Content-Length": "14"}) == 403
        assert store("head", key)["code"] == "not_found"
    assert curl(url, content, headers) == 200
    assert store.ok("read", key)["text"] == "the content"
    assert s3.boto().head_object(Bucket=bucket, Key=f"lake/{key}")["ContentType"] == "application/vnd.apache.parquet"
    assert curl(url, content, headers) == 412
    assert store("presignput", key, (5 << 30) + 1, "600")["code"] == "usage"


def test_a_store_without_upload_urls_says_so(tmp_path):
    assert Store(str(tmp_path))("presignput", "data/x.parquet", "1", "60")["code"] == "unsupported"


def test_a_signed_url_needs_credentials(s3, bucket):
    environment = s3.client_environment()
    del environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]
    assert Store(f"s3://{bucket}", environment)("presign", "GET", "x", "60")["code"] == "unsupported"


# ---- promises and races ----------------------------------------------------------------------


def test_a_good_store_keeps_all_promises_and_is_left_clean(versitygw):
    boto = versitygw.boto()
    boto.create_bucket(Bucket="bucket-promises")
    answer = Store("s3://bucket-promises/lake", versitygw.client_environment()).ok("promises")
    promises = {name: said for name, said in answer.items() if name != "code"}
    assert promises == dict.fromkeys(["create only", "if match", "race", "list after write", "range", "delete"], "kept")
    assert boto.list_objects_v2(Bucket="bucket-promises").get("KeyCount", 0) == 0


def test_sixteen_writers_have_one_winner_a_round(versitygw):
    versitygw.boto().create_bucket(Bucket="bucket-race")
    done = run_program("net-race", "s3://bucket-race/lake", 120, environment=versitygw.client_environment())
    assert done.returncode == 0, done.stdout


def test_sixteen_writers_have_one_winner_a_round_in_a_folder(tmp_path):
    done = run_program("net-race", tmp_path / "lake", 120, environment=clean_environment())
    assert done.returncode == 0, done.stdout
