"""The history across branches: every version once, above its parent, with lines that meet where branches part."""

import json
import re

from harness import NOT_FOUND, USAGE, fdl


def step(lake, message, *options):
    fdl("commit", lake.work, "-m", message, "--allow-empty")
    fdl("push", lake.work, *options)


def drawn(lake, *options):
    """The graph, versions by the first word of their message."""
    lines = fdl("log", lake.repo.address, "--graph", *options).stdout.splitlines()
    pattern = r"([|/_ ]*\*[| ]* )[0-9a-f]{8}-[0-9a-f]{4}(.*?)( \[expired\])? (\w+) - Ada Writer, \d{4}-\d\d-\d\d \d\d:\d\d$"
    return [re.sub(pattern, r"\1\4\2\3", line) for line in lines]


def test_branches_are_drawn_where_they_part(lake):
    repo = lake.repo.address
    other = lake.another("other")
    for number in range(1, 5):
        step(lake, f"m{number}")
    for name, revision in (("fix", "main~1"), ("old", "main~3"), ("side", "main~2")):
        fdl("branch", repo, name, revision)
    fdl("tag", repo, "v1", "main~1")
    for name in ("side", "fix", "old", "side"):
        lake.checkout("--ref", name, "--force")
        step(lake, f"{name[0]}1")
        step(lake, f"{name[0]}2\n\nand more")
    step(other, "r1", "--branch", "root")  # a history of its own
    assert drawn(lake, "--all") == [
        "* s2 (side)",
        "* s1",
        "| * f2 (fix)",
        "| * f1",
        "* | s2",
        "| | * m4 (HEAD -> main)",
        "| |/",
        "| | * o2 (old)",
        "* | | s1",
        "| * | m3 (tag: v1)",
        "|/ /",
        "| * o1",
        "* | m2",
        "|/",
        "| * r1 (root)",
        "* m1",
    ]
    assert drawn(lake) == ["* m4 (HEAD -> main)", "* m3 (tag: v1)", "* m2", "* m1"]
    assert drawn(lake, "fix", "-n", "2") == ["* f2 (fix)", "* f1"]

    versions = fdl("log", repo, "--all", "--json").json["versions"]
    places = {version["id"]: place for place, version in enumerate(versions)}
    assert len(places) == len(versions) == len(lake.repo.versions())
    assert all(places[parent] > places[version["id"]] for version in versions for parent in version["parents"])
    assert fdl("log", repo, "--all").stdout.count("version ") == len(versions)
    fdl("log", repo, "main", "--all", code=USAGE)

    fdl("expire", repo, "--keep", "1")
    assert drawn(lake, "--all")[:4] == ["* s2 (side)", "* s1 [expired]", "| * f2 (fix)", "| * f1 [expired]"]


def test_a_folder_that_is_no_repository_has_no_history(tmp_path):
    for options in ([], ["--all"], ["--all", "--graph"]):
        assert "is not a repository" in fdl("log", tmp_path, *options, code=NOT_FOUND).stderr


def test_a_version_names_the_last_ancestors_that_powers_of_16_divide(lake):
    """Whatever made it, and pushed or not; an older program's state holds no list, and then there is nothing to name but the parent."""
    for number in range(1, 17):
        fdl("commit", lake.work, "-m", f"{number}", "--allow-empty")
    fdl("push", lake.work)
    for number in (17, 18):
        fdl("commit", lake.work, "-m", f"{number}", "--allow-empty")
        if number == 18:
            fdl("push", lake.work)
    lake.publish("CREATE TABLE lake.t AS SELECT 1 AS i")
    fdl("restore", lake.repo.address, "HEAD~1", "-m", "20")
    lake.checkout()
    step(lake, "21")
    assert fdl("run", lake.repo.address, "-m", "22", "--allow-empty", "--", "true").code == 0
    lake.checkout()
    origin = lake.work.with_name(f"{lake.work.name}.fdl") / "origin.json"
    state = json.loads(origin.read_text())
    sixteenth = state["base"].pop("ancestors")
    origin.write_text(json.dumps(state))
    step(lake, "23")
    versions = fdl("log", lake.repo.address, "--json").json["versions"][::-1]
    assert [version["seq"] for version in versions] == list(range(1, 24)) and sixteenth == [versions[15]["id"]]
    assert [version.get("ancestors") for version in versions] == [None] * 16 + [sixteenth] * 6 + [None]
    fdl("verify", lake.repo.address, "--all")
