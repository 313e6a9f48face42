"""The program and DuckDB on repositories in buckets and behind web servers: the same story as in a folder.

What the program prints is pasted into DuckDB as it is.  Requests are counted by the proxy, not timed.
"""

import os
import shlex
import shutil
import subprocess
import time
import uuid
from pathlib import Path

import harness
import pytest
from careless import CarelessProxy
from fault_proxy import FaultProxy
from harness import CONFLICT, FAILURE, NOT_FOUND, OK, USAGE, text
from test_many_versions import history, version_id
from test_s3_remove import keep_versions, versions_of
from test_verify import Damaged, damage, lie, sound  # noqa: F401
from tools import duck_at

ODD_VALUES = ["a b+c", "100%", "ü/é", "AC/DC", "%20", "", None]


class Lake:
    """A repository somewhere, a working catalog from it, and the variables that lead there."""

    def __init__(self, address, folder, variables):
        self.address, self.folder, self.variables = address, Path(folder), variables
        self.work = self.folder / "work.sqlite"

    def fdl(self, *args, code=OK):
        return harness.fdl(*args, code=code, env=self.variables)

    def duck(self, printed):
        """DuckDB with the lines that the program printed, in a process environment that has the credentials."""
        return duck_at(self.variables, *printed.stdout.splitlines())

    def checkout(self, *options):
        self.printed = self.fdl("checkout", self.address, self.work, *options)
        return self.printed

    def write(self, *statements):
        with self.duck(self.printed) as con:
            for statement in statements:
                con.execute(statement).fetchall()

    def commit(self, message="a step", *options, code=OK):
        return self.fdl("commit", self.work, "-m", message, *options, code=code)

    def push(self, *options, code=OK):
        return self.fdl("push", self.work, *options, code=code)

    def publish(self, *statements):
        self.write(*statements)
        self.commit()
        self.push()
        return self.head()

    def head(self):
        return self.fdl("url", self.address, "--json").json["id"]

    def read(self, sql, *revision, address=None):
        with self.duck(self.fdl("attach", address or self.address, *revision)) as con:
            return con.execute(sql).fetchall()


def bucket_variables(server, url=None):
    return {name: value for name, value in server.client_environment(url).items() if name.startswith("AWS_")}


@pytest.fixture
def lake(s3, bucket, tmp_path):
    """An empty repository in a bucket of each server in turn."""
    made = Lake(f"s3://{bucket}/lake", tmp_path, bucket_variables(s3))
    made.fdl("init", made.address)
    made.checkout()
    return made


@pytest.fixture
def counted(versitygw, tmp_path):
    """The same on one server, with a proxy that counts between."""
    bucket = f"counted-{uuid.uuid4()}"
    versitygw.boto().create_bucket(Bucket=bucket)
    with FaultProxy(versitygw.port) as proxy:
        made = Lake(f"s3://{bucket}/lake", tmp_path, bucket_variables(versitygw, proxy.url))
        made.proxy, made.versitygw = proxy, versitygw
        made.direct = Lake(made.address, tmp_path, bucket_variables(versitygw))
        made.fdl("init", made.address)
        made.checkout()
        yield made


# ---- the story ---------------------------------------------------------------------------------------------------


def test_a_bucket_is_written_published_and_read(lake):
    first = lake.publish(
        "CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(1000)", "DELETE FROM lake.t WHERE i < 10"
    )
    second = lake.publish("UPDATE lake.t SET i = -1 WHERE i = 500")
    assert lake.read("SELECT count(*), min(i) FROM lake.t", first) == [(990, 10)]
    assert lake.read("SELECT count(*), min(i) FROM lake.t") == [(990, -1)]
    log = lake.fdl("log", lake.address, "--json").json["versions"]
    assert [version["id"] for version in log] == [second, first]
    lake.fdl("tag", lake.address, "v1", first)
    assert lake.read("SELECT count(*) FROM lake.t", "v1") == [(990,)]
    assert lake.fdl("verify", lake.address, "--all", "--data", "--json").json["findings"] == []


