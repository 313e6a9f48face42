-- fdl run /srv/lake -m "Towns" -- sh -c 'duckdb -bail -cmd "$FDL_ATTACH" -f towns.sql'

BEGIN;

CREATE TABLE IF NOT EXISTS lake.towns (name VARCHAR NOT NULL, people INTEGER, counted DATE);
COMMENT ON TABLE lake.towns IS 'Towns and their people, at the last count';

MERGE INTO lake.towns USING (FROM read_csv('towns.csv')) AS news ON towns.name = news.name
    WHEN MATCHED AND news.counted > towns.counted THEN UPDATE SET people = news.people, counted = news.counted
    WHEN NOT MATCHED THEN INSERT (name, people, counted) VALUES (news.name, news.people, news.counted);

COMMIT;
