//! Was the wall clock set? Told by the monotonic clock where there is one, else by stamps that go back.

use std::collections::HashMap;

use corr_parsers::stamp::SECOND;
use serde::Serialize;

use crate::time::Mark;

/// The wall clock was set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    pub host: String,
    /// The last record before.
    pub before: Mark,
    /// The first record after.
    pub after: Mark,
    /// By how much, in nanoseconds; `None`: only that stamps go back, by at least [`Step::back`].
    pub by: Option<i64>,
    /// How far stamps go back, in nanoseconds; 0 where they do not.
    pub back: i64,
    /// A line says that the clock was set: nothing shows by how much.
    pub said: bool,
}

/// journald prints the source's stamps in the order of receipt: they go back by up to 16 ms without any step.
const LEAST: i64 = SECOND;
/// More steps than any log that is worth reading has.
const MOST: usize = 1_000;

/// Watches every clock.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// Per boot: the record before.
    monotonic: HashMap<u32, Mark>,
    /// Per source and host: the record before, where there is no monotonic clock.
    wall: HashMap<(u32, String), Mark>,
    pub found: Vec<Step>,
}

impl Steps {
    pub fn take(&mut self, host: &str, mark: Mark) {
        let Some(wall) = mark.wall else { return };
        // A second's stamp hides no step of more than a second but blurs each by one: it is compared as stamps are.
        if let Some(mono) = mark.mono {
            if let Some(last) = self.monotonic.insert(mono.boot, mark)
                && let (Some(was), Some(was_mono)) = (last.wall, last.mono)
            {
                let by = (wall.start.saturating_sub(was.start)).saturating_sub(mono.ns.saturating_sub(was_mono.ns));
                if by.saturating_abs() > LEAST.saturating_add(wall.width().max(was.width())) {
                    self.push(Step {
                        host: host.into(),
                        before: last,
                        after: mark,
                        by: Some(by),
                        back: 0.max(was.start.saturating_sub(wall.start)),
                        said: false,
                    });
                }
            }
            return;
        }
        let full = self.wall.len() >= MOST;
        let last = match self.wall.get_mut(&(mark.cite.source, host.to_owned())) {
            Some(last) => std::mem::replace(last, mark),
            None if full => return,
            None => {
                self.wall.insert((mark.cite.source, host.to_owned()), mark);
                return;
            }
        };
        let Some(was) = last.wall else { return };
        let back = was.start.saturating_sub(wall.end);
        if back > LEAST {
            self.push(Step { host: host.into(), before: last, after: mark, by: None, back, said: false });
        }
    }

    /// journald or systemd says that the clock was set. Where a step was seen at that line, this is no other.
    pub fn say(&mut self, host: &str, mark: Mark) {
        // Where both clocks are read, every step is seen.
        if mark.mono.is_some() && mark.wall.is_some() {
            return;
        }
        let known = self.found.last().is_some_and(|step| step.host == host && step.after.order + 1 >= mark.order);
        if !known {
            self.push(Step { host: host.into(), before: mark, after: mark, by: None, back: 0, said: true });
        }
    }

    fn push(&mut self, step: Step) {
        if self.found.len() < MOST {
            self.found.push(step);
        }
    }
}

/// Does the wall clock differ between two records of a host because it was set between them?
pub(crate) fn between(steps: &[Step], a: &Mark, b: &Mark) -> bool {
    steps.iter().any(|step| {
        let (from, to) = if a.order <= b.order { (a, b) } else { (b, a) };
        from.order <= step.before.order && step.after.order <= to.order
    })
}
