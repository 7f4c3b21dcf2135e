//! Log text that would break the table, inject HTML or links, or end the block.

use corr::render::safe;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::gfm;
use crate::program::Place;

/// What people and programs write into logs to be seen elsewhere.
const PIECES: &[&str] = &[
    "|",
    "\\|",
    "\\",
    "`",
    "``",
    "```",
    "~~~",
    "*",
    "**b**",
    "_i_",
    "~~s~~",
    "[a](http://x.y)",
    "![a](http://x.y/z.png)",
    "[^1]",
    "[^run-1]",
    "<b>",
    "</td>",
    "<script>alert(1)</script>",
    "<!--",
    "-->",
    "--!>",
    "<!-- corr:end run -->",
    "<!-- corr:begin run blake3=0 -->",
    "http://x.y/a_b?c=d&e=f",
    "HTTPS://X.Y",
    "www.x.y",
    "WWW.X.Y",
    "ftp://x.y",
    "a@b.cd",
    "@octocat",
    "#12",
    "GH-3",
    "!4",
    "&lt;",
    "&#124;",
    "&",
    "$x$",
    "$$y$$",
    "#",
    "# h",
    "- l",
    "1. n",
    "> q",
    ":-",
    "---",
    "| --- |",
    "\x1b[31m",
    "\x1b]8;;http://x.y\x07",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{2028}",
    "\0",
    "\r",
    "\t",
    " ",
    "  ",
    "é",
    "日本",
    "🦀",
    "mailto:a@b.cd",
    "xmpp:a@b.cd",
    "{{ x }}",
    "%3E",
    "'",
    "\"",
    "a",
    "B",
    "7",
    ":",
    "/",
    ".",
    "::",
    "[x]",
    "[ ]",
    "\u{e0041}",
    "=HYPERLINK(1)",
    "<https://x.y>",
];

pub fn hostile() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![6 => prop::sample::select(PIECES).prop_map(String::from), 1 => any::<char>().prop_map(String::from), 1 => "[ -~]{1,6}"];
    prop::collection::vec(piece, 1..12).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A cell holds the text as a terminal would show it, and nothing else.
    #[test]
    fn a_cell_holds_its_text_and_nothing_else(text in hostile()) {
        let markdown = format!("| a | b |\n|---|---|\n| {} | end |\n", safe::markdown_cell(&text));
        let tables = gfm::cells(&markdown);
        prop_assert_eq!(tables.len(), 1, "{}", markdown);
        prop_assert_eq!(tables[0].len(), 2, "{}", markdown);
        prop_assert_eq!(tables[0][1].len(), 2, "{}", markdown);
        let cell = &tables[0][1][0];
        prop_assert!(cell.markup.is_empty(), "{:?} in {}", cell.markup, markdown);
        let shown = safe::terminal(&text).replace('\t', " ");
        prop_assert_eq!(cell.text.trim(), shown.trim(), "{}", markdown);
        prop_assert_eq!(&tables[0][1][1].text, "end");
    }

    #[test]
    fn code_holds_its_text_and_nothing_else(text in hostile()) {
        let markdown = format!("| a | b |\n|---|---|\n| {} | end |\n", safe::markdown_code(&text));
        let tables = gfm::cells(&markdown);
        prop_assert_eq!(tables[0][1].len(), 2, "{}", markdown);
        let cell = &tables[0][1][0];
        prop_assert!(cell.markup.is_empty(), "{:?} in {}", cell.markup, markdown);
        let shown = safe::terminal(&text).replace('\t', " ");
        prop_assert_eq!(cell.text.trim(), shown.trim(), "{}", markdown);
    }

    /// In a fence it is one line, ends no fence and begins nothing of Slack's.
    #[test]
    fn a_fence_is_ended_by_nothing(text in hostile()) {
        let line = safe::fenced(&text);
        prop_assert!(!line.contains(['`', '<', '\n', '\r']), "{}", line);
    }
}

/// Writes a run of such lines: in JSON, where a message has line ends too, and as plain text.
pub fn run(place: &Place, messages: &[String]) {
    let mut lines = String::new();
    let mut text = String::new();
    for (i, message) in messages.iter().enumerate() {
        let time = format!("2026-11-29T18:54:{:02}.{:03}Z", i / 10, i % 10);
        let level = if i % 3 == 0 { "error" } else { "info" };
        lines.push_str(&format!("{}\n", json!({"timestamp": time, "level": level, "message": message, "n": i})));
        text.push_str(&format!("{time} ERROR gate: {}\n", message.replace(['\n', '\r'], " ")));
    }
    place.write("run/app.jsonl", lines.as_bytes());
    place.write("run/plain.log", text.as_bytes());
    place.write("run/evil|`name` <b>.log", text.as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, max_shrink_iters: 40, ..ProptestConfig::default() })]

    /// A whole note of such a run is made of what notes are made of, each row in its place, and refreshes to the same bytes.
    #[test]
    fn no_log_text_leaves_its_cell(messages in prop::collection::vec(hostile(), 1..25)) {
        let place = Place::new();
        run(&place, &messages);
        let json = place.corr(&["timeline", "run", "--limit", "0", "--format", "json"]);
        prop_assert_eq!(json.code, Some(0), "{}", json.stderr);
        let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
        let rows = json["rows"].as_array().expect("rows").len();
        let note = place.corr(&["note", "n.md", "run", "--limit", "0"]);
        prop_assert_eq!(note.code, Some(0), "{}", note.stderr);
        let text = std::fs::read_to_string(place.path("n.md")).expect("the note");
        gfm::whole(&text);
        let tables = gfm::cells(&text);
        let timeline = tables.iter().find(|t| t[0][0].text == "UTC").expect("a timeline");
        prop_assert_eq!(timeline.len(), rows + 1);
        for row in timeline.iter().skip(1) {
            prop_assert_eq!(row.len(), 5);
            prop_assert!(row[..4].iter().all(|cell| cell.markup.is_empty()), "{:?}", row.iter().map(|c| &c.markup).collect::<Vec<_>>());
            prop_assert_eq!(&row[4].markup, &["footnote"]);
        }
        prop_assert_eq!(text.matches("<!-- corr:").count(), 2);
        let again = place.corr(&["note", "n.md", "run", "--limit", "0"]);
        prop_assert_eq!(again.code, Some(0), "{}", again.stderr);
        prop_assert_eq!(std::fs::read_to_string(place.path("n.md")).expect("the note"), text);
        let slack = place.corr(&["note", "n.md", "run", "--limit", "0", "--stdout", "--format", "slack"]).stdout;
        prop_assert_eq!(slack.matches("```").count(), 2);
        prop_assert!(!slack.contains('<'));
        let head = slack.lines().position(|l| l.starts_with("UTC")).expect("a head");
        let shown = slack.lines().skip(head + 1).take_while(|l| !l.is_empty()).count();
        prop_assert_eq!(shown, rows.min(30));
    }
}
