"""The power fails: what was not synced is gone, in every way a disk may have it. What was reported as pushed is there.

A push, or a clone, is run once and its system calls are written down. They are replayed on a disk made of Python, which keeps
apart what a program sees and what has reached the disk: the bytes of a file with its fsync, a name with the fsync of its folder.
"""

import hashlib
import json
import os
import random
import re
import shutil

import pytest
from harness import Lake, duck, fdl, served, traced

CALLS = "openat,write,writev,pwrite64,copy_file_range,sendfile,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate"


TRACING = ["-y", "-s0", f"-etrace={CALLS}"]


class File:
    """An inode. Its bytes are those of the end: a file of a repository is written once, under its first name."""

    def __init__(self, bytes_=None, synced=False):
        self.bytes, self.synced = bytes_, synced


class Disk:
    """The folder `root`: `seen` is what programs see, `kept` what a power loss leaves for certain; File by path, None for folders."""

    def __init__(self, root):
        self.root = str(root)
        self.seen, self.kept = {}, {}

    def add(self, synced):
        """What is there already, and not known yet."""
        for folder, folders, files in os.walk(self.root):
            for path in [folder, *(os.path.join(folder, name) for name in folders + files)]:
                if path not in self.seen:
                    self.seen[path] = File(open(path, "rb").read(), synced) if os.path.isfile(path) else None
                    if synced:
                        self.kept[path] = self.seen[path]

    def sync(self, path):
        if self.seen.get(path):
            self.seen[path].synced = True
            return
        inside = [name for name in {**self.seen, **self.kept} if os.path.dirname(name) == path]
        for name in inside:
            if name in self.seen:
                self.kept[name] = self.seen[name]
            else:
                del self.kept[name]

    def replay(self, trace):
        """Each change in turn; a name for it is yielded after it."""
        for line in trace.splitlines():
            found = re.match(r"\d+ +(\w+)\((.*)\) += (\d+)", line)
            if not found:
                assert "unfinished" not in line or self.root not in line, line  # two threads at once: not told apart here
                continue
            call, words = found[1], found[2]
            names = [name for name in re.findall(r'"([^"]*)"', words)] if call[:2] in ("op", "re", "li", "un", "mk", "rm") else []
            names = [name if name.startswith("/") else os.path.join(re.search(r"<([^>]*)>", words)[1], name) for name in names]
            held = re.findall(r"\d+<([^>]*)>", words)
            mine = [path for path in (names or held) if path.startswith(self.root) or path == os.path.dirname(self.root)]
            if not mine or call == "openat" and ("O_CREAT" not in words or mine[0] in self.seen):
                continue
            if call == "openat":
                self.seen[mine[0]] = File()
            elif call.startswith("mkdir"):
                self.seen[mine[0]] = None
            elif call.startswith("rename"):
                self.seen[mine[-1]] = self.seen.pop(mine[0])
            elif call.startswith("link"):
                self.seen[mine[-1]] = self.seen[mine[0]]
            elif call.startswith(("unlink", "rmdir")):
                del self.seen[mine[0]]
            elif call in ("fsync", "fdatasync"):
                self.sync(mine[0])
            elif self.seen.get(mine[-1]):  # what is copied to stands last
                self.seen[mine[-1]].synced = False
            yield call + " " + mine[-1].removeprefix(self.root)

    def moment(self):
        """All that there is to know of now."""
        return dict(self.seen), dict(self.kept), {file for file in [*self.seen.values(), *self.kept.values()] if file and file.synced}

    def contents(self, names, has_bytes):
        """Such a state as bytes by key; a name in a folder that is not there is not there."""
        found = {}
        for path, file in names.items():
            above = os.path.dirname(path)
            while above.startswith(self.root) and above in names and names[above] is None:
                above = os.path.dirname(above)
            if file and not above.startswith(self.root):
                found[os.path.relpath(path, self.root)] = file.bytes if has_bytes(file) else b""
        return found

    def learn(self):
        """The bytes of the files that are new, now that the program is done."""
        for path, file in self.seen.items():
            if file and file.bytes is None:
                file.bytes = open(path, "rb").read()


