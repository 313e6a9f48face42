"""verify tells each fault by a line with its key, all of them, and nothing else."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from harness import FAILURE, Lake, Repo, fdl, text
from test_old_readers import ask_for, forge

MISSING = "019a0000-0000-7000-8000-000000000001"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Three versions with a second format and an original; a tag on the first. Never changed."""
    lake = Lake(tmp_path_factory.mktemp("sound"))
    ask_for(lake.repo, "0.3")
    lake.checkout()
    original = lake.folder / "a.csv"
    original.write_text("i\n")
    lake.write("CREATE TABLE lake.t AS SELECT range AS i FROM range(10)", "CREATE TABLE lake.u AS SELECT 1 AS one")
    lake.commit("--source", original)
    lake.write("DELETE FROM lake.t WHERE i = 3")
    lake.commit()
    lake.write("INSERT INTO lake.t VALUES (77)")
    lake.commit()
    lake.push()
    versions = [version["id"] for version in reversed(fdl("log", lake.repo.address, "--json").json["versions"])]
    fdl("tag", lake.repo.address, "v1", versions[0])
    assert fdl("verify", lake.repo.address, "--all", "--data", "--json").json == {
        "versions": 3, "expired": 0, "records": 0, "trusted": 0, "files": 4, "orphans": 0, "findings": []
    }  # fmt: skip
    return lake.repo, versions


class Damaged(Repo):
    """A copy to do harm to, with what verify must say of it."""

    def __init__(self, sound, folder):
        original, self.ids = sound
        self.folder, self.address = Path(folder), str(folder)
        shutil.copytree(original.folder, folder)

    def key(self, number, name="version.json"):
        """Of a file of the first, second or third version."""
        return f"versions/{self.ids[number - 1]}/{name}"

    def file(self, number, name="version.json"):
        return self.folder / self.key(number, name)

    def edit(self, number, **fields):
        record = json.loads(self.file(number).read_text())
        self.file(number).write_text(json.dumps(record | fields))

    def forge(self, number, change=lambda record: None):
        """The record agrees with whatever the files are now."""
        forge(self, self.ids[number - 1], change)

    def sql(self, number, *statements):
        """Changes the tables of a published catalog, and makes its record agree."""
        with duckdb.connect() as con:
            con.execute(f"ATTACH {text(self.file(number, 'ducklake.duckdb'))} AS raw; USE raw")
            for statement in statements:
                con.execute(statement)
        self.forge(number)

    def data_keys(self, table):
        return sorted(f"data/{name}" for name in self.data_files() if name.startswith(f"main/{table}/"))

    def findings(self, *options, address=None, run=fdl):
        said = run("verify", address or self.address, *options, "--json", code=FAILURE).json["findings"]
        assert all("\n" not in finding["message"] for finding in said)
        return sorted(finding["key"] for finding in said)


@pytest.fixture
def repo(sound, tmp_path):
    return Damaged(sound, tmp_path / "repo")


