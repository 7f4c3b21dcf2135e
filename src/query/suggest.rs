//! suggest