def test_a_withdrawal_takes_the_old_versions_of_what_was_deleted_before_too(moto, tmp_path):
    """In a bucket that keeps versions of objects, what expire and gc delete is only hidden."""
    bucket = f"kept-{uuid.uuid4()}"
    moto.boto().create_bucket(Bucket=bucket)
    keep_versions(moto, bucket)
    lake = Lake(f"s3://{bucket}/lake", tmp_path, bucket_variables(moto))
    lake.fdl("init", lake.address)
    lake.checkout()
    first = lake.publish("CREATE TABLE lake.people AS SELECT 'secret' AS s", "CREATE TABLE lake.towns AS SELECT 1 AS i")
    lake.publish("DROP TABLE lake.people")
    lake.fdl("expire", lake.address, "--keep", "1")
    lake.fdl("gc", lake.address, "--grace", "0s")
    hidden = [key for key in versions_of(moto, bucket) if "/people/" in key or f"/{first}/" in key and ".duckdb" in key]
    assert len(set(hidden)) == 3
    lake.fdl("withdraw", lake.address, first, "--yes")
    assert not set(hidden) & set(versions_of(moto, bucket))
    # So does one that had expired and names a file that goes with another.
    old = lake.publish("CREATE TABLE lake.people AS SELECT 'secret' AS s")
    given = lake.publish("CREATE TABLE lake.more AS SELECT 2 AS i")
    lake.fdl("tag", lake.address, "release", given)
    lake.publish("DROP TABLE lake.people")
    lake.fdl("expire", lake.address, "--keep", "1")
    lake.fdl("withdraw", lake.address, given, "--yes")
    gone = [key for key in versions_of(moto, bucket) if "/people/" in key or (f"/{old}/" in key or f"/{given}/" in key) and ".duckdb" in key]
    assert gone == [] and lake.read("FROM lake.towns") == [(1,)]


def test_a_secret_is_never_printed(lake):
    for answer in (lake.printed, lake.fdl("doctor", lake.address)):
        assert lake.variables["AWS_SECRET_ACCESS_KEY"] not in answer.stdout + answer.stderr


def test_wrong_credentials_are_told_with_their_source_and_without_the_secret(versitygw, tmp_path):
    versitygw.boto().create_bucket(Bucket="locked")
    variables = {**bucket_variables(versitygw), "AWS_SECRET_ACCESS_KEY": "not-the-secret"}
    answer = Lake("s3://locked/lake", tmp_path, variables).fdl("init", "s3://locked/lake", code=FAILURE)
    assert "AWS_ACCESS_KEY_ID" in answer.complaint
    assert "not-the-secret" not in answer.stderr


def test_a_bucket_that_does_not_exist_is_named(versitygw, tmp_path):
    lake = Lake("s3://nowhere-at-all/lake", tmp_path, bucket_variables(versitygw))
    answer = lake.fdl("url", lake.address, code=None)
    assert answer.code != OK
    assert "nowhere-at-all" in answer.complaint


def test_every_spelling_of_an_address_is_one_repository(lake):
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    urls = {lake.fdl("url", spelling).stdout for spelling in (lake.address, lake.address + "/")}
    assert len(urls) == 1


def test_a_repository_at_the_root_of_a_bucket_and_a_neighbour_with_a_longer_name(s3, bucket, tmp_path):
    variables = bucket_variables(s3)
    lakes = [Lake(f"s3://{bucket}/{name}", tmp_path / f"w{n}", variables) for n, name in enumerate(("lake", "lake2"))]
    for lake in lakes:
        lake.folder.mkdir()
        lake.fdl("init", lake.address)
        lake.checkout()
        lake.publish(f"CREATE TABLE lake.t AS SELECT {text(lake.address)} AS me")
    for lake in lakes:
        assert lake.read("FROM lake.t") == [(lake.address,)]
        assert lake.fdl("verify", lake.address, "--all", "--json").json["versions"] == 1
        refs = lake.fdl("branch", lake.address, "--json").json["refs"]
        assert [ref["name"] for ref in refs] == ["main"]


def test_a_repository_may_be_a_whole_bucket(s3, bucket, tmp_path):
    lake = Lake(f"s3://{bucket}", tmp_path, bucket_variables(s3))
    lake.fdl("init", lake.address)
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT 7 AS i")
    assert lake.read("FROM lake.t") == [(7,)]
    assert lake.fdl("verify", f"s3://{bucket}/", "--all", "--json").json["findings"] == []


