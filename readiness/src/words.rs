//! What processes say of each other: a frontend or router that loses a worker, and finds it again.

use std::collections::{HashMap, HashSet};

use crate::observe::{Fact, Observation, Word};
use crate::run::Run;
use crate::time::Mark;

/// Names kept, and changes kept of each: more than any run worth reading has.
const MOST: usize = 10_000;

/// Host and unit of who speaks; where no unit is named, its process id.
type Speaker = (String, String, Option<u32>);

/// Of each worker, when others lost and found it: the first record of each change.
#[derive(Debug, Default)]
pub(crate) struct Words {
    said: HashMap<String, Vec<(Word, Mark)>>,
    /// Those that are stopping: whoever stops drops all its workers, whatever becomes of them.
    stopping: HashSet<Speaker>,
}

impl Words {
    /// Takes every record, in the order of time.
    pub fn take(&mut self, seen: &Observation, mark: Mark) {
        match &seen.fact {
            Fact::Stopping | Fact::Sigterm | Fact::ShutsDown if self.stopping.len() < MOST => _ = self.stopping.insert(speaker(seen)),
            Fact::Starting | Fact::Started | Fact::RuntimeBegan | Fact::ServerArgs(_) if !self.stopping.is_empty() => {
                self.stopping.remove(&speaker(seen));
            }
            _ => {}
        }
        let Some(about) = &seen.about else { return };
        if about.word == Word::Own || (self.said.len() >= MOST && !self.said.contains_key(&about.worker)) {
            return;
        }
        if !self.stopping.is_empty() && self.stopping.contains(&speaker(seen)) {
            return;
        }
        let said = self.said.entry(about.worker.clone()).or_default();
        if said.last().is_none_or(|(word, _)| *word != about.word) && said.len() < MOST {
            said.push((about.word, mark));
        }
    }

    /// When others found this run, and when they lost it after that. An address is given again: what was said before the run began,
    /// or after the next one did, is of another.
    pub fn of(&self, run: &Run, next: Option<&Run>) -> (Option<Mark>, Option<Mark>) {
        let all = run.names.iter().filter_map(|name| self.said.get(name)).flatten();
        let mut mine: Vec<(Word, Mark)> =
            all.filter(|(_, mark)| !earlier(mark, &run.first) && next.is_none_or(|next| earlier(mark, &next.first))).copied().collect();
        mine.sort_by_key(|(_, mark)| (mark.wall.map(|wall| wall.start), mark.order));
        let found = mine.iter().find(|(word, _)| *word == Word::Found).map(|(_, mark)| *mark);
        // A worker that is not ready yet fails its health checks: that is no loss.
        let since = [crate::run::Point::ReadyLine, crate::run::Point::Registered].iter().find_map(|point| run.first(*point)).or(found);
        let lost = since.and_then(|since| mine.iter().find(|(word, mark)| *word == Word::Lost && !earlier(mark, &since)));
        (found, lost.map(|(_, mark)| *mark))
    }
}

fn speaker(seen: &Observation) -> Speaker {
    let (unit, pid) = if seen.unit.is_empty() { (&seen.ident, seen.pid) } else { (&seen.unit, None) };
    (seen.host.clone(), unit.clone(), pid)
}

/// By stamps that do not overlap.
fn earlier(a: &Mark, b: &Mark) -> bool {
    a.wall.zip(b.wall).is_some_and(|(a, b)| a.end <= b.start)
}
