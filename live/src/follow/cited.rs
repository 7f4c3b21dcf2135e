//! From a citation back to where it stands and what stood there.

use std::collections::{BTreeMap, VecDeque};

use corr_readiness::Cite;

/// A line or an answer that says something.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Cited {
    /// A path, `journalctl -u UNIT`, or a URL without credentials.
    pub source: String,
    /// Which file of that path: 0 is the one that was there first, and every rotation or truncation begins another.
    pub file: u32,
    /// Byte offset in that file, or in journalctl's output; of a URL, the number of the attempt.
    pub offset: u64,
    /// Its text, at most 400 characters, with what is withheld named. Untrusted: to be made safe for a terminal.
    pub text: String,
}

/// Records that say something are kept as long as so many come after them; all others, as long as so many come.
const KEPT: usize = 8192;
const RECENT: usize = 2048;

/// Where a file's bytes begin in its source.
#[derive(Clone, Copy, Debug)]
struct Segment {
    place: u64,
    file: u32,
    offset: u64,
}

/// Names, files and texts of sources.
#[derive(Debug, Default)]
pub struct Texts {
    names: Vec<String>,
    segments: Vec<Vec<Segment>>,
    texts: BTreeMap<Cite, String>,
    kept: VecDeque<Cite>,
    recent: VecDeque<Cite>,
}

/// Turns of one path that are remembered.
const MOST_SEGMENTS: usize = 10_000;

impl Texts {
    /// A new source's number.
    pub fn source(&mut self, name: String) -> u32 {
        self.names.push(name);
        self.segments.push(Vec::new());
        u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
    }

    /// Its name.
    pub fn name(&self, source: u32) -> &str {
        self.names.get(source as usize).map_or("", String::as_str)
    }

    /// Bytes at `place` of a source stand at `offset` of a file.
    pub fn bytes(&mut self, source: u32, place: u64, file: u32, offset: u64) {
        let Some(segments) = self.segments.get_mut(source as usize) else { return };
        let goes_on =
            segments.last().is_some_and(|last| last.file == file && offset.checked_sub(last.offset) == place.checked_sub(last.place));
        if !goes_on {
            if segments.len() >= MOST_SEGMENTS {
                segments.remove(0);
            }
            segments.push(Segment { place, file, offset });
        }
    }

    /// Keeps a record's text. `says` anything of a start or an end?
    pub fn keep(&mut self, cite: Cite, text: String, says: bool) {
        let (queue, most) = if says { (&mut self.kept, KEPT) } else { (&mut self.recent, RECENT) };
        queue.push_back(cite);
        let old = if queue.len() > most { queue.pop_front() } else { None };
        self.texts.insert(cite, text);
        if let Some(old) = old {
            self.texts.remove(&old);
        }
    }

    /// What a citation says.
    pub fn cited(&self, cite: Cite) -> Cited {
        let segment = self.segments.get(cite.source as usize).and_then(|all| all.iter().rfind(|segment| segment.place <= cite.offset));
        let (file, offset) = segment.map_or((0, cite.offset), |s| (s.file, s.offset.saturating_add(cite.offset - s.place)));
        Cited { source: self.name(cite.source).to_owned(), file, offset, text: self.texts.get(&cite).cloned().unwrap_or_default() }
    }
}
