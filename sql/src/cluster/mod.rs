//! The same questions on a cluster of Apache Ballista: tables are Parquet files that each machine reads at the same URL, plans are made here and run
//! there. Nothing of scheduling, shuffling or retries is done here.

mod nodes;
mod stores;

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use ballista::prelude::SessionContextExt;
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;

pub use nodes::{Executor, Scheduler};
pub use stores::Folder;

use crate::engine::{Engine, config, quiet_runtime, runtime};
use crate::error::SqlError;

/// The port that a scheduler has where none is named.
pub const PORT: u16 = 50_050;
/// A scheduler that does not answer for so long is not there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Parquet files at URLs that each machine can read.
#[derive(Debug)]
pub struct Shared {
    pub urls: Vec<String>,
    /// The columns that files can have.
    pub columns: SchemaRef,
}

impl Shared {
    pub(crate) fn table(&self) -> Result<Arc<dyn TableProvider>, SqlError> {
        let urls = self.urls.iter().map(ListingTableUrl::parse).collect::<Result<Vec<_>, _>>()?;
        let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
        let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(self.columns.clone());
        Ok(Arc::new(ListingTable::try_new(config)?))
    }
}

/// An engine whose plans are run by the cluster of a scheduler at `df://host:port`. After `patience` without a sign of an answer a question fails.
pub fn connect(url: &str, threads: usize, patience: Duration) -> Result<Engine, SqlError> {
    let address = address(url)?;
    answers(&address)?;
    let runtime = quiet_runtime(threads)?;
    let context = runtime.block_on(async {
        let state = SessionStateBuilder::new()
            .with_config(config(threads))
            .with_runtime_env(stores::environment()?)
            .with_default_features()
            .build();
        SessionContext::remote_with_state(&format!("df://{address}"), state).await.map_err(SqlError::from)
    })?;
    Ok(Engine::over(runtime, context, patience))
}

/// `df://host:port` or `df://host` as `host:port`.
fn address(url: &str) -> Result<String, SqlError> {
    let wrong = || SqlError::Cluster(format!("--cluster {url}: write df://HOST:{PORT}"));
    let address = url.strip_prefix("df://").ok_or_else(wrong)?.trim_end_matches('/');
    if address.is_empty() || address.contains(['/', '@', '?', '#']) {
        return Err(wrong());
    }
    let has_port = address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    Ok(if has_port { address.to_string() } else { format!("{address}:{PORT}") })
}

/// Does anybody listen there? A question is not sent to nobody: the transport would say so in its own words.
fn answers(address: &str) -> Result<(), SqlError> {
    let failed = |why: String| SqlError::Cluster(format!("no scheduler answers at {address} ({why}); `corr cluster up` starts one here"));
    let mut last = "no such host".to_string();
    for at in address.to_socket_addrs().map_err(|e| failed(e.to_string()))? {
        match TcpStream::connect_timeout(&at, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(why) => last = why.to_string(),
        }
    }
    Err(failed(last))
}

/// Calls `then` at Ctrl-C, or when the process is asked to end, from a thread of its own.
pub fn on_interrupt(then: impl FnOnce() + Send + 'static) -> Result<(), SqlError> {
    let runtime = runtime(1)?;
    // Before anything is started that is to be ended: from here on no signal is missed.
    #[cfg(unix)]
    let (mut interrupt, mut terminate) = {
        use tokio::signal::unix::{SignalKind, signal};

        let _within = runtime.enter();
        let failed = |why: std::io::Error| SqlError::Cluster(why.to_string());
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?)
    };
    let wait = move || {
        runtime.block_on(async {
            #[cfg(unix)]
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            #[cfg(not(unix))]
            let _ = tokio::signal::ctrl_c().await;
        });
        then();
    };
    std::thread::Builder::new().spawn(wait).map(|_| ()).map_err(|e| SqlError::Cluster(e.to_string()))
}

/// Words of a transport that a user cannot do anything with.
const TRANSPORT: &[&str] = &[
    "h2 protocol",
    "transport error",
    "broken pipe",
    "Connection refused",
    "Connection reset",
    "tcp connect error",
    "BrokenPipe",
    "GrpcConnectionError",
    "status: Unavailable",
];

/// The function that a node does not know, by what its decoder of plans says.
fn lacking(text: &str) -> Option<&str> {
    let behind = |words: &str| text.split_once(words).map(|(_, rest)| rest.trim_start_matches(['"', '\\', ' ']));
    let name = behind("is not provided for scalar function").or_else(|| behind("There is no UDF named"))?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// An error of a cluster as it is told.
pub(crate) fn told(error: SqlError) -> SqlError {
    let SqlError::Answer(text) = &error else { return error };
    let lacks = match lacking(text) {
        Some(name) => Some(format!("a node of the cluster has no function {name}")),
        // What an executor has no function for it refuses without saying why.
        None => text.contains("rejected by executor").then(|| "an executor does not take what it is asked".into()),
    };
    if let Some(lacks) = lacks {
        return SqlError::Cluster(format!(
            "{lacks}: it is not corr's own, or of another version; start scheduler and executors by `corr cluster` of this version"
        ));
    }
    if text.contains("all executors were lost") || text.contains("no executor re-registered") {
        return SqlError::Cluster(
            "every executor of the cluster is gone, so there is no answer; start executors again and ask again".into(),
        );
    }
    if TRANSPORT.iter().any(|word| text.contains(word)) {
        return SqlError::Cluster(
            "the cluster's scheduler went away while it was asked, so there is no answer: it keeps what it runs in memory; start it again and ask again".into(),
        );
    }
    if text.contains("not found") && (text.contains("Object at location") || text.contains("Object Store error")) {
        return SqlError::Cluster(format!(
            "an executor does not see the shards: they must lie where every machine reads them under the same path or URL ({})",
            text.lines().next().unwrap_or_default()
        ));
    }
    error
}
