"""The servers behind the tests of this folder; one of each kind serves them all, in buckets and folders of their own."""

import itertools
import sys
from pathlib import Path

import pytest

for folder in ("support", "e2e"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from fault_proxy import FaultProxy  # noqa: E402
from servers import Moto, Nginx, Versitygw  # noqa: E402

numbers = itertools.count(1)


@pytest.fixture(scope="session")
def moto(tmp_path_factory):
    with Moto(tmp_path_factory.mktemp("moto")) as server:
        yield server


@pytest.fixture(scope="session")
def versitygw(tmp_path_factory):
    with Versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(params=["moto", "versitygw"])
def s3(request):
    """Each S3 server in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def bucket(s3):
    """A new bucket on it."""
    name = f"bucket-{next(numbers)}"
    s3.boto().create_bucket(Bucket=name)
    return name


@pytest.fixture
def proxy(s3):
    """A proxy in front of it."""
    with FaultProxy(s3.port) as made:
        yield made


@pytest.fixture
def served(tmp_path):
    """A folder that nginx serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def nginx(tmp_path, served):
    conf = tmp_path / "nginx"
    conf.mkdir()
    with Nginx(conf, served) as server:
        yield server


@pytest.fixture
def web_proxy(nginx):
    with FaultProxy(nginx.port) as made:
        yield made
