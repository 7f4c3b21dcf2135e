//! Where does a block stand in a file, and is it still as corr wrote it?
//!
//! A block begins with a line `<!-- corr:begin NAME blake3=HASH command=… -->` and ends with a line `<!-- corr:end NAME -->`. The hash is that of the
//! lines between, with line ends as `\n`: an editor that turns all line ends is no edit. Bytes outside of blocks are never looked at as text.

use std::ops::Range;

/// What a line begins with that begins a block.
const BEGIN: &str = "<!-- corr:begin ";
/// Likewise for its end.
const END: &str = "<!-- corr:end ";
const CLOSE: &str = " -->";

/// A block that stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Bytes of the whole block, both marks with their line ends.
    pub range: Range<usize>,
    /// Bytes between the marks.
    pub body: Range<usize>,
    /// The hash that its mark says.
    pub hash: String,
    /// Lines end with `\r\n`.
    pub crlf: bool,
}

/// Why a file's blocks cannot be told apart. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    #[error("line {line}: the block {name} has no end; put `<!-- corr:end {name} -->` behind it, or delete the line")]
    Open { line: usize, name: String },
    #[error("line {line}: an end of a block {name} that did not begin; delete the line")]
    Stray { line: usize, name: String },
    #[error("line {line}: a second block {name}; rename or delete one of them")]
    Twice { line: usize, name: String },
    #[error("line {line}: the mark of the block has no hash; delete the block, and it is written anew")]
    Damaged { line: usize },
}

/// May a block have this name? It stands in an HTML comment and in footnotes.
pub fn may_be_named(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.contains("--")
}

/// A name for a block from any text.
pub fn name_of(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '_' || c == '.' { c } else { '-' };
        if !(c == '-' && (name.is_empty() || name.ends_with('-'))) {
            name.push(c);
        }
    }
    name.truncate(48);
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "run".to_string() } else { name.to_string() }
}

/// The hash of a body, whatever its line ends.
pub fn hash(body: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in body.split_inclusive(|b| *b == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => hasher.update(line).update(b"\n"),
            None => hasher.update(line),
        };
    }
    hasher.finalize().to_hex().to_string()
}

/// A whole block, lines ended with `\n`. The body ends with a line end and holds no mark.
pub fn write(name: &str, command: &str, body: &str) -> String {
    format!("{BEGIN}{name} blake3={} command={}{CLOSE}\n{body}{END}{name}{CLOSE}\n", hash(body.as_bytes()), in_comment(command))
}

