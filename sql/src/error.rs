//! Why a question has no answer.

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The text is no SQL, or names what there is not.
    #[error("{0}")]
    Question(String),
    /// Asks for more than reading.
    #[error("{0}; only SELECT, and EXPLAIN of it, over the run's own tables")]
    Refused(String),
    /// Needs more memory than it may have.
    #[error("{0}")]
    Memory(String),
    /// Failed while it was answered.
    #[error("{0}")]
    Answer(String),
    /// A file could not be read.
    #[error("{0}")]
    Read(String),
    /// A panic of the engine, or of a library below it, which damaged files can cause.
    #[error("the engine could not go on: what it read is {0}")]
    Broken(String),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// Of the cluster.
    #[error("{0}")]
    Cluster(String),
}

impl SqlError {
    /// What a failure while planning or answering means for whoever asked.
    pub(crate) fn of(error: &DataFusionError) -> SqlError {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(why) => {
                let why = first_line(why);
                SqlError::Memory(format!("not enough memory for this question ({why}); --memory gives it more"))
            }
            DataFusionError::SQL(why, _) => SqlError::Question(format!("not SQL: {why}")),
            DataFusionError::Plan(why) | DataFusionError::NotImplemented(why) => SqlError::Question(why.clone()),
            DataFusionError::SchemaError(why, _) => SqlError::Question(why.to_string()),
            DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => {
                SqlError::Read(error.find_root().strip_backtrace())
            }
            DataFusionError::ArrowError(why, _)
                if matches!(**why, ArrowError::ParquetError(_) | ArrowError::IoError(..) | ArrowError::ExternalError(_)) =>
            {
                SqlError::Read(why.to_string())
            }
            DataFusionError::Internal(why) => SqlError::Broken(format!("not as it was written ({})", first_line(why))),
            DataFusionError::External(why) => match why.downcast_ref() {
                Some(SqlError::Read(why)) => SqlError::Read(why.clone()),
                _ => SqlError::Answer(why.to_string()),
            },
            other => SqlError::Answer(other.strip_backtrace()),
        }
    }
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> SqlError {
        SqlError::of(&error)
    }
}

/// Errors of the engine can go on with a table of consumers or a backtrace.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
