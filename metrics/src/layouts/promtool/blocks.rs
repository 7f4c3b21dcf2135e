//! Blocks of Prometheus' database: folders with `meta.json`, `index` and `chunks/`, beside a `wal/` that holds the last hours.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::super::text::{io_error, whole};
use super::super::{Candidate, Part, ReadError, Set};

/// `meta.json` of a block.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub ulid: String,
    pub min_time: i64,
    pub max_time: i64,
    pub stats: Stats,
    #[serde(rename = "version")]
    pub _version: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stats {
    #[serde(default)]
    pub num_samples: u64,
    #[serde(default)]
    pub num_series: u64,
}

/// A block's `meta.json`; the name of its folder is its ULID, so other text in that place is none.
pub(super) fn meta(text: &[u8]) -> Option<Meta> {
    let meta: Meta = serde_json::from_slice(text).ok()?;
    let ulid = meta.ulid.len() == 26 && meta.ulid.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    (ulid && meta.min_time <= meta.max_time).then_some(meta)
}

/// One set for the blocks of a folder, with the files of its `wal/` and `chunks_head/`.
pub(super) fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let mut databases: BTreeMap<&str, Vec<(&str, Meta)>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|c| c.name() == "meta.json") {
        let block = candidate.folder();
        let beside = |name: &str| candidates.iter().any(|c| below(&c.key, block) == Some(name));
        if let Some(meta) = candidate.text().and_then(meta)
            && beside("index")
            && candidates.iter().any(|c| below(&c.key, block).is_some_and(|k| k.starts_with("chunks/")))
        {
            databases.entry(block.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default().push((block, meta));
        }
    }
    let sets = databases.into_iter().map(|(database, blocks)| {
        let ours = |c: &&Candidate| {
            blocks.iter().any(|(block, _)| {
                below(&c.key, block).is_some_and(|k| matches!(k, "meta.json" | "index" | "tombstones") || k.starts_with("chunks/"))
            }) || below(&c.key, database).is_some_and(|k| k.starts_with("wal/") || k.starts_with("chunks_head/"))
        };
        let mut files: Vec<Part> = candidates.iter().filter(ours).map(Candidate::part).collect();
        files.sort_by(|a, b| a.key.cmp(&b.key));
        let (series, samples) = blocks.iter().fold((0, 0), |(a, b), (_, m)| (a + m.stats.num_series, b + m.stats.num_samples));
        let because = format!("{} of Prometheus' database: {series} series, {samples} samples by meta.json", plural(blocks.len()));
        Set { files, beside: Vec::new(), because, ties: Vec::new() }
    });
    sets.collect()
}

fn plural(n: usize) -> String {
    if n == 1 { "1 block".into() } else { format!("{n} blocks") }
}

/// The rest of a key below a folder.
fn below<'k>(key: &'k str, folder: &str) -> Option<&'k str> {
    if folder.is_empty() { Some(key) } else { key.strip_prefix(folder)?.strip_prefix('/') }
}

/// What a set of blocks should hold, by their `meta.json`.
pub(super) fn promised(set: &Set) -> Vec<Meta> {
    let metas = set.files.iter().filter(|p| p.path.file_name().is_some_and(|n| n == "meta.json"));
    metas.filter_map(|p| whole(&p.path, 1 << 20).ok()).filter_map(|(bytes, _)| meta(&bytes)).collect()
}

/// Builds a database folder that promtool accepts out of a set's files, in `into`, and leaves the originals alone: blocks are never written
/// to and are linked; `wal/` (2.42 wants one, if empty) and `chunks_head/`, which a reader may repair, are copied.
pub(super) fn assemble(set: &Set, into: &Path) -> Result<(), ReadError> {
    let wal = into.join("wal");
    fs::create_dir_all(&wal).map_err(|e| io_error(&wal, e))?;
    for part in set.files.iter().filter(|p| p.path.file_name().is_some_and(|n| n == "meta.json")) {
        let Some(block) = part.path.parent() else { continue };
        let Some(meta) = meta(&whole(&part.path, 1 << 20)?.0) else {
            return Err(ReadError::Damaged { path: part.path.display().to_string(), why: "no meta.json of a block".into() });
        };
        // Prometheus passes over folders whose name is no ULID, and over links to folders.
        let folder = into.join(&meta.ulid);
        let chunks = folder.join("chunks");
        fs::create_dir_all(&chunks).map_err(|e| io_error(&chunks, e))?;
        for file in set.files.iter().filter(|p| p.path.starts_with(block)) {
            if let Ok(rest) = file.path.strip_prefix(block) {
                link(&file.path, &folder.join(rest)).map_err(|e| io_error(&file.path, e))?;
            }
        }
    }
    for part in &set.files {
        let parent = part.path.parent();
        let folder = parent.and_then(Path::file_name).and_then(|n| n.to_str());
        if let (Some(folder @ ("wal" | "chunks_head")), Some(name)) = (folder, part.path.file_name()) {
            let to = into.join(folder);
            fs::create_dir_all(&to).map_err(|e| io_error(&to, e))?;
            fs::copy(&part.path, to.join(name)).map_err(|e| io_error(&part.path, e))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::canonicalize(from)?, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}
