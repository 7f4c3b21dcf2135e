//! The `corr` program: arguments in, exit code out.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use corr::cli::{self, Cli, exit};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no failure.
            let code = if error.use_stderr() { exit::ERROR } else { exit::FOUND };
            let _ = error.print();
            return ExitCode::from(code as u8);
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut err = io::stderr();
    let result = cli::run(cli, &mut out, &mut err, now).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    match result {
        Ok(code) => ExitCode::from(code as u8),
        // The reader of a pipe has seen enough: that is its right.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(err, "corr: {error:#}");
            ExitCode::from(exit::ERROR as u8)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
        cause.downcast_ref::<io::Error>().is_some_and(broken)
            || cause.downcast_ref::<serde_json::Error>().is_some_and(|e| e.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}
