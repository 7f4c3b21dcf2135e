//! Citations that open their record in place.

use crate::render::evidence::shell;
use crate::render::html::Html;
use crate::render::number::grouped;
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
            html.with_text("code", &[("title", &cite.text)], label(&cite.text));
        });
        let found = records.of(cite);
        if let Some(raw) = found {
            html.element("pre", &[("class", "raw"), ("tabindex", "0")], |html| {
                html.lines(&raw.bytes);
            });
        }
        if let Some(page) = records.page.filter(|_| cite.open.is_empty()) {
            html.with_text("a", &[("class", "open"), ("href", &page(&cite.text))], "its fields, clock and neighbours");
        }
        let cut = found.map_or(0, |raw| raw.cut);
        if found.is_some() && cut == 0 && cite.open.is_empty() {
            return;
        }
        html.element("p", &[("class", "note")], |html| {
            if cut > 0 {
                html.text(&grouped(cut)).raw(" more bytes: ");
            }
            if !cite.open.is_empty() {
                html.with_text("code", &[], &cite.text).raw("<br>");
            }
            command(html, cite, records);
        });
    });
}

/// A place in short: the last part of the path, and of samples the capture alone. All of it stands in what it opens, or where it is pointed at.
fn label(text: &str) -> &str {
    let place = text.split_once('#').map_or(text, |(place, _)| place);
    place.trim_end_matches('/').rsplit('/').next().unwrap_or(place)
}

fn command(html: &mut Html, cite: &Cite, records: &Records) {
    let open = if cite.open.is_empty() { format!("corr show {}{}", shell(&cite.text), records.flags) } else { cite.open.clone() };
    html.with_text("code", &[("class", "command")], &open);
}
