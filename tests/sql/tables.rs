//! Every table and every view.

use std::collections::BTreeMap;

use serde_json::json;

use super::{both, rows};
use crate::program::Place;

/// grep over logs/worker-0.log: 15 `Decode batch`, 9 `Prefill batch`; their numbers summed with python.
#[test]
fn views_of_batches() {
    both(
        "metrics-run",
        "SELECT count(*) AS n, sum(running_reqs) AS running, max(gen_throughput) AS top, min(line) AS line FROM decode_batch",
        &json!([{"n": 15, "running": 455, "top": 100.0, "line": 2}]),
    );
    both(
        "metrics-run",
        "SELECT count(*) AS n, sum(cached_tokens) AS cached, sum(new_tokens) AS new, count(DISTINCT worker) AS workers FROM prefill_batch",
        &json!([{"n": 9, "cached": 76517, "new": 576, "workers": 1}]),
    );
    both(
        "metrics-run",
        "SELECT citation, time, time_end, worker, tokens, token_usage, cpu_graph FROM decode_batch ORDER BY time, line LIMIT 1",
        &json!([{
            "citation": "metrics-run/logs/worker-0.log:2", "time": "2026-11-29T18:30:40Z", "time_end": "2026-11-29T18:30:41Z",
            "worker": "worker-0", "tokens": 79900, "token_usage": 0.4, "cpu_graph": false,
        }]),
    );
}

/// jq over the trace: 39 rows, sums of their members; two workers, one above 2^63.
#[test]
fn view_of_requests() {
    both(
        "direct-run",
        "SELECT count(*) AS n, sum(input_tokens) AS i, sum(output_tokens) AS o, sum(cached_tokens) AS c, max(ttft_ms) AS ttft FROM request_end",
        &json!([{"n": 39, "i": 5789, "o": 504, "c": 2784, "ttft": 55.91087}]),
    );
    both(
        "direct-run",
        "SELECT prefill_worker_id AS id, count(*) AS n FROM request_end GROUP BY 1 ORDER BY n",
        &json!([{"id": "17455822474245500398", "n": 16}, {"id": "8225263693429224768", "n": 23}]),
    );
}

/// grep over router.log: 40 each of `Selected worker`, `[ROUTING] Best`, `[ROUTING_INPUT]` and `request received`.
#[test]
fn events_by_kind_and_their_fields() {
    let sql = "SELECT kind, count(*) AS n FROM events WHERE source = 'logs/router.log' \
               AND kind IN ('worker_selected', 'route_decision', 'routing_input', 'request_received') GROUP BY kind ORDER BY kind";
    both(
        "direct-run",
        sql,
        &json!([
            {"kind": "request_received", "n": 40}, {"kind": "route_decision", "n": 40},
            {"kind": "routing_input", "n": 40}, {"kind": "worker_selected", "n": 40},
        ]),
    );
    // Line 42 of router.log, as it stands there.
    let sql = "SELECT worker_id, request_id, fields['overlap_blocks'] AS overlap, fields['total_blocks'] AS total, level, \
               starts_with(text, '[ROUTING] Best: worker_17455822474245500398') AS begins, outcome \
               FROM events WHERE source = 'logs/router.log' AND line = 42";
    both(
        "direct-run",
        sql,
        &json!([{
            "worker_id": "17455822474245500398", "request_id": "edf9ed0132194585a510233214f462c1", "overlap": "0", "total": "3",
            "level": "debug", "begins": true, "outcome": "parsed",
        }]),
    );
}

/// python over the trace and the router's log: of its 40 decisions 39 requests have a row in the trace, and 16 of these name the one worker.
#[test]
fn records_of_one_request_joined_by_its_id() {
    both(
        "direct-run",
        "SELECT count(*) AS n, sum(CASE WHEN d.worker_id = e.prefill_worker_id THEN 1 ELSE 0 END) AS same \
         FROM route_decision d JOIN request_end e ON d.request_id = e.request_id",
        &json!([{"n": 39, "same": 39}]),
    );
    both(
        "direct-run",
        "SELECT count(DISTINCT session) AS sessions, count(session) AS n FROM request_end WHERE ids['session'] IS NOT NULL",
        &json!([{"sessions": 6, "n": 15}]),
    );
}

