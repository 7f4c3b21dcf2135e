//! Arguments of the commands that ask endpoints: which, and how.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use corr_live::{Accept, Client, Clock, Headers, Request, Target};

use crate::query::timespec;

/// The endpoints and how they are asked.
#[derive(clap::Args, Debug)]
pub struct Endpoints {
    /// Endpoints, as [ROLE[/WORKER]=]URL: `http://node1:30000`, `prefill/p0=node1:30000`. Without a path, /metrics is asked for.
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
    /// Which exposition format to ask for.
    #[arg(long, value_enum, default_value_t = Wanted::Text)]
    pub accept: Wanted,
    /// For one request, from the look-up of the name to the last byte.
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub timeout: String,
    /// MiB of a body at most; a larger one is a failure.
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub max_body: u64,
    /// A header to send, `Name: value`, or @FILE for one a line. Its value is written and shown nowhere.
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub header: Vec<String>,
    /// Authorities to trust for https beside the system's, as PEM.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// Exposition formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// Prometheus text 0.0.4.
    Text,
    /// OpenMetrics 1.0, with exemplars.
    Openmetrics,
}

impl Endpoints {
    /// The targets and who asks them.
    pub fn open(&self) -> anyhow::Result<(Vec<Target>, Client)> {
        let mut targets = Vec::with_capacity(self.urls.len());
        for (i, url) in self.urls.iter().enumerate() {
            // The text may hold a password: its place stands for it.
            targets.push(Target::parse(url).with_context(|| format!("endpoint {}", i + 1))?);
        }
        let mut headers = Headers::default();
        for (i, line) in self.header.iter().enumerate() {
            let place = || format!("--header {}", i + 1);
            match line.strip_prefix('@') {
                Some(path) => {
                    let text = std::fs::read_to_string(path).with_context(|| format!("--header @{path}"))?;
                    for line in text.lines().filter(|l| !l.trim().is_empty()) {
                        headers.add(line).with_context(place)?;
                    }
                }
                None => headers.add(line).with_context(place)?,
            }
        }
        let accept = match self.accept {
            Wanted::Text => Accept::Text,
            Wanted::Openmetrics => Accept::OpenMetrics,
        };
        let request = Request { timeout: duration("--timeout", &self.timeout)?, max_body: self.max_body << 20, accept, headers };
        let client = Client::new(request, self.ca.as_deref(), &targets)?;
        Ok((targets, client))
    }
}

/// A duration that is not zero.
pub fn duration(option: &str, text: &str) -> anyhow::Result<Duration> {
    match timespec::parse_duration(text).and_then(|ns| u64::try_from(ns).ok()) {
        Some(ns) if ns > 0 => Ok(Duration::from_nanos(ns)),
        _ => bail!("{option} {text}: not a duration; write 1s, 250ms or 10m"),
    }
}

/// The clock of what runs for a while: its stamps are taken as it goes.
pub fn clock() -> Clock {
    Clock::new(wall)
}

/// Now, in nanoseconds since the epoch.
pub(super) fn wall() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|d| i64::try_from(d.as_nanos()).ok()).unwrap_or(0)
}
