//! Reads Markdown as renderers do, and says what is in it.
//!
//! The parser knows tables, footnotes, strikethrough, task lists and mathematics. Links that nothing marks, mentions and references, which GitHub and GitLab
//! make of plain text, it does not make: text outside of code is looked at for them here.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn events(markdown: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    Parser::new_ext(markdown, options)
}

/// The text of a cell, and the names of everything in it that is more than text and code.
#[derive(Default)]
pub struct Cell {
    pub text: String,
    pub markup: Vec<String>,
    /// Text since the last code.
    plain: String,
}

impl Cell {
    fn code(&mut self) {
        self.markup.extend(bare_link(&self.plain));
        self.plain.clear();
    }
}

/// What of a text a renderer would link though nothing marks it.
fn bare_link(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let numbered = |sign: &str| lower.match_indices(sign).any(|(at, _)| lower[at + sign.len()..].starts_with(|c: char| c.is_ascii_digit()));
    let linked =
        lower.contains("://") || lower.contains("www.") || lower.contains('@') || ["#", "!", "gh-"].iter().any(|sign| numbered(sign));
    linked.then(|| format!("a bare link in {text}"))
}

/// Rows of cells, of every table.
pub fn cells(markdown: &str) -> Vec<Vec<Vec<Cell>>> {
    let mut tables: Vec<Vec<Vec<Cell>>> = Vec::new();
    let mut inside: Option<Cell> = None;
    for event in events(markdown) {
        match (event, &mut inside) {
            (Event::Start(Tag::Table(_)), None) => tables.push(Vec::new()),
            (Event::Start(Tag::TableHead | Tag::TableRow), None) => tables.last_mut().expect("a table").push(Vec::new()),
            (Event::Start(Tag::TableCell), None) => inside = Some(Cell::default()),
            (Event::End(TagEnd::TableCell), Some(_)) => {
                let mut cell = inside.take().expect("a cell");
                cell.code();
                tables.last_mut().and_then(|t| t.last_mut()).expect("a row").push(cell);
            }
            (Event::Text(text), Some(cell)) => {
                cell.text.push_str(&text);
                cell.plain.push_str(&text);
            }
            (Event::Code(text), Some(cell)) => {
                cell.code();
                cell.text.push_str(&text);
            }
            (Event::FootnoteReference(_), Some(cell)) => cell.markup.push("footnote".into()),
            (other, Some(cell)) => cell.markup.push(format!("{other:?}")),
            _ => {}
        }
    }
    tables
}

/// Checks that there is nothing but tables of text and code, and no character that acts on a terminal or turns text around.
pub fn only_tables(markdown: &str) {
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell)
            | Event::End(_)
            | Event::Text(_)
            | Event::Code(_) => {}
            other => panic!("a table has no {other:?}"),
        }
    }
    plain(markdown);
}

/// Checks that no character acts on a terminal or turns text around.
pub fn plain(text: &str) {
    let acts = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(text.chars().find(|c| acts(*c)), None);
}

/// Rows and columns of each table.
pub fn tables(markdown: &str) -> Vec<(usize, usize)> {
    let of = |rows: &Vec<Vec<Cell>>| {
        let width = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|r| r.len() == width), "every row has {width} cells");
        (rows.len(), width)
    };
    cells(markdown).iter().map(of).collect()
}

/// Checks a whole note: nothing in it but headings, paragraphs, lists, tables, code, footnotes that resolve, and the two comments of each block.
pub fn whole(markdown: &str) {
    let (mut comments, mut references, mut definitions) = (0, BTreeSet::new(), BTreeSet::new());
    let (mut plain, mut fenced) = (String::new(), false);
    for event in events(markdown) {
        let goes_on = matches!(event, Event::Text(_));
        match event {
            Event::Html(html) => {
                let text = html.trim();
                assert!(text.starts_with("<!-- corr:") && text.ends_with(" -->") && text.lines().count() == 1, "an HTML block: {text}");
                comments += 1;
            }
            Event::FootnoteReference(name) => drop(references.insert(name.to_string())),
            Event::Start(Tag::FootnoteDefinition(name)) => drop(definitions.insert(name.to_string())),
            Event::Start(Tag::CodeBlock(_)) => fenced = true,
            Event::End(TagEnd::CodeBlock) => fenced = false,
            Event::Text(text) if !fenced => plain.push_str(&text),
            Event::Start(
                Tag::HtmlBlock
                | Tag::Heading { .. }
                | Tag::Paragraph
                | Tag::List(None)
                | Tag::Item
                | Tag::Table(_)
                | Tag::TableHead
                | Tag::TableRow
                | Tag::TableCell,
            )
            | Event::End(_)
            | Event::Text(_)
            | Event::Code(_)
            | Event::SoftBreak => {}
            other => panic!("a note has no {other:?}"),
        }
        if !goes_on {
            assert_eq!(bare_link(&plain), None);
            plain.clear();
        }
    }
    assert!(comments > 0 && comments % 2 == 0, "{comments} comments");
    assert!(!references.is_empty(), "no citation");
    assert_eq!(references, definitions, "each citation is defined, and each definition cited");
    for (rows, columns) in tables(markdown) {
        assert!(rows > 1 && columns > 1);
    }
}
