//! The routers' captures against what their clients saw: each answer's `X-Request-ID` and status, and when it was.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::detect;
use crate::event::{Event, Value};
use crate::ids::IdKind;
use crate::record::Reader;
use crate::stamp::{SECOND, Stamp};
use crate::text;

fn cases() -> Option<PathBuf> {
    let path = std::env::var_os("CORR_CASES").map_or_else(|| PathBuf::from("../../shared/cases"), PathBuf::from);
    path.is_dir().then_some(path)
}

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
    let Some(root) = cases() else {
        println!("skipped: no cases (set CORR_CASES)");
        return;
    };
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
