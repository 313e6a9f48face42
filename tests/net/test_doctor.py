"""fdl doctor: what is well, what is missing and what is broken, in a folder, in buckets and behind web servers."""

import email.utils
import shutil
import sys
import time
import uuid
from pathlib import Path

import pytest
from fault_proxy import Answer, FaultProxy
from harness import FAILURE, NOT_FOUND, OK, PROGRAM, USAGE, Lake, Repo, fdl, on_read_only, on_small_disk
from servers import Nginx
from test_program import bucket_variables
from tools import duck_at

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "host"))

from host import Host, add_token  # noqa: E402

PROMISES = ["create only", "if match", "race", "list after write", "range", "delete"]


def doctor(*words, code=OK, env=None):
    """The findings by their name: health and detail."""
    answer = fdl("doctor", *words, "--json", code=code, env=env)
    told = answer.json
    found = {check["name"]: (check["health"], check["detail"]) for check in told["checks"]}
    assert len(found) == len(told["checks"]), "a name stands twice"
    assert all(detail and "\n" not in detail for _, detail in found.values())
    assert told["well"] == (answer.code == OK) == ("broken" not in {health for health, _ in found.values()} and found.get("repository", ("ok",))[0] != "missing")
    return found


def program(folder, name, says):
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A repository with one version; not to be changed."""
    lake = Lake(tmp_path_factory.mktemp("sound"))
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)")
    return lake.repo


# ---- this machine --------------------------------------------------------------------------------------------------------


def test_a_machine_with_all_of_it(tmp_path):
    home, path = tmp_path / "home", tmp_path / "bin"
    path.mkdir()
    program(path, "duckdb", "v1.5.5 (Variegata) 7dbb2e646f")
    program(path, "ssh-keygen", "")
    platform = next((PROGRAM.parent / "deps" / "extensions" / "v1.5.5").iterdir()).name
    installed = home / ".duckdb" / "extensions" / "v1.5.5" / platform
    installed.mkdir(parents=True)
    (installed / "ducklake.duckdb_extension").touch()
    found = doctor(env={"PATH": path, "HOME": home})
    assert {health for health, _ in found.values()} == {"ok"}
    assert found["duckdb library"][1].startswith("v1.5.5, '/") and "libduckdb.so" in found["duckdb library"][1]
    for name in ("ducklake", "sqlite_scanner", "httpfs"):
        assert f"{name}.duckdb_extension" in found[f"extension {name}"][1]
    assert "reads DuckLake 1.0" in found["duckdb program"][1]
    assert "installed for it: ducklake; it fetches when first needed: sqlite_scanner, httpfs, aws" in found["duckdb program"][1]
    assert found["author"][1] == "Ada Writer <ada@example.org>, from FDL_AUTHOR_NAME"
    lines = fdl("doctor", env={"PATH": path, "HOME": home}).stdout.splitlines()
    assert len(lines) == len(found) + 1 and all(line.startswith("ok ") for line in lines[:-1])
    assert lines[-1] == "0 faults, 0 warnings, 0 missing: what is needed works"


def test_a_library_that_does_not_load_is_told_and_what_it_is_for(tmp_path):
    for name, health in (("libcrypto.so.3", "broken"), ("libcurl.so.4", "missing"), ("libmicrohttpd.so.12", "missing")):
        (tmp_path / name).write_text("no library")
        env = {"LD_LIBRARY_PATH": tmp_path}
        found = doctor(env=env, code=FAILURE if health == "broken" else OK)
        told, detail = found[name.partition(".")[0]]
        assert told == health and f"cannot load '{name}'" in detail
        (tmp_path / name).unlink()
    (tmp_path / "libcurl.so.4").write_text("no library")
    said = fdl("verify", "http://127.0.0.1:9/lake", env=env, code=FAILURE).complaint
    assert said.startswith("fdl: cannot load 'libcurl.so.4'") and said.endswith("install it")


def test_a_machine_with_little_of_it(tmp_path):
    (tmp_path / "libduckdb.so").symlink_to((PROGRAM.parent / "deps" / "libduckdb.so").resolve())
    program(tmp_path, "duckdb", "v1.4.4 (Andium) 6ddac802ff")
    env = {"PATH": tmp_path, "HOME": tmp_path, "FDL_AUTHOR_NAME": None, "FDL_AUTHOR_EMAIL": None}
    found = doctor(env={**env, "FDL_LIBDUCKDB": tmp_path / "libduckdb.so", "FDL_EXTENSIONS": None})
    for name in ("ducklake", "sqlite_scanner", "httpfs"):
        assert found[f"extension {name}"][0] == "missing" and "FDL_EXTENSIONS" in found[f"extension {name}"][1]
    assert found["duckdb program"][0] == "warning" and "--duckdb 1.4.4" in found["duckdb program"][1]
    assert found["ssh-keygen"][0] == "missing" and "openssh-client" in found["ssh-keygen"][1]
    assert found["author"][0] == "warning" and "from the login name; say who commits" in found["author"][1]
    found = doctor("--libduckdb", tmp_path / "duckdb", code=FAILURE, env={"PATH": "", "HOME": tmp_path})
    assert found["duckdb library"][0] == "broken" and found["duckdb program"][0] == "missing"


# ---- a folder -------------------------------------------------------------------------------------------------------------


def test_a_sound_folder_and_the_place_for_one(sound, tmp_path):
    before = sound.contents()
    found = doctor(sound.address)
    assert found["repository"] == ("ok", f"id {sound.config()['id']}, format 0.1, data in 'data/'")
    assert found["newest version"][0] == "ok" and f"'{sound.head()}' (seq 1)" in found["newest version"][1]
    assert found["room"][0] == "ok" and found["room"][1].split()[1] in ("GB", "TB")
    assert [found[name] for name in PROMISES] == [("ok", "kept")] * 6
    assert sound.contents() == before and not list(sound.path(".fdl").glob("doctor-*"))

    fresh = Repo(tmp_path / "fresh")
    assert doctor(fresh.address)["newest version"] == ("ok", "none yet: 'refs/heads/main' waits for the first push")
    # A path that was mistyped: what is there is told, ends with 5, and nothing is left there.
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "other").mkdir()
    for name in ("none", "file", "other"):
        told, detail = doctor(tmp_path / name, code=NOT_FOUND)["repository"]
        assert told == "missing" and f"{name}/' is not a repository; make one with 'fdl init" in detail
    assert fdl("doctor", tmp_path / "other", code=NOT_FOUND).stdout.endswith("works, but there is no repository\n")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if fresh.folder not in path.parents) == ["file", "fresh", "other"]
    fdl("doctor", "http://", code=USAGE)


def test_damage_in_a_folder_is_found(sound, tmp_path):
    repo = Repo(shutil.copytree(sound.folder, tmp_path / "repo"))
    version = repo.head()
    repo.version_file(version, "expired.json").write_text('{"expired_at": "2026-12-01T00:00:00Z", "reason": "retention"}')
    assert "expired on 2026-12-01" in doctor(repo.address, code=FAILURE)["newest version"][1]
    repo.version_file(version, "expired.json").unlink()
    repo.version_file(version, "ducklake.duckdb").write_bytes(b"x")
    assert "is damaged" in doctor(repo.address, code=FAILURE)["newest version"][1]
    repo.path("fdl.json").write_text("{")
    found = doctor(repo.address, code=FAILURE)
    assert found["repository"][0] == "broken" and "newest version" not in found and found["race"] == ("ok", "kept")


def test_a_folder_that_cannot_be_written_to_and_a_disk_that_is_nearly_full(sound, tmp_path):
    answer = on_read_only(sound.path("refs"), "doctor", sound.address)
    line = next(line for line in answer.stdout.splitlines() if " permissions " in line)
    assert answer.code == OK and line.startswith("missing") and "refs' (read-only file system)" in line
    copy = shutil.copytree(sound.folder, tmp_path / "repo")
    answer = on_small_disk(copy, 2_000_000, "doctor", copy)
    line = next(line for line in answer.stdout.splitlines() if " room " in line)
    assert answer.code == OK and line.startswith("warning") and "fdl gc" in line


# ---- a bucket ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def in_bucket(sound, s3, bucket):
    """The sound repository in a bucket of each server in turn: its address, and the variables that lead there."""
    fdl("clone", sound.folder, f"s3://{bucket}/lake", "--all", env=bucket_variables(s3))
    return f"s3://{bucket}/lake", bucket_variables(s3)


def test_a_sound_bucket(in_bucket, s3):
    address, variables = in_bucket
    found = doctor(address, env=variables, code=OK if s3.atomic else None)
    assert found["credentials"][0] == "ok"
    assert found["credentials"][1] == f"from the environment (AWS_ACCESS_KEY_ID), region us-east-1, endpoint 127.0.0.1:{s3.port}"
    assert found["newest version"][0] == found["clock"][0] == found["old states"][0] == "ok"
    assert "keeps none" in found["old states"][1]
    if s3.atomic:
        assert [found[name] for name in PROMISES] == [("ok", "kept")] * 6


def test_a_bucket_that_keeps_versions_and_a_clock_that_is_wrong(sound, moto):
    name = f"versioned-{uuid.uuid4()}"
    moto.boto().create_bucket(Bucket=name)
    moto.boto().put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    with FaultProxy(moto.port) as proxy:
        variables = bucket_variables(moto, proxy.url)
        fdl("clone", sound.folder, f"s3://{name}", env=variables)
        proxy.reset()
        doctor(f"s3://{name}", env=variables, code=None)
        asked = next(seen.number for seen in proxy.seen if seen.method == "HEAD" and seen.target.strip("/") == name)
        for minutes, words in ((10, "behind"), (-10, "ahead of")):
            proxy.reset()
            proxy.fault(asked, Answer(200, {"Date": email.utils.formatdate(time.time() + 60 * minutes, usegmt=True)}))
            found = doctor(f"s3://{name}", env=variables, code=None)
            assert found["clock"][0] == "warning" and f" seconds {words} that of s3://{name}/" in found["clock"][1]
            assert abs(int(found["clock"][1].split()[0]) - 600) < 60
            assert "keeps old versions of objects" in found["old states"][1]


def test_credentials_are_told_by_their_source_alone(versitygw, tmp_path):
    file = tmp_path / "credentials"
    file.write_text("[me]\naws_access_key_id = fdl-test\naws_secret_access_key = very-private\naws_session_token = private-too\n")
    versitygw.boto().create_bucket(Bucket="doctored")
    keys = {**bucket_variables(versitygw), "AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "me"}
    without = {**keys, "AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
    answer = fdl("doctor", "s3://doctored", code=FAILURE, env=without)
    assert f"profile 'me' in '{file}', with a session token" in answer.stdout
    assert "private" not in answer.stdout + answer.stderr
    found = doctor("s3://doctored", code=None, env={**without, "AWS_PROFILE": None})
    assert found["credentials"][0] == "warning" and "AWS_ACCESS_KEY_ID" in found["credentials"][1]
    found = doctor("s3://doctored", code=FAILURE, env={**keys, "AWS_SECRET_ACCESS_KEY": None})
    assert found["credentials"][0] == "broken" and "set both" in found["credentials"][1]


# ---- behind a web server --------------------------------------------------------------------------------------------------------


def test_a_web_server_with_manners_and_one_without(sound, tmp_path):
    reads = fdl("attach", sound.address).attach
    for number, (location, health, words) in enumerate(
        [
            ("", "ok", "exact parts of files"),
            ("max_ranges 0;", "warning", "turn range requests on"),
            ("etag off;", "warning", "turn ETags on"),
            ("add_header Content-Encoding gzip;", "broken", "compressed"),
        ]
    ):
        conf = tmp_path / str(number)
        conf.mkdir()
        with Nginx(conf, sound.folder, location) as server:
            answer = fdl("doctor", server.url, "--json", code=None)
            found = {check["name"]: (check["health"], check["detail"]) for check in answer.json["checks"]}
            if "Content-Encoding" in location:
                assert answer.code == FAILURE and found["repository"][0] == "broken" and words in found["repository"][1]
                continue
            assert found["web server"][0] == health and words in found["web server"][1]
            assert found["token"][0] == found["store"][0] == found["clock"][0] == found["newest version"][0] == "ok"
            assert answer.code == OK
            with duck_at({}, reads.replace(sound.address, server.url)) as con:
                assert con.execute("SELECT count(*) FROM lake.t").fetchall() == [(10,)]


def test_the_public_address(sound, tmp_path, served, nginx):
    repo = Repo(served / "lake", "--url", f"{nginx.url}/lake")
    found = doctor(repo.address)
    assert found["public address"] == ("ok", f"'{nginx.url}/lake/' shows this repository")
    assert found["public web server"][0] == "ok"
    found = doctor(f"{nginx.url}/lake")
    assert "public address" not in found and found["web server"][0] == found["clock"][0] == "ok"
    (served / "alias").symlink_to("lake")
    found = doctor(f"{nginx.url}/alias")
    assert found["public address"][0] == found["public web server"][0] == found["web server"][0] == found["clock"][0] == "ok"
    shutil.copytree(sound.folder, served / "other")
    other = Repo(served / "wrong", "--url", f"{nginx.url}/other")
    found = doctor(other.address, code=FAILURE)
    assert found["public address"][0] == "broken" and sound.config()["id"] in found["public address"][1]
    nowhere = Repo(tmp_path / "nowhere", "--url", f"{nginx.url}/nowhere")
    assert doctor(nowhere.address)["public address"][0] == "warning"


def test_a_host_and_the_tokens_for_it(sound, tmp_path):
    tokens = tmp_path / "tokens"
    writer, reader = add_token(tokens, "ada", "write"), add_token(tokens, "bob", "read")
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login x password {writer}\n")
    with Host(sound.folder, "--tokens", tokens) as host:
        for token, home, health, words in (
            (writer, "/nonexistent", "ok", "from FDL_TOKEN"),
            (None, tmp_path, "ok", "from ~/.netrc"),
            (None, "/nonexistent", "missing", "none"),
            (reader, "/nonexistent", "missing", "from FDL_TOKEN"),
        ):
            answer = fdl("doctor", host.url, env={"FDL_TOKEN": token, "HOME": home})
            lines = {line[9:33].strip(): line for line in answer.stdout.splitlines()}
            assert lines["store"].startswith(health + " ") and words in lines["token"] and lines["web server"].startswith("ok ")
            assert writer not in answer.stdout + answer.stderr and reader not in answer.stdout + answer.stderr

