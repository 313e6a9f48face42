"""Batches, and pushes that wait for approval: on a folder, and on a bucket with two hosts before it."""

import json
import threading

import pytest
from harness import CONFLICT, FAILURE, NOT_FOUND, USAGE, fdl
from host import Host


@pytest.fixture
def bucket(story, versitygw, request):
    return story.lay_out_s3(versitygw, request.node.name.replace("_", "-")[:60].strip("-"))


def batch(host, token, *files):
    return host.ask("POST", "/?batch", body=json.dumps({"files": list(files)}), token=token)


def entries(version, keys):
    return [{"key": key, "bytes": len(version.files[key])} for key in keys]


# ---- batches -----------------------------------------------------------------------------------------------------------


def test_a_folders_batch_sends_everything_through_the_host(repo, story, roles, token):
    new = story.second
    with Host(repo.folder, "--tokens", roles[0]) as host:
        asked = entries(new, new.order())
        answer = batch(host, token, *asked)
        assert answer.status == 200 and answer.json == {"files": [{"key": key, "status": 413} for key in new.order()]}
        new.upload(host, token, new.data)
        there = {entry["key"]: entry for entry in batch(host, token, *asked).json["files"]}
        assert [key for key in there if there[key].get("exists")] == new.data
        short = {"key": new.data[0], "bytes": len(new.files[new.data[0]]) - 1}
        assert batch(host, token, short).json == {"files": [{"key": new.data[0], "status": 413}]}

        for files in ([{"key": "HEAD", "bytes": 1}], [{"key": new.key("expired.json"), "bytes": 1}], [{"key": "data/x.txt", "bytes": 1}]):
            assert (batch(host, token, *files).status, batch(host, token, *files).error) == (403, "denied")
        for files in ([{"key": "data/../HEAD", "bytes": 1}], [{"key": new.data[0]}], [{"key": new.data[0], "bytes": -1}], [1],
                      [{"key": new.data[0], "bytes": 1, "sha256": "x"}]):
            assert batch(host, token, *files).status == 400, files
        assert batch(host, token, *([short] * 1001)).status == 413
        for body in ("", "[]", "{}", '{"files":{}}', "[" * 100000, '{"files":[],"files":[]}'):
            assert host.ask("POST", "/?batch", body=body, token=token).status == 400
        assert host.ask("POST", "/?batch", body="{}").status == 401
        assert host.ask("POST", "/?batch", body="{}", token=roles[1]["read"]).status == 403
        assert batch(host, token).json == {"files": []}


def test_a_buckets_batch_gives_out_urls_and_the_host_carries_no_data(bucket, versitygw, story, roles, token):
    import urllib.request

    new = story.second
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    environment = versitygw.client_environment()
    with Host(bucket, "--tokens", roles[0], "--direct-above", "100", environment=environment) as host:
        for entry in batch(host, token, *entries(new, new.order())).json["files"]:
            data = new.files[entry["key"]]
            upload = entry["upload"]
            assert upload["expires_in"] == 3600 and upload["headers"]["If-None-Match"] == "*"
            assert upload["headers"]["Content-Length"] == str(len(data)) and token not in upload["url"]
            with opener.open(urllib.request.Request(upload["url"], data, upload["headers"], method="PUT")) as done:
                assert done.status == 200
        assert all(entry.get("exists") for entry in batch(host, token, *entries(new, new.order())).json["files"])
        small = {"key": "data/main/t/small.parquet", "bytes": 99}
        large = {"key": "data/main/t/large.parquet", "bytes": (5 << 30) + 1}
        assert [entry["status"] for entry in batch(host, token, small, large).json["files"]] == [413, 413]
        # version.json is there now, so the version is complete.
        late = batch(host, token, {"key": new.key("version.json.sig"), "bytes": 300})
        assert (late.status, late.error, late.json["error"]["key"]) == (409, "refused", new.key("version.json.sig"))
        assert new.point(host, token).status == 200
        assert host.metric("fdl_received_bytes_total") < 8 << 10


# ---- approval ------------------------------------------------------------------------------------------------------------


def decide(host, token, number, word, body=None):
    return host.ask("POST", f"/refs/requests/{number}?{word}", body=body, token=token)


def request_of(host, token, number):
    return host.ask("GET", f"/refs/requests/{number}", token=token).json


