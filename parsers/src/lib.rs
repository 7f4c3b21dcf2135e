//! From the bytes that LLM serving leaves behind to events.
//!
//! The data's way: a source's bytes are split into records ([`record`]), an envelope is peeled off ([`envelope`]), a payload format
//! parses the rest into an [`event::Event`]. Envelopes and formats compose freely. Adding one is one folder and one line in a table below.
#![forbid(unsafe_code)]
// What is read is untrusted: a panic that input can reach is a crash for a user. Tests may.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

pub mod clock;
pub mod detect;
pub mod dynamo;
pub mod envelope;
pub mod event;
pub mod format;
pub mod gateway;
pub mod ids;
pub mod json;
pub mod keyvalue;
pub mod record;
pub mod records;
mod search;
pub mod secret;
pub mod sglang;
pub mod stamp;
pub mod systemd;
pub mod text;
pub mod trace;

use format::{Envelope, Format};

/// Changes whenever any parser gives other events for the same bytes; a store made by another version is rebuilt.
pub const PARSER_VERSION: u32 = 5;

/// Every envelope, in the order in which they are tried.
pub static ENVELOPES: &[&Envelope] = &[
    &envelope::journald::EXPORT,
    &envelope::journald::JSON,
    &envelope::journald::SHORT_ISO_PRECISE,
    &envelope::journald::SHORT_ISO,
    &envelope::journald::SHORT_FULL,
    &envelope::journald::SHORT_PRECISE,
    &envelope::journald::SHORT,
];

/// Every payload format, in the order in which their heads are tried.
pub static FORMATS: &[&Format] = &[
    &sglang::SGLANG,
    &sglang::SGLANG_JSON,
    &sglang::SGLANG_REQUEST_METRICS,
    &gateway::TEXT,
    &gateway::JSON,
    &dynamo::JSONL,
    &dynamo::TEXT,
    &trace::REQUEST_TRACE,
    &trace::AGENT_TRACE,
    &trace::AUDIT,
    &systemd::SYSTEMD,
    // The general one is the last.
    &records::JSON,
];

/// Every kind of every format.
pub fn kinds() -> impl Iterator<Item = &'static event::Kind> {
    FORMATS.iter().flat_map(|f| f.kinds.iter().copied()).chain(text::kinds::KINDS.iter().copied())
}

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static event::Kind> {
    kinds().find(|k| k.name == name)
}
