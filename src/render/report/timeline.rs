//! The timeline: how many events by time, and the rows. The script filters and zooms what stands here; without it all of it is shown.

use std::collections::BTreeMap;

use super::{cites, day, panel, short};
use crate::render::html::Html;
use crate::render::number::grouped;
use crate::render::shown::rfc3339;
use crate::report::{EventRow, Records, Timeline};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 96.0;
const TOP: f64 = 14.0;
const BASE: f64 = 78.0;
/// Sources that can be chosen one by one; of more the search does.
const SOURCES: usize = 200;

/// The picture, what filters it where the page has the script that does, and the rows.
pub fn timeline(timeline: &Timeline, axis: Option<(i64, i64)>, records: &Records, filtered: bool) -> Html {
    let day = day(axis);
    panel("timeline", "Timeline", |html| {
        html.element("p", &[], |html| summary(html, timeline));
        density(html, timeline, axis, filtered);
        if filtered {
            controls(html, timeline, axis);
        }
        html.element("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", "Timeline")], |html| {
            html.element("table", &[("class", "timeline"), ("id", "rows")], |html| {
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        let time = day.as_ref().map_or("UTC".to_string(), |day| format!("UTC, {day}"));
                        for head in [time.as_str(), "whose", "event", "status", "where"] {
                            html.with_text("th", &[("scope", "col")], head);
                        }
                    });
                });
                html.element("tbody", &[], |html| {
                    for event in &timeline.rows {
                        row(html, event, axis, day.as_deref(), records);
                    }
                });
            });
        });
    })
}

fn summary(html: &mut Html, timeline: &Timeline) {
    let shown = timeline.rows.len() as u64;
    html.text(&grouped(timeline.events)).raw(" events in ").text(&grouped(timeline.of));
    html.raw(" rows: what is said again and again is one row with the least and the greatest of each number, the same message one row ×N.");
    if shown < timeline.of {
        html.raw(" <b>").text(&grouped(shown)).raw(" of ").text(&grouped(timeline.of));
        html.raw(" rows are in this page</b>, marks and errors first; <code>corr timeline RUN --limit 0</code> has all of them, and <code>--all</code> each event.");
    }
    if timeline.at_edge > 0 {
        html.raw(" ").text(&grouped(timeline.at_edge)).raw(" events have stamps that reach over an edge of the window.");
    }
}

/// Events by column: all of them, and of these what is serious.
fn density(html: &mut Html, timeline: &Timeline, axis: Option<(i64, i64)>, filtered: bool) {
    let density = &timeline.density;
    let most = density.events.iter().copied().max().unwrap_or(0);
    let Some((from, to)) = axis.filter(|_| most > 0) else { return };
    html.element("figure", &[("class", "density")], |html| {
        let size = format!("0 0 {WIDTH} {HEIGHT}");
        let label = format!("Events by time, at most {most} in a column");
        let attributes = [
            ("viewBox", size.as_str()),
            ("role", "img"),
            ("aria-label", label.as_str()),
            ("id", "density"),
            ("preserveAspectRatio", "none"),
        ];
        html.element("svg", &attributes, |html| {
            let wide = WIDTH / density.events.len().max(1) as f64;
            for (class, columns) in [("all", &density.events), ("serious", &density.serious)] {
                for (i, n) in columns.iter().enumerate().filter(|(_, n)| **n > 0) {
                    // One event among thousands is still seen.
                    let tall = (*n as f64 / most as f64 * (BASE - TOP)).max(2.0);
                    let place = [i as f64 * wide, BASE - tall, (wide - 0.4).max(0.6), tall].map(|n| format!("{n:.1}"));
                    let [x, y, width, height] = &place;
                    html.empty("rect", &[("class", class), ("x", x), ("y", y), ("width", width), ("height", height)]);
                }
            }
            let mut last = String::new();
            for mark in timeline.rows.iter().filter(|row| row.mark.is_some()) {
                // What began before the window would seem to begin at its edge.
                let Some((at, _)) = mark.span.filter(|(at, _)| (from..=to).contains(at)) else { continue };
                let share = at.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64;
                let class = if mark.mark == Some("failure") { "tick serious" } else { "tick" };
                let x = format!("{:.0}", (share * WIDTH - 1.0).max(0.0));
                // A second one in the same place would not be seen.
                if std::mem::replace(&mut last, x.clone()) == x {
                    continue;
                }
                html.element("rect", &[("class", class), ("x", &x), ("y", "1"), ("width", "2"), ("height", "9")], |html| {
                    html.with_text("title", &[], &format!("{}: {} {} {}", mark.mark.unwrap_or(""), mark.time, mark.who, mark.kind));
                });
            }
            if filtered {
                html.raw("<rect id=\"brush\" class=\"brush\" display=\"none\" x=\"0\" y=\"8\" width=\"1000\" height=\"70\"/>");
            }
            html.raw("<line class=\"base\" x1=\"0\" y1=\"78\" x2=\"1000\" y2=\"78\"/>");
        });
        html.element("figcaption", &[], |html| {
            html.with_text("span", &[], &rfc3339(from, 1_000_000));
            html.element("span", &[], |html| {
                html.raw("events by time, ").text(&grouped(most)).raw(" in the highest of ").text(&grouped(density.events.len() as u64));
                html.raw(" columns of ").text(&crate::render::metrics::seconds(density.width));
                html.raw("; <i class=\"swatch serious\"></i> warnings and errors; ticks above: marks");
                if density.unstamped > 0 {
                    html.raw("; ").text(&grouped(density.unstamped)).raw(" without a stamp are in none");
                }
            });
            html.with_text("span", &[], &rfc3339(to, 1_000_000));
        });
    });
}