def test_odd_names_are_the_same_key_in_a_bucket_a_folder_and_a_url(lake, served, nginx):
    values = ", ".join(f"({'NULL' if value is None else text(value)}, {n})" for n, value in enumerate(ODD_VALUES))
    lake.publish(
        "CREATE TABLE lake.p (k VARCHAR, v INT)",
        "ALTER TABLE lake.p SET PARTITIONED BY (k)",
        f"INSERT INTO lake.p VALUES {values}",
        'CREATE TABLE lake."ü b+c" AS SELECT 1 AS i',
    )
    rows = sorted((n, value) for n, value in enumerate(ODD_VALUES))
    copy = served / "copy"
    lake.fdl("clone", lake.address, copy, "--all")
    for address in (lake.address, copy, f"{nginx.url}/copy"):
        assert lake.fdl("verify", address, "--all", "--data", "--json").json["findings"] == []
        assert sorted(lake.read("SELECT v, k FROM lake.p", address=address)) == rows
        assert lake.read('FROM lake."ü b+c"', address=address) == [(1,)]


def test_a_clone_goes_between_any_two_stores_and_copies_only_what_is_new(lake, bucket, tmp_path):
    lake.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    there, back = tmp_path / "there", f"s3://{bucket}/back"
    assert lake.fdl("clone", lake.address, there, "--all", "--json").json["files"] > 3
    lake.publish("INSERT INTO lake.t VALUES (10)")
    assert lake.fdl("clone", lake.address, there, "--all", "--json").json["versions"] == 1
    again = lake.fdl("clone", lake.address, there, "--all", "--json").json
    assert (again["files"], again["bytes"], again["refs"]) == (0, 0, 0)
    lake.fdl("clone", there, back, "--all")
    for address in (there, back):
        assert lake.read("SELECT count(*) FROM lake.t", address=address) == [(11,)]
        assert lake.read("SELECT count(*) FROM lake.t", "HEAD~1", address=address) == [(10,)]
        assert lake.fdl("verify", address, "--all", "--json").json["findings"] == []


def test_a_clone_onto_another_repository_is_refused(lake, tmp_path):
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    lake.fdl("init", tmp_path / "other")
    assert "another repository" in lake.fdl("clone", lake.address, tmp_path / "other", code=CONFLICT).complaint


# ---- behind a web server --------------------------------------------------------------------------------------------


@pytest.fixture
def folder_lake(served):
    """A published folder that nginx serves."""
    made = Lake(served / "lake", served.parent, {})
    made.fdl("init", made.address)
    made.checkout()
    made.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(100)", "DELETE FROM lake.t WHERE i = 3")
    return made


def test_a_web_server_is_enough_to_read(folder_lake, nginx):
    url = f"{nginx.url}/lake"
    version = folder_lake.head()
    folder_lake.fdl("tag", folder_lake.address, "v1")
    assert folder_lake.read("SELECT count(*), sum(i) FROM lake.t", address=url) == [(99, 4947)]
    assert folder_lake.fdl("log", url, "--json").json["versions"][0]["id"] == version
    assert folder_lake.fdl("show", url, "v1", "--json").json["dataset"]["tables"][0]["rows"] == 99
    assert folder_lake.fdl("show", url, version[:13], "--json").json["version"]["id"] == version
    assert [ref["name"] for ref in folder_lake.fdl("tag", url, "--json").json["refs"]] == ["v1"]
    assert "no branch, tag or version" in folder_lake.fdl("url", url, "nothing", code=NOT_FOUND).complaint


def test_the_newest_version_is_read_from_the_ref_though_refs_json_lags(folder_lake, nginx):
    lagging = (folder_lake.address / "refs.json").read_bytes()
    second = folder_lake.publish("INSERT INTO lake.t VALUES (1000)")
    (folder_lake.address / "refs.json").write_bytes(lagging)
    assert second in folder_lake.fdl("url", f"{nginx.url}/lake").stdout
    assert second in folder_lake.fdl("url", f"{nginx.url}/lake", "main").stdout


