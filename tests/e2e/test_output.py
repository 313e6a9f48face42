"""What the program says and where: results on stdout, all else on stderr, --json as one document, exit codes."""

import re
import subprocess

import pytest
from harness import CONFLICT, FAILURE, NOT_FOUND, OK, REFUSED, ROOT, USAGE, command, duck, environment, fdl

COMMANDS = [
    *("init", "checkout", "status", "commit", "push", "url", "attach", "log", "show", "diff", "branch", "tag", "restore"),
    *("expire", "gc", "withdraw", "verify", "clone", "doctor", "run", "site"),
]


# ---- --json ------------------------------------------------------------------------------------------------------------


def test_json_of_init(tmp_path):
    said = fdl("init", tmp_path / "repo", "--json").json
    assert list(said) == ["repo", "created", "id", "data_dir"]
    assert said["repo"] == f"{tmp_path}/repo/" and said["created"] is True and said["data_dir"] == "data/"
    assert fdl("init", tmp_path / "repo", "--json").json == said | {"created": False}
    with_url = fdl("init", tmp_path / "other", "--url", "https://example.org/x", "--json").json
    assert list(with_url) == ["repo", "created", "id", "data_dir", "url"] and with_url["url"] == "https://example.org/x/"


def test_json_of_checkout(published):
    work = published.folder / "new.sqlite"
    said = fdl("checkout", published.repo.address, work, "--json").json
    assert list(said) == ["work", "repo", "branch", "base", "attach"]
    assert said["branch"] == "main" and said["base"] == published.repo.head()
    with duck(said["attach"]) as con:
        con.execute("INSERT INTO lake.t VALUES (1)")
    forced = fdl("checkout", published.repo.address, work, "--force", "--json").json
    assert list(forced) == ["work", "repo", "branch", "base", "attach", "backup"]


def test_json_of_checkout_from_an_empty_repository(tmp_path):
    fdl("init", tmp_path / "repo")
    said = fdl("checkout", tmp_path / "repo", tmp_path / "work.sqlite", "--json").json
    assert said["branch"] == "main" and said["base"] is None


def test_json_of_status(published):
    said = fdl("status", published.work, "--json").json
    assert list(said) == [
        *("work", "repo", "branch", "base", "base_seq", "snapshot", "committed_snapshot", "uncommitted_snapshots"),
        *("pending", "request", "moved", "remote", "attach"),
    ]
    head = published.repo.head()
    assert (said["base"], said["base_seq"], said["remote"], said["moved"]) == (head, 1, head, False)
    assert (said["snapshot"], said["uncommitted_snapshots"], said["pending"]) == (1, 0, [])
    assert said["attach"] == published.attach
    published.write("INSERT INTO lake.t VALUES (1)", "INSERT INTO lake.t VALUES (2)")
    assert fdl("status", published.work, "--json").json["uncommitted_snapshots"] == 2
    published.commit()
    said = fdl("status", published.work, "--json").json
    assert said["uncommitted_snapshots"] == 0 and said["pending"] == published.pending()


def test_json_of_commit(lake):
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
    said = lake.commit("--json").json
    assert list(said) == ["made", "id", "seq", "tables", "files", "catalog_bytes"]
    assert (said["made"], said["seq"], said["tables"], said["files"]) == (True, 1, 1, 1)
    assert said["id"] == lake.pending()[0]
    assert lake.commit("--json").json["made"] is False
    lake.write("INSERT INTO lake.t VALUES (2)")
    said = lake.commit("--push", "--json").json
    assert said["pushed"] == 2 and said["id"] == lake.repo.head()


def test_json_of_push(lake):
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
    lake.commit()
    waiting = lake.pending()
    said = lake.push("--json").json
    assert list(said) == ["branch", "pushed", "uploaded_files", "uploaded_bytes"]
    assert said["branch"] == "main" and said["pushed"] == waiting
    assert lake.push("--json").json["pushed"] == []


def test_json_of_url_and_attach(published):
    said = fdl("attach", published.repo.address, "--json").json
    assert list(said) == ["id", "url", "ducklake", "attach"] and said["ducklake"] == "1.0"
    assert said["attach"] + "\n" == fdl("attach", published.repo.address).stdout
    assert fdl("url", published.repo.address, "--json").json == {"id": said["id"], "url": said["url"]}


def test_json_of_log_and_show_carries_the_record_as_it_is(published):
    published.publish("INSERT INTO lake.t VALUES (1)")
    log = fdl("log", published.repo.address, "--json").json
    assert list(log) == ["versions"]
    assert log["versions"] == [published.repo.record(version["id"]) for version in log["versions"]]
    shown = fdl("show", published.repo.address, "--json").json
    assert list(shown) == ["version", "signature", "dataset"] and shown["signature"] == {
        "state": "unsigned",
        "reason": "it has no signature",
    }
    assert shown["version"] == log["versions"][0]
    assert shown["dataset"] == published.repo.dataset(published.repo.head())