/// Every kind has a view; together they are all records, and each has those of its kind.
#[test]
fn every_kind_has_a_view() {
    for fixture in ["direct-run", "sglang-run", "restart-run", "restart-journals", "metrics-run"] {
        let place = Place::with(fixture);
        assert_eq!(place.corr(&["index", fixture]).code, Some(0));
        let told = place.corr(&["schema", "--format", "json"]);
        let told: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
        let kinds: Vec<&str> = told["tables"].as_array().expect("tables").iter().skip(7).filter_map(|t| t["name"].as_str()).collect();
        assert!(kinds.len() > 150, "{} kinds", kinds.len());
        let by_kind = rows(&place, fixture, "SELECT kind, count(*) AS n FROM events GROUP BY kind");
        let by_kind: BTreeMap<&str, u64> =
            by_kind.iter().map(|r| (r["kind"].as_str().expect("kind"), r["n"].as_u64().expect("n"))).collect();
        assert!(by_kind.len() > 1);
        let mut seen = 0;
        for some in kinds.chunks(40) {
            let one = |kind: &&str| format!("SELECT '{kind}' AS kind, count(*) AS n, count(time) AS stamped FROM \"{kind}\"");
            let sql: Vec<String> = some.iter().map(one).collect();
            for row in rows(&place, fixture, &sql.join(" UNION ALL ")) {
                let kind = row["kind"].as_str().expect("kind");
                assert_eq!(row["n"].as_u64(), Some(by_kind.get(kind).copied().unwrap_or(0)), "{kind}");
                seen += row["n"].as_u64().unwrap_or(0);
            }
        }
        assert_eq!(seen, by_kind.values().sum::<u64>(), "{fixture}");
    }
}

/// grep over server.log: 38 access lines, 3 ready lines, 3 `server_args=`.
#[test]
fn views_of_a_restart() {
    let sql = "SELECT (SELECT count(*) FROM access) AS access, (SELECT count(*) FROM server_ready) AS ready, \
               (SELECT count(*) FROM server_args) AS args";
    both("restart-run", sql, &json!([{"access": 38, "ready": 3, "args": 3}]));
}

/// jq over raw_prometheus.jsonl: 42 series of 13 names, 594 samples; python for the figures of one series.
#[test]
fn samples_and_series() {
    both(
        "metrics-run",
        "SELECT count(*) AS n, count(DISTINCT name) AS names, sum(samples) AS samples FROM series",
        &json!([{"n": 42, "names": 13, "samples": 594}]),
    );
    both("metrics-run", "SELECT count(*) AS n, count(DISTINCT time) AS scrapes FROM samples", &json!([{"n": 594, "scrapes": 15}]));
    both(
        "metrics-run",
        "SELECT count(*) AS n, min(time) AS first, max(time) AS last, max(value) AS top, sum(value) AS total FROM samples \
         WHERE name = 'sglang:prompt_tokens_total' AND labels['is_streaming'] = 'true'",
        &json!([{
            "n": 15, "first": "2026-11-29T18:30:40.868764829Z", "last": "2026-11-29T18:31:01.877909680Z",
            "top": 19206188.0, "total": 191405346.0,
        }]),
    );
    both(
        "metrics-run",
        "SELECT labels['tp_rank'] AS rank, type, samples, endpoint FROM series WHERE name = 'sglang:token_usage' ORDER BY rank",
        &json!([
            {"rank": "0", "type": "gauge", "samples": 15, "endpoint": "http://127.0.0.1:13000/metrics"},
            {"rank": "1", "type": "gauge", "samples": 15, "endpoint": "http://127.0.0.1:13000/metrics"},
        ]),
    );
}

