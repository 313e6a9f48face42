"""Every request of every command fails once: checkout, commit, push and clone on a bucket.

In `make soak` (FDL_TEST_SWEEP=every) each request fails in every way. Else each way takes every third request, so that
every request fails in two or three ways.

After each fault: the exit code is one that fits, a reader sees the old version or the new one whole, nothing is
lost, and the command run again ends well.
"""

import shutil
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

import harness
import pytest
from fault_proxy import FaultProxy
from harness import CONFLICT, FAILURE, OK, SWEEP_STEP
from test_program import Lake, bucket_variables

FAULTS = ["drop", "lose", "cut", "delay", 409, 412, 500, 503]

# What a fault may end in: done all the same, a plain failure, or "not what we saw" where a server says so.
FITTING = (OK, FAILURE, CONFLICT, harness.BUSY)


@pytest.fixture(params=FAULTS)
def lake(request, versitygw, tmp_path):
    """A repository with one version in a bucket, seen through a proxy; `direct` sees it without."""
    bucket = f"faults-{uuid.uuid4()}"
    versitygw.boto().create_bucket(Bucket=bucket)
    with FaultProxy(versitygw.port) as proxy:
        made = Lake(f"s3://{bucket}/lake", tmp_path, bucket_variables(versitygw, proxy.url))
        made.proxy, made.fault_kind = proxy, request.param
        made.direct = Lake(made.address, tmp_path, bucket_variables(versitygw))
        made.fdl("init", made.address)
        made.checkout()
        made.publish("CREATE TABLE lake.t AS SELECT range AS i FROM range(100)", "DELETE FROM lake.t WHERE i = 5")
        yield made


def sweep(lake, prepare, run, after):
    """Fails one request after the other of `run`, until a run needs fewer of them; returns how many it needs."""
    number = 1 + FAULTS.index(lake.fault_kind) % SWEEP_STEP - SWEEP_STEP
    while True:
        number += SWEEP_STEP
        state = prepare(number)
        lake.proxy.reset()
        lake.proxy.fault(number, lake.fault_kind)
        answer = run(state)
        needed = lake.proxy.count()
        met = needed >= number
        assert answer.code in FITTING, (number, answer)
        if answer.code != OK:
            assert answer.complaint.startswith("fdl: "), answer
        lake.proxy.reset()
        after(state, answer)
        if not met:
            return needed
        assert number < 200, "the sweep does not end"


def test_a_checkout_survives_every_fault(lake):
    def after(work, answer):
        assert work.exists() == (answer.code == OK)
        lake.fdl("checkout", lake.address, work)
        with closing(sqlite3.connect(work)) as con:
            assert con.execute("SELECT sum(record_count) FROM ducklake_data_file").fetchall() == [(100,)]
        work.unlink()
        shutil.rmtree(f"{work}.fdl")

    work = lambda number: lake.folder / f"c{number}.sqlite"  # noqa: E731
    assert sweep(lake, work, lambda work: lake.fdl("checkout", lake.address, work, code=None), after) >= 6


def test_a_commit_survives_every_fault(lake):
    lake.write("INSERT INTO lake.t VALUES (1000)")
    pending = Path(f"{lake.work}.fdl") / "pending"
    before = lake.work.read_bytes()

    def after(_, answer):
        assert lake.work.read_bytes() == before
        assert (len(list(pending.iterdir())) if pending.exists() else 0) == (1 if answer.code == OK else 0)
        assert lake.commit("again", "--json").json["made"] is (answer.code != OK)
        shutil.rmtree(pending)

    assert sweep(lake, lambda number: None, lambda _: lake.commit("a step", code=None), after) >= 3


def test_a_push_survives_every_fault(lake):
    lake.write("INSERT INTO lake.t VALUES (1000)")
    lake.commit()
    lake.push()

    def prepare(_):
        before = lake.direct.head()
        lake.direct.commit("a step", "--allow-empty")
        ours = lake.fdl("status", lake.work, "--json").json["pending"][0]
        return before, ours

    def after(state, answer):
        before, ours = state
        head = lake.direct.head()
        assert head in ((ours,) if answer.code == OK else (before, ours))
        lake.push()
        assert lake.direct.head() == ours
        assert lake.fdl("status", lake.work, "--json").json["pending"] == []

    assert sweep(lake, prepare, lambda _: lake.push(code=None), after) >= 8
    checked = lake.direct.fdl("verify", lake.address, "--all", "--json").json
    assert checked["findings"] == []
    assert lake.direct.read("SELECT count(*) FROM lake.t") == [(100,)]


def test_a_clone_from_a_bucket_survives_every_fault(lake):
    def after(copy, _):
        lake.fdl("clone", lake.address, copy, "--all")
        assert lake.fdl("verify", copy, "--all", "--json").json["findings"] == []
        assert lake.direct.head() == Lake(copy, lake.folder, {}).head()
        shutil.rmtree(copy)

    copy = lambda number: lake.folder / f"copy{number}"  # noqa: E731
    assert sweep(lake, copy, lambda copy: lake.fdl("clone", lake.address, copy, "--all", code=None), after) >= 9


def test_a_clone_into_a_bucket_survives_every_fault(lake):
    copy = lake.folder / "copy"
    lake.direct.fdl("clone", lake.address, copy, "--all")
    root = lake.address.rsplit("/", 1)[0]

    def after(there, _):
        lake.fdl("clone", copy, there, "--all")
        assert lake.direct.fdl("verify", there, "--all", "--json").json["findings"] == []
        assert lake.direct.head() == Lake(there, lake.folder, lake.direct.variables).head()

    there = lambda number: f"{root}/there{number}"  # noqa: E731
    assert sweep(lake, there, lambda there: lake.fdl("clone", copy, there, "--all", code=None), after) >= 9
