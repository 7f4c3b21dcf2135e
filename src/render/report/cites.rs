//! Citations that open their record in place.

use crate::cli::grouped;
use crate::render::evidence::shell;
use crate::render::html::Html;
use crate::report::{Cite, Records};

/// Citations one after the other.
pub fn cites(html: &mut Html, all: &[Cite], records: &Records) {
    for cite in all {
        one(html, cite, records);
    }
}

/// One citation: its place, which opens what stands there.
pub fn one(html: &mut Html, cite: &Cite, records: &Records) {
    html.element("details", &[("class", "cite")], |html| {
        html.element("summary", &[], |html| {
            place(html, &cite.text);
        });
        match records.of(cite) {
            Some(raw) => {
                html.element("pre", &[("class", "raw"), ("tabindex", "0")], |html| {
                    html.lines(&raw.bytes);
                });
                if raw.cut > 0 {
                    html.element("p", &[("class", "note")], |html| {
                        html.text(&grouped(raw.cut)).raw(" more bytes: ");
                        command(html, cite);
                    });
                }
            }
            None => {
                html.element("p", &[("class", "note")], |html| {
                    command(html, cite);
                });
            }
        }
        if let Some(page) = records.page.filter(|_| cite.open.is_empty()) {
            html.with_text("a", &[("class", "open"), ("href", &page(&cite.text))], "its fields, clock and neighbours");
        }
    });
}

/// The last part of the path, with the whole of it where it is pointed at.
fn place(html: &mut Html, text: &str) {
    let name = match text.split_once('#') {
        // A series: the capture's name and the series are both needed.
        Some((capture, series)) => format!("{}#{series}", base(capture)),
        None => base(text).to_string(),
    };
    html.with_text("code", &[("title", text)], &name);
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn command(html: &mut Html, cite: &Cite) {
    let open = if cite.open.is_empty() { format!("corr show {}", shell(&cite.text)) } else { cite.open.clone() };
    html.with_text("code", &[("class", "command")], &open);
}
