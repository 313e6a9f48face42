"""What a version carries beside its catalog: the index of its files, originals, a signature."""

import json
import os
import re
import shutil
import subprocess
from hashlib import sha256

from harness import FAILURE, NOT_FOUND, REFUSED, USAGE, Lake, fdl, text, traced

# ---- files.json --------------------------------------------------------------------------------------------------------


def index_of(repo, version):
    """What files.json must be, by the plain tables of the catalog and of nothing else."""
    data_dir = repo.config().get("data_dir", "data/")
    path = lambda file: (  # noqa: E731
        f"CASE WHEN {file}.path IS NULL THEN NULL ELSE {text(data_dir)} || s.path || t.path || {file}.path END"
    )
    rows = repo.frozen(
        version,
        f"""SELECT s.schema_name, t.table_name, {path("d")}, d.file_size_bytes, d.record_count,
                   {path("x")}, x.file_size_bytes, x.delete_count, d.end_snapshot IS NOT NULL OR x.end_snapshot IS NOT NULL
            FROM raw.ducklake_schema s JOIN raw.ducklake_table t USING (schema_id)
            LEFT JOIN raw.ducklake_data_file d ON d.table_id = t.table_id
            LEFT JOIN raw.ducklake_delete_file x ON x.data_file_id = d.data_file_id
            WHERE s.end_snapshot IS NULL AND t.end_snapshot IS NULL""",
    )
    tables = {}
    for schema, table, name, size, count, delete, delete_size, deleted, ended in rows:
        files = tables.setdefault((schema, table), [])
        entry = {"path": name, "bytes": size, "rows": count}
        if delete:
            entry["delete"] = {"path": delete, "bytes": delete_size, "rows": deleted}
        if ended:
            entry["ended"] = True
        if name:
            files.append(entry)
    by_name = lambda entry: (entry.get("ended", False), entry["path"], entry.get("delete", {}).get("path", ""))  # noqa: E731
    return [
        {"schema": schema, "name": table, "files": sorted(files, key=by_name)}
        for (schema, table), files in sorted(tables.items())
    ]


def listed(repo, version):
    """files.json as it lies there, proved by the record."""
    record = repo.record(version)["files"]
    data = repo.version_file(version, record["path"]).read_bytes()
    assert (record["path"], record["bytes"], record["sha256"]) == ("files.json", len(data), sha256(data).hexdigest())
    document = json.loads(data)
    assert list(document) == ["tables"]
    return document["tables"]


ODD_TABLE = 'lake.s."a ""t"" ü/1"'

FILES = [
    "CREATE TABLE lake.t AS SELECT range AS i FROM range(100)",
    "INSERT INTO lake.t SELECT range FROM range(100, 120)",
    "DELETE FROM lake.t WHERE i % 10 = 3",
    "DELETE FROM lake.t WHERE i % 10 = 4",
    "CREATE TABLE lake.empty (i INT)",
    "CREATE TABLE lake.parts (k VARCHAR, i INT)",
    "ALTER TABLE lake.parts SET PARTITIONED BY (k)",
    "INSERT INTO lake.parts SELECT 'k' || range % 3, range FROM range(9)",
    "CREATE SCHEMA lake.s",
    f"CREATE TABLE {ODD_TABLE} AS SELECT 1 AS i",
    "CREATE VIEW lake.v AS SELECT i FROM lake.t",
    "CREATE TABLE lake.gone AS SELECT 1 AS i",
    "DROP TABLE lake.gone",
]


def test_files_json_is_what_the_catalog_says_by_table(tmp_path):
    lake = Lake(tmp_path, "--data-dir", "the data")
    lake.checkout()
    version = lake.publish(*FILES)
    found = listed(lake.repo, version)
    assert found == index_of(lake.repo, version)
    assert [(table["schema"], table["name"], len(table["files"])) for table in found] == [
        *(("main", "empty", 0), ("main", "parts", 3), ("main", "t", 2), ("s", 'a "t" ü/1', 1)),
    ]
    [first, second] = [file["rows"] - file["delete"]["rows"] for file in found[2]["files"]]
    assert sorted([first, second]) == [16, 80]
    on_disk = {f"the data/{name}": (lake.repo.data / name).stat().st_size for name in lake.repo.data_files()}
    for table in found:
        for file in table["files"]:
            for entry in [file, *([file["delete"]] if "delete" in file else [])]:
                assert on_disk[entry["path"]] == entry["bytes"]


