//! What the tests share: sources into observations, and the cases where this machine has them.

use std::io::Read;
use std::path::{Path, PathBuf};

use corr_parsers::clock::{Aligner, Clock, How, Rule, TurnFinder, read_rule};
use corr_parsers::event::Event;
use corr_parsers::record::Reader;
use corr_parsers::{detect, text};
use corr_readiness::convert::{Owner, observe};
use corr_readiness::{Cite, Observation};

/// A folder of the cases; `None`, and said, where it is not here.
pub fn cases(below: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("CORR_CASES") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    let folder = root.join(below);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no cases {below} (set CORR_CASES)");
    None
}

/// A file's bytes, unpacked.
pub fn bytes(path: &Path) -> Vec<u8> {
    let raw = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if raw.starts_with(&[0x1f, 0x8b]) {
        let mut all = Vec::new();
        flate2::read::MultiGzDecoder::new(&raw[..]).read_to_end(&mut all).unwrap();
        return all;
    }
    raw
}

/// Every observation of one source. `zone` is the rule of stamps without one, `year` that of the last stamp without one.
pub fn observations(bytes: &[u8], source: u32, owner: Owner<'_>, zone: &str, year: i32) -> Vec<Observation> {
    let sample = &bytes[..bytes.len().min(detect::SAMPLE)];
    let layout = detect::detect(sample, sample.len() == bytes.len()).layout;
    let rule: Rule = read_rule(zone).unwrap();
    let clock = Clock { rule, how: How::Declared, last_year: Some(year), ..Clock::assumed() };
    let (mut outer, mut inner) = (TurnFinder::new(), TurnFinder::new());
    let mut reader = Reader::new(bytes, 0, &layout);
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        record.parse(&mut event);
        if let Some(stamp) = record.meta.and_then(|meta| meta.stamp) {
            outer.push(record.offset as u64, &stamp);
        }
        if let Some(stamp) = event.stamp {
            inner.push(record.offset as u64, &stamp);
        }
    }
    let outer = Aligner::with_turns(&clock, outer.finish(&clock, year));
    let inner = Aligner::with_turns(&clock, inner.finish(&clock, year));
    let mut found = Vec::new();
    let mut reader = Reader::new(bytes, 0, &layout);
    while let Some(record) = reader.next() {
        let mut event = Event::new(&text::kinds::TEXT);
        record.parse(&mut event);
        let at = record.offset as u64;
        let wall = match record.meta.and_then(|meta| meta.stamp) {
            Some(stamp) => outer.stamp_at(at, &stamp),
            // What a server's own stamp means is not known here: the zone is another question.
            None if record.meta.is_some_and(|meta| meta.monotonic.is_some()) => None,
            None => event.stamp.and_then(|stamp| inner.stamp_at(at, &stamp)),
        };
        let cite = Cite { source, offset: at, len: record.len as u32 };
        found.extend(observe(cite, &record, &event, wall, owner));
    }
    found
}
