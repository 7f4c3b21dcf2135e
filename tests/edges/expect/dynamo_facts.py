#!/usr/bin/env python3
"""Numbers behind tests/edges/expected/*.toml of the Dynamo captures, straight from the raw artifacts.

    python3 dynamo_facts.py CASES CAPTURE [metrics]      CASES = folder of the captures, CAPTURE = e.g. dynamo/A1_trace_payload_headers_jsonl

Prints JSON: `edges` (k of N by edge, the keys of the golden files), `ids` (size of every id set), `lines` (line counts), `trace`, `kv_events`, `workers`,
`truth` (client records joined by response id; never used for the numbers above it), and with `metrics` first and last values of the counters of interest.
"""
import collections, glob, gzip, json, os, re, sys

ANSI = re.compile(r"\x1b\[[0-9;]*m")
HEAD = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)) (TRACE|DEBUG| INFO| WARN|ERROR) (.*)$")
KV = re.compile(r'(?:^| )([A-Za-z_][\w.]*)=("(?:[^"\\]|\\.)*"|[^ ]*)')
SESSION_HEADERS = ("x-dynamo-session-id", "x-claude-code-session-id", "thread-id", "x-session-id")
REFUSED = ("overload", "not_found", "invalid", "validation")   # error_type of a request turned away before it was served; cancelled and internal are not refusals
INTEREST = re.compile(r"num_preempt|cached_tokens_(sum|count)|rejection|admission_|stage_duration_seconds_count|migration_total|num_requests_waiting|permit_wait_seconds_count|"
                      r"first_token_seconds_count|output_sequence_tokens_(sum|count)|requests_total|requests_started_total|kv_cache_events_applied|shared_cache_hit_rate_count")


