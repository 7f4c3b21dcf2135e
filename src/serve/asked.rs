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

impl Asked {
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
    /// Values that do not go together.
    pub fn args(&self, served: &Served) -> anyhow::Result<Args> {
        let some = |text: &str| Some(text.trim()).filter(|t| !t.is_empty()).map(String::from);
        let (first, also) = served.arguments.split_first().map_or(("", [].as_slice()), |(first, also)| (first.as_str(), also));
        let plain = Args::of(first);
        if !self.around.trim().is_empty() && [&self.since, &self.until, &self.window].iter().any(|t| !t.trim().is_empty()) {
            anyhow::bail!("around= is a window by itself: leave out since=, until= and window=");
        }
        Ok(Args {
            query: some(&self.q).into_iter().collect(),
            runs: Runs { run: first.to_string(), also: also.to_vec() },
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
        let Asked { q, since, until, window, around, span, sort, n } = self;
        let said = [
            ("q", q),
            ("since", since),
            ("until", until),
            ("window", window),
            ("around", around),
            ("span", span),
            ("sort", sort),
            ("n", n),
        ];
        link::address(path, &said.map(|(name, value)| (name, value.trim())))
    }

    /// The same in another window.
    pub fn within(&self, since: &str, until: &str) -> Asked {
        let none = String::new();
        Asked { since: since.into(), until: until.into(), window: none.clone(), around: none.clone(), span: none, ..self.clone() }
    }
}
