//! Whatever the bytes, of every entry of both tables: a bounded run of what the fuzz targets check (fuzz/README.md), and every entry has its
//! target.

#[path = "any_bytes/check.rs"]
mod check;
#[path = "any_bytes/seeds.rs"]
mod seeds;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use check::Target;
use corr_parsers::format::{Content, Entry};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

/// One change of a source.
#[derive(Clone, Debug)]
enum Change {
    /// Removes so many bytes.
    Cut(Index, usize),
    /// So many bytes stand there twice.
    Repeat(Index, usize),
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    /// Goes on as another sample does: of this target, or of another.
    Splice(Index, bool, Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    let piece = prop::sample::select(vec![
        &b"\n"[..],
        b"\r\n",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"'",
        b" ",
        b"\t",
        b"\x1b[1m",
        b"\0",
        b"\xff",
        b"\xc3",
        b"9999999999999999999",
        b"-",
        b"1e999",
        b"NaN",
        b"\\u0000",
        b"\\ud800",
        b"=",
        b", ",
        b": ",
        b"text='",
        b"\"prompt\":",
        b"api_key=sk-0123456789abcdefghijklmn",
    ]);
    prop_oneof![
        (place(), 1usize..80).prop_map(|(at, len)| Change::Cut(at, len)),
        (place(), 1usize..80).prop_map(|(at, len)| Change::Repeat(at, len)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Change::Flip(at, byte)),
        (place(), piece).prop_map(|(at, bytes)| Change::Insert(at, bytes.to_vec())),
        (place(), any::<bool>(), place(), place()).prop_map(|(at, own, which, from)| Change::Splice(at, own, which, from)),
    ]
}

fn changed(samples: &BTreeMap<String, Vec<Vec<u8>>>, own: &[Vec<u8>], which: &Index, changes: &[Change]) -> Vec<u8> {
    let mut bytes = which.get(own).clone();
    for change in changes {
        let place = |at: &Index| at.index(bytes.len() + 1);
        match change {
            Change::Cut(at, len) => {
                let at = place(at);
                bytes.drain(at..(at + len).min(bytes.len()));
            }
            Change::Repeat(at, len) => {
                let at = place(at);
                let piece = bytes[at..(at + len).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            Change::Flip(at, byte) => {
                let at = place(at);
                bytes.splice(at..(at + 1).min(bytes.len()), [*byte]);
            }
            Change::Insert(at, piece) => {
                let at = place(at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Change::Splice(at, is_own, other, from) => {
                let at = place(at);
                let all: Vec<&[u8]> =
                    if *is_own { own.iter().map(|s| &s[..]).collect() } else { samples.values().flatten().map(|s| &s[..]).collect() };
                let other = other.get(&all);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
        }
    }
    // One text of many is enough.
    bytes.truncate(6_000);
    bytes
}

/// Says where a panic of a parser came from.
struct Said<'a>(&'a str, &'a [u8]);

impl Drop for Said<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{} of b\"{}\"", self.0, self.1.escape_ascii());
        }
    }
}

fn samples() -> BTreeMap<String, Vec<Vec<u8>>> {
    Target::all().map(|target| (target.name(), seeds::of(target))).collect()
}

/// So many changed samples of each target.
const CASES: u32 = 48;

#[test]
fn changed_samples() {
    let samples = samples();
    // `PROPTEST_CASES` tries more.
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { CASES };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let input = (any::<Index>(), prop::collection::vec(change(), 0..5));
    let tried = std::cell::Cell::new(0);
    let mut wrong = Vec::new();
    for target in Target::all() {
        let name = target.name();
        let own = &samples[&name];
        let ran = TestRunner::new(config.clone()).run(&input, |(which, changes)| {
            let bytes = changed(&samples, own, &which, &changes);
            let _said = Said(&name, &bytes);
            target.check(&bytes);
            tried.set(tried.get() + 1);
            Ok(())
        });
        if let Err(failed) = ran {
            wrong.push(format!("{name}: {failed}"));
        }
    }
    println!("{} changed samples of {} targets", tried.get(), samples.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried.get() >= cases as usize * samples.len());
}

/// What changed samples are made from is known to their targets, or nothing but the refusal of foreign bytes would be tried.
#[test]
fn samples_are_known_to_their_targets() {
    for target in Target::all() {
        let (name, sources) = (target.name(), seeds::of(target));
        assert!(sources.len() >= 2, "{name} has no samples: seeds.rs tells how its entries look");
        for source in &sources {
            target.check(source);
        }
        let known = match target {
            Target::Envelope(envelope) => {
                let mut entry = Entry::default();
                (envelope.read)(&sources[0], 0, &mut entry);
                entry.content == Content::Payload
            }
            Target::Format(format) => (format.head)(sources[0].split(|b| *b == b'\n').next().unwrap_or_default()),
            Target::Nested | Target::Declared | Target::Detection => true,
        };
        assert!(known, "{name} does not know b\"{}\"", sources[0].escape_ascii());
    }
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// Each entry has a fuzz target: a file of three lines and its place in the manifest. `CORR_BLESS=1 cargo test -p corr-parsers --test any_bytes`
/// writes them.
#[test]
fn every_entry_has_a_fuzz_target() {
    let bless = std::env::var_os("CORR_BLESS").is_some();
    let manifest_path = fuzz().join("Cargo.toml");
    let manifest = std::fs::read_to_string(&manifest_path).unwrap();
    let (head, _) = manifest.split_once("\n[[bin]]").unwrap_or((&manifest, ""));
    let mut want = format!("{}\n", head.trim_end());
    let mut files = Vec::new();
    for name in Target::all().map(Target::name) {
        want += &format!("\n[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\ntest = false\ndoc = false\nbench = false\n");
        let path = fuzz().join(format!("fuzz_targets/{name}.rs"));
        let text = format!("#![no_main]\n\ncorr_fuzz::target!(\"{name}\");\n");
        if bless {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "CORR_BLESS=1 writes {}", path.display());
        files.push(path);
    }
    if bless {
        std::fs::write(&manifest_path, &want).unwrap();
    }
    assert!(bless || manifest == want, "CORR_BLESS=1 writes {}", manifest_path.display());
    let there = std::fs::read_dir(fuzz().join("fuzz_targets")).unwrap().count();
    assert_eq!(there, files.len(), "files of targets that are no more");
}