def test_json_of_branch_and_tag(published):
    repo, version = published.repo.address, published.repo.head()
    side = {"name": "side", "ref": "refs/heads/side", "id": version}
    assert fdl("branch", repo, "side", "--json").json == {"created": side, "kind": "branch"}
    main = {"name": "main", "ref": "refs/heads/main", "id": version}
    assert fdl("branch", repo, "--json").json == {"head": "refs/heads/main", "refs": [main, side]}
    assert fdl("branch", repo, "side", "-d", "--json").json == {"deleted": side, "kind": "branch"}
    tag = {"name": "v1", "ref": "refs/tags/v1", "id": version}
    assert fdl("tag", repo, "v1", "--json").json == {"created": tag, "kind": "tag"}
    assert fdl("tag", repo, "--json").json == {"head": "refs/heads/main", "refs": [tag]}


@pytest.mark.parametrize(
    "args, code, name",
    [
        (["url", "REPO", "nothing"], NOT_FOUND, "not_found"),
        (["tag", "REPO", "v1"], CONFLICT, "conflict"),
        (["branch", "REPO", "-d", "main"], REFUSED, "refused"),
        (["tag", "REPO", "../x"], USAGE, "usage"),
        (["log", "REPO", "-n", "x"], USAGE, "usage"),
        (["url"], USAGE, "usage"),
        (["url", "REPO", "--nonsense"], USAGE, "usage"),
        (["status", "REPO/fdl.json"], NOT_FOUND, "not_found"),
    ],
)
def test_an_error_in_json_is_one_document_and_one_line_on_stderr(published, args, code, name):
    fdl("tag", published.repo.address, "v1")
    answer = fdl(*[arg.replace("REPO", published.repo.address) for arg in args], "--json", code=code)
    error = answer.json["error"]
    assert set(error) <= {"code", "message", "key"} and error["code"] == name
    assert answer.complaint == f"fdl: {error['message']}"


def test_every_field_of_json_stands_in_the_format_page(published):
    page = (ROOT / "docs" / "format.md").read_text()
    section = page.split("Output of --json\n", 1)[1].split("\n## ", 1)[0]
    repo = published.repo.address
    published.write("INSERT INTO lake.t VALUES (1)")
    documents = {
        "init": fdl("init", repo, "--json"),
        "status": fdl("status", published.work, "--json"),
        "commit": published.commit("--push", "--json"),
        "push": published.push("--json"),
        "url": fdl("url", repo, "--json"),
        "attach": fdl("attach", repo, "--json"),
        "log": fdl("log", repo, "--json"),
        "show": fdl("show", repo, "--json"),
        "branch": fdl("branch", repo, "side", "--json"),
        "tag": fdl("tag", repo, "--json"),
        "checkout": fdl("checkout", repo, published.work, "--json"),
        "diff": fdl("diff", repo, "main~1", "main", "--json"),
        "verify": fdl("verify", repo, "--json"),
    }
    for command, answer in documents.items():
        assert f"`fdl {command}`" in section, command
        for field in answer.json:
            assert f'"{field}"' in section, f"{command}: '{field}' is not described"


# ---- help and options --------------------------------------------------------------------------------------------------


def test_help_lists_every_command_and_the_exit_codes():
    text = fdl("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", text, re.MULTILINE), command
    assert "exit codes" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself_without_doing_anything(tmp_path, command):
    text = fdl(command, "--help", cwd=tmp_path).stdout
    assert text.startswith(f"usage: fdl {command} ")
    assert "--json" in text and "--help" in text
    assert fdl(command, "-h", cwd=tmp_path).stdout == text
    assert fdl("help", command, cwd=tmp_path).stdout == text
    assert list(tmp_path.iterdir()) == []


def test_version_is_one_line():
    assert re.fullmatch(r"fdl \d+\.\d+\.\d+\S*\n", fdl("--version").stdout)


