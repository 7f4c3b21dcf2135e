//! Where the elapsed clocks of a run's captures began, as it was found when the run was indexed: to find it, events are counted and captures
//! compared. It holds for as long as no file of the run has changed, and of one publication of the store.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file's name inside the store's directory.
const FILE: &str = "clocks.json";

/// A clock that began at a known instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptClock {
    /// Place and name of the capture among those of the run.
    pub place: usize,
    pub name: String,
    /// It began in `[low, high]`, ns since the epoch.
    pub low: i64,
    pub high: i64,
    pub how: String,
    pub holds: Option<(u64, u64)>,
    /// What other rules say of it, and whether they agree.
    pub beside: Vec<(String, bool)>,
}

#[derive(Serialize, Deserialize)]
struct Clocks {
    generation: u64,
    /// The run as it was spelled, which `how` may repeat.
    arguments: Vec<String>,
    clocks: Vec<KeptClock>,
}

/// Writes them. The caller holds the writer's lock.
pub fn write(store: &Path, generation: u64, arguments: &[String], clocks: Vec<KeptClock>) -> io::Result<()> {
    let clocks = Clocks { generation, arguments: arguments.to_vec(), clocks };
    let aside = store.join("clocks.json.new");
    std::fs::write(&aside, serde_json::to_vec(&clocks)?)?;
    std::fs::rename(&aside, store.join(FILE))
}

/// The clocks of a run that is spelled so, if they were found for this publication; those without an entry are unknown.
pub fn read(store: &Path, generation: u64, arguments: &[String]) -> Option<Vec<KeptClock>> {
    // A file that a killed writer left or that is damaged is none: the clocks are found again.
    let clocks: Clocks = serde_json::from_slice(&std::fs::read(store.join(FILE)).ok()?).ok()?;
    let sound = clocks.clocks.iter().all(|c| c.high.checked_sub(c.low).is_some_and(|width| width >= 0));
    (sound && clocks.generation == generation && clocks.arguments == arguments).then_some(clocks.clocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_cannot_be_is_none() {
        let store = tempfile::tempdir().unwrap();
        let arguments = ["run".to_string()];
        let clock =
            |low, high| KeptClock { place: 0, name: "a".into(), low, high, how: "by files".into(), holds: None, beside: Vec::new() };
        for (low, high, sound) in [(5, 7, true), (5, 5, true), (7, 5, false), (i64::MIN, 1, false)] {
            write(store.path(), 3, &arguments, vec![clock(low, high)]).unwrap();
            assert_eq!(read(store.path(), 3, &arguments).is_some(), sound, "{low} to {high}");
        }
    }
}