def test_work_on_a_web_server_is_committed_with_relative_paths_and_refused_in_one_line(folder_lake, nginx, tmp_path):
    web = Lake(f"{nginx.url}/lake", tmp_path / "web", {})
    web.folder.mkdir()
    web.checkout()
    web.write("INSERT INTO lake.t VALUES (7000)", "UPDATE lake.t SET i = -5 WHERE i = 5")
    web.commit()
    pending = next((Path(f"{web.work}.fdl") / "pending").iterdir())
    with harness.duckdb.connect() as con:
        con.execute(f"ATTACH {text(pending / 'ducklake.duckdb')} AS raw (READ_ONLY)")
        for table in ("ducklake_data_file", "ducklake_delete_file"):
            assert con.execute(f"SELECT path FROM raw.{table} WHERE NOT path_is_relative").fetchall() == []
    new = [line for line in (pending / "files.txt").read_text().splitlines() if line.startswith("+")]
    local = Path(f"{web.work}.fdl") / "data"
    assert new and all((local / line.split(" ", 2)[2]).exists() for line in new)
    assert "takes no writes" in web.push(code=FAILURE).complaint
    assert web.fdl("status", web.work, "--json").json["pending"] == [pending.name]


def test_a_checkout_from_a_web_server_and_no_change_is_nothing_to_commit(folder_lake, nginx, tmp_path):
    web = Lake(f"{nginx.url}/lake", tmp_path / "web", {})
    web.folder.mkdir()
    web.checkout()
    assert web.commit("nothing", "--json").json["made"] is False


def test_a_catalog_reads_without_a_data_path_from_the_url_that_fdl_json_gives(served, nginx):
    """The URL is one, whatever the data folder is called."""
    url = f"{nginx.url}/a%20lake"
    lake = Lake(served / "a lake", served.parent, {})
    lake.fdl("init", lake.address, "--url", url, "--data-dir", "the data 100%/ü+é")
    lake.checkout()
    version = lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(100)", "DELETE FROM lake.t WHERE i = 3")
    with duck_at({}, f"ATTACH 'ducklake:{url}/versions/{version}/ducklake.duckdb' AS lake (READ_ONLY)") as con:
        assert con.execute("SELECT count(*), sum(i) FROM lake.t").fetchall() == [(99, 4947)]
        [(said,)] = con.execute("SELECT value FROM __ducklake_metadata_lake.ducklake_metadata WHERE key = 'data_path'").fetchall()
        assert said == f"{url}/the%20data%20100%25/%C3%BC%2B%C3%A9/"
    web = Lake(url, served.parent / "web", {})
    web.folder.mkdir()
    web.checkout()
    assert web.commit("nothing", "--json").json["made"] is False
    web.write("UPDATE lake.t SET i = -5 WHERE i = 5")
    assert web.commit("a step", "--json").json["made"] is True


def test_verify_tells_the_same_faults_in_a_bucket_and_behind_a_web_server(sound, versitygw, served, nginx):  # noqa: F811
    bucket = f"faulty-{uuid.uuid4()}"
    client = versitygw.boto()
    client.create_bucket(Bucket=bucket)
    for harm in (damage, lie):
        repo = Damaged(sound, served / harm.__name__)
        keys = harm(repo)
        for name in repo.contents():
            client.upload_file(str(repo.path(name)), bucket, f"{harm.__name__}/{name}")
        for address, variables in (
            (f"s3://{bucket}/{harm.__name__}", bucket_variables(versitygw)),
            (f"{nginx.url}/{harm.__name__}", {}),
        ):
            there = Lake(address, served.parent, variables)
            assert repo.findings("--all", address=address, run=there.fdl) == keys


# ---- requests -----------------------------------------------------------------------------------------------------------


def test_reading_over_http_costs_few_requests(folder_lake, web_proxy):
    url = f"{web_proxy.url}/lake"
    work = folder_lake.folder / "http.sqlite"
    for most, args in ((4, ("url", url)), (5, ("attach", url)), (6, ("checkout", url, work))):
        web_proxy.reset()
        folder_lake.fdl(*args)
        assert web_proxy.count() <= most, [seen.target for seen in web_proxy.seen]


