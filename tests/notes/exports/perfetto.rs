//! The trace against the Trace Event Format as its public description has it, and against the raw bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use corr::export::otlp;
use corr::export::perfetto::{Known, Writer};
use corr::export::spans::{Loose, Span, Stage};
use corr_parsers::ids::IdKind;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::export;
use crate::hostile::hostile;
use crate::program::{Place, cases, copy_tree};

/// An event as it is written, and its times in nanoseconds since the epoch by their digits.
#[derive(Debug)]
pub struct Event {
    pub json: Value,
    pub ts: i64,
    pub dur: i64,
}

/// Microseconds as digits, at most three of them decimals.
fn nanos(raw: &str) -> i64 {
    let (whole, fraction) = raw.split_once('.').unwrap_or((raw, ""));
    assert!(fraction.len() <= 3 && !raw.contains(['e', 'E']), "{raw}");
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    whole.parse::<i64>().expect("digits") * 1_000 + sign * format!("{fraction:0<3}").parse::<i64>().expect("digits")
}

/// Reads a trace and holds every event to the format; lanes must nest, every number of a process or thread must have a name.
pub fn valid(text: &str) -> Vec<Event> {
    let whole: Value = serde_json::from_str(text).expect("a trace is one JSON object");
    let count = whole["traceEvents"].as_array().expect("traceEvents").len();
    assert!(whole["otherData"]["left_out"].is_object());
    let zero: i64 = whole["otherData"]["zero_unix_ns"].as_str().expect("64 bits are text").parse().expect("digits");
    assert_eq!(zero % 86_400_000_000_000, 0, "a midnight");
    let mut events = Vec::new();
    let body = text.strip_prefix("{\"traceEvents\":[\n").unwrap_or("");
    for line in body.lines().take(count) {
        let line = line.trim_end_matches(',');
        let raw: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).expect("an event a line");
        let time = |name: &str| raw.get(name).map_or(0, |raw| nanos(raw.get()));
        let json: Value = serde_json::from_str(line).expect("JSON");
        if let Some(float) = json["ts"].as_f64() {
            assert_eq!((float * 1000.0).round() as i64, time("ts"), "a reader's float of it is the same nanosecond: {json}");
        }
        let zero = if raw.contains_key("ts") { zero } else { 0 };
        events.push(Event { ts: zero + time("ts"), dur: time("dur"), json });
    }
    let (mut processes, mut threads) = (HashMap::new(), HashMap::new());
    for Event { json, .. } in events.iter().filter(|e| e.json["ph"] == "M") {
        let name = json["args"]["name"].as_str().expect("a name").to_string();
        let pid = json["pid"].as_u64().expect("pid");
        match json["name"].as_str() {
            Some("process_name") => assert!(processes.insert(pid, name).is_none(), "{json}"),
            Some("thread_name") => assert!(threads.insert(json["tid"].as_u64().expect("tid"), (pid, name)).is_none(), "{json}"),
            other => panic!("metadata {other:?}"),
        }
    }
    assert!(processes.keys().all(|pid| *pid > 0 && !threads.contains_key(pid)), "numbers of processes and threads are apart");
    let mut lanes: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
    for Event { json, ts, dur } in &events {
        let object = json.as_object().expect("an object");
        assert!(
            object["name"].is_string() && object["args"].is_object() && processes.contains_key(&json["pid"].as_u64().expect("pid")),
            "{json}"
        );
        let has = |name: &str| object.contains_key(name);
        let args = object["args"].as_object().expect("args");
        match json["ph"].as_str().expect("a phase") {
            "M" => continue,
            "X" => {
                assert!(*dur >= 0 && json["ts"].is_number() && has("dur"), "{json}");
                let cites = args["cites"].as_array().expect("locators");
                assert!(!cites.is_empty() && cites.iter().all(Value::is_string), "{json}");
                let (pid, name) = &threads[&json["tid"].as_u64().expect("tid")];
                assert_eq!(Some(*pid), json["pid"].as_u64());
                assert_eq!(name.starts_with("inferred:"), args.contains_key("evidence"), "what is inferred has a track of its own: {json}");
                lanes.entry(json["tid"].as_u64().expect("tid")).or_default().push((*ts, ts + dur));
            }
            "i" => {
                assert!(json["ts"].is_number() && json["s"] == "t" && !has("dur"), "{json}");
                assert!(args["cite"].as_str().is_some_and(|c| !c.is_empty()), "{json}");
                assert_eq!(Some(threads[&json["tid"].as_u64().expect("tid")].0), json["pid"].as_u64());
            }
            "C" => {
                assert!(json["ts"].is_number() && !has("id") && !has("bind_id"), "{json}");
                assert!(args.len() == 1 && args.values().all(Value::is_number), "each argument of a counter is drawn: {json}");
                assert!(json["name"].as_str().is_some_and(|n| n.ends_with(']') && n.contains(" [")), "a unit: {json}");
                assert!(json["cite"].as_str().is_some_and(|c| c.contains("]@")), "{json}");
            }
            other => panic!("phase {other}"),
        }
    }
    for (lane, mut slices) in lanes {
        slices.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        let mut open: Vec<i64> = Vec::new();
        for (start, end) in slices {
            while open.last().is_some_and(|top| *top <= start) {
                open.pop();
            }
            assert!(open.last().is_none_or(|top| end <= *top), "thread {lane}: {start}..{end} leaves the slice around it");
            open.push(end);
        }
    }
    events
}