def states(moment, dice):
    """What the disk may hold then: nothing but what was synced, all names without their bytes, everything, and some of each."""
    seen, kept, synced = moment
    yield kept, synced.__contains__
    yield seen, synced.__contains__
    yield seen, lambda file: True
    for _ in range(3):
        some = {path: dice.choice([seen, kept]).get(path, path) for path in {**seen, **kept}}
        yield {path: file for path, file in some.items() if file != path}, lambda file: file in synced or dice.random() < 0.5


def version_of(state):
    """The version that readers find, if all of it is there."""
    line = state.get("refs/heads/main", b"").decode()
    if not line:
        assert "refs/heads/main" not in state, "a ref without bytes"
        return None
    ident = line.removesuffix("\n")
    record = json.loads(state[f"versions/{ident}/version.json"])
    for part in ("catalog", "dataset", "files"):
        data = state[f"versions/{ident}/{record[part]['path']}"]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (record[part]["bytes"], record[part]["sha256"]), part
    for table in json.loads(state[f"versions/{ident}/files.json"])["tables"]:
        for file in table["files"]:
            assert len(state[file["path"]]) == file["bytes"], file
    return ident


def lay_out(state, folder):
    shutil.rmtree(folder)
    for key, data in state.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def check(root, disk, trace, dice, before, after):
    """Whatever the disk holds after each of the traced changes is the version `before` or `after`, and `after` in the end."""
    moments = [(step, disk.moment()) for step in disk.replay(trace)]
    disk.learn()
    found = []
    for step, moment in moments:
        for names, has_bytes in states(moment, dice):
            found.append(version_of(disk.contents(names, has_bytes)))
            assert found[-1] in (before, after), step
    print(f"{len(found)} states of the disk after {len(moments)} changes")
    assert len(moments) > 20 and set(found) == {before, after}
    last = disk.contents(*next(states(disk.moment(), dice)))
    assert version_of(last) == after, "reported is what a power loss takes away"
    lay_out(last, root)
    fdl("verify", root, "--all")


@pytest.mark.parametrize("which", ["the first push", "the second push"])
def test_what_was_reported_as_pushed_is_there_after_a_power_loss(tmp_path, which):
    root, before = tmp_path / "repo", None
    disk, dice = Disk(root), random.Random(which)
    if which == "the first push":
        for _ in disk.replay(traced(TRACING, "init", root)[1]):
            pass
        disk.learn()
        assert "fdl.json" in disk.contents(*next(states(disk.moment(), dice))), "init did not sync what it made"
    lake = Lake(tmp_path)
    lake.checkout()
    if which == "the second push":
        before = lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(100)")
        disk.add(synced=True)
    lake.write("CREATE TABLE lake.u AS SELECT range::INT AS i FROM range(100)")
    lake.commit()
    disk.add(synced=False)  # DuckDB wrote data files, and left them to the system
    answer, trace = traced(TRACING, "push", lake.work)
    assert answer.code == 0, answer
    after = lake.repo.head()

    check(root, disk, trace, dice, before, after)
    with duck(fdl("attach", root).attach) as con:
        assert con.execute("SELECT count(*) FROM lake.u").fetchone() == (100,)
    lake.publish("INSERT INTO lake.u VALUES (7)")


def test_what_was_reported_as_cloned_is_there_after_a_power_loss(tmp_path):
    lake, root = Lake(tmp_path), tmp_path / "mirror"
    lake.checkout()
    lake.publish("CREATE TABLE lake.t AS SELECT range::INT AS i FROM range(100)")
    lake.publish("INSERT INTO lake.t SELECT range FROM range(100)")
    disk = Disk(root)
    with served(lake.repo.folder) as url:
        answer, trace = traced(TRACING, "clone", url, root, "--all", "--jobs", "1")
    assert answer.code == 0, answer
    check(root, disk, trace, random.Random(0), None, lake.repo.head())
    with duck(fdl("attach", root).attach) as con:
        assert con.execute("SELECT count(*) FROM lake.t").fetchone() == (200,)
