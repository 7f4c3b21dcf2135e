//! How the clocks of the captures that answer lie to each other.

use crate::metrics::anchors;
use crate::metrics::asked::Captured;
use crate::render::metrics::ClockOffset;
use crate::run::Run;

/// So many captures are compared with each other.
const COMPARED: usize = 8;

/// How far the wall clocks of captures that share counters are apart.
pub fn offsets<'a>(run: &Run, captures: impl Iterator<Item = &'a Captured<'a>>) -> Vec<ClockOffset> {
    let captures: Vec<&Captured<'_>> = captures.take(COMPARED).collect();
    let mut out = Vec::new();
    for (i, a) in captures.iter().enumerate() {
        for b in captures.iter().skip(i + 1) {
            let Some(offset) = anchors::offset(run, a, b) else { continue };
            out.push(ClockOffset {
                a: a.name.clone(),
                b: b.name.clone(),
                low: offset.anchor.low,
                high: offset.anchor.high,
                holds: offset.anchor.holds,
                how: offset.anchor.how,
                notes: offset.notes,
            });
        }
    }
    out
}
