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

#[cfg(test)]
mod cases;
pub mod client;
pub mod clock;
pub mod declared;
pub mod detect;
pub mod dynamo;
pub mod envelope;
pub mod event;
pub mod eventplane;
pub mod format;
pub mod gateway;
pub mod ids;
pub mod json;
pub mod keyvalue;
pub mod otlp;
pub mod record;
pub mod records;
mod search;
pub mod secret;
pub mod sglang;
pub mod srtctl;
pub mod stamp;
pub mod systemd;
pub mod text;
pub mod trace;

use format::{Envelope, Format};

/// Changes whenever any parser gives other events for the same bytes; a store made by another version is rebuilt.
pub const PARSER_VERSION: u32 = 14;

/// Every envelope, in the order in which they are tried.
pub static ENVELOPES: &[&Envelope] = &[
    // Before journald's short modes, which look the same but for what `marks` says.
    &envelope::syslog::TRADITIONAL,
    &envelope::syslog::FILE_FORMAT,
    &envelope::journald::EXPORT,
    &envelope::journald::JSON,
    &envelope::journald::JSON_PRETTY,
    &envelope::journald::VERBOSE,
    &envelope::journald::SHORT_ISO_PRECISE,
    &envelope::journald::SHORT_ISO,
    &envelope::journald::WITH_UNIT,
    &envelope::journald::SHORT_FULL,
    &envelope::journald::SHORT_PRECISE,
    &envelope::journald::SHORT,
    &envelope::journald::SHORT_UNIX,
    &envelope::journald::SHORT_MONOTONIC,
    &envelope::journald::SHORT_DELTA,
    &envelope::docker::JSON_FILE,
    &envelope::cri::CRI,
    &envelope::kubectl::PREFIX,
    &envelope::docker::TIMESTAMPS,
    &envelope::loki::JSON_LINES,
    &envelope::loki::EXPLORE_JSON,
    &envelope::loki::EXPLORE_TEXT,
    &envelope::syslog::RFC5424,
    &envelope::syslog::RFC3164,
    &envelope::ray::RAY,
    &envelope::torchrun::TORCHRUN,
    &envelope::compose::COMPOSE,
    &envelope::srun::SRUN,
    // The weakest is the last.
    &envelope::compose::NO_PREFIX,
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
    &client::AIPERF,
    &client::BENCH,
    &client::MOONCAKE,
    &srtctl::SRTCTL,
    &otlp::TRACES,
    &eventplane::EVENTS,
    &systemd::SYSTEMD,
    // The general one is the last.
    &records::JSON,
];

/// Every kind of every built-in format.
pub fn built_in_kinds() -> impl Iterator<Item = &'static event::Kind> {
    FORMATS.iter().flat_map(|f| f.kinds.iter().copied()).chain(text::kinds::KINDS.iter().copied())
}

/// Every kind of every format, those that users declared included.
pub fn kinds() -> impl Iterator<Item = &'static event::Kind> {
    built_in_kinds().chain(declared::kinds())
}

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static event::Kind> {
    kinds().find(|k| k.name == name)
}
