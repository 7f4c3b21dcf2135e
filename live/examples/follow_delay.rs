//! How long after a line is written is it told? `cargo run -p corr-live --example follow_delay`
//!
//! From the write of a ready line into a followed file to the call with its transition: a bare log, whose lines are given on at once, and a text
//! journal, whose entries may have more lines and wait a tenth of a second for them.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use corr_live::follow::{Follow, Followed, What};
use corr_live::{Clock, Stop, block_on};
use corr_parsers::clock::Rule;

const TIMES: u64 = 100;

fn wall() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|now| i64::try_from(now.as_nanos()).ok()).unwrap_or(0)
}

/// A start without its ready line, and that line.
fn texts(before: &str) -> (String, String) {
    let start = ["server_args=ServerArgs(model_path='/m', tp_size=1, port=30000)", "Load weight begin. avail mem=138.42 GB"];
    let start = start.map(|text| format!("{before}[2026-06-10 14:00:00] {text}\n")).concat();
    (start, format!("{before}[2026-06-10 14:00:00] The server is fired up and ready to roll!\n"))
}

fn add(path: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

/// Nanoseconds from the write to the call.
fn once(before: &str, manager: &str, wait: Duration) -> Result<i64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.log");
    let (start, ready) = texts(before);
    add(&path, &format!("{manager}{start}"))?;
    let written = Arc::new(Mutex::new(0));
    let follow = Follow {
        units: vec!["a".into()],
        files: vec![Followed { path: path.clone(), unit: None }],
        zone: Some(Rule::Fixed(0)),
        timeout: Duration::from_secs(20),
        ..Follow::new(Clock::new(wall))
    };
    let at = Arc::clone(&written);
    let writer = std::thread::spawn(move || {
        std::thread::sleep(wait);
        if let Ok(mut at) = at.lock() {
            *at = wall();
        }
        add(&path, &ready)
    });
    let mut seen = None;
    block_on(follow.follow(Stop::new(), |told| {
        if told.what == What::Ready {
            seen = Some(wall());
        }
    }))??;
    writer.join().map_err(|_| "the writer died")??;
    let written = written.lock().map_err(|_| "the writer died")?;
    Ok(seen.ok_or("not seen")? - *written)
}

fn main() -> Result<(), Box<dyn Error>> {
    let service = "2026-06-10T14:00:00.000001+00:00 gpu-7 python3[11]: ";
    let manager = "2026-06-10T14:00:00.000000+00:00 gpu-7 systemd[1]: Started a.service - A.\n";
    for (name, before, manager) in [("bare log", "", ""), ("journalctl -o short-iso-precise in a file", service, manager)] {
        let mut all = Vec::new();
        for i in 0..TIMES {
            // No multiple of the look's distance.
            all.push(once(before, manager, Duration::from_micros(300_000 + i * 7_919 % 50_000))?);
        }
        all.sort_unstable();
        let at = |share: usize| all.get((all.len() - 1) * share / 100).copied().unwrap_or(0) as f64 / 1e6;
        println!("{name}: {TIMES} lines, told after {:.1} ms (median), {:.1} ms (95 %), {:.1} ms (most)", at(50), at(95), at(100));
    }
    Ok(())
}
