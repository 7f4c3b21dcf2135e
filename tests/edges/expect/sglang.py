#!/usr/bin/env python3
"""Facts of one SGLang capture, read from its raw artifacts (never from truth files).

usage: sglang.py CASES CAPTURE      e.g. sglang.py cases sglang/b2-0523-hicache-restart

Prints what the expectation files of tests/edges/expected quote: distinct rids, records by rid,
lines that are transitions, and counters per process life (cut at the server_args= lines) with their coverage.
"""
import ast
import collections
import datetime
import glob
import gzip
import json
import os
import re
import statistics
import sys

ANSI = re.compile(r"\x1b\[[0-9;]*m")
STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
RID = re.compile(r"^Receive: obj=\w+\(.*?\brid=('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\[[^\]]*\])")
FIN = re.compile(r"^Finish: obj=\w+\(.*?\brid=('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\[[^\]]*\])")
KEY = re.compile(r"headers=\{[^}]*'x-smg-routing-key': '([^']*)'")
ACCESS = re.compile(r'"(GET|POST|PUT|DELETE) (\S+) HTTP/1\.1" (\d{3})')
STATS = re.compile(r"^Req ?Time ?Stats\(rid=([^,]+),(?: bootstrap_room=(\d+),)?")
PREFETCH = re.compile(r"^HiCache prefetch (\w+) req=(\S+) completed=(\d+) matched=(\d+) loaded=(\d+)")
RETRACT = re.compile(r"KV cache pool is full\. Retract requests\. #retracted_reqs: (\d+)")
GENERATE = ("/generate", "/v1/chat/completions", "/v1/completions")


def is_probe(rid):
    return rid.startswith("HEALTH_CHECK_")


def journal(path):
    """(seconds, pid, text) of each entry of a journal export; the json rendering nulls long messages."""
    raw = gzip.open(path, "rb").read()
    at, held = 0, {}
    while at < len(raw):
        e = {}
        while at < len(raw):
            end = raw.index(b"\n", at)
            line, at = raw[at:end], end + 1
            if not line:
                break
            key, eq, value = line.partition(b"=")
            if not eq:
                size = int.from_bytes(raw[at : at + 8], "little")
                value, at = raw[at + 8 : at + 8 + size], at + 8 + size + 1
            e[key.decode()] = value.decode("utf-8", "replace")
        if e.get("SYSLOG_IDENTIFIER") == "sglang":
            stream = e.get("_STREAM_ID")
            text = held.pop(stream, "") + e["MESSAGE"]
            if e.get("_LINE_BREAK") == "line-max":
                held[stream] = text  # journald cut the line: the next entry of the stream goes on
            else:
                yield int(e["__REALTIME_TIMESTAMP"]) / 1e6, e.get("_PID"), text


def logs(root):
    """(worker name, lines) of every server log; journald by its export."""
    out = {}
    if os.path.isdir(root + "/journal"):
        return {"sglang": list(journal(root + "/journal/journal.export.gz"))}
    for p in sorted(glob.glob(root + "/*.log") + glob.glob(root + "/request-log/*.log")):
        name = os.path.basename(p)
        if not name.startswith(("zygote", "router")):
            key = "request-log" if "request-log" in p else name.split(".")[0]
            out.setdefault(key, []).extend(ANSI.sub("", open(p, encoding="utf-8", errors="replace").read()).split("\n"))
    return out


def rids(text):
    v = ast.literal_eval(text)
    return v if isinstance(v, list) else [v]


