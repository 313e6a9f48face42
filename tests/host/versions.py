"""Versions on their way to a host, file by file, so that a test can hold one back, change one, or lie about one."""

import copy
import hashlib
import json
import uuid
from pathlib import Path

import duckdb
from harness import Lake, text


class Version:
    """A version as the files that a push would send: their bytes by key."""

    def __init__(self, ident, files):
        self.id = ident
        self.files = files

    def key(self, name):
        return f"versions/{self.id}/{name}"

    @property
    def data(self):
        return sorted(key for key in self.files if not key.startswith("versions/"))

    @property
    def record(self):
        return json.loads(self.files[self.key("version.json")])

    def order(self):
        """The keys in the order that protects readers."""
        last = [self.key("dataset.json"), self.key("files.json"), self.key("version.json")]
        return sorted(set(self.files) - set(last)) + [key for key in last if key in self.files]

    def again(self, message=None, **changes):
        """The same content as a version of its own, with fields of its record changed; the caller may spoil more."""
        ident = str(uuid.uuid4())
        files = {key.replace(self.id, ident): data for key, data in self.files.items()}
        made = Version(ident, files)
        record = {**self.record, "id": ident, **copy.deepcopy(changes)}
        if message:
            record["message"] = message
        made.files[made.key("version.json")] = json.dumps(record).encode()
        return made

    def replace(self, name, data, field):
        """Another file in the version's folder, which the record tells truly."""
        record = self.record
        self.files[self.key(name)] = data
        record[field].update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
        if packed := record[field].pop("zstd", None):  # which would be of the old one
            del self.files[self.key(packed["path"])]
        self.files[self.key("version.json")] = json.dumps(record).encode()
        return self

    def change_catalog(self, folder, *statements):
        """The catalog with statements run on its tables; `raw` is its name."""
        path = Path(folder) / f"{uuid.uuid4()}.duckdb"
        path.write_bytes(self.files[self.key("ducklake.duckdb")])
        with duckdb.connect() as con:
            con.execute(f"ATTACH {text(path)} AS raw")
            for statement in statements:
                con.execute(statement)
            con.execute("CHECKPOINT raw")
            con.execute("DETACH raw")
        return self.replace("ducklake.duckdb", path.read_bytes(), "catalog")

    # ---- sending ------------------------------------------------------------------------------------------------

    def upload(self, host, token, keys=None):
        """Sends the files through the host; what is there already is as good."""
        for key in self.order() if keys is None else keys:
            answer = host.ask("PUT", f"/{key}", body=self.files[key], token=token)
            assert answer.status in (200, 201), (key, answer.body)

    def point(self, host, token, ref="refs/heads/main", **headers):
        """Asks for a ref to point to it."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return host.ask("PUT", f"/{ref}", headers, f"{self.id}\n".encode(), token)

    def push(self, host, token, **headers):
        self.upload(host, token)
        return self.point(host, token, **headers)


def snapshot(repo):
    """The bytes of every file of a repository in a folder, by key."""
    return {
        str(path.relative_to(repo.folder)): path.read_bytes()
        for path in sorted(repo.folder.rglob("*"))
        if path.is_file() and ".fdl" not in path.relative_to(repo.folder).parts
    }


class Story:
    """A repository with one version, and versions to come: `second` on it, `left` and `right` on that."""

    def __init__(self, folder):
        lake = Lake(folder)
        lake.checkout()
        lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(100)", message="the first")
        self.first = lake.repo.head()
        self.base = snapshot(lake.repo)
        self.second = self.step(lake, "INSERT INTO lake.t SELECT 1000 + range FROM range(50)", "fifty more")
        self.left = self.second.again("the same once more", parents=[self.second.id], seq=3)
        self.right = self.left.again("the same by somebody else")

    @staticmethod
    def step(lake, statement, message):
        before = set(snapshot(lake.repo))
        ident = lake.publish(statement, message=message)
        new = {key: data for key, data in snapshot(lake.repo).items() if key not in before and not key.startswith("refs")}
        return Version(ident, new)

    def lay_out(self, folder):
        """The repository as it was with its first version, in a folder of its own."""
        for key, data in self.base.items():
            path = Path(folder) / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return Path(folder)

    def lay_out_s3(self, server, bucket):
        """The same in a bucket of its own: its address."""
        boto = server.boto()
        boto.create_bucket(Bucket=bucket)
        for key, data in self.base.items():
            boto.put_object(Bucket=bucket, Key=f"lake/{key}", Body=data)
        return f"s3://{bucket}/lake"
