//! Lives of servers: bars on the report's axis, and a row a run.

use super::{cites, day, panel, short, table};
use crate::render::html::Html;
use crate::render::number::grouped;
use crate::render::readiness::picture::{self, Bar, PHASES};
use crate::render::readiness::{Unit, words};
use crate::render::shown::rfc3339;
use crate::report::{Lives, Records};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const ROW: f64 = 26.0;
/// Bars of a unit that are drawn, the last ones.
const BARS: usize = 60;

/// Bars and rows.
pub fn lives(lives: &Lives, axis: Option<(i64, i64)>, records: &Records) -> Html {
    panel("lives", "Servers: starts, stops and restarts", |html| {
        if lives.runs.is_empty() {
            html.raw("<p>No record here is of a start, a stop or a ready server.</p>");
        } else {
            legend(html);
        }
        for unit in &lives.units {
            html.with_text("h3", &[], &unit.name);
            html.element(
                "div",
                &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", "Bars of a server's runs")],
                |html| {
                    bars(html, unit, axis);
                },
            );
        }
        if !lives.runs.is_empty() {
            let day = day(axis);
            if let Some(day) = &day {
                html.element("p", &[("class", "note")], |html| {
                    html.raw("Times are UTC of ").text(day).raw(".");
                });
            }
            let heads =
                &["server and run", "how it went", "why it began", "started", "ready", "start to ready", "away before", "ended", "where"];
            table(html, "lives", "Runs of servers", heads, |html| {
                for run in &lives.runs {
                    html.element("tr", &[], |html| {
                        html.with_text("th", &[("scope", "row")], &format!("{} #{}", run.unit, run.number));
                        html.element("td", &[], |html| {
                            html.text(&run.verdict);
                            for trap in &run.traps {
                                html.with_text("p", &[("class", "note")], &short(trap, day.as_deref()));
                            }
                        });
                        for text in [&run.cause, &run.started, &run.ready, &run.start_to_ready, &run.away, &run.ended] {
                            html.with_text("td", &[], &short(text, day.as_deref()));
                        }
                        html.element("td", &[], |html| cites::cites(html, &run.cites, records));
                    });
                }
            });
        }
        if lives.left_out > 0 {
            html.element("p", &[("class", "note")], |html| {
                html.text(&grouped(lives.left_out)).raw(" earlier runs are left out: <code>corr ready RUN --limit 0</code> shows all.");
            });
        }
        if !lives.cannot_say.is_empty() {
            html.raw("<h3>What cannot be said</h3>");
            html.element("ul", &[], |html| {
                for text in &lives.cannot_say {
                    html.with_text("li", &[], text);
                }
            });
        }
    })
}

fn legend(html: &mut Html) {
    html.element("ul", &[("class", "legend")], |html| {
        for phase in PHASES {
            html.element("li", &[], |html| {
                let class = format!("phase {}", phase.class());
                html.element("svg", &[("class", "key"), ("viewBox", "0 0 34 10"), ("aria-hidden", "true")], |html| {
                    html.empty("rect", &[("class", &class), ("x", "0"), ("y", "0"), ("width", "34"), ("height", "10")]);
                });
                html.raw(" ").text(phase.name());
            });
        }
        html.raw("<li><b>R</b> ready</li><li><b>E</b> ended</li><li><b>X</b> died</li><li><b>?</b> known as a bound only</li>");
    });
}

