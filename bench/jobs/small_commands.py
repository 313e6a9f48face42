"""url, log -n 20 and branch on a folder, beside git's own: whole processes, hundreds of each."""

from measure import FDL, Row, median, take_turns
from measure import run as run_program
from synthetic import make_commits, make_versions

VERSIONS = 50
RUNS_PER_REPEAT = 60  # of a process that lasts a millisecond, many are needed


def run(bench):
    root, work = bench.folder / "repo", bench.folder / "git"
    make_versions(root, VERSIONS)
    work.mkdir()
    make_commits(work, VERSIONS)
    for name, ours, theirs in (
        ("url", ("url", root), ("rev-parse", "HEAD")),
        ("log -n 20", ("log", root, "-n", "20"), ("log", "-n", "20")),
        ("branch", ("branch", root), ("branch",)),
    ):
        sides = (lambda: run_program(FDL, *ours), lambda: run_program("git", "-C", work, *theirs))
        mine, git = take_turns(bench.repeat * RUNS_PER_REPEAT, *sides)
        yield Row(f"{name} on a folder, and git {theirs[0]}", median(mine) * 1e3, median(git) * 1e3, "ms", at_most=1.2, counts={"runs": len(mine)})
