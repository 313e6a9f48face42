"""Random histories against a simple model: branches, tags, rewrites, deletes, restores, pushes that wait for approval,
expire, gc and withdraw, two writers, a mirror, and kills in between.

After each step every version that should read does read with its rows, every one that should not says why, and
nothing that is needed is gone; in the end, with nobody writing, nothing is left that no version needs.

    FDL_TEST_HISTORIES=1000    so many histories instead of a few
    FDL_TEST_SEED=17           this one alone, as a failure printed it
"""

import json
import os
import random
from dataclasses import dataclass, field

import pytest
from harness import CONFLICT, EXPIRED, KILLED, NOT_FOUND, OK, REFUSED, Lake, Mirror, duck, fdl, text, traced
from test_interruption import CHANGES

FIRST = int(os.environ.get("FDL_TEST_FIRST_SEED", 1))
COUNT = int(os.environ.get("FDL_TEST_HISTORIES", 4))
SEEDS = [int(os.environ["FDL_TEST_SEED"])] if "FDL_TEST_SEED" in os.environ else range(FIRST, FIRST + COUNT)
STEPS = int(os.environ.get("FDL_TEST_STEPS", 24))

TABLES = ("a", "b")


@dataclass
class Version:
    """What the model knows of one: its rows, and each file it reads with the deletes it reads it through."""

    parent: str
    rows: dict
    reads: set
    gone: str = ""  # "retention", "withdrawn", "forgotten"

    @property
    def data(self):
        return {path for path, _ in self.reads}

    @property
    def files(self):
        return self.data | {deletes for _, deletes in self.reads if deletes}


@dataclass
class Writer:
    """A working catalog: what it is based on, and whether it has put files into the repository for no version yet."""

    lake: Lake
    base: str = ""
    branch: str = "main"
    rows: dict = field(default_factory=dict)
    dirty: bool = False


