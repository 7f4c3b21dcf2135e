//! Containers around other programs' lines. One file or folder an envelope.

pub mod journald;
