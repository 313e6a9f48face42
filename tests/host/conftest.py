"""The repositories behind the hosts of this folder. Those that a test only reads are made once."""

import sys
from pathlib import Path

import pytest

for folder in ("support", "e2e"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from harness import Lake, fdl  # noqa: E402
from host import Host  # noqa: E402
from servers import Versitygw  # noqa: E402


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
