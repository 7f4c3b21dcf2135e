//! What a newcomer meets: the README's commands are run as they are written, on a copy of the repository's fixtures, and answer as the README shows;
//! every command's help has examples, and a manual page; long answers on a terminal go through a pager.

#[path = "readme/help.rs"]
mod help;
#[path = "readme/pager.rs"]
mod pager;
mod program;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use program::{copy_tree, words};
use serde_json::Value;

/// A command of the README, with the block that stands below it as its answer.
struct Shown {
    line: String,
    answer: Option<String>,
}

/// Commands of shell blocks; a block without a language is the answer of the command above it.
fn commands(readme: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside: Option<(&str, String)> = None;
    for line in readme.lines() {
        match (&mut inside, line.strip_prefix("```")) {
            (None, Some(language)) => inside = Some((language, String::new())),
            (None, None) => {}
            (Some((language, text)), Some("")) => {
                if language.is_empty() {
                    let of = found.last_mut().expect("a command above its answer");
                    assert!(of.answer.is_none(), "two answers of {}", of.line);
                    of.answer = Some(std::mem::take(text));
                }
                inside = None;
            }
            (Some((language, text)), _) => {
                text.push_str(line);
                text.push('\n');
                let line = line.replace("cargo run --release -- ", "corr ");
                if *language == "sh" && line.starts_with("corr ") {
                    found.push(Shown { line, answer: None });
                }
            }
        }
    }
    assert!(inside.is_none(), "a block has no end");
    found
}

/// Is this the answer? A line `…` stands for any lines, `…` at a line's end for its rest.
fn check(shown: &str, answer: &str, command: &str) {
    let mut real = answer.lines();
    let mut cut = false;
    for line in shown.lines() {
        if line == "…" {
            cut = true;
            continue;
        }
        let same = |real: &str| real == line || line.strip_suffix('…').is_some_and(|start| real.starts_with(start.trim_end()));
        let found = if cut { real.any(same) } else { real.next().is_some_and(same) };
        assert!(found, "`{command}` does not answer\n{line}\nhere; it answers\n{answer}");
        cut = false;
    }
    assert!(cut || real.next().is_none(), "`{command}` answers more than is shown:\n{answer}");
}

#[test]
fn every_command_of_the_readme_answers_as_it_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let temp = tempfile::tempdir().unwrap();
    copy_tree(&root.join("fixtures"), &temp.path().join("fixtures"));
    std::fs::create_dir(temp.path().join("target")).unwrap();
    let (mut ran, mut compared) = (0, 0);
    for Shown { line, answer } in commands(&readme) {
        let arguments = words(line.trim_start_matches("corr "));
        if arguments[0] == "serve" {
            serves(&arguments, temp.path());
            continue;
        }
        let output =
            Command::new(env!("CARGO_BIN_EXE_corr")).args(&arguments).current_dir(temp.path()).env("HOME", temp.path()).output().unwrap();
        let (mut out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        if arguments[0] == "sql" && !cfg!(feature = "sql") {
            assert_eq!(output.status.code(), Some(2), "{line}\n{out}\n{err}");
            assert!(err.contains("--features sql"), "{line}\n{err}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{line}\n{out}\n{err}");
        if arguments[0] == "note" && !arguments.iter().any(|a| a == "--stdout") {
            // What it writes is its answer.
            out = std::fs::read_to_string(temp.path().join(&arguments[1])).unwrap();
            assert!(out.starts_with("<!-- corr:begin ") && out.ends_with(" -->\n"), "{out}");
        }
        let silent = matches!(arguments[0].as_str(), "index" | "report");
        assert!(!out.trim().is_empty() || silent, "{line} prints nothing\n{err}");
        ran += 1;
        if let Some(shown) = answer {
            check(&shown, &out, &line);
            compared += 1;
        }
    }
    println!("{ran} commands ran, {compared} of them as shown");
    assert!(ran >= 30 && compared >= 8, "{ran} commands, {compared} answers");
}

/// The README begins with `cargo run`, which asks back where several programs are built by default and none is said to be meant.
#[test]
fn cargo_run_means_corr() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let asked = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let known: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let members = known["workspace_default_members"].as_array().unwrap();
    let packages = known["packages"].as_array().unwrap().iter().filter(|package| members.contains(&package["id"]));
    let meant: Vec<&str> = packages.filter_map(|package| package["default_run"].as_str()).collect();
    assert_eq!(meant, ["corr"]);
}

#[test]
fn an_answer_that_differs_is_noticed() {
    check("a\n…\nd\nend …\n", "a\nb\nc\nd\nend of it\n", "x");
    for (shown, answer) in [("a\n", "b\n"), ("a\n", "a\nb\n"), ("a\nb\n", "a\n"), ("a\n…\nc\n", "a\nb\n"), ("a\nc\n", "a\nb\nc\n")] {
        assert!(std::panic::catch_unwind(|| check(shown, answer, "x")).is_err(), "{shown:?} is not {answer:?}");
    }
}

/// A command that goes on until it is ended: it says its address, on a port of its own.
fn serves(arguments: &[String], at: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corr"));
    let mut child = command.args(arguments).args(["--port", "0"]).current_dir(at).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("http://127.0.0.1:"), "{line}");
}
