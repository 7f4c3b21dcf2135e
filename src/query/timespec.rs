//! timespec