def test_files_json_names_a_file_once_where_no_row_was_deleted(lake):
    version = lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)")
    assert listed(lake.repo, version) == index_of(lake.repo, version)


def test_files_json_lists_files_of_kept_snapshots_as_ended(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(100)")
    lake.write(
        "INSERT INTO lake.t SELECT range FROM range(100, 110)",
        "DELETE FROM lake.t WHERE i = 3",
        "DELETE FROM lake.t WHERE i = 4",
        "DELETE FROM lake.t WHERE i >= 100",
    )
    lake.commit("--keep-snapshots", "--push")
    version = lake.repo.head()
    found = listed(lake.repo, version)
    assert found == index_of(lake.repo, version)
    assert [file.get("ended", False) for file in found[0]["files"]].count(True) >= 1
    fdl("verify", lake.repo.address)


WITHOUT_DUCKDB = {"FDL_LIBDUCKDB": "/nowhere/libduckdb.so"}


def test_clone_and_a_repeated_one_open_no_catalog(published):
    """All that a mirror needs to know stands in files.json: DuckDB is not even there."""
    repo, mirror = published.repo, published.folder / "mirror"
    first = repo.head()
    fdl("clone", repo.address, mirror, env=WITHOUT_DUCKDB)
    published.publish("DELETE FROM lake.t WHERE i = 5", "INSERT INTO lake.t VALUES (77)")
    again = fdl("clone", repo.address, mirror, "--json", env=WITHOUT_DUCKDB).json
    assert (again["versions"], again["refs"]) == (1, 1)
    for name, digest in repo.contents().items():
        assert sha256((mirror / name).read_bytes()).hexdigest() == digest, name
    # Without the index the catalog is asked.
    record = repo.record(first)
    del record["files"]
    repo.version_file(first).write_text(json.dumps(record))
    repo.version_file(first, "files.json").unlink()
    other = published.folder / "other"
    assert "duckdb" in fdl("clone", repo.address, other, "--all", env=WITHOUT_DUCKDB, code=None).stderr
    fdl("clone", repo.address, other, "--all")
    fdl("verify", other, "--all", "--data")


def test_a_clone_does_not_believe_an_index_that_its_record_does_not_prove(published):
    version = published.repo.head()
    path = published.repo.version_file(version, "files.json")
    path.write_text(json.dumps({"tables": []}))
    said = fdl("clone", published.repo.address, published.folder / "mirror", code=FAILURE).complaint
    assert f"versions/{version}/files.json" in said
    assert not (published.folder / "mirror" / "versions" / version / "version.json").exists()


# ---- originals ---------------------------------------------------------------------------------------------------------


def digest(data):
    return sha256(data).hexdigest()


def sources(repo, version=None):
    return repo.dataset(version or repo.head()).get("sources")


def test_an_original_is_kept_once_whatever_lists_it_and_carried_over(published):
    repo, folder = published.repo, published.folder
    (folder / "a.csv").write_bytes(b"i\n1\n")
    (folder / "copy.csv").write_bytes(b"i\n1\n")
    (folder / ("n" * 251 + ".csv")).write_bytes(b"long\n")
    (folder / "empty").write_bytes(b"")
    given = [folder / name for name in ("a.csv", "copy.csv", "n" * 251 + ".csv", "empty")]
    published.commit(*[word for path in given for word in ("--source", path)], "--push")
    first = [
        {"name": path.name, "bytes": path.stat().st_size, "sha256": digest(path.read_bytes())} for path in given
    ]
    assert sources(repo) == first
    assert list(repo.dataset(repo.head()))[-2:] == ["sources", "tables"]
    kept = {path.name: path.read_bytes() for path in repo.path("sources").iterdir()}
    assert sorted(kept) == sorted({entry["sha256"] for entry in first})
    assert all(digest(data) == name for name, data in kept.items())
    # The same bytes again are no news; carried over by a version that does not speak of them.
    assert published.commit("--source", given[0], "--json").json["made"] is False
    untouched = {path: path.stat().st_mtime_ns for path in repo.path("sources").iterdir()}
    published.publish("INSERT INTO lake.t VALUES (10)")
    assert sources(repo) == first
    # New bytes of the same name take its place; what else is said of it stays.
    described = folder / "dataset.json"
    described.write_text(json.dumps({"sources": [first[0] | {"url": "https://example.org/a.csv", "note": "ours"}]}))
    published.commit("--dataset", described, "--push")
    assert [source["name"] for source in sources(repo)] == ["a.csv"]
    given[0].write_bytes(b"i\n2\n")
    published.commit("--source", given[0], "--push")
    changed = {"bytes": 4, "sha256": digest(b"i\n2\n")}
    assert sources(repo) == [first[0] | {"url": "https://example.org/a.csv", "note": "ours"} | changed]
    assert {path: path.stat().st_mtime_ns for path in untouched} == untouched
    assert len(list(repo.path("sources").iterdir())) == 4
    shown = fdl("show", repo.address).stdout
    assert f"sources    a.csv, 4 bytes, sha256 {changed['sha256']}" in shown
    fdl("verify", repo.address, "--all", "--data")
    # gc leaves them; withdraw deletes the one it is told to.
    fdl("gc", repo.address, "--grace", "0d")
    assert len(list(repo.path("sources").iterdir())) == 4
    fdl("withdraw", repo.address, "--source", first[0]["sha256"], "--yes")
    assert not repo.path("sources", first[0]["sha256"]).exists() and len(list(repo.path("sources").iterdir())) == 3
    fdl("verify", repo.address, "--all", "--data")


def test_originals_are_there_before_the_catalog_and_are_created_only(published):
    original = published.folder / "a.csv"
    original.write_bytes(b"i\n1\n")
    name = digest(b"i\n1\n")
    published.write("INSERT INTO lake.t VALUES (10)")
    published.commit("--source", original)
    [version] = published.pending()
    # The same bytes came to the repository meanwhile by another hand: they stay, whoever wrote them.
    answer, trace = traced(["-e", "trace=link,linkat,rename,renameat,renameat2", "-s4096"], "push", published.work)
    assert answer.code == 0
    places = [trace.index(f"sources/{name}"), trace.index(f"{version}/ducklake.duckdb"), trace.index(f"{version}/version.json")]
    assert places == sorted(places)
    [line] = [line for line in trace.splitlines() if f"/sources/{name}\"" in line and " = 0" in line]
    assert "RENAME_NOREPLACE" in line or "link" in line


def test_what_cannot_be_kept_makes_no_version(published):
    folder = published.folder
    published.write("INSERT INTO lake.t VALUES (10)")
    os.mkfifo(folder / "pipe")
    (folder / "a.csv").write_bytes(b"x")
    (folder / "more").mkdir()
    (folder / "more" / "a.csv").write_bytes(b"y")
    for path, code, said in (
        (folder / "missing.csv", NOT_FOUND, "no such file"),
        (folder / "more", FAILURE, "not a file"),
        (folder / "pipe", FAILURE, "not a file"),
        ("/dev/zero", FAILURE, "not a file"),
        (folder / ("n" * 300), FAILURE, "name too long"),
        (f"{folder}/", USAGE, "has no name"),
    ):
        complaint = published.commit("--source", folder / "a.csv", "--source", path, code=code).complaint
        assert said in complaint and f"'{path}'" in complaint
    twice = published.commit("--source", folder / "a.csv", "--source", folder / "more" / "a.csv", code=USAGE).complaint
    assert "same name" in twice
    described = folder / "dataset.json"
    described.write_text(json.dumps({"sources": [{"name": "a"}, {"name": "b", "sha256": "A" * 64}]}))
    assert "'sources[1].sha256' is not 64 hex digits" in published.commit("--dataset", described, code=REFUSED).complaint
    assert published.pending() == [] and not (published.state / "new").exists()
    assert not published.repo.path("sources").exists()


def test_a_clone_takes_originals_along_when_asked(published):
    repo, folder = published.repo, published.folder
    (folder / "a.csv").write_bytes(b"1\n")
    (folder / "b.csv").write_bytes(b"2\n")
    published.commit("--source", folder / "a.csv", "--source", folder / "b.csv", "--push")
    repo.path("sources", digest(b"2\n")).unlink()  # withdrawn
    mirror = folder / "mirror"
    fdl("clone", repo.address, mirror)
    assert not (mirror / "sources").exists()
    said = fdl("clone", repo.address, mirror, "--sources").stderr
    assert "original 'b.csv'" in said and "original 'a.csv'" not in said
    assert [path.name for path in (mirror / "sources").iterdir()] == [digest(b"1\n")]
    repo.path("sources", digest(b"1\n")).write_bytes(b"9\n")
    assert "damaged" in fdl("clone", repo.address, folder / "other", "--sources", code=FAILURE).complaint
    [finding] = fdl("verify", repo.address, "--data", "--json", code=FAILURE).json["findings"]
    assert finding["key"] == "sources/" + digest(b"1\n")


# ---- signatures ----------------------------------------------------------------------------------------------------------


def keygen(*args):
    subprocess.run(["ssh-keygen", "-q", *map(str, args)], check=True, capture_output=True)


def new_key(path, passphrase=""):
    keygen("-t", "ed25519", "-N", passphrase, "-C", path.name, "-f", path)
    return path


def allow(path, **who):
    """A file of allowed signers: names with options to keys."""
    path.write_text("".join(f"{name} {key}\n" for name, key in who.items()))
    return path


def public(key):
    return key.with_name(key.name + ".pub").read_text().strip()


def fingerprint(key):
    said = subprocess.run(["ssh-keygen", "-l", "-f", f"{key}.pub"], check=True, capture_output=True, text=True).stdout
    return re.search(r"SHA256:\S+", said).group(0)


def signature(repo, *options):
    return fdl("show", repo.address, *options, "--json").json["signature"]


def verified(repo, *options, code=FAILURE):
    found = fdl("verify", repo.address, *options, "--json", code=code).json
    return [finding["key"] for finding in found["findings"]], found["trusted"]


def test_a_signature_is_good_unknown_bad_or_not_there(published):
    repo, folder = published.repo, published.folder
    key, other = new_key(folder / "ada"), new_key(folder / "eve")
    nobody = allow(folder / "nobody", eve=public(other))
    allowed = allow(folder / "allowed", **{"ada@example.org": public(key), "eve": public(other)})
    unsigned = repo.head()
    published.write("INSERT INTO lake.t VALUES (10)")
    published.commit("--sign", key, "--push")
    version = repo.head()
    path = repo.version_file(version, "version.json.sig")
    # The rest of the world can check it, with nothing of ours.
    for words in (
        ["find-principals", "-s", path, "-f", allowed],
        ["verify", "-n", "fdl-version", "-f", allowed, "-I", "ada@example.org", "-s", path],
    ):
        subprocess.run(
            ["ssh-keygen", "-Y", *map(str, words)], input=repo.version_file(version).read_bytes(), check=True, capture_output=True
        )
    ours = f"ED25519 key {fingerprint(key)}"
    assert signature(repo, "--allowed-signers", allowed) == {"state": "good", "principal": "ada@example.org", "key": ours}
    unknown = {"state": "unknown", "key": ours}
    assert signature(repo) == unknown | {"reason": "nobody said whom to trust; give --allowed-signers"}
    assert signature(repo, "--allowed-signers", nobody) == unknown | {"reason": f"'{nobody}' does not list its key"}
    assert signature(repo, unsigned, "--allowed-signers", allowed)["state"] == "unsigned"
    shown = fdl("show", repo.address, "--allowed-signers", allowed).stdout
    assert f"signature  good: ada@example.org, {ours}\n" in shown
    # With --allowed-signers each version must be signed by one of them.
    keys = {name: f"versions/{name}/version.json.sig" for name in (version, unsigned)}
    assert verified(repo, "--allowed-signers", allowed, code=0) == ([], 1)
    assert verified(repo, "--allowed-signers", allowed, "--all") == ([keys[unsigned]], 1)
    assert verified(repo, "--allowed-signers", nobody) == ([keys[version]], 0)
    assert verified(repo, "--all", code=0) == ([], 0)
    # Keys that fdl.json lists are expected, and trusted by nobody.
    repo.path("fdl.json").write_text(json.dumps(repo.config() | {"signers": [f"ada@work {public(key)}"]}))
    assert signature(repo)["expected"] == "ada@work" and signature(repo)["state"] == "unknown"
    assert "fdl.json lists this key as 'ada@work', which proves nothing" in fdl("show", repo.address).stdout
    assert verified(repo, "--allowed-signers", nobody) == ([keys[version]], 0)
    # A mirror carries it; of another version, or for another purpose, it is bad.
    fdl("clone", repo.address, folder / "mirror")
    assert fdl("show", folder / "mirror", "--allowed-signers", allowed, "--json").json["signature"]["state"] == "good"
    shutil.copy(path, repo.version_file(unsigned, "version.json.sig"))
    assert signature(repo, unsigned, "--allowed-signers", allowed)["state"] == "bad"
    assert verified(repo, "--all") == ([keys[unsigned]], 0)
    repo.version_file(unsigned, "version.json.sig").unlink()
    keygen("-Y", "sign", "-n", "git", "-f", key, repo.version_file(unsigned))
    assert signature(repo, unsigned, "--allowed-signers", allowed)["state"] == "bad"
    for garbage in (b"", b"no signature\n", b"x" * 100_000, path.read_bytes()[:100]):
        path.write_bytes(garbage)
        assert signature(repo, "--allowed-signers", allowed)["state"] == "bad"
        assert verified(repo) == ([keys[version]], 0)
    fdl("show", repo.address, "--allowed-signers", folder / "missing", code=NOT_FOUND)
    fdl("verify", repo.address, "--allowed-signers", folder / "missing", code=NOT_FOUND)


def test_an_agent_signs_what_it_has_the_key_of(published):
    folder = published.folder
    key = new_key(folder / "ada", "secret words")
    agent = subprocess.run(["ssh-agent", "-s"], check=True, capture_output=True, text=True).stdout
    socket = re.search(r"SSH_AUTH_SOCK=([^;]+)", agent).group(1)
    pid = int(re.search(r"SSH_AGENT_PID=(\d+)", agent).group(1))
    ask = folder / "ask"
    ask.write_text("#!/bin/sh\necho 'secret words'\n")
    ask.chmod(0o700)
    asked = {"SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": "none"}
    try:
        subprocess.run(
            ["ssh-add", "-q", str(key)], check=True, capture_output=True, env=os.environ | asked | {"SSH_AUTH_SOCK": socket}
        )
        published.write("INSERT INTO lake.t VALUES (10)")
        key.unlink()
        published.commit("--sign", f"{key}.pub", "--push", env={"SSH_AUTH_SOCK": socket})
    finally:
        os.kill(pid, 15)
    allowed = allow(folder / "allowed", ada=public(key))
    assert signature(published.repo, "--allowed-signers", allowed)["state"] == "good"


def test_what_cannot_sign_makes_no_version(published):
    folder = published.folder
    locked = new_key(folder / "locked", "right")
    published.write("INSERT INTO lake.t VALUES (10)")
    wrong = folder / "ask"
    wrong.write_text("#!/bin/sh\necho wrong\n")
    wrong.chmod(0o700)
    tools = folder / "tools"  # a machine without OpenSSH
    tools.mkdir()
    (tools / "env").symlink_to(shutil.which("env"))
    nobody = {"SSH_AUTH_SOCK": None, "SSH_ASKPASS": str(wrong), "SSH_ASKPASS_REQUIRE": "force"}
    assert "passphrase" in published.commit("--sign", locked, env=nobody, code=FAILURE).complaint
    assert "install OpenSSH" in published.commit("--sign", locked, env={"PATH": str(tools)}, code=FAILURE).complaint
    assert "no such file" in published.commit("--sign", folder / "missing", code=NOT_FOUND).complaint
    assert published.pending() == [] and not (published.state / "new").exists()
    # Where nothing can judge a signature, only who asks for one is stopped.
    published.commit("--sign", new_key(folder / "open"), "--push")
    allowed = allow(folder / "allowed", open=public(folder / "open"))
    assert "signatures are not looked at" in fdl("verify", published.repo.address, env={"PATH": str(tools)}).stderr
    fdl("verify", published.repo.address, "--allowed-signers", allowed, env={"PATH": str(tools)}, code=FAILURE)
