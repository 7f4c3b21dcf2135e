//! The routers' captures against what their clients saw: each answer's `X-Request-ID` and status, and when it was.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cases::cases;
use crate::detect;
use crate::event::{Event, Value};
use crate::ids::IdKind;
use crate::record::Reader;
use crate::stamp::{SECOND, Stamp};
use crate::text;

/// Status and stamp of every finished request, by request id.
fn finished(bytes: &[u8]) -> BTreeMap<String, Vec<(i64, Stamp)>> {
    let layout = detect::detect(bytes, true).layout;
    let mut found: BTreeMap<String, Vec<(i64, Stamp)>> = BTreeMap::new();
    let mut reader = Reader::new(bytes, 0, &layout);
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        record.parse(&mut event);
        if event.kind.name != "gateway_request_finished" {
            continue;
        }
        let Some(Value::Int(status)) = event.get("status") else { panic!("no status") };
        let stamp = event.stamp.and_then(|s| s.absolute()).expect("a stamp in UTC");
        for id in event.ids.iter().filter(|id| id.kind == IdKind::RequestId) {
            found.entry(id.text.to_string()).or_default().push((*status, stamp));
        }
    }
    found
}

#[test]
fn every_answer_of_a_router_is_in_its_log() {
    let Some(root) = cases("") else { return };
    for (folder, log, at_least) in [
        ("d-0523-router", "router.log", 90),
        ("d-0523-router", "router-log-dir/smg.2026-11-29", 90),
        ("e-0523-pd-mooncake-tcp", "router.log", 25),
    ] {
        let folder = root.join("sglang").join(folder);
        let found = finished(&std::fs::read(folder.join(log)).expect("the capture's log"));
        let rows = std::fs::read_to_string(folder.join("client.jsonl")).expect("the client's rows");
        let mut compared = 0;
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).expect("a row");
            let id = row["resp_headers"].as_object().and_then(|h| h.iter().find(|(k, _)| k.eq_ignore_ascii_case("x-request-id")));
            let (Some((_, id)), Some(status)) = (id, row["status"].as_i64()) else { continue };
            let (Some(start), Some(end)) = (row["t_start"].as_f64(), row["t_end"].as_f64()) else { continue };
            let id = id.as_str().unwrap_or_default();
            let (start, end) = ((start * 1e9) as i64, (end * 1e9) as i64);
            let holds = found.get(id).into_iter().flatten().any(|(s, at)| *s == status && at.end > start && at.start <= end + SECOND);
            assert!(holds, "{id} {status} of {}: {:?}", row["t_start"], found.get(id));
            compared += 1;
        }
        println!("{}/{log}: {compared} answers compared, {} ids in the log", folder.display(), found.len());
        assert!(compared >= at_least, "{compared}");
    }
}

/// Every event of a source: stamp, level, kind, and its fields and ids in the order of their names.
fn events(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let layout = detect::detect(&bytes, true).layout;
    let mut all = Vec::new();
    let mut reader = Reader::new(&bytes, 0, &layout);
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        record.parse(&mut event);
        let mut facts: Vec<String> = event.fields.iter().map(|f| format!("{}={:?}", f.name, f.value)).collect();
        facts.extend(event.ids.iter().map(|id| format!("{}={}", id.kind.field(), id.text)));
        facts.sort();
        let stamp = event.stamp.map(|s| (s.ns, s.width, s.zone));
        all.push(format!("{stamp:?} {:?} {} {}", event.level, event.kind.name, facts.join(" ")));
    }
    all
}

#[test]
fn one_log_in_four_forms_gives_one_sequence_of_events() {
    let Some(root) = cases("") else { return };
    let of = |name: &str| events(&root.join("sglang-samples").join(name));
    let plain = of("router-0.3.2.log");
    assert_eq!(plain.len(), 74, "wc -l");
    for other in ["router-0.3.2-ansi.log", "router-0.3.2-json.log", "router-0.3.2-source-build.log"] {
        let other_events = of(other);
        for (a, b) in plain.iter().zip(&other_events) {
            assert_eq!(a, b, "{other}");
        }
        assert_eq!(plain.len(), other_events.len(), "{other}");
        println!("{other}: {} events are those of the plain text", other_events.len());
    }
}

#[test]
fn values_add_up_to_what_awk_and_jq_say() {
    let Some(root) = cases("") else { return };
    // grep -o 'latency=…' and 'status=…' (0.1.9), 'status_code=…', summed with awk; in JSON each stands in `span` and `spans` and is taken once.
    for (name, latency_ms, statuses) in [
        ("router-0.1.9-pd.log", 28_550.975_684, [17, 0, 1]),
        ("router-0.2.2.log", 30_098.156_643, [12, 1, 1]),
        ("router-0.2.4.log", 23_145.877, [12, 1, 1]),
        ("router-0.3.2-ansi.log", 24_647.179, [12, 1, 1]),
        ("router-0.3.2-json.log", 24_647.179, [12, 1, 1]),
        ("smg-1.13.0-http.log", 35_713.107, [12, 1, 1]),
    ] {
        let bytes = std::fs::read(root.join("sglang-samples").join(name)).expect("the sample");
        let layout = detect::detect(&bytes, true).layout;
        let (mut sum, mut seen) = (0.0, [0, 0, 0]);
        let mut reader = Reader::new(&bytes, 0, &layout);
        while let Some(record) = reader.next() {
            let mut event = Event::new(&text::kinds::TEXT);
            record.parse(&mut event);
            if event.kind.name != "gateway_request_finished" {
                continue;
            }
            let (Some(Value::Float(ms)), Some(Value::Int(status))) = (event.get("latency_ms"), event.get("status")) else {
                panic!("{name}")
            };
            sum += ms;
            seen[usize::from(*status >= 400) + usize::from(*status >= 500)] += 1;
        }
        assert!((sum - latency_ms).abs() < 1e-3, "{name}: {sum}");
        assert_eq!(seen, statuses, "{name}");
    }
    // jq over what stands behind `evidence=`: 12 dispatches, each engine id begins with its root id, 2,256 blocks of overlap, 8 to one worker and 4 to the other.
    let bytes = std::fs::read(root.join("sglang-samples/smg-1.13.0-grpc-cache-trace.log")).expect("the sample");
    let layout = detect::detect(&bytes, true).layout;
    let (mut dispatches, mut blocks, mut workers) = (0, 0, BTreeMap::<String, usize>::new());
    let mut reader = Reader::new(&bytes, 0, &layout);
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        record.parse(&mut event);
        if event.kind.name != "gateway_cache_prediction" {
            continue;
        }
        dispatches += 1;
        let id = |kind: IdKind| event.ids.iter().find(|id| id.kind == kind).map(|id| id.text.to_string()).expect("an id");
        assert!(id(IdKind::Rid).starts_with(&format!("{}-01a19b88-", id(IdKind::RequestId))));
        let (Some(Value::Int(n)), Some(Value::Str(worker))) = (event.get("overlap_blocks"), event.get("worker_url")) else { panic!() };
        blocks += n;
        *workers.entry(worker.to_string()).or_default() += 1;
        assert_eq!(event.stamp.map(|s| s.width), Some(1), "the dispatch's own nanoseconds");
    }
    assert_eq!((dispatches, blocks), (12, 2_256));
    assert_eq!(workers.into_values().collect::<Vec<_>>(), [8, 4]);
}
