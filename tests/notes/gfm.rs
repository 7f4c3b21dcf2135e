//! Reads Markdown as GitHub does, and says what is in it.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options
}

/// The text of a cell, and the names of everything in it that is more than text and code.
pub struct Cell {
    pub text: String,
    pub markup: Vec<String>,
}

/// Rows of cells, of every table.
pub fn cells(markdown: &str) -> Vec<Vec<Vec<Cell>>> {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let is = |node: &AstNode<'_>, what: fn(&NodeValue) -> bool| what(&node.data.borrow().value);
    let tables = root.descendants().filter(|n| is(n, |v| matches!(v, NodeValue::Table(_))));
    let row = |row: &AstNode<'_>| row.children().filter(|n| is(n, |v| matches!(v, NodeValue::TableCell))).map(cell).collect();
    tables.map(|t| t.children().filter(|n| is(n, |v| matches!(v, NodeValue::TableRow(_)))).map(row).collect()).collect()
}

fn cell(node: &AstNode<'_>) -> Cell {
    let mut cell = Cell { text: String::new(), markup: Vec::new() };
    for inner in node.descendants().skip(1) {
        match &inner.data.borrow().value {
            NodeValue::Text(text) => cell.text.push_str(text),
            NodeValue::Code(code) => cell.text.push_str(&code.literal),
            NodeValue::FootnoteReference(_) => cell.markup.push("footnote".into()),
            other => cell.markup.push(format!("{other:?}").chars().take(40).collect()),
        }
    }
    cell
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
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let (mut comments, mut references, mut definitions) = (0, std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for node in root.descendants() {
        match &node.data.borrow().value {
            NodeValue::HtmlBlock(html) => {
                let text = html.literal.trim();
                assert!(text.starts_with("<!-- corr:") && text.ends_with(" -->") && text.lines().count() == 1, "an HTML block: {text}");
                comments += 1;
            }
            NodeValue::FootnoteReference(reference) => drop(references.insert(reference.name.clone())),
            NodeValue::FootnoteDefinition(definition) => drop(definitions.insert(definition.name.clone())),
            NodeValue::Document
            | NodeValue::Heading(_)
            | NodeValue::Paragraph
            | NodeValue::List(_)
            | NodeValue::Item(_)
            | NodeValue::Table(_)
            | NodeValue::TableRow(_)
            | NodeValue::TableCell
            | NodeValue::Text(_)
            | NodeValue::SoftBreak
            | NodeValue::Code(_)
            | NodeValue::CodeBlock(_) => {}
            other => panic!("a note has no {other:?}"),
        }
    }
    assert!(comments > 0 && comments % 2 == 0, "{comments} comments");
    assert!(!references.is_empty(), "no citation");
    assert_eq!(references, definitions, "each citation is defined, and each definition cited");
    for (rows, columns) in tables(markdown) {
        assert!(rows > 1 && columns > 1);
    }
}
