//! A report as one HTML file: no network, readable without scripts, light and dark, with every citation expandable to its record.
//!
//! Each panel is a function from its part of a [`Report`] to a piece of HTML, so that a page can be made of some of them for another window. Text reaches
//! markup through [`Html`] alone.

mod cites;
mod covered;
mod data;
mod figures;
mod graph;
mod lives;
mod pipeline;
mod plots;
mod timeline;

pub use covered::{coverage, facts};
pub use data::data;
pub use figures::figures;
pub use lives::lives;
pub use pipeline::{pipeline, unprovable};
pub use plots::series;
pub use timeline::timeline;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::html::Html;
use super::shown::rfc3339;
use crate::render::number::grouped;
use crate::report::{Head, Report};

/// Everything about how a page looks.
pub const STYLE: &str = include_str!("page.css");
/// What makes tables filter and zoom; without it they are whole.
pub const SCRIPT: &str = include_str!("page.js");

/// How every page of a report begins: what begins otherwise is none, and is not written over.
pub const BEGIN: &str = "<!DOCTYPE html>\n<html lang=\"en\" data-corr=\"report\">";

/// The whole page.
pub fn page(report: &Report) -> String {
    let mut html = Html::new();
    html.raw("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en"), ("data-corr", "report")], |html| {
        head(html, &report.head.run);
        html.element("body", &[], |html| {
            html.raw("<a class=\"skip\" href=\"#main\">to the report</a>");
            html.push(&masthead(report, report.head.window_words.as_deref()));
            html.element("main", &[("id", "main")], |html| {
                for panel in panels(report) {
                    html.push(&panel).raw("\n");
                }
            });
            html.push(&foot(report));
            html.json("report-data", &data(report)).raw("\n");
            html.raw("<script>").raw(SCRIPT).raw("</script>");
        });
    });
    let mut page = html.into_string();
    page.push('\n');
    page
}

/// The panels, in their order on the page.
fn panels(report: &Report) -> [Html; 8] {
    let Report { covered, facts: known, pipeline: path, lives: servers, timeline: rows, series: plots, figures: numbers, records, head } =
        report;
    [
        coverage(covered),
        pipeline(path, records),
        unprovable(path),
        lives(servers, head.axis, records),
        timeline(rows, head.axis, records, true),
        series(plots, head.axis),
        figures(numbers, records),
        facts(known, records),
    ]
}

