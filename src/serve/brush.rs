//! Events over the whole run, column by column: where is something, and which part of it is looked at? Each column is a link to its time; a script lets
//! several be drawn over.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::asked::Asked;
use super::refused::Refused;
use super::state::{Served, View};
use crate::query::answer::{self, Question, Window};
use crate::query::expr::Expr;
use crate::query::grammar;
use crate::render::html::Html;
use crate::render::metrics::seconds;
use crate::render::number::grouped;
use crate::render::shown::rfc3339;

/// Events by the start of their column.
pub type Columns = BTreeMap<Option<i64>, u64>;

/// The columns of a run.
pub struct Brush {
    /// Start of the first column, UTC ns.
    pub from: i64,
    /// Width of a column, ns.
    pub width: i64,
    pub columns: usize,
    pub all: Arc<Columns>,
    /// Those of the query; `None` where every event is asked for.
    pub hits: Option<Columns>,
    /// What is looked at.
    pub window: Window,
}

/// Columns at most.
const MOST: i64 = 120;

/// Widths of a column, ns: those that people count in.
const WIDTHS: [i64; 30] = {
    const MS: i64 = 1_000_000;
    const S: i64 = 1_000 * MS;
    const M: i64 = 60 * S;
    const H: i64 = 60 * M;
    const D: i64 = 24 * H;
    [
        MS,
        2 * MS,
        5 * MS,
        10 * MS,
        20 * MS,
        50 * MS,
        100 * MS,
        200 * MS,
        500 * MS,
        S,
        2 * S,
        5 * S,
        10 * S,
        15 * S,
        30 * S,
        M,
        2 * M,
        5 * M,
        10 * M,
        15 * M,
        30 * M,
        H,
        2 * H,
        3 * H,
        6 * H,
        12 * H,
        D,
        2 * D,
        7 * D,
        28 * D,
    ]
};

/// The narrowest width that divides a length into few enough columns.
pub fn width_of(length: i64) -> i64 {
    let fits = |width: &i64| length / width < MOST;
    WIDTHS.into_iter().find(fits).unwrap_or(length / (MOST - 1) + 1)
}

/// Counts events by column, in the whole run; `None` if nothing has a time.
///
/// # Errors
/// The query is not understood.
pub fn of(view: &View, served: &Served, asked: &Asked, window: Window) -> Result<Option<Brush>, Refused> {
    let (Some(first), Some(last)) = view.ends(served).map_err(Refused::value)? else { return Ok(None) };
    let width = width_of(last.saturating_sub(first));
    let from = first.div_euclid(width).saturating_mul(width);
    let columns = usize::try_from(last.saturating_sub(from).saturating_sub(1).max(0) / width).unwrap_or(0) + 1;
    let count = |expr: Expr| -> anyhow::Result<Columns> {
        let question = Question { histogram: Some(width), ..Question::count(expr, Window::default(), served.bodies)? };
        Ok(answer::ask(&question, &view.sources.sources)?.bins)
    };
    let all = view.columns.get(|| count(Expr::All)).map_err(|e| Refused::Run(format!("{e:#}")))?;
    let hits = match grammar::parse(&asked.q).map_err(Refused::Query)? {
        Expr::All => None,
        expr => Some(count(expr).map_err(Refused::value)?),
    };
    Ok(Some(Brush { from, width, columns, all, hits, window }))
}

/// Units of the picture: wide, and high.
const WIDE: f64 = 1200.0;
const HIGH: f64 = 64.0;

impl Brush {
    /// The section, with links to other windows.
    pub fn section(&self, asked: &Asked) -> Html {
        let mut html = Html::new();
        html.element("section", &[("id", "time"), ("class", "panel"), ("aria-label", "time")], |html| {
            self.picture(html, asked);
            html.element("div", &[("class", "scale")], |html| {
                let instant = |html: &mut Html, ns: i64| {
                    let text = rfc3339(ns, 1_000_000);
                    html.with_text("time", &[("datetime", &text)], &text);
                };
                instant(html, self.from);
                html.element("span", &[("class", "says")], |html| self.says(html, asked));
                instant(html, self.end());
            });
            self.moves(html, asked);
        });
        html
    }

    /// End of the last column, UTC ns.
    fn end(&self) -> i64 {
        self.start(self.columns)
    }

    /// Start of a column, UTC ns.
    fn start(&self, column: usize) -> i64 {
        let column = i64::try_from(column).unwrap_or(i64::MAX);
        self.from.saturating_add(self.width.saturating_mul(column))
    }

    /// What is looked at, as far as the picture has it.
    fn looked_at(&self) -> Option<(i64, i64)> {
        if self.window == Window::default() {
            return None;
        }
        let since = self.window.since.unwrap_or(self.from).clamp(self.from, self.end());
        let until = self.window.until.unwrap_or(self.end()).clamp(since, self.end());
        Some((since, until))
    }

