//! What can be asked.

use std::fmt::Debug;
use std::sync::Arc;

use crate::files::Files;
use crate::rows::Rows;

/// A table by its name.
#[derive(Clone, Debug)]
pub enum Table {
    /// Parquet files of this machine.
    Files(Arc<Files>),
    /// Rows that are made when they are asked for.
    Rows(Arc<dyn Rows>),
    /// A question over other tables.
    View(String),
    /// Parquet files at URLs that each machine of a cluster can read.
    #[cfg(feature = "cluster")]
    Shared(Arc<crate::cluster::Shared>),
}

/// A table that depends on constants: `deltas('start+60s', 'end')`.
pub trait TableFunction: Debug + Send + Sync + 'static {
    /// The table, or why there is none for these arguments.
    fn table(&self, arguments: &[String]) -> Result<Arc<dyn Rows>, String>;
}