fn bars(html: &mut Html, unit: &Unit, axis: Option<(i64, i64)>) {
    let all = picture::bars(unit);
    let bars = all.get(all.len().saturating_sub(BARS)..).unwrap_or(&all);
    let own = bars.iter().map(|bar| (bar.from, bar.until)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((from, until)) = axis.or(own).filter(|_| !bars.is_empty()) else {
        html.raw("<p>None of its records has a time.</p>");
        return;
    };
    let axis = Axis { from, until };
    let foot = 8.0 + ROW * bars.len() as f64;
    let size = format!("0 0 {WIDTH} {}", foot + 20.0);
    html.element(
        "svg",
        &[("class", "bars"), ("viewBox", &size), ("role", "img"), ("aria-label", &format!("Runs of {}", unit.name))],
        |html| {
            for (row, bar) in bars.iter().enumerate() {
                let number = unit.numbers.get(bar.run).copied().unwrap_or_default();
                let verdict = unit.unit.invocations.get(bar.run).map_or("", |run| words::verdict(run.verdict));
                one(html, (number, verdict), bar, 8.0 + ROW * row as f64, axis);
            }
            at(html, "axis", "start", (LEFT, foot + 14.0), &rfc3339(from, 1_000_000_000));
            at(html, "axis", "end", (WIDTH - RIGHT, foot + 14.0), &rfc3339(until, 1_000_000_000));
        },
    );
}

/// The time that bars are drawn over, UTC ns.
#[derive(Clone, Copy)]
struct Axis {
    from: i64,
    until: i64,
}

impl Axis {
    /// Where an instant stands; one outside at the edge.
    fn x(self, at: i64) -> f64 {
        let share = at.saturating_sub(self.from) as f64 / self.until.saturating_sub(self.from).max(1) as f64;
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn has(self, at: i64) -> bool {
        (self.from..=self.until).contains(&at)
    }

    /// Does some of a stretch lie on it?
    fn has_of(self, from: i64, until: i64) -> bool {
        from < self.until && until.max(from.saturating_add(1)) > self.from
    }
}

/// A run's bar. What lies outside the axis is not drawn: at its edge it would seem to have happened there.
fn one(html: &mut Html, (number, verdict): (usize, &str), bar: &Bar, y: f64, axis: Axis) {
    html.element("g", &[], |html| {
        html.with_text("title", &[], &format!("#{number}: {verdict}"));
        at(html, "number", "start", (4.0, y + 13.0), &format!("#{number}"));
        for (phase, from, until) in bar.phases.iter().filter(|(_, from, until)| axis.has_of(*from, *until)) {
            let width = (axis.x(*until) - axis.x(*from)).max(1.0);
            let class = format!("phase {}", phase.class());
            let place = [axis.x(*from), y, width].map(|n| format!("{n:.1}"));
            let [left, top, wide] = &place;
            html.element("rect", &[("class", &class), ("x", left), ("y", top), ("width", wide), ("height", "16")], |html| {
                html.with_text("title", &[], &format!("{}: {} to {}", phase.name(), rfc3339(*from, 1_000), rfc3339(*until, 1_000)));
            });
        }
        let mut sign = |instant: i64, exact: bool, letter: &str| {
            let bound = if exact { "" } else { "?" };
            at(html, "sign", "middle", (axis.x(instant), y + 13.0), &format!("{letter}{bound}"));
        };
        if let Some((instant, exact)) = bar.ready.filter(|(instant, _)| axis.has(*instant)) {
            sign(instant, exact, "R");
        }
        if let Some((instant, exact, died)) = bar.ended.filter(|(instant, ..)| axis.has(*instant)) {
            sign(instant, exact, if died { "X" } else { "E" });
        }
    });
}

fn at(html: &mut Html, class: &'static str, anchor: &'static str, (x, y): (f64, f64), text: &str) {
    html.with_text("text", &[("class", class), ("text-anchor", anchor), ("x", &format!("{x:.1}")), ("y", &format!("{y:.1}"))], text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::readiness::picture::Phase;

    #[test]
    fn nothing_outside_the_axis_stands_at_its_edge() {
        let bar = |ready, ended| Bar {
            run: 0,
            phases: vec![(Phase::Starting, 0, 100), (Phase::Ready, 100, 400), (Phase::Stopping, 400, 500)],
            from: 0,
            until: 500,
            ready: Some((ready, true)),
            ended: Some((ended, false, true)),
        };
        let drawn = |bar: &Bar| {
            let mut html = Html::new();
            one(&mut html, (3, "ready, then died"), bar, 8.0, Axis { from: 200, until: 300 });
            html.into_string()
        };
        // From ready at 100 to the stop at 400, seen from 200 to 300: ready all the time, and neither sign.
        let outside = drawn(&bar(100, 500));
        assert_eq!((outside.matches("<rect").count(), outside.matches("class=\"sign\"").count()), (1, 0), "{outside}");
        assert!(outside.contains("phase ready\" x=\"44.0\" y=\"8.0\" width=\"944.0\""), "{outside}");
        // Half of 944 behind 44 is 516.
        let inside = drawn(&bar(250, 300));
        assert!(inside.contains("x=\"516.0\" y=\"21.0\">R</text>") && inside.contains("x=\"988.0\" y=\"21.0\">X?</text>"), "{inside}");
    }
}
