"""fdl site: pages that tell what a repository holds, in a real browser, whatever its names are made of."""

import html.parser
import json
import re
import subprocess
import tempfile

import pytest

from harness import NOT_FOUND, Lake, duck, fdl, served

HOSTILE = '<img src=x onerror="document.title=1">'
TEXTS = [HOSTILE, "</code></pre><script>document.title=2</script>", "a & b < c", "turn \u202e around", "bell \x07"]


class Page(html.parser.HTMLParser):
    """The elements of a page, as a parser of HTML sees them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.links += [value for name, value in attrs if name in ("href", "src")]


def browser(url, *options):
    """What headless Chromium makes of a page: its document after scripts ran."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *options,
             "--dump-dom", url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def towns(tmp_path):
    lake = Lake(tmp_path)
    lake.checkout()
    lake.write(
        "CREATE TABLE lake.towns AS SELECT range::INT AS people, NULL::STRUCT(lat DOUBLE, lon DOUBLE) AS place FROM range(12345)",
        "COMMENT ON COLUMN lake.towns.people IS 'as counted'",
        f"CREATE TABLE lake.\"{HOSTILE.replace(chr(34), chr(34) * 2)}\" AS SELECT 1 AS \"<b>\"",
    )
    words = tmp_path / "dataset.json"
    words.write_text(json.dumps({"title": "Towns " + TEXTS[1], "description": "\n".join(TEXTS), "license": "CC0 " + HOSTILE}))
    lake.commit("--dataset", words, message=f"first {HOSTILE}", env={"FDL_AUTHOR_NAME": f"Ada {HOSTILE}"})
    lake.push()
    fdl("tag", lake.repo.address, "v1")
    lake.publish("DELETE FROM lake.towns WHERE people < 45", "ALTER TABLE lake.towns ADD COLUMN area DOUBLE",
                 "CREATE TABLE lake.rivers AS SELECT 1 AS id")
    return lake


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_the_pages_tell_what_the_versions_hold_and_how_to_read_them(towns, tmp_path):
    out = tmp_path / "out"
    assert fdl("site", towns.repo.address, out, "--json").json == {"folder": str(out), "pages": 5}
    first, second = towns.repo.record(towns.repo.head())["parents"][0], towns.repo.head()
    assert {path.name for path in out.iterdir()} == {
        "index.html", f"version-{first}.html", f"version-{second}.html", "fdl.css", "fdl.js"}
    index = (out / "index.html").read_text()
    text = html.unescape(text_of(index))
    for words in ("main.towns 12,300 rows", "people INTEGER as counted", "STRUCT(lat DOUBLE, lon DOUBLE)", "CC0",
                  "−45 rows", "area DOUBLE", "main.rivers new", "Signature none", f"v1 tag {first}", f"main branch {second}"):
        assert words in text, words
    old = html.unescape(text_of((out / f"version-{first}.html").read_text()))
    assert "12,345 rows" in old and "Branches and tags" not in old
    statement = html.unescape(re.search(r'<code id="attach">(.*?)</code>', index, re.DOTALL)[1])
    assert statement == fdl("attach", towns.repo.address).attach
    with duck(statement) as con:
        assert con.execute("SELECT count(*) FROM lake.towns").fetchall() == [(12300,)]


def test_words_of_a_repository_never_become_markup_in_a_browser(towns, tmp_path):
    out = tmp_path / "out"
    fdl("site", towns.repo.address, out, "--root", "https://data.example.org/<lake>")
    for file in out.glob("*.html"):
        page = Page(file.read_text())
        assert page.tags.count("script") == 1 and "img" not in page.tags and "b" in page.tags
        assert not [name for name in page.attributes if name.startswith("on")]
        assert all(re.fullmatch(r"fdl\.(css|js)|index\.html|version-[0-9a-f-]{36}\.html", link) for link in page.links)
        assert "\u202e" not in file.read_text() and "\x07" not in file.read_text()
    with served(out) as url:
        seen = browser(url + "index.html")
    assert re.search(r"<title>Towns &lt;/code&gt;", seen), "a script of the repository's changed the title"
    assert "<img" not in seen and "onerror=\"" not in re.sub(r"&lt;.*?&gt;", "", seen)
    assert 'data-copy="attach"' in seen and "https://data.example.org/&lt;lake&gt;/versions/" in seen


def test_an_expired_version_says_so_and_an_empty_repository_has_no_page(towns, tmp_path):
    first = towns.repo.record(towns.repo.head())["parents"][0]
    fdl("tag", towns.repo.address, "v1", "-d")
    fdl("expire", towns.repo.address, "--keep", "1")
    fdl("site", towns.repo.address, tmp_path / "out")
    old = text_of((tmp_path / "out" / f"version-{first}.html").read_text())
    assert "was let go on" in old and "cannot be read any more" in old and "ATTACH" not in old
    assert "gone" in text_of((tmp_path / "out" / "index.html").read_text())
    fdl("init", tmp_path / "empty")
    fdl("site", tmp_path / "empty", tmp_path / "none", code=NOT_FOUND)