class History:
    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.con = duck()
        self.repo = Lake(folder).repo
        self.mirror = Mirror(folder / "mirror")
        self.copied = set()  # versions that are whole in the mirror
        self.taken = set()  # files that withdrawals have deleted
        self.versions, self.branches, self.tags = {}, {}, {}
        self.requests = {}  # by number: branch, version, what the branch held then
        self.asked = 0
        self.said = []
        self.writers = []
        for name in ("one", "two"):
            lake = Lake(folder, repo=self.repo)
            lake.work = folder / f"{name}.sqlite"
            self.writers.append(Writer(lake))
        self.check_out(self.writers[0])
        self.write(self.writers[0], "CREATE TABLE lake.a (i INTEGER, s VARCHAR)", "CREATE TABLE lake.b (i INTEGER, s VARCHAR)", "INSERT INTO lake.a SELECT range, 'x' FROM range(20)")
        self.publish(self.writers[0])
        self.check_out(self.writers[1])

    # ---- the program, at times killed -------------------------------------------------------------------------------

    def run(self, *args, code=OK, kill=False):
        """A killed command is repeated, and then must end as it would have."""
        if kill:
            when = self.random.randint(1, 14)
            answer, _ = traced([f"-etrace={CHANGES}", f"-einject={CHANGES}:signal=KILL:when={when}"], *args)
            if answer.code != KILLED:
                assert code is None or answer.code == code, (args, answer)
                return answer
            self.said.append("      killed, and again")
        return fdl(*args, code=code)

    def maybe(self, chance=0.25):
        return self.random.random() < chance

    # ---- writers ------------------------------------------------------------------------------------------------------

    def check_out(self, writer, branch=None):
        options = ["--ref", branch] if branch else []
        writer.lake.attach = fdl("checkout", self.repo.address, writer.lake.work, "--force", *options).attach
        writer.branch = branch or "main"
        writer.base = self.branches.get(writer.branch, "")
        writer.rows = self.versions[writer.base].rows if writer.base else {}
        writer.dirty = False

    def write(self, writer, *statements):
        self.con.execute(writer.lake.attach)
        try:
            for statement in statements:
                self.con.execute(statement).fetchall()
            writer.rows = self.content("lake")
        finally:
            self.con.execute("DETACH lake")
        writer.dirty = True

    def content(self, name):
        tables = self.con.execute(f"SELECT table_name FROM duckdb_tables() WHERE database_name = {text(name)}").fetchall()
        return {table: sorted(self.con.execute(f"FROM {name}.{table}").fetchall()) for (table,) in tables}

    def publish(self, writer, kill=False):
        """Commits and pushes; returns whether it went through."""
        again = ["--allow-empty"] if writer.dirty and self.maybe(0.6) else []
        made = json.loads(fdl("commit", writer.lake.work, "-m", "x", "--json", *again).stdout)
        if not made["made"] and not writer.lake.pending():
            return False
        moved = self.branches.get(writer.branch, "") != writer.base
        answer = self.run("push", writer.lake.work, code=CONFLICT if moved else OK, kill=kill and not moved)
        if moved:
            assert "moved" in answer.stderr or "does not exist" in answer.stderr
            return False
        self.adopt(writer.branch, writer.rows)
        writer.base, writer.dirty = self.branches[writer.branch], False
        return True

    def adopt(self, branch, rows, above=None):
        """The version a branch holds now becomes known."""
        head = self.repo.head(branch)
        record = self.repo.record(head)
        parent = (record["parents"] or [""])[0]
        assert parent == self.branches.get(above or branch, "")
        self.versions[head] = Version(parent, rows, self.reads_of(head))
        self.branches[branch] = head

    def reads_of(self, version):
        rows = self.repo.frozen(
            version,
            """SELECT s.path || t.path || f.path, s.path || t.path || d.path FROM raw.ducklake_data_file f
               JOIN raw.ducklake_table t ON t.table_id = f.table_id AND t.end_snapshot IS NULL
               JOIN raw.ducklake_schema s ON s.schema_id = t.schema_id AND s.end_snapshot IS NULL
               LEFT JOIN raw.ducklake_delete_file d ON d.data_file_id = f.data_file_id""",
        )
        return set(rows)

    # ---- the steps ------------------------------------------------------------------------------------------------------

    def step_write(self):
        writer = self.random.choice(self.writers)
        if self.versions[writer.base].gone:
            return self.check_out(writer)
        table = self.random.choice(TABLES)
        number = self.random.randint(1, 10**6)
        statement = self.random.choice(
            [
                f"INSERT INTO lake.{table} SELECT range, 'n{number}' FROM range({number % 40 + 1})",
                f"DELETE FROM lake.{table} WHERE i % {number % 5 + 2} = 0",
                f"UPDATE lake.{table} SET s = 'u{number}' WHERE i % {number % 5 + 2} = 1",
                f"CREATE OR REPLACE TABLE lake.{table} AS SELECT range::INTEGER AS i, 'r{number}' AS s FROM range({number % 30})",
                f"CALL ducklake_rewrite_data_files('lake', '{table}', delete_threshold => 0)",
                "CALL lake.merge_adjacent_files()",
                f"DELETE FROM lake.{table}",
            ]
        )
        if writer.base != self.branches.get(writer.branch) and self.maybe(0.8):
            self.check_out(writer, self.random.choice([None, *self.branches]))
        self.write(writer, statement)
        if self.maybe(0.8):
            return f"{statement}, published: {self.publish(writer, kill=self.maybe())}"
        return statement

    def step_publish(self):
        writer = self.random.choice(self.writers)
        if self.versions[writer.base].gone:  # what it is based on may have lost its data, which a commit refuses
            return self.check_out(writer)
        if not self.publish(writer, kill=self.maybe()) and (writer.base != self.branches.get(writer.branch, "")):
            self.check_out(writer)
        return writer.branch

    def step_check_out(self):
        writer = self.random.choice(self.writers)
        self.check_out(writer, self.random.choice(list(self.branches)))

    def step_branch(self):
        name = self.random.choice(["dev", "side"])
        if name in self.branches:
            if self.maybe(0.5):
                fdl("branch", self.repo.address, "-d", name)
                del self.branches[name]
            return name
        version = self.random.choice(list(self.versions))
        gone = self.versions[version].gone
        if gone:
            fdl("branch", self.repo.address, name, version, code=NOT_FOUND if gone == "forgotten" else EXPIRED)
        else:
            fdl("branch", self.repo.address, name, version)
            self.branches[name] = version
        return name

    def step_tag(self):
        name = self.random.choice(["v1", "v2", "v3"])
        if name in self.tags:
            if self.maybe(0.5):
                fdl("tag", self.repo.address, "-d", name)
                del self.tags[name]
            else:
                fdl("tag", self.repo.address, name, "HEAD", code=CONFLICT)
            return name
        version = self.random.choice(list(self.versions))
        gone = self.versions[version].gone
        if gone:
            fdl("tag", self.repo.address, name, version, code=NOT_FOUND if gone == "forgotten" else EXPIRED)
        else:
            fdl("tag", self.repo.address, name, version)
            self.tags[name] = version
        return name

    def step_ask(self):
        """A push onto a branch that somebody has to approve, as a host leaves it: uploaded, and no ref leads to it."""
        writer = self.random.choice(self.writers)
        branch = self.random.choice(list(self.branches))
        self.check_out(writer, branch)
        self.write(writer, f"INSERT INTO lake.a SELECT range, 'q' FROM range({self.random.randint(1, 9)})")
        fdl("commit", writer.lake.work, "-m", "please")
        fdl("push", writer.lake.work, "--branch", "asked")
        self.adopt("asked", writer.rows, above=branch)
        version, expected = self.branches.pop("asked"), self.branches[branch]
        self.asked += 1
        author = {"name": "Ada Writer"}
        asked = {"branch": f"refs/heads/{branch}", "version": version, "expected": expected, "author": author}
        asked.update(created_at="2026-01-01T00:00:00Z", state="waiting")
        folder = self.repo.path("refs", "requests")
        folder.mkdir(exist_ok=True)
        (folder / str(self.asked)).write_text(json.dumps(asked))
        fdl("branch", self.repo.address, "-d", "asked")
        self.requests[self.asked] = (branch, version, expected)
        self.check_out(writer, branch)
        return f"{version} onto {branch}"

    def step_decide(self):
        if not self.requests:
            return self.step_ask()
        number = self.random.choice(list(self.requests))
        branch, version, expected = self.requests[number]
        if self.maybe(0.3):
            fdl("requests", self.repo.address, "reject", number)
            del self.requests[number]
            return f"{number} is rejected"
        line = list(self.line(self.branches.get(branch, "")))
        moves = self.branches.get(branch, "") == expected
        self.run("requests", self.repo.address, "approve", number, code=OK if moves or version in line else CONFLICT, kill=self.maybe())
        if moves:
            self.branches[branch] = version
        if moves or version in line:
            del self.requests[number]
        return f"{number} is approved" if moves else f"{number} comes too late"

    def step_restore(self):
        branch = self.random.choice(list(self.branches))
        version = self.random.choice(list(self.versions))
        known = self.versions[version]
        words = ["restore", self.repo.address, version, "-m", "back", "--branch", branch]
        if known.gone:
            fdl(*words, code=NOT_FOUND if known.gone == "forgotten" else EXPIRED)
            return f"{version} is gone"
        self.run(*words, kill=self.maybe())
        if self.repo.head(branch) != self.branches[branch]:
            self.adopt(branch, known.rows)
            assert self.versions[self.branches[branch]].data == known.data, "a restore made files"
        assert self.versions[self.branches[branch]].rows == known.rows
        return f"{version} onto {branch}"

    def line(self, tip):
        """From a version back to the first one."""
        while tip:
            yield tip
            tip = self.versions[tip].parent

    def waiting(self):
        return {version for _, version, _ in self.requests.values()}

    def tips(self):
        return set(self.branches.values()) | self.waiting()

    def pointed(self):
        return self.tips() | set(self.tags.values())

    def step_expire(self):
        keep = self.random.randint(0, 5)
        branch = self.random.choice([None, *self.branches])
        words = ["expire", self.repo.address, "--keep", keep, *(["--branch", branch] if branch else [])]
        reached = {v for name, tip in self.branches.items() if branch in (None, name) for v in self.line(tip)}
        if not branch:
            reached |= {v for tip in self.pointed() for v in self.line(tip)}
        kept = {v for tip in self.branches.values() for v in list(self.line(tip))[:keep]} | self.pointed()
        self.run(*words, kill=self.maybe(0.4))
        for version in reached - kept:
            self.versions[version].gone = self.versions[version].gone or "retention"
        return f"keep {keep}, {branch}"

    def quiet(self):
        return not any(writer.dirty or writer.lake.pending() for writer in self.writers)

    def step_gc(self):
        for writer in self.writers if self.maybe(0.6) else []:
            self.check_out(writer)
        if not self.quiet():
            files = self.repo.data_files()
            self.run("gc", self.repo.address, kill=self.maybe())
            assert self.repo.data_files() == files, "gc took what was younger than the grace"
            return "somebody is writing"
        return self.collect(prune=self.maybe(0.3))

    def collect(self, prune):
        self.run("gc", self.repo.address, "--grace", "0s", *(["--prune-unreachable"] if prune else []), kill=self.maybe(0.4))
        if prune:
            reached = {v for tip in self.pointed() for v in self.line(tip)}
            for name, version in self.versions.items():
                if name not in reached and version.gone != "withdrawn":
                    version.gone = "forgotten"
        self.check_nothing_left()
        return "prune" if prune else "quiet"

    def live(self):
        return {name: version for name, version in self.versions.items() if not version.gone}

    def in_the_way(self, given):
        """A branch, or a push that waits, that reads a file of the version through deletes that it did not have."""
        had = {read for name in self.line(given) if not self.versions[name].gone for read in self.versions[name].reads}
        mine = dict(self.versions[given].reads)
        return any(
            path in mine and deletes and deletes != mine[path] and (path, deletes) not in had
            for tip in self.tips()
            for path, deletes in self.versions[tip].reads
        )

    def step_withdraw(self):
        old = [name for name in self.live() if name not in self.tips()]
        given = self.random.choice(old if old and self.maybe(0.8) else list(self.live()))
        words = ["withdraw", self.repo.address, given, "--yes", "--text", "by mistake"]
        if given in self.tips() or self.in_the_way(given):
            contents = self.repo.contents()
            fdl(*words, code=REFUSED)
            assert self.repo.contents() == contents
            return f"{given} is refused"
        going = self.versions[given].data - {path for tip in self.tips() for path in self.versions[tip].data}
        there = {name: version for name, version in self.versions.items() if version.gone in ("", "retention")}
        affected = {name for name, version in there.items() if name == given or version.data & going}
        self.run(*words, kill=self.maybe(0.4))
        for name in affected:
            self.versions[name].gone = "withdrawn"
        self.tags = {name: version for name, version in self.tags.items() if version not in affected}
        needed = {path for version in self.live().values() for path in version.files}
        self.taken |= {path for name in affected for path in self.versions[name].files - needed}
        assert not self.taken & set(self.repo.data_files()), "data is still there"
        return f"{given} takes {len(affected) - 1} along"

    def step_mirror(self):
        """Refs that went, or are another line of history by now, are deleted there first: a clone only makes them, and moves them forward."""
        for kind, folder, held in (("branch", "heads", self.branches), ("tag", "tags", self.tags)):
            for ref in self.mirror.path("refs", folder).glob("*"):
                version = ref.read_text().strip()
                if version != held.get(ref.name) and (kind == "tag" or version not in self.line(held.get(ref.name))):
                    fdl(kind, self.mirror.address, "-d", ref.name)
        self.run("clone", self.repo.address, self.mirror.address, "--all", kill=self.maybe(0.4))
        reached = {v for tip in {*self.branches.values(), *self.tags.values()} for v in self.line(tip)}
        self.copied |= {name for name in reached if not self.versions[name].gone}
        collected = self.maybe(0.3)
        if collected:
            self.run("gc", self.mirror.address, "--grace", "0s", "--prune-unreachable", kill=self.maybe())
            self.copied &= reached
        self.check_mirror(reached, collected)
        return f"{len(reached)} versions"

    # ---- what must hold -----------------------------------------------------------------------------------------------

    def check_refs(self):
        assert self.repo.refs("heads") == self.branches and self.repo.refs("tags") == self.tags

    def check_mirror(self, reached, collected):
        """It shows what the source shows, and keeps nothing that was withdrawn there, whether a ref still leads to that or not."""
        mirror = self.mirror
        assert mirror.refs("heads") == self.branches and mirror.refs("tags") == self.tags
        there = set(mirror.data_files())
        live = [self.versions[name] for name in reached if not self.versions[name].gone]
        needed = {path for version in live for path in version.files}
        assert needed <= there and not self.taken & there, "the mirror lost data, or has what was withdrawn"
        assert not collected or there == needed
        names = sorted(reached)
        for name in {*self.branches.values(), *self.tags.values(), *self.random.sample(names, min(3, len(names)))}:
            self.check_version(name, mirror)
        for name in sorted(self.copied - reached):
            if self.versions[name].gone == "withdrawn":
                self.check_version(name, mirror)

    def check_version(self, name, repo=None):
        repo = repo or self.repo
        version = self.versions[name]
        if version.gone:
            complaint = fdl("url", repo.address, name, code=NOT_FOUND if version.gone == "forgotten" else EXPIRED).complaint
            word = {"retention": "expired on", "withdrawn": "was withdrawn on", "forgotten": "no "}[version.gone]
            assert name in complaint and word in complaint, complaint
            return
        self.con.execute(fdl("attach", repo.address, name, "--as", "shown").attach)
        try:
            assert self.content("shown") == version.rows, f"version {name} reads other rows"
        finally:
            self.con.execute("DETACH shown")

    def check_needed(self):
        there = set(self.repo.data_files())
        for name, version in self.live().items():
            assert version.files <= there, f"version {name} lost {version.files - there}"

    def check_nothing_left(self):
        needed = {path for version in self.live().values() for path in version.files}
        assert set(self.repo.data_files()) == needed

    def check(self):
        self.check_refs()
        self.check_needed()
        names = list(self.versions)
        for name in {*self.pointed(), *self.random.sample(names, min(2, len(names)))}:
            self.check_version(name)

    def finish(self):
        """Nobody writes any more: everything is looked at, and all that is left is needed, by a tag or a push that waits alone too."""
        for writer in self.writers:
            self.check_out(writer)
        self.collect(prune=False)
        for name in self.versions:
            self.check_version(name)
        for name in [name for name in self.branches if name != "main"]:
            fdl("branch", self.repo.address, "-d", name)
            del self.branches[name]
        self.collect(prune=True)
        for name in self.pointed():
            self.check_version(name)
        fdl("verify", self.repo.address, "--all", "--data")
        self.step_mirror()
        fdl("verify", self.mirror.address, "--all", "--data")

    def play(self, steps):
        kinds = {
            self.step_write: 16,
            self.step_publish: 3,
            self.step_check_out: 1,
            self.step_branch: 2,
            self.step_tag: 3,
            self.step_ask: 2,
            self.step_decide: 2,
            self.step_restore: 3,
            self.step_expire: 3,
            self.step_gc: 3,
            self.step_withdraw: 4,
            self.step_mirror: 2,
        }
        for number in range(steps):
            [step] = self.random.choices(list(kinds), weights=list(kinds.values()))
            self.said.append(f"{number:3} {step.__name__[5:]}")
            self.said.append(f"      {step()}")
            self.check()
        self.finish()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_history_is_as_its_model_says(tmp_path, seed):
    history = History(tmp_path, seed)
    try:
        history.play(STEPS)
    except BaseException:
        print("\n".join(history.said))
        print(f"replay with FDL_TEST_SEED={seed} FDL_TEST_STEPS={STEPS}")
        raise
    finally:
        history.con.close()
