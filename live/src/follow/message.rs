//! What the threads and tasks that watch something tell the one that judges.

use corr_parsers::record::Layout;

use super::tail::Seen;
use crate::http::Attempt;
use crate::probe::Endpoint;

/// One thing that was seen.
#[derive(Debug)]
pub enum Message {
    /// Of a file, or of journalctl's output.
    Tail {
        source: u32,
        seen: Seen,
        received: i64,
        old: bool,
    },
    /// How a source is to be read, before its first bytes.
    Past {
        source: u32,
        layout: Option<Layout>,
        shift: i64,
    },
    /// All that was there before has been given.
    CaughtUp {
        source: u32,
    },
    /// Nothing (more) comes from this source.
    Fault {
        source: u32,
        what: Fault,
    },
    /// Something to tell the user.
    Note {
        source: u32,
        says: String,
    },
    Health {
        place: usize,
        attempt: Attempt,
    },
    Scrape {
        place: usize,
        scrape: Box<Scrape>,
    },
}

/// A scrape, read.
#[derive(Debug)]
pub struct Scrape {
    pub endpoint: Endpoint,
    /// Start and end, nanoseconds since the epoch.
    pub from: i64,
    pub until: i64,
    /// `process_start_time_seconds`, UTC nanoseconds.
    pub process_start: Option<i64>,
    /// A counter fell since the scrape before.
    pub reset: bool,
    /// A gauge of KV in use is above zero.
    pub kv_in_use: Option<bool>,
}

/// Why nothing can be known from a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("no permission to read it: {0}")]
    NoPermission(String),
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("{0} is not on this machine; follow the unit's log file instead")]
    NoJournalctl(String),
    #[error("there is no journal on this machine; follow the unit's log file instead")]
    NoJournal,
    #[error("journalctl ended: {0}")]
    Ended(String),
}
