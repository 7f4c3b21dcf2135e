//! A Gantt chart of restart windows for a note, with the table that says it exactly.
//!
//! Mermaid draws whole seconds at best and few bars well: at most [`MOST`] bars, starts rounded down, ends up. What a name may hold is a list of what cannot end it,
//! begin a comment or be a word of the grammar; the table has the name as it is.

use std::fmt::Write;

use corr_parsers::stamp::SECOND;
use corr_readiness::time::seconds_down;

use crate::render::readiness::words;
use crate::render::safe::{markdown_cell, markdown_code};
use crate::render::shown::rfc3339;

/// Bars that are drawn.
pub const MOST: usize = 20;
/// Characters of a name in the chart.
const NAME: usize = 40;

/// What a window is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The server was away.
    Outage,
    /// It was ready.
    Ready,
}

/// A window of a server's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub unit: String,
    pub what: What,
    /// Of the outage, or of the run.
    pub number: usize,
    pub since: i64,
    /// `None`: its end was not seen.
    pub until: Option<i64>,
    /// `None`: its two ends say it.
    pub length: Option<String>,
    /// What its ends are, in words.
    pub how: String,
    pub cites: Vec<String>,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            What::Outage => "outage",
            What::Ready => "ready",
        }
    }
}

impl Window {
    /// As `--window` names it.
    pub fn name(&self) -> String {
        format!("{}:{}#{}", self.what.word(), self.unit, self.number)
    }
}

/// Chart and table; `remarks` are sentences below. `None` if there is no window.
pub fn write(windows: &[Window], remarks: &[String]) -> Option<String> {
    if windows.is_empty() {
        return None;
    }
    // Outages are what is asked for; then what was ready, in the order of time.
    let mut drawn: Vec<&Window> = windows.iter().filter(|w| w.until.is_some()).collect();
    drawn.sort_by_key(|w| (w.what, w.since));
    drawn.truncate(MOST);
    let mut out = String::new();
    if !drawn.is_empty() {
        out.push_str("```mermaid\ngantt\n    title Restart windows (UTC, whole seconds)\n    dateFormat YYYY-MM-DDTHH:mm:ss\n    axisFormat %H:%M:%S\n");
        let mut units: Vec<&str> = Vec::new();
        for window in &drawn {
            if !units.contains(&window.unit.as_str()) {
                units.push(&window.unit);
            }
        }
        let mut number = 0;
        for unit in units {
            let _ = writeln!(out, "    section {}", name(unit));
            let mut of_unit: Vec<&&Window> = drawn.iter().filter(|w| w.unit == unit).collect();
            of_unit.sort_by_key(|w| (w.since, w.what));
            for window in of_unit {
                let Some(until) = window.until else { continue };
                number += 1;
                let (from, to) = (second(window.since, false), second(until, true));
                let tag = if window.what == What::Outage { "crit, " } else { "" };
                let _ = writeln!(out, "    {} {} :{tag}w{number}, {from}, {to}", window.what.word(), window.number);
            }
        }
        out.push_str("```\n\n");
    }
    out.push_str("| window | from (UTC) | to (UTC) | length | how | evidence |\n|---|---|---|---|---|---|\n");
    for window in windows {
        // An outage is no shorter than what is written, and what was ready no longer.
        let outage = window.what == What::Outage;
        let from = words::moment(window.since, 1_000_000, !outage);
        let (to, length) = match window.until {
            Some(until) => (words::moment(until, 1_000_000, outage), format!("{} s", seconds_down(until.saturating_sub(window.since)))),
            None => ("not seen".into(), "unknown".into()),
        };
        let length = markdown_cell(window.length.as_deref().unwrap_or(&length));
        let cites: Vec<String> = window.cites.iter().map(|cite| markdown_code(cite)).collect();
        let (name, how) = (markdown_code(&window.name()), markdown_cell(&window.how));
        let _ = writeln!(out, "| {name} | {from} | {to} | {length} | {how} | {} |", cites.join(" "));
    }
    let open = windows.iter().filter(|w| w.until.is_none()).count();
    let mut said = vec![
        "Both ends are on the safe side: an outage is the longest that it can have been (but from a last line), ready is from when it surely was."
            .to_string(),
    ];
    if drawn.len() + open < windows.len() {
        said.push(format!(
            "The chart has {} of {} windows, outages first; {} are left out of it.",
            drawn.len(),
            windows.len(),
            windows.len() - open - drawn.len()
        ));
    }
    if open > 0 {
        said.push(format!("{open} have no end that was seen and no bar."));
    }
    said.extend(remarks.iter().map(|remark| markdown_cell(remark)));
    let _ = write!(out, "\n{}\n", said.join(" "));
    Some(out)
}

/// A name in the chart.
fn name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '@' | '-') { c } else { '_' };
    let mut name: String = text.chars().take(NAME).map(plain).collect();
    if text.chars().nth(NAME).is_some() {
        name.push_str("...");
    }
    if name.is_empty() { "_".into() } else { name }
}

/// A whole second, without a zone: the chart has one.
fn second(ns: i64, up: bool) -> String {
    let down = ns.div_euclid(SECOND);
    let whole = if up && ns.rem_euclid(SECOND) > 0 { down.saturating_add(1) } else { down };
    rfc3339(whole.saturating_mul(SECOND), SECOND).trim_end_matches('Z').to_string()
}