    fn says(&self, html: &mut Html, asked: &Asked) {
        let total: u64 = self.all.values().sum();
        html.text(&format!("{} events, ", grouped(total)));
        if let Some(hits) = &self.hits {
            html.raw("<i class=\"swatch hit\"></i> ")
                .text(&grouped(hits.values().sum()))
                .text(" of ")
                .with_text("code", &[], &asked.q)
                .text(", ");
        }
        html.text(&format!("{} a column", seconds(self.width)));
        if let Some(n) = self.all.get(&None) {
            html.text(&format!("; {} without a time are in none", grouped(*n)));
        }
    }

    fn picture(&self, html: &mut Html, asked: &Asked) {
        let most = self.all.iter().filter(|(at, _)| at.is_some()).map(|(_, n)| *n).max().unwrap_or(0);
        let box_ = format!("0 0 {WIDE} {HIGH}");
        let attributes = [
            ("id", "brush-picture"),
            ("viewBox", box_.as_str()),
            ("preserveAspectRatio", "none"),
            ("role", "group"),
            ("aria-label", "events by time; each column leads to its time"),
            // A script cannot count ns: text of whole ms is what it needs.
            ("data-from", &self.from.div_euclid(1_000_000).to_string()),
            ("data-until", &self.end().saturating_add(999_999).div_euclid(1_000_000).to_string()),
        ];
        html.element("svg", &attributes, |html| {
            let wide = WIDE / self.columns as f64;
            for column in 0..self.columns {
                let (at, until) = (self.start(column), self.start(column + 1));
                let count = |columns: &Columns| columns.get(&Some(at)).copied().unwrap_or(0);
                let n = count(&self.all);
                if n == 0 {
                    continue;
                }
                let hits = self.hits.as_ref().map(count);
                let href = asked.within(&rfc3339(at, 1), &rfc3339(until, 1)).address("/");
                html.element("a", &[("href", &href), ("tabindex", "-1")], |html| {
                    let of = hits.map_or(String::new(), |hits| format!("{} of ", grouped(hits)));
                    html.with_text("title", &[], &format!("{}: {of}{} events", rfc3339(at, self.width), grouped(n)));
                    let x = column as f64 * wide;
                    bar(html, "reach", x, wide, HIGH);
                    bar(html, "all", x + wide * 0.08, wide * 0.84, tall(n, most));
                    if let Some(hits) = hits.filter(|n| *n > 0) {
                        bar(html, "hit", x + wide * 0.08, wide * 0.84, tall(hits, most));
                    }
                });
            }
            if let Some((since, until)) = self.looked_at() {
                let place = |ns: i64| ns.saturating_sub(self.from) as f64 / self.end().saturating_sub(self.from).max(1) as f64 * WIDE;
                bar(html, "window", place(since), (place(until) - place(since)).max(2.0), HIGH);
            }
        });
    }

    /// Links to the windows beside this one.
    fn moves(&self, html: &mut Html, asked: &Asked) {
        html.element("p", &[("class", "moves")], |html| {
            let Some((since, until)) = self.looked_at() else {
                html.text("the whole run; draw over a part of it, or choose a column");
                return;
            };
            let length = until.saturating_sub(since).max(1);
            let mut to = |since: i64, until: i64, words: &str| {
                let there = asked.within(&rfc3339(since, 1), &rfc3339(until, 1));
                html.with_text("a", &[("href", &there.address("/"))], words).text(" ");
            };
            if since > self.from {
                to(since.saturating_sub(length).max(self.from), since, "earlier");
            }
            if until < self.end() {
                to(until, until.saturating_add(length).min(self.end()), "later");
            }
            let half = length / 2;
            to(since.saturating_sub(half).max(self.from), until.saturating_add(half).min(self.end()), "twice as long");
            html.with_text("a", &[("href", &asked.within("", "").address("/"))], "the whole run");
            html.element("span", &[("class", "chosen")], |html| {
                html.text(&format!("[{}, {})", rfc3339(since, 1_000_000), rfc3339(until, 1_000_000)));
            });
        });
    }
}

/// How high a bar is: one event among thousands is still seen.
fn tall(n: u64, most: u64) -> f64 {
    (n as f64 / most.max(1) as f64 * (HIGH - 4.0)).max(2.0)
}

fn bar(html: &mut Html, class: &str, x: f64, wide: f64, tall: f64) {
    let [x, y, wide, tall] = [x, HIGH - tall, wide, tall].map(|n| format!("{n:.2}"));
    html.empty("rect", &[("class", class), ("x", &x), ("y", &y), ("width", &wide), ("height", &tall)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_few_and_of_a_width_that_people_count_in() {
        assert_eq!(width_of(0), 1_000_000);
        assert_eq!(width_of(119_999_999_999), 1_000_000_000);
        assert_eq!(width_of(120_000_000_000), 2_000_000_000);
        assert_eq!(width_of(3_600_000_000_000), 60_000_000_000);
        for length in [1, 1_000, 86_400_000_000_000, i64::MAX] {
            assert!(length / width_of(length) < MOST, "{length}");
        }
    }
}
