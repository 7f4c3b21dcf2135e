//! What is asked: the state of a page, as its address says it.

use serde::Deserialize;

use super::link;
use super::state::Served;
use crate::cli::flags::{self, Around, Reading, Runs};
use crate::cli::query::Args;
use crate::query::answer::Window;
use crate::render::events::Format;
use crate::render::shown::rfc3339;

/// The values of an address; nothing given is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// In the language of `corr query`.
    pub q: String,
    pub since: String,
    pub until: String,
    /// A named window.
    pub window: String,
    /// The locator of an event, and how long before and after it.
    pub around: String,
    pub span: String,
    /// `time`, `-time`, a field, or `-FIELD`.
    pub sort: String,
    /// How many hits are shown.
    pub n: String,
}

/// Hits that are shown if nothing is said, and at most.
pub const HITS: usize = 50;
pub const MOST: usize = 1_000;

/// Bytes of a query or a locator, and of any other value: each link of a page says them again.
const LONGEST: usize = 5_000;
const LONGEST_OTHER: usize = 300;

impl Asked {
    /// The values by their names.
    fn values(&self) -> [(&'static str, &str); 8] {
        let Asked { q, since, until, window, around, span, sort, n } = self;
        [("q", q), ("since", since), ("until", until), ("window", window), ("around", around), ("span", span), ("sort", sort), ("n", n)]
            .map(|(name, value)| (name, value.trim()))
    }

    /// How many hits are wanted.
    ///
    /// # Errors
    /// It is no number.
    pub fn limit(&self) -> anyhow::Result<usize> {
        match self.n.trim() {
            "" => Ok(HITS),
            text => match text.parse::<usize>() {
                Ok(0) => Ok(MOST),
                Ok(n) => Ok(n.min(MOST)),
                Err(_) => anyhow::bail!("n={text}: not a number of hits; write a number up to {MOST}"),
            },
        }
    }

    /// The same as arguments of `corr query`.
    ///
    /// # Errors
    /// Values that do not go together, or are too long.
    pub fn args(&self, served: &Served) -> anyhow::Result<Args> {
        for (name, value) in self.values() {
            let most = if matches!(name, "q" | "around") { LONGEST } else { LONGEST_OTHER };
            anyhow::ensure!(value.len() <= most, "{name}= has {} bytes, more than {most}", value.len());
        }
        let some = |text: &str| Some(text.trim()).filter(|t| !t.is_empty()).map(String::from);
        let plain = Args::of(served.arguments.first().map_or("", String::as_str));
        if !self.around.trim().is_empty() && [&self.since, &self.until, &self.window].iter().any(|t| !t.trim().is_empty()) {
            anyhow::bail!("around= is a window by itself: leave out since=, until= and window=");
        }
        Ok(Args {
            query: some(&self.q).into_iter().collect(),
            runs: Runs { run: plain.runs.run.clone(), also: served.arguments.get(1..).unwrap_or_default().to_vec() },
            when: flags::Window { since: some(&self.since), until: some(&self.until), window: some(&self.window) },
            around: Around { around: some(&self.around), span: some(&self.span).unwrap_or(plain.around.span.clone()) },
            sort: some(&self.sort).unwrap_or(plain.sort.clone()),
            limit: self.limit()?,
            format: Format::Json,
            bodies: served.bodies,
            reading: Reading { tz: served.options.tz.clone(), ..Reading::default() },
            ..plain
        })
    }

    /// The same with the ends of its window as instants, as the form has them: those of a named window, or of one around an event, can then be changed.
    pub fn in_instants(&self, window: Window) -> Asked {
        if self.window.trim().is_empty() && self.around.trim().is_empty() {
            return self.clone();
        }
        let end = |ns: Option<i64>| ns.map_or(String::new(), |ns| rfc3339(ns, 1));
        self.within(&end(window.since), &end(window.until))
    }

    /// Are events looked for, not only a time?
    pub fn chooses(&self) -> bool {
        [&self.q, &self.around, &self.sort, &self.n].iter().any(|text| !text.trim().is_empty())
    }

    /// The address of a page that asks this.
    pub fn address(&self, path: &str) -> String {
        link::address(path, &self.values())
    }

    /// The same in another window.
    pub fn within(&self, since: &str, until: &str) -> Asked {
        let none = String::new();
        Asked { since: since.into(), until: until.into(), window: none.clone(), around: none.clone(), span: none, ..self.clone() }
    }
}
