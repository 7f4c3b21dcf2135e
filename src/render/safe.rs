//! Text from the input made harmless for where it goes: a terminal, a Markdown table, a CSV cell, JSON.
//!
//! A log line is written by whoever could reach the server: its escape sequences must not move the reader's cursor, its bidirectional
//! controls must not reorder what is read, its pipes must not break a table.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

use serde_json::Value as Json;

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

/// Text for one cell of a Markdown table, also safe inside a paragraph: escaped for a terminal first, then nothing in it is markup. What GitHub or GitLab
/// would make a link, a mention or a reference of, though nothing marks it (`https://…`, `www.…`, `name@host`, `#12`), is set as code.
pub fn markdown_cell(text: &str) -> String {
    let shown = terminal(text);
    let mut out = String::with_capacity(shown.len() + 8);
    let mut rest: &str = &shown;
    while let Some(c) = rest.chars().next() {
        let run = rest.find(|c| !may_link(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(run.max(c.len_utf8()));
        rest = behind;
        if run > 0 && links(word) {
            out.push('`');
            out.push_str(word);
            out.push('`');
        } else {
            word.chars().for_each(|c| push_markdown(c, &mut out));
        }
    }
    out
}

fn push_markdown(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '\t' => out.push(' '),
        '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '$' => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
}

/// Characters of which bare links and references are made, and that mean nothing inside code.
fn may_link(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-+:/@%=?~,;#!$".contains(c)
}

/// Is there something in a word that a renderer links though nothing marks it?
fn links(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let numbered = |sign: &str| lower.match_indices(sign).any(|(at, _)| lower[at + sign.len()..].starts_with(|c: char| c.is_ascii_digit()));
    word.contains('@') || lower.contains("://") || lower.contains("www.") || ["#", "!", "gh-"].iter().any(|sign| numbered(sign))
}

/// Text as code in Markdown, where it can be told so without doubt, else escaped as [`markdown_cell`] does: a backtick ends code, and renderers differ over
/// `\|` and `\` in the code of a table.
pub fn markdown_code(text: &str) -> String {
    let shown = terminal(text);
    let doubtful = shown.is_empty() || shown.starts_with(' ') || shown.ends_with(' ') || shown.contains(['`', '|', '\\', '\t']);
    if doubtful { markdown_cell(text) } else { format!("`{shown}`") }
}

/// Text for a fenced block, in Markdown or in Slack: it cannot end the fence, and `<` begins none of Slack's mentions and links.
pub fn fenced(text: &str) -> String {
    terminal(text).replace('`', "\\x60").replace('<', "\\x3c").replace('\t', " ")
}

/// One field of a CSV line (RFC 4180), quoted where needed, with the escapes of [`terminal`] but for line ends, which quotes keep. Text that a
/// spreadsheet would take for a formula gets a leading `'`; numbers stay numbers.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let shown = if text.chars().any(|c| c != '\n' && unsafe_to_show(c)) {
        let lines: Vec<Cow<'_, str>> = text.split('\n').map(terminal).collect();
        Cow::Owned(lines.join("\n"))
    } else {
        Cow::Borrowed(text)
    };
    let formula = matches!(shown.as_bytes().first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t')) && shown.parse::<f64>().is_err();
    let quoted = shown.contains(['"', ',', '\n']);
    if !formula && !quoted {
        return shown;
    }
    let mut out = String::with_capacity(shown.len() + 4);
    if quoted {
        out.push('"');
    }
    if formula {
        out.push('\'');
    }
    for c in shown.chars() {
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

/// Writes JSON, on one line or indented, in which characters that are unsafe to show are `\uXXXX`: the same values, harmless on a terminal.
pub fn write_json(out: &mut dyn io::Write, value: &Json, indented: bool) -> io::Result<()> {
    let text = if indented { serde_json::to_string_pretty(value)? } else { serde_json::to_string(value)? };
    // The writer has escaped what is below a blank, or made it itself to indent: only what stands inside strings is left.
    if text.bytes().all(|b| b < 0x7f) {
        return out.write_all(text.as_bytes());
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c < '\x7f' || !unsafe_to_show(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    out.write_all(escaped.as_bytes())
}

/// Writes a line of JSON that says first what it is: an object's members behind `type`.
pub fn write_json_line(out: &mut dyn io::Write, what: &str, object: Json) -> io::Result<()> {
    let mut line = serde_json::Map::from_iter([("type".to_string(), Json::from(what))]);
    if let Json::Object(members) = object {
        line.extend(members);
    }
    write_json(out, &Json::Object(line), false)?;
    writeln!(out)
}

/// The lines of a text for a terminal, each escaped by itself: only a line end of the text ends a line.
pub fn terminal_lines(bytes: &[u8]) -> Vec<Cow<'_, str>> {
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|b| *b == b'\n').map(terminal_bytes).collect()
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
        assert_eq!(markdown_cell("by #3 cents $x$ (#running-req)"), "by `#3` cents \\$x\\$ (\\#running-req)");
        assert_eq!(markdown_cell("at http://a.b/c?d=1 <x@y.z>, www.e"), "at `http://a.b/c?d=1` &lt;`x@y.z`&gt;, `www.e`");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_field("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(csv_field("-1.5"), "-1.5");
    }

    #[test]
    fn code_is_told_without_doubt_or_not_at_all() {
        assert_eq!(markdown_code("logs/a_b.log:12"), "`logs/a_b.log:12`");
        assert_eq!(markdown_code("a`b|c"), "a\\`b\\|c");
        assert_eq!(fenced("a```\n<!here>"), "a\\x60\\x60\\x60\\n\\x3c!here>");
    }

    #[test]
    fn csv_and_json_hold_no_live_escapes() {
        assert_eq!(csv_field("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
        assert_eq!(csv_field("pay\u{202e}cod,\u{9b}2J\nnext\r"), "\"pay\\u{202e}cod,\\x9b2J\nnext\\r\"");
        let mut out = Vec::new();
        let value = serde_json::json!({"a": "\x1b\x7f\u{9b}2J \u{202e} \u{e0041} é 日本"});
        write_json(&mut out, &value, false).expect("write to memory");
        let text = String::from_utf8(out).expect("JSON is UTF-8");
        assert_eq!(text, "{\"a\":\"\\u001b\\u007f\\u009b2J \\u202e \\udb40\\udc41 é 日本\"}");
    }

    #[test]
    fn only_a_line_end_ends_a_line() {
        assert_eq!(terminal_lines(b"a\\nb\nc\r\xff"), ["a\\nb", "c\\r\\xff"]);
    }

    proptest! {
        #[test]
        fn json_keeps_its_value(text in ".*", indented in any::<bool>()) {
            let value = serde_json::json!({ text.clone(): [text] });
            let mut out = Vec::new();
            write_json(&mut out, &value, indented).expect("write to memory");
            let written = String::from_utf8(out).expect("JSON is UTF-8");
            prop_assert!(written.chars().all(|c| c == '\n' || !unsafe_to_show(c)));
            prop_assert_eq!(serde_json::from_str::<Json>(&written).expect("JSON"), value);
        }

        #[test]
        fn no_control_survives(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let shown = terminal_bytes(&bytes);
            prop_assert!(shown.chars().all(|c| c == '\t' || !unsafe_to_show(c)));
            let cell = markdown_cell(&shown);
            prop_assert!(!cell.contains('\n'));
            prop_assert!(!cell.contains('<'));
            let text = String::from_utf8_lossy(&bytes);
            prop_assert!(csv_field(&text).chars().all(|c| c == '\n' || !unsafe_to_show(c)));
        }
    }
}
