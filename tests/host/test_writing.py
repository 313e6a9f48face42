"""Writing through the host: files, refs, and what a version must be like before a branch moves to it.

Versions are made by fdl and sent file by file, as a client sends them that is not fdl.
"""

import base64
import hashlib
import json
import os
import re
import signal
import threading
import uuid
from pathlib import Path

import pytest
from harness import fdl
from host import Host, wait_for
from versions import snapshot


@pytest.fixture
def host(repo, roles):
    with Host(repo.folder, "--tokens", roles[0]) as made:
        yield made


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_version_goes_through_the_host_and_readers_see_it_whole(host, repo, story, token):
    new = story.second
    for key in new.order():
        first = host.ask("PUT", f"/{key}", body=new.files[key], token=token)
        assert (first.status, first.body) == (201, b"")
        again = host.ask("PUT", f"/{key}", {"If-None-Match": "*"}, new.files[key], token)
        assert (again.status, again.headers["ETag"]) == (200, first.headers["ETag"])
        assert host.get(f"/{key}").headers["ETag"] == first.headers["ETag"]
    assert repo.head() == story.first
    moved = new.point(host, token)
    assert moved.status == 200 and moved.headers["ETag"] == host.get("/refs/heads/main").headers["ETag"]
    assert new.point(host, token).status == 200
    assert host.get("/refs/heads/main").body.decode() == f"{new.id}\n"
    assert host.get("/refs.json").json["refs"] == {"refs/heads/main": new.id}
    assert repo.read("SELECT count(*) FROM lake.t") == [(150,)]
    assert {key: data for key, data in snapshot(repo).items() if key in new.files} == new.files


def test_a_file_is_created_once_and_is_what_was_promised(host, repo, story, token):
    new = story.second
    key, data = new.data[0], new.files[new.data[0]]
    other = data[:-1] + bytes([data[-1] ^ 1])

    def put(body, **headers):
        return host.ask("PUT", f"/{key}", {name.replace("_", "-"): value for name, value in headers.items()}, body, token)

    for headers in ({"FDL_SHA256": sha256(other)}, {"x_amz_checksum_sha256": base64.b64encode(hashlib.sha256(other).digest()).decode()}):
        wrong = put(data, **headers)
        assert (wrong.status, wrong.error) == (400, "usage") and sha256(data) in wrong.json["error"]["message"]
    assert put(data, FDL_SHA256="ab").status == 400
    assert put(data, If_Match='"x"').status == 412
    assert host.get(f"/{key}").status == 404 and not repo.path(key).exists()
    assert put(data, FDL_SHA256=sha256(data).upper()).status == 201
    assert put(other).error == "conflict" and put(other).status == 412 and put(data[:-1]).status == 412
    assert put(iter([data[:100], data[100:]])).status == 200  # chunked
    assert repo.path(key).read_bytes() == data

    original = b"the original"
    assert host.ask("PUT", f"/sources/{sha256(original)}", body=original, token=token).status == 201
    assert host.ask("PUT", f"/sources/{sha256(other)}", body=original, token=token).status == 400


def test_what_is_not_a_writers_is_refused(host, repo, story, roles):
    made = roles[1]
    new, before = story.second, snapshot(repo)
    data = new.files[new.data[0]]

    def put(path, token="write", body=b"x"):
        return host.ask("PUT", path, body=body, token=made.get(token))

    for path in ("/fdl.json", "/HEAD", "/refs.json"):
        for role in ("write", "approve"):
            assert (put(path, role).status, put(path, role).error) == (403, "denied")
    for path in (f"/{new.key('expired.json')}", f"/{new.key('preview.png')}", "/data/main/t/notes.txt", f"/{new.key('catalogs/x')}"):
        assert put(path).status == 403, path
    for path in (f"/{new.key('ducklake.duckdb.wal')}", "/other/x.parquet", "/versions/x.parquet", "/.fdl/tmp/x.parquet", "/refs/requests/x"):
        assert put(path).status == 404, path
    assert put("/refs/requests/1").status == 405
    for path in (f"/{new.data[0]}", "/refs/heads/main", f"/{new.key('version.json')}"):
        assert (put(path, "read", data).status, put(path, None, data).status) == (403, 401)
        assert put(path, None, data).headers["WWW-Authenticate"].startswith("Bearer")
    for ident in (story.first, str(uuid.uuid4())):
        answer = host.ask("PUT", f"/versions/{ident}/version.json", body=new.files[new.key("version.json")], token=made["write"])
        assert (answer.status, answer.error) == (409, "refused")
    assert host.ask("DELETE", f"/{new.data[0]}", token=made["write"]).status == 405
    assert snapshot(repo) == before
    with Host(repo.folder) as closed:
        assert closed.ask("PUT", f"/{new.data[0]}", body=data, token=made["write"]).status == 405


