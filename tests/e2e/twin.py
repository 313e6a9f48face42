"""The same story told twice: to a plain DuckLake, and to one that fdl keeps versions of.

Every statement is run on both; then `travel` commits, pushes and checks the versioned one out again. Whatever fdl
drops, keeps or converts on the way, a person must not be able to tell the two apart: the same rows with the same row
ids, the same columns, defaults, comments, views, macros and keys, and the same statements that fail.
"""

from harness import Lake, duck, fdl, ident, text

# All that a DuckDB session can see of a lake, apart from the rows.
CATALOG = {
    "schemas": "SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake' AND NOT internal ORDER BY ALL",
    "tables": "SELECT schema_name, table_name, comment FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY ALL",
    "columns": """SELECT schema_name, table_name, column_index, column_name, data_type, is_nullable, column_default,
                  comment FROM duckdb_columns() WHERE database_name = 'lake' AND NOT internal ORDER BY ALL""",
    "views": """SELECT schema_name, view_name, comment, sql FROM duckdb_views()
                WHERE database_name = 'lake' AND NOT internal ORDER BY ALL""",
    "macros": """SELECT schema_name, function_name, parameters::VARCHAR, macro_definition FROM duckdb_functions()
                 WHERE database_name = 'lake' AND NOT internal ORDER BY ALL""",
    "partition keys": """SELECT t.table_name, k.partition_key_index, c.column_name, k.transform
                         FROM META.ducklake_partition_column k JOIN META.ducklake_partition_info p USING (partition_id)
                         JOIN META.ducklake_table t ON t.table_id = p.table_id AND t.end_snapshot IS NULL
                         JOIN META.ducklake_column c ON c.table_id = p.table_id AND c.column_id = k.column_id
                         WHERE p.end_snapshot IS NULL AND c.end_snapshot IS NULL ORDER BY ALL""",
    "sort keys": """SELECT t.table_name, e.sort_key_index, e.expression, e.sort_direction, e.null_order
                    FROM META.ducklake_sort_expression e JOIN META.ducklake_sort_info s USING (sort_id)
                    JOIN META.ducklake_table t ON t.table_id = s.table_id AND t.end_snapshot IS NULL
                    WHERE s.end_snapshot IS NULL ORDER BY ALL""",
}


def picture(con, *only):
    """Everything that can be seen of the lake attached as `lake`, as plain values to compare; rows are always in it."""
    seen = {}
    for what in only or CATALOG:
        seen[what] = con.execute(CATALOG[what].replace("META.", "__ducklake_metadata_lake.")).fetchall()
    for schema, table, _ in seen["tables"]:
        name = ident("lake", schema, table)
        seen[f"rows of {name}"] = con.execute(
            f"SELECT rowid, fdl_row::VARCHAR FROM {name} AS fdl_row ORDER BY rowid"
        ).fetchall()
    for schema, view, _, _ in seen.get("views", []):
        name = ident("lake", schema, view)
        seen[f"rows of {name}"] = rows_or_complaint(con, f"SELECT fdl_row::VARCHAR FROM {name} AS fdl_row ORDER BY 1")
    return seen


def filtered(con):
    """What questions that DuckDB answers from statistics come to: a wrong statistic shows here and not in the rows."""
    seen = {}
    columns = con.execute(
        """SELECT schema_name, table_name, column_name FROM duckdb_columns() WHERE database_name = 'lake'
           AND NOT internal AND NOT regexp_matches(data_type, '[(\\[]|VARIANT|GEOMETRY|JSON|INTERVAL')
           AND (schema_name, table_name) IN (SELECT schema_name, table_name FROM duckdb_tables())
           ORDER BY ALL"""
    ).fetchall()
    for schema, table, column in columns:
        name, column = ident("lake", schema, table), ident(column)
        ends = rows_or_complaint(con, f"SELECT min({column})::VARCHAR, max({column})::VARCHAR FROM {name}")
        questions = ["IS NULL"]
        questions += [f"{how} {text(end)}" for row in ends for how, end in zip(("=", ">="), row) if end]
        seen[name, column] = [ends] + [
            rows_or_complaint(con, f"SELECT count(*) FROM {name} WHERE {column} {question}") for question in questions
        ]
    return seen


def rows_or_complaint(con, sql):
    """A view may be broken, and DuckDB fail in both lakes alike."""
    try:
        return con.execute(sql).fetchall()
    except Exception as error:
        recover(con)
        return [(type(error).__name__,)]


