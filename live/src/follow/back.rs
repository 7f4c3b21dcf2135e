//! Where in what is there already does the run that goes on now begin?
//!
//! A file is read backwards in windows that grow, until one holds a start of every unit that is followed. What is farther back than the
//! largest window is not looked at: then the run's start is not known, and that is said.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use corr_parsers::clock::Rule;
use corr_parsers::detect;
use corr_parsers::record::Layout;
use corr_readiness::{Fact, Observation};

use super::lines::{Lines, Taken};
use super::zone;

/// The first window, by how much the next is larger, and the last.
const FIRST: u64 = 256 << 10;
const GROWS: u64 = 8;
const LAST: u64 = 32 << 20;

/// What was found out of a file's past.
#[derive(Debug)]
pub struct Past {
    /// `None`: nothing in it is of a known format.
    pub layout: Option<Layout>,
    /// To be read from here on.
    pub from: u64,
    /// By how much its stamps are off, as far as the time of its last change says.
    pub shift: i64,
}

/// Reads `len` bytes backwards. `units` are those whose start is looked for, as the source names them.
pub fn look(file: &mut File, len: u64, units: &[String], owner: Option<&str>, rule: Option<Rule>) -> std::io::Result<Past> {
    let head = part(file, 0, len.min(detect::SAMPLE as u64))?;
    let mut layout = detected(&head);
    if layout.is_none() && len > detect::SAMPLE as u64 {
        // What a script prints before it starts the server can be long.
        layout = detected(&part(file, len - detect::SAMPLE as u64, detect::SAMPLE as u64)?);
    }
    let Some(layout) = layout else { return Ok(Past { layout: None, from: len.saturating_sub(FIRST), shift: 0 }) };
    let mut window = FIRST;
    loop {
        let from = len.saturating_sub(window.min(LAST));
        let mut bytes = part(file, from, len - from)?;
        let mut start = from;
        if from > 0 {
            // The line that the window cuts.
            let cut = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.drain(..cut);
            start += cut as u64;
        }
        let mut begun: Vec<&String> = Vec::new();
        let mut last = None;
        let mut lines = Lines::new(0, owner.map(str::to_owned), false, Some(layout.clone()), rule);
        let mut note = |taken: Taken| {
            if let Some(unit) = units.iter().find(|unit| begins(&taken.seen, unit))
                && !begun.contains(&unit)
            {
                begun.push(unit);
            }
            last = Some(taken.seen.wall);
        };
        lines.push(start, &bytes, 0, true);
        lines.turned(&mut note);
        if begun.len() >= units.len() || from == 0 || window >= LAST {
            let changed = file.metadata().ok().and_then(|meta| meta.modified().ok());
            let changed = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let changed = changed.and_then(|since| i64::try_from(since.as_nanos()).ok());
            // The last record was the last change: if it bears a stamp, the two tell its zone.
            let shift = last.flatten().zip(changed).and_then(|(stamp, changed)| zone::shift(stamp, changed));
            return Ok(Past { layout: Some(layout), from: start, shift: shift.unwrap_or(0) });
        }
        window = window.saturating_mul(GROWS);
    }
}

/// `None` where nothing is of a known format.
fn detected(sample: &[u8]) -> Option<Layout> {
    let found = detect::detect(sample, false);
    (!found.formats.is_empty()).then_some(found.layout)
}

fn part(file: &mut File, from: u64, len: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Does a record begin a run of this unit?
pub fn begins(seen: &Observation, unit: &str) -> bool {
    let starts = matches!(seen.fact, Fact::ServerArgs(_) | Fact::RuntimeBegan | Fact::Starting | Fact::Started);
    // A text mode's line of a service names no unit: systemd's line before it does.
    starts && is_unit(&seen.unit, unit)
}

/// Are these the same unit? `a` is `a.service`.
pub fn is_unit(name: &str, unit: &str) -> bool {
    name == unit || name.strip_suffix(".service") == Some(unit) || unit.strip_suffix(".service") == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGS: &str = "[2026-06-10 14:00:00] server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)\n";
    const BATCH: &str = "[2026-06-10 14:00:30] Decode batch. #running-req: 1, #token: 12, token usage: 0.00, gen throughput (token/s): 9.31, #queue-req: 0, \n";

    fn past(text: &str, units: &[&str]) -> Past {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::fs::write(&path, text).unwrap();
        let units: Vec<String> = units.iter().map(|unit| (*unit).to_owned()).collect();
        let owner = units.first().map(String::as_str);
        look(&mut File::open(&path).unwrap(), text.len() as u64, &units, owner, Some(Rule::Fixed(0))).unwrap()
    }

    #[test]
    fn the_window_grows_until_it_holds_a_start() {
        let early = format!("{ARGS}{}", BATCH.repeat(20_000));
        assert!(early.len() as u64 > FIRST * GROWS);
        assert_eq!(past(&early, &["a"]).from, 0);
        let late = format!("{ARGS}{}{ARGS}{BATCH}", BATCH.repeat(20_000));
        let from = past(&late, &["a"]).from;
        assert!(from > late.len() as u64 - FIRST && late[from as usize..].starts_with("[2026-06-10 14:00:30]"), "{from}");
    }

    #[test]
    fn text_of_nobody_has_no_layout() {
        let past = past("hello\nworld\n", &["a"]);
        assert!(past.layout.is_none());
    }
}
