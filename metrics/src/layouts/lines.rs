//! Files of one JSON object a line: their lines one by one, and which keys their first objects have.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::Candidate;
use crate::build::Builder;

/// Lines of a text, unpacked if need be.
pub(super) struct Lines {
    from: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    number: u64,
    limit: usize,
}

/// What comes next.
pub(super) enum Step<'a> {
    /// A line that is not blank, with its number from 1 and whether its end was seen.
    Line(u64, &'a [u8], bool),
    /// A line of more bytes than are read at once.
    TooLong(u64),
    /// Reading failed within this line: nothing comes after it.
    Broken(u64, io::Error),
}

/// A scrape of a million series is about 200 MB.
const LONGEST: usize = 1 << 28;

impl Lines {
    pub(super) fn open(path: &Path) -> io::Result<Lines> {
        Ok(Lines::new(super::open(path)?, LONGEST))
    }

    fn new(from: Box<dyn Read>, limit: usize) -> Lines {
        Lines { from: BufReader::with_capacity(1 << 17, from), line: Vec::new(), number: 0, limit }
    }

    pub(super) fn next(&mut self) -> Option<Step<'_>> {
        loop {
            self.line.clear();
            self.number += 1;
            let mut long = false;
            let mut ended = false;
            while !ended {
                let chunk = match self.from.fill_buf() {
                    Ok([]) => break,
                    Ok(chunk) => chunk,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    Err(e) => {
                        // the reader would say it again without end
                        self.from = BufReader::new(Box::new(io::empty()));
                        return Some(Step::Broken(self.number, e));
                    }
                };
                let end = memchr::memchr(b'\n', chunk);
                let taken = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
                if self.line.len() + taken.len() > self.limit {
                    long = true;
                    self.line.clear();
                }
                if !long {
                    self.line.extend_from_slice(taken);
                }
                ended = end.is_some();
                let used = taken.len() + usize::from(ended);
                self.from.consume(used);
            }
            if long {
                return Some(Step::TooLong(self.number));
            }
            if self.line.trim_ascii().is_empty() {
                if ended {
                    continue;
                }
                return None;
            }
            return Some(Step::Line(self.number, &self.line, ended));
        }
    }
}

/// Says what happened to a line that could not be read.
pub(super) fn note(builder: &mut Builder, path: &Path, step: &Step<'_>) {
    match step {
        Step::TooLong(number) => {
            let what = || format!("a line of more than {LONGEST} bytes is not read");
            builder.note("line_too_long", what, || Some(format!("{}:{number}", path.display())));
        }
        Step::Broken(number, e) => {
            let what = || format!("reading ended in the middle ({e}): what came before is kept");
            builder.note("cut_short", what, || Some(format!("{}:{number}", path.display())));
        }
        Step::Line(..) => {}
    }
}

/// Says that a line is not what the layout has. The last one, without its end, was being written.
pub(super) fn damaged(builder: &mut Builder, path: &Path, number: u64, ended: bool, why: &serde_json::Error) {
    let place = || Some(format!("{}:{number}", path.display()));
    if ended {
        builder.note("damaged_line", || format!("a line is no scrape ({why}); the others are kept"), place);
    } else {
        builder.note("cut_short", || format!("the last line has no end and is no scrape ({why}): what came before is kept"), place);
    }
}

/// The keys of the first object that a file has. Lines that begin no object are passed over.
pub(super) fn first_keys(candidate: &Candidate) -> Vec<String> {
    let Some(head) = candidate.text() else { return Vec::new() };
    // keys may stand behind a body that is longer than what was looked at
    let cut = head.first() == Some(&b'{') && memchr::memchr(b'\n', head).is_none();
    let whole = if cut { Lines::open(&candidate.path).ok() } else { None };
    match whole.and_then(|mut lines| match lines.next() {
        Some(Step::Line(_, line, _)) => Some(keys(line)),
        _ => None,
    }) {
        Some(keys) => keys,
        None => keys_in(head),
    }
}

/// The keys of the first object of a text that may be cut.
fn keys_in(head: &[u8]) -> Vec<String> {
    head.split(|&b| b == b'\n').take(20).map(keys).find(|k| !k.is_empty()).unwrap_or_default()
}

/// The keys of an object at the start of a line.
fn keys(line: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return keys;
    }
    let mut depth = 0usize;
    let mut at = 0;
    // a string at depth 1 is a key if a colon follows it
    let mut string: Option<&[u8]> = None;
    while let Some(&b) = line.get(at) {
        match b {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            b':' if depth == 1 => {
                if let Some(key) = string.take().and_then(|s| std::str::from_utf8(s).ok()) {
                    keys.push(key.to_string());
                }
            }
            b'"' => {
                let start = at + 1;
                at = start;
                while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
                    at += found;
                    if line.get(at) == Some(&b'"') {
                        break;
                    }
                    at += 2;
                }
                if line.get(at) != Some(&b'"') {
                    break;
                }
                string = line.get(start..at);
            }
            b' ' | b'\t' => {}
            _ => string = None,
        }
        at += 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(bytes: &'static [u8], limit: usize) -> Vec<String> {
        let mut lines = Lines::new(Box::new(bytes), limit);
        let mut said = Vec::new();
        while let Some(step) = lines.next() {
            said.push(match step {
                Step::Line(n, line, ended) => format!("{n} {} {ended}", String::from_utf8_lossy(line)),
                Step::TooLong(n) => format!("{n} long"),
                Step::Broken(n, _) => format!("{n} broken"),
            });
        }
        said
    }

    #[test]
    fn lines_are_counted_and_a_long_one_is_said() {
        assert_eq!(steps(b"a\n\n  \nb", 10), ["1 a true", "4 b false"]);
        assert_eq!(steps(b"aaaaaaaaaaa\nb\n", 10), ["1 long", "2 b true"]);
        assert_eq!(steps(b"", 10), [""; 0]);
    }

    #[test]
    fn keys_are_found_in_a_cut_object() {
        assert_eq!(
            keys_in(b"garbage\n{\"a\": {\"x\": [1, \"y:\"]}, \"b\\\"c\":1, \"d\": \"e\", \"text\": \"# HELP cut"),
            ["a", "b\\\"c", "d", "text"]
        );
        assert_eq!(keys_in(b"[1]\n"), [""; 0]);
        assert_eq!(keys_in(b"{\"a\":1}{\"b\":2}"), ["a"]);
        assert_eq!(keys_in(b"{\"a\\"), [""; 0]);
    }
}
