//! `journalctl` output: what an entry is in each `-o` mode. Sources, versions and traps: README.md.

pub mod binary;
mod cut;
mod export;
mod fields;
mod json;
mod pretty;
mod short;
mod stamps;
mod verbose;

#[cfg(test)]
mod tests;

pub use short::PRINTED_UNIT;

use crate::format::Envelope;
use short::{Column, Mode};

const ISO: Mode = Mode { stamp: stamps::iso, column: Column::Ident };
const ISO_PRECISE: Mode = Mode { stamp: stamps::iso_precise, column: Column::Ident };
const FULL: Mode = Mode { stamp: stamps::full, column: Column::IdentOrUnit };
const YEARLESS: Mode = Mode { stamp: stamps::yearless, column: Column::Ident };
const YEARLESS_PRECISE: Mode = Mode { stamp: stamps::yearless_precise, column: Column::Ident };
const UNIX: Mode = Mode { stamp: stamps::unix, column: Column::Ident };
const MONOTONIC: Mode = Mode { stamp: stamps::monotonic, column: Column::WithPid };
const DELTA: Mode = Mode { stamp: stamps::delta, column: Column::WithPid };

/// `-o export`: everything that journald knows, byte for byte.
pub static EXPORT: Envelope = Envelope {
    name: "journald-export",
    about: "journalctl -o export: all fields, exact bytes",
    shape: "field lists that begin with `__CURSOR=`",
    begins: export::begins,
    read: export::read,
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o json`, and `json-sse` and `json-seq`, which only put something before or between the objects.
pub static JSON: Envelope = Envelope {
    name: "journald-json",
    about: "journalctl -o json: one object a line; without --all, long messages are null",
    shape: "objects with `\"__REALTIME_TIMESTAMP\"`",
    begins: json::begins,
    read: json::read,
    least: 1,
    respells: true,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o json-pretty`.
pub static JSON_PRETTY: Envelope = Envelope {
    name: "journald-json-pretty",
    about: "journalctl -o json-pretty: as json, one field a line",
    shape: "objects of one field a line with `\"__REALTIME_TIMESTAMP\"`",
    begins: pretty::begins,
    read: pretty::read,
    least: 1,
    respells: true,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o verbose`.
pub static VERBOSE: Envelope = Envelope {
    name: "journald-verbose",
    about: "journalctl -o verbose: all fields as text; what is not printable is only a size",
    shape: "`Www YYYY-MM-DD HH:MM:SS.ffffff ZONE [CURSOR]` and indented fields",
    begins: verbose::begins,
    read: verbose::read,
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o short-iso`.
pub static SHORT_ISO: Envelope = Envelope {
    name: "journald-short-iso",
    about: "journalctl -o short-iso: whole seconds, numeric zone",
    shape: "`YYYY-MM-DDTHH:MM:SS+HHMM HOST IDENT[PID]: `",
    begins: |line| short::begins(line, ISO),
    read: |bytes, at, entry| short::read(bytes, at, entry, ISO),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o short-iso-precise`.
pub static SHORT_ISO_PRECISE: Envelope = Envelope {
    name: "journald-short-iso-precise",
    about: "journalctl -o short-iso-precise: microseconds, numeric zone",
    shape: "`YYYY-MM-DDTHH:MM:SS.ffffff+HH:MM HOST IDENT[PID]: `",
    begins: |line| short::begins(line, ISO_PRECISE),
    read: |bytes, at, entry| short::read(bytes, at, entry, ISO_PRECISE),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o with-unit`: the lines of `short-full` with the unit in the identifier's place.
pub static WITH_UNIT: Envelope = Envelope {
    name: "journald-with-unit",
    about: "journalctl -o with-unit: whole seconds, zone abbreviation; the unit in the identifier's place",
    shape: "`Www YYYY-MM-DD HH:MM:SS ZONE HOST UNIT[PID]: `",
    begins: |line| short::begins(line, FULL),
    read: |bytes, at, entry| short::read(bytes, at, entry, FULL),
    least: 1,
    respells: false,
    marks: Some(|sample| short::shows_units(sample, FULL)),
    cuts: true,
    yearless: false,
};

/// `-o short-full`, and what of `with-unit` shows no unit.
pub static SHORT_FULL: Envelope = Envelope {
    name: "journald-short-full",
    about: "journalctl -o short-full: whole seconds, zone abbreviation",
    shape: "`Www YYYY-MM-DD HH:MM:SS ZONE HOST IDENT[PID]: `",
    begins: |line| short::begins(line, FULL),
    read: |bytes, at, entry| short::read(bytes, at, entry, FULL),
    least: 1,
    respells: false,
    marks: Some(|sample| !short::shows_units(sample, FULL)),
    cuts: true,
    yearless: false,
};

/// `-o short`, the default of journalctl.
pub static SHORT: Envelope = Envelope {
    name: "journald-short",
    about: "journalctl's default: whole seconds, no year, no zone",
    shape: "`Mon DD HH:MM:SS HOST IDENT[PID]: `",
    begins: |line| short::begins(line, YEARLESS),
    read: |bytes, at, entry| short::read(bytes, at, entry, YEARLESS),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: true,
};

/// `-o short-precise`.
pub static SHORT_PRECISE: Envelope = Envelope {
    name: "journald-short-precise",
    about: "journalctl -o short-precise: microseconds, no year, no zone",
    shape: "`Mon DD HH:MM:SS.ffffff HOST IDENT[PID]: `",
    begins: |line| short::begins(line, YEARLESS_PRECISE),
    read: |bytes, at, entry| short::read(bytes, at, entry, YEARLESS_PRECISE),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: true,
};

/// `-o short-unix`.
pub static SHORT_UNIX: Envelope = Envelope {
    name: "journald-short-unix",
    about: "journalctl -o short-unix: microseconds since 1970",
    shape: "`SECONDS.ffffff HOST IDENT[PID]: `",
    begins: |line| short::begins(line, UNIX),
    read: |bytes, at, entry| short::read(bytes, at, entry, UNIX),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o short-monotonic`.
pub static SHORT_MONOTONIC: Envelope = Envelope {
    name: "journald-short-monotonic",
    about: "journalctl -o short-monotonic: microseconds since boot, no date",
    shape: "`[SECONDS.ffffff] HOST IDENT[PID]: `",
    begins: |line| short::begins(line, MONOTONIC),
    read: |bytes, at, entry| short::read(bytes, at, entry, MONOTONIC),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o short-delta`.
pub static SHORT_DELTA: Envelope = Envelope {
    name: "journald-short-delta",
    about: "journalctl -o short-delta: microseconds since boot and since the entry before, no date",
    shape: "`[SECONDS.ffffff <SECONDS.ffffff >] HOST IDENT[PID]: `",
    begins: |line| short::begins(line, DELTA),
    read: |bytes, at, entry| short::read(bytes, at, entry, DELTA),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};
