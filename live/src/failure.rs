//! Why a scrape gave no metrics.

/// What a request waited for when its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Resolve,
    Connect,
    Tls,
    Answer,
    Body,
}

/// Why a scrape gave no metrics. [`Failure::kind`] is stable; the text is for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("name not found: {0}")]
    Dns(String),
    #[error("connection refused: nothing listens there")]
    Refused,
    #[error("not reachable: {0}")]
    Unreachable(String),
    #[error("timed out after {after_ms} ms {}", stage.words())]
    TimedOut { stage: Stage, after_ms: u64 },
    #[error("TLS: {0}")]
    Tls(String),
    #[error("HTTP {0}")]
    Status(u16),
    #[error("body larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("connection closed after {got} bytes of the body{}", of.map_or_else(String::new, |n| format!(", {n} were announced")))]
    Cut { got: u64, of: Option<u64> },
    #[error("connection closed before an answer")]
    NoAnswer,
    #[error("body is `{0}`, which was not asked for")]
    Encoded(String),
    #[error("not metrics: {0}")]
    NotMetrics(String),
    #[error("not UTF-8 from byte {at}")]
    NotUtf8 { at: u64 },
    #[error("no HTTP answer: {0}")]
    Protocol(String),
    #[error("corr was ended while it waited")]
    Stopped,
}

impl Failure {
    /// Stable name, `snake_case`.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Dns(_) => "dns",
            Failure::Refused => "refused",
            Failure::Unreachable(_) => "unreachable",
            Failure::TimedOut { .. } => "timed_out",
            Failure::Tls(_) => "tls",
            Failure::Status(_) => "http_status",
            Failure::TooLarge { .. } => "too_large",
            Failure::Cut { .. } => "cut",
            Failure::NoAnswer => "no_answer",
            Failure::Encoded(_) => "encoded",
            Failure::NotMetrics(_) => "not_metrics",
            Failure::NotUtf8 { .. } => "not_utf8",
            Failure::Protocol(_) => "protocol",
            Failure::Stopped => "stopped",
        }
    }

    /// An answer was read whole, and it holds no metrics: the endpoint is there.
    pub fn answered(&self) -> bool {
        matches!(self, Failure::Status(_) | Failure::Encoded(_) | Failure::NotMetrics(_) | Failure::NotUtf8 { .. })
    }
}

impl Stage {
    fn words(self) -> &'static str {
        match self {
            Stage::Resolve => "resolving the name",
            Stage::Connect => "connecting",
            Stage::Tls => "in the TLS handshake",
            Stage::Answer => "waiting for the answer",
            Stage::Body => "within the body",
        }
    }
}