def recover(con):
    """A statement that failed may leave its transaction open."""
    try:
        con.execute("ROLLBACK")
    except Exception:
        pass


def assert_same(one, other, what):
    for key in one.keys() | other.keys():
        assert one.get(key) == other.get(key), f"{what}: {key} differs"


class Twin:
    def __init__(self, folder):
        self.lake = Lake(folder)
        self.lake.checkout()
        self.control_data = folder / "control" / "data"
        self.control_data.mkdir(parents=True)
        # The control gets the very options of the printed statement, on files of its own.
        self.control_attach = (
            f"ATTACH {text('ducklake:' + str(folder / 'control' / 'plain.sqlite'))} AS lake (META_TYPE 'sqlite', "
            f"DATA_PATH {text(str(self.control_data) + '/')}, DATA_INLINING_ROW_LIMIT 0)"
        )
        self.told = []
        self.trips = 0
        self.open()

    def open(self):
        self.control = duck(self.control_attach)
        self.versioned = self.lake.writer()

    def close(self):
        self.control.close()
        self.versioned.close()

    def sides(self):
        return ((self.control, self.control_data), (self.versioned, self.lake.repo.data))

    def run(self, *statements):
        """Runs statements on both; both must take them."""
        for statement in statements:
            outcome = self.attempt(statement)
            assert outcome == "", f"{statement}: {outcome}"

    def attempt(self, statement):
        """Runs one statement on both, which must answer alike; "" when both took it. {data} is the data folder."""
        self.told.append(statement)
        outcomes = [self.attempt_one(con, statement.replace("{data}", f"{data}/")) for con, data in self.sides()]
        kinds = [outcome.split(":")[0] for outcome in outcomes]
        assert kinds[0] == kinds[1], f"{statement}\nplain: {outcomes[0]}\nversioned: {outcomes[1]}"
        return outcomes[1]

    @staticmethod
    def attempt_one(con, statement):
        try:
            con.execute(statement).fetchall()
            return ""
        except Exception as error:
            recover(con)
            return f"{type(error).__name__}: {error}"

    def folder(self, name):
        """Makes a folder in both data folders, for files that DuckLake did not write."""
        for _, data in self.sides():
            (data / name).mkdir(parents=True, exist_ok=True)

    def compare(self, what="after a statement"):
        assert_same(picture(self.control), picture(self.versioned), what)

    def compare_rows(self):
        """The quick form, for after each of many statements."""
        assert_same(*(picture(con, "tables", "columns") for con, _ in self.sides()), "after a statement")

    def compare_reader(self, revision=None):
        """A reader of what was pushed sees what the control holds."""
        with self.lake.repo.reader(revision) as reader, duck(self.control_attach) as control:
            assert_same(picture(control), picture(reader), "a reader")
            assert_same(filtered(control), filtered(reader), "a reader that filters")

    def commit(self, *options):
        self.versioned.close()
        answer = self.lake.commit(*options)
        self.versioned = self.lake.writer()
        return answer

    def travel(self, *commit_options, read=True):
        """Commit, push, read, and go on in a working catalog made from what was published.

        Always a version, even of rows inserted and deleted again: the plain lake has counted their row ids, too."""
        self.versioned.close()
        self.lake.commit("--allow-empty", *commit_options)
        self.lake.push()
        self.trips += 1
        if read:
            self.compare_reader()
        self.lake.work = self.lake.folder / f"work-{self.trips}.sqlite"
        self.lake.checkout()
        self.versioned = self.lake.writer()
        self.compare("after a new checkout")

    def work_on(self, table, column, more):
        """What every table must still take after a checkout: rows, columns, changes, deletes, merges, publishing.

        `more` is a SELECT that gives rows to insert, `column` one that it fills."""
        self.run(
            f"INSERT INTO {table} BY NAME {more}",
            f"INSERT INTO {table} BY NAME {more}",
            f"ALTER TABLE {table} ADD COLUMN fdl_added INTEGER DEFAULT 42",
            f"INSERT INTO {table} BY NAME {more}",
            f"UPDATE {table} SET fdl_added = rowid WHERE rowid % 2 = 0",
            f"DELETE FROM {table} WHERE rowid % 3 = 1",
        )
        self.compare()
        self.travel(read=False)
        self.run("CALL ducklake_merge_adjacent_files('lake')")
        self.compare("after a merge")
        self.run(
            f"ALTER TABLE {table} RENAME COLUMN {column} TO fdl_renamed",
            f"DELETE FROM {table} WHERE rowid % 5 = 0",
            "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
        )
        self.compare("after a rewrite")
        self.travel()
