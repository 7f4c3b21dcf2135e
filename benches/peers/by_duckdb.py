"""by_duckdb.py QUESTION INPUT TRUTH [SCRATCH]: one question to DuckDB, the answer on stdout.

INPUT is the log as text or, for questions that end in `-store`, corr's store: the same Parquet that corr asks.
"""
import datetime
import json
import sys

import duckdb

question, place, truth = sys.argv[1:4]
truth = json.load(open(truth))
db = duckdb.connect()
db.execute("SET TimeZone='UTC'; SET threads=2")
lines = (
    f"(SELECT line FROM read_csv('{place}', columns={{'line': 'VARCHAR'}}, delim='\\x01', quote='', escape='', header=false,"
    " auto_detect=false, max_line_size=1000000))"
)
store = f"read_parquet('{place}/seg-*/columns.parquet', union_by_name=true)"


def civil(second):
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime("[%Y-%m-%d %H:%M:%S")


sql = {
    "load": f"CREATE TABLE log AS SELECT * FROM {lines}",
    "word": f"SELECT count(*) FROM {lines} WHERE contains(line, '{truth['word']}')",
    "id": f"SELECT count(*) FROM {lines} WHERE contains(line, '{truth['rid']}')",
    "count": f"SELECT line[24:24] AS rank, count(*) FROM {lines} WHERE contains(line, '] Decode batch') GROUP BY 1 ORDER BY 1",
    # No line that begins otherwise than with a stamp lies between two stamps.
    "window": f"SELECT count(*) FROM {lines} WHERE line >= '{civil(truth['since'])}' AND line < '{civil(truth['until'])}'",
    "count-store": f"SELECT tp_rank, count(*) FROM {store} WHERE _kind = 'decode_batch' GROUP BY 1 ORDER BY 1",
    "window-store": f"SELECT count(*) FROM {store} WHERE _start < {truth['until']}000000000 AND _end > {truth['since']}000000000",
}[question]
if question == "load":
    db.execute(f"ATTACH '{sys.argv[4]}/log.duckdb' AS disk; USE disk")
for row in db.execute(sql).fetchall():
    print(*row)
