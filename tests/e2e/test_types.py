"""Every type that DuckLake takes, with its hardest values, through commit, push, a reader, and a new checkout."""

import pytest

# Type -> values as SQL text; each is cast to the type. NULL is added to every one.
SCALARS = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "0", "127"],
    "SMALLINT": ["-32768", "32767"],
    "INTEGER": ["-2147483648", "2147483647"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"],
    "UTINYINT": ["0", "255"],
    "USMALLINT": ["0", "65535"],
    "UINTEGER": ["0", "4294967295"],
    "UBIGINT": ["0", "18446744073709551615"],
    "HUGEINT": ["-9007199254740992", "0", "9007199254740992"],  # Parquet keeps it as DOUBLE
    "UHUGEINT": ["0", "9007199254740992"],
    "FLOAT": ["0", "-0.0", "1.5e-45", "3.4e38", "nan", "inf", "-inf"],
    "DOUBLE": ["0", "-0.0", "4.9e-324", "1.7976931348623157e308", "nan", "inf", "-inf"],
    "DECIMAL(4,1)": ["-999.9", "0.1"],
    "DECIMAL(9,3)": ["-999999.999", "0.001"],
    "DECIMAL(18,6)": ["-999999999999.999999", "0.000001"],
    "DECIMAL(38,0)": ["-99999999999999999999999999999999999999", "1"],
    "DECIMAL(38,10)": ["9999999999999999999999999999.9999999999", "0.0000000001"],
    "DECIMAL(38,38)": ["0.99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001"],
    "DATE": ["0001-01-01", "1969-12-31", "9999-12-31"],
    "TIME": ["00:00:00", "23:59:59.999999"],
    "TIMETZ": ["00:00:00+15:59", "23:59:59.999999-09:30"],
    "TIMESTAMP": ["0001-01-01 00:00:00", "1969-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"],
    "TIMESTAMP_S": ["1970-01-01 00:00:01", "2038-01-19 03:14:08"],
    "TIMESTAMP_MS": ["1969-12-31 23:59:59.999", "2026-10-15 09:00:00.001"],
    "TIMESTAMP_NS": ["1969-12-31 23:59:59.999999999", "2026-10-15 09:00:00.000000001"],
    "TIMESTAMPTZ": ["2026-10-15 09:00:00+09", "2026-10-15 00:00:00Z", "1969-12-31 23:59:59.999999-11:30"],
    "INTERVAL": ["0 days", "3 years 2 months 1 day 04:05:06.007"],  # Parquet keeps milliseconds, and none below 0
    "UUID": ["00000000-0000-0000-0000-000000000000", "80000000-0000-4000-8000-000000000000", "f" * 8 + "-ffff" * 3 + "-" + "f" * 12],
    "BLOB": ["", "\\x00\\xFF\\x0A\\x27", "plain"],
    "VARCHAR": ["", " ", "it''s", '"', "a;b", "line\nbreak", "tab\t", "\\", "NULL", "日本語", "🦆", "é", "%20"],
    "JSON": ['{"a": [1, null, "it''s"]}', "null", "[]"],
    "GEOMETRY": ["POINT (1 2)", "POLYGON ((0 0, 0 1, 1 1, 0 0))", "LINESTRING (0 0, 1 1)"],
}

NESTED = {
    "STRUCT(a INTEGER, b STRUCT(c VARCHAR, d DECIMAL(9,2)))": ["{'a': 1, 'b': {'c': 'x', 'd': 1.5}}", "{'a': NULL, 'b': NULL}"],
    "INTEGER[]": ["[]", "[NULL]", "[1, 2, NULL]"],
    "VARCHAR[][]": ["[['a', NULL], [], NULL]"],
    "MAP(VARCHAR, INTEGER)": ["MAP {}", "MAP {'k': 1, 'it''s': NULL}"],
    "MAP(INTEGER, STRUCT(x DATE[])[])": ["MAP {1: [{'x': ['2026-10-15'::DATE, NULL]}]}"],
    "STRUCT(\"a b\" INTEGER, \"ü;'\" VARCHAR)[]": ["[{'a b': 1, 'ü;''': 'x'}, NULL]"],
    "VARIANT": ["1::VARIANT", "'x'::VARIANT", "{'a': 1, 'b': [{'c': 'x'}]}::VARIANT", "[1, 2]::VARIANT"],
}

# Each value as an expression that has its type.
TYPES = {name: [f"CAST('{value}' AS {name})" for value in values] for name, values in SCALARS.items()}
TYPES |= {name: [f"CAST({value} AS {name})" for value in values] for name, values in NESTED.items()}


def rows_of(kind):
    """A SELECT with every value of a type, a NULL among them."""
    values = [*TYPES[kind], f"CAST(NULL AS {kind})"]
    return " UNION ALL ".join(f"SELECT {number} AS id, {value} AS v" for number, value in enumerate(values))