/// Text that neither ends an HTML comment nor its line.
fn in_comment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::render::safe::terminal(text).chars() {
        match c {
            '<' | '>' | '%' | '\t' => out.push_str(&format!("%{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// All blocks of a file, in order.
///
/// # Errors
/// If marks do not pair, so that it is not known what is a block and what is the user's.
pub fn all(bytes: &[u8]) -> Result<Vec<(String, Found)>, BlockError> {
    struct Open {
        name: String,
        line: usize,
        start: usize,
        body: usize,
        hash: String,
        crlf: bool,
    }
    let mut blocks: Vec<(String, Found)> = Vec::new();
    let mut open: Option<Open> = None;
    let mut at = 0;
    for (i, whole) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let (start, line) = (at, i + 1);
        at += whole.len();
        let Some(text) = mark(whole) else { continue };
        if let Some(inside) = text.strip_prefix(BEGIN) {
            if let Some(open) = open {
                return Err(BlockError::Open { line: open.line, name: open.name });
            }
            let mut words = inside.split(' ');
            let name = words.next().unwrap_or("").to_string();
            let hash = words.next().and_then(|w| w.strip_prefix("blake3=")).unwrap_or("").to_string();
            if !may_be_named(&name) || hash.len() != 64 {
                return Err(BlockError::Damaged { line });
            }
            if blocks.iter().any(|(known, _)| *known == name) {
                return Err(BlockError::Twice { line, name });
            }
            open = Some(Open { name, line, start, body: at, hash, crlf: whole.ends_with(b"\r\n") });
        } else if let Some(name) = text.strip_prefix(END) {
            match open.take() {
                Some(open) if open.name == name => {
                    let found = Found { range: open.start..at, body: open.body..start, hash: open.hash, crlf: open.crlf };
                    blocks.push((open.name, found));
                }
                Some(open) => return Err(BlockError::Open { line: open.line, name: open.name }),
                None => return Err(BlockError::Stray { line, name: name.to_string() }),
            }
        }
    }
    match open {
        Some(open) => Err(BlockError::Open { line: open.line, name: open.name }),
        None => Ok(blocks),
    }
}

/// The text of a line that may be a mark, without what closes the comment.
fn mark(line: &[u8]) -> Option<&str> {
    if !line.starts_with(b"<!-- corr:") {
        return None;
    }
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::str::from_utf8(line).ok()?.trim_end().strip_suffix(CLOSE)
}

impl Found {
    /// Somebody changed what stands between the marks.
    pub fn edited(&self, bytes: &[u8]) -> bool {
        bytes.get(self.body.clone()).is_none_or(|body| hash(body) != self.hash)
    }
}

/// The file with a block in the place of the one of its name, else behind all else.
///
/// # Errors
/// As [`all`].
pub fn put(bytes: &[u8], name: &str, block: &str) -> Result<Vec<u8>, BlockError> {
    let found = all(bytes)?.into_iter().find(|(known, _)| known == name).map(|(_, found)| found);
    let crlf = match &found {
        Some(found) => found.crlf,
        None => bytes.split_inclusive(|b| *b == b'\n').next().is_some_and(|line| line.ends_with(b"\r\n")),
    };
    let block = if crlf { block.replace('\n', "\r\n") } else { block.to_string() };
    let end = if crlf { "\r\n" } else { "\n" };
    let mut out = Vec::with_capacity(bytes.len() + block.len() + 4);
    match found {
        Some(found) => {
            out.extend_from_slice(bytes.get(..found.range.start).unwrap_or_default());
            out.extend_from_slice(block.as_bytes());
            out.extend_from_slice(bytes.get(found.range.end..).unwrap_or_default());
        }
        None => {
            out.extend_from_slice(bytes);
            if !bytes.is_empty() {
                // A blank line before it, so that no paragraph of the user's runs into it.
                let ends = if bytes.ends_with(b"\n") { 1 } else { 2 };
                (0..ends).for_each(|_| out.extend_from_slice(end.as_bytes()));
            }
            out.extend_from_slice(block.as_bytes());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_and_replaced_and_all_else_kept() {
        let block = write("a", "corr note f 'x > y'", "one\n");
        assert!(block.contains("command=corr note f 'x %3E y' -->\n"), "{block}");
        let text = format!("# Title\n{block}tail without end \u{0}");
        let bytes = text.as_bytes();
        let found = all(bytes).expect("one block");
        assert_eq!(found.len(), 1);
        assert!(!found[0].1.edited(bytes));
        assert_eq!(put(bytes, "a", &block), Ok(bytes.to_vec()));
        let other = String::from_utf8(put(bytes, "b", &write("b", "c", "two\n")).expect("appended")).expect("text");
        assert!(other.starts_with(&text) && other.contains("\n\n<!-- corr:begin b "), "{other}");
        let edited = text.replace("one", "won");
        assert!(all(edited.as_bytes()).expect("one block")[0].1.edited(edited.as_bytes()));
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        let text = format!("# T\n\n{}", write("a", "c", "one\ntwo\n")).replace('\n', "\r\n");
        let found = all(text.as_bytes()).expect("one block");
        assert!(!found[0].1.edited(text.as_bytes()), "other line ends are no edit");
        assert_eq!(put(text.as_bytes(), "a", &write("a", "c", "one\ntwo\n")), Ok(text.clone().into_bytes()));
    }

    #[test]
    fn marks_that_do_not_pair_are_refused() {
        let block = write("a", "c", "one\n");
        let (begin, rest) = block.split_once('\n').expect("lines");
        let end = rest.trim_start_matches("one\n");
        for (text, line) in
            [(begin.to_string(), 1), (format!("x\n{end}"), 2), (format!("{block}{block}"), 4), (format!("{begin}\n{block}"), 1)]
        {
            let error = all(text.as_bytes()).expect_err("refused");
            assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
        }
        assert_eq!(all(b"<!-- corr:begin a -->\n"), Err(BlockError::Damaged { line: 1 }));
        assert!(all(b"as in `<!-- corr:begin a -->`\n").is_ok_and(|b| b.is_empty()), "a mark is a line of its own");
    }

    #[test]
    fn names_are_made_of_any_text() {
        for text in ["runs/r42", "../x y/", "", "--", "a -->b", "é"] {
            assert!(may_be_named(&name_of(text)), "{text} gives {}", name_of(text));
        }
        assert_eq!(name_of("fixtures/sglang-run"), "fixtures-sglang-run");
    }
}
