"""by_polars.py QUESTION INPUT TRUTH: one question to Polars, the answer on stdout. INPUT is the log, or corr's store for `-store`."""
import datetime
import json
import sys

import polars as pl

question, place, truth = sys.argv[1:4]
truth = json.load(open(truth))
line = pl.col("line")


def log():
    return pl.scan_csv(place, has_header=False, new_columns=["line"], separator="\x01", quote_char=None, infer_schema=False)


def store():
    return pl.scan_parquet(f"{place}/seg-*/columns.parquet", missing_columns="insert", extra_columns="ignore")


def civil(second):
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime("[%Y-%m-%d %H:%M:%S")


def number(rows):
    print(rows.select(pl.len()).collect(engine="streaming").item())


if question == "load":
    print(log().collect().height)
elif question == "word":
    number(log().filter(line.str.contains(truth["word"], literal=True)))
elif question == "id":
    number(log().filter(line.str.contains(truth["rid"], literal=True)))
elif question == "window":
    number(log().filter((line >= civil(truth["since"])) & (line < civil(truth["until"]))))
elif question == "count":
    rank = line.str.slice(23, 1).alias("rank")
    for row in log().filter(line.str.contains("] Decode batch", literal=True)).group_by(rank).len().sort("rank").collect(engine="streaming").rows():
        print(*row)
elif question == "count-store":
    for row in store().filter(pl.col("_kind") == "decode_batch").group_by("tp_rank").len().sort("tp_rank").collect(engine="streaming").rows():
        print(*row)
elif question == "window-store":
    second = 1_000_000_000
    number(store().filter((pl.col("_start") < truth["until"] * second) & (pl.col("_end") > truth["since"] * second)))
