//! The words of a record that a query sees: those of its payload without what is withheld.

use std::ops::Range;

use corr_parsers::event::Event;

use super::words;

/// Calls `each` with the range of every visible word. The second argument is a UUID's text when the word is the last group of one, as five words
/// with dashes between them.
pub fn each_word<'p>(payload: &'p [u8], event: &Event<'_>, mut each: impl FnMut(Range<usize>, Option<&'p str>)) {
    let mut recent = [(0usize, 0usize); 5];
    for seen in words::visible(payload.len(), &event.withheld) {
        for word in words::words(&payload[seen.clone()]) {
            let word = word.start + seen.start..word.end + seen.start;
            recent.rotate_left(1);
            recent[4] = (word.start, word.end);
            let uuid = if word.len() == 12 { uuid(payload, &recent) } else { None };
            each(word, uuid);
        }
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