@pytest.mark.parametrize("order", ["of time", "backwards"])
def test_a_history_is_read_once_in_whatever_order_its_ids_are(counted, tmp_path, order):
    """Versions are read ahead by their ids, which tell the time of clocks that may be wrong."""
    ids = sorted(version_id(number) for number in range(60))
    if order == "backwards":
        ids.reverse()
    repo = history(tmp_path / "repo", ids)
    counted.fdl("expire", repo.address, "--keep", "50")
    repo.version_file(version_id(99)).parent.mkdir()
    repo.version_file(version_id(99)).write_text("of no history, and broken")
    client = counted.versitygw.boto()
    for path in repo.folder.rglob("*"):
        key = f"lake/{path.relative_to(repo.folder)}"
        if path.is_file() and "/.fdl/" not in key:
            client.put_object(Bucket=counted.address.split("/")[2], Key=key, Body=path.read_bytes())
    counted.proxy.reset()
    told = counted.fdl("log", counted.address, "--json").json
    assert told == harness.fdl("log", repo.address, "--json").json and len(told["versions"]) == 60
    assert counted.proxy.count() <= (80 if order == "of time" else 180)


def test_a_local_attach_fetches_the_catalog_once_and_packed_and_proves_it_each_time(folder_lake, web_proxy, tmp_path):
    url, version = f"{web_proxy.url}/lake", folder_lake.head()
    folder_lake.variables = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    kept = tmp_path / "cache" / "fdl" / "catalogs"
    catalog, packed = (folder_lake.address / "versions" / version / name for name in ("ducklake.duckdb", "catalogs/ducklake.duckdb.zst"))
    plain = catalog.read_bytes()

    def attach(code=OK):
        web_proxy.reset()
        return folder_lake.fdl("attach", url, "--local", "--json", code=code)

    def fetched():
        return [seen.target.rpartition("/")[2] for seen in web_proxy.seen if "ducklake.duckdb" in seen.target]

    said = attach().json
    assert fetched() == ["ducklake.duckdb.zst"] and web_proxy.count() == 6, [seen.target for seen in web_proxy.seen]
    assert packed.stat().st_size < len(plain) / 10
    file = Path(said["local"])
    assert file.parent == kept and file.read_bytes() == plain and text(f"ducklake:{file}") in said["attach"]
    web_proxy.reset()
    with duck_at({}, said["attach"]) as con:
        assert con.execute("SELECT count(*), sum(i) FROM lake.t").fetchall() == [(99, 4947)]
    assert fetched() == [] and web_proxy.count(part="/data/") == web_proxy.count() > 0
    assert attach().json == said and fetched() == [] and web_proxy.count() == 5

    file.write_bytes(plain[:-1] + bytes([plain[-1] ^ 1]))
    Path(f"{file}.wal").write_bytes(b"somebody wrote")
    assert attach().json == said and fetched() == ["ducklake.duckdb.zst"]
    assert file.read_bytes() == plain and sorted(path.name for path in kept.iterdir()) == [file.name, "lock"]

    # What nobody asked for in a month goes when something is fetched; two who fetch at once do not meet.
    file.unlink()
    old, young = kept / f"{'0' * 64}.duckdb", kept / f"{'1' * 64}.duckdb"
    for path, days in ((old, 31), (young, 29)):
        path.touch()
        os.utime(path, (0, time.time() - days * 86400))
    command, env = harness.command("attach", url, "--local"), harness.environment(**folder_lake.variables)
    both = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for _ in range(2)]
    assert {process.communicate()[0].decode().strip() for process in both} == {said["attach"]}
    assert file.read_bytes() == plain and not old.exists() and young.exists()

    # A version without a packed catalog is fetched plain; a packed one that is something else is not taken.
    file.unlink()
    size, moved = packed.stat().st_size, packed.rename(tmp_path / "packed")
    assert attach().json == said and fetched() == ["ducklake.duckdb.zst", "ducklake.duckdb"] and file.read_bytes() == plain
    # Nor does one that was fetched stop anybody while the catalog itself is sound: one line tells of it.
    for harm in (moved.read_bytes()[:-9], b"nonsense", zstd(plain + b"x" * 5_000_000), zstd(plain[:-1] + b"?"), zeros(len(plain))):
        file.unlink()
        packed.write_bytes(harm)
        why = "is damaged" if len(harm) <= size else "is larger than"
        told = attach()
        assert told.json == said and fetched() == ["ducklake.duckdb.zst", "ducklake.duckdb"] and file.read_bytes() == plain
        assert told.stderr.count("\n") == 1 and f"{packed.relative_to(folder_lake.address)}' {why}" in told.stderr, told.stderr
    assert "what comes out of it has sha256" in told.stderr
    catalog.write_bytes(b"too")
    file.unlink()
    assert f"{catalog.relative_to(folder_lake.address)}' is damaged: its sha256" in attach(code=FAILURE).json["error"]["message"]
    assert {path.name for path in kept.iterdir()} == {young.name, "lock"}

    # A mirror leaves it out, and whoever verifies that is told; all else reads.
    catalog.write_bytes(plain)
    missing = packed.relative_to(folder_lake.address)
    for number, source in enumerate((url, folder_lake.address) * 2):
        mirror = tmp_path / f"mirror-{number}"
        told = folder_lake.fdl("clone", source, mirror)
        assert told.stderr.count(f"left out: it is missing or damaged in '{source}") == 1, told.stderr
        assert not (mirror / missing).exists() and folder_lake.fdl("clone", source, mirror).stderr == ""
        assert [finding["key"] for finding in folder_lake.fdl("verify", mirror, "--json", code=FAILURE).json["findings"]] == [str(missing)]
        folder_lake.fdl("checkout", mirror, tmp_path / f"{number}.sqlite")
        if number == 1:
            packed.unlink()

    # A cache that others keep, and that we may only read, serves as it is.
    attach()
    cache = shlex.quote(str(kept))
    script = f'export XDG_CACHE_HOME={shlex.quote(str(tmp_path / "cache"))}; mount --bind {cache} {cache}; mount -o remount,bind,ro {cache}; exec "$@"'
    for with_lock in (True, False):
        (kept / "lock").touch() if with_lock else (kept / "lock").unlink()
        told = harness.mounted(script, "attach", url, "--local")
        assert (told.code, told.stdout.strip(), told.stderr) == (OK, said["attach"], ""), told
    file.unlink()
    told = harness.mounted(script, "attach", url, "--local")
    assert told.code == FAILURE and told.complaint.endswith("has no catalog of that version and cannot be written to; set XDG_CACHE_HOME to a folder of yours"), told
    folder_lake.variables = {"XDG_CACHE_HOME": "relative", "HOME": None}
    assert "XDG_CACHE_HOME" in attach(code=USAGE).json["error"]["message"]


