//! srt-slurm's lines: captures counted with grep, and the milestones' fields.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::SRTCTL;
use crate::cases::cases;
use crate::dynamo::tests::captures::read as bytes_of;
use crate::event::{Event, Level, Outcome, Value};
use crate::record::{self, Layout, Reader};
use crate::stamp::{SECOND, Zone};
use crate::{FORMATS, text};

fn read(line: &str) -> Event<'_> {
    assert_eq!(record::head_format(line.as_bytes(), FORMATS).map(|f| f.name), Some("srtctl"), "{line}");
    let mut event = Event::new(&text::kinds::TEXT);
    assert_eq!((SRTCTL.parse)(line.as_bytes(), &mut event), Outcome::Parsed);
    event
}

#[test]
fn samples_have_one_owner_and_their_kind() {
    for (line, kind) in SRTCTL.samples {
        assert_eq!(read(line).kind.name, *kind, "{line}");
        let owners: Vec<&str> = FORMATS.iter().filter(|f| (f.head)(line.as_bytes())).map(|f| f.name).collect();
        assert_eq!(owners, ["srtctl"], "{line}");
    }
}

#[test]
fn milestones_have_fields() {
    let int = |event: &Event<'_>, name: &str| match event.get(name) {
        Some(Value::Int(i)) => Some(*i),
        _ => None,
    };
    let text = |event: &Event<'_>, name: &str| match event.get(name) {
        Some(Value::Str(t)) => Some(t.to_string()),
        _ => None,
    };
    let event = read("[srtctl:2026-11-29T18:54:29Z] Started agg-0: pid=10236 log=/srv/a/worker-0.log");
    assert_eq!((text(&event, "process").as_deref(), int(&event, "pid")), (Some("agg-0"), Some(10_236)));
    assert_eq!(text(&event, "log").as_deref(), Some("/srv/a/worker-0.log"));
    let event = read("[srtctl:2026-11-29T18:54:32Z] Router ready: prefill=0/1 decode=2/3");
    assert_eq!(["prefill", "prefill_expected", "decode", "decode_expected"].map(|n| int(&event, n)), [Some(0), Some(1), Some(2), Some(3)]);
    let event = read("2026-11-29 18:51:46 [INFO] Model is ready. Have 1 prefills and 2 decodes.");
    assert_eq!((int(&event, "prefill"), int(&event, "decode")), (Some(1), Some(2)));
    let event = read("2026-11-29 18:50:48 [ERROR] Critical process 'tachometer' exited with code 1");
    assert_eq!(
        (text(&event, "process").as_deref(), int(&event, "exit_code"), event.level),
        (Some("tachometer"), Some(1), Some(Level::Error))
    );
    let event = read("[srtctl:2026-11-29T18:57:17Z] ERROR: Benchmark exited with status 2; inspect /srv/a.log");
    assert_eq!(int(&event, "exit_code"), Some(2));
    assert_eq!(int(&read("✗ Sweep failed (exit code: 137)"), "exit_code"), Some(137));
    assert_eq!(int(&read("Running benchmark with concurrency: 16"), "concurrency"), Some(16));
    let event = read("2026-11-29 18:50:43 [INFO] Starting agg worker 1 on node01");
    assert_eq!(
        (text(&event, "process").as_deref(), int(&event, "index"), text(&event, "node").as_deref()),
        (Some("agg worker"), Some(1), Some("node01"))
    );
    assert_eq!(text(&read("2026-11-29 18:50:43 [INFO] Starting backend workers"), "phase").as_deref(), Some("workers"));
    assert_eq!(int(&read("[srtctl:2026-11-29T18:57:17Z] Interrupted by signal 15"), "signal"), Some(15));
}

