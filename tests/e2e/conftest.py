"""The few fixtures of the end-to-end tests; everything else is a plain function in harness.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import pytest
from harness import Lake
from twin import Twin


@pytest.fixture
def lake(tmp_path):
    """An empty repository and a working catalog checked out from it."""
    made = Lake(tmp_path)
    made.checkout()
    return made


@pytest.fixture
def published(lake):
    """The same with one version of one table on it: lake.t with the numbers 0 to 9."""
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(10)", message="ten numbers")
    return lake


@pytest.fixture
def twin(tmp_path):
    """A plain DuckLake and a versioned one that must stay alike."""
    made = Twin(tmp_path)
    yield made
    made.close()
