"""The manual and the shells' completions say what --help says, and work in the real programs."""

import re
import subprocess

import pytest

from harness import PROGRAM, USAGE, environment, fdl

MANUAL = PROGRAM.parent / "manual"
COMMANDS = [line.split()[0] for line in fdl("--help").stdout.split("commands:\n")[1].split("\n\n")[0].splitlines()]


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+(?=[ ,\n])", text))


def shell(*words, script):
    """What a shell prints, with fdl on its PATH."""
    env = environment(PATH=f"{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin", HOME="/nonexistent")
    return subprocess.run([*words, script], capture_output=True, text=True, env=env, check=True).stdout.split()


def rendered(page):
    """As a terminal with Unicode shows it; one without must have a sign for everything too."""
    for device in ("ascii", "utf8"):
        done = subprocess.run(["groff", "-k", "-man", f"-T{device}", "-P-cbou", "-ww", page], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", f"{page}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_the_manual_page_of_a_command_has_the_options_and_words_of_its_help(command):
    assert (MANUAL / "man1" / f"fdl-{command}.1").read_text() == fdl("man", command).stdout
    page, said = rendered(MANUAL / "man1" / f"fdl-{command}.1"), fdl(command, "--help").stdout
    table = said.split("\noptions:\n" if "\noptions:\n" in said else "\nfor every command:\n")[1]
    assert options_in(page) >= options_in(table) >= {"--json", "--help"}
    assert said.splitlines()[0].removeprefix("usage: ") in re.sub(r"\s+", " ", page)
    assert said.splitlines()[2].rstrip(".") in re.sub(r"\s+", " ", page)


def test_the_manual_of_the_program_and_the_format_render():
    assert all(f"fdl-{command}(1)" in rendered(MANUAL / "man1" / "fdl.1") for command in COMMANDS)
    text = rendered(MANUAL / "man5" / "fdl-format.5")
    assert "version.json.sig" in text and "`" not in text and "](" not in text
    assert fdl("man", "nothing", code=USAGE).stdout == ""
    assert fdl("man", "fdl").stdout == fdl("man").stdout == (MANUAL / "man1" / "fdl.1").read_text()
    assert fdl("man", "fdl-push").stdout == fdl("man", "push").stdout


def test_help_of_a_command_and_words_that_were_meant(tmp_path):
    assert fdl("help").stdout == fdl("--help").stdout
    assert fdl("help", "push").stdout == fdl("push", "--help").stdout
    for words, meant in (
        (["psuh"], "push"), (["comit"], "commit"), (["check"], "checkout"), (["help", "statsu"], "status"), (["man", "difff"], "diff"),
        (["log", tmp_path, "--grpah"], "--graph"), (["commit", tmp_path, "--mesage=x"], "--message"), (["gc", "--jsn"], "--json"),
    ):
        assert f"; did you mean '{meant}'? see 'fdl " in fdl(*words, code=USAGE).complaint
    for words in (["xyz"], ["log", tmp_path, "--zzzzzz"], ["x" * 99], ["log", tmp_path, "-Z"]):
        assert "; see 'fdl " in fdl(*words, code=USAGE).complaint


def bash_offers(*words):
    line = " ".join(f"'{word}'" for word in words)
    script = f"""source {MANUAL}/completion/bash
        COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _fdl; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return shell("bash", "-c", script=script)


def test_bash_completes_commands_options_files_and_revs(published, tmp_path):
    repo = published.repo.address
    fdl("tag", repo, "v1")
    assert bash_offers("fdl", "pu") == ["push"]
    assert set(bash_offers("fdl", "")) == set(COMMANDS)
    assert bash_offers("fdl", "help", "pu") == bash_offers("fdl", "man", "pu") == ["push"]
    assert bash_offers("fdl", "commit", "--al") == ["--allow-empty", "--allow-encrypted"]
    assert bash_offers("fdl", "show", repo[:-2]) == [repo]
    assert bash_offers("fdl", "show", repo, "") == ["HEAD", "main", "v1"]
    assert bash_offers("fdl", "log", "-n", "3", repo, "v") == ["v1"]
    assert bash_offers("fdl", "diff", repo, "main", "v") == ["v1"]
    (tmp_path / "key").touch()
    assert bash_offers("fdl", "commit", "--sign", f"{tmp_path}/k") == [f"{tmp_path}/key"]


def test_fish_and_zsh_complete_the_same(published):
    repo = published.repo.address
    fdl("tag", repo, "v1")

    def fish_offers(line):
        return shell("fish", "-c", script=f'source {MANUAL}/completion/fish; complete -C "{line}" | cut -f1')

    assert fish_offers("fdl pu") == ["push"]
    assert set(fish_offers("fdl ")) >= set(COMMANDS)
    assert fish_offers("fdl help pu") == ["push"]
    assert fish_offers("fdl commit --allow-en") == ["--allow-encrypted"]
    assert {"main", "v1", "HEAD"} <= set(fish_offers(f"fdl show {repo} "))
    script = f"""autoload -U compinit && compinit -D -u; source {MANUAL}/completion/zsh
        COMP_WORDS=(fdl show {repo} v); COMP_CWORD=3; print ${{_comps[fdl]}}"""
    assert shell("zsh", "-f", "-c", script=script) == ["_bash_complete", "-F", "_fdl"]


def test_what_is_installed_has_the_manual_and_the_completions(tmp_path):
    done = subprocess.run(["cmake", "--install", PROGRAM.parent, "--prefix", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    share = tmp_path / "share"
    assert {page.name for page in (share / "man").rglob("*.*")} == {
        "fdl.1", "fdl-format.5", *(f"fdl-{command}.1" for command in COMMANDS)}
    for file in ("bash-completion/completions/fdl", "zsh/site-functions/_fdl", "fish/vendor_completions.d/fdl.fish"):
        assert "fdl" in (share / file).read_text()
    said = subprocess.run([tmp_path / "bin" / "fdl", "--version"], capture_output=True, text=True)
    assert said.stdout == fdl("--version").stdout