#[test]
fn stamps_say_what_they_say() {
    let stamp = |line: &str| read(line).stamp.map(|s| (s.ns / SECOND, s.width, s.zone));
    // date -u -d '2026-11-29 18:50:41' +%s
    let at = 1_795_978_241;
    assert_eq!(stamp("[srtctl:2026-11-29T18:50:41Z] x"), Some((at, SECOND, Zone::Utc)));
    assert_eq!(stamp("2026-11-29 18:50:41 [INFO] x"), Some((at, SECOND, Zone::Naive)));
    assert_eq!(stamp("Start: Sun Nov 29 18:50:41 UTC 2026"), Some((at, SECOND, Zone::Utc)));
    assert_eq!(stamp("Start: Sun Nov 29 06:50:41 PM UTC 2026"), Some((at, SECOND, Zone::Utc)));
    assert_eq!(stamp("Start: Sun Nov 29 12:50:41 AM UTC 2026"), Some((at - 18 * 3_600, SECOND, Zone::Utc)));
    assert_eq!(stamp("End: Mon Nov 30 02:50:41 +08 2026"), Some((at, SECOND, Zone::Offset(28_800))));
    assert_eq!(stamp("End: Sun Nov 29 10:50:41 PST 2026"), Some((at - 8 * 3_600, SECOND, Zone::Abbreviation(*b"PST   "))));
    assert_eq!(stamp("Running benchmark with concurrency: 1"), None);
    let line = "Start: Sun Nov 29 18:50:41 UTC 2026";
    let raw = read(line).stamp.unwrap();
    assert_eq!(&line[raw.at as usize..(raw.at + raw.len) as usize], "Sun Nov 29 18:50:41 UTC 2026");
    // A date that cannot be read is none.
    assert_eq!(stamp("Start: Sun Nov 31 18:50:41 UTC 2026"), None);
    assert_eq!(stamp("Start: Sun Nov 29 18:50:41 PM UTC 2026"), None);
}

#[test]
fn other_programs_lines_are_not_taken() {
    for line in [
        "2026-11-29 18:50:41,123 [INFO] x",
        "2026-11-29 18:50:41 INFO x",
        "2026-11-29 18:50:41 [INFOX] x",
        "2026-13-29 18:50:41 [INFO] x",
        "2026-11-29 18:50:41 [TP0] Prefill batch, #new-seq: 1",
        "[srtctl] x",
        "[srtctl:now] x",
        "Start: soon",
        "End: Sunny",
        "Starting up",
        "Completed",
        "",
    ] {
        assert!(!(SRTCTL.head)(line.as_bytes()), "{line}");
    }
}

/// Kinds of a source's records that srtctl owns.
fn counts(bytes: &[u8]) -> BTreeMap<&'static str, usize> {
    let layout = Layout { formats: FORMATS.to_vec(), ..Layout::default() };
    let mut reader = Reader::new(bytes, 0, &layout);
    let mut counts = BTreeMap::new();
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        let _ = record.parse(&mut event);
        if record.format.is_some_and(|f| f.name == "srtctl") {
            *counts.entry(event.kind.name).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn the_captures() {
    // grep -cE over sweep_4241.log, pattern by pattern; 126 lines have the form.
    let Some(dir) = cases("tachometer/run_slurm_tacho_asshipped/logs") else { return };
    let seen = counts(&bytes_of(&dir.join("sweep_4241.log")));
    let wanted = [
        ("cleanup_started", 3),
        ("driver_log", 97),
        ("infra_ready", 2),
        ("not_ready", 2),
        ("phase_started", 4),
        ("process_exited", 1),
        ("process_started", 3),
        ("run_fact", 7),
        ("run_failed", 1),
        ("run_started", 1),
        ("waiting", 5),
    ];
    assert_eq!(seen, BTreeMap::from(wanted));
    assert_eq!(counts(&bytes_of(&dir.join("infra.out"))).values().sum::<usize>(), 12);
    let Some(dir) = cases("tachometer/run_dynamo") else { return };
    let seen = counts(&bytes_of(&dir.join("corr-direct-20261129T185427Z-1.runner.log")));
    let wanted = [("benchmark_completed", 1), ("benchmark_started", 1), ("model_ready", 1), ("process_started", 5), ("run_started", 1)];
    assert_eq!(seen, BTreeMap::from(wanted));
    let seen = counts(&bytes_of(&dir.join("corr-timeout-20261129T185801Z-3.runner.log")));
    let wanted = [("benchmark_started", 1), ("model_ready", 1), ("process_started", 5), ("run_started", 1)];
    assert_eq!(seen, BTreeMap::from(wanted));
    println!("read the driver's logs of three runs");
}

proptest! {
    #[test]
    fn any_line_is_no_trouble(
        start in prop::sample::select(SRTCTL.samples.iter().map(|s| s.0.to_string()).collect::<Vec<_>>()),
        cut in 0.0..1.0f64,
        rest in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut bytes = start.into_bytes();
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        bytes.extend(rest);
        let _ = (SRTCTL.head)(&bytes);
        let mut event = Event::new(&text::kinds::TEXT);
        prop_assert_eq!((SRTCTL.parse)(&bytes, &mut event), Outcome::Parsed);
        prop_assert!(event.message.end <= bytes.len() && event.message.start <= event.message.end);
    }
}
