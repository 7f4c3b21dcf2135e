//! Over all captures: wherever a line names a worker or a request of its run, in whatever words, the event has it as an id; and no event
//! has a worker that the run does not know.

use std::collections::{BTreeMap, BTreeSet};

use super::captures::{captures, client_ids, each, files, logs, read};
use crate::ids::{self, IdKind};

/// Is the text at `at..at + len` a word of its own?
fn alone(text: &str, at: usize, len: usize) -> bool {
    let b = text.as_bytes();
    let word = |i: usize| b.get(i).is_some_and(|c| c.is_ascii_alphanumeric());
    // `%2F` before an id ends in a letter.
    let encoded = at >= 3 && b[at - 3] == b'%';
    (at == 0 || encoded || !word(at - 1)) && !word(at + len)
}

/// Decimal numbers behind `label`.
fn numbers(text: &str, label: &str, into: &mut BTreeSet<u64>) {
    for (at, _) in text.match_indices(label) {
        let rest = &text[at + label.len()..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        into.extend(rest[..digits].parse::<u64>().ok().filter(|n| *n > 1_000_000_000));
    }
}

#[test]
fn every_worker_and_request_that_a_line_names_is_an_id() {
    let (mut records, mut workers_named, mut requests_named) = (0, 0, 0);
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    let mut invented: BTreeMap<String, usize> = BTreeMap::new();
    for dir in captures() {
        let logs: Vec<_> = logs(&dir).into_iter().map(|path| String::from_utf8_lossy(&read(&path)).into_owned()).collect();
        let (mut workers, mut processes) = (BTreeSet::new(), BTreeSet::new());
        for text in &logs {
            numbers(text, "WorkerWithDpRank { worker_id: ", &mut workers);
            numbers(text, "Selected worker: worker_id=", &mut workers);
            // The frontend is an endpoint with an instance, too, and holds a lease under its number.
            numbers(text, "Registering endpoint instance_id=", &mut processes);
            numbers(text, "\"lease_id\":", &mut processes);
        }
        let requests =
            if dir.join("client.jsonl").is_file() || dir.join("client.jsonl.gz").is_file() { client_ids(&dir) } else { BTreeSet::new() };
        assert!(!workers.is_empty() && !files(&dir, "").is_empty(), "{}", dir.display());
        for text in &logs {
            each(text.as_bytes(), |payload, event, _| {
                records += 1;
                let line = String::from_utf8_lossy(payload);
                let hidden = |at: usize| event.withheld.iter().any(|w| w.span.contains(&at));
                let of = |kind| event.ids.iter().filter(move |i| i.kind == kind);
                let has: BTreeSet<u64> = of(IdKind::WorkerId).filter_map(|i| ids::worker_id(&i.text)).collect();
                // To 1.2 a channel has its process's number, and says no more than that it is a channel's.
                let publisher = event.get("publisher_id").is_some();
                let shape = |what: &str, line: &str| {
                    let text: String = line.chars().skip(28).take(220).map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect();
                    format!("{what} in {}: {text}", event.kind.name)
                };
                for worker in &workers {
                    for spelled in [worker.to_string(), format!("{worker:x}")] {
                        for (at, _) in line.match_indices(&spelled) {
                            if !alone(&line, at, spelled.len()) || hidden(at) {
                                continue;
                            }
                            workers_named += 1;
                            let channel = publisher || super::super::of_channel("", payload);
                            if !has.contains(worker) && !channel {
                                *missed.entry(shape("worker", &line)).or_default() += 1;
                            }
                        }
                    }
                }
                for worker in has.iter().filter(|w| !workers.contains(w) && !processes.contains(w)) {
                    *invented.entry(shape(&format!("worker {worker}"), &line)).or_default() += 1;
                }
                for id in of(IdKind::WorkerId).filter(|i| ids::worker_id(&i.text).is_none()) {
                    *invented.entry(shape(&format!("worker {}", id.text), &line)).or_default() += 1;
                }
                // A text line of a response has the HTTP span's id only, which is the request's where the client named that itself.
                let span_only = event.kind.name == "http_response";
                let kinds = if span_only { [IdKind::RequestId, IdKind::Decoy] } else { [IdKind::RequestId; 2] };
                let real: BTreeSet<String> = kinds.into_iter().flat_map(of).map(|i| i.text.replace('-', "")).collect();
                for (at, _) in line.match_indices('-') {
                    // A UUID by its first dash.
                    let Some(id) = at.checked_sub(8).and_then(|from| line.get(from..from + 36)).filter(|id| ids::is_uuid(id)) else {
                        continue;
                    };
                    let key = id.replace('-', "");
                    if requests.contains(&key) && !hidden(at) {
                        requests_named += 1;
                        if !real.contains(&key) {
                            *missed.entry(shape("request", &line)).or_default() += 1;
                        }
                    }
                }
            });
        }
    }
    println!("{records} records of logs name a worker {workers_named} times and a client's request {requests_named} times; all are read");
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(invented.is_empty(), "{invented:#?}");
}
