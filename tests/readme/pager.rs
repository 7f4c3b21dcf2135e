//! Long answers on a terminal go through a pager, and nowhere else.

use std::process::{Command, Stdio};

use crate::program::Place;

/// Runs a command line of corr on a terminal of its own; gives what the terminal saw and the exit code. `None` where nothing makes one.
fn on_terminal(place: &Place, env: &[(&str, &str)], args: &str) -> Option<(String, Option<i32>)> {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {args}", env!("CARGO_BIN_EXE_corr")), "/dev/null"]);
    command
        .current_dir(place.path(""))
        .env_remove("PAGER")
        .env_remove("CORR_PAGER")
        .env_remove("LESS")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    command.env("HOME", place.path("home")).envs(env.iter().copied()).stdin(Stdio::null());
    let Ok(output) = command.output() else {
        println!("skipped: no `script` of util-linux on the PATH, which runs a program on a terminal");
        return None;
    };
    Some((String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"), output.status.code()))
}

/// A pager that writes what it is given beside a mark.
const MARKED: &str = "sed 's/^/paged: /'";

#[test]
fn an_answer_on_a_terminal_is_paged_and_nothing_else_is() {
    let place = Place::with("sglang-run");
    let plain = place.corr(&["query", "sglang-run", "kind:exception"]);
    let Some((seen, code)) = on_terminal(&place, &[("CORR_PAGER", MARKED), ("PAGER", "false")], "query sglang-run kind:exception") else {
        return;
    };
    assert_eq!(code, Some(0), "{seen}");
    for line in plain.stdout.lines() {
        assert!(seen.contains(&format!("paged: {line}")), "{line:?} is not in {seen}");
    }
    // Notes come when the pager is done, and not through it.
    let note = plain.stderr.lines().next().expect("a note");
    assert!(seen.find(note).is_some_and(|at| Some(at) > seen.rfind("paged: ")) && !seen.contains(&format!("paged: {note}")), "{seen}");
    // The answer's own code is the program's, whatever the pager says of itself.
    let by_pager = [("PAGER", MARKED)];
    assert_eq!(on_terminal(&place, &by_pager, "query sglang-run kind:route_decision").map(|r| r.1), Some(Some(1)));
    assert_eq!(on_terminal(&place, &[("PAGER", "cat >/dev/null; exit 3")], "sources sglang-run").map(|r| r.1), Some(Some(0)));
    for args in
        ["-P query sglang-run kind:exception", "query sglang-run kind:exception --no-pager", "completions bash", "man query", "--version"]
    {
        let (seen, code) = on_terminal(&place, &by_pager, args).expect("a terminal");
        assert!(code == Some(0) && !seen.contains("paged: "), "{args}: {seen}");
    }
    for off in ["", "cat"] {
        let (seen, _) =
            on_terminal(&place, &[("CORR_PAGER", off), ("PAGER", MARKED)], "query sglang-run kind:exception").expect("a terminal");
        assert!(seen.contains("exception") && !seen.contains("paged: "), "{seen}");
    }
    // Not on a terminal.
    let mut piped = place.command(&["query", "sglang-run", "kind:exception"]);
    let piped = piped.env("CORR_PAGER", MARKED).output().expect("run corr");
    assert_eq!(String::from_utf8_lossy(&piped.stdout), plain.stdout);
}

#[test]
fn a_pager_that_is_left_early_is_no_failure() {
    let place = Place::with("direct-run");
    let long = "query direct-run '' --limit 0 --format json";
    for pager in ["head -n 1", "true"] {
        let Some((seen, code)) = on_terminal(&place, &[("CORR_PAGER", pager)], long) else { return };
        assert_eq!(code, Some(0), "{pager}: {seen}");
        assert!(!seen.contains("roken pipe") && seen.len() < 50_000, "{seen}");
    }
    let (seen, code) = on_terminal(&place, &[("CORR_PAGER", "no-such-pager-here")], long).expect("a terminal");
    assert!(code == Some(2) && seen.contains("could not be run; -P does without"), "{code:?} {seen}");
}

/// What is used where nothing is named: less, which ends by itself where all fits on the screen.
#[test]
fn less_shows_what_fits_and_ends() {
    let less = Command::new("less").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    if !less {
        println!("skipped: no less on the PATH");
        return;
    }
    let place = Place::with("sglang-run");
    let Some((seen, code)) = on_terminal(&place, &[], "query sglang-run kind:exception") else { return };
    assert!(code == Some(0) && seen.contains("crash.log:7 exception"), "{code:?} {seen}");
}
