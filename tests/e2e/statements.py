"""Random statements for a lake, each a thing that a person might do next. Same seed, same lake: same statements."""

COLUMN_TYPES = {
    "INTEGER": "(range * {k})::INT",
    "TINYINT": "(range % 100)::TINYINT",
    "BIGINT": "range * {k} * 1000000007",
    "DOUBLE": "CASE range % 5 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN '-inf'::DOUBLE ELSE range / {k} END",
    "VARCHAR": "CASE WHEN range % 4 = 0 THEN NULL ELSE 'it''s ' || (range * {k})::VARCHAR END",
    "BOOLEAN": "range % 2 = 0",
    "DATE": "DATE '2026-01-01' + (range % 400)::INT",
    "TIMESTAMPTZ": "TIMESTAMPTZ '2026-01-01 00:00:00+09' + to_hours(range::INT % 1000)",
    "DECIMAL(18,4)": "(range * {k} / 7)::DECIMAL(18,4)",
    "UUID": "md5((range * {k})::VARCHAR)::UUID",
    "BLOB": "encode('b' || range::VARCHAR)",
    "INTEGER[]": "[range::INT, NULL, {k}]",
    "STRUCT(a INTEGER, b VARCHAR)": "{{'a': range::INT, 'b': 'k' || {k}::VARCHAR}}",
    "MAP(VARCHAR, INTEGER)": "MAP {{'k': range::INT}}",
}
WIDER = {"TINYINT": "INTEGER", "INTEGER": "BIGINT"}
LITERALS = {"INTEGER": "7", "TINYINT": "7", "BIGINT": "70000000000", "DOUBLE": "1.5", "VARCHAR": "'it''s; new'"}
COLUMN_NAMES = ["a", "b", "c", "d e", "ünï", "semi;colon", 'quo"te']
TABLE_NAMES = ["t", "u", "v w", "ta'ble", "表"]
SCHEMA_NAMES = ["main", "s", "s'2"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Author:
    """Looks at the lake as it is and thinks of the next statements."""

    def __init__(self, random, con, make_folder):
        self.random = random
        self.con = con
        self.make_folder = make_folder
        weighted = {
            self.create_table: 8,
            self.insert: 30,
            self.update: 10,
            self.delete: 12,
            self.upsert: 4,
            self.truncate: 1,
            self.drop_table: 2,
            self.rename_table: 3,
            self.replace_table: 2,
            self.create_schema: 2,
            self.drop_schema: 1,
            self.add_column: 7,
            self.drop_column: 4,
            self.rename_column: 5,
            self.widen_column: 3,
            self.change_default: 3,
            self.change_not_null: 2,
            self.change_field: 4,
            self.comment: 3,
            self.partition: 4,
            self.sort: 3,
            self.view: 3,
            self.macro: 2,
            self.option: 2,
            self.add_file: 3,
            self.merge: 7,
            self.rewrite: 5,
            self.expire: 3,
            self.clean: 3,
            self.checkpoint: 2,
            self.transaction: 3,
        }
        self.deeds = [deed for deed, weight in weighted.items() for _ in range(weight)]
        self.files = 0

    def next(self):
        """Statements that belong together; seldom none, when the lake has nothing to do it to."""
        return self.random.choice(self.deeds)()

    # ---- what there is ----

    def tables(self):
        return self.con.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY ALL"
        ).fetchall()

    def table(self):
        tables = self.tables()
        return self.random.choice(tables) if tables else None

    def columns(self, table):
        return self.con.execute(
            """SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'lake' AND schema_name = ?
               AND table_name = ? ORDER BY column_index""",
            list(table),
        ).fetchall()

    def column(self, table, *types):
        found = [column for column in self.columns(table) if not types or column[1] in types]
        return self.random.choice(found) if found else (None, None)

    @staticmethod
    def name(table):
        return f"lake.{quoted(table[0])}.{quoted(table[1])}"

    def value(self, kind):
        expression = COLUMN_TYPES.get(kind.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"))
        return expression.format(k=self.random.randint(1, 9)) if expression else "NULL"

    def rows(self, table, low=1, high=30):
        """A SELECT that fills the columns of a table."""
        start = self.random.randint(0, 1000)
        values = ", ".join(f"{self.value(kind)} AS {quoted(name)}" for name, kind in self.columns(table))
        return f"SELECT {values} FROM range({start}, {start + self.random.randint(low, high)})"

    def some_rows(self):
        modulus = self.random.choice([2, 3, 5, 7, 11])
        return f"rowid % {modulus} = {self.random.randrange(modulus)}"

    def on_table(self, make):
        table = self.table()
        return make(table) if table else []

    # ---- rows ----

    def insert(self):
        return self.on_table(lambda table: [f"INSERT INTO {self.name(table)} BY NAME {self.rows(table)}"])

    def update(self):
        def make(table):
            column, kind = self.column(table, "INTEGER", "BIGINT", "VARCHAR", "DOUBLE", "TINYINT")
            if not column:
                return []
            return [f"UPDATE {self.name(table)} SET {quoted(column)} = {LITERALS[kind]} WHERE {self.some_rows()}"]

        return self.on_table(make)

    def delete(self):
        return self.on_table(lambda table: [f"DELETE FROM {self.name(table)} WHERE {self.some_rows()}"])

    def upsert(self):
        def make(table):
            column, kind = self.column(table, "INTEGER", "BIGINT")
            if not column:
                return []
            key = quoted(column)
            return [
                f"MERGE INTO {self.name(table)} AS old USING (SELECT DISTINCT range::INT AS fdl_key FROM range(0, 40, 7))"
                f" AS new ON old.{key} = new.fdl_key WHEN MATCHED THEN UPDATE SET {key} = old.{key} + 1"
                f" WHEN NOT MATCHED THEN INSERT ({key}) VALUES (new.fdl_key)"
            ]

        return self.on_table(make)

    def truncate(self):
        return self.on_table(lambda table: [f"TRUNCATE {self.name(table)}"])

    # ---- tables and schemas ----

    def schema(self):
        there = self.con.execute(
            "SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake' AND NOT internal ORDER BY ALL"
        ).fetchall()
        return self.random.choice([name for (name,) in there])

    def create_table(self):
        kinds = [self.random.choice(list(COLUMN_TYPES)) for _ in range(self.random.randint(1, 5))]
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(COLUMN_NAMES, kinds))
        table = (self.schema(), self.random.choice(TABLE_NAMES))
        return [f"CREATE TABLE {self.name(table)} ({columns})"]

    def drop_table(self):
        return self.on_table(lambda table: [f"DROP TABLE {self.name(table)}"])

    def rename_table(self):
        return self.on_table(
            lambda table: [f"ALTER TABLE {self.name(table)} RENAME TO {quoted(self.random.choice(TABLE_NAMES))}"]
        )

    def replace_table(self):
        return self.on_table(
            lambda table: [f"CREATE OR REPLACE TABLE {self.name(table)} AS SELECT range::INT AS a, 'x' AS b FROM range(9)"]
        )

    def create_schema(self):
        return [f"CREATE SCHEMA lake.{quoted(self.random.choice(SCHEMA_NAMES))}"]

    def drop_schema(self):
        return [f"DROP SCHEMA lake.{quoted(self.random.choice(SCHEMA_NAMES[1:]))} CASCADE"]

    # ---- columns ----

    def add_column(self):
        def make(table):
            kind = self.random.choice(list(COLUMN_TYPES))
            default = f" DEFAULT {LITERALS[kind]}" if kind in LITERALS and self.random.random() < 0.6 else ""
            return [f"ALTER TABLE {self.name(table)} ADD COLUMN {quoted(self.random.choice(COLUMN_NAMES))} {kind}{default}"]

        return self.on_table(make)

    def drop_column(self):
        return self.on_table(lambda table: [f"ALTER TABLE {self.name(table)} DROP COLUMN {quoted(self.column(table)[0])}"])

    def rename_column(self):
        return self.on_table(
            lambda table: [
                f"ALTER TABLE {self.name(table)} RENAME COLUMN {quoted(self.column(table)[0])}"
                f" TO {quoted(self.random.choice(COLUMN_NAMES))}"
            ]
        )

    def widen_column(self):
        def make(table):
            column, kind = self.column(table, *WIDER)
            return [f"ALTER TABLE {self.name(table)} ALTER {quoted(column)} TYPE {WIDER[kind]}"] if column else []

        return self.on_table(make)

    def change_default(self):
        def make(table):
            column, kind = self.column(table, *LITERALS)
            if not column:
                return []
            how = self.random.choice([f"SET DEFAULT {LITERALS[kind]}", "DROP DEFAULT"])
            return [f"ALTER TABLE {self.name(table)} ALTER {quoted(column)} {how}"]

        return self.on_table(make)

    def change_not_null(self):
        def make(table):
            how = self.random.choice(["SET", "DROP", "DROP"])
            return [f"ALTER TABLE {self.name(table)} ALTER {quoted(self.column(table)[0])} {how} NOT NULL"]

        return self.on_table(make)

    def change_field(self):
        def make(table):
            column = next((name for name, kind in self.columns(table) if kind.startswith("STRUCT(")), None)
            if not column:
                return []
            field, other = self.random.choice("abc"), self.random.choice("abc")
            kind = self.random.choice(["INTEGER", "VARCHAR"])
            return [
                self.random.choice(
                    [
                        f"ALTER TABLE {self.name(table)} RENAME {quoted(column)}.{field} TO {other}",
                        f"ALTER TABLE {self.name(table)} DROP COLUMN {quoted(column)}.{field}",
                        f"ALTER TABLE {self.name(table)} ADD COLUMN {quoted(column)}.{field} {kind}",
                    ]
                )
            ]

        return self.on_table(make)

    # ---- what is said about tables ----

    def comment(self):
        def make(table):
            said = self.random.choice(["'it''s; one'", "'two'", "NULL"])
            if self.random.random() < 0.5:
                return [f"COMMENT ON TABLE {self.name(table)} IS {said}"]
            return [f"COMMENT ON COLUMN {self.name(table)}.{quoted(self.column(table)[0])} IS {said}"]

        return self.on_table(make)

    def partition(self):
        def make(table):
            column, kind = self.column(table, "INTEGER", "VARCHAR", "DATE", "BOOLEAN", "TINYINT")
            if not column or self.random.random() < 0.3:
                return [f"ALTER TABLE {self.name(table)} RESET PARTITIONED BY"]
            key = {"DATE": f"month({quoted(column)})", "INTEGER": f"bucket(3, {quoted(column)})"}.get(kind, quoted(column))
            return [f"ALTER TABLE {self.name(table)} SET PARTITIONED BY ({key})"]

        return self.on_table(make)

    def sort(self):
        def make(table):
            column, _ = self.column(table, "INTEGER", "VARCHAR", "DATE", "BIGINT")
            if not column or self.random.random() < 0.3:
                return [f"ALTER TABLE {self.name(table)} RESET SORTED BY"]
            return [f"ALTER TABLE {self.name(table)} SET SORTED BY ({quoted(column)} {self.random.choice(['ASC', 'DESC'])})"]

        return self.on_table(make)

    def view(self):
        name = f"lake.view_{self.random.randint(1, 3)}"
        if self.random.random() < 0.3:
            return [f"DROP VIEW {name}"]
        return self.on_table(lambda table: [f"CREATE OR REPLACE VIEW {name} AS SELECT count(*) AS n FROM {self.name(table)}"])

    def macro(self):
        name = f"lake.macro_{self.random.randint(1, 2)}"
        if self.random.random() < 0.3:
            return [f"DROP MACRO {name}"]
        return [f"CREATE OR REPLACE MACRO {name}(x, y := {self.random.randint(1, 9)}) AS x + y"]

    def option(self):
        name, value = self.random.choice(
            [
                ("write_deletion_vectors", "true"),
                ("write_deletion_vectors", "false"),
                ("target_file_size", "'1MB'"),
                ("parquet_compression", "'zstd'"),
                ("parquet_row_group_size", "2048"),
            ]
        )
        return [f"CALL ducklake_set_option('lake', '{name}', {value})"]

    # ---- files ----

    def add_file(self):
        """A Parquet file that DuckLake did not write, in the folder of a table."""

        def make(table):
            folder = self.folder(table)
            if not folder:
                return []
            self.files += 1
            self.make_folder(folder)
            path = f"{{data}}{folder}foreign-{self.files}.parquet"
            schema, name = (part.replace("'", "''") for part in table)
            return [
                f"COPY ({self.rows(table)}) TO '{path}'",
                f"CALL ducklake_add_data_files('lake', '{name}', '{path}', schema => '{schema}', allow_missing => true)",
            ]

        return self.on_table(make)

    def folder(self, table):
        """Where its files lie below the data folder, if that is the same in every lake: odd names get a random one."""
        (folder,) = self.con.execute(
            """SELECT s.path || t.path FROM __ducklake_metadata_lake.ducklake_table t
               JOIN __ducklake_metadata_lake.ducklake_schema s USING (schema_id)
               WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND s.schema_name = ? AND t.table_name = ?""",
            list(table),
        ).fetchone()
        return folder if folder.replace("/", "").isalpha() else None

    def merge(self):
        return ["CALL ducklake_merge_adjacent_files('lake')"]

    def rewrite(self):
        return [f"CALL ducklake_rewrite_data_files('lake', delete_threshold => {self.random.choice(['0', '0.3', '0.9'])})"]

    def expire(self):
        return ["SELECT count(*) FROM ducklake_expire_snapshots('lake', older_than => now())"]

    def clean(self):
        return ["CALL ducklake_cleanup_old_files('lake', cleanup_all => true)"]

    def checkpoint(self):
        return ["CHECKPOINT lake"]

    def transaction(self):
        inside = [statement for _ in range(3) for statement in self.random.choice([self.insert, self.delete, self.update])()]
        return ["BEGIN", *inside, self.random.choice(["COMMIT", "COMMIT", "ROLLBACK"])]
