//! Why a page cannot be given, and what the reader can do about it.

use axum::http::StatusCode;

use super::limits::Busy;
use crate::query::grammar::QueryError;

/// Why there is no page.
#[derive(Debug)]
pub enum Refused {
    /// The query is not understood.
    Query(QueryError),
    /// Another value is not.
    Value(String),
    /// There is no such window, record or page.
    Nothing(String),
    Busy(Busy),
    /// The run cannot be read.
    Run(String),
}

impl Refused {
    /// A value that was given does not do.
    pub fn value(error: impl Into<anyhow::Error>) -> Refused {
        Refused::Value(format!("{:#}", error.into()))
    }

    /// The status that HTTP has for it.
    pub fn status(&self) -> StatusCode {
        match self {
            Refused::Query(_) | Refused::Value(_) => StatusCode::BAD_REQUEST,
            Refused::Nothing(_) => StatusCode::NOT_FOUND,
            Refused::Busy(Busy::Broke) | Refused::Run(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Refused::Busy(Busy::Full | Busy::Late(_)) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The reason on one line.
    pub fn words(&self) -> String {
        match self {
            Refused::Query(error) => error.to_string(),
            Refused::Value(why) | Refused::Nothing(why) | Refused::Run(why) => why.clone(),
            Refused::Busy(why) => why.to_string(),
        }
    }
}
