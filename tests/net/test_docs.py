"""What the docs tell to type works, and prints what they say."""

import os
import sys
from pathlib import Path

import pytest

from docs import Page
from harness import extension_directory
from servers import Nginx, free_port

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ["../README.md", "tutorial.md", "http.md", *sorted(f"howto/{page.name}" for page in (DOCS / "howto").glob("*.md"))]
NOTHING_TO_RUN = {"howto/github-actions.md"}  # somebody else's machine runs it


# What is there already for the reader of a page.
BEFORE = {
    "howto/describe.md": """
```console
$ mkdir -m 700 ~/.ssh && ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519
```
""",
    "http.md": """
```console
$ fdl init /srv/lake --url http://127.0.0.1:8080
...
$ fdl checkout /srv/lake work.sqlite
...
```
```sql
CREATE TABLE lake.towns AS SELECT 'Kyoto' AS name, 1464000 AS people;
```
```console
$ fdl commit work.sqlite -m "Kyoto" --push
...
```
""",
}


@pytest.fixture
def places(tmp_path):
    """What the docs call /srv, and the web server that shows it."""
    folders = {name: tmp_path / name for name in ("home", "srv", "etc", "web", "bin")}
    for folder in folders.values():
        folder.mkdir()
    # A DuckDB that does not look for extensions outside.
    (folders["bin"] / "python3").write_text(
        f"#!/bin/sh\nmkdir -p ~/.duckdb && ln -sfn {extension_directory()} ~/.duckdb/extensions\nexec {sys.executable} \"$@\"\n")
    (folders["bin"] / "python3").chmod(0o755)
    with Nginx(folders["web"], folders["srv"]) as server:
        yield folders, {"https://data.example.org/": f"{server.url}/", "/srv/": f"{folders['srv']}/",
                        "/home/ada/": f"{folders['home']}/", "/etc/fdl/": f"{folders['etc']}/"}


@pytest.mark.parametrize("name", [page for page in PAGES if page not in NOTHING_TO_RUN])
def test_what_the_docs_tell_to_type_works_as_they_say(name, places, request):
    folders, addresses = places
    text = (DOCS / name).read_text()
    port = free_port()
    if "https://lake.example.org" in text:  # a host of the page's own; HTTPS is a proxy's before it
        addresses["https://lake.example.org"] = f"http://127.0.0.1:{port}"
    addresses[":8080"] = f":{port}"
    variables = {"PATH": f"{folders['bin']}:{os.environ['PATH']}"}
    if "s3://towns" in text:
        server = request.getfixturevalue("versitygw")
        bucket = f"towns-{folders['srv'].parent.name.rstrip('_')}"[:40].replace("_", "-")
        server.boto().create_bucket(Bucket=bucket)
        addresses["s3://towns/"] = f"s3://{bucket}/"
        # What the page tells to export is for a store that is not here.
        variables |= {name: value for name, value in server.client_environment().items() if name.startswith("AWS_")}
        text = text.replace("```sh\nexport AWS_ENDPOINT", "```text\nexport AWS_ENDPOINT")
    if name in BEFORE:
        Page(BEFORE[name], folders["home"], addresses, **variables).run()
    Page(text, folders["home"], addresses, **variables).run()