class Worker:
    """What one log says."""

    def __init__(self, lines):
        self.receive, self.finish, self.key, self.xid = collections.Counter(), {}, {}, {}
        self.access, self.kinds = collections.Counter(), collections.Counter()
        self.stats, self.room, self.prefetch, self.retract = set(), {}, {}, []
        self.first = self.last = None
        self.starts = []
        for raw in lines:
            at = None
            if isinstance(raw, tuple):
                at, _, raw = raw
                raw = ANSI.sub("", raw)
            # a record may begin behind a progress bar
            i = max(raw.find("[20"), 0) if not raw.startswith(("Receive", "Finish", "{")) else 0
            m = STAMP.match(raw[i:])
            body = raw
            if m:
                t = datetime.datetime.strptime(m[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.timezone.utc).timestamp()
                t = at or t
                self.first, self.last = min(self.first or t, t), max(self.last or t, t)
                body = raw[raw.index("]", i) + 2 :]
            if body.startswith("server_args="):
                self.starts.append(self.last)
            self.line(body)

    def line(self, body):
        if body.startswith('{"timestamp"'):
            d = json.loads(body)
            if d["event"] == "request.received":
                for r in rids(repr(d["rid"])):
                    self.receive[r] += 1
            elif d["event"] == "request.finished":
                for r in rids(repr(d["rid"])):
                    self.finish[r] = d["out"].get("meta_info", {}) if isinstance(d["out"], dict) else {}
            for name, into in (("x-smg-routing-key", self.key), ("x-request-id", self.xid)):
                if d.get("rid") and name in (d.get("headers") or {}):
                    into[d["rid"]] = d["headers"][name]
            return
        if m := RID.match(body):
            for r in rids(m[1]):
                self.receive[r] += 1
                if k := KEY.search(body):
                    self.key[r] = k[1]
        elif m := FIN.match(body):
            cut = body.rfind(", out={")
            if cut < 0 or not body.endswith("}"):
                self.kinds["Finish cut short"] += 1
                return
            tail = body[cut + 6 :]
            out = ast.literal_eval(re.sub(r"\bnan\b", "None", tail))
            for r in rids(m[1]):
                self.finish[r] = out.get("meta_info", {})
        elif m := STATS.match(body):
            self.stats.add(m[1])
            if m[2]:
                self.room[m[1]] = m[2]
        elif m := PREFETCH.match(body):
            self.prefetch[m[2]] = (m[1], *map(int, m.group(3, 4, 5)))
        elif m := RETRACT.search(body):
            self.retract.append(int(m[1]))
        elif m := ACCESS.search(body):
            self.access[(m[1], m[2], m[3])] += 1
        for k in ("Prefill batch", "Decode batch", "server_args=", "write_back:", "HiCacheFile", "Receive OpenAI", "retract_decode", "Abort", "Finish:"):
            if body.startswith(k):
                self.kinds[k] += 1


def request_metrics(root):
    """rid -> record of --export-metrics-to-file, over all its files."""
    out = collections.defaultdict(dict)
    for p in sorted(glob.glob(root + "/request-metrics*/*.log")):
        for l in open(p, encoding="utf-8"):
            d = json.loads(l)
            ids = d["id"] if isinstance(d["id"], list) else [d["id"]]
            for r in ids:
                out[r].update(d)
    return out


SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)$")


def scrapes(folder):
    """[(seconds, {series: value}, {family: type})] of one target, by time."""
    out = []
    for p in sorted(glob.glob(folder + "/*.prom.gz")):
        vals, types = {}, {}
        for l in gzip.open(p, "rt", encoding="utf-8"):
            if l.startswith("# TYPE "):
                _, _, f, t = l.split()
                types[f] = t
            elif m := SAMPLE.match(l.rstrip("\n")):
                if 'tp_rank="' in l and 'tp_rank="0"' not in l:
                    continue  # replicas: one rank
                vals[m[1] + (m[2] or "")] = float(m[3])
        out.append((int(os.path.basename(p).split(".")[0]) / 1000, vals, types))
    return out


