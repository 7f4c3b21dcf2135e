//! Captures that are not read from their files but brought from elsewhere, as far as a question reads them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use corr_metrics::blocks::Missing;
use corr_metrics::kept::apart;
use corr_metrics::layouts::{Part, Set};
use serde::{Deserialize, Serialize};

use super::around::{Around, Told};
use super::asked::{Asked, Captured};
use crate::run::Run;
use crate::run::captures::Source;

/// What is said of a capture beside what it says itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    name: String,
    /// Its files, by their place below the run; and those that were not read, with the reason.
    files: Vec<String>,
    beside: Vec<(String, String)>,
    because: String,
    told: Told,
}

impl About {
    /// What is to be kept of a capture of a run.
    pub fn of(run: &Run, captured: &Captured<'_>) -> About {
        let set = &captured.source.set;
        About {
            name: captured.name.clone(),
            files: set.files.iter().map(|part| part.key.clone()).collect(),
            beside: set.beside.iter().map(|(part, why)| (part.key.clone(), why.clone())).collect(),
            because: set.because.clone(),
            told: Around::of(run, captured).told(captured.capture()),
        }
    }

    fn set(&self) -> Set {
        let part = |key: &String| Part { path: PathBuf::from(key), key: key.clone() };
        Set {
            files: self.files.iter().map(part).collect(),
            beside: self.beside.iter().map(|(key, why)| (part(key), why.clone())).collect(),
            because: self.because.clone(),
            ties: Vec::new(),
        }
    }
}

/// A capture, and the blocks of its samples that were brought.
#[derive(Debug)]
pub struct Brought {
    pub about: About,
    /// As [`apart::tables`] has them.
    pub tables: Vec<u8>,
    /// By their offset.
    pub blocks: BTreeMap<u64, Arc<[u8]>>,
}

/// The captures as far as they were brought, and what is missed of each of them while they are asked. An answer holds if nothing was missed.
///
/// # Errors
/// A capture is not, byte for byte, what this version of corr wrote.
pub fn asked(brought: &[Brought]) -> Result<(Asked<'static>, Vec<Missing>), String> {
    let (mut read, mut all) = (Vec::new(), Vec::new());
    for Brought { about, tables, blocks } in brought {
        let missing = Missing::default();
        let capture = apart::open(tables, blocks, &missing)
            .map_err(|why| format!("{}: {why}; write the shards anew by `corr index --shards`", about.name))?;
        let source = Source { set: Cow::Owned(about.set()), layout: capture.layout, capture };
        read.push((about.name.clone(), about.told.clone(), source));
        all.push(missing);
    }
    Ok((Asked::of(read), all))
}