def test_a_value_of_every_type_is_read_back_and_worked_on(twin):
    columns = {kind: f"c{number}" for number, kind in enumerate(TYPES)}
    declared = ", ".join(f"{column} {kind}" for kind, column in columns.items())
    twin.run(f"CREATE TABLE lake.every (id INTEGER, {declared})")
    depth = max(len(values) for values in TYPES.values())
    for row in range(depth):
        values = ", ".join(f"{values[row % len(values)]} AS {columns[kind]}" for kind, values in TYPES.items())
        twin.run(f"INSERT INTO lake.every BY NAME SELECT {row} AS id, {values}")
    twin.run("INSERT INTO lake.every (id) VALUES (-1)")
    twin.compare()
    twin.travel()
    some = ", ".join(f"{values[-1]} AS {columns[kind]}" for kind, values in TYPES.items())
    twin.work_on("lake.every", "id", f"SELECT 100 AS id, {some}")


def test_each_type_alone_keeps_its_statistics_apart(twin):
    """One table a type: what the statistics say of one never answers for another."""
    for number, kind in enumerate(TYPES):
        twin.run(f"CREATE TABLE lake.only_{number} (id INTEGER, v {kind})")
        twin.run(f"INSERT INTO lake.only_{number} {rows_of(kind)}")
    twin.compare()
    twin.travel()
    for number, kind in enumerate(TYPES):
        twin.run(f"INSERT INTO lake.only_{number} {rows_of(kind)}", f"DELETE FROM lake.only_{number} WHERE id = 0")
    twin.run("CALL ducklake_merge_adjacent_files('lake')")
    twin.compare("after a merge")
    twin.travel()


def test_columns_of_nulls_alone_have_null_statistics_of_their_own(twin):
    """The same column ids in two tables, one of them with nothing but NULLs."""
    twin.run(
        "CREATE TABLE lake.full_one (a INTEGER, b VARCHAR, c DOUBLE)",
        "CREATE TABLE lake.nulls (a INTEGER, b VARCHAR, c DOUBLE)",
        "CREATE TABLE lake.empty (a INTEGER, b VARCHAR, c DOUBLE)",
        "INSERT INTO lake.full_one SELECT range, 'v' || range, range / 2 FROM range(100)",
        "INSERT INTO lake.nulls SELECT NULL, NULL, NULL FROM range(100)",
    )
    twin.travel()
    twin.run("INSERT INTO lake.nulls VALUES (7, 'seven', 'nan'), (NULL, NULL, 7)")
    twin.travel()
    twin.run("UPDATE lake.nulls SET a = 5 WHERE a IS NULL", "INSERT INTO lake.empty VALUES (1, NULL, NULL)")
    twin.travel()


def test_not_a_number_and_infinity_stay_and_leave_the_description_valid(twin):
    """NaN is no JSON."""
    twin.run(
        "CREATE TABLE lake.f (id INTEGER, f FLOAT, d DOUBLE)",
        "INSERT INTO lake.f VALUES (1, 'nan', 'nan'), (2, 'inf', '-inf')",
        "INSERT INTO lake.f VALUES (3, 1, 2), (4, NULL, NULL)",
        "INSERT INTO lake.f VALUES (5, '-inf', 'nan')",
    )
    twin.travel()
    dataset = twin.lake.repo.version_file(twin.lake.repo.head(), "dataset.json").read_text()
    assert "NaN" not in dataset and "Infinity" not in dataset
    with twin.lake.repo.reader() as reader:
        for question, ids in (("d = 'nan'", [1, 5]), ("f > 1e30", [1, 2]), ("f < 0", [5]), ("d <= 2", [2, 3])):
            found = reader.execute(f"SELECT id FROM lake.f WHERE {question} ORDER BY id").fetchall()
            assert [row[0] for row in found] == ids, question
    twin.work_on("lake.f", "d", "SELECT 9 AS id, 'nan'::FLOAT AS f, 'inf'::DOUBLE AS d")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/St_Johns"])
def test_an_instant_is_the_same_under_any_time_zone(lake, zone):
    """Times come out of SQLite as text, in whatever spelling the writer's zone gave them."""
    spellings = ["2026-10-15 09:00:00+09", "2026-10-15T00:00:00Z", "2026-10-15 00:00:00.000000+00"]
    with lake.writer() as con:
        con.execute(f"SET TimeZone = '{zone}'")
        con.execute("CREATE TABLE lake.t (i INTEGER, ts TIMESTAMPTZ)")
        for number, spelling in enumerate(spellings):
            con.execute(f"INSERT INTO lake.t VALUES ({number}, '{spelling}')")
        written = con.execute(
            "SELECT snapshot_id, epoch_us(snapshot_time) FROM ducklake_snapshots('lake') ORDER BY ALL"
        ).fetchall()
    lake.commit(env={"TZ": zone})
    lake.push()
    with lake.repo.reader() as reader:
        reader.execute(f"SET TimeZone = '{zone}'")
        assert reader.execute("SELECT count(*) FROM lake.t WHERE ts = '2026-10-15 00:00:00Z'").fetchone() == (3,)
        last = reader.execute(
            "SELECT snapshot_id, epoch_us(snapshot_time) FROM ducklake_snapshots('lake') ORDER BY ALL"
        ).fetchall()
    assert last == written[-1:]
