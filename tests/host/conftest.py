"""The repositories behind the hosts of this folder. Those that a test only reads are made once."""

import sys
from pathlib import Path

import pytest

for folder in ("support", "e2e"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from harness import Lake, Repo, fdl  # noqa: E402
from host import Host, add_token  # noqa: E402
from servers import Versitygw  # noqa: E402
from versions import Story  # noqa: E402


@pytest.fixture(scope="session")
def flights(tmp_path_factory):
    """A repository with two versions of a table whose file is larger than 1 MiB; not to be changed."""
    lake = Lake(tmp_path_factory.mktemp("flights"))
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i, md5(range::VARCHAR) AS word FROM range(60000)", message="many")
    lake.publish("DELETE FROM lake.t WHERE i % 2 = 0", message="the odd ones")
    return lake.repo


@pytest.fixture(scope="session")
def data_file(flights):
    """The path of its largest data file, from the root."""
    largest = max(flights.data.rglob("*.parquet"), key=lambda path: path.stat().st_size)
    assert largest.stat().st_size > 2 << 20
    return largest.relative_to(flights.folder)


@pytest.fixture(scope="session")
def reading(flights):
    """A host of it, open to readers."""
    with Host(flights.folder) as host:
        yield host


@pytest.fixture(scope="session")
def versitygw(tmp_path_factory):
    with Versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(scope="session")
def flights_s3(versitygw, flights):
    """The same repository in a bucket: its address."""
    versitygw.boto().create_bucket(Bucket="flights")
    fdl("clone", flights.folder, "s3://flights/lake", "--all", env=versitygw.client_environment())
    return "s3://flights/lake"


@pytest.fixture
def lake(tmp_path):
    """An empty repository and a working catalog checked out from it."""
    made = Lake(tmp_path)
    made.checkout()
    return made


@pytest.fixture(scope="session")
def story(tmp_path_factory):
    """A repository with one version, and versions to come."""
    return Story(tmp_path_factory.mktemp("story"))


@pytest.fixture(scope="session")
def roles(tmp_path_factory):
    """A token file with one of each role: its path, and the tokens by role."""
    file = tmp_path_factory.mktemp("roles") / "tokens"
    return file, {role: add_token(file, f"a-{role}r", role) for role in ("read", "write", "approve")}


@pytest.fixture
def repo(story, tmp_path):
    """The repository of the story with its first version, in a folder."""
    return Repo(story.lay_out(tmp_path / "repo"))


@pytest.fixture
def token(roles):
    return roles[1]["write"]
