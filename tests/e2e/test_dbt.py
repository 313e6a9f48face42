"""commit --dbt: whose words a version's description holds, and what is passed over. A real project of dbt: test_examples.py."""

import json

import pytest

from harness import NOT_FOUND, REFUSED


@pytest.fixture
def target(tmp_path):
    """Writes a manifest, of models by name, into a folder as dbt does."""
    folder = tmp_path / "target"
    folder.mkdir()

    def write(**models):
        nodes = {
            f"model.x.{name}": {
                "resource_type": "model",
                "database": "lake",
                "schema": "main",
                "name": name,
                "description": description,
                "columns": {column: {"name": column, "description": words} for column, words in columns.items()},
            }
            for name, (description, columns) in models.items()
        }
        manifest = {"metadata": {"dbt_schema_version": "schemas/dbt/manifest/v12.json"}, "nodes": nodes}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return write


def described(lake, table="t"):
    """A table's comment and its columns' in the newest version."""
    tables = {entry["name"]: entry for entry in lake.repo.dataset(lake.repo.head())["tables"]}
    return tables[table].get("comment"), {column["name"]: column.get("comment") for column in tables[table]["columns"]}


def test_dbts_words_win_over_the_catalogs_and_the_parents_and_give_way_to_the_publishers(lake, target, tmp_path):
    lake.write(
        "CREATE TABLE lake.t (a INT, b INT)",
        "COMMENT ON TABLE lake.t IS 'the catalog'",
        "COMMENT ON COLUMN lake.t.b IS 'b, the catalog'",
        "CREATE VIEW lake.v AS SELECT 1 AS one",
    )
    words = target(t=("dbt\n", {"a": "a, dbt"}), v=("a view", {"one": "a number"}), other=("not here", {"x": "nor here"}))
    assert "warning" not in lake.commit("--dbt", words, "--push").stderr
    assert described(lake) == ("dbt", {"a": "a, dbt", "b": "b, the catalog"})
    assert described(lake, "v") == ("a view", {"one": "a number"})

    own = tmp_path / "dataset.json"
    own.write_text('{"title": "T", "tables": [{"name": "t", "comment": "mine", "columns": [{"name": "b", "comment": "my b"}]}]}')
    lake.commit("--dataset", own, "--dbt", words, "--push")
    assert described(lake) == ("mine", {"a": "a, dbt", "b": "my b"})

    # Carried over by the next commit; then dbt speaks again, and what it does not say stays.
    lake.write("INSERT INTO lake.t VALUES (1, 2)")
    lake.commit("--push")
    assert described(lake) == ("mine", {"a": "a, dbt", "b": "my b"})
    lake.commit("--dbt", target(t=("dbt again", {})), "--push")
    assert described(lake) == ("dbt again", {"a": "a, dbt", "b": "my b"})
    assert lake.repo.dataset(lake.repo.head())["title"] == "T"
    assert "nothing to commit" in lake.commit("--dbt", target(t=("dbt again", {}))).stdout


def test_a_column_that_dbt_describes_and_nobody_has_is_told_by_name(published, target):
    said = published.commit("--dbt", target(t=("ten numbers", {"I": "a number", "gone": "x"})), "--push").stderr
    assert [line for line in said.splitlines() if "describes" in line] == [
        "fdl: warning: dbt describes the column 'main.t.gone', which the catalog does not have"
    ]
    assert described(published) == ("ten numbers", {"i": "a number"})


def test_a_folder_without_a_manifest_of_dbt_is_told(published, target, tmp_path):
    assert "name the folder that dbt writes to" in published.commit("--dbt", tmp_path, code=NOT_FOUND).complaint
    folder = target()
    (folder / "manifest.json").write_text('{"tables": []}')
    assert "is not a manifest of dbt" in published.commit("--dbt", folder, code=REFUSED).complaint
