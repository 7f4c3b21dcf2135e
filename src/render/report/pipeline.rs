//! The cache path: its picture, one row an edge, and what cannot be proven.

use super::{cites, graph, panel, table};
use crate::render::evidence::UNPROVABLE;
use crate::render::html::Html;
use crate::report::{EdgeRow, HINT, Pipeline, Records, Shows};

/// What the words mean, for a legend.
const WORDS: &[(&str, &str)] = &[
    ("proven", "a record is the transition itself"),
    ("active", "a counter moved; no record shows it"),
    ("absent", "the instrument was there and shows none"),
    ("partial", "shows none, and covers only a part"),
    ("conflict", "two direct signals disagree"),
    ("no-signal", "nothing that was captured could show it"),
];

/// The picture and the table.
pub fn pipeline(path: &Pipeline, records: &Records) -> Html {
    panel("pipeline", "Cache path", |html| {
        html.element("p", &[], |html| {
            html.text(&path.population).raw(".");
        });
        html.element(
            "div",
            &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", "The cache path as a picture")],
            |html| {
                html.push(&graph::graph(&path.edges));
            },
        );
        html.element("ul", &[("class", "legend")], |html| {
            for (word, means) in WORDS {
                html.element("li", &[("class", &format!("edge {word}"))], |html| {
                    html.raw("<svg class=\"key\" viewBox=\"0 0 34 10\" aria-hidden=\"true\"><line class=\"line\" x1=\"1\" y1=\"5\" x2=\"33\" y2=\"5\"/></svg> ");
                    html.element("span", &[], |html| {
                        html.with_text("b", &[], word).raw(": ").text(means);
                    });
                });
            }
        });
        let elsewhere: Vec<&str> = path.edges.iter().map(|e| e.id.as_str()).filter(|id| !graph::draws(id)).collect();
        if !elsewhere.is_empty() {
            html.element("p", &[("class", "note")], |html| {
                html.raw("Edges without a place in the picture: ").text(&elsewhere.join(", ")).raw(".");
            });
        }
        table(html, "edges", "Edges", &["edge", "activity", "count", "by request", "by session", "what shows it"], |html| {
            for (number, edge) in path.edges.iter().enumerate() {
                row(html, number, edge, records);
            }
        });
        if !path.beware.is_empty() {
            html.raw("<h3>Beware</h3>");
            html.element("ul", &[("class", "beware")], |html| {
                for one in &path.beware {
                    html.element("li", &[], |html| {
                        html.with_text("code", &[], &one.edge).raw(": ").text(&one.says).raw(" ");
                        cites::cites(html, &one.cites, records);
                    });
                }
            });
        }
    })
}

fn row(html: &mut Html, number: usize, edge: &EdgeRow, records: &Records) {
    html.element("tr", &[("id", &format!("edge-{number}"))], |html| {
        html.element("th", &[("scope", "row")], |html| {
            html.with_text("code", &[], &edge.id).raw("<br>").with_text("span", &[("class", "note")], &edge.title);
        });
        html.element("td", &[], |html| {
            html.with_text("span", &[("class", &format!("status {}", edge.activity))], edge.activity);
        });
        html.with_text("td", &[], &edge.count);
        for to_whom in [&edge.request, &edge.session] {
            html.element("td", &[], |html| attribution(html, to_whom));
        }
        html.element("td", &[], |html| details(html, edge, records));
    });
}

/// What cannot be proven stands out as a word.
fn attribution(html: &mut Html, text: &str) {
    match text.split_once(UNPROVABLE) {
        Some((before, after)) => {
            html.text(before).with_text("b", &[("class", "unprovable")], UNPROVABLE).text(after);
        }
        None => {
            html.text(text);
        }
    }
}

fn details(html: &mut Html, edge: &EdgeRow, records: &Records) {
    if let Some(why) = &edge.why {
        html.with_text("p", &[], why);
    }
    let hints = edge.shows.iter().filter(|s| s.how.starts_with(HINT)).count();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let title = match (edge.shows.len() - hints, hints) {
        (0, 0) => "nothing shows it".to_string(),
        (0, hints) => format!("no proof, {}", plural(hints, "hint")),
        (shown, 0) => plural(shown, "signal"),
        (shown, hints) => format!("{}, {}", plural(shown, "signal"), plural(hints, "hint")),
    };
    html.element("details", &[("class", "evidence")], |html| {
        html.with_text("summary", &[], &title);
        html.element("ul", &[], |html| {
            for shows in &edge.shows {
                html.element("li", &[], |html| signal(html, shows, records));
            }
        });
        for (name, why) in [("by request", &edge.request_why), ("by session", &edge.session_why)] {
            if !why.is_empty() {
                html.element("p", &[("class", "note")], |html| {
                    html.raw("<b>").text(name).raw(":</b> ").text(&why.join("; "));
                });
            }
        }
        if !edge.missing.is_empty() {
            html.raw("<p class=\"note\"><b>not there:</b></p>");
            html.element("ul", &[("class", "note")], |html| {
                for one in &edge.missing {
                    html.element("li", &[], |html| {
                        html.text(&one.what).raw("; needs: ").text(&one.needs);
                    });
                }
            });
        }
        for text in &edge.beware {
            html.element("p", &[("class", "note")], |html| {
                html.raw("<b>beware:</b> ").text(text);
            });
        }
    });
}

fn signal(html: &mut Html, shows: &Shows, records: &Records) {
    html.text(shows.how).raw(" ").with_text("code", &[], &shows.signal).raw(": ").text(&shows.words);
    if !shows.does_not_prove.is_empty() {
        html.element("span", &[("class", "note")], |html| {
            html.raw(" · does not prove: ").text(&shows.does_not_prove);
        });
    }
    html.raw(" ");
    cites::cites(html, &shows.cites, records);
}

/// What cannot be proven, with the measurement that would prove it.
pub fn unprovable(path: &Pipeline) -> Html {
    panel("unprovable", "What is unprovable", |html| {
        if path.unprovable.is_empty() {
            html.raw("<p>Nothing: of all that happened it is proven to whom.</p>");
            return;
        }
        table(html, "unprovable", "Unprovable", &["unprovable by", "edges", "the one measurement that would prove it"], |html| {
            for one in &path.unprovable {
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row")], |html| {
                        html.with_text("b", &[("class", "unprovable")], UNPROVABLE).raw(" by ").text(&one.by);
                    });
                    html.element("td", &[], |html| {
                        for (i, edge) in one.edges.iter().enumerate() {
                            if i > 0 {
                                html.raw(", ");
                            }
                            match path.edges.iter().position(|e| e.id == *edge) {
                                Some(number) => html.with_text("a", &[("href", &format!("#edge-{number}"))], edge),
                                None => html.text(edge),
                            };
                        }
                    });
                    html.with_text("td", &[], &one.needs);
                });
            }
        });
    })
}