fn slices<'e>(events: &'e [Event], process: &str, name: &str) -> Vec<&'e Event> {
    let of = |e: &&Event| e.json["ph"] == "M" && e.json["name"] == "process_name" && e.json["args"]["name"] == process;
    let Some(pid) = events.iter().find(of).map(|e| e.json["pid"].clone()) else { return Vec::new() };
    let is = |e: &&Event| e.json["ph"] == "X" && e.json["pid"] == pid && e.json["name"].as_str().is_some_and(|n| n.starts_with(name));
    events.iter().filter(is).collect()
}

/// Counted in the raw files: `grep -c`, ANSI apart, of each message, and rows of the trace.
#[test]
fn requests_are_those_of_the_logs() {
    let place = Place::with("direct-run");
    let events = valid(&export(&place, &["perfetto", "direct-run"]).stdout);
    // 40 are received by the frontend, 39 of them completed; worker-0 has 24 received for `generate` and 23 completed, worker-1 has 16 of both.
    for (process, name, count) in
        [("router", "request ", 39), ("worker-0", "request ", 23), ("worker-1", "request ", 16), ("worker-1", "call of ", 1)]
    {
        assert_eq!(slices(&events, process, name).len(), count, "{process} {name}");
    }
    let trace = "direct-run/artifacts/dynamo-request-trace.000000.jsonl.gz";
    for (name, count) in [("request ", 39), ("prefill wait", 39), ("decode", 39)] {
        assert_eq!(slices(&events, trace, name).len(), count, "{name}");
    }
    // 15 rows have a session.
    assert_eq!(slices(&events, "sessions", "request ").len(), 15);
    // The one that was in flight when the logs were cut has no slice anywhere.
    let open = "85127af2-1c2a-4386-968e-452feec20728";
    assert!(!events.iter().any(|e| e.json["ph"] == "X" && e.json["args"]["request"] == open));
    let told: Vec<&Value> =
        events.iter().filter(|e| e.json["args"]["why"] == "no record of its end was read").map(|e| &e.json["args"]["cite"]).collect();
    assert_eq!(told, ["direct-run/logs/router.log:326", "direct-run/logs/worker-0.log:136"]);
    // The smoke request: stamps of lines 39 and 44 of router.log, 52 and 55 of worker-1.log, and milliseconds of its row.
    let smoke = |process: &str| {
        let found = slices(&events, process, "request edf9ed01");
        assert_eq!(found.len(), 1, "{process}");
        (found[0].ts, found[0].ts + found[0].dur)
    };
    assert_eq!(smoke("router"), (1_795_978_472_143_561_000, 1_795_978_472_277_164_000));
    assert_eq!(smoke("worker-1"), (1_795_978_472_159_786_000, 1_795_978_472_276_410_000));
    assert_eq!(smoke(trace), (1_795_978_472_143_000_000, 1_795_978_472_276_000_000));
    // 1795978472143 ms + 3.465238 ms, + 34.62437 ms, + 132.871778 ms.
    let decode = slices(&events, trace, "decode");
    let first = decode.iter().find(|e| e.json["args"]["request"] == "edf9ed01-3219-4585-a510-233214f462c1").expect("its decode");
    assert_eq!((first.ts, first.ts + first.dur), (1_795_978_472_177_624_370, 1_795_978_472_275_871_778));
}