def zstd(data):
    """A frame of zstd that holds the bytes as they are."""
    pieces = [data[at : at + 65536] for at in range(0, len(data), 65536)]
    blocks = [(len(piece) << 3 | (piece is pieces[-1])).to_bytes(3, "little") + piece for piece in pieces]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(blocks)


def zeros(length):
    """A frame of zstd that stands for so many."""
    blocks = [(min(131072, length - at) << 3 | 2 | (at + 131072 >= length)).to_bytes(3, "little") + b"\0" for at in range(0, length, 131072)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(blocks)


def test_a_push_costs_the_same_whatever_it_brings_and_whatever_the_history_and_the_refs(counted):
    counted.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)")
    costs = []
    for n in range(3):
        counted.write(*[f"INSERT INTO lake.t VALUES ({i})" for i in range(n + 1)])
        counted.commit()
        counted.proxy.reset()
        counted.push()
        costs.append(counted.proxy.count())
    assert max(costs) <= 14 and len(set(costs)) == 1, costs
    counted.fdl("tag", counted.address, "v1")
    counted.fdl("branch", counted.address, "side", "HEAD~2")
    counted.write("INSERT INTO lake.t VALUES (77)")
    counted.commit()
    counted.proxy.reset()
    counted.push()
    assert counted.proxy.count() <= 14 + 2, [seen.target for seen in counted.proxy.seen]


