//! One file of `tests/cases` = one command and what it answers.
//!
//! | key | meaning |
//! |---|---|
//! | `about` | what the case shows |
//! | `fixture` | folder of `fixtures` that is copied to the working directory under its own name |
//! | `args` | arguments of corr |
//! | `code` | exit code, 0 if left out |
//! | `way` | `"scan"` or `"index"`: asked without or with an index; both, with the same answer, if left out |
//! | `stdin`, `env` | standard input as text; environment variables |
//! | `stderr` | texts that standard error must hold |
//! | `absent` | texts that neither output may hold |
//! | `contains` | lines that standard output must have, in this order |
//! | `stdout` | all of standard output; the last key of the file |
//!
//! `CORR_BLESS=1 cargo test --test cases` rewrites `stdout` of every case that has one.

mod program;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use program::{Place, Ran, steady};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    fixture: String,
    args: Vec<String>,
    #[serde(default)]
    code: i32,
    way: Option<String>,
    stdin: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    stderr: Vec<String>,
    #[serde(default)]
    absent: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    stdout: Option<String>,
}

#[test]
fn every_case_answers_as_written() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(&dir).expect("tests/cases").map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() >= 25, "only {} cases", paths.len());
    let bless = std::env::var_os("CORR_BLESS").is_some_and(|v| v == "1");
    let mut failures = Vec::new();
    // One copy of each fixture without an index and one with: the program must not leave anything in either.
    let mut places: BTreeMap<(String, bool), Place> = BTreeMap::new();
    for path in &paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("read a case");
        let case: Case = toml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(
            !case.about.is_empty() && (case.stdout.is_some() || !case.contains.is_empty() || !case.stderr.is_empty()),
            "{name} checks nothing"
        );
        let ways: &[bool] = match (case.way.as_deref(), &case.stdin) {
            (Some("scan"), _) | (None, Some(_)) => &[false],
            (Some("index"), _) => &[true],
            (None, None) => &[false, true],
            (Some(other), _) => panic!("{name}: no way is called {other}"),
        };
        let mut blessed = None;
        for indexed in ways {
            let place = places.entry((case.fixture.clone(), *indexed)).or_insert_with(|| prepare(&case.fixture, *indexed));
            let ran = ask(place, &case);
            let way = if *indexed { "by index" } else { "by scan" };
            if bless && case.stdout.is_some() && blessed.is_none() {
                blessed = Some(steady(&ran.stdout));
            }
            let wanted = blessed.as_deref().or(case.stdout.as_deref());
            for problem in problems(&case, wanted, &ran) {
                failures.push(format!("{name} ({way}): {problem}"));
            }
        }
        if let Some(stdout) = blessed {
            fs::write(path, rewritten(&text, &stdout)).expect("rewrite a case");
        }
    }
    for ((fixture, indexed), place) in &places {
        assert_eq!(place.path(fixture).join(".corr").exists(), *indexed, "an index of {fixture} was left behind or vanished");
        assert_eq!(fs::read_dir(place.path("")).expect("the place").count(), 1, "something was left beside {fixture}");
    }
    println!("{} cases", paths.len());
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn prepare(fixture: &str, indexed: bool) -> Place {
    let place = Place::with(fixture);
    if indexed {
        let ran = place.corr(&["index", fixture]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    place
}

fn ask(place: &Place, case: &Case) -> Ran {
    let mut command = place.command(&case.args);
    command.envs(&case.env);
    if case.stdin.is_some() {
        command.stdin(std::process::Stdio::piped());
    }
    program::finish(command.spawn().expect("start corr"), case.stdin.as_deref().unwrap_or("").as_bytes())
}

fn problems(case: &Case, stdout: Option<&str>, ran: &Ran) -> Vec<String> {
    let mut problems = Vec::new();
    if ran.code != Some(case.code) {
        problems.push(format!("exit code {:?}, not {}; standard error:\n{}", ran.code, case.code, ran.stderr));
    }
    let said = steady(&ran.stdout);
    if let Some(wanted) = stdout
        && said != wanted
    {
        problems.push(format!("standard output is\n{said}and not\n{wanted}"));
    }
    let mut lines = said.lines();
    for wanted in &case.contains {
        if !lines.any(|line| line.contains(wanted)) {
            problems.push(format!("no further line with `{wanted}` in\n{said}"));
            break;
        }
    }
    for wanted in &case.stderr {
        if !ran.stderr.contains(wanted) {
            problems.push(format!("no `{wanted}` in standard error:\n{}", ran.stderr));
        }
    }
    for unwanted in &case.absent {
        if ran.stdout.contains(unwanted) || ran.stderr.contains(unwanted) {
            problems.push(format!("`{unwanted}` is in the output"));
        }
    }
    problems
}

/// The case's text with another `stdout` at its end.
fn rewritten(text: &str, stdout: &str) -> String {
    let head = match text.find("\nstdout = ") {
        Some(at) => &text[..at],
        None => text.trim_end(),
    };
    let plain = !stdout.contains("'''") && stdout.chars().all(|c| !c.is_control() || c == '\n' || c == '\t');
    if plain {
        return format!("{head}\nstdout = '''\n{stdout}'''\n");
    }
    let mut quoted = String::new();
    for c in stdout.chars() {
        match c {
            '\\' | '"' => quoted.extend(['\\', c]),
            '\n' | '\t' => quoted.push(c),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    format!("{head}\nstdout = \"\"\"\n{quoted}\"\"\"\n")
}
