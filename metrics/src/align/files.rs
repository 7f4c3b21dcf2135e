//! Where did an elapsed clock begin, by what stands around the file? Weak rules, for when neither counters nor events tell; each with the
//! interval in which it was seen to be right.
//!
//! Measured on captures of Tachometer 0.1.0 whose truth is known: the log's first stamp was 0.04 to 0.96 s early; the time of `current.arrow`
//! less its saves 0.03 to 0.29 s late; the time of `out-N.parquet` less its last sample 0.03 to 0.68 s late.

use super::seconds;
use crate::model::{Anchor, SECOND};

/// Most that each of the rules was seen to be off, rounded up to whole seconds.
const OFF: i64 = SECOND;

/// From the stamp of the first line of the scraper's log, which has whole seconds: the clock began after it, by less than a second.
pub fn first_line(stamp: i64) -> Anchor {
    let how = "first line of the scraper's log: the clock began within 1 s after its stamp; cannot check itself";
    Anchor { low: stamp, high: stamp.saturating_add(OFF), how: how.to_string(), holds: None }
}

/// From when `current.arrow` was last written, the number of saves by the log, and the interval between them: the file is saved at each
/// multiple of the interval, or a little later. `last`: the greatest time in the file, which was written after it. `None` if the file holds
/// samples of after its last save, so that saves or interval are wrong.
pub fn current_arrow(written: i64, saves: u64, every: i64, last: Option<i64>) -> Option<Anchor> {
    let saved = i64::try_from(saves).ok().filter(|&n| n > 0)?.checked_mul(every).filter(|&at| at > 0)?;
    if last.is_some_and(|last| last > saved.saturating_add(OFF)) {
        return None;
    }
    let how = format!("time of current.arrow less {saves} saves, one in {}; {COPIES}", seconds(every));
    late(written, saved.max(last.unwrap_or(saved)), how)
}

/// From when `out-N.parquet`, or a `current.arrow` of which the saves are not known, was written, and the greatest time in it: it is written as
/// soon as it is full.
pub fn last_sample(written: i64, last: i64) -> Option<Anchor> {
    late(written, last, format!("time of the file less its last sample; {COPIES}"))
}

const COPIES: &str = "late by up to 1 s, and by more if the file was copied without its time; cannot check itself";

fn late(written: i64, at: i64, how: String) -> Option<Anchor> {
    let high = written.checked_sub(at)?;
    // a time of whole seconds was cut by the file system or an archive
    let cut = if written % SECOND == 0 { SECOND - 1 } else { 0 };
    Some(Anchor { low: high.checked_sub(OFF)?, high: high.checked_add(cut)?, how, holds: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::testing;
    use crate::cases::cases;
    use std::collections::HashMap;
    use std::path::Path;

    fn contains(anchor: &Anchor, truth: i64) -> bool {
        anchor.low <= truth && truth <= anchor.high
    }

    /// Times of files as recorded where they were written: those of a checkout are the copy's.
    fn recorded(path: &Path) -> HashMap<String, i64> {
        let text = std::fs::read_to_string(path).unwrap();
        let rows = text.lines().map(|l| l.split(' ').collect::<Vec<_>>());
        rows.map(|r| (r[2].trim_start_matches("./").to_string(), testing::ns(r[0]))).collect()
    }

    fn last(path: &Path) -> i64 {
        let capture = testing::tachometer(&[path]);
        *capture.samples.times(0..capture.series.len() as u32).last().unwrap()
    }

    /// The stamp of a log's first line, and its saves of `current.arrow`.
    fn log(path: &Path) -> (i64, u64) {
        let lines = testing::log(path);
        let (stamp, _) = lines[0].trim_start_matches('[').split_once(' ').unwrap();
        (testing::stamp(stamp).0, lines.iter().filter(|l| l.contains("Saved current.arrow")).count() as u64)
    }

    /// Zero of the third scraper by the exporter's record of what it sent: no body was stamped before it had been sent.
    #[test]
    fn a_capture_that_was_killed() {
        let Some(folder) = cases("tachometer/run_a") else { return };
        let truth = 1_795_978_007_044_800_000;
        let written = recorded(&folder.join("mtimes.txt"));
        let (stamp, saves) = log(&folder.join("scrapeC/tachometer.log"));
        assert!(contains(&first_line(stamp), truth));
        // and those of the other two, found the same way
        for (who, truth) in [("A", 1_795_978_006_260_600_000), ("B", 1_795_978_006_604_000_000)] {
            assert!(contains(&first_line(log(&folder.join(format!("scrape{who}/tachometer.log"))).0), truth));
        }
        assert_eq!(saves, 9);
        let local = folder.join("scrapeC/local");
        // stamped with the times of the original
        let dir = tempfile::tempdir().unwrap();
        for name in ["current.arrow", "out-4.parquet", "out-5.parquet", "out-6.parquet"] {
            let copy = dir.path().join(name);
            std::fs::copy(local.join(name), &copy).unwrap();
            let mut mode = std::fs::metadata(&copy).unwrap().permissions();
            #[allow(clippy::permissions_set_readonly_false)]
            mode.set_readonly(false);
            std::fs::set_permissions(&copy, mode).unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(written[&format!("scrapeC/local/{name}")] as u64);
            std::fs::File::options().append(true).open(&copy).unwrap().set_modified(at).unwrap();
            let time = std::fs::metadata(&copy).unwrap().modified().unwrap();
            let time = time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
            let found = last_sample(time, last(&copy)).unwrap();
            println!("{name}: {:.3} s late, {found:?}", (found.high - truth) as f64 / 1e9);
            assert!(contains(&found, truth));
            if name == "current.arrow" {
                let found = current_arrow(time, saves, 7 * SECOND, Some(last(&copy))).unwrap();
                assert!(contains(&found, truth), "{found:?}");
                assert_eq!((found.high - truth) / 1_000_000, 27);
            }
        }
    }

    #[test]
    fn a_run_that_was_killed() {
        let Some(folder) = cases("tachometer/run_dynamo") else { return };
        let root = testing::run(&folder, "corr-timeout");
        let (stamp, saves) = log(&root.join("logs/tachometer.log"));
        // what every pair of events and counts, the client and the runner allow: see the tests of events
        let truth = [1_795_978_686_771_243_816, 1_795_978_686_793_255_940];
        let found =
            current_arrow(1_795_978_707_060_000_000, saves, 5 * SECOND, Some(last(&root.join("artifacts/tachometer/local/current.arrow"))));
        let found = found.unwrap();
        println!("{found:?}");
        assert_eq!(saves, 4);
        assert!(contains(&found, truth[0]) && contains(&found, truth[1]));
        assert!(contains(&first_line(stamp), truth[0]) && contains(&first_line(stamp), truth[1]));
        assert!(first_line(stamp).high - stamp == SECOND);
    }

    #[test]
    fn saves_that_cannot_be_are_no_anchor() {
        let at = 1000 * SECOND + 1;
        assert_eq!(current_arrow(at, 0, 5 * SECOND, None), None);
        assert_eq!(current_arrow(at, 2, 5 * SECOND, Some(12 * SECOND)), None, "a sample of after the second save");
        let found = current_arrow(at, 2, 5 * SECOND, Some(9 * SECOND)).unwrap();
        assert_eq!((found.low, found.high), (989 * SECOND + 1, 990 * SECOND + 1));
        let whole = last_sample(1000 * SECOND, 10 * SECOND).unwrap();
        assert_eq!(whole.high, 991 * SECOND - 1, "up to a second was cut off the file's time");
        assert_eq!(last_sample(i64::MIN, 1), None);
    }
}
