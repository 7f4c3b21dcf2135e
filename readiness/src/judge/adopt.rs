//! Lines of a text mode from before systemd's first word of any unit: whose were they?
//!
//! They were kept under their identifier. Where the unit that systemd speaks of later goes on with the same main process, they were its.

use std::borrow::Cow;

use crate::history::Opened;
use crate::unit::Unit;

/// Units, with the lines from before where they belong. `adopted` names those that got some.
pub(crate) fn adopt(known: &[Unit]) -> (Cow<'_, [Unit]>, Vec<usize>) {
    let mut adopted = Vec::new();
    if !known.iter().any(|unit| unit.unnamed) {
        return (Cow::Borrowed(known), adopted);
    }
    let mut units = known.to_vec();
    for at in 0..units.len() {
        let Some(nameless) = units.get(at).filter(|unit| unit.unnamed) else { continue };
        let Some(before) = nameless.runs.last() else { continue };
        let mut mains = before.mains.iter();
        // Of two servers' lines nothing tells which are whose.
        let (Some(main), None) = (mains.next(), mains.next()) else { continue };
        let goes_on = |unit: &Unit| {
            unit.managed
                && unit.host == nameless.host
                && unit.runs.first().is_some_and(|run| run.opened == Opened::Midway && run.pids.contains(main))
        };
        let Some(to) = units.iter().position(goes_on) else { continue };
        let Some(mut runs) = units.get_mut(at).map(|unit| std::mem::take(&mut unit.runs)) else { continue };
        let Some(unit) = units.get_mut(to) else { continue };
        if let (Some(last), Some(first)) = (runs.last_mut(), unit.runs.first()) {
            last.absorb(first);
        }
        runs.extend(unit.runs.drain(..).skip(1));
        unit.runs = runs;
        adopted.push(to);
    }
    (Cow::Owned(units), adopted)
}