def lives(samples, family, starts):
    """Per process life: (scrapes, scrapes with the family, {series: (first, last, sum of rises, falls)})."""
    runs = [[0, 0, {}] for _ in range(max(len(starts), 1))]
    for t, vals, _ in samples:
        r = runs[sum(t >= c for c in starts[1:])]
        r[0] += 1
        hit = {k: v for k, v in vals.items() if k.split("{")[0] == family}
        r[1] += bool(hit)
        for k, v in hit.items():
            first, last, inc, falls = r[2].get(k, (v, v, 0, 0))
            r[2][k] = (first, v, inc + max(v - last, 0), falls + (v < last))
    return runs


FAMILIES = """evicted_tokens_total load_back_tokens_total hicache_backup_tokens_total hicache_dropped_tokens_total
backuped_tokens_total prefetched_tokens_total storage_prefetch_hit_tokens_total storage_prefetch_unfulfilled_tokens_total
num_retracted_requests_total num_aborted_requests_total num_requests_total kv_transfer_latency_ms_count kv_transfer_total_mb_count
num_transfer_failed_reqs_total num_bootstrap_failed_reqs_total queue_time_seconds_count hicache_host_used_tokens""".split()


def show_metrics(folder, label, worker):
    s = scrapes(folder)
    if not s:
        return
    gaps = [b[0] - a[0] for a, b in zip(s, s[1:])]
    med = statistics.median(gaps)
    print(f"\nmetrics {label}: {len(s)} scrapes, first {s[0][0]:.1f}, last {s[-1][0]:.1f}, median {med:.2f} s, limit {2.5*med:.2f} s")
    print("  gaps over the limit:", [(round(a[0], 1), round(b[0] - a[0], 1)) for a, b in zip(s, s[1:]) if b[0] - a[0] > 2.5 * med])
    if worker:
        far = [s[0][0] - worker.first, worker.last - s[-1][0]]
        print(f"  log begins {far[0]:.1f} s before the first, ends {far[1]:.1f} s after the last; process starts {worker.starts}")
        print("  covers the log:", max(far + gaps) <= 2.5 * med)
    if label == "router":
        names = sorted({k for _, v, _ in s for k in v if re.match(r"smg_(worker_selection|worker_retries|router_request|http_requests|http_responses|worker_requests_failed|router_request_errors)\w*_total", k)})
        for n in names:
            print("  ", n, [v.get(n) for _, v, _ in s][0], "->", [v.get(n) for _, v, _ in s][-1], "max", max(v.get(n, 0) for _, v, _ in s))
        return
    for f in FAMILIES:
        fam = "sglang:" + f
        decl = sum(fam.removesuffix("_count") in t or fam.removesuffix("_total") in t or fam in t for _, _, t in s)
        runs = lives(s, fam, worker.starts if worker else [])
        text = []
        for n, have, series in runs:
            rows = list(series.values())
            total = [sum(r[i] for r in rows) for i in (0, 1, 2)]
            text.append(f"{have} of {n}" + (f": firsts {total[0]:g}, last {total[1]:g}, rise {total[2]:g}" if rows else "") + " FALLS" * any(r[3] for r in rows))
        print(f"  {f}: declared in {decl}; " + " | ".join(text))
    by = collections.defaultdict(list)
    for t, vals, _ in s:
        for k, v in vals.items():
            if re.match(r"sglang:(cached_tokens_total|http_responses_total|realtime_tokens_total|load_back_tokens_total|hicache_dropped_tokens_total)", k):
                by[k].append((t, v))
    for k, r in sorted(by.items()):
        print("    ", k, "first", r[0][1], "last", r[-1][1], "max", max(v for _, v in r), "n", len(r))


STARTED = re.compile(r'method=(\w+) uri=(\S+) .*?request_id="([^"]*)".*: started processing request')
SENT = re.compile(r'request_id="([^"]*)".*: Sending request url=(\S+)')
ENDED = re.compile(r'request_id="([^"]*)".* status_code=(\d+) .*: (?:request failed with|finished processing)')