/// What the script needs; hidden until it runs.
fn controls(html: &mut Html, timeline: &Timeline, axis: Option<(i64, i64)>) {
    let mut sources: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &timeline.rows {
        *sources.entry(row.source.as_str()).or_default() += 1;
    }
    let (from, to) = axis.unwrap_or((0, 0));
    let attributes = [
        ("id", "filter"),
        ("class", "controls"),
        ("hidden", ""),
        ("data-from", &*ms(from)),
        ("data-length", &*ms(to.saturating_sub(from))),
    ];
    html.element("form", &attributes, |html| {
        html.raw("<label>search <input type=\"search\" id=\"f-text\" placeholder=\"words, all of them\" autocomplete=\"off\"></label>");
        html.raw("<label>what <select id=\"f-what\"><option value=\"\">every row</option><option value=\"marks\">marks</option><option value=\"serious\">warnings and errors</option><option value=\"unknown\">order unknown</option></select></label>");
        html.raw("<label>source <select id=\"f-source\"><option value=\"\">all sources</option>");
        for (source, n) in sources.iter().take(SOURCES) {
            html.with_text("option", &[("value", source)], &format!("{} ({n})", source.rsplit('/').next().unwrap_or(source)));
        }
        html.raw("</select></label>");
        html.raw("<label>from <input type=\"range\" id=\"f-from\" min=\"0\" max=\"1000\" value=\"0\"><output id=\"o-from\"></output></label>");
        html.raw("<label>to <input type=\"range\" id=\"f-to\" min=\"0\" max=\"1000\" value=\"1000\"><output id=\"o-to\"></output></label>");
        html.raw("<span class=\"buttons\"><button type=\"button\" id=\"f-in\">zoom in</button><button type=\"button\" id=\"f-out\">zoom out</button><button type=\"button\" id=\"f-reset\">reset</button></span>");
        html.raw("<output id=\"f-count\" class=\"count\" aria-live=\"polite\"></output>");
    });
}

/// Whole milliseconds: what a script can count with.
fn ms(ns: i64) -> String {
    ns.div_euclid(1_000_000).to_string()
}

fn row(html: &mut Html, event: &EventRow, axis: Option<(i64, i64)>, day: Option<&str>, records: &Records) {
    let serious = matches!(event.level, Some("warn" | "error" | "fatal")) || event.mark == Some("failure");
    let class = match (event.mark, serious) {
        (Some("failure"), _) | (_, true) => "serious",
        (Some(_), false) => "mark",
        (None, false) => "",
    };
    let start = axis.map_or(0, |axis| axis.0);
    let (from, to) =
        event.span.map_or((String::new(), String::new()), |(from, to)| (ms(from.saturating_sub(start)), ms(to.saturating_sub(start))));
    let attributes = [
        ("class", class),
        ("data-from", &*from),
        ("data-to", &*to),
        ("data-source", &event.source),
        ("data-mark", event.mark.unwrap_or("")),
        ("data-level", event.level.unwrap_or("")),
    ];
    html.element("tr", &attributes, |html| {
        html.element("td", &[("class", "time")], |html| match event.span {
            Some((from, _)) => {
                html.element("time", &[("datetime", &rfc3339(from, 1))], |html| {
                    for (i, end) in short(&event.time, day).split(" … ").enumerate() {
                        html.raw(if i > 0 { " … " } else { "" }).with_text("span", &[("class", "t")], end);
                    }
                });
            }
            None => {
                html.text(&event.time);
            }
        });
        html.with_text("td", &[("class", "who")], &event.who);
        html.element("td", &[("class", "what")], |html| {
            html.with_text("code", &[], &event.kind).raw(" ").text(&event.message);
        });
        html.element("td", &[("class", "status-cell")], |html| {
            if !event.status.is_empty() {
                html.with_text("span", &[("class", &format!("tag {class}"))], &event.status);
            }
        });
        html.element("td", &[("class", "where")], |html| cites::cites(html, &event.cites, records));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Density;

    #[test]
    fn ticks_are_of_marks_inside() {
        let mark = |at: i64| EventRow { span: Some((at, at + 1)), mark: Some("ready"), ..EventRow::default() };
        let density = Density { from: 1_000, width: 100, events: vec![1; 10], serious: vec![0; 10], unstamped: 0 };
        let timeline = Timeline { rows: vec![mark(0), mark(1_500), mark(9_000)], density, ..Timeline::default() };
        let mut html = Html::new();
        super::density(&mut html, &timeline, Some((1_000, 2_000)), false);
        let html = html.into_string();
        assert_eq!(html.matches("class=\"tick").count(), 1, "{html}");
        assert!(html.contains("class=\"tick\" x=\"499\""), "the middle of 1000, and half of its width before: {html}");
    }
}
