//! Text from the input made harmless for where it goes: a terminal, a Markdown table, a CSV cell.
//!
//! A log line is written by whoever could reach the server: its escape sequences must not move the reader's cursor, its bidirectional
//! controls must not reorder what is read, its pipes must not break a table.

use std::borrow::Cow;
use std::fmt::Write;

/// Text for a terminal: control characters, bidirectional controls and invisible separators as `\x1b`, `\u{202e}`; a tab stays a tab.
pub fn terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(unsafe_to_show) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_escaped(c, &mut out);
    }
    Cow::Owned(out)
}

/// As [`terminal`], for bytes; those that are not UTF-8 are shown as `\xff`.
pub fn terminal_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return terminal(text);
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_escaped(c, &mut out);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    Cow::Owned(out)
}

fn push_escaped(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c if !unsafe_to_show(c) => out.push(c),
        c if (c as u32) < 0x100 => {
            let _ = write!(out, "\\x{:02x}", c as u32);
        }
        c => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    }
}

/// Controls (C0 but for the tab, DEL, C1), bidirectional controls, line and paragraph separators, zero-width characters, the byte-order
/// mark and tag characters.
fn unsafe_to_show(c: char) -> bool {
    match c {
        '\t' => false,
        c if c.is_control() => true,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Text for one cell of a Markdown table, also safe inside a paragraph: escaped for a terminal first, then nothing in it is markup.
pub fn markdown_cell(text: &str) -> String {
    let shown = terminal(text);
    let mut out = String::with_capacity(shown.len() + 8);
    for c in shown.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' => out.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// One field of a CSV line (RFC 4180), quoted where needed. Text that a spreadsheet would take for a formula gets a leading `'`;
/// numbers stay numbers.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let formula = matches!(text.as_bytes().first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) && text.parse::<f64>().is_err();
    let quoted = text.contains(['"', ',', '\n', '\r']);
    if !formula && !quoted {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 4);
    if quoted {
        out.push('"');
    }
    if formula {
        out.push('\'');
    }
    for c in text.chars() {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    if quoted {
        out.push('"');
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_shown_and_not_run() {
        assert_eq!(terminal("a\x1b[31mred\x07\u{9b}2J"), "a\\x1b[31mred\\x07\\x9b2J");
        assert_eq!(terminal("pay\u{202e}cod.exe"), "pay\\u{202e}cod.exe");
        assert_eq!(terminal("two\r\nlines\tand a tab"), "two\\r\\nlines\tand a tab");
        assert_eq!(terminal_bytes(b"ok \xff\xfe \xc3\xa9"), "ok \\xff\\xfe é");
        assert!(matches!(terminal("plain, naïve, 日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_cell_stays_one_cell() {
        assert_eq!(markdown_cell("a|b `c` <script>\n*"), "a\\|b \\`c\\` &lt;script&gt;\\\\n\\*");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_field("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(csv_field("-1.5"), "-1.5");
    }

    proptest! {
        #[test]
        fn no_control_survives(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let shown = terminal_bytes(&bytes);
            prop_assert!(shown.chars().all(|c| c == '\t' || !unsafe_to_show(c)));
            let cell = markdown_cell(&shown);
            prop_assert!(!cell.contains('\n'));
            prop_assert!(!cell.contains('<'));
        }
    }
}