def flip(path):
    """One bit, in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def damage(repo):
    """What a bad disk does, everywhere at once; the keys of it all."""
    [one] = repo.data_keys("u")
    files = repo.data_keys("t")
    flip(repo.file(1, "ducklake.duckdb"))
    repo.file(1, "dataset.json").unlink()
    repo.file(2, "dataset.json").write_text("{}")
    flip(repo.file(2, "catalogs/0.3.duckdb"))
    flip(repo.file(3, "files.json"))
    repo.file(3, "catalogs/0.3.duckdb").unlink()
    flip(repo.file(3, "catalogs/ducklake.duckdb.zst"))
    (repo.folder / one).unlink()
    (repo.folder / files[0]).write_bytes(b"PAR1" * 1000)
    [original] = repo.path("sources").iterdir()
    original.write_text("longer\n")
    return sorted(
        [
            repo.key(1, "ducklake.duckdb"), repo.key(1, "dataset.json"),
            repo.key(2, "dataset.json"), repo.key(2, "catalogs/0.3.duckdb"),
            repo.key(3, "files.json"), repo.key(3, "catalogs/0.3.duckdb"), repo.key(3, "catalogs/ducklake.duckdb.zst"),
            one, files[0], f"sources/{original.name}",
        ]
    )  # fmt: skip


def test_damage_is_told_of_every_file_at_once(repo):
    keys = damage(repo)
    assert repo.findings("--all") == keys
    lines = fdl("verify", repo.address, "--all", code=FAILURE).stdout.splitlines()
    assert len(lines) == len(keys) + 1 and lines[-1].endswith(f", {len(keys)} findings")
    assert all(any(key in line for line in lines) for key in keys), lines


def lie(repo):
    """Files that say something else, under records that agree with them."""
    dataset = repo.dataset(repo.ids[0])
    dataset["tables"][0]["rows"] = 11
    repo.file(1, "dataset.json").write_text(json.dumps(dataset))
    index = json.loads(repo.file(2, "files.json").read_text())
    index["tables"][0]["files"][0]["rows"] = 11
    repo.file(2, "files.json").write_text(json.dumps(index))
    index = json.loads(repo.file(3, "files.json").read_text())
    index["tables"][0]["files"].append(index["tables"][0]["files"][0] | {"path": "data/main/t/more.parquet"})
    repo.file(3, "files.json").write_text(json.dumps(index))
    shutil.copy(repo.file(1, "catalogs/0.3.duckdb"), repo.file(3, "catalogs/0.3.duckdb"))
    for number in (1, 2, 3):
        repo.forge(number)
    return sorted(
        [repo.key(1, "dataset.json"), repo.key(2, "files.json"), repo.key(3, "files.json"), repo.key(3, "catalogs/0.3.duckdb")]
    )


def test_a_lie_is_told_though_the_record_agrees_with_it(repo):
    assert lie(repo) == repo.findings("--all")


def test_a_catalog_that_says_another_thing_of_a_file_or_is_none_is_told(repo):
    """What is beside it is looked at all the same."""
    shared = repo.data_keys("u")
    of_u = "table_id = (SELECT table_id FROM ducklake_table WHERE table_name = 'u')"
    repo.sql(2, f"UPDATE ducklake_data_file SET file_size_bytes = 1 WHERE {of_u}")
    repo.sql(3, f"UPDATE ducklake_data_file SET record_count = 2 WHERE {of_u}")
    repo.file(1, "ducklake.duckdb").write_bytes(b"not a catalog" * 1000)
    repo.forge(1)
    beside = ["dataset.json", "files.json", "catalogs/0.3.duckdb", "catalogs/ducklake.duckdb.zst"]
    of_first = ["ducklake.duckdb", "catalogs/ducklake.duckdb.zst"]
    told = sorted([*(repo.key(number, name) for number in (2, 3) for name in beside), *(repo.key(1, name) for name in of_first)])
    # The first to name the file is asked first; each other claim is looked at too.
    assert repo.findings("--all") == sorted([*told, *shared])
    assert repo.findings("--all", "--data") == sorted([*told, *shared, *shared])
    assert repo.findings("v1") == sorted(repo.key(1, name) for name in of_first)


def test_data_is_read_with_data_alone(repo):
    [one] = repo.data_keys("u")
    path = repo.folder / one
    path.write_bytes(b"x" * path.stat().st_size)
    [original] = repo.path("sources").iterdir()
    original.write_text("j\n")
    assert fdl("verify", repo.address, "--all", "--json").json["findings"] == []
    assert repo.findings("--all", "--data") == sorted([one, f"sources/{original.name}"])


def test_ids_parents_and_seq_are_told(repo):
    repo.edit(1, seq=5)
    repo.edit(3, id=MISSING)
    assert repo.findings("--all") == sorted([repo.key(1), repo.key(2), repo.key(3)])
    repo.edit(1, seq=1, parents=[])
    repo.edit(3, id=repo.ids[2], parents=[MISSING])
    assert repo.findings("--all") == [f"versions/{MISSING}/version.json"]
    repo.edit(3, parents=[repo.ids[1]])
    repo.file(2).write_text("{")
    assert repo.findings("--all") == [repo.key(2)] == repo.findings("main")


def test_refs_are_told(repo):
    repo.path("refs/heads/dangling").write_text(f"{MISSING}\n")
    repo.path("refs/tags/broken").write_text("main\n")
    repo.path("refs/tags/Ignored Name").write_text("by readers\n")
    repo.path("HEAD").write_text("main\n")
    assert repo.findings("--all") == ["HEAD", "refs/heads/dangling", "refs/tags/broken"]


def test_a_refs_json_that_lags_is_told_and_a_push_repairs_it(repo):
    repo.path("refs.json").write_text('{"head": "refs/heads/main", "refs": {}}')
    assert repo.findings("--all") == ["refs.json"]
    repo.path("refs.json").write_text("{")
    assert repo.findings("--all") == ["refs.json"]
    fdl("branch", repo.address, "side")
    fdl("verify", repo.address, "--all")


MARKER = '{"expired_at": "2026-12-01T00:00:00Z", "reason": "retention"}'


def test_expired_versions_have_no_catalog_and_no_ref(repo):
    repo.file(1, "expired.json").write_text(MARKER)
    repo.file(2, "expired.json").write_text("soon")
    catalogs = [repo.key(1, name) for name in ("ducklake.duckdb", "catalogs/ducklake.duckdb.zst", "catalogs/0.3.duckdb")]
    assert repo.findings("--all") == sorted([*catalogs, repo.key(2, "expired.json"), "refs/tags/v1"])
    for key in catalogs:
        (repo.folder / key).unlink()
    repo.file(2, "expired.json").unlink()
    fdl("tag", repo.address, "v1", "-d")
    assert fdl("verify", repo.address, "--all", "--json").json["expired"] == 1


def test_what_no_version_names_is_counted_and_no_fault(repo):
    (repo.data / "main" / "t" / "more.parquet").write_bytes(b"on its way")
    (repo.data / "README").write_bytes(b"not of the lake")
    shutil.copytree(repo.file(1).parent, repo.path("versions", MISSING))
    repo.path("versions", MISSING, "version.json").unlink()
    answer = fdl("verify", repo.address, "--all")
    assert "3 versions, 4 data files (and 1 that no version names), 0 findings" in answer.stdout
    assert f"'versions/{MISSING}/' is the rest of a push that was stopped" in answer.stderr
