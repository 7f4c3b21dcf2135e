//! Writes the seeds of every target into `corpus/TARGET/`: the samples of the tables, and pieces of fixtures/.

use std::io;
use std::path::{Path, PathBuf};

use corr_fuzz::check::Target;
use corr_fuzz::seeds;

/// Pieces of a fixture are of about this size, and no target gets more of them than so many.
const PIECE: usize = 2 << 10;
const MOST: usize = 48;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    list(&root.join("../fixtures"), &mut files)?;
    files.sort();
    let mut pieces = Vec::new();
    for file in files {
        pieces.extend(split(&std::fs::read(file)?));
    }
    for target in Target::all() {
        let folder = root.join("corpus").join(target.name());
        std::fs::create_dir_all(&folder)?;
        let mut all = seeds::of(target);
        let fixtures = pieces.iter().filter(|piece| fits(target, piece));
        let count = fixtures.clone().count();
        all.extend(fixtures.step_by(count.div_ceil(MOST).max(1)).cloned());
        for (i, bytes) in all.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{i:03}")), bytes)?;
        }
        println!("{}: {} seeds, {count} pieces of fixtures fit", target.name(), all.len());
    }
    Ok(())
}

/// Is this piece worth a target's time? A format's is one in which it knows a line; an envelope's one of which it reads a payload.
fn fits(target: Target, piece: &[u8]) -> bool {
    let first = piece.split(|b| *b == b'\n').next().unwrap_or_default();
    match target {
        Target::Format(format) => piece.split(|b| *b == b'\n').any(|line| (format.head)(line)),
        Target::Envelope(envelope) => {
            let mut entry = corr_parsers::format::Entry::default();
            (envelope.read)(piece, 0, &mut entry);
            entry.content == corr_parsers::format::Content::Payload && !first.is_empty()
        }
        Target::Nested | Target::Declared => false,
        Target::Detection => true,
    }
}

fn list(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_text = path.extension().is_some_and(|e| ["log", "jsonl", "json"].iter().any(|t| e == *t));
        if path.is_dir() {
            list(&path, into)?;
        } else if is_text {
            into.push(path);
        }
    }
    Ok(())
}

/// Pieces of whole lines.
fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = vec![Vec::new()];
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if let Some(last) = pieces.last_mut().filter(|piece: &&mut Vec<u8>| piece.len() < PIECE) {
            last.extend_from_slice(line);
        } else {
            pieces.push(line.to_vec());
        }
    }
    pieces
}
