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

/// A piece of what is visible of a record.
pub enum Piece<'p> {
    /// Bytes that hold whole words, none with a decimal digit.
    Constant(&'p [u8]),
    /// One word.
    Word(Seen<'p>),
    /// A withheld span, or the end.
    Edge,
}

/// Calls `each` with the pieces of a record in order: between them they hold the words that [`each_word`] gives. Words with a digit stand alone,
/// and UUIDs are given with the first of their groups that has one; in text beyond ASCII every word stands alone.
pub fn each_piece<'p>(payload: &'p [u8], event: &Event<'_>, mut each: impl FnMut(Piece<'p>)) {
    for seen in words::visible(payload.len(), &event.withheld) {
        let seen = words::uncut(payload, seen);
        let text = &payload[seen.clone()];
        let at = |range: Range<usize>| range.start + seen.start..range.end + seen.start;
        if !text.is_ascii() || memchr::memchr(b'\\', text).is_some() {
            words::each_word(text, |word, made_of| {
                let uuid = if word.len() == 12 { uuid(text, word.end) } else { None };
                each(Piece::Word(Seen { range: at(word), made_of, uuid }));
            });
            each(Piece::Edge);
            continue;
        }
        let mut from = 0;
        let inside = event.plain.iter().filter(|run| seen.start <= run.start && run.end <= seen.end);
        let runs = inside.map(|run| run.start - seen.start..run.end - seen.start).chain(std::iter::once(text.len()..text.len()));
        for run in runs {
            while let Some((word, made_of)) = words::next_with_digit(&text[..run.start], from) {
                if word.start > from {
                    each(Piece::Constant(&text[from..word.start]));
                }
                from = word.end;
                let uuid = if matches!(word.len(), 4 | 8 | 12) { uuid_around(text, word.clone()) } else { None };
                each(Piece::Word(Seen { range: at(word), made_of, uuid }));
            }
            if !run.is_empty() {
                each(Piece::Constant(&text[from..run.end]));
                from = run.end;
            }
        }
        if from < text.len() {
            each(Piece::Constant(&text[from..]));
        }
        each(Piece::Edge);
    }
}

/// The UUID of which this word, as long as a group, is the first group with a digit.
fn uuid_around(text: &[u8], word: Range<usize>) -> Option<&str> {
    const GROUPS: [(usize, usize); 5] = [(0, 8), (9, 4), (14, 4), (19, 4), (24, 12)];
    if text.get(word.end) != Some(&b'-') && word.len() != 12 {
        return None;
    }
    for (offset, len) in GROUPS {
        let Some(start) = word.start.checked_sub(offset).filter(|_| len == word.len()) else { continue };
        let Some(whole) = text.get(start..start + 36) else { continue };
        let parts = |at: usize| words::may_part(text, at);
        if let Ok(whole) = std::str::from_utf8(whole)
            && corr_parsers::ids::is_uuid(whole)
            && parts(start)
            && parts(start + 36)
            && !whole.as_bytes()[..offset].iter().any(u8::is_ascii_digit)
        {
            return Some(whole);
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;
    use corr_parsers::event::Secret;
    use corr_parsers::text;
    use proptest::prelude::*;

    fn plain() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            4 => "[ -~]{0,40}".prop_map(String::into_bytes),
            2 => "[a-z]{1,8}[ =:,]".prop_map(String::into_bytes),
            2 => "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}[ a-z]?".prop_map(String::into_bytes),
            1 => "[a-f]{8}-[a-f]{4}-[a-f]{4}-[a-f]{4}-[a-f]{11}[a-f0-9] ".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn pieces_hold_the_words_and_uuids(payload in plain(), hidden in prop::collection::vec((0usize..120, 0usize..30), 0..2)) {
            let mut event = Event::new(&text::kinds::TEXT);
            for (from, len) in hidden {
                event.withhold(from..from + len, Secret::Body, "text");
            }
            let (mut want, mut uuids) = (Vec::new(), Vec::new());
            each_word(&payload, &event, |seen| {
                want.push(payload[seen.range].to_vec());
                uuids.extend(seen.uuid.filter(|u| u.bytes().any(|b| b.is_ascii_digit())));
            });
            let (mut got, mut found) = (Vec::new(), Vec::new());
            each_piece(&payload, &event, |part| match part {
                Piece::Constant(bytes) => {
                    assert!(!bytes.iter().any(u8::is_ascii_digit));
                    words::each_word(bytes, |word, _| got.push(bytes[word].to_vec()));
                }
                Piece::Word(seen) => {
                    got.push(payload[seen.range].to_vec());
                    found.extend(seen.uuid.filter(|u| u.bytes().any(|b| b.is_ascii_digit())));
                }
                Piece::Edge => {}
            });
            prop_assert_eq!(got, want);
            prop_assert_eq!(found, uuids);
        }
    }

    #[test]
    fn a_plain_run_gives_its_words() {
        let payload = b"obj=X(a1=1, image_data=None, video_data=None, b=22)";
        let mut event = Event::new(&text::kinds::TEXT);
        let pieces = |event: &Event<'_>| {
            let mut found = Vec::new();
            each_piece(payload, event, |piece| match piece {
                Piece::Constant(bytes) => words::each_word(bytes, |word, _| found.push(String::from_utf8_lossy(&bytes[word]).into_owned())),
                Piece::Word(seen) => found.push(String::from_utf8_lossy(&payload[seen.range]).into_owned()),
                Piece::Edge => {}
            });
            found
        };
        let want = ["obj", "X", "a1", "1", "image", "data", "None", "video", "data", "None", "b", "22"];
        assert_eq!(pieces(&event), want);
        event.plain.push(12..46);
        assert_eq!(&payload[12..46], b"image_data=None, video_data=None, ");
        assert_eq!(pieces(&event), want);
    }
}
