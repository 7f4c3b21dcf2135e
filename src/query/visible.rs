//! What of a record a query sees as text: its payload without its stamp and without what is withheld.

use std::ops::Range;

use corr_parsers::event::Event;

use super::words;

/// Spans of the payload that are not text to a query, sorted: the stamp and everything withheld.
pub fn holes(event: &Event<'_>, payload_len: usize) -> Vec<Range<usize>> {
    let mut holes: Vec<Range<usize>> = event.withheld.iter().map(|w| w.span.clone()).collect();
    if let Some(stamp) = event.stamp {
        let at = stamp.at as usize;
        holes.push(at..at + stamp.len as usize);
    }
    holes.retain_mut(|h| {
        h.end = h.end.min(payload_len);
        h.start < h.end
    });
    holes.sort_unstable_by_key(|h| h.start);
    holes
}

/// Calls `each` with the range of every visible word. The second argument is a UUID's text when the word is the last group of one, as five words
/// with dashes between them.
pub fn each_word<'p>(payload: &'p [u8], event: &Event<'_>, mut each: impl FnMut(Range<usize>, Option<&'p str>)) {
    let mut at = 0;
    let mut recent = [(0usize, 0usize); 5];
    let mut piece = |from: usize, to: usize, each: &mut dyn FnMut(Range<usize>, Option<&'p str>)| {
        for word in words::words(&payload[from..to]) {
            let word = word.start + from..word.end + from;
            recent.rotate_left(1);
            recent[4] = (word.start, word.end);
            let uuid = if word.len() == 12 { uuid(payload, &recent) } else { None };
            each(word, uuid);
        }
    };
    for hole in holes(event, payload.len()) {
        if hole.start > at {
            piece(at, hole.start, &mut each);
        }
        at = at.max(hole.end);
    }
    if at < payload.len() {
        piece(at, payload.len(), &mut each);
    }
}

fn uuid<'p>(payload: &'p [u8], recent: &[(usize, usize); 5]) -> Option<&'p str> {
    let (start, end) = (recent[0].0, recent[4].1);
    if end.checked_sub(start) != Some(36) {
        return None;
    }
    let text = std::str::from_utf8(&payload[start..end]).ok()?;
    corr_parsers::ids::is_uuid(text).then_some(text)
}

/// Lower-cases a word into `out` (cleared first).
pub fn lower(word: &[u8], out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.extend(word.iter().map(|b| b.to_ascii_lowercase() as char));
        return;
    }
    words::push_lower(word, out);
}