def test_a_commit_without_news_costs_one_request(counted):
    counted.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    counted.proxy.reset()
    assert counted.commit("again", "--json").json["made"] is False
    assert counted.proxy.count() <= 1


# ---- servers with manners of their own ------------------------------------------------------------------------------------


def test_rows_written_anew_in_a_bucket_are_compared_and_each_file_fetched_once(counted):
    counted.publish(
        "CREATE TABLE lake.t (k INT, v INT)",
        "ALTER TABLE lake.t SET PARTITIONED BY (k)",
        "INSERT INTO lake.t SELECT range % 12, range FROM range(600)",
    )
    counted.write("CREATE TEMP TABLE kept AS FROM lake.t", "DELETE FROM lake.t", "INSERT INTO lake.t FROM kept ORDER BY v DESC")
    counted.proxy.reset()
    assert counted.commit("the same", "--json").json["made"] is False
    fetched = [seen.target for seen in counted.proxy.seen if seen.method == "GET" and ".parquet" in seen.target]
    assert len(fetched) == len(set(fetched)) == 24
    counted.write("UPDATE lake.t SET v = -1 WHERE v = 100")
    assert counted.commit("one row", "--json").json["made"] is True


def test_a_bucket_that_nobody_may_list_answers_403_for_what_is_missing(counted):
    version = counted.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    counted.fdl("tag", counted.address, "v1")
    counted.proxy.reset()
    counted.proxy.fault_next("GET", "expired.json", 403, times=9)
    counted.proxy.fault_next("GET", "refs/heads/v1", 403, times=9)
    assert version in counted.fdl("url", counted.address, "v1").stdout
    counted.proxy.fault_next("HEAD", "00000000-0000", 403)
    assert "permission" in counted.fdl("doctor", counted.address).stdout


def test_a_store_that_ignores_conditions_is_refused_unless_told_otherwise(moto, tmp_path):
    """The proxy takes the conditions away from every write; moto does not mind the signature."""
    moto.boto().create_bucket(Bucket="careless")
    with CarelessProxy(moto.port) as proxy:
        lake = Lake("s3://careless/lake", tmp_path, bucket_variables(moto, proxy.url))
        assert "--unsafe-no-conditions" in lake.fdl("init", lake.address, code=None).complaint
        lake.fdl("url", lake.address, code=NOT_FOUND)
        lake.fdl("init", lake.address, "--unsafe-no-conditions")
        lake.checkout()
        lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
        lake.commit()
        assert "--unsafe-no-conditions" in lake.push(code=None).complaint
        lake.push("--unsafe-no-conditions")
        assert lake.fdl("doctor", lake.address, code=FAILURE).stdout.count("\nbroken ") >= 2


# ---- two at once --------------------------------------------------------------------------------------------------------------


def test_of_sixteen_writers_one_wins_each_round_and_no_work_is_lost(versitygw, tmp_path):
    versitygw.boto().create_bucket(Bucket="raced")
    lake = Lake("s3://raced/lake", tmp_path, bucket_variables(versitygw))
    lake.fdl("init", lake.address)
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    for seq in range(2, 4):
        before = lake.head()
        works = []
        for n in range(16):
            work = tmp_path / f"w{seq}-{n}.sqlite"
            lake.fdl("checkout", lake.address, work)
            lake.fdl("commit", work, "-m", f"writer {n}", "--allow-empty")
            works.append(work)
        env = harness.environment(**lake.variables)
        running = [
            harness.subprocess.Popen(
                harness.command("push", work), env=env, stdout=harness.subprocess.PIPE, stderr=harness.subprocess.PIPE
            )
            for work in works
        ]
        for process in running:
            process.communicate(timeout=harness.PATIENCE_SECONDS)
        codes = sorted(process.returncode for process in running)
        assert codes == [OK] + [CONFLICT] * 15
        log = lake.fdl("log", lake.address, "-n", "2", "--json").json["versions"]
        assert (log[0]["seq"], log[1]["id"]) == (seq, before)
        for work, process in zip(works, running):
            pending = lake.fdl("status", work, "--json").json["pending"]
            assert len(pending) == (0 if process.returncode == OK else 1)
        for work in works:
            work.unlink()
            shutil.rmtree(f"{work}.fdl")
