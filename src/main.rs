//! The `corr` program: arguments in, exit code out.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use corr::cli::pager::Pager;
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
    let result = match cli.pager() {
        Some(pager) => paged(cli, pager, now),
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            answer(cli, &mut out, &mut io::stderr(), now)
        }
    };
    match result {
        Ok(code) => ExitCode::from(code as u8),
        // The reader of a pipe has seen enough: that is its right.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "corr: {error:#}");
            ExitCode::from(exit::ERROR as u8)
        }
    }
}

fn answer(cli: Cli, out: &mut dyn Write, err: &mut dyn Write, now: i64) -> anyhow::Result<i32> {
    let code = cli::run(cli, out, err, now)?;
    out.flush()?;
    Ok(code)
}

/// Notes wait until the pager has given the terminal back.
fn paged(cli: Cli, pager: Pager, now: i64) -> anyhow::Result<i32> {
    let (mut out, mut notes): (_, Vec<u8>) = (BufWriter::new(pager), Vec::new());
    let result = answer(cli, &mut out, &mut notes, now);
    // What the reader did not want to see is not written any more.
    let ended = out.into_parts().0.finish();
    let _ = io::stderr().write_all(&notes);
    ended?;
    result
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
        cause.downcast_ref::<io::Error>().is_some_and(broken)
            || cause.downcast_ref::<serde_json::Error>().is_some_and(|e| e.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}