def test_a_version_that_is_gone_takes_nothing(host, repo, story, token):
    new = story.second
    new.push(host, token)
    fdl("expire", repo.folder, "--keep", "1")
    key = f"versions/{story.first}/ducklake.duckdb"
    back = host.ask("PUT", f"/{key}", body=story.base[key], token=token)
    assert (back.status, back.error, back.json["error"]["key"]) == (409, "expired", key)
    batch = json.dumps({"files": [{"key": key, "bytes": 1}]})
    assert host.ask("POST", "/?batch", body=batch, token=token).status == 409
    for ref in ("refs/tags/old", "refs/heads/old"):
        answer = host.ask("PUT", f"/{ref}", {"If-None-Match": "*"}, f"{story.first}\n", token)
        assert (answer.status, answer.error) == (409, "expired")
    assert not repo.path(key).exists()


def test_a_complete_version_takes_only_what_its_record_names(host, repo, story, token):
    """A signature laid beside another's version, for one, would make it a forged one."""
    before = snapshot(repo)
    for name in ("version.json.sig", "catalogs/0.3.duckdb"):
        answer = host.ask("PUT", f"/versions/{story.first}/{name}", body=b"x", token=token)
        assert (answer.status, answer.error) == (409, "refused"), (name, answer.body)
    assert snapshot(repo) == before
    # A mirror fills up: the record first, and later what it names.
    new = story.second
    dataset = new.key("dataset.json")
    new.upload(host, token, [new.key("version.json")])
    assert host.ask("PUT", f"/{dataset}", body=b"{}", token=token).status == 409
    for status in (201, 200):
        assert host.ask("PUT", f"/{dataset}", body=new.files[dataset], token=token).status == status
    assert host.ask("PUT", f"/{dataset}", body=b"{}", token=token).status == 412
    assert new.push(host, token).status == 200


def test_a_mirror_that_is_behind_catches_up_version_by_version(host, repo, story, token, tmp_path):
    ahead = story.lay_out(tmp_path / "ahead")
    for version in (story.second, story.left):
        for key, data in version.files.items():
            (ahead / key).parent.mkdir(parents=True, exist_ok=True)
            (ahead / key).write_bytes(data)
    (ahead / "refs/heads/main").write_text(f"{story.left.id}\n")
    environment = {"FDL_TOKEN": token}
    told = fdl("clone", ahead, host.url, env=environment, code=7)
    assert story.second.id in told.stderr and "--all" in told.stderr and repo.head() == story.first
    fdl("clone", ahead, host.url, "--all", env=environment)
    assert repo.head() == story.left.id
    fdl("verify", repo.folder, "--all")
    # Who writes through a host ends no version: what ended at the source is carried over behind it.
    fdl("expire", ahead, "--keep", "1")
    told = fdl("clone", ahead, host.url, env=environment, code=7)
    assert story.first in told.stderr and "clone into the store behind the host" in told.stderr
    fdl("clone", ahead, repo.folder)
    assert "has everything already" in fdl("clone", ahead, host.url, env=environment).stdout


def test_a_large_file_does_not_stay_in_memory(host, repo, token):
    piece, count = bytes(1 << 20), 300

    def peak_kib():
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{host.process.pid}/status").read_text())[1])

    before = peak_kib()
    headers = {"Content-Length": str(count << 20)}
    answer = host.ask("PUT", "/data/main/t/large.parquet", headers, (piece for _ in range(count)), token)
    assert answer.status == 201
    assert repo.path("data/main/t/large.parquet").stat().st_size == count << 20
    assert peak_kib() - before < 24 << 10


# ---- hostile versions --------------------------------------------------------------------------------------------------


