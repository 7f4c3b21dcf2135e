//! The page of one record: its bytes, what corr makes of them, what stands beside it.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::asked::Asked;
use super::hits;
use super::link;
use crate::cli::settings::Lines;
use crate::query::grammar::quote;
use crate::render::events::plain;
use crate::render::html::Html;
use crate::render::opened::{Link, Opened};
use crate::render::shown::Shown;

/// Bytes of a record that its page shows.
const MOST_BYTES: usize = 256 << 10;
/// Characters of one value, and how many values.
const MOST_VALUE: usize = 4_000;
const MOST_FIELDS: usize = 500;

/// What stands at a locator, as sections.
pub fn sections(opened: &Opened, asked: Option<u64>, not_asked: &BTreeMap<String, String>) -> Html {
    let shown = &opened.event.shown;
    let mut html = Html::new();
    html.with_text("h1", &[("class", "locator")], &shown.locator());
    html.element("p", &[], |html| {
        let export = if opened.event.of_export { " of the journal's export" } else { "" };
        html.text(&format!("bytes {}..{}{export}", shown.offset, shown.offset.saturating_add(shown.length)));
        if asked.is_some_and(|line| line != shown.line) {
            html.text(&format!("; the line belongs to the record that begins at line {}", shown.line));
        }
        let around = Asked { around: shown.locator(), span: "5s".into(), ..Asked::default() };
        html.text(" · ").with_text("a", &[("href", &around.address("/"))], "everything within 5 s");
    });
    raw(&mut html, &opened.event.raw);
    event(&mut html, shown);
    fields(&mut html, shown);
    withheld(&mut html, &shown.withheld);
    html.element("section", &[("id", "clock"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "How its time is known");
        html.element("ul", &[], |html| {
            for line in &opened.event.clock {
                html.with_text("li", &[], line);
            }
        });
    });
    ids(&mut html, &opened.links, not_asked);
    html.element("section", &[("id", "neighbours"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "Beside it in its source");
        html.element("div", &[("class", "scroll")], |html| {
            html.element("table", &[("class", "events")], |html| {
                html.element("tbody", &[], |html| opened.neighbours.iter().for_each(|event| hits::row(html, event, !event.context)));
            });
        });
    });
    html
}

fn raw(html: &mut Html, bytes: &[u8]) {
    html.element("section", &[("id", "raw"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "Raw");
        let head = bytes.get(..MOST_BYTES).unwrap_or(bytes);
        html.element("pre", &[("class", "raw"), ("tabindex", "0")], |html| {
            html.lines(head);
        });
        if bytes.is_empty() {
            html.with_text("p", &[], "(empty)");
        }
        if head.len() < bytes.len() {
            html.with_text(
                "p",
                &[("class", "note")],
                &format!("showing the first {} of {} bytes; `corr show` has them all", head.len(), bytes.len()),
            );
        }
    });
}

fn event(html: &mut Html, shown: &Shown) {
    html.element("section", &[("id", "event"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "Event");
        html.element("dl", &[("class", "fields")], |html| {
            let about = corr_parsers::kind(shown.kind).map_or("", |k| k.about);
            let mut say = |name: &str, value: &str| {
                html.with_text("dt", &[], name).with_text("dd", &[], value);
            };
            say("kind", &format!("{}: {about}", shown.kind));
            say("time", &shown.time());
            say("format", &format!("{}, {}", shown.format, shown.outcome));
            let known = [
                ("level", shown.level),
                ("worker", shown.worker.as_deref()),
                ("role", shown.role.as_deref()),
                ("host", shown.host.as_deref()),
                ("unit", shown.unit.as_deref()),
                ("note", shown.note),
            ];
            for (name, value) in known {
                if let Some(value) = value {
                    say(name, value);
                }
            }
        });
    });
}

fn fields(html: &mut Html, shown: &Shown) {
    if shown.fields.is_empty() {
        return;
    }
    html.element("section", &[("id", "fields"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "Fields");
        html.element("dl", &[("class", "fields")], |html| {
            for (name, raw, value) in shown.fields.iter().take(MOST_FIELDS) {
                html.element("dt", &[], |html| {
                    html.text(name);
                    if name != raw {
                        html.raw(" ").with_text("small", &[], raw);
                    }
                });
                html.with_text("dd", &[], &short(&plain(value)));
            }
        });
        let (n, of) = (shown.fields.len().min(MOST_FIELDS), shown.fields.len());
        if n < of {
            html.with_text("p", &[("class", "note")], &format!("showing {n} of {of}; `corr show` has them all"));
        }
    });
}

/// A value of at most so many characters, which says how many there are.
fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_VALUE) {
        None => text.to_string(),
        Some((end, _)) => format!("{}… ({MOST_VALUE} of {} characters)", text.get(..end).unwrap_or(""), text.chars().count()),
    }
}

fn withheld(html: &mut Html, withheld: &[Json]) {
    if withheld.is_empty() {
        return;
    }
    html.element("section", &[("id", "withheld"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "Withheld");
        html.element("ul", &[], |html| {
            for w in withheld {
                let text = |name: &str| w.get(name).map(plain).unwrap_or_default();
                let mut line = format!("{}: {}", text("name"), text("why"));
                for (name, word) in [("bytes", "bytes"), ("blake3", "blake3")] {
                    if w.get(name).is_some() {
                        line.push_str(&format!(", {word} {}", text(name)));
                    }
                }
                html.with_text("li", &[], &line);
            }
        });
        html.with_text("p", &[("class", "note")], "`corr serve --bodies` shows it");
    });
}

fn ids(html: &mut Html, links: &[Link], not_asked: &BTreeMap<String, String>) {
    if links.is_empty() {
        return;
    }
    html.element("section", &[("id", "ids"), ("class", "panel")], |html| {
        html.with_text("h2", &[], "Where else its ids stand");
        html.element("ul", &[], |html| {
            for link in links {
                html.element("li", &[], |html| {
                    let q = format!("{}:{}", link.field, quote(&link.id));
                    html.text(link.field).raw(" ").with_text("a", &[("href", &link::address("/", &[("q", &q)]))], &link.id);
                    let places: Vec<String> = link.by_source.iter().map(|(source, n)| format!("{n} in {source}")).collect();
                    html.text(&format!(": {} records ({})", link.total, places.join(", ")));
                });
            }
        });
        for (name, why) in not_asked {
            html.with_text("p", &[("class", "warn")], &format!("not looked for in {name}: {why}"));
        }
    });
}

/// Lines of a file that holds no events.
pub fn lines(lines: &Lines) -> Html {
    let mut html = Html::new();
    html.with_text("h1", &[("class", "locator")], &format!("{}:{}", lines.name, lines.line));
    html.with_text("p", &[], "a line of a file that holds no events");
    html.element("section", &[("id", "raw"), ("class", "panel")], |html| {
        html.element("table", &[("class", "lines")], |html| {
            for (number, text) in &lines.around {
                let here: &[(&'static str, &str)] = if *number == lines.line { &[("aria-current", "true")] } else { &[] };
                html.element("tr", here, |html| {
                    html.with_text("td", &[], &number.to_string());
                    html.element("td", &[], |html| {
                        html.with_text("code", &[], &short(text));
                    });
                });
            }
        });
    });
    html
}
