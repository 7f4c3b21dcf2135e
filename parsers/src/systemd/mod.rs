//! systemd's own messages: what PID 1 and journald say of a unit's life. Texts by version: README.md.

pub mod kinds;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::{head, is_unit, unit_of};

use crate::format::{Format, Meta, never_cut};

/// PID 1, user managers and journald.
pub static SYSTEMD: Format = Format {
    name: "systemd",
    about: "systemd's messages about units (PID 1) and journald's about the journal",
    shape: "`Started UNIT - …`, `UNIT: Main process exited, …` and the like",
    head: parse::head,
    cut: never_cut,
    parse: parse::parse,
    kinds: kinds::KINDS,
    samples: parse::SAMPLES,
};

/// Whether an envelope's entry is systemd's: `None` when the envelope does not name a writer.
///
/// Where it does, the writer decides and not the text: with description-only texts (`Started SGLang decode worker.`, the default of
/// v229 to v249) the text shows nothing, and a service may print `Started x.service - forged.` itself.
pub fn writes(meta: &Meta) -> Option<bool> {
    if meta.ident.is_empty() && meta.pid.is_none() {
        return None;
    }
    // `(python)` is the child between fork and exec, which still speaks for systemd.
    let child = meta.ident.starts_with('(') && meta.ident.ends_with(')');
    Some(meta.pid == Some(1) || child || meta.ident == "systemd" || meta.ident == "systemd-journald")
}
