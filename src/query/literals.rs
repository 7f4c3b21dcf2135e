//! literals