fn head(html: &mut Html, run: &str) {
    // Nothing is loaded, sent or framed; the one script is named by its hash.
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    );
    html.element("head", &[], |html| {
        html.empty("meta", &[("charset", "utf-8")]);
        html.empty("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
        html.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        html.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        html.empty("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        html.with_text("title", &[], &format!("corr report: {run}"));
        // Without this a browser asks the page's server for an icon.
        html.raw("<link rel=\"icon\" href=\"data:,\">");
        html.raw("<style>").raw(STYLE).raw("</style>");
    });
}

/// Title, window, and what the report amounts to in a few words. `window` is what its window resolved to, and what says so.
pub fn masthead(report: &Report, window: Option<&str>) -> Html {
    let Head { run, asked, axis, .. } = &report.head;
    let mut html = Html::new();
    html.element("header", &[("class", "masthead")], |html| {
        html.element("h1", &[], |html| {
            html.raw("<span class=\"tool\">corr report</span> ").text(run);
        });
        html.element("p", &[("class", "asked")], |html| {
            html.text(asked);
            match (window, axis) {
                (Some(words), _) => {
                    html.raw(" · ").text(words);
                }
                (None, Some((from, to))) => {
                    html.raw(" · ");
                    instant(html, *from);
                    html.raw(" … ");
                    instant(html, *to);
                }
                (None, None) => {
                    html.raw(" · nothing here has a time");
                }
            }
        });
        html.push(&tiles(report));
        html.element("nav", &[("aria-label", "Panels")], |html| {
            html.element("ul", &[], |html| {
                for (id, title) in ANCHORS {
                    html.element("li", &[], |html| {
                        html.with_text("a", &[("href", &format!("#{id}"))], title);
                    });
                }
            });
        });
    });
    html
}

const ANCHORS: &[(&str, &str)] = &[
    ("coverage", "Coverage"),
    ("pipeline", "Cache path"),
    ("unprovable", "Unprovable"),
    ("lives", "Servers"),
    ("timeline", "Timeline"),
    ("series", "Series"),
    ("figures", "Latency and cache"),
    ("facts", "Configuration"),
    ("reproduce", "Reproduce"),
];

fn tiles(report: &Report) -> Html {
    let edges = &report.pipeline.edges;
    let of = |activity: &str| edges.iter().filter(|e| e.activity == activity).count();
    let not_read = report.covered.not_read.len();
    let tiles = [
        ("events", grouped(report.timeline.events), "#timeline"),
        ("sources read", report.covered.sources.len().to_string(), "#coverage"),
        ("metric captures", report.covered.captures.len().to_string(), "#coverage"),
        ("not read", not_read.to_string(), "#coverage"),
        ("edges proven", format!("{} of {}", of("proven"), edges.len()), "#pipeline"),
        ("without a signal", of("no-signal").to_string(), "#pipeline"),
        ("measurements missing", report.pipeline.unprovable.len().to_string(), "#unprovable"),
        ("server runs", (report.lives.runs.len() as u64 + report.lives.left_out).to_string(), "#lives"),
    ];
    let mut html = Html::new();
    html.element("ul", &[("class", "tiles")], |html| {
        for (name, value, anchor) in tiles {
            let class = if name == "not read" && not_read > 0 { "tile bad" } else { "tile" };
            html.element("li", &[("class", class)], |html| {
                html.element("a", &[("href", anchor)], |html| {
                    html.with_text("b", &[], &value).raw(" ").with_text("span", &[], name);
                });
            });
        }
    });
    html
}

/// What gives each part again, and what this page left out.
pub fn foot(report: &Report) -> Html {
    let mut html = Html::new();
    html.element("footer", &[("class", "panel"), ("id", "reproduce")], |html| {
        html.raw("<h2>Reproduce</h2>");
        html.element("pre", &[("tabindex", "0")], |html| {
            html.text_lines(&report.head.commands);
        });
        let left_out = report.records.left_out;
        if left_out > 0 {
            html.element("p", &[], |html| {
                html.text(&grouped(left_out)).raw(" cited records are not in this page, which would be too long; <code>corr show PATH:LINE</code> opens each.");
            });
        }
        html.raw(
            "<p>Times are UTC. A time that ends in <code>?</code> instead of <code>Z</code> has an assumed zone; <code>~</code> stands before the time of the \
             stamped record before one without a stamp. ",
        );
        html.raw(match report.head.bodies {
            false => "Prompts, responses, header values and credentials are withheld.</p>",
            true => "<b>Prompts, responses, header values and credentials are shown</b> in events and records.</p>",
        });
    });
    html
}

/// An instant as a `<time>`, to the millisecond.
fn instant(html: &mut Html, ns: i64) {
    let text = rfc3339(ns, 1_000_000);
    html.with_text("time", &[("datetime", &text)], &text);
}

/// The day on which the whole axis lies.
fn day(axis: Option<(i64, i64)>) -> Option<String> {
    let (from, to) = axis?;
    let day = |ns: i64| rfc3339(ns, 1_000_000_000).chars().take(10).collect::<String>();
    (day(from) == day(to)).then(|| day(from))
}

/// Times without the day that all have.
fn short(text: &str, day: Option<&str>) -> String {
    day.map_or_else(|| text.to_string(), |day| text.replace(&format!("{day}T"), ""))
}

/// A panel: a section with its heading.
fn panel(id: &'static str, title: &str, inside: impl FnOnce(&mut Html)) -> Html {
    let mut html = Html::new();
    html.element("section", &[("class", "panel"), ("id", id), ("aria-label", title)], |html| {
        html.with_text("h2", &[], title);
        inside(html);
    });
    html
}

/// A table that scrolls in its own place where it is too wide.
fn table(html: &mut Html, class: &str, caption: &str, heads: &[&str], rows: impl FnOnce(&mut Html)) {
    html.element("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)], |html| {
        html.element("table", &[("class", class)], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for head in heads {
                        html.with_text("th", &[("scope", "col")], head);
                    }
                });
            });
            html.element("tbody", &[], rows);
        });
    });
}