/// `request_received_ts=1795979611.9480686`, … `response_sent_to_client_ts=1795979612.083714` on line 49 of server.log.
#[test]
fn stages_of_an_engine_are_what_its_record_states() {
    let place = Place::with("sglang-run");
    let events = valid(&export(&place, &["perfetto", "sglang-run"]).stdout);
    let mine: Vec<&Event> = events.iter().filter(|e| e.json["ph"] == "X" && e.json["args"]["request"] == "warm-p0").collect();
    let text = std::fs::read_to_string(place.path("sglang-run/logs/server.log")).expect("the log");
    let line = text.lines().nth(48).expect("line 49");
    let stated = |name: &str| {
        let rest = line.split_once(&format!("'{name}': ")).unwrap_or_else(|| panic!("{name} in {line}")).1;
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        format!("{whole}{fraction:0<9}").parse::<i64>().expect("a time")
    };
    let [received, dispatched, entered, filled, finished, sent] = [
        "request_received_ts",
        "api_server_dispatch_finish_ts",
        "forward_entry_time",
        "prefill_finished_time",
        "request_finished_ts",
        "response_sent_to_client_ts",
    ]
    .map(stated);
    let told: Vec<(&str, i64, i64)> = mine.iter().map(|e| (e.json["name"].as_str().expect("a name"), e.ts, e.ts + e.dur)).collect();
    let want = [
        ("request warm-p0", received, sent),
        ("dispatch", received, dispatched),
        ("queue", dispatched, entered),
        ("prefill", entered, filled),
        ("decode", filled, finished),
        ("send", finished, sent),
    ];
    assert_eq!(told, want);
}

/// Name and sorted labels of a line of an exposition, and its value: nothing of corr's own reader. A bound of a bucket is one number in both spellings.
fn line(text: &str) -> Option<(String, BTreeSet<String>, f64)> {
    let (name, value) = text.rsplit_once(' ').filter(|_| !text.starts_with('#'))?;
    let (name, labels) = name.trim_end_matches('}').split_once('{').unwrap_or((name, ""));
    let labels = labels.replace(".0\"", "\"");
    let labels = labels.split("\",").filter(|l| !l.is_empty()).map(|l| format!("{}\"", l.trim_end_matches('"'))).collect();
    Some((name.to_string(), labels, value.parse().ok()?))
}

