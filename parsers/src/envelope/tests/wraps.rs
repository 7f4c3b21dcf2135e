//! The wrapped copies of one log in `cases/sglang-samples`: each must give what the bare log gives. The wrapper is taken off here by rules of
//! the test's own.

use serde_json::Value;

use super::seen;
use crate::FORMATS;
use crate::cases::cases;
use crate::detect::detect;
use crate::record::Layout;

/// The bare log that all of them wrap, and the one of which the CRI file has a line more, long enough to be in parts.
const BARE: [&str; 2] = ["unified-tp2-hicache-0.5.12.log", "unified-tp2-hicache-0.5.23.log"];

/// File, envelopes, and how the line is got out of it.
type Unwrap = fn(&str) -> String;
static FILES: &[(&str, Option<&str>, Unwrap)] = &[
    ("wrap-crlf.log", None, |line| line.trim_end_matches('\r').into()),
    ("wrap-docker-compose.log", Some("docker-compose"), |line| after(line, " | ")),
    ("wrap-docker-json-file.log", Some("docker-json"), |line| json(line, "log")),
    ("wrap-docker-logs-timestamps.log", Some("docker-timestamps"), |line| after(line, "Z ")),
    ("wrap-journald-json.log", Some("journald-json"), |line| json(line, "MESSAGE")),
    ("wrap-journald-short-iso-precise.log", Some("journald-short-iso-precise"), |line| after(line, "]: ")),
    ("wrap-journald-short.log", Some("journald-short"), |line| after(line, "]: ")),
    ("wrap-k8s-cri.log", Some("cri"), |line| line.splitn(4, ' ').nth(3).unwrap().into()),
    ("wrap-kubectl-logs-prefix.log", Some("kubectl"), |line| after(line, "server] ")),
    ("wrap-loki-jsonlines.log", Some("loki-jsonl"), |line| json(line, "line")),
    ("wrap-ray-actor.log", Some("ray"), |line| after(line, ") ")),
    ("wrap-srun-label.log", Some("srun"), |line| after(line, ": ")),
    ("wrap-torchrun.log", Some("torchrun"), |line| after(line, "]: ")),
];

fn after(line: &str, mark: &str) -> String {
    line.split_once(mark).unwrap_or_else(|| panic!("no {mark:?} in {line:?}")).1.into()
}

fn json(line: &str, key: &str) -> String {
    let object: Value = serde_json::from_str(line).unwrap();
    let text = match &object[key] {
        Value::String(text) => text.clone(),
        Value::Array(bytes) => String::from_utf8(bytes.iter().map(|b| b.as_u64().unwrap() as u8).collect()).unwrap(),
        other => panic!("{other}"),
    };
    text.trim_end_matches('\n').into()
}

#[test]
fn wrapped_logs_give_what_the_bare_one_gives() {
    let Some(root) = cases("") else { return };
    let folder = root.join("sglang-samples");
    let wraps = std::fs::read_dir(&folder).unwrap().filter(|f| f.as_ref().unwrap().file_name().to_string_lossy().starts_with("wrap-"));
    assert_eq!(wraps.count(), FILES.len());
    let original = BARE.map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).concat();
    let original: std::collections::HashSet<&str> = original.lines().collect();
    let (mut compared, mut fields, mut different, mut foreign) = (0, 0, 0, 0);
    for (name, envelope, unwrap) in FILES {
        let bytes = std::fs::read_to_string(folder.join(name)).unwrap();
        let mut lines: Vec<String> = Vec::new();
        let mut goes_on = false;
        for line in bytes.split_terminator('\n') {
            let text = unwrap(line);
            match lines.last_mut().filter(|_| goes_on) {
                Some(last) => last.push_str(&text),
                None => lines.push(text),
            }
            goes_on = name.contains("k8s-cri") && line.contains(" stderr P ");
        }
        foreign += lines.iter().filter(|line| !original.contains(line.trim_end())).count();
        let detection = detect(bytes.as_bytes(), true);
        assert_eq!(detection.layout.wrapped_in().as_deref(), *envelope, "{name}: {:?}", detection.envelopes);
        let bare = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
        let wrapped = seen(bytes.as_bytes(), &detection.layout);
        // Each line of an envelope is an entry, compared as it reads alone.
        let expected: Vec<_> = if envelope.is_some() {
            lines.iter().flat_map(|line| seen(format!("{line}\n").as_bytes(), &bare)).collect()
        } else {
            seen(format!("{}\n", lines.join("\n")).as_bytes(), &bare)
        };
        let whole = seen(format!("{}\n", lines.join("\n")).as_bytes(), &bare);
        assert!(whole.iter().filter(|e| e.kind == "prefill_batch").count() > 5, "{name}");
        // In the bare log an empty line belongs to the record before it; nothing else there goes over several lines.
        let blank = lines.iter().filter(|line| line.is_empty()).count();
        assert_eq!(expected.len() - whole.len(), if envelope.is_some() { blank } else { 0 }, "{name}");
        for (i, want) in expected.iter().enumerate() {
            compared += 1;
            fields += want.fields.len();
            if wrapped.get(i) != Some(want) {
                different += 1;
                println!("{name}: record {i} is {:?}\n   instead of {want:?}", wrapped.get(i));
            }
        }
        different += wrapped.len().abs_diff(expected.len());
        println!("{name}: {} records", expected.len());
    }
    println!(
        "wraps: {} files, {compared} records, {fields} fields compared, {different} differences; {foreign} lines not in the bare logs",
        FILES.len()
    );
    assert_eq!((different, foreign), (0, 0));
}
