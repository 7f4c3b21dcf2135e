"""by_pandas.py QUESTION STORE TRUTH: one question to pandas (with pyarrow) over corr's store, the answer on stdout."""
import glob
import json
import sys

import pandas as pd

question, place, truth = sys.argv[1:4]
truth = json.load(open(truth))
parts = sorted(glob.glob(f"{place}/seg-*/columns.parquet"))


def frame(columns):
    return pd.concat([pd.read_parquet(part, columns=columns) for part in parts])


if question == "count-store":
    rows = frame(["_kind", "tp_rank"])
    for rank, n in rows[rows._kind == "decode_batch"].groupby("tp_rank").size().items():
        print(int(rank), n)
elif question == "window-store":
    rows = frame(["_start", "_end"])
    second = 1_000_000_000
    print(int(((rows._start < truth["until"] * second) & (rows._end > truth["since"] * second)).sum()))
