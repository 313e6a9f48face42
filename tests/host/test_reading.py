"""Readers: DuckDB itself over HTTP, and what HTTP promises, compared with the files byte for byte."""

import email
import os
import re
import threading
from pathlib import Path

import pytest
from harness import Lake, duck, fdl
from host import Host, wait_for

FOREVER = "public, max-age=31536000, immutable"
ODD_SUM = (30000, sum(range(1, 60000, 2)))


def catalog(repo, version=None):
    return f"/versions/{version or repo.head()}/ducklake.duckdb"


def parts_of(answer):
    """The parts of a multipart/byteranges answer: [(Content-Range, bytes)]."""
    assert answer.headers.get_content_type() == "multipart/byteranges"
    head = f"Content-Type: {answer.headers['Content-Type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + answer.body)
    return [(part["Content-Range"], part.get_payload(decode=True)) for part in message.get_payload()]


# ---- DuckDB ----------------------------------------------------------------------------------------------------------


def read_with_duckdb(url):
    with duck(fdl("attach", url).attach) as con:
        newest = con.execute("SELECT count(*), sum(i) FROM lake.t").fetchone()
    with duck(fdl("attach", url, "HEAD~1").attach) as con:
        assert con.execute("SELECT count(*), min(word) FROM lake.t WHERE i = 7").fetchone()[0] == 1
        assert con.execute("SELECT count(*) FROM lake.t").fetchone()[0] == 60000
    return newest


def test_duckdb_reads_every_version_from_a_folder(reading):
    assert read_with_duckdb(reading.url) == ODD_SUM


def test_duckdb_reads_every_version_from_a_bucket(flights, flights_s3, versitygw, data_file, tmp_path):
    """And the bytes are the file's, in one part, in several, in the order asked for and with overlaps."""
    original = (flights.folder / data_file).read_bytes()
    path = f"/{data_file}"
    with Host(flights_s3, environment=versitygw.client_environment()) as host:
        assert read_with_duckdb(host.url) == ODD_SUM
        fdl("clone", host.url, tmp_path / "mirror", "--all")
        for file in (path for path in flights.folder.rglob("*") if path.is_file() and path.relative_to(flights.folder).parts[0] in ("versions", "data")):
            assert (tmp_path / "mirror" / file.relative_to(flights.folder)).read_bytes() == file.read_bytes()
        whole = host.get(path)
        assert whole.body == original and whole.headers["ETag"].startswith('"')
        middle = host.get(path, Range="bytes=10-2097200")  # longer than the pieces that the host reads
        assert (middle.status, middle.body) == (206, original[10:2097201])
        size = len(original)
        for asked, expected in [("0-0", original[:1]), (f"{size - 1}-", original[-1:]), (f"{size - 5}-{size + 5}", original[-5:]), ("-7", original[-7:])]:
            assert host.get(path, Range=f"bytes={asked}").body == expected, asked
        for asked in (f"{size}-", f"{size}-{size + 1}"):
            assert host.get(path, Range=f"bytes={asked}").headers["Content-Range"] == f"bytes */{size}"
        versitygw.boto().put_object(Bucket="flights", Key="lake/data/empty.parquet", Body=b"")
        for header in ({}, {"Range": "bytes=0-"}, {"Range": "bytes=-5"}):
            empty = host.get("/data/empty.parquet", **header)
            assert (empty.status, empty.body, empty.headers["Content-Length"]) == (200, b"", "0")
        several = host.get(path, Range="bytes=2097100-2097200, 0-1048580,-5")
        assert [bytes_ for _, bytes_ in parts_of(several)] == [original[2097100:2097201], original[:1048581], original[-5:]]
        assert int(several.headers["Content-Length"]) == len(several.body)
        head = host.ask("HEAD", path)
        assert (head.status, head.body, int(head.headers["Content-Length"])) == (200, b"", len(original))
        assert host.get(path, If_None_Match=whole.headers["ETag"]).status == 304
        assert host.get("/data/main/t/none.parquet").error == "not_found"
        assert host.get("/ducklake.duckdb").headers["FDL-Version"] == flights.head()


