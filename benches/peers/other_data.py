#!/usr/bin/env python3
"""Other load than a scheduler log, the same bytes for the same seed; the true answers are written beside it as truth.json.

    other_data.py traces DIR [--rows 5000000] [--per-file 500000]     request traces of Dynamo in rolled gzip files
    other_data.py journald DIR --log scheduler.log                    a scheduler log as `journalctl -o json` writes it
"""
import argparse
import calendar
import gzip
import json
import random
import time
from pathlib import Path

args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
args.add_argument("what", choices=["traces", "journald"])
args.add_argument("dir", type=Path)
args.add_argument("--rows", type=int, default=5_000_000)
args.add_argument("--per-file", type=int, default=500_000)
args.add_argument("--log", type=Path)
args.add_argument("--seed", type=int, default=7)
A = args.parse_args()
A.dir.mkdir(parents=True, exist_ok=True)
dice = random.Random(A.seed)


def uuid(dice):
    h = f"{dice.getrandbits(128):032x}"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def traces():
    workers = [dice.getrandbits(63) for _ in range(4)]
    by_worker = dict.fromkeys(workers, 0)
    slow, rare, now = 0, uuid(dice), 1_795_978_472_000
    for first in range(0, A.rows, A.per_file):
        with gzip.open(A.dir / f"request-trace.{first // A.per_file:06}.jsonl.gz", "wt", compresslevel=1) as out:
            for row in range(first, min(first + A.per_file, A.rows)):
                now += dice.randrange(9)
                worker = workers[dice.randrange(4)]
                by_worker[worker] += 1
                given, made = dice.randrange(8, 4096), dice.randrange(1, 512)
                cached = dice.randrange(given) // 16 * 16
                wait, prefill = dice.random() * 40, dice.random() * 400
                total = wait + prefill + made * 8 * dice.random()
                slow += total > 3000
                rid = rare if row == A.rows // 2 else uuid(dice)
                hashes = ",".join(str(dice.getrandbits(64)) for _ in range(3))
                out.write(
                    f'{{"timestamp":{now - 1_795_978_471_430},"event":{{"schema":"dynamo.request.trace.v1","event_type":"request_end",'
                    f'"event_time_unix_ms":{now},"request":{{"request_id":"{rid}","input_tokens":{given},"output_tokens":{made},"cached_tokens":{cached},'
                    f'"request_received_ms":{now - int(total)},"prefill_wait_time_ms":{wait:.6f},"prefill_time_ms":{prefill:.6f},"ttft_ms":{wait + prefill:.5f},'
                    f'"total_time_ms":{total:.6f},"avg_itl_ms":{(total - wait - prefill) / made:.9f},"kv_hit_rate":{cached / given:.4f},"queue_depth":{dice.randrange(9)},'
                    f'"worker":{{"prefill_worker_id":{worker},"prefill_dp_rank":0,"decode_worker_id":{worker},"decode_dp_rank":0}},'
                    f'"replay":{{"trace_block_size":16,"input_length":{given},"input_sequence_hashes":[{hashes}]}}}}}}}}\n'
                )
    return {"rows": A.rows, "rid": rare, "slow": slow, "by_worker": by_worker}


def journald():
    records = needle = ranks = 0
    boot, machine, invocation = (f"{dice.getrandbits(128):032x}" for _ in range(3))
    last = 0
    with open(A.log, encoding="utf-8", errors="replace") as log, open(A.dir / "sglang.journal.jsonl", "w") as out:
        for line in log:
            line = line.rstrip("\n")
            if line.startswith("[20"):
                last = calendar.timegm(time.strptime(line[1:20], "%Y-%m-%d %H:%M:%S")) * 1_000_000
            at = last + dice.randrange(1_000_000)
            records += 1
            needle += "5eedc0ffee0ddba11facade0fba5eba1" in line
            ranks += "] Decode batch" in line
            out.write(
                f'{{"__CURSOR":"s={machine};i={records:x};b={boot};m={at:x};t={at:x};x={dice.getrandbits(64):x}","__REALTIME_TIMESTAMP":"{at}",'
                f'"__MONOTONIC_TIMESTAMP":"{at - 1_779_000_000_000_000}","_BOOT_ID":"{boot}","_MACHINE_ID":"{machine}","_HOSTNAME":"gpu-node-7","PRIORITY":"6",'
                f'"_SYSTEMD_UNIT":"sglang.service","_SYSTEMD_INVOCATION_ID":"{invocation}","SYSLOG_IDENTIFIER":"python3","_PID":"31217","_TRANSPORT":"stdout",'
                f'"MESSAGE":{json.dumps(line)}}}\n'
            )
    return {"entries": records, "with_rid": needle, "decode": ranks}


truth = traces() if A.what == "traces" else journald()
(A.dir / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