def rows(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", errors="replace") as f:
        try:
            yield from f
        except EOFError:
            return


def files(d, *patterns):
    return sorted({p for x in patterns for p in glob.glob(d + "/" + x)})


def loglines(path):
    """(target or whole rest, message, fields with the first value of a repeated name, fields with the last)"""
    for line in rows(path):
        s = ANSI.sub("", line.rstrip("\n"))
        if s.startswith("{"):
            try:
                o = json.loads(s)
            except ValueError:
                continue
            if "message" in o:
                yield o.get("target", ""), o["message"], o, o
            continue
        m = HEAD.match(s)
        if m:
            first, last = {}, {}
            for k, v in KV.findall(m.group(3)):
                first.setdefault(k, v.strip('"'))
                last[k] = v.strip('"')
            yield m.group(3), m.group(3), first, last


def scrapes(d):
    out = collections.defaultdict(list)
    for p in files(d, "metrics/*.prom*"):
        name, ms = os.path.basename(p).split(".prom")[0].rsplit("_", 1)
        cur = {}
        for line in rows(p):
            if line.strip() and not line.startswith("#"):
                k, v = line.rstrip("\n").rsplit(" ", 1)
                cur[k] = float(v)
        out[name].append((int(ms), cur))
    return {k: sorted(v, key=lambda x: x[0]) for k, v in out.items()}


def frontend(d, S, C):
    posts = collections.Counter()
    for p in files(d, "frontend.log*", "logs/router.log"):
        for t, m, f, l in loglines(p):
            rid = f.get("request_id")
            if "http::service::metrics" in t and "request received" in m:
                C["request received"] += 1; S["received"].add(rid)
            elif "http::service::metrics" in t and "request completed" in m:
                C["request completed status=%s error_type=%s" % (f.get("status"), f.get("error_type"))] += 1
                S["completed_" + str(f.get("status"))].add(rid)
                if f.get("ttft_ms") not in (None, "", "0"): S["completed_ttft"].add(rid)
                if str(f.get("output_tokens") or "0") not in ("0", ""): S["completed_output"].add(rid)
                e = str(f.get("error_type") or "")
                if f.get("status") == "error" and e.startswith(REFUSED): S["refused_completed"].add(rid)
                if e == "internal": S["failed_internal"].add(rid)
            elif "service_v2" in t and ("http response sent" in m or "request completed" in m) and f.get("method") == "POST":
                C["POST answered status=%s" % f["status"]] += 1
                posts[int(f["status"])] += 1
                if m.startswith("{") is False and t == m:                   # readable text: this request_id is a decoy
                    if int(f["status"]) == 400: S["refused_400_xr"].add(f.get("x_request_id"))
                else:
                    S["post"].add(rid or f.get("trace_id")); S["post_trace"].add(f.get("trace_id"))
                    if int(f["status"]) in (400, 404, 422, 429, 529): S["refused_http"].add(rid or f.get("trace_id"))
            elif "Selected worker" in m or "Selected pinned" in m:
                C["Selected worker"] += 1
                if rid: S["selected"].add(rid)
            elif "[ROUTING] Best" in m:
                C["[ROUTING] Best"] += 1; S["routing_best"].add(rid); S["routing_trace"].add(f.get("trace_id"))
            elif "route request" in m and ("request_span" in t or t == m):
                C["route request " + re.search(r"route request (\w+)", m).group(1)] += 1; S["route"].add(l.get("request_id"))
            elif "migration retry scheduled" in m:
                C["migration retry scheduled"] += 1; S["migration_retry"].add(l.get("request_id"))
            elif re.search(r"recreating stream|Cannot recreate|Creating new stream", m):
                k = re.search(r"recreating stream|Cannot recreate|Creating new stream", m).group(0)
                C[k] += 1; S[k].add(rid or f.get("x_request_id") or f.get("trace_id"))
            elif "Conflicting request tracker write" in m:
                C["Conflicting request tracker write"] += 1; S["conflicting"].add(rid)
            elif "overloaded" in m and "scheduling failed" in m:
                C["scheduling failed: overloaded"] += 1
            elif "Queried lower-tier" in m:
                C["Queried lower-tier " + str(f.get("storage_tier"))] += 1; S["lower_tier"].add(rid)
            elif "Prefill completed, proceeding" in m:
                C["Prefill completed, proceeding to decode"] += 1; S["prefill_completed"].add(rid)
            elif "falling back to decode-only" in m:
                C["falling back to decode-only"] += 1; C["falling back, with x_request_id"] += bool(f.get("x_request_id"))
            elif "response failed" in m:
                C["response failed (5xx)"] += 1
            elif f.get("log_type") == "audit":
                C["audit line"] += 1
                try:
                    r = f["record"] if t != m else m[m.index("record=") + 7:]
                    if isinstance(r, str): r = json.JSONDecoder().raw_decode(r)[0]
                    S["audit"].add(r["request_id"])
                except (ValueError, KeyError):
                    C["audit line unread"] += 1
    return posts


def workers(d, S, C, KVE):
    out = {}
    for p in files(d, "[wpd][0-9]*.log*", "logs/worker-*.log"):
        n = os.path.basename(p).split(".log")[0]
        role = n[0] if n[0] in "pd" else "w"
        c = collections.Counter()
        for t, m, f, l in loglines(p):
            if "push_handler" in t and ("request received" in m or "request completed" in m) and (f.get("endpoint") or l.get("endpoint")) == "generate":
                k = "received" if "received" in m else "completed"
                c[k] += 1; S["worker_" + k].add(f.get("request_id")); S[role + "_" + k].add(f.get("request_id"))
            elif "Recorded event RouterEvent" in m:
                w, i = re.search(r"worker_id: (\d+)", m).group(1), int(re.search(r"event_id: (\d+)", m).group(1))
                tier, kind = re.search(r"storage_tier: (\w+)", m), re.search(r"data: (\w+)", m).group(1)
                tier = {"Device": "device", "HostPinned": "host_pinned"}.get(tier.group(1), tier.group(1)) if tier else "unnamed"
                nb = len(re.findall(r"ExternalSequenceBlockHash", m)) - m.count("parent_hash: Some(ExternalSequenceBlockHash")
                KVE[w, i] = (tier, kind.lower(), nb); C["kv event lines"] += 1
        out[n] = dict(c)
    return out


def traces(d, S, T):
    sess, none = {}, set()
    for p in files(d, "trace/*", "audit/*", "artifacts/dynamo-request-trace*"):
        for line in rows(p):
            try:
                e = json.loads(line)["event"]
            except ValueError:
                T["unread"] += 1; continue
            kind = e.get("event_type") or "audit v%s" % e.get("schema_version")
            T[kind] += 1
            q = e.get("request") or {}
            if kind == "request_end":
                r = q["request_id"]; S["trace_end"].add(r)
                if "prefill_wait_time_ms" in q: S["trace_wait"].add(r)
                if q.get("ttft_ms"): S["trace_ttft"].add(r)
                if q.get("output_tokens"): S["trace_output"].add(r)
                if "kv_transfer_estimated_latency_ms" in q: S["trace_transfer_estimate"].add(r)
                T["predicted cached_tokens"] += q.get("cached_tokens", 0); T["input_tokens"] += q.get("input_tokens", 0)
                if e.get("agent_context"): sess[r] = e["agent_context"]["session_id"]
                else: none.add(r)
                continue
            pay = e.get("payload") or e
            r = pay.get("request_id")
            if kind.startswith(("request_payload", "audit")):
                S["payload"].add(r)
                h = pay.get("http_request_headers") or {}
                got = [h[k] for k in SESSION_HEADERS if k in h]
                if got: sess.setdefault(r, got[0]); S["payload_session"].add(r)
                ac = ((pay.get("request") or {}).get("nvext") or {}).get("agent_context") if isinstance(pay.get("request"), dict) else None
                if ac: sess.setdefault(r, ac["session_id"])
                if len(h) and "user-agent" in h and not got: none.add(r)     # all session headers were on the capture list (A1)
                u = (pay.get("response") or {}).get("usage") or {}
                c = (u.get("prompt_tokens_details") or {}).get("cached_tokens")
                if c is not None:
                    S["usage_cached"].add(r); T["usage rows"] += 1; T["usage cached_tokens"] += c; T["usage prompt_tokens"] += u["prompt_tokens"]
                    if c == 0: S["usage_cached_zero"].add(r)
                if u.get("completion_tokens"): S["usage_completion"].add(r)
    return sess, none - set(sess)


def wire(d, S, T, KVE):
    seq = {}
    for p in files(d, "kv_events_wire.jsonl*"):
        for line in rows(p):
            o = json.loads(line)
            if not o.get("topic"): continue
            e = o["envelope"]; k = (e["publisher_id"], o["topic"])
            if o["topic"] == "kv-events":
                if k not in seq and e["sequence"] != 0: T["publisher first seen at sequence %d" % e["sequence"]] += 1
                if k in seq and e["sequence"] != seq[k] + 1: T["sequence gaps"] += 1
            seq[k] = e["sequence"]
            pl = e["payload"]
            if o["topic"] == "active_sequences_events":
                for ev in pl["events"]:
                    if ev["data"] == "MarkPrefillCompleted": S["mark_prefill"].add(ev["request_id"])
            elif o["topic"] == "kv-events":
                for ev in pl if isinstance(pl, list) else [pl]:
                    dt = ev["event"]["data"]; kind = dt if isinstance(dt, str) else next(iter(dt))
                    nb = 0 if isinstance(dt, str) else len(dt[kind].get("blocks", dt[kind].get("block_hashes", [])))
                    KVE[str(ev["worker_id"]), ev["event"]["event_id"]] = (ev.get("storage_tier"), kind, nb); T["kv event messages on the wire"] += 1


def edges(S, C, posts, sess, KVE, roles):
    """k of N and sessions, by the rules of the golden files. Passage edges: N = requests or engine requests; happening edges: N = occurrences."""
    host = any(v[0] == "host_pinned" for v in KVE.values())
    eng = S["worker_received"]
    n_req = sum(posts.values()) or C["Selected worker"]
    done = S["worker_completed"] if not roles else set()
    k = {"request-router": S["received"] | S["trace_end"] | S["payload"] | S["audit"],
         "router-worker": S["routing_best"] | S["route"] | S["selected"],
         "admission": eng,
         "queue-wait": S["trace_wait"] & eng,
         "l1-lookup": (S["usage_cached_zero"] if host else S["usage_cached"]) & eng,
         "prefill": (S["mark_prefill"] | S["trace_ttft"] | S["completed_ttft"] | S["prefill_completed"] | S["p_completed"] | S["trace_output"] | S["completed_output"] | done) & eng,
         "decode": (S["trace_output"] | S["completed_output"] | S["d_completed"] | done) & eng,
         "rejection": S["refused_completed"] | S["refused_http"] | S["refused_400_xr"],
         "migration": S["migration_retry"] | S["conflicting"] | S["recreating stream"] | S["Creating new stream"]}
    out = {}
    for e, ids in k.items():
        ids = {x for x in ids if x}
        n = n_req if e in ("request-router", "router-worker") else len(ids) if e in ("rejection", "migration") else len(eng)
        out[e] = {"k": len(ids), "N": n, "session_k": len(ids & set(sess))}
    for e, tier, kind in (("l1-evict", ("device", "unnamed"), "removed"), ("l2-writeback", ("host_pinned",), "stored"), ("l2-evict", ("host_pinned",), "removed"), ("l3-evict", ("disk", "external"), "removed")):
        v = [x for x in KVE.values() if x[0] in tier and x[1] == kind]
        out[e] = {"k": 0, "N": len(v), "blocks": sum(x[2] for x in v)}
    return out


def facts(d, metrics=False):
    S, C, T, KVE = collections.defaultdict(set), collections.Counter(), collections.Counter(), {}
    posts = frontend(d, S, C)
    W = workers(d, S, C, KVE)
    logged = len(KVE)
    sess, none = traces(d, S, T)
    wire(d, S, T, KVE)
    kv = collections.Counter()
    for tier, kind, nb in KVE.values():
        kv["%s %s events" % (tier, kind)] += 1; kv["%s %s blocks" % (tier, kind)] += nb
    kv["from worker logs"] = logged; kv["distinct (worker, event_id)"] = len(KVE)
    client = []
    for p in files(d, "client.jsonl*") + glob.glob(d.rstrip("/") + ".client_truth.jsonl"):
        client += [json.loads(x) for x in rows(p)]
    rid = {}
    for c in client:
        r = c.get("response_id") or (re.search(r'"id":"((?:chat)?cmpl-[^"]+)"', c.get("body") or "") or [None, None])[1]
        if r: rid[re.sub(r"^(chat)?cmpl-", "", r)] = c
    R = {"requests": sum(posts.values()), "engine_requests": len(S["worker_received"]), "sessions": len(set(sess.values())), "requests_with_session": len(sess), "without_session": len(none),
         "edges": edges(S, C, posts, sess, KVE, any(w[0] in "pd" for w in W)), "ids": {k: len(v - {None}) for k, v in sorted(S.items())}, "lines": dict(C), "trace": dict(T), "kv_events": dict(kv), "workers": W,
         "truth": {"requests": len(client), "status": dict(collections.Counter(c["status"] for c in client)), "sessions": len({c["session"] for c in client if c.get("session")}),
                   "without_session": sum(not c.get("session") for c in client), "cancelled": sum(bool(c.get("client_cancelled")) for c in client), "with_response_id": len(rid),
                   "sessions_wrong": sum(1 for r, s in sess.items() if r in rid and rid[r].get("session") != s),
                   "no_session_wrong": sum(1 for r in none if r in rid and rid[r].get("session")),
                   "cached_tokens": sum(((c.get("usage") or {}).get("prompt_tokens_details") or {}).get("cached_tokens") or 0 for c in client)}}
    if metrics:
        M = {}
        for name, ss in scrapes(d).items():
            gaps = sorted(b[0] - a[0] for a, b in zip(ss, ss[1:]))
            M[name] = {"scrapes": len(ss), "first_ms": ss[0][0], "last_ms": ss[-1][0], "median_ms": gaps[len(gaps) // 2], "max_gap_ms": gaps[-1], "series": {}}
            for k in sorted({k for _, c in ss for k in c if INTEREST.search(k)}):
                v = [c[k] for _, c in ss if k in c]
                M[name]["series"][k] = {"samples": len(v), "first": v[0], "last": v[-1], "increase": sum(max(0, b - a) for a, b in zip(v, v[1:])), "resets": sum(b < a for a, b in zip(v, v[1:]))}
        R["metrics"] = M
    return R, S, sess, none, rid


if __name__ == "__main__":
    R = facts(os.path.join(sys.argv[1], sys.argv[2]), len(sys.argv) > 3)[0]
    json.dump(R, sys.stdout, indent=1, sort_keys=True); print()
