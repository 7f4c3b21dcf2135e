//! matches
