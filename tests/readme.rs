//! The README's commands are run as they are written: every `corr …` line of a shell block, on a copy of the repository's fixtures.

mod program;

use std::path::Path;
use std::process::Command;

use program::{copy_tree, words};

#[test]
fn every_command_of_the_readme_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let temp = tempfile::tempdir().unwrap();
    copy_tree(&root.join("fixtures"), &temp.path().join("fixtures"));
    std::fs::create_dir(temp.path().join("target")).unwrap();
    let mut shell = false;
    let mut ran = 0;
    for line in readme.lines() {
        match line {
            "```sh" => shell = true,
            "```" => shell = false,
            _ => {}
        }
        let command = line.replace("cargo run --release -- ", "corr ");
        let Some(arguments) = command.strip_prefix("corr ").filter(|_| shell) else { continue };
        let output = Command::new(env!("CARGO_BIN_EXE_corr")).args(words(arguments)).current_dir(temp.path()).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if arguments.starts_with("sql ") && !cfg!(feature = "sql") {
            assert_eq!(output.status.code(), Some(2), "{line}\n{out}\n{err}");
            assert!(err.contains("--features sql"), "{line}\n{err}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{line}\n{out}\n{err}");
        assert!(!out.trim().is_empty() || line.contains(" index ") || line.contains("corr note "), "{line} prints nothing\n{err}");
        ran += 1;
    }
    let note = std::fs::read_to_string(temp.path().join("incident.md")).unwrap();
    assert!(note.starts_with("<!-- corr:begin ") && note.ends_with(" -->\n"), "{note}");
    assert!(ran >= 12, "only {ran} commands were found");
    // The answers that the README shows are the answers that are given.
    for (before, command) in [
        ("spells the id:", "query fixtures/direct-run chatcmpl-edf9ed01-3219-4585-a510-233214f462c1"),
        (
            "The second command answers:",
            "metrics fixtures/metrics-run 'sglang:prompt_tokens_total{is_streaming=\"true\"}' --since 2026-11-29T18:30:42.5Z --until 2026-11-29T18:31:00Z",
        ),
        ("The timeline of the crash:", "timeline fixtures/sglang-run --around fixtures/sglang-run/logs/crash.log:7 --span 2s"),
        (
            "every citation as a footnote):",
            "note incident.md fixtures/sglang-run --around fixtures/sglang-run/logs/crash.log:7 --span 2s --stdout",
        ),
    ] {
        let command_shown = command.trim_end_matches(" --stdout");
        assert!(readme.contains(command_shown), "the README has no `{command}`");
        let shown = Command::new(env!("CARGO_BIN_EXE_corr")).args(words(command)).current_dir(temp.path()).output().unwrap();
        let answer = String::from_utf8(shown.stdout).unwrap();
        let block = readme.split(&format!("{before}\n\n```\n")).nth(1).unwrap().split("```").next().unwrap();
        for line in block.lines().filter(|l| *l != "…") {
            let start = line.trim_end_matches('…');
            assert!(answer.lines().any(|l| l.starts_with(start.trim_end())), "the README shows\n{line}\nwhich is not in\n{answer}");
        }
    }
}
