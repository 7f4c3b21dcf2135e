//! srt-slurm's own lines: direct runner, sweep orchestrator, batch script, benchmark scripts. See README.md beside this file.

pub mod kinds;
mod messages;
mod samples;
#[cfg(test)]
mod tests;

use crate::event::{Event, Level, Outcome};
use crate::format::{Format, never_cut, no_bodies};
use crate::sglang;
use crate::stamp::{self, RawStamp, SECOND, Zone};

/// Runner, sweep log, batch script and benchmark scripts.
pub static SRTCTL: Format = Format {
    name: "srtctl",
    about: "srt-slurm's runner, sweep log and benchmark scripts",
    shape: "`[srtctl:YYYY-MM-DDTHH:MM:SSZ]`, `YYYY-MM-DD HH:MM:SS [LEVEL]`, or a line of its scripts (`✓ Sweep completed`)",
    head,
    cut: never_cut,
    bodies_read: no_bodies,
    parse,
    kinds: kinds::KINDS,
    samples: samples::SRTCTL,
};

const RUNNER: &[u8] = b"[srtctl:";

/// Lines of scripts, which have no stamp or end in one, by how they begin.
const SCRIPT: &[&str] = &[
    "✓ Sweep completed successfully",
    "✗ Sweep failed (exit code: ",
    "Running benchmark with concurrency: ",
    "Completed benchmark with concurrency: ",
    "SA-Bench Config: ",
    "SA-Bench complete. Results in ",
    "SGLang-Bench Config: ",
    "SGLang-Bench completed",
    // The one line of `readiness.log`.
    "Router ready: prefill=",
];

fn head(line: &[u8]) -> bool {
    match line.first() {
        Some(b'[') => runner(line).is_some(),
        // SGLang under a logging configuration of the same form is SGLang's.
        Some(b'2') => leveled(line).is_some() && !(sglang::SGLANG.head)(line),
        Some(b'S' | b'E') if dated(line).is_some() => true,
        Some(b'R' | b'C' | b'S' | 0xe2) => SCRIPT.iter().any(|start| line.starts_with(start.as_bytes())),
        _ => false,
    }
}

fn parse<'a>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    event.kind = &kinds::DRIVER_LOG;
    let at = if let Some((stamp, at)) = runner(record) {
        event.stamp = Some(stamp);
        at
    } else if let Some((stamp, level, at)) = leveled(record) {
        event.stamp = Some(stamp);
        event.level = Level::read(level);
        at
    } else if let Some((stamp, is_start)) = dated(record) {
        event.stamp = stamp;
        event.kind = if is_start { &kinds::RUN_STARTED } else { &kinds::RUN_ENDED };
        event.message = 0..record.len();
        return Outcome::Parsed;
    } else {
        0
    };
    event.message = at..record.len();
    let line = record[at..].split(|b| *b == b'\n').next().unwrap_or(b"");
    // A message that is no UTF-8 is none that is known.
    if let Ok(message) = std::str::from_utf8(line) {
        messages::read(message, event);
    }
    Outcome::Parsed
}

/// `[srtctl:2026-11-29T18:54:29Z] `: the stamp, and where the message begins.
fn runner(line: &[u8]) -> Option<(RawStamp, usize)> {
    let rest = line.strip_prefix(RUNNER)?;
    let stamp = stamp::read_iso(rest)?;
    let behind = rest.get(stamp.len as usize..)?.strip_prefix(b"]")?;
    let blank = usize::from(behind.first() == Some(&b' '));
    Some((RawStamp { at: RUNNER.len() as u32, ..stamp }, RUNNER.len() + stamp.len as usize + 1 + blank))
}

/// `2026-11-29 18:50:41 [INFO] `: local time of the head node, which is not said.
fn leveled(line: &[u8]) -> Option<(RawStamp, &str, usize)> {
    if line.get(10) != Some(&b' ') || line.get(19..21) != Some(b" [") {
        return None;
    }
    let levels: [&str; 5] = ["INFO", "WARNING", "ERROR", "DEBUG", "CRITICAL"];
    let level = levels.into_iter().find(|l| line[21..].strip_prefix(l.as_bytes()).is_some_and(|r| r.first() == Some(&b']')))?;
    let stamp = stamp::read_iso(line.get(..19)?)?;
    let at = 21 + level.len() + 1;
    Some((stamp, level, at + usize::from(line.get(at) == Some(&b' '))))
}

/// `Start: Sun Nov 29 18:50:41 UTC 2026` (and `End: `), as `date` prints it: the stamp if it can be read, and whether it is the start.
fn dated(line: &[u8]) -> Option<(Option<RawStamp>, bool)> {
    let (rest, is_start) = match line.strip_prefix(b"Start: ") {
        Some(rest) => (rest, true),
        None => (line.strip_prefix(b"End: ")?, false),
    };
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len()).min(64);
    let text = std::str::from_utf8(&rest[..end]).ok()?.trim_end();
    let mut words = text.split_ascii_whitespace();
    let day_name = words.next()?;
    if !["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].contains(&day_name) {
        return None;
    }
    Some((date(words, line.len() - rest.len(), text.len()), is_start))
}

/// `Nov 29 18:50:41 UTC 2026`, or with `PM` in locales that count to twelve.
fn date<'t>(mut words: impl Iterator<Item = &'t str>, at: usize, len: usize) -> Option<RawStamp> {
    let month = stamp::month(words.next()?.as_bytes())?;
    let day: u32 = words.next()?.parse().ok()?;
    let mut seconds = stamp::clock_seconds(words.next()?.as_bytes())?;
    let mut zone = words.next()?;
    if matches!(zone, "AM" | "PM") {
        if !(3_600..13 * 3_600).contains(&seconds) {
            return None;
        }
        seconds = seconds % (12 * 3_600) + if zone == "PM" { 12 * 3_600 } else { 0 };
        zone = words.next()?;
    }
    let year: i32 = words.next()?.parse().ok().filter(|y| (1970..=2261).contains(y))?;
    let mut ns = (stamp::days(year, month, day)? * 86_400 + seconds).checked_mul(SECOND)?;
    let offset = stamp::read_offset(format!("{zone}00").as_bytes());
    let zone = match (zone, offset) {
        ("UTC" | "GMT", _) => Zone::Utc,
        // A zone without letters is printed as `+08`.
        (_, (Zone::Offset(east), 5)) if zone.len() == 3 => {
            ns -= i64::from(east) * SECOND;
            Zone::Offset(east)
        }
        _ if zone.len() <= 6 && zone.bytes().all(|b| b.is_ascii_alphabetic()) => {
            let mut padded = [b' '; 6];
            padded[..zone.len()].copy_from_slice(zone.as_bytes());
            Zone::Abbreviation(padded)
        }
        _ => return None,
    };
    Some(RawStamp { ns, width: SECOND, zone, at: u32::try_from(at).ok()?, len: u32::try_from(len).ok()? })
}