def test_the_current_catalog_can_be_attached_by_its_short_name(reading, flights):
    with duck(f"ATTACH 'ducklake:{reading.url}ducklake.duckdb' AS lake (READ_ONLY, DATA_PATH '{reading.url}data/', OVERRIDE_DATA_PATH true)") as con:
        assert con.execute("SELECT count(*), sum(i) FROM lake.t").fetchone() == ODD_SUM
    answer = reading.get("/ducklake.duckdb")
    assert answer.body == flights.version_file(flights.head(), "ducklake.duckdb").read_bytes()
    assert answer.headers["FDL-Version"] == flights.head()
    assert answer.headers["ETag"] == f'"{flights.head()}"'
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_current_catalog_changes_its_etag_with_the_branch(lake):
    """So that parts of two versions are never taken for one file."""
    first = lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    with Host(lake.repo.folder) as host:
        etag = host.get("/ducklake.duckdb", Range="bytes=0-9").headers["ETag"]
        assert etag == f'"{first}"'
        second = lake.publish("INSERT INTO lake.t VALUES (2)")
        assert host.get("/ducklake.duckdb", Range="bytes=10-19", If_Match=etag).status == 412
        late = host.get("/ducklake.duckdb", Range="bytes=10-19", If_Range=etag)
        assert (late.status, late.headers["FDL-Version"]) == (200, second)


# ---- ranges -----------------------------------------------------------------------------------------------------------


def test_single_ranges_are_the_bytes_of_the_file(reading, flights, data_file):
    original = (flights.folder / data_file).read_bytes()
    size = len(original)
    for asked, first, last in [
        ("0-0", 0, 0),
        ("0-", 0, size - 1),
        ("5-9", 5, 9),
        ("65530-65550", 65530, 65550),
        (f"{size - 1}-", size - 1, size - 1),
        ("-1", size - 1, size - 1),
        ("-100000", size - 100000, size - 1),
        (f"-{size + 5}", 0, size - 1),
        (f"10-{size + 500}", 10, size - 1),
        (f"7-{'9' * 40}", 7, size - 1),
        (" 5-9 ,", 5, 9),
    ]:
        answer = reading.get(f"/{data_file}", Range=f"bytes={asked}")
        assert (answer.status, answer.headers["Content-Range"]) == (206, f"bytes {first}-{last}/{size}"), asked
        assert answer.body == original[first : last + 1], asked
        assert int(answer.headers["Content-Length"]) == last - first + 1


def test_several_ranges_come_as_asked_for(reading, flights, data_file):
    original = (flights.folder / data_file).read_bytes()
    size = len(original)
    answer = reading.get(f"/{data_file}", Range=f"bytes=100-199,0-9,150-160,{size}-,-3")
    assert answer.status == 206 and int(answer.headers["Content-Length"]) == len(answer.body)
    assert parts_of(answer) == [
        (f"bytes 100-199/{size}", original[100:200]),
        (f"bytes 0-9/{size}", original[:10]),
        (f"bytes 150-160/{size}", original[150:161]),
        (f"bytes {size - 3}-{size - 1}/{size}", original[-3:]),
    ]


def test_ranges_outside_the_file_or_too_many_are_416(reading, flights, data_file):
    size = (flights.folder / data_file).stat().st_size
    for asked in (f"{size}-", f"{size}-{size + 5}", "-0", f"{'9' * 30}-", ",".join(["0-0"] * 65), "0-,0-,0-"):
        answer = reading.get(f"/{data_file}", Range=f"bytes={asked}")
        assert (answer.status, answer.error) == (416, "usage"), asked
        assert answer.headers["Content-Range"] == f"bytes */{size}"


def test_what_is_no_range_is_ignored(reading, flights, data_file):
    size = (flights.folder / data_file).stat().st_size
    for header in ("bytes=9-5", "bytes=", "bytes=a-b", "bytes=1", "lines=1-2", "bytes=1-2;3", "bytes=--5", "bytes 1-2"):
        answer = reading.get(f"/{data_file}", Range=header)
        assert (answer.status, len(answer.body)) == (200, size), header


