"""Writers and a reader on one repository while expire and gc run: no update is lost, and nobody reads what was before a push that is done.

Each operation is written down with the moments it was called and had returned; the history they make is judged at the end.
FDL_TEST_SWEEP=every (make soak) plays thirty times as long. Who comes when is the machine's choice: there is no seed.
"""

import itertools
import os
import threading
import time
from contextlib import ExitStack

import pytest
from harness import BUSY, CONFLICT, NOT_FOUND, OK, fdl
from host import Host

LONG = os.environ.get("FDL_TEST_SWEEP") == "every"
PUSHES = 30 if LONG else 1  # that each writer has to bring through
PAUSE_SECONDS = 0 if LONG else 0.1  # of the reader and of who cleans up
WRITERS = 3


class History:
    """What happened, in the order of a clock that all share."""

    def __init__(self):
        self.lock, self.pushes, self.reads, self.conflicts = threading.Lock(), [], [], 0

    def write_down(self, where, called, what):
        with self.lock:
            where.append((called, time.monotonic(), what))

    def judge(self, last, branch):
        """`last` and `branch`: the ids of the whole history and of what was before the race, newest first."""
        pushed = [ident for _, _, ident in self.pushes]
        assert len(set(pushed)) == len(pushed) == WRITERS * PUSHES
        assert sorted(last) == sorted([*pushed, *branch]), "an update was lost, or one came twice"
        for called, _, seen in self.reads:
            assert seen == last[len(last) - len(seen) :], "a reader saw a history that never was"
            for _, returned, ident in self.pushes:
                assert returned > called or ident in seen, "a reader did not see a push that was done"
        for (_, returned, seen), (called, _, later) in itertools.product(self.reads, repeat=2):
            assert returned > called or len(seen) <= len(later), "a reader went back in time"


def write(number, address, env, folder, history, together, failures):
    """Brings PUSHES versions through; each conflict is met by a fresh checkout.  The first push of all is of one version's children."""
    try:
        work, done, tried = folder / f"writer-{number}.sqlite", 0, False
        while done < PUSHES:
            assert len(failures) == 0
            fdl("checkout", address, work, "--force", env=env)
            message = f"{number}.{done}"
            ident = fdl("commit", work, "-m", message, "--allow-empty", "--json", env=env).json["id"]
            if not tried:
                together.wait()
            tried = True
            called = time.monotonic()
            answer = fdl("push", work, env=env, code=None)
            assert answer.code in (OK, CONFLICT), answer
            if answer.code == OK:
                history.write_down(history.pushes, called, ident)
                done += 1
            else:
                history.conflicts += 1
    except BaseException as error:
        failures.append(error)
        together.abort()


def meanwhile(over, action, failures):
    try:
        while not over.wait(PAUSE_SECONDS):
            action()
    except BaseException as error:
        failures.append(error)


def race(folder, addresses, env, cleaning, cleaning_env):
    """Writers and the reader each at one of the addresses in turn; expire and gc at another."""

    def log(address):
        return [version["id"] for version in fdl("log", address, "--json", env=env).json["versions"]]

    history, failures, over, together = History(), [], threading.Event(), threading.Barrier(WRITERS)
    before, turn = log(addresses[0]), itertools.cycle(addresses)

    def read():
        called = time.monotonic()
        history.write_down(history.reads, called, log(next(turn)))

    def clean():
        for words in (["expire", cleaning, "--keep", "2"], ["gc", cleaning, "--grace", "1h"]):
            answer = fdl(*words, env=cleaning_env, code=None)
            # A version on its way down is a reason to come again, never to delete on.
            assert answer.code in (OK, CONFLICT, BUSY, NOT_FOUND), answer

    writers = [threading.Thread(target=write, args=(n, addresses[n % len(addresses)], env, folder, history, together, failures)) for n in range(WRITERS)]
    others = [threading.Thread(target=meanwhile, args=(over, action, failures)) for action in (read, clean)]
    for thread in [*others, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    for thread in others:
        thread.join()
    assert not failures, failures
    history.judge(log(addresses[0]), before)
    fdl("verify", cleaning, "--all", env=cleaning_env)
    print(f"{len(history.pushes)} pushes, {history.conflicts} conflicts, {len(history.reads)} reads: one history")
    assert history.conflicts and len(history.reads) > 2


@pytest.mark.parametrize("where", ["folder", "bucket", "two_hosts_before_a_bucket"])
def test_no_update_is_lost_and_no_reader_goes_back(story, versitygw, roles, tmp_path, where):
    with ExitStack() as stack:
        if where == "folder":
            address = str(story.lay_out(tmp_path / "repo"))
            race(tmp_path, [address], {}, address, {})
            return
        env = versitygw.client_environment()
        address = story.lay_out_s3(versitygw, "races-" + where.split("_")[0])
        if where == "bucket":
            race(tmp_path, [address], env, address, env)
            return
        hosts = [stack.enter_context(Host(address, "--tokens", roles[0], environment=env)) for _ in range(2)]
        race(tmp_path, [host.url for host in hosts], {"FDL_TOKEN": roles[1]["write"]}, address, env)