def test_options_may_stand_before_and_after_operands(published):
    repo, version = published.repo.address, published.repo.head()
    for args in (
        ["log", repo, "main", "-n", "1", "--json"],
        ["log", "-n", "1", "--json", repo, "main"],
        ["log", "--max-count=1", repo, "--json", "main"],
        ["log", repo, "-n1", "main", "--json"],
        ["log", "--json", "-n1", "--", repo, "main"],
    ):
        assert fdl(*args).json["versions"][0]["id"] == version, args
    published.write("INSERT INTO lake.t VALUES (1)")
    fdl("commit", "-m", "before", published.work)
    published.write("INSERT INTO lake.t VALUES (1)")
    fdl("commit", published.work, "--message=after")
    assert len(published.pending()) == 2


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["frobnicate"],
        ["url"],
        ["url", ""],
        ["url", "a", "b", "c"],
        ["url", "a", "--nothing"],
        ["url", "a", "-z"],
        ["log", "a", "-n"],
        ["log", "a", "-n", "0"],
        ["log", "a", "-n", "-1"],
        ["log", "a", "-n", "many"],
        ["log", "a", "-n", "99999999999999999999"],
        ["checkout", "a"],
        ["commit"],
        ["branch", "a", "-d"],
        ["tag", "a", "b", "c", "-d"],
        ["help", "frobnicate"],
        ["status", "a", "--jobs", "0"],
    ],
)
def test_a_wrong_command_line_is_a_usage_error_of_one_line(args, tmp_path):
    answer = fdl(*args, code=USAGE, cwd=tmp_path)
    assert answer.stdout == "" and answer.complaint.startswith("fdl: ")
    assert list(tmp_path.iterdir()) == []


def test_a_commit_needs_a_message_and_an_author_that_is_one(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    assert "-m" in fdl("commit", published.work, code=USAGE).complaint
    fdl("commit", published.work, "-m", "", code=USAGE)
    assert "Name <email>" in published.commit("--author", "<only@mail>", code=USAGE).complaint
    assert published.pending() == []


@pytest.mark.parametrize(
    "options, env, author",
    [
        (["--author", "Bo Other <bo@example.org>"], {}, {"name": "Bo Other", "email": "bo@example.org"}),
        (["--author", "Bo"], {}, {"name": "Bo"}),
        ([], {}, {"name": "Ada Writer", "email": "ada@example.org"}),
        (
            [],
            {
                "FDL_AUTHOR_NAME": None,
                "FDL_AUTHOR_EMAIL": None,
                "GIT_CONFIG_COUNT": 2,
                "GIT_CONFIG_KEY_0": "user.name",
                "GIT_CONFIG_VALUE_0": "Git Person",
                "GIT_CONFIG_KEY_1": "user.email",
                "GIT_CONFIG_VALUE_1": "git@example.org",
            },
            {"name": "Git Person", "email": "git@example.org"},
        ),
    ],
)
def test_the_author_comes_from_the_option_else_the_environment_else_git(lake, options, env, author):
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
    lake.commit(*options, env=env)
    lake.push()
    assert lake.repo.record(lake.repo.head())["author"] == author


def test_without_git_and_environment_the_author_is_the_login_name(lake, tmp_path):
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")
    (tmp_path / "empty").mkdir()
    lake.commit(env={"FDL_AUTHOR_NAME": None, "FDL_AUTHOR_EMAIL": None, "PATH": tmp_path / "empty"})
    lake.push()
    author = lake.repo.record(lake.repo.head())["author"]
    assert list(author) == ["name"] and author["name"]


def test_quiet_leaves_only_results(published):
    published.write("INSERT INTO lake.t VALUES (1)")
    for answer in (published.commit("-q"), published.push("-q"), fdl("checkout", "-q", published.repo.address, published.work)):
        assert answer.stderr == "" and answer.stdout != ""


def test_messages_of_any_text_come_back_as_they_were_and_never_move_the_terminal(published):
    message = "two\nlines; \"quotes\" 'n' \\ 表 \x1b[31mred\x07"
    published.write("INSERT INTO lake.t VALUES (1)")
    published.commit(message=message)
    published.push()
    assert fdl("log", published.repo.address, "-n1", "--json").json["versions"][0]["message"] == message
    for command in ("log", "show"):
        text = fdl(command, published.repo.address).stdout
        assert "\x1b" not in text and "\x07" not in text and "表" in text


def test_what_is_said_where_nobody_listens_gets_into_no_file(lake):
    """A descriptor that is closed is not given to a file: the first commit tells something, under its lock."""
    lake.checkout()
    lake.write("CREATE TABLE lake.t AS SELECT 1 AS i")

    def shut(*args, closed):
        script = 'exec "$@" ' + " ".join(f"{fd}>&-" for fd in closed)
        return subprocess.run(["bash", "-c", script, "bash", *command(*args)], capture_output=True, env=environment(), timeout=60)

    assert shut("commit", lake.work, "-m", "x", closed=(2,)).returncode == OK
    assert (lake.work.with_name(lake.work.name + ".fdl") / "lock").read_bytes() == b""
    lake.push()
    assert shut("clone", lake.repo.address, lake.folder / "mirror", closed=(0, 1, 2)).returncode == FAILURE  # to print
    fdl("verify", lake.folder / "mirror", "--data")


def test_a_full_disk_behind_stdout_is_a_failure(published):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("log", published.repo.address), stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60
        )
    assert done.returncode == FAILURE and done.stderr.decode().count("\n") == 1


def test_status_warns_of_the_one_clean_up_that_nothing_in_a_catalog_can_stop():
    assert "cleanup_all" in fdl("status", "--help").stdout