/// A join of events with samples: to each decode line the sample of its second. The log was composed so that both have the same two digits
/// (fixtures/metrics-run/PROVENANCE.toml).
#[test]
fn events_joined_with_samples() {
    both(
        "metrics-run",
        "SELECT count(*) AS n, max(abs(d.token_usage - s.value)) < 0.0051 AS same FROM decode_batch d JOIN samples s \
         ON date_trunc('second', s.time) = d.time WHERE s.name = 'sglang:token_usage' AND s.labels['tp_rank'] = '0'",
        &json!([{"n": 15, "same": true}]),
    );
}

/// The README's window over the restart: the difference by hand over the samples of raw_prometheus.jsonl, one reset between.
#[test]
fn deltas_of_a_window() {
    both(
        "metrics-run",
        "SELECT least, most, samples, resets, first_value, last_value, status, type \
         FROM deltas('2026-11-29T18:30:42.5Z', '2026-11-29T18:31:00Z') \
         WHERE series LIKE 'sglang:prompt_tokens_total%is_streaming=\"true\"%'",
        &json!([{
            "least": 200109.0, "most": null, "samples": 11, "resets": 1, "first_value": 19045816.0, "last_value": 56522.0,
            "status": "answered", "type": "counter",
        }]),
    );
}

/// Three runs by the log: two asked to stop (`SIGTERM received` at 19:13:33 is in the log), ready lines at 19:13:28, 19:13:45 and 19:13:56.
#[test]
fn readiness_of_three_runs() {
    both(
        "restart-run",
        "SELECT run, known, latest FROM readiness WHERE instant = 'ready' AND server ORDER BY run",
        &json!([
            {"run": 1, "known": "exact", "latest": "2026-11-29T19:13:29Z"},
            {"run": 2, "known": "exact", "latest": "2026-11-29T19:13:46Z"},
            {"run": 3, "known": "exact", "latest": "2026-11-29T19:13:57Z"},
        ]),
    );
}

/// All 40 requests of the router's log were sent to a worker; tests/edges/expected/direct.toml says the same of the whole capture.
#[test]
fn verdicts_of_edges() {
    both(
        "direct-run",
        "SELECT activity, count, request_proven, request_all, session_proven, session_all FROM verdicts WHERE edge = 'router-worker'",
        &json!([{
            "activity": "proven", "count": 40, "request_proven": 40, "request_all": 40, "session_proven": 15, "session_all": 40,
        }]),
    );
    both(
        "direct-run",
        "SELECT request FROM verdicts WHERE activity = 'no-signal' AND edge = 'l1-lookup'",
        &json!([{"request": "UNPROVABLE"}]),
    );
    let place = Place::with("direct-run");
    assert_eq!(rows(&place, "direct-run", "SELECT count(*) AS n FROM verdicts"), [json!({"n": 22})]);
}

/// `ls -l` of the fixture.
#[test]
fn sources_of_a_run() {
    both(
        "direct-run",
        "SELECT source, class, bytes, format, worker FROM sources WHERE class = 'events' AND source LIKE 'logs/%r-%.log' ORDER BY source",
        &json!([
            {"source": "logs/worker-0.log", "class": "events", "bytes": 74622, "format": "dynamo-text", "worker": "worker-0"},
            {"source": "logs/worker-1.log", "class": "events", "bytes": 55246, "format": "dynamo-text", "worker": "worker-1"},
        ]),
    );
    both(
        "direct-run",
        "SELECT class, count(*) AS n FROM sources GROUP BY class ORDER BY class",
        &json!([{"class": "config", "n": 2}, {"class": "events", "n": 7}]),
    );
    both(
        "metrics-run",
        "SELECT source, class, bytes FROM sources WHERE class = 'metrics'",
        &json!([{"source": "raw_prometheus.jsonl", "class": "metrics", "bytes": 90578}]),
    );
}
