use super::*;
use crate::query::sources::{self, Sources};
use crate::run::Options;

/// A run with one log of `count` records, two lines each where the number can be divided by four.
fn log(dir: &std::path::Path, count: usize) -> (Sources, Vec<u64>) {
    let mut text = String::new();
    let mut offsets = Vec::new();
    for i in 0..count {
        offsets.push(text.len() as u64);
        text.push_str(&format!("[2026-11-29 18:49:{:02} TP0] record {i}\n", i % 60));
        if i % 4 == 0 {
            text.push_str("    and a second line\n");
        }
    }
    std::fs::write(dir.join("server.log"), text).expect("write a log");
    let sources = sources::open(&[dir.display().to_string()], &Options::default(), None).expect("open the run");
    assert_eq!(sources.sources.len(), 1);
    (sources, offsets)
}

fn hits(offsets: &[u64], chosen: &[usize]) -> Vec<Hit> {
    chosen.iter().map(|i| Hit { source: 0, offset: offsets[*i], order: Some(*i as i64), key: None }).collect()
}

/// What is shown: `4` a hit, `4c` a neighbour, `|` between blocks that do not touch.
fn shown(sources: &Sources, hits: &[Hit], before: usize, after: usize, batch: usize) -> String {
    let mut reading = Reading::new(hits, &sources.sources, Context { before, after }, false);
    let mut out: Vec<String> = Vec::new();
    while let Some(blocks) = reading.next(batch) {
        for block in blocks {
            if !block.joined && !out.is_empty() {
                out.push("|".into());
            }
            for event in block.events {
                let number: u64 = event.message.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("the record's number");
                assert_eq!(event.line, 1 + number + number.div_ceil(4), "line of record {number}");
                out.push(format!("{number}{}", if event.context { "c" } else { "" }));
            }
        }
    }
    assert_eq!(reading.lost, BTreeMap::new());
    out.join(" ")
}

#[test]
fn no_record_is_shown_twice() {
    let dir = tempfile::tempdir().expect("a directory");
    let (sources, offsets) = log(dir.path(), 20);
    let cases: &[(&[usize], usize, usize, &str)] = &[
        (&[4, 5], 0, 1, "4 5 6c"),
        (&[4, 6], 0, 1, "4 5c 6 7c"),
        (&[4, 6], 1, 1, "3c 4 5c 6 7c"),
        (&[4, 7], 1, 1, "3c 4 5c 6c 7 8c"),
        (&[4, 8], 1, 1, "3c 4 5c | 7c 8 9c"),
        (&[4, 5, 6], 3, 0, "1c 2c 3c 4 5 6"),
        (&[0, 19], 2, 2, "0 1c 2c | 17c 18c 19"),
        // Latest first: each block in source order, still nothing twice.
        (&[6, 5, 4], 1, 1, "6 7c | 5 | 3c 4"),
        (&[8, 4], 2, 2, "6c 7c 8 9c 10c | 2c 3c 4 5c"),
        (&[3, 9], 0, 0, "3 | 9"),
    ];
    for (chosen, before, after, want) in cases {
        for batch in [1, 2, 1000] {
            assert_eq!(shown(&sources, &hits(&offsets, chosen), *before, *after, batch), *want, "{chosen:?} -B {before} -A {after}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let (sources, offsets) = log(dir.path(), 8);
    let mut asked = hits(&offsets, &[1, 2]);
    asked.push(Hit { source: 0, offset: 1 << 40, order: None, key: None });
    let mut reading = Reading::new(&asked, &sources.sources, Context::default(), false);
    assert_eq!(reading.next(10).map(|b| b.len()), Some(2));
    assert_eq!(reading.lost[&0], Lost { hits: 1, why: format!("it ends before byte {}", 1u64 << 40) });

    // Opened anew, and gone before it is read.
    let sources = sources::open(&[dir.path().display().to_string()], &Options::default(), None).expect("open the run");
    std::fs::remove_file(dir.path().join("server.log")).expect("remove the log");
    let asked = hits(&offsets, &[1, 2]);
    let mut reading = Reading::new(&asked, &sources.sources, Context::default(), false);
    assert_eq!(reading.next(10).map(|b| b.len()), Some(0));
    assert!(reading.next(10).is_none());
    assert_eq!(reading.lost[&0].hits, 2);
    assert!(!reading.lost[&0].why.is_empty());
}
