//! The words of a record that a query sees: those of its payload without what is withheld.

use std::ops::Range;

use corr_parsers::event::Event;

use super::words;

/// One visible word.
pub struct Seen<'p> {
    /// Bytes of the payload.
    pub range: Range<usize>,
    /// What it is made of (see [`words::Words::made_of`]).
    pub made_of: u8,
    /// The text of the UUID whose last group this word is.
    pub uuid: Option<&'p str>,
}

/// Calls `each` with every visible word.
pub fn each_word<'p>(payload: &'p [u8], event: &Event<'_>, mut each: impl FnMut(Seen<'p>)) {
    for seen in words::visible(payload.len(), &event.withheld) {
        let seen = words::uncut(payload, seen);
        let text = &payload[seen.clone()];
        words::each_word(text, |word, made_of| {
            let uuid = if word.len() == 12 { uuid(text, word.end) } else { None };
            each(Seen { range: word.start + seen.start..word.end + seen.start, made_of, uuid });
        });
    }
}

/// The UUID whose last group ends at `end`.
fn uuid(text: &[u8], end: usize) -> Option<&str> {
    let start = end.checked_sub(36)?;
    if text[end - 13] != b'-' || !words::may_part(text, start) {
        return None;
    }
    let text = std::str::from_utf8(&text[start..end]).ok()?;
    corr_parsers::ids::is_uuid(text).then_some(text)
}

/// Lower-cases a word into `out` (cleared first).
pub fn lower(word: &[u8], out: &mut String) {
    out.clear();
    match std::str::from_utf8(word) {
        Ok(word) if word.is_ascii() => {
            out.push_str(word);
            out.make_ascii_lowercase();
        }
        _ => words::push_lower(word, out),
    }
}
