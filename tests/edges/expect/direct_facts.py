#!/usr/bin/env python3
"""Facts of the direct-layout run, from its raw artifacts: python3 direct_facts.py CASES     (prints JSON; `truth` compares with the client's records)

The ages of metric samples need the module duckdb (the metrics are a Parquet file without epoch times); without it that part is left out.
"""
import bisect, collections, datetime, glob, json, os, re, statistics, sys
from dynamo_facts import ANSI, rows

RUN = "tachometer/run_dynamo/corr-direct-20261129T185427Z-1"
WORKER = {"worker_agg_0_0": "worker-0", "worker_agg_1_0": "worker-1"}


def seconds(s):
    return datetime.datetime.fromisoformat(s.replace("Z", "+00:00")).timestamp()


def lines(path):
    return (ANSI.sub("", x.rstrip("\n")) for x in rows(path))


def main(cases):
    d = os.path.join(cases, RUN)
    block = int(re.search(r"--block-size (\d+)", open(d + "/direct-plan.json").read()).group(1))
    trace = {}
    for p in glob.glob(d + "/artifacts/dynamo-request-trace*"):
        for line in rows(p):
            e = json.loads(line)["event"]; trace[e["request"]["request_id"]] = e
    xr, best, done, served = {}, {}, [], collections.defaultdict(set)
    for s in lines(d + "/logs/router.log"):
        if "metrics: request received" in s:
            m = re.search(r'x_request_id="([^"]*)"', s)
            xr[re.search(r"request_id=(\S+)", s).group(1)] = m and m.group(1)
        elif "metrics: request completed" in s:
            done.append(seconds(s[:27]))
        elif "[ROUTING] Best" in s:
            best[re.search(r"request_id=(\S+)", s).group(1)] = (seconds(s[:27]), re.search(r"worker_id=(\d+)", s).group(1), int(re.search(r"overlap_blocks=(\d+)", s).group(1)))
    for n in WORKER.values():
        for s in lines(d + "/logs/%s.log" % n):
            if "push_handler: request received" in s and 'endpoint="generate"' in s:
                served[re.search(r"request_id=(\S+)", s).group(1)].add((n, re.search(r"instance_id=(\d+)", s).group(1)))
    at = {m.group(2) + " " + m.group(3): seconds(m.group(1)) * 1000 for m in re.finditer(r"^(\S+) PHASE (\w+) (start|end)", open(d + "/logs/aiperf.log").read(), re.M)}
    smoke = re.search(r'"id": "chatcmpl-([^"]+)"', open(d + "/logs/smoke.json").read()).group(1)
    phase = collections.defaultdict(list)
    for r, e in trace.items():
        t = e["request"]["request_received_ms"]
        phase["smoke" if r == smoke else "warmup" if at["warmup start"] <= t <= at["warmup end"] else "measured" if at["profiling start"] <= t <= at["profiling end"] else "other"].append(r)

    def reuse(ids):
        a, b = (sum(trace[r]["request"][k] for r in ids) for k in ("cached_tokens", "input_tokens"))
        return {"cached_tokens": a, "input_tokens": b, "share": round(a / b, 6)}

    session = {r: e["agent_context"]["session_id"] for r, e in trace.items() if e.get("agent_context")}
    dup = [x for x, n in collections.Counter(v for v in xr.values() if v).items() if n > 1]
    R = {"requests": len(trace), "phases": {k: len(v) for k, v in phase.items()},
         "served_by_one_worker": sum(len(v) == 1 for v in served.values()), "served": dict(collections.Counter(n for v in served.values() for n, _ in v)),
         "trace_worker_is_log_worker": sum({str(e["request"]["worker"]["decode_worker_id"])} == {i for _, i in served[r]} for r, e in trace.items()),
         "predicted_reuse": {k: reuse(v) for k, v in phase.items()}, "predicted_reuse_whole_capture": reuse(trace),
         "sessions": len(set(session.values())), "with_session": {k: sum(r in session for r in v) for k, v in phase.items()}, "without_session": {k: sum(r not in session for r in v) for k, v in phase.items()},
         "without_x_request_id_in_log": {k: sum(xr[r] is None for r in v) for k, v in phase.items()}, "without_x_request_id_in_trace": sum("x_request_id" not in e["request"] for e in trace.values()),
         "shared_x_request_id": {x: [{"request_id": r, "phase": [k for k, v in phase.items() if r in v][0], "session": session.get(r)} for r in xr if xr[r] == x] for x in dup},
         "block_size": block, "overlap_blocks": sum(b[2] for b in best.values()), "overlap_times_block_equals_trace": sum(b[2] * block == trace[r]["request"]["cached_tokens"] for r, b in best.items()), "routing_decisions": len(best)}
    client = [json.loads(x) for x in rows(d + ".client_truth.jsonl")]
    rid = {c["response_id"].split("cmpl-")[1]: c for c in client}
    R["truth"] = {"requests": len(client), "worker_right": sum({str(c["nvext"]["worker_id"]["decode_worker_id"])} == {i for _, i in served[r]} for r, c in rid.items()),
                  "phase_right": sum(r in phase[{"profiling": "measured"}.get(c["phase"], c["phase"])] for r, c in rid.items()), "session_right": sum(session.get(r) == c["session"] for r, c in rid.items()),
                  "x_request_id_right": sum(xr[r] == c.get("x_request_id") for r, c in rid.items()), "not_the_clients": [r for r in trace if r not in rid] == [smoke]}
    try:
        import duckdb
    except ImportError:
        R["samples"] = "needs duckdb"
        return R
    p = d + "/artifacts/tachometer/local/final.parquet"
    level = duckdb.sql("select time_since_start, sum(metric_value) from '%s' where metric_name_clean='dynamo_frontend_requests_total' group by 1 order by 1" % p).fetchall()
    # A sample that has counted the i-th completed request was stamped (after parsing) later than that request: a lower bound of the scraper's start. Its own log line gives the upper one.
    low = max(t - next(a for a, v in level if v >= i) for i, t in enumerate(sorted(done), 1) if level[-1][1] >= i)
    high = seconds(re.search(r"\[(\S+Z) INFO  tachometer_scraper\] Starting scraper", open(d + "/logs/tachometer.log").read()).group(1)) + 1
    R["samples"] = {"scraper_start": [datetime.datetime.fromtimestamp(x, datetime.timezone.utc).isoformat(timespec="milliseconds") for x in (low, high)]}
    stamps = {e: [x for x, in duckdb.sql("select distinct time_since_start from '%s' where scraper_endpoint='%s' order by 1" % (p, e)).fetchall()] for e in list(WORKER) + ["router"]}
    owner = {i: n for v in served.values() for n, i in v}
    for who in ("chosen worker", "router"):
        for name, zero in (("earliest", low), ("latest", high)):
            ages, none = [], 0
            for r in phase["measured"]:
                t, w, _ = best[r]
                s = stamps["router"] if who == "router" else stamps[next(e for e, n in WORKER.items() if n == owner[w])]
                i = bisect.bisect_right(s, t - zero)
                if i: ages.append(t - zero - s[i - 1])
                else: none += 1
            R["samples"]["%s, scraper start %s" % (who, name)] = {"decisions": len(ages) + none, "without_earlier_sample": none, "age_s": [round(f(ages), 3) for f in (min, statistics.median, max)]}
    return R


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout, indent=1); print()
