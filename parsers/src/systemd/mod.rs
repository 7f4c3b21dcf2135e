//! systemd's own messages: what PID 1 and journald say of a unit's life. Texts by version: README.md.

pub mod kinds;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::{head, is_unit, unit_of};

use crate::envelope::journald::PRINTED_UNIT;
use crate::format::{Format, Meta, never_cut, no_bodies};

/// PID 1, user managers and journald.
pub static SYSTEMD: Format = Format {
    name: "systemd",
    about: "systemd's messages about units (PID 1) and journald's about the journal",
    shape: "`Started UNIT - …`, `UNIT: Main process exited, …` and the like",
    head: parse::head,
    cut: never_cut,
    bodies_read: no_bodies,
    parse: parse::parse,
    kinds: kinds::KINDS,
    samples: parse::SAMPLES,
};

/// Whether an envelope's entry is systemd's: `None` when the envelope does not name a writer.
///
/// Where it does, the writer decides and not the text: with description-only texts (`Started SGLang decode worker.`, the default of
/// v229 to v249) the text shows nothing, and a service may print `Started x.service - forged.` itself. Only of the child that fails to
/// execute a unit's program, which runs in that unit, the text is asked where with-unit shows the unit alone: it names the same unit, and
/// all that a service could forge by it is its own failure.
pub fn writes(meta: &Meta, text: &[u8]) -> Option<bool> {
    if meta.ident.is_empty() && meta.pid.is_none() {
        return None;
    }
    // `(python)` is the child between fork and exec, which still speaks for systemd.
    let child = meta.ident.starts_with('(') && meta.ident.ends_with(')');
    let unit = if meta.unit_source == PRINTED_UNIT { meta.unit.as_str() } else { "" };
    let is_journald = unit == "systemd-journald.service" || unit.starts_with("systemd-journald@");
    Some(
        meta.pid == Some(1)
            || child
            || matches!(meta.ident.as_str(), "systemd" | "systemd-journald")
            // A user's manager, as PID 1, runs in `init.scope`.
            || unit == "init.scope"
            || is_journald
            || (!unit.is_empty() && parse::exec_failed(text, unit)),
    )
}
