//! Two runs side by side as text, JSON, CSV and Markdown.

mod json;
mod table;
mod text;

use std::io::{self, Write};

use corr_evidence::verdict::Attribution;

use super::evidence::{UNPROVABLE, attribution, figure};
use crate::diff::facts::{self, State};
use crate::diff::figures;
use crate::diff::range::{Range, Shown};
use crate::diff::verdicts::Said;
use crate::diff::{Diff, Name, Side, Windowed};
use crate::render::events::Format;
use crate::render::metrics::{computed, number};
use crate::render::number::grouped;
use crate::render::paint::Paint;

/// An answer of `corr diff`.
pub struct Answer<'a> {
    pub a: &'a Side,
    pub b: &'a Side,
    pub diff: &'a Diff,
    /// Also what is equal.
    pub all: bool,
}

impl Answer<'_> {
    /// Writes it. JSON has everything, whatever was asked to be shown.
    pub fn write(&self, format: Format, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text => text::write(self, paint, out),
            Format::Json => json::whole(self, out),
            Format::Jsonl => json::lines(self, out),
            Format::Csv => table::csv(self, out),
            Format::Markdown => table::markdown(self, out),
        }
    }

    fn side(&self, which: Name) -> &Side {
        match which {
            Name::A => self.a,
            Name::B => self.b,
        }
    }

    fn shows_fact(&self, fact: &facts::Compared) -> bool {
        self.all || matches!(fact.state, State::Differs | State::OnlyA | State::OnlyB)
    }

    fn shows_figure(&self, figure: &figures::Compared) -> bool {
        self.all || figure.differs() || figure.a.is_none() || figure.b.is_none()
    }
}

/// `page_size`, `page_size (decode)`.
fn fact_name(fact: &facts::Compared) -> String {
    match fact.role.as_deref() {
        None => fact.name.clone(),
        Some("") => format!("{} (role unknown)", fact.name),
        Some(role) => format!("{} ({role})", fact.name),
    }
}

/// `16 (w0, w1)`, `not said`.
fn values(fact: &facts::Compared, which: Name) -> String {
    let one = |v: &facts::Valued| {
        let workers: Vec<&str> = v.workers.iter().map(String::as_str).collect();
        if workers.is_empty() { v.value.to_string() } else { format!("{} ({})", v.value, workers.join(", ")) }
    };
    let all: Vec<String> = fact.of(which).iter().map(one).collect();
    if all.is_empty() { format!("not said in {}", which.letter()) } else { all.join("; ") }
}

/// `proven, 9 requests, 120 tokens; request proven 9 of 9; session UNPROVABLE`.
fn verdict(said: Option<&Said>) -> String {
    let Some(said) = said else { return "its table has no such edge".into() };
    let mut text = said.activity.name().to_string();
    if !said.counted.is_empty() {
        text.push_str(&format!(", {}", said.counted));
    }
    let moved: Vec<String> = said
        .counters
        .iter()
        .filter(|c| c.moved())
        .map(|c| {
            let before =
                if c.before > 0.0 { format!(", {} before the first sample of a process", figure(c.before)) } else { String::new() };
            let least = c.increase.map_or("increase unknown".to_string(), |n| format!("at least +{}", computed(n)));
            format!("{} of {}: {least}{before}", c.series, c.whose)
        })
        .collect();
    if !moved.is_empty() && said.count.is_none() {
        text.push_str(&format!(" ({})", moved.join("; ")));
    }
    text.push_str(&format!("; request {}; session {}", attribution(&said.request), attribution(&said.session)));
    text
}

/// Why something is not proven, and what would prove it: one line for the request and one for the session, where they differ.
fn reasons(said: &Said, differs: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for (what, of) in [("request", &said.request), ("session", &said.session)] {
        let (reasons, needs) = match of {
            Attribution::Proven { rest, needs, .. } => (rest, needs.as_deref()),
            Attribution::Unprovable { reasons, needs, .. } => (reasons, Some(needs.as_str())),
            Attribution::Nothing => continue,
        };
        if !differs.contains(&what) || reasons.is_empty() {
            continue;
        }
        let list: Vec<String> = reasons.iter().map(|(reason, n)| if *n > 0 { format!("{reason} ({n})") } else { reason.clone() }).collect();
        let needs = needs.map_or(String::new(), |needs| format!("; needs: {needs}"));
        out.push(format!("{what} {UNPROVABLE} by {}{needs}", list.join(", ")));
    }
    out
}

/// `[5, 7]`, `(0.5, 1]`, `[5, …)`.
fn range(range: Option<Range>) -> String {
    let Some(range) = range else { return "unknown".into() };
    let open = if range.open { '(' } else { '[' };
    match range.high {
        Some(high) => format!("{open}{}, {}]", number(trimmed(range.low)), number(trimmed(high))),
        None => format!("{open}{}, …)", number(trimmed(range.low))),
    }
}

/// A bound is computed: as many digits as matter.
fn trimmed(value: f64) -> f64 {
    computed(value).parse().unwrap_or(value)
}

/// What is shown of B − A.
fn shown(shown: Shown) -> String {
    let by = |least: f64, most: Option<f64>| {
        let (low, high) = (computed(least), most.map(computed));
        match high {
            Some(high) if low == high => format!("by {low}"),
            Some(high) if least == 0.0 => format!("by up to {high}"),
            Some(high) => format!("by {low} to {high}"),
            None if least == 0.0 => "by how much is not known".into(),
            None => format!("by at least {low}"),
        }
    };
    match shown {
        Shown::Equal => "equal".into(),
        Shown::NoDifference => "no difference shown".into(),
        Shown::More { least, most } => format!("B more, {}", by(least, most)),
        Shown::Less { least, most } => format!("B less, {}", by(least, most)),
        Shown::Unknown => "unknown".into(),
    }
}

/// `132 requests of the load generator, 152 at the router, no engine's record names one`.
fn requests(window: &Windowed) -> String {
    let mut parts = Vec::new();
    if let Some(n) = window.of_load {
        parts.push(format!("{} requests of the load generator", grouped(n)));
    }
    match (window.router, window.engine) {
        (0, Some(0)) => parts.push("no request is shown by any record".into()),
        (router, Some(engine)) => parts.push(format!("{router} requests at the router, {engine} at engines")),
        (router, None) => parts.push(format!("{router} requests at the router; no engine's record names one")),
    }
    if window.probes > 0 {
        parts.push(format!("{} health probes left out", window.probes));
    }
    parts.join(", ")
}

/// `worker-0 (unified)`, and the endpoint where it has another name.
fn whose(figure: &figures::Figure) -> String {
    let mut text = figure.whose().to_string();
    if let Some(role) = &figure.role {
        text.push_str(&format!(" ({role})"));
    }
    if figure.worker.as_ref().is_some_and(|w| *w != figure.target) {
        text.push_str(&format!(" [{}]", figure.target));
    }
    text
}