#[test]
fn counters_are_the_samples_of_the_scrapes() {
    let place = Place::with("metrics-run");
    let raw = std::fs::read_to_string(place.path("metrics-run/raw_prometheus.jsonl")).expect("the capture");
    let mut served: BTreeMap<(String, BTreeSet<String>, i64), f64> = BTreeMap::new();
    for scrape in raw.lines().map(|l| serde_json::from_str::<Value>(l).expect("JSON")) {
        let at = scrape["timestamp_ns"].as_i64().expect("a time");
        for (name, labels, value) in scrape["text"].as_str().unwrap_or("").lines().filter_map(line) {
            served.insert((name, labels, at), value);
        }
    }
    let without_buckets = served.keys().filter(|(name, _, _)| !name.ends_with("_bucket")).count();
    assert_eq!((served.len(), without_buckets), (594, 309), "counted with jq and grep");
    let drawn = |args: &[&str]| -> usize {
        let events = valid(&export(&place, &[&["perfetto", "metrics-run"], args].concat()).stdout);
        let counters: Vec<&Event> = events.iter().filter(|e| e.json["ph"] == "C").collect();
        for counter in &counters {
            let name = counter.json["name"].as_str().and_then(|n| n.rsplit_once(" [")).expect("a unit").0;
            let (name, labels, _) = line(&format!("{name} 0")).expect("a series");
            let value = counter.json["args"]["value"].as_f64();
            assert_eq!(served.get(&(name, labels, counter.ts)).copied(), value, "{}", counter.json);
        }
        let unique: BTreeSet<(String, i64)> = counters.iter().map(|c| (c.json["name"].to_string(), c.ts)).collect();
        assert_eq!(unique.len(), counters.len(), "none twice");
        counters.len()
    };
    assert_eq!(drawn(&[]), 309, "every sample but those of buckets");
    assert_eq!(drawn(&["--metrics", "sglang:*"]), 594, "with buckets, if they are asked for");
    // As many, with the same values, as `corr metrics` has.
    let csv = place.corr(&["metrics", "metrics-run", "sglang:token_usage", "--rows", "--format", "csv"]);
    assert_eq!(csv.stdout.lines().count() - 1, drawn(&["--metrics", "sglang:token_usage"]));
    // A window has those between its ends: 42.87 to 47.87, six scrapes of two ranks (43.87, 44.87, 45.87, 46.87).
    let window = ["--metrics", "sglang:token_usage", "--since", "2026-11-29T18:30:42.5Z", "--until", "2026-11-29T18:30:48.5Z"];
    assert_eq!(drawn(&window), 12);
}

