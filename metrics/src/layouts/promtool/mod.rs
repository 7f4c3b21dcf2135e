//! Prometheus' database: as `promtool tsdb dump` prints it, or as blocks, which corr lets promtool print.
//! <https://prometheus.io/docs/prometheus/latest/command-line/promtool/>

mod blocks;
mod dump;
mod run;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use super::scrapes::Scrapes;
use super::text::{Lines, lines, milliseconds};
use super::{Candidate, Layout, ReadError, Set};
use crate::build::Builder;
use crate::model::{Capture, Clock, StampOf};

pub(super) const DUMP: Layout = Layout { name: "promtool-dump", about: "text of promtool tsdb dump", claim: claim_dumps, read: read_dump };
pub(super) const BLOCKS: Layout =
    Layout { name: "tsdb", about: "blocks of Prometheus' database, through promtool", claim: blocks::claim, read: read_blocks };

/// So long promtool may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

fn claim_dumps(candidates: &[Candidate]) -> Vec<Set> {
    let ours = candidates.iter().filter(|c| c.text().is_some_and(dump::dumped));
    ours.map(|c| Set {
        files: vec![c.part()],
        beside: Vec::new(),
        because: "lines of {__name__=…} value milliseconds: promtool tsdb dump".into(),
        ties: Vec::new(),
    })
    .collect()
}

fn read_dump(set: &Set) -> Result<Vec<Capture>, ReadError> {
    let mut builder = Builder::new(DUMP.name, Clock::Wall, StampOf::Request);
    let mut scrapes = Scrapes::default();
    for part in &set.files {
        builder.file(&part.path);
        dump::dump(lines(&part.path)?, &part.path.display().to_string(), &mut builder, &mut scrapes);
    }
    scrapes.give(&mut builder);
    Ok(vec![builder.finish()])
}

fn read_blocks(set: &Set) -> Result<Vec<Capture>, ReadError> {
    through(set, run::find(std::env::var_os("PATH").as_deref()).as_deref(), PATIENCE)
}

/// Reads blocks through a promtool, if there is one.
fn through(set: &Set, promtool: Option<&Path>, patience: Duration) -> Result<Vec<Capture>, ReadError> {
    let path = set.files.first().map(|p| p.path.display().to_string()).unwrap_or_default();
    let Some(promtool) = promtool else {
        let why = "blocks of Prometheus' database are read through promtool, which is not on the PATH".to_string();
        let next = "put promtool on the PATH, or dump the database elsewhere (promtool tsdb dump FOLDER > dump.txt; 2.42 wants a folder \
                    wal beside the blocks) and give corr the text";
        return Err(ReadError::Declined { path, why, next: next.into() });
    };
    let folder = tempfile::Builder::new().prefix("corr-tsdb-").tempdir().map_err(|e| super::text::io_error(&std::env::temp_dir(), e))?;
    blocks::assemble(set, folder.path())?;
    let mut builder = Builder::new(BLOCKS.name, Clock::Wall, StampOf::Request);
    set.files.iter().for_each(|p| builder.file(&p.path));
    let mut running = run::start(promtool, folder.path(), patience).map_err(|e| super::text::io_error(promtool, e))?;
    let mut scrapes = Scrapes::default();
    let samples = dump::dump(Lines::new(&mut running), "promtool tsdb dump", &mut builder, &mut scrapes);
    match running.end() {
        Some(why) if samples == 0 => return Err(ReadError::Damaged { path, why }),
        Some(why) => builder.note("promtool_failed", || format!("{why}; {samples} samples before that are kept"), || Some(path.clone())),
        None => {}
    }
    promised(set, samples, &path, &mut builder);
    scrapes.give(&mut builder);
    Ok(vec![builder.finish()])
}

/// Says it where fewer samples came than the blocks' own account has. More come from `wal/`.
fn promised(set: &Set, samples: u64, path: &str, builder: &mut Builder) {
    let metas = blocks::promised(set);
    let total: u64 = metas.iter().map(|m| m.stats.num_samples).sum();
    if samples < total {
        let from = metas.iter().map(|m| m.min_time).min().and_then(milliseconds);
        let to = metas.iter().map(|m| m.max_time).max().and_then(milliseconds);
        let what = || format!("promtool gave {samples} samples of the {total} that meta.json counts (times {from:?} to {to:?} ns)");
        builder.note("fewer_samples", what, || Some(path.to_string()));
    }
}