def test_two_hosts_before_one_bucket_let_one_of_two_rivals_through(bucket, versitygw, story, roles):
    writer, approver = roles[1]["write"], roles[1]["approve"]
    new, left, right = story.second, story.left, story.right
    environment = versitygw.client_environment()
    options = ("--tokens", roles[0], "--approve", "main")
    with Host(bucket, *options, environment=environment) as one, Host(bucket, *options, environment=environment) as two:
        # A push is kept, once, and nobody sees it.
        for host in (one, two, one):
            waits = new.push(host, writer)
            assert (waits.status, waits.json) == (202, {"request": 1})
        assert two.get("/refs/heads/main").body.decode().strip() == story.first
        assert one.get("/refs/requests/1").status == 401
        assert request_of(two, writer, 1) == {
            "branch": "refs/heads/main", "version": new.id, "expected": story.first, "author": {"name": "a-writer"},
            "created_at": request_of(one, writer, 1)["created_at"], "state": "waiting",
        }
        listed = two.ask("GET", "/?requests", token=writer).json["requests"]
        assert len(listed) == 1 and listed[0]["message"] == "fifty more"
        assert listed[0]["changes"] == ["table 'main.t': 100 -> 150 rows, files: 1 added, 0 removed"]

        # Who may not decide does not; who may lets it through, once.
        assert decide(one, writer, 1, "approve").status == 403 and decide(one, None, 1, "reject").status == 401
        assert decide(one, approver, 2, "approve").status == 404 and decide(one, approver, 1, "bless").status == 405
        done = decide(two, approver, 1, "approve")
        assert (done.status, done.json) == (200, {"number": 1, "branch": "refs/heads/main", "version": new.id, "state": "approved"})
        assert one.get("/refs.json").json["refs"] == {"refs/heads/main": new.id}
        assert decide(one, approver, 1, "approve").json == done.json
        assert (decide(one, approver, 1, "reject").status, decide(one, approver, 1, "reject").error) == (409, "conflict")
        assert new.push(one, writer).status == 200  # it is there

        # Two that build on the same: both wait, one wins, the other is told why it cannot any more.
        numbers = {left.push(one, writer).json["request"]: left, right.push(two, writer).json["request"]: right}
        assert set(numbers) == {2, 3}
        answers = {}
        racers = [
            threading.Thread(target=lambda host=host, number=number: answers.update({number: decide(host, approver, number, "approve")}))
            for host, number in ((one, 2), (two, 3))
        ]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert sorted(answer.status for answer in answers.values()) == [200, 409], [answer.body for answer in answers.values()]
        won = next(number for number in answers if answers[number].status == 200)
        lost = 5 - won
        assert answers[lost].error == "conflict"
        assert one.get("/refs/heads/main").body.decode().strip() == numbers[won].id
        assert (request_of(two, writer, won)["state"], request_of(two, writer, lost)["state"]) == ("approved", "waiting")
        assert decide(two, approver, lost, "approve").status == 409
        rejected = decide(two, approver, lost, "reject", json.dumps({"reason": "built on the old one"}))
        assert rejected.status == 200 and rejected.json["reason"] == "built on the old one"
        assert request_of(one, writer, lost)["reason"] == "built on the old one"

        # Only main is guarded; a tag would show what nobody let through.
        loser = numbers[lost]
        assert loser.point(one, writer, "refs/tags/early").status == 403
        assert loser.point(one, writer, "refs/heads/own", If_None_Match="*").status == 201
        assert loser.point(one, writer, "refs/tags/early").status == 201
    assert fdl("verify", bucket, "--all", "--json", env=environment).json["findings"] == []


def test_requests_of_a_folder_are_decided_by_the_program_too(repo, story, roles):
    writer, approver = roles[1]["write"], roles[1]["approve"]
    new, left = story.second, story.left
    with Host(repo.folder, "--tokens", roles[0], "--approve", "*") as host:
        assert fdl("requests", repo.folder).stdout == "no requests\n"
        assert new.push(host, writer).status == 202
        shown = fdl("requests", repo.folder).stdout
        assert shown.startswith(f"request 1 (waiting): main -> {new.id}\nBy:        a-writer\nDate:      ")
        assert shown.endswith("\n\n    fifty more\n\n    * table 'main.t': 100 -> 150 rows, files: 1 added, 0 removed\n")
        assert fdl("requests", host.url, env={"FDL_TOKEN": writer}).stdout == shown

        fdl("requests", host.url, "approve", "1", env={"FDL_TOKEN": writer}, code=FAILURE)
        fdl("requests", host.url, "approve", "7", env={"FDL_TOKEN": approver}, code=NOT_FOUND)
        for words in (["approve"], ["approve", "x"], ["bless", "1"], ["approve", "1", "-m", "why"]):
            fdl("requests", repo.folder, *words, code=USAGE)
        # What was true when it was asked is looked at again.
        hidden = repo.path(new.data[0])
        hidden.rename(f"{hidden}.away")
        assert fdl("requests", repo.folder, "approve", "1", "--json", code=7).json["error"]["key"] == new.data[0]
        assert repo.head() == story.first and request_of(host, writer, 1)["state"] == "waiting"
        hidden.with_name(f"{hidden.name}.away").rename(hidden)

        assert fdl("requests", host.url, "approve", "1", env={"FDL_TOKEN": approver}).stdout == f"main -> {new.id}\n"
        assert repo.head() == new.id
        assert left.push(host, writer).json == {"request": 2}
        turned_down = fdl("requests", repo.folder, "reject", "2", "-m", "not ten rows fewer", "--json").json
        assert turned_down == {"number": 2, "branch": "refs/heads/main", "version": left.id, "state": "rejected", "reason": "not ten rows fewer"}
        fdl("requests", repo.folder, "approve", "2", code=CONFLICT)
        assert "Reason:    not ten rows fewer\n" in fdl("requests", repo.folder).stdout
        assert left.push(host, writer).json == {"request": 3}  # asked again
        assert fdl("requests", repo.folder, "approve", "3").stdout == f"main -> {left.id}\n"
        assert host.ask("DELETE", "/refs/heads/main", token=writer).status == 409
        repo.path("refs", "heads", "other").write_text(f"{new.id}\n")
        assert host.ask("DELETE", "/refs/heads/other", token=writer).status == 403
        assert host.ask("DELETE", "/refs/heads/other", token=approver).status == 204
