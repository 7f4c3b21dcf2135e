//! Entry by entry against `cases/journald/containers`: set CORR_CASES or put them beside the workspace.

use serde_json::{Value, json};

use super::more;
use crate::cases::cases;
use crate::detect::detect;
use crate::format::{Cut, Meta};
use crate::record::Reader;

/// The envelope that each file is of.
static FILES: &[(&str, &str)] = &[
    ("cri-containerd-sglang-decode.log", "cri"),
    ("cri-containerd-sglang-prefill.log", "cri"),
    ("cri-o-sglang-prefill.log", "cri"),
    ("docker-compose-v1.txt", "docker-compose"),
    ("docker-compose-v2-timestamps.txt", "docker-compose"),
    ("docker-compose-v2.txt", "docker-compose"),
    ("docker-json-file-sglang-decode.log", "docker-json"),
    ("docker-json-file-sglang-prefill.log", "docker-json"),
    ("kubectl-timestamps-prefix-old-kubelet.txt", "kubectl"),
    ("kubectl-timestamps-prefix.txt", "kubectl"),
    ("srun-label-16-tasks.txt", "srun"),
];

/// What an entry says, under the expectation's names.
fn said(meta: &Meta, name: &str) -> Value {
    let number = |text: Option<&str>| text.and_then(|t| t.parse::<i64>().ok()).map_or(Value::Null, Value::from);
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    match name {
        "time_utc_ns" => meta.stamp.and_then(|s| s.absolute()).map_or(Value::Null, |s| s.start.into()),
        "stream" => meta.stream.into(),
        "complete" => (meta.cut == Cut::No).into(),
        "replica" | "task" => number(more(meta, name)),
        _ => text(more(meta, name)),
    }
}

#[test]
fn every_entry_of_the_containers() {
    let Some(root) = cases("") else { return };
    let folder = root.join("journald/containers");
    let expectations = std::fs::read_dir(&folder).unwrap().filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "jsonl"));
    assert_eq!(expectations.count(), FILES.len());
    let (mut compared, mut fields, mut different) = (0, 0, 0);
    for (name, envelope) in FILES {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let text = std::fs::read_to_string(folder.join(format!("{name}.expected.jsonl"))).unwrap();
        let expected: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let detection = detect(&bytes, true);
        assert_eq!(detection.layout.wrapped_in().as_deref(), Some(*envelope), "{name}: {:?}", detection.envelopes);
        let mut reader = Reader::new(&bytes, 0, &detection.layout);
        let mut count = 0;
        while let Some(record) = reader.next() {
            let Some(expected) = expected.get(count) else { break };
            count += 1;
            let meta = record.meta.unwrap();
            let lines = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'\n').count();
            let raw = &bytes[record.offset..record.offset + record.len];
            for (key, want) in expected.as_object().unwrap() {
                let got = match key.as_str() {
                    "line" => json!(1 + lines(&bytes[..record.offset])),
                    "nlines" => json!(raw.split_inclusive(|b| *b == b'\n').count()),
                    "message" => String::from_utf8_lossy(record.payload).into(),
                    "note" => continue,
                    key => said(meta, key),
                };
                fields += 1;
                if got != *want {
                    different += 1;
                    let short = |v: &Value| v.to_string().chars().take(200).collect::<String>();
                    println!("{name}: entry {count}: {key} is {} instead of {}", short(&got), short(want));
                }
            }
            compared += 1;
        }
        if count != expected.len() || reader.next().is_some() {
            different += 1;
            println!("{name}: {count} entries, {} expected", expected.len());
        }
    }
    println!("containers: {} files, {compared} entries, {fields} fields compared, {different} differences", FILES.len());
    assert_eq!(different, 0);
}