fn span(id: &str, track: &str, session: Option<String>, (start, length): (i64, i64), cut: i64, evidence: Option<String>) -> Span {
    let middle = start + length.min(cut);
    let stages = vec![
        Stage { name: "queue", start, end: middle, evidence: None },
        Stage { name: "decode", start: middle, end: start + length, evidence: None },
        Stage { name: "prefill", start, end: middle, evidence: Some("a length after a start") },
    ];
    Span {
        track: track.to_string(),
        name: "request".into(),
        id: Some((IdKind::Rid, id.to_string())),
        start,
        end: start + length,
        evidence,
        cites: vec![format!("{track}:1")],
        session,
        stages,
        traced: false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever spans there are and whatever their names hold: what is written is a trace whose lanes nest, and text stays text.
    #[test]
    fn any_spans_are_a_valid_trace(
        rows in prop::collection::vec((hostile(), 0usize..3, 0i64..5_000, 0i64..900, 0i64..900, any::<bool>(), any::<bool>()), 0..40),
        names in prop::collection::vec(hostile(), 3)
    ) {
        let mut spans: Vec<Span> = rows
            .iter()
            .map(|(id, track, start, length, cut, inferred, session)| {
                let evidence = inferred.then(|| "clamped".to_string());
                span(id, &names[*track], session.then(|| names[0].clone()), (1_795_978_472_143_561_001 + start, *length), *cut, evidence)
            })
            .collect();
        spans.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
        let session = |_: IdKind, id: &str| Some((id.to_string(), "a:1".to_string()));
        let known = Known { session: &session, edges: &|_| Vec::new() };
        let mut out = Vec::new();
        let mut writer = Writer::begin(&mut out, 1_795_978_472_143_561_001).expect("memory");
        writer.spans(&spans, &known).expect("memory");
        let loose: Vec<Loose> = rows
            .iter()
            .map(|(id, track, start, ..)| Loose { track: names[*track].clone(), id: id.clone(), at: 1_795_978_472_143_561_001 + start, cite: "a:1".into(), why: "no record of its end was read" })
            .collect();
        writer.loose(&loose, &known).expect("memory");
        let (written, _) = writer.end(Map::new()).expect("memory");
        let text = String::from_utf8(out).expect("UTF-8");
        prop_assert!(!super::unsafe_here(&text));
        let events = valid(&text);
        prop_assert_eq!(written.slices, events.iter().filter(|e| e.json["ph"] == "X").count() as u64);
        prop_assert_eq!(written.instants as usize, rows.len());
        for one in &spans {
            let id = &one.id.as_ref().expect("an id").1;
            prop_assert!(events.iter().any(|e| e.json["args"]["request"] == id.as_str() && e.ts == one.start && e.ts + e.dur == one.end));
        }
        // The same as traces.
        let mut out = Vec::new();
        let mut writer = otlp::Writer::new(&mut out);
        for one in &spans {
            let name = one.id.as_ref().expect("an id").1.clone();
            let sessions = one.session.iter().map(|s| (s.clone(), names[1].clone())).collect();
            writer.request(&otlp::Request { name, sessions, spans: vec![one.clone()], ..otlp::Request::default() }).expect("memory");
        }
        super::otlp::valid(&String::from_utf8(out).expect("UTF-8"));
    }
}

/// Captures of shared/cases: every row of a request trace is a slice, and nothing in them makes an invalid trace.
#[test]
fn captures_are_valid_traces() {
    let Some(root) = cases("dynamo") else { return };
    for name in ["E1_busy_text", "D1_disagg_jsonl", "A1_trace_payload_headers_jsonl"] {
        let place = Place::new();
        copy_tree(&root.join(name), &place.path("run"));
        for truth in ["client.jsonl", "client.err", "timeline.jsonl", "kv_events_wire.jsonl.gz"] {
            let _ = std::fs::remove_file(place.path("run").join(truth));
        }
        let mut rows = 0;
        for entry in std::fs::read_dir(place.path("run/trace")).expect("traces") {
            let path = entry.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("a trace");
            let text = if path.extension().is_some_and(|e| e == "gz") { gunzip(&bytes) } else { String::from_utf8(bytes).expect("UTF-8") };
            let end =
                |l: &&str| serde_json::from_str::<Value>(l).is_ok_and(|row| row.to_string().contains("\"event_type\":\"request_end\""));
            rows += text.lines().filter(end).count();
        }
        let events = valid(&export(&place, &["perfetto", "run", "--metrics", "dynamo_component_inflight_requests"]).stdout);
        let of_trace = |e: &&Event| {
            let cite = e.json["args"]["cites"][0].as_str().unwrap_or("");
            e.json["ph"] == "X"
                && cite.starts_with("run/trace/")
                && e.json["cat"] == "request"
                && e.json["name"].as_str().is_some_and(|n| n.starts_with("request "))
        };
        // A row with a session stands on the session's track too.
        let unique: BTreeSet<&str> = events.iter().filter(of_trace).filter_map(|e| e.json["args"]["cites"][0].as_str()).collect();
        assert_eq!(unique.len(), rows, "{name}: rows of the trace");
        println!("{name}: {rows} rows of the request trace, {} events of the trace", events.len());
    }
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(bytes), &mut text).expect("gzip");
    text
}

/// `grep -c 'token usage' metrics-run/logs/worker-0.log`: 24 lines, 15 of decode batches and 9 of prefill batches.
#[test]
fn fields_of_records_are_counters_and_what_is_not_there_is_said() {
    let place = Place::with("metrics-run");
    let ran = export(&place, &["perfetto", "metrics-run", "--metrics", "log:token_usage,sglang:nosuch,log:nosuch"]);
    let events = valid(&ran.stdout);
    let samples = |kind: &str| {
        let cited = format!("#log:token_usage{{kind=\"{kind}\"}}");
        events.iter().filter(|e| e.json["ph"] == "C" && e.json["cite"].as_str().is_some_and(|cite| cite.contains(&cited))).count()
    };
    assert_eq!((samples("decode_batch"), samples("prefill_batch")), (15, 9), "{}", ran.stderr);
    assert_eq!(events.iter().filter(|e| e.json["ph"] == "C").count(), 24, "and no other series");
    for name in ["sglang:nosuch: no such series", "log:nosuch: no record has such a field"] {
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
    }
}
