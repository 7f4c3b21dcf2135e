//! `corr man`: manual pages, made of what `--help` says.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::exit;
use crate::query::suggest;

/// Write manual pages: that of a command, or of corr itself, to standard output; all of them into a folder.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr man query | man -l -                      read one
  corr man --out ~/.local/share/man/man1         then `man corr-query` finds it")]
pub struct Args {
    /// The command; corr itself if left out.
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
    /// Write a file for each command into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}

/// Runs the command. `corr` is the definition of all commands.
pub fn run(args: &Args, corr: Command, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    let version = format!("corr {}", corr.get_version().unwrap_or_default());
    let mut corr = corr.disable_help_subcommand(true);
    corr.build();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let all: Vec<&Command> = [&corr].into_iter().chain(corr.get_subcommands().filter(|c| !c.is_hide_set())).collect();
        for command in &all {
            let path = folder.join(format!("{}.1", command.get_display_name().unwrap_or("corr")));
            std::fs::write(&path, page(command, &version)?).with_context(|| path.display().to_string())?;
        }
        writeln!(err, "{} pages in {}", all.len(), folder.display())?;
        return Ok(exit::FOUND);
    }
    let command = match &args.command {
        None => &corr,
        Some(name) => match corr.find_subcommand(name) {
            Some(command) => command,
            None => {
                let near = suggest::suggest(name, corr.get_subcommands().map(Command::get_name));
                bail!(
                    "no command `{name}`{}",
                    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
                )
            }
        },
    };
    out.write_all(&page(command, &version)?)?;
    Ok(exit::FOUND)
}

/// One page. Nothing in it says when it was written.
fn page(command: &Command, version: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(version).manual("corr");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    if let Some(help) = command.get_after_long_help().or(command.get_after_help()) {
        more(&help.to_string()).to_writer(&mut out)?;
    }
    // What is no ASCII is named: not every roff is told that its input is UTF-8.
    let text = String::from_utf8(out).map_err(io::Error::other)?;
    Ok(text.chars().flat_map(|c| if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", c as u32) }.into_bytes()).collect())
}

/// What stands behind the options in `--help`: paragraphs, each headed by what stands before its first colon; indented lines stay lines.
fn more(help: &str) -> Roff {
    let mut roff = Roff::new();
    let mut as_it_is = false;
    for line in help.lines() {
        let indented = line.starts_with("  ");
        if as_it_is != indented && !line.is_empty() {
            roff.control(if indented { "nf" } else { "fi" }, []);
            as_it_is = indented;
        }
        match line.split_once(':') {
            Some((head, rest)) if !indented && head.len() < 40 && head.starts_with(char::is_uppercase) => {
                roff.control("SH", [head.to_uppercase().as_str()]);
                if !rest.trim().is_empty() {
                    roff.text([roman(rest.trim())]);
                }
            }
            _ if line.is_empty() => drop(roff.control("PP", [])),
            _ => drop(roff.text([roman(line)])),
        }
    }
    if as_it_is {
        roff.control("fi", []);
    }
    roff
}
