"""Digests of what the layouts of cases/metrics hold, from the scrapes and from the files with pyarrow: what src/layouts/parquet_cases.rs expects.

usage: parquet_cases.py CASES/metrics       (needs pyarrow)
A digest is the wrapping sum over samples of FNV-1a 64 of `endpoint TAB name TAB k=v, sorted, joined by 0x1f TAB nanoseconds TAB value's bits`.
"""
import gzip, json, math, re, struct, sys
import pyarrow as pa, pyarrow.parquet as pq

root = sys.argv[1]
LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?')
def fnv(b):
    h = 0xcbf29ce484222325
    for x in b:
        h = ((h ^ x) * 0x100000001b3) & 0xffffffffffffffff
    return h
def bound(k, v):
    if k in ("le", "quantile"):
        f = float(v)
        if f == math.inf: return "+Inf"
        return str(int(f)) if f == int(f) else repr(f)
    return v
def bits(v):
    return struct.pack(">d", v).hex()
keys = {}
def digest(samples):
    n, total = 0, 0
    for endpoint, name, labels, t, v in samples:
        if math.isnan(v): v = math.nan
        k = (endpoint, name, tuple(sorted(labels)))
        pre = keys.get(k)
        if pre is None:
            text = "\x1f".join(f"{a}={bound(a, b)}" for a, b in sorted(labels) if b != "")
            pre = keys[k] = f"{endpoint}\t{name}\t{text}\t"
        total = (total + fnv(f"{pre}{t}\t{bits(v)}".encode())) & 0xffffffffffffffff
        n += 1
    return n, f"{total:016x}"
def unescape(s):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", '"': '"', "\\": "\\"}.get(m[1], "\\" + m[1]), s)
def scrapes():
    for line in gzip.open(f"{root}/raw/raw_prometheus.jsonl.gz", "rt"):
        s = json.loads(line)
        for l in s.get("text", "").split("\n") if s.get("text") else []:
            if not l or l[0] == "#": continue
            m = re.match(r'([A-Za-z_:][\w:]*)\s*(?:\{(.*)\})?\s+(\S+)$', l, re.S)
            labels = [(a, unescape(b)) for a, b in LABEL.findall(m[2] or "")]
            yield s["endpoint_url"], m[1], labels, s["timestamp_ns"], float(m[3])
raw = list(scrapes())
print("raw", len(raw), "series", len({(e, n, tuple(sorted(l))) for e, n, l, *_ in raw}))
def at(f, keep=lambda *_: True, value=lambda v: v): return digest((e, n, l, f(t), value(v)) for e, n, l, t, v in raw if keep(e, n, l))
ms = lambda t: t // 10**6 * 10**6
us = lambda t: t // 1000 * 1000
print("ms", at(ms)); print("us", at(us)); print("ns", at(lambda t: t))
def secs(t):
    f = t / 1e9
    return int(f) * 10**9 + int(math.floor((f - int(f)) * 1e9 + .5))
print("f64 s", at(secs))
worker = "http://127.0.0.1:13000/metrics"
w = [(n, l, t, v) for e, n, l, t, v in raw if e == worker]
print("wide ms", digest(("", n, l, ms(t), v) for n, l, t, v in w))
el = pq.read_table(f"{root}/layouts/L06_wide_elapsed_f32.parquet")["elapsed_s"].to_pylist()
ts = sorted({t for _, _, t, _ in w})
assert len(el) == len(ts)
e_ns = {t: int(e) * 10**9 + int(math.floor((e - int(e)) * 1e9 + .5)) for t, e in zip(ts, el)}
assert all(abs((t - ts[0]) - e_ns[t]) < 1000 for t in ts), "elapsed is that of the stamps"
f32 = lambda v: struct.unpack("f", struct.pack("f", v))[0]
print("wide f32", digest(("", n, l, e_ns[t], f32(v)) for n, l, t, v in w))
# what each file holds, by pyarrow alone
def ints(t, c): return t[c].cast(pa.int64()).to_pylist()
for m in ("corr_torture_gauge", "dynamo_frontend_requests_total", "sglang_cached_tokens_total", "sglang_kv_available_tokens"):
    seen = m.replace("sglang_", "sglang:")
    print("L12", m, digest((e, m, l, ms(t), v) for e, n, l, t, v in raw if n == seen), pq.read_metadata(f"{root}/layouts/L12_prom2parquet/{m}/20261129180000.parquet").num_rows)
print("L12 all", digest((e, n.replace("sglang:", "sglang_"), l, ms(t), v) for e, n, l, t, v in raw if n in ("corr_torture_gauge", "dynamo_frontend_requests_total", "sglang:cached_tokens_total", "sglang:kv_available_tokens")))
o = f"{root}/layouts/L13_otap/"
names = {r["id"]: r["name"] for r in pq.read_table(o + "univariate_metrics.parquet").to_pylist()}
def attrs(f):
    d = {}
    for r in pq.read_table(o + f).to_pylist(): d.setdefault(r["parent_id"], []).append((r["key"], r["str"]))
    return d
def otap():
    a = attrs("number_dp_attrs.parquet"); t = pq.read_table(o + "number_data_points.parquet")
    for i, p, at, iv, dv in zip(*[t[c].to_pylist() if c != "time_unix_nano" else ints(t, c) for c in ("id", "parent_id", "time_unix_nano", "int_value", "double_value")]):
        yield "", names[p], a.get(i, []), at, float(dv if dv is not None else iv)
    a = attrs("histogram_dp_attrs.parquet"); t = pq.read_table(o + "histogram_data_points.parquet")
    for i, p, at, c, s, bc, eb in zip(*[t[c].to_pylist() if c != "time_unix_nano" else ints(t, c) for c in ("id", "parent_id", "time_unix_nano", "count", "sum", "bucket_counts", "explicit_bounds")]):
        n, l = names[p], a.get(i, [])
        yield "", n + "_sum", l, at, s
        yield "", n + "_count", l, at, float(c)
        run = 0
        for b, x in zip(bc, eb + [math.inf]):
            run += b
            yield "", n + "_bucket", l + [("le", str(x))], at, float(run)
ot = list(otap())
print("L13", digest(ot))
index = {(n, tuple(sorted((k, bound(k, v)) for k, v in l)), t): v for e, n, l, t, v in raw}
miss = [x for x in ot if not (lambda v: v == x[4] or (v is not None and math.isnan(v) and math.isnan(x[4])))(index.get((x[1], tuple(sorted((k, bound(k, v)) for k, v in x[2])), x[3])))]
print("L13 samples that differ from the scrapes", len(miss), miss[:2])
for f in ("whole", "window_60_120", "window_span_reset_100_190"):
    t = pq.read_table(f"{root}/layouts/A_aiperf/server_metrics_export.{f}.parquet")
    lab = json.loads(t.schema.metadata[b"aiperf.label_columns"])
    def rows():
        seen = set()
        for r in t.to_pylist():
            l = [(k, r[k]) for k in lab if r[k] is not None]
            e, n, at = r["endpoint_url"], r["metric_name"], r["timestamp_ns"]
            if r["value"] is not None: yield e, n, l, at, r["value"]
            if r["bucket_le"] is not None: yield e, n + "_bucket", l + [("le", r["bucket_le"])], at, r["bucket_count"]
            k = (e, n, tuple(l), at)
            if r["sum"] is not None and k not in seen:
                seen.add(k)
                yield e, n + "_sum", l, at, r["sum"]
                yield e, n + "_count", l, at, r["count"]
    print("aiperf", f, digest(rows()))
