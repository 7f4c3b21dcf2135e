#!/usr/bin/env python3
"""Compares the golden files of the Dynamo captures with the raw artifacts: python3 dynamo_check.py CASES FILE.toml…

For every edge with a `k of N` the numbers of dynamo_facts.py must be the same; ids, order and words are checked too. Exit code 1 on any difference.
"""
import os, re, sys, tomllib
import dynamo_facts

IDS = ("request-router router-worker rejection migration admission queue-wait l1-lookup l2-lookup l3-lookup l3-restore l2-restore prefill kv-transfer decode "
       "retraction l1-evict l2-writeback l2-evict writeback-drop l3-writeback l3-allocate l3-evict").split()
ACTIVITY = {"proven", "active", "absent", "partial", "conflict", "no-signal"}


def text(k, n):
    return "%d of %d" % (k, n) if k else "UNPROVABLE"


def check(cases, path):
    with open(path, "rb") as f:
        g = tomllib.load(f)
    R = dynamo_facts.facts(os.path.join(cases, g["capture"]))[0]
    bad = []
    if [e["id"] for e in g["edge"]] != IDS: bad.append("ids or order")
    for k in ("requests", "engine_requests", "sessions", "without_session"):
        if k in g and g[k] != R[k] and not (k == "requests" and R[k] == 0): bad.append("%s: %s, raw %s" % (k, g[k], R[k]))
    for e in g["edge"]:
        if e["activity"] not in ACTIVITY: bad.append(e["id"] + ": activity")
        for k in ("request", "session"):
            if not re.fullmatch(r"\d+ of \d+|UNPROVABLE|none", e[k]): bad.append("%s: %s" % (e["id"], k))
            if e[k] == "none" and e["activity"] != "absent": bad.append("%s: none but %s" % (e["id"], e["activity"]))
        for k in ("why", "from"):
            if not e[k]: bad.append("%s: no %s" % (e["id"], k))
        r = R["edges"].get(e["id"])
        if not r or e["activity"] != "proven": continue
        if e["request"] != text(r["k"], r["N"]): bad.append("%s: request %s, raw %s" % (e["id"], e["request"], text(r["k"], r["N"])))
        if e["session"] != text(r.get("session_k", 0), r["N"]): bad.append("%s: session %s, raw %s" % (e["id"], e["session"], text(r.get("session_k", 0), r["N"])))
        if e.get("unit") == "requests" and e["count"] != r["k"]: bad.append("%s: count %s, raw %s" % (e["id"], e["count"], r["k"]))
        if e.get("unit") == "events" and e["count"] != r["N"]: bad.append("%s: count %s, raw %s" % (e["id"], e["count"], r["N"]))
        if e.get("unit") == "tokens" and e["count"] != R["trace"].get("usage cached_tokens"): bad.append("%s: tokens" % e["id"])
    return bad


if __name__ == "__main__":
    failed = False
    for p in sys.argv[2:]:
        bad = check(sys.argv[1], p)
        failed |= bool(bad)
        print(os.path.basename(p), "ok" if not bad else "; ".join(bad))
    sys.exit(failed)