# ---- conditions, caches, browsers ---------------------------------------------------------------------------------------


def test_a_reader_that_has_it_gets_304(reading, flights):
    path = catalog(flights)
    first = reading.get(path)
    etag, date = first.headers["ETag"], first.headers["Last-Modified"]
    assert re.fullmatch(r'"[^"]+"', etag) and date.endswith(" GMT")
    for headers in (
        {"If-None-Match": etag},
        {"If-None-Match": f'"x", W/{etag}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": date},
        {"If-None-Match": etag, "Range": "bytes=0-1"},
    ):
        answer = reading.ask("GET", path, headers)
        assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", etag), headers
        assert answer.headers["Cache-Control"] == FOREVER
    for headers in ({"If-None-Match": '"x"', "If-Modified-Since": date}, {"If-Modified-Since": "yesterday"}, {"If-Match": etag}):
        assert reading.ask("GET", path, headers).body == first.body, headers
    for headers in ({"If-Match": '"x"'}, {"If-Match": f"W/{etag}"}, {"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}):
        assert reading.ask("GET", path, headers).status == 412, headers


def test_dates_say_nothing_of_what_may_change_within_a_second(reading):
    first = reading.get("/refs/heads/main")
    date, size = first.headers["Last-Modified"], len(first.body)
    assert reading.get("/refs/heads/main", If_Modified_Since=date).body == first.body
    assert len(reading.get("/refs/heads/main", Range="bytes=0-1", If_Range=date).body) == size
    assert reading.get("/refs/heads/main", If_None_Match=first.headers["ETag"]).status == 304
    assert "Last-Modified" not in reading.get("/ducklake.duckdb").headers


def test_a_range_of_another_state_is_not_given(reading, flights):
    path = catalog(flights)
    first = reading.get(path)
    for value, status in [
        (first.headers["ETag"], 206),
        (first.headers["Last-Modified"], 206),
        ('"x"', 200),
        (f'W/{first.headers["ETag"]}', 200),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 200),
    ]:
        answer = reading.get(path, Range="bytes=1-2", If_Range=value)
        assert answer.status == status, value
        assert answer.body == (first.body[1:3] if status == 206 else first.body)


def test_head_is_get_without_the_body(reading, flights, data_file):
    for path in (f"/{data_file}", catalog(flights), "/HEAD", "/refs.json", "/ducklake.duckdb", "/none"):
        get, head = reading.get(path), reading.ask("HEAD", path)
        assert head.body == b"" and head.status == get.status
        for name in ("Content-Length", "Content-Type", "ETag", "Last-Modified", "Cache-Control", "FDL-Version"):
            assert head.headers[name] == get.headers[name], (path, name)
    assert reading.ask("HEAD", "/HEAD", {"Range": "bytes=0-1"}).status == 200


def test_caches_keep_for_ever_what_never_changes_and_nothing_else(lake):
    version = lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    fdl("tag", lake.repo.address, "v1")
    folder = lake.repo.version_file(version).parent
    (folder / "preview.png").write_bytes(b"png")
    (folder / "page.html").write_text("<script>")
    (folder / "version.json.sig").write_text("signature\n")
    (folder / "expired.json").write_text("{}")
    data = next(lake.repo.data.rglob("*.parquet")).relative_to(lake.repo.folder)
    with Host(lake.repo.folder) as host:
        for path, cache, kind in [
            (f"/{data}", FOREVER, "application/vnd.apache.parquet"),
            (f"/versions/{version}/ducklake.duckdb", FOREVER, "application/octet-stream"),
            (f"/versions/{version}/version.json", FOREVER, "application/json"),
            (f"/versions/{version}/dataset.json", FOREVER, "application/json"),
            (f"/versions/{version}/files.json", FOREVER, "application/json"),
            (f"/versions/{version}/version.json.sig", "no-store", "text/plain"),
            (f"/versions/{version}/expired.json", "no-store", "application/json"),
            (f"/versions/{version}/preview.png", "no-store", "image/png"),
            (f"/versions/{version}/page.html", "no-store", "application/octet-stream"),
            ("/fdl.json", "no-cache", "application/json"),
            ("/HEAD", "no-store", "text/plain"),
            ("/refs/heads/main", "no-store", "text/plain"),
            ("/refs/tags/v1", "no-store", "text/plain"),
            ("/refs.json", "no-store", "application/json"),
        ]:
            answer = host.get(path)
            assert (answer.status, answer.headers["Cache-Control"], answer.headers.get_content_type()) == (200, cache, kind), path
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "Content-Encoding" not in answer.headers


def test_a_browser_may_read_from_anywhere(reading):
    asked = reading.ask("OPTIONS", "/HEAD", {"Origin": "https://example.org", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"})
    assert (asked.status, asked.body) == (204, b"")
    assert asked.headers["Access-Control-Allow-Origin"] == "*"
    assert asked.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert "Range" in asked.headers["Access-Control-Allow-Headers"]
    for path in ("/HEAD", "/none"):
        answer = reading.get(path, Origin="https://example.org")
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert {"ETag", "Content-Range", "FDL-Version"} <= set(answer.headers["Access-Control-Expose-Headers"].split(", "))


# ---- what is not served -------------------------------------------------------------------------------------------------


def test_only_the_layout_is_served(tmp_path, lake):
    """Whatever else lies in the folder is not there, nor is what a symlink leads to."""
    version = lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    root = lake.repo.folder
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.parquet").write_text("secret")
    for name in (".fdl/lock", ".git/config", "notes.txt", "work.sqlite", "refs/other/x", "versions/x/version.json", "sources/name", "data/x.wal",
                 f"versions/{version}/ducklake.duckdb.wal", "refs/heads/a.lock", "refs/requests/01", "database"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("secret")
    (root / "data" / "link.parquet").symlink_to(tmp_path / "secret")
    (root / "data" / "inner.parquet").symlink_to("x.wal")
    (root / "data" / "folder").symlink_to(tmp_path / "outside")
    (root / "refs" / "heads" / "evil").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "data" / "pipe.parquet")
    with Host(root) as host:
        for path in ("/.fdl/lock", "/.git/config", "/notes.txt", "/work.sqlite", "/refs/other/x", "/versions/x/version.json", "/sources/name",
                     "/data/x.wal", f"/versions/{version}/ducklake.duckdb.wal", f"/versions/{version}", "/refs/heads/a.lock", "/refs/requests/01",
                     "/data", "/database", "/data/link.parquet", "/data/inner.parquet", "/data/folder/x.parquet", "/refs/heads/evil",
                     "/data/pipe.parquet", "/data/main", "/data/main/t", "/ducklake.duckdb.wal", "/refs", "/versions"):
            answer = host.get(path)
            assert (answer.status, b"secret" in answer.body) in ((404, False), (405, False)), path
            assert answer.error in ("not_found", "unsupported") and answer.headers.get_content_type() == "application/json"


def kept_open(host, file):
    """Descriptors of the host that lead to the file, whatever its name is now."""
    number = os.stat(file).st_ino
    found = 0
    for link in Path(f"/proc/{host.process.pid}/fd").iterdir():
        try:
            found += link.stat().st_ino == number
        except FileNotFoundError:
            pass
    return found


def test_a_file_that_is_kept_open_is_answered_only_while_it_is_the_one_in_the_folder(tmp_path, lake):
    """However it came to be another: by a rename as fdl does it, by an editor in place, by being removed or led elsewhere."""
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    ref, spare = lake.repo.folder / "refs" / "heads" / "main", tmp_path / "spare"
    path, old = "/refs/heads/main", ref.read_text()
    ids = [f"019a2f10-0c4d-7e88-a1b2-55c0d9e3f7{n:02x}\n" for n in range(60)]

    def settle(host):
        """A file is kept once its times are old enough to tell the next change."""
        wait_for("being kept", lambda: host.get(path).body and kept_open(host, ref) == 1)

    with Host(lake.repo.folder) as host:
        settle(host)
        for text in ids:
            spare.write_text(text)
            os.replace(spare, ref)
            assert host.get(path).body.decode() == text
        settle(host)
        tags = {host.get(path).headers["ETag"]}
        for text in ids:  # as many bytes, the same file, at once
            ref.write_text(text)
            answer = host.get(path)
            assert answer.body.decode() == text
            tags.add(answer.headers["ETag"])
        assert len(tags) == len(ids)
        settle(host)
        assert host.get(path, **{"If-None-Match": host.get(path).headers["ETag"]}).status == 304
        ref.rename(spare)
        assert host.get(path).status == 404
        ref.symlink_to(spare)
        assert host.get(path).status == 404
        ref.unlink()
        ref.write_text(old)
        assert host.get(path).body.decode() == old
        settle(host)
        for n in range(200):  # more than are kept
            (ref.parent / f"b{n}").write_text(ids[n % len(ids)])
            assert host.get(f"/refs/heads/b{n}").body.decode() == ids[n % len(ids)]
        wait_for("files with old times", lambda: all(host.get(f"/refs/heads/b{n}").status == 200 for n in range(200)) and kept_open(host, ref.parent / "b199") == 1)
        assert sum(kept_open(host, ref.parent / f"b{n}") for n in range(200)) <= 64
        assert host.get(path).body.decode() == old


def test_the_data_folder_may_lie_on_another_disk(tmp_path):
    lake = Lake(tmp_path)
    (tmp_path / "disk").mkdir()
    (lake.repo.folder / "data").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "empty.parquet").touch()
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    (tmp_path / "disk" / "evil.parquet").symlink_to("/etc/passwd")
    with Host(lake.repo.folder) as host:
        for file in lake.repo.data.rglob("ducklake-*.parquet"):
            assert host.get(f"/data/{file.relative_to(lake.repo.data)}").body == file.read_bytes()
        assert host.get("/data/evil.parquet").status == 404
        for header in ({}, {"Range": "bytes=0-"}, {"Range": "bytes=-5"}):
            empty = host.get("/data/empty.parquet", **header)
            assert (empty.status, empty.body, empty.headers["Content-Length"]) == (200, b"", "0")


def test_names_are_decoded_once(tmp_path, lake):
    """A key is bytes: what is escaped on the way is not escaped in the folder."""
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    for name in ("a b+c.parquet", "100%.parquet", "%20.parquet", "ü&é.parquet", "x=?y#z.parquet"):
        (lake.repo.data / name).write_text(name)
    with Host(lake.repo.folder) as host:
        for path, name in [
            ("/data/a%20b+c.parquet", "a b+c.parquet"),
            ("/data/100%25.parquet", "100%.parquet"),
            ("/data/%2520.parquet", "%20.parquet"),
            ("/data/%C3%BC%26%c3%a9.parquet", "ü&é.parquet"),
            ("/data/x%3D%3Fy%23z.parquet", "x=?y#z.parquet"),
            ("/%64ata/a%20b%2bc.parquet?once=1", "a b+c.parquet"),
        ]:
            assert host.get(path).body.decode() == name, path
        assert host.get("/data/a+b+c.parquet").status == 404


@pytest.mark.parametrize("readers", [16])
def test_many_readers_at_once_get_the_same(reading, flights, data_file, readers):
    original = (flights.folder / data_file).read_bytes()
    wrong = []

    def read(number):
        connection = reading.connection()
        for step in range(10):
            first = (number * 7919 + step * 104729) % (len(original) - 1000)
            connection.request("GET", f"/{data_file}", headers={"Range": f"bytes={first}-{first + 999}"})
            if connection.getresponse().read() != original[first : first + 1000]:
                wrong.append((number, step))
            connection.request("GET", ("/metrics", "/refs.json", "/")[(number + step) % 3])
            if (answer := connection.getresponse()).status != 200 or not answer.read():
                wrong.append((number, step, answer.status))
        connection.close()

    threads = [threading.Thread(target=read, args=(number,)) for number in range(readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
