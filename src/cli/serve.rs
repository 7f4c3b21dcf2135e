//! `corr serve`: a run as pages on loopback.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::Context as _;

use super::endpoints::wall;
use super::flags::Reading;
use super::{exit, index};
use crate::serve::limits::Limits;
use crate::serve::state::Served;
use crate::serve::{self, Server};

/// Show a run in a browser: report, search, a brush over time, and every number down to its line.
///
/// The pages are served on this machine alone, change nothing, and fetch nothing from elsewhere. All that a page shows is said by its address, which can be
/// kept or sent. Anybody who may use this machine can ask: on a shared one, mind what the run says. ctrl-c ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr serve runs/r42                       then open the address that it prints
  corr serve runs/r42 --port 0              any free port
  corr index runs/r42 && corr serve runs/r42
                                            a large run is asked by its index, not scanned for each page
  ssh -L 8088:127.0.0.1:8088 node1 corr serve runs/r42
                                            a run on another machine; the port is the same on both

Exit codes: 0 ended by ctrl-c, 2 wrong usage, nothing readable, or the port is taken.")]
pub struct Args {
    /// Run directory, files, or globs in quotes.
    #[arg(required = true, value_name = "RUN")]
    pub run: Vec<String>,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 8088)]
    pub port: u16,
    /// Address to listen on. Any but a loopback address lets others read the run: there is no password.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub bind: IpAddr,
    /// Search and show prompts, responses, header values and credentials, which are withheld otherwise.
    #[arg(long)]
    pub bodies: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    if args.run.iter().any(|r| r == "-") {
        anyhow::bail!("standard input cannot be read again; write it to a file and serve that");
    }
    let served = Served {
        arguments: args.run.clone(),
        options: args.reading.options(),
        store: args.reading.store.clone(),
        bodies: args.bodies,
        wall,
    };
    let server = Server::new(served, Limits::default());
    let view = server.view()?;
    if view.sources.sources.is_empty()
        && let Some(code) = index::nothing_to_read(&view.run, err)?
    {
        return Ok(code);
    }
    index::failures(&view.sources.not_read, &[], err)?;
    drop(view);
    let at = SocketAddr::new(args.bind, args.port);
    corr_live::block_on(server.run(at, |local| say(local, args, out, err)))??;
    Ok(exit::FOUND)
}

/// Says where it listens.
fn say(local: SocketAddr, args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
    if !local.ip().is_loopback() {
        writeln!(err, "corr: everybody who reaches {} can read this run: there is no password", local.ip())?;
    }
    if args.bodies {
        writeln!(err, "corr: --bodies: prompts, responses and credentials are shown")?;
    }
    writeln!(out, "{}", serve::url(local))?;
    out.flush().context("cannot write")
}
