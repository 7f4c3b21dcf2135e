//! The captures of a run and the fields of its log records that are asked for, read once for all that is asked of them.

use std::path::Path;

use corr_metrics::select::Selector;

use super::anchors;
use super::asked::Asked;
use super::logged;
use crate::query::sources::Sources;
use crate::run::{Options, Run};

/// What was read.
pub struct Read<'r> {
    /// Each capture on a clock that is known as far as it can be; logs whose fields are asked for stand behind the captures.
    pub asked: Asked<'r>,
    /// What shows why a field of log records was not found.
    pub said: Vec<String>,
}

/// Reads them. With `all` also the captures that no selector means, for who asks them something else too. `sources` are asked where a selector means a field
/// of log records.
///
/// # Errors
/// Where clocks of captures are looked for in events, those of opening them; those of `sources`.
pub fn read<'r, 's>(
    run: &'r Run,
    options: &Options,
    store: Option<&Path>,
    selectors: &[Selector],
    all: bool,
    sources: impl FnOnce() -> anyhow::Result<&'s Sources>,
) -> anyhow::Result<Read<'r>> {
    let mut asked = if all { Asked::read(run, store) } else { Asked::by(run, store, selectors) };
    anchors::settle(run, options, store, &mut asked)?;
    let mut said = Vec::new();
    if logged::asked(selectors) {
        let mut logged = logged::read(selectors, sources()?);
        said.append(&mut logged.said);
        asked.add_logged(run, logged);
    }
    Ok(Read { asked, said })
}