def router(path):
    """Generation requests of a router log (the file log repeats it; it is not read)."""
    started, sent, ended = [], {}, {}
    for l in ANSI.sub("", open(path, encoding="utf-8").read()).split("\n"):
        if (m := STARTED.search(l)) and m[1] == "POST" and m[2] in GENERATE:
            started.append(m[3])
        elif m := SENT.search(l):
            sent[m[1]] = m[2]
        elif m := ENDED.search(l):
            ended.setdefault(m[1], set()).add(m[2])
    return started, sent, ended


def show_router(path, workers):
    started, sent, ended = router(path)
    ids = set(started)
    bad = {k: sorted(v) for k, v in ended.items() if k in ids and any(c[0] in "45" for c in v)}
    print(f"router: {len(started)} started, {len(ids)} ids; DEBUG sends {len(sent)}; refused {len(bad)}: {bad}")
    seen = {x: (r, w.key.get(r)) for w in workers.values() for r, x in w.xid.items() if x in ids}
    print(f"  ids seen as x-request-id in a worker's record: {len(seen)}, with a routing key {sum(bool(k) for _, k in seen.values())}; with sends {len(set(sent) | set(seen))}")
    print("  neither:", sorted(ids - set(seen) - set(sent)))
    print("  refused with a routing key:", [k for k in bad if seen.get(k, (0, 0))[1]])


def show_pd(p, d):
    """Requests of a prefill and a decode log: one where both say the same bootstrap_room; room 0 is a warm-up of that server."""
    pr = {v: k for k, v in p.room.items() if not is_probe(k) and v != "0"}
    dr = {v: k for k, v in d.room.items() if not is_probe(k) and v != "0"}
    own = [k for w in (p, d) for k, v in w.room.items() if v == "0" and not is_probe(k)]
    key = {r for r in set(pr) | set(dr) if (r in pr and pr[r] in p.key) or (r in dr and dr[r] in d.key)}
    both = set(pr) & set(dr)
    print(f"PD: rooms prefill {len(pr)}, decode {len(dr)}, both {len(both)}, either {len(set(pr)|set(dr))}; warm-ups {len(own)}; rooms with a routing key {len(key)}, of both {len(key & both)}")


def edges(workers, population, recs):
    """k of N, and how many of the k have a routing key, per passage edge."""
    key = {r: k for w in workers.values() for r, k in w.key.items() if r in population}
    stats = {r for w in workers.values() for r in w.stats}
    has = lambda *names: {r for r, d in recs.items() if any(d.get(n) is not None for n in names)}
    refused = {r for r, d in recs.items() if isinstance(d.get("finish_reason"), dict) and d["finish_reason"].get("type") == "abort" and d["finish_reason"].get("status_code")}
    found = {
        "admission": population,
        "queue-wait": has("queue_time") | stats,
        "lookups": {r for r, d in recs.items() if d.get("cached_tokens_details") is not None or d.get("cached_tokens") == 0},
        "cached_tokens": has("cached_tokens"),
        "prefill": has("forward_entry_time", "prefill_finished_time", "prefill_finished_ts") | stats,
        "decode": has("completion_tokens"),
        "decode or ReqTimeStats": has("completion_tokens") | stats,
        "refused by record": refused,
        "retracted": {r for r, d in recs.items() if d.get("num_retractions") or d.get("total_retractions")},
    }
    print(f"sessions {len(set(key.values()))}, requests with a key {len(key)} of {len(population)}")
    for name, rs in found.items():
        rs = rs & population
        print(f"  {name}: {len(rs)} of {len(population)}, session {len(rs & set(key))}", sorted(rs) if len(rs) < 5 else "")
    posts = collections.Counter()
    for w in workers.values():
        for (verb, path, code), n in w.access.items():
            if verb == "POST" and path in GENERATE:
                posts[code] += n
    print("  access lines of POST generation:", dict(posts), "sum", sum(posts.values()))


