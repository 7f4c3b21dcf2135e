//! Every command's help has examples that are command lines of it, and every command has a manual page.

use std::process::{Command, Stdio};

use clap::CommandFactory;
use corr::cli::Cli;

use crate::program::{Place, words};

/// Commands of an example: what pipes and redirections lead elsewhere is not corr's.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|l| *l != "Examples:").skip(1).take_while(|l| l.starts_with("  "));
    let command = |line: &str| {
        // A comment stands behind two blanks.
        let line = line.trim().split("  ").next().unwrap_or("").to_string();
        let corr = line.split(" | ").find(|part| part.starts_with("corr "))?.to_string();
        Some(corr.split(" > ").next().unwrap_or("").to_string())
    };
    lines.filter_map(command).collect()
}

#[test]
fn every_command_has_examples_that_are_command_lines() {
    let corr = Cli::command();
    let mut parsed = 0;
    for command in [&corr].into_iter().chain(corr.get_subcommands()) {
        let name = command.get_name();
        let help = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
        let examples = examples(&help);
        assert!(!examples.is_empty(), "the help of {name} has no examples");
        for example in examples {
            // What is cut for the eye is one word.
            let error = Cli::command().try_get_matches_from(words(&example)).err();
            assert!(error.is_none(), "{name}: {example}: {}", error.map(|e| e.to_string()).unwrap_or_default());
            parsed += 1;
        }
    }
    println!("{parsed} examples");
    assert!(parsed > 60, "{parsed}");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let ran = place.corr(&["man", "--out", "man/man1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let groff = Command::new("groff").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if !groff {
        println!("skipped: no groff on the PATH, the pages are not typeset");
    }
    let corr = Cli::command();
    let mut pages = 0;
    for command in [&corr].into_iter().chain(corr.get_subcommands()) {
        let name = command.get_name();
        let (file, args) = if name == "corr" { ("corr.1".to_string(), vec!["man"]) } else { (format!("corr-{name}.1"), vec!["man", name]) };
        let page = std::fs::read_to_string(place.path("man/man1").join(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let printed = place.corr(&args);
        assert_eq!((printed.code, printed.stdout == page), (Some(0), true), "{file}: one page in both ways");
        for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", ".SH EXAMPLES"] {
            assert!(page.contains(part), "{file} has no {part}");
        }
        // Every long option that the help has.
        for long in command.get_arguments().filter(|a| !a.is_hide_set()).filter_map(|a| a.get_long()) {
            assert!(page.contains(&format!("\\-\\-{}", long.replace('-', "\\-"))), "{file} has no --{long}");
        }
        pages += 1;
        if groff {
            let typeset =
                Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(place.path("man/man1").join(&file)).output().unwrap();
            let said = String::from_utf8_lossy(&typeset.stderr);
            assert!(typeset.status.success() && said.is_empty(), "{file}: {said}");
        }
    }
    assert_eq!(std::fs::read_dir(place.path("man/man1")).unwrap().count(), pages, "no page of nothing");
    let wrong = place.corr(&["man", "querry"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean query?"), "{}", wrong.stderr);
}
