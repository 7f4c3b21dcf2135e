//! Thanos' and Cortex' parquet-common: a row a series, samples as chunks of a TSDB in `s_data_0…`. Known, and not read: the chunks are
//! XOR-compressed, and the same blocks can be had as text.

use super::{Candidate, Layout, ReadError, Set};
use crate::model::Capture;

/// Declined with the way out.
pub const PARQUET_COMMON: Layout =
    Layout { name: "parquet-common", about: "Thanos or Cortex blocks as Parquet: known, not read", claim, read: self::read };

fn claim(candidates: &[Candidate]) -> Vec<Set> {
    let chunks = |c: &&Candidate| c.schema().is_some_and(|s| s.field_with_name("s_data_0").is_ok());
    let because = "column s_data_0: a row a series with chunks of a TSDB, as parquet-common writes it";
    candidates.iter().filter(chunks).map(|c| Set { files: vec![c.part()], because: because.into(), ..Set::default() }).collect()
}

fn read(set: &Set) -> Result<Vec<Capture>, ReadError> {
    Err(ReadError::Declined {
        path: set.files.first().map_or_else(String::new, |p| p.path.display().to_string()),
        why: "samples are chunks of a Prometheus TSDB (s_data_0), which corr does not decode".into(),
        next: "give the TSDB block itself, or the text of `promtool tsdb dump` of it".into(),
    })
}