def main(cases, capture):
    root = os.path.join(cases, capture)
    rm = {r: d for r, d in request_metrics(root).items() if not is_probe(r)}
    rec_all, recv_all, workers = {}, set(), {}
    for name, lines in logs(root).items():
        w = workers[name] = Worker(lines)
        recv = {r for r in w.receive if not is_probe(r)}
        fin = {r: d for r, d in w.finish.items() if not is_probe(r)}
        recv_all |= recv
        rec_all.update(fin)
        print(f"log {name}: begin {w.first} end {w.last}")
        print("  rids received", len(recv), "(+ probes", sum(map(is_probe, w.receive)), ") twice:", [r for r, n in w.receive.items() if n > 1][:5])
        print("  rids finished", len(fin), "with meta", sum(bool(d) for d in fin.values()), "not finished:", sorted(recv - set(fin))[:12])
        print("  routing keys", len(set(w.key.values())), "rids with key", len({r for r in w.key if not is_probe(r)}), "of them received", len(recv & set(w.key)))
        print("  ReqTimeStats rids", len({r for r in w.stats if not is_probe(r)}), "with room", len({r for r in w.room if not is_probe(r)}), "not received:", len({r for r in w.stats if not is_probe(r)} - recv))
        print("  prefetch", collections.Counter(v[0] for v in w.prefetch.values()), "rids", len(w.prefetch), "completed/matched/loaded", [sum(v[i] for v in w.prefetch.values()) for i in (1, 2, 3)])
        print("  retract lines", w.retract, "kinds", dict(w.kinds))
        for k, n in sorted(w.access.items()):
            if k[0] == "POST":
                print("   ", n, *k)
        if fin:
            summary(fin, "Finish records of " + name, recv)
    print("\nall: rids received", len(recv_all), "finished", len(rec_all))
    edges(workers, recv_all, {r: {**rec_all.get(r, {}), **rm.get(r, {})} for r in {**rec_all, **rm}})
    if rm:
        print("request-metrics rids", len(rm), "received but without:", sorted(recv_all - set(rm))[:12], "not received:", sorted(set(rm) - recv_all)[:12])
        summary(rm, "request-metrics", set(rm))
        both = dict(rec_all)
        for r, d in rm.items():
            both[r] = {**both.get(r, {}), **d}
        summary(both, "both", recv_all | set(rm))
    if os.path.exists(root + "/router.log"):
        show_router(root + "/router.log", workers)
    if "prefill" in workers:
        show_pd(workers["prefill"], workers["decode"])
    for folder in sorted(glob.glob(root + "/metrics/*")):
        show_metrics(folder, os.path.basename(folder), workers.get(os.path.basename(folder)))


def summary(recs, label, population):
    """Per-request fields of finish records: k that say it, and sums."""
    n = len(population)
    tier, k = collections.Counter(), collections.Counter()
    for r, d in recs.items():
        if r not in population:
            continue
        det, cached = d.get("cached_tokens_details"), d.get("cached_tokens")
        if det is not None:
            k["details"] += 1
            for t in ("device", "host", "storage"):
                if t in det:
                    k["details." + t] += 1
                    tier[t] += det[t]
                    k["details." + t + ">0"] += det[t] > 0
        elif cached == 0:
            k["cached 0, no details"] += 1
        elif cached:
            k["cached >0, no details"] += 1
        tier["cached"] += cached or 0
        for f in ("queue_time", "completion_tokens", "forward_entry_time", "prefill_finished_time", "prefill_finished_ts", "cached_tokens", "prompt_tokens", "num_retractions", "total_retractions"):
            if d.get(f) is not None:
                k[f] += 1
        k["retracted"] += (d.get("num_retractions") or d.get("total_retractions") or 0) > 0
        fr = d.get("finish_reason")
        k["finish:" + str(fr.get("type") if isinstance(fr, dict) else fr) + ":" + str(fr.get("status_code") if isinstance(fr, dict) else "")] += 1
    print(f"  {label}: of {n}:", dict(k), "sums", dict(tier))


if __name__ == "__main__":
    main(*sys.argv[1:3])
