//! `corr ready --follow` by the command: a log that grows to its ready line, one that does not, and a unit of which nothing can be known.

use std::time::{Duration, Instant};

use crate::program::{Place, finish, fixtures};

/// Lines 1 to 10 of the fixture are a start up to its ready line.
fn start() -> Vec<String> {
    let text = std::fs::read_to_string(fixtures().join("restart-run/server.log")).unwrap();
    text.lines().take(10).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_ready_line_that_comes_ends_it() {
    let place = Place::new();
    let lines = start();
    place.write("server.log", lines[..9].concat().as_bytes());
    let args = ["ready", "--follow", "server=server.log", "--timeout", "60s", "--tz", "UTC"];
    let child = place.command(&args).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    place.append("server.log", lines[9].as_bytes());
    let ran = finish(child, b"");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("The server is fired up and ready to roll!"), "{}", ran.stdout);
    let offset: usize = lines[..9].iter().map(String::len).sum();
    assert!(ran.stdout.contains(&format!("server.log@{offset} ")), "cited by its bytes: {}", ran.stdout);
}

#[test]
fn no_ready_line_in_time_is_one() {
    let place = Place::new();
    place.write("server.log", start()[..9].concat().as_bytes());
    let began = Instant::now();
    let ran = place.corr(&["ready", "--follow", "server=server.log", "--timeout", "1s", "--tz", "UTC", "--format", "jsonl"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(began.elapsed() < Duration::from_secs(30));
    let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["schema"], &last["exit_code"]), (&"corr.ready.follow.v1".into(), &1.into()));
    assert_eq!((&last["ended"], &last["units"][0]["state"]), (&"timed_out".into(), &"waits".into()));
}

#[test]
fn what_has_no_source_cannot_be_known() {
    let place = Place::new();
    place.write("server.log", start().concat().as_bytes());
    let ran = place.corr(&["ready", "--follow", "--unit", "server,other", "server=server.log", "--timeout", "2s"]);
    assert_eq!(ran.code, Some(4), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("no source of unit other"), "{}", ran.stderr);
    let wrong = place.corr(&["ready", "--follow", "server=server.log", "--timeout", "soon"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--timeout"), "{}", wrong.stderr);
}
