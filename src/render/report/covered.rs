//! What was read and how the run was configured.

use super::{cites, instant, panel, table};
use crate::render::html::Html;
use crate::render::metrics::computed;
use crate::render::number::grouped;
use crate::report::{CaptureRow, Covered, Disagreement, EndpointRow, FactRow, Facts, Records};

/// What was read, what it covers, what is missing.
pub fn coverage(covered: &Covered) -> Html {
    panel("coverage", "What was read", |html| {
        not_read(html, covered);
        for note in &covered.notes {
            html.with_text("p", &[("class", "note")], note);
        }
        if !covered.assumed.is_empty() {
            html.element("p", &[("class", "warn")], |html| {
                html.raw("<b>Zone assumed</b> for ").text(&covered.assumed.join(", "));
                html.raw(": their times end in <code>?</code>, and their place among other sources' is an assumption.");
            });
        }
        table(html, "sources", "Sources", &["source", "format", "whose", "covers", "events here", "stamps", "clock"], |html| {
            for row in &covered.sources {
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row")], |html| {
                        html.with_text("code", &[], &row.name);
                    });
                    html.with_text("td", &[], &row.format).with_text("td", &[], &row.owner);
                    html.element("td", &[], |html| match row.span {
                        Some((from, to)) => {
                            instant(html, from);
                            html.raw(" … ");
                            instant(html, to);
                        }
                        None => {
                            html.raw("no stamps");
                        }
                    });
                    html.with_text("td", &[("class", "n")], &grouped(row.events)).with_text("td", &[], &row.stamps);
                    html.with_text("td", &[], &row.clock);
                });
            }
        });
        captures(html, &covered.captures);
        missing(html, covered);
    })
}

fn not_read(html: &mut Html, covered: &Covered) {
    if covered.not_read.is_empty() {
        html.raw("<p>Every source was read whole.</p>");
        return;
    }
    html.element("div", &[("class", "warn")], |html| {
        html.raw("<b>Not read, or not to the end:</b>");
        html.element("ul", &[], |html| {
            for (name, why) in &covered.not_read {
                html.element("li", &[], |html| {
                    html.with_text("code", &[], name).raw(": ").text(why);
                });
            }
        });
    });
}

fn captures(html: &mut Html, all: &[CaptureRow]) {
    if all.is_empty() {
        html.raw("<p>No metric capture was read.</p>");
        return;
    }
    html.raw("<h3>Metric captures</h3>");
    table(html, "captures", "Metric captures", &["capture", "endpoint", "covered", "scrapes", "failed", "gaps"], |html| {
        for row in all {
            for endpoint in &row.endpoints {
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row")], |html| {
                        html.with_text("code", &[], &row.name);
                    });
                    html.with_text("td", &[], &endpoint.name);
                    html.with_text(
                        "td",
                        &[("class", "n")],
                        &format!("{} % of {}", computed((endpoint.fraction * 1000.0).floor() / 10.0), row.share_of),
                    );
                    html.with_text("td", &[("class", "n")], &grouped(endpoint.scrapes));
                    html.with_text("td", &[("class", "n")], &grouped(endpoint.failed));
                    html.element("td", &[], |html| gaps(html, endpoint));
                });
            }
            html.element("tr", &[("class", "beside")], |html| {
                html.element("td", &[("colspan", "6")], |html| {
                    html.raw("covers ").text(&row.covers).raw(" · ").text(&row.clock);
                });
            });
        }
    });
}

fn gaps(html: &mut Html, endpoint: &EndpointRow) {
    let all = endpoint.gaps.len() as u64 + endpoint.gaps_left_out;
    if all == 0 {
        html.raw("none");
        return;
    }
    html.element("details", &[], |html| {
        html.element("summary", &[], |html| {
            html.text(&grouped(all)).raw(if all == 1 { " gap" } else { " gaps" });
        });
        html.element("ul", &[], |html| {
            for gap in &endpoint.gaps {
                html.element("li", &[], |html| {
                    html.text(&gap.words).raw(": ").text(&gap.cause);
                });
            }
        });
        if endpoint.gaps_left_out > 0 {
            html.element("p", &[("class", "note")], |html| {
                html.text(&grouped(endpoint.gaps_left_out)).raw(" shorter ones: <code>corr metrics RUN --list</code>");
            });
        }
    });
}

fn missing(html: &mut Html, covered: &Covered) {
    if covered.missing.is_empty() {
        return;
    }
    html.raw("<h3>What a complete run would have</h3>");
    table(html, "missing", "What is missing", &["not there", "so that", "needs"], |html| {
        for row in &covered.missing {
            html.element("tr", &[], |html| {
                html.with_text("th", &[("scope", "row")], &row.what).with_text("td", &[], &row.why).with_text("td", &[], &row.needs);
            });
        }
    });
}

/// How the run was configured.
pub fn facts(facts: &Facts, records: &Records) -> Html {
    panel("facts", "Configuration", |html| {
        if facts.rows.is_empty() {
            html.raw("<p>No source says how the run was configured.</p>");
        }
        for one in &facts.disagreements {
            disagreement(html, one, records);
        }
        let mut rest = &facts.rows[..];
        while let Some(first) = rest.first() {
            let (group, others) = rest.split_at(rest.iter().take_while(|row| row.group == first.group).count());
            rest = others;
            html.element("details", &[("class", "group"), ("open", "")], |html| {
                html.element("summary", &[], |html| {
                    html.with_text("b", &[], &first.group).raw(" ").with_text("span", &[("class", "note")], &grouped(group.len() as u64));
                });
                table(html, "facts", &first.group, &["fact", "value", "of", "known by", "where"], |html| {
                    group.iter().for_each(|row| fact(html, row, records));
                });
            });
        }
        if !facts.unknown.is_empty() {
            html.element("details", &[("class", "group")], |html| {
                html.element("summary", &[], |html| {
                    html.text(&grouped(facts.unknown.len() as u64)).raw(" facts are said by no source");
                });
                table(html, "unknown", "Unknown facts", &["fact", "where it would be found"], |html| {
                    for (name, needs) in &facts.unknown {
                        html.element("tr", &[], |html| {
                            html.with_text("th", &[("scope", "row")], name).with_text("td", &[], needs);
                        });
                    }
                });
            });
        }
    })
}

fn fact(html: &mut Html, row: &FactRow, records: &Records) {
    html.element("tr", &[], |html| {
        html.with_text("th", &[("scope", "row")], &row.name);
        html.element("td", &[], |html| {
            html.text(&row.value);
            if row.disputed {
                html.raw(" <span class=\"tag\">disputed</span>");
            }
            if let Some(note) = &row.note {
                html.raw("<br>").with_text("span", &[("class", "note")], note);
            }
        });
        html.with_text("td", &[], &row.who).with_text("td", &[], &row.how);
        html.element("td", &[], |html| cites::cites(html, &row.cites, records));
    });
}

fn disagreement(html: &mut Html, one: &Disagreement, records: &Records) {
    html.element("div", &[("class", "warn")], |html| {
        html.with_text("b", &[], &one.name).raw(": ").text(&one.about);
        html.element("ul", &[], |html| {
            for side in &one.sides {
                html.element("li", &[], |html| {
                    html.text(&side.value);
                    if !side.who.is_empty() {
                        html.raw(" · ").text(&side.who);
                    }
                    html.raw(" · ").text(&side.how).raw(" ");
                    cites::cites(html, &side.cites, records);
                });
            }
        });
    });
}
