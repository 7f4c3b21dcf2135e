//! The events that were found, as a table.

use super::asked::{Asked, MOST};
use super::find::{Found, Scope};
use super::link;
use crate::query::answer::Window;
use crate::render::html::Html;
use crate::render::number::grouped;
use crate::render::shown::{Shown, rfc3339};
use crate::render::timeline::{MESSAGE, message, who};
use crate::timeline::Row;

/// The section of hits.
pub fn section(found: &Found, asked: &Asked) -> Html {
    let mut html = Html::new();
    html.element("section", &[("id", "hits"), ("class", "panel"), ("aria-labelledby", "hits-head")], |html| {
        html.with_text("h2", &[("id", "hits-head")], "Found");
        counted(html, found, asked);
        if !found.hits.is_empty() {
            html.element("div", &[("class", "scroll")], |html| table(html, &found.hits));
        }
    });
    html
}

/// How many there are and are shown, in which window, and what a reader should know beside that.
fn counted(html: &mut Html, found: &Found, asked: &Asked) {
    let shown = found.hits.len() as u64;
    html.element("p", &[("class", "count")], |html| {
        let total = grouped(found.total);
        if shown < found.total {
            html.text(&format!("showing {} of {total} events", grouped(shown)));
            for (fewer, n) in [(0, 200), (200, MOST)] {
                if n as u64 > shown && found.total > fewer {
                    let more = Asked { n: n.to_string(), ..asked.clone() };
                    html.text(" · ").with_text("a", &[("href", &more.address("/"))], &format!("show {}", grouped(n as u64)));
                }
            }
            if shown as usize >= MOST {
                html.text("; narrow the window or the query for the others");
            }
        } else {
            html.text(&format!("{total} {}", if found.total == 1 { "event" } else { "events" }));
        }
        if found.at_edge > 0 {
            html.text(&format!("; {} of them may lie outside: their stamps reach over an edge of the window", grouped(found.at_edge)));
        }
    });
    let Scope { window, how } = &found.scope;
    if *window != Window::default() {
        let end = |ns: Option<i64>| ns.map_or("…".to_string(), |n| rfc3339(n, 1_000));
        let how = how.as_deref().map_or(String::new(), |how| format!(" ({how})"));
        html.with_text("p", &[("class", "window")], &format!("window [{}, {}){how}", end(window.since), end(window.until)));
    }
    for (name, why) in &found.not_read {
        html.with_text("p", &[("class", "warn")], &format!("not read: {name}: {why}"));
    }
    for note in &found.notes {
        html.with_text("p", &[("class", "note")], note);
    }
}

fn table(html: &mut Html, hits: &[Shown]) {
    html.element("table", &[("class", "events")], |html| {
        html.raw(
            "<thead><tr><th scope=\"col\">UTC</th><th scope=\"col\">source</th><th scope=\"col\">kind</th><th scope=\"col\">event</th>",
        );
        html.raw("<th scope=\"col\">line</th></tr></thead>");
        html.element("tbody", &[], |html| hits.iter().for_each(|event| row(html, event, false)));
    });
}

/// One event; `here` marks it among its neighbours.
pub fn row(html: &mut Html, event: &Shown, here: bool) {
    let serious = event.level.filter(|level| matches!(*level, "warn" | "error" | "fatal"));
    let class = if serious.is_some() { "serious" } else { "" };
    let current: &[(&'static str, &str)] = if here { &[("class", class), ("aria-current", "true")] } else { &[("class", class)] };
    html.element("tr", current, |html| {
        html.element("td", &[("class", "time")], |html| time(html, event));
        html.with_text("td", &[], &who(event));
        html.element("td", &[], |html| {
            html.with_text("code", &[], event.kind);
            if let Some(level) = serious {
                html.raw(" ").with_text("span", &[("class", "tag serious")], level);
            }
        });
        html.with_text("td", &[("class", "event")], &message(&Row::new(event.clone(), 0, "", None), MESSAGE));
        html.element("td", &[("class", "where")], |html| locator(html, &event.locator()));
    });
}

/// A link to a record: the last part of its path, with the whole of it where it is pointed at.
fn locator(html: &mut Html, locator: &str) {
    let name = locator.rsplit('/').next().unwrap_or(locator);
    html.with_text("a", &[("href", &link::record(locator)), ("class", "locator"), ("title", locator)], name);
}

/// When it happened.
fn time(html: &mut Html, event: &Shown) {
    let text = event.time();
    match event.stamp {
        Some(stamp) => html.with_text("time", &[("datetime", &rfc3339(stamp.start, stamp.width()))], &text),
        None => html.text(&text),
    };
}
