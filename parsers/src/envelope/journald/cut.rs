//! Did journald cut this line? Rules by version.
//!
//! From v235 on it says so in `_LINE_BREAK`, and cuts at `LineMax=`, 48 KiB unless configured. v229 cuts at 2048 bytes and says nothing,
//! and the short modes never say. Then only the length tells, which white space at the cut shortens: journald strips it.

use crate::format::Cut;

/// Where journald cuts lines: v235 and later, and before.
const SIZES: [usize; 2] = [49_152, 2_048];

/// White space that journald may have stripped at a cut: the text of a prompt is often indented.
const STRIPPED: usize = 32;

/// What the kept fields of an entry say of its line, or failing that its text.
pub fn by_fields(more: &[(String, String)], text: &[u8]) -> Cut {
    let value = |name: &str| more.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    match value("_LINE_BREAK") {
        Some("line-max") => return Cut::Certain,
        // The rest of the line, if there is any, comes when this process writes again.
        Some("pid-change") => return Cut::Likely,
        Some(_) => return Cut::No,
        None => {}
    }
    // The journal of a version that marks its cuts, or an entry that was no line of a stream.
    let marks = value("_STREAM_ID").is_some() || value("_TRANSPORT").is_some_and(|transport| transport != "stdout");
    if marks { Cut::No } else { by_length(text) }
}

/// Is the text as long as a piece of a cut line?
pub fn by_length(text: &[u8]) -> Cut {
    let cut = SIZES.iter().any(|size| (size - STRIPPED..=*size).contains(&text.len()));
    // A line of a stream holds no line end.
    if cut && memchr::memchr(b'\n', text).is_none() { Cut::Likely } else { Cut::No }
}

/// The same for a text of which journalctl printed only the size (`48.0K`): a cut in the middle of a character is not printable.
pub fn by_printed_size(size: &[u8]) -> Cut {
    if matches!(size, b"48.0K" | b"47.9K" | b"2.0K" | b"1.9K") { Cut::Likely } else { Cut::No }
}
