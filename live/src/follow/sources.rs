//! What is watched, and what came of each.

use corr_readiness::Cite;

use super::SourceOutcome;
use super::cited::Texts;
use super::lines::Lines;
use super::message::Fault;
use super::plan::Asked;
use super::verdict::Latest;

/// A source of log lines.
pub struct Log {
    pub source: u32,
    /// Whose; `None`: of any.
    pub unit: Option<String>,
    pub lines: Lines,
    pub caught_up: bool,
    pub fault: Option<Fault>,
    pub rotations: u64,
    pub truncations: u64,
}

/// An endpoint that is polled.
pub struct Polls {
    pub source: u32,
    pub asked: Asked,
    /// The first of its unit: it speaks for it.
    pub speaks: bool,
    pub attempts: u64,
    pub up: Option<bool>,
    pub latest: Option<Latest>,
}

impl Log {
    pub fn new(source: u32, unit: Option<String>, lines: Lines) -> Log {
        Log { source, unit, lines, caught_up: false, fault: None, rotations: 0, truncations: 0 }
    }

    pub fn outcome(&self, texts: &Texts) -> SourceOutcome {
        SourceOutcome {
            name: texts.name(self.source).to_owned(),
            records: self.lines.records,
            lost: self.lines.lost,
            rotations: self.rotations,
            truncations: self.truncations,
            fault: self.fault.as_ref().map(ToString::to_string),
        }
    }
}

impl Polls {
    /// A citation of the attempt that just ended: its number, from 0.
    pub fn next(&mut self) -> Cite {
        self.attempts += 1;
        Cite { source: self.source, offset: self.attempts - 1, len: 0 }
    }

    pub fn outcome(&self, texts: &Texts) -> SourceOutcome {
        let fault = self.latest.as_ref().filter(|latest| !latest.up).map(|latest| latest.says.clone());
        SourceOutcome { name: texts.name(self.source).to_owned(), records: self.attempts, lost: 0, rotations: 0, truncations: 0, fault }
    }
}
