//! Runs the built program in a directory of its own: nothing of the user's environment, cache or run reaches it or is left behind by it.
#![allow(dead_code, unused_imports)] // each test binary uses a part

mod cases;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub use cases::cases;

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A fresh directory, which the program has as working directory, home and cache.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().expect("a temporary directory") }
    }

    /// A place with a copy of a fixture in it, under the fixture's own name.
    pub fn with(fixture: &str) -> Place {
        let place = Place::new();
        copy_tree(&fixtures().join(fixture), &place.path(fixture));
        place
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, below: &str, bytes: &[u8]) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("below the place")).expect("create directories");
        fs::write(path, bytes).expect("write a file");
    }

    pub fn append(&self, below: &str, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().append(true).open(self.path(below)).expect("open to append");
        file.write_all(bytes).expect("append");
    }

    pub fn command(&self, args: &[impl AsRef<std::ffi::OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corr"));
        command.args(args).current_dir(self.dir.path()).env_clear().env("HOME", self.path("home"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn corr(&self, args: &[impl AsRef<std::ffi::OsStr>]) -> Ran {
        finish(self.command(args).spawn().expect("start corr"), b"")
    }

    pub fn corr_with(&self, args: &[impl AsRef<std::ffi::OsStr>], stdin: &[u8]) -> Ran {
        finish(self.command(args).stdin(Stdio::piped()).spawn().expect("start corr"), stdin)
    }
}

/// Gives a started program its input and waits for its end.
pub fn finish(mut child: Child, stdin: &[u8]) -> Ran {
    if let Some(mut pipe) = child.stdin.take() {
        // The program may end without reading all of it: that is for the test to judge by what it says.
        let _ = pipe.write_all(stdin);
    }
    let output = child.wait_with_output().expect("wait for corr");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("create a directory");
    for entry in fs::read_dir(from).expect("read a directory") {
        let entry = entry.expect("read an entry");
        if entry.file_name() == ".corr" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type().expect("type of an entry").is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("copy a file");
            // Captures may be read-only; a copy is for changing.
            let mut permissions = fs::metadata(&target).expect("permissions").permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
            fs::set_permissions(&target, permissions).expect("set permissions");
        }
    }
}

/// Splits a command line as a shell does, for blanks and quotes.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = None;
    for c in line.chars() {
        match c {
            '\'' | '"' if quoted.is_none() => quoted = Some(c),
            c if quoted == Some(c) => quoted = None,
            ' ' if quoted.is_none() => words.push(String::new()),
            c => words.last_mut().expect("a word").push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// Replaces what differs from run to run in JSON answers: how long it took.
pub fn steady(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\"elapsed_ms\":") {
        let (before, after) = rest.split_at(at + "\"elapsed_ms\":".len());
        out.push_str(before);
        let after = after.trim_start();
        out.push_str(" 0");
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out.push_str(rest);
    out
}