def spoiled(story, folder):
    """Versions that must not get in: what is wrong, the version, the key that is named, the code. test_admit.c has more."""
    new = story.second

    def catalog(*statements):
        return new.again().change_catalog(folder, *statements)

    def without_index(*statements):
        """Without the index, which would give the lie away first."""
        made = catalog(*statements)
        record = made.record
        del record["files"], made.files[made.key("files.json")]
        made.files[made.key("version.json")] = json.dumps(record).encode()
        return made

    files = "raw.ducklake_data_file"
    yield "another parent", new.again(parents=[str(uuid.uuid4())]), "refs/heads/main", "conflict"
    lie = {**new.record["catalog"], "sha256": "00" * 32}
    yield "a sha256 that lies", new.again(catalog=lie), "ducklake.duckdb", "refused"
    yield "no catalog", new.again().replace("ducklake.duckdb", b"no catalog", "catalog"), "ducklake.duckdb", "refused"
    cut = new.files[new.key("ducklake.duckdb")]
    yield "half a catalog", new.again().replace("ducklake.duckdb", cut[: len(cut) // 2], "catalog"), "ducklake.duckdb", "refused"
    noise = cut[:8192] + bytes(byte ^ 0x5A for byte in cut[8192:])
    yield "noise", new.again().replace("ducklake.duckdb", noise, "catalog"), "ducklake.duckdb", "refused"
    yield "a file outside", catalog(f"UPDATE {files} SET path = '../../../outside.parquet'"), "ducklake.duckdb", "refused"
    yield "an absolute file", catalog(f"UPDATE {files} SET path = '/etc/passwd', path_is_relative = false"), "ducklake.duckdb", "refused"
    last = f"WHERE data_file_id = (SELECT max(data_file_id) FROM {files})"
    yield "a file that is not there", without_index(f"UPDATE {files} SET path = 'nobody.parquet' {last}"), "data/main/t/nobody.parquet", "refused"
    yield "a table that is a view", catalog(f"CREATE TABLE raw.kept AS FROM {files}", f"DROP TABLE {files}",
                                            f"CREATE VIEW {files} AS FROM raw.kept"), "ducklake.duckdb", "refused"
    # Readers' own queries find what lies beside the tables.
    stats = "raw.ducklake_table_stats"
    yield "a view beside the tables", catalog(f"DROP TABLE {stats}", f"CREATE VIEW {stats} AS SELECT content FROM read_text('/etc/hostname')"), "ducklake.duckdb", "refused"
    yield "a macro", catalog("CREATE MACRO raw.max(x) AS (SELECT length(content) FROM read_text('/etc/hostname'))"), "ducklake.duckdb", "refused"
    yield "a computed path", catalog(
        "CREATE TABLE raw.kept AS FROM raw.ducklake_data_file", "DROP TABLE raw.ducklake_data_file",
        "CREATE TABLE raw.ducklake_data_file (data_file_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, file_order BIGINT,"
        " path_is_relative BOOLEAN, file_format VARCHAR, record_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, row_id_start BIGINT,"
        " partition_id BIGINT, encryption_key VARCHAR, mapping_id BIGINT, partial_max BIGINT, honest VARCHAR, path VARCHAR GENERATED ALWAYS AS"
        " (CASE WHEN current_setting('enable_external_access') THEN 'elsewhere.parquet' ELSE honest END))",
        "INSERT INTO raw.ducklake_data_file BY NAME SELECT * EXCLUDE (path), path AS honest FROM raw.kept", "DROP TABLE raw.kept",
    ), "ducklake.duckdb", "refused"
    yield "another index", new.again().replace("files.json", b'{"tables": []}', "files"), "files.json", "refused"


def test_a_version_that_lies_gets_no_branch(host, repo, story, token, tmp_path):
    before = snapshot(repo)
    sent = set()
    for what, version, key, code in spoiled(story, tmp_path):
        version.upload(host, token)
        sent |= set(version.files)
        answer = version.point(host, token)
        assert (answer.status, answer.error) == (409, code), (what, answer.body)
        named = answer.json["error"]["key"]
        assert named.startswith(key) or named == version.key(key), (what, answer.body)
        assert str(tmp_path) not in answer.json["error"]["message"]
    after = snapshot(repo)
    assert after.keys() - before.keys() == sent and before.items() <= after.items()
    # Nothing of that kept the honest one out.
    assert story.second.push(host, token).status == 200
    assert host.get("/healthz").status == 200


def test_a_data_file_that_never_came_keeps_the_branch_where_it_is(host, story, token):
    new = story.second
    new.upload(host, token, [key for key in new.order() if key not in new.data])
    answer = new.point(host, token)
    assert (answer.status, answer.error, answer.json["error"]["key"]) == (409, "refused", new.data[0])
    host.ask("PUT", f"/{new.data[0]}", body=b"short", token=token)
    assert new.point(host, token).status == 409


def test_what_a_symlink_leads_to_is_not_served_and_so_not_admitted(repo, story, roles, tmp_path):
    """But for the data folder itself, which may lie on another disk when the host starts."""
    new, (file, tokens) = story.second, roles
    repo.data.rename(tmp_path / "disk")
    repo.data.symlink_to(tmp_path / "disk")
    with Host(repo.folder, "--tokens", file) as host:
        new.upload(host, tokens["write"])
        for key in (new.data[0], new.key("dataset.json"), str(Path(new.data[0]).parent)):
            path, away = repo.folder / key, tmp_path / "away"
            path.rename(away)
            path.symlink_to(away)
            answer = new.point(host, tokens["write"])
            assert (answer.status, answer.error) == (409, "refused") and answer.json["error"]["key"].startswith(key), answer.body
            assert "symlink" in answer.json["error"]["message"] and host.get(f"/{answer.json['error']['key']}").status == 404
            path.unlink()
            away.rename(path)
        assert new.point(host, tokens["write"]).status == 200
        assert host.get(f"/{new.data[0]}").body == new.files[new.data[0]]


# ---- refs ------------------------------------------------------------------------------------------------------------------


def test_a_branch_moves_only_from_what_the_request_expects(host, repo, story, token):
    new, left, right = story.second, story.left, story.right
    etag = host.get("/refs/heads/main").headers["ETag"]
    for version in (new, left, right):
        version.upload(host, token)
    assert left.point(host, token).status == 409  # its parent is not there yet
    assert new.point(host, token, If_Match='"something else"').status == 412
    assert new.point(host, token, If_None_Match="*").status == 412
    assert host.ask("PUT", "/refs/heads/main", body="main\n", token=token).status == 400
    assert new.point(host, token, If_Match=etag).status == 200
    assert left.point(host, token, If_Match=etag).status == 412
    assert left.point(host, token).status == 200
    conflict = right.point(host, token)
    assert (conflict.status, conflict.error) == (409, "conflict") and left.id in conflict.json["error"]["message"]
    assert repo.head() == left.id

    assert right.point(host, token, "refs/heads/other").status == 409  # it builds on something: say that it is new
    assert right.point(host, token, "refs/heads/other", If_None_Match="*").status == 201
    assert right.point(host, token, "refs/heads/other/below", If_None_Match="*").status == 409
    assert right.point(host, token, "refs/heads/Other", If_None_Match="*").status == 404
    for wanted in (201, 200):
        assert new.point(host, token, "refs/tags/v1").status == wanted
    moving = left.point(host, token, "refs/tags/v1")
    assert (moving.status, moving.error) == (409, "conflict")
    assert host.get("/refs.json").json["refs"] == {
        "refs/heads/main": left.id, "refs/heads/other": right.id, "refs/tags/v1": new.id,
    }

    def delete(ref, **headers):
        return host.ask("DELETE", f"/refs/{ref}", {name.replace("_", "-"): value for name, value in headers.items()}, token=token)

    kept = delete("heads/main")
    assert (kept.status, kept.error) == (409, "refused")
    assert delete("heads/other", If_Match='"x"').status == 412
    assert delete("heads/other").status == 204 and delete("heads/other").status == 404
    assert delete("tags/v1", If_Match=host.get("/refs/tags/v1").headers["ETag"]).status == 204
    assert host.get("/refs.json").json["refs"] == {"refs/heads/main": left.id}


def test_a_catalog_that_ends_duckdb_does_not_end_the_host(host, repo, story, token):
    """The version is looked at in a process of its own; here it dies, as one that DuckDB crashes in or that never ends."""
    new, children = story.second, Path(f"/proc/{host.process.pid}/task")
    new.upload(host, token)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(new.point(host, token)))
    asking.start()

    def kill_it():
        for ident in "".join(path.read_text() for path in children.glob("*/children")).split():
            os.kill(int(ident), signal.SIGKILL)
            return True
        return not asking.is_alive()

    wait_for("the process that looks at versions", kill_it)
    asking.join()
    answer = answers[0]
    assert (answer.status, answer.error, answer.json["error"]["key"]) == (409, "refused", new.key("ducklake.duckdb"))
    assert "signal 9" in answer.json["error"]["message"] and repo.head() == story.first
    assert new.point(host, token).status == 200
