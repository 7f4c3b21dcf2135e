//! Latency and cache figures, each with where it comes from.

use super::{cites, panel, table};
use crate::render::html::Html;
use crate::render::number::grouped;
use crate::report::{Figures, Records};

/// Tables by what figures are about.
pub fn figures(figures: &Figures, records: &Records) -> Html {
    panel("figures", "Latency and cache", |html| {
        if figures.rows.is_empty() {
            html.raw("<p>No histogram, no counter and no field of a record says how long requests took or what the cache did.</p>");
        }
        let mut rest = &figures.rows[..];
        while let Some(first) = rest.first() {
            let (group, others) = rest.split_at(rest.iter().take_while(|row| row.about == first.about).count());
            rest = others;
            html.with_text("h3", &[], first.about);
            table(html, "figures", first.about, &["figure", "in the window", "where"], |html| {
                for row in group {
                    html.element("tr", &[], |html| {
                        html.element("th", &[("scope", "row")], |html| {
                            html.with_text("code", &[], &row.name);
                            if !row.says.is_empty() {
                                html.raw("<br>").with_text("span", &[("class", "note")], &row.says);
                            }
                        });
                        html.with_text("td", &[], &row.words);
                        html.element("td", &[], |html| cites::cites(html, &row.cites, records));
                    });
                }
            });
        }
        if figures.left_out > 0 {
            html.element("p", &[("class", "note")], |html| {
                html.text(&grouped(figures.left_out));
                html.raw(" more have no sample or no observation here, or are left out: <code>corr metrics RUN --list</code> names every series.");
            });
        }
    })
}
