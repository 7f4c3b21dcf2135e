//! `journalctl` output: what an entry is in each `-o` mode. Sources, versions and traps: README.md.

mod cut;
mod export;
mod fields;
mod json;
mod short;
mod stamps;

#[cfg(test)]
mod tests;

use crate::format::Envelope;

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

/// `-o short-iso`.
pub static SHORT_ISO: Envelope = Envelope {
    name: "journald-short-iso",
    about: "journalctl -o short-iso: whole seconds, numeric zone",
    shape: "`YYYY-MM-DDTHH:MM:SS+HHMM HOST IDENT[PID]: `",
    begins: |line| short::begins(line, stamps::iso),
    read: |bytes, at, entry| short::read(bytes, at, entry, stamps::iso),
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
    begins: |line| short::begins(line, stamps::iso_precise),
    read: |bytes, at, entry| short::read(bytes, at, entry, stamps::iso_precise),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o short-full`.
pub static SHORT_FULL: Envelope = Envelope {
    name: "journald-short-full",
    about: "journalctl -o short-full: whole seconds, zone abbreviation",
    shape: "`Www YYYY-MM-DD HH:MM:SS ZONE HOST IDENT[PID]: `",
    begins: |line| short::begins(line, stamps::full),
    read: |bytes, at, entry| short::read(bytes, at, entry, stamps::full),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `-o short`, the default of journalctl.
pub static SHORT: Envelope = Envelope {
    name: "journald-short",
    about: "journalctl's default: whole seconds, no year, no zone",
    shape: "`Mon DD HH:MM:SS HOST IDENT[PID]: `",
    begins: |line| short::begins(line, stamps::yearless),
    read: |bytes, at, entry| short::read(bytes, at, entry, stamps::yearless),
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
    begins: |line| short::begins(line, stamps::yearless_precise),
    read: |bytes, at, entry| short::read(bytes, at, entry, stamps::yearless_precise),
    least: 1,
    respells: false,
    marks: None,
    cuts: true,
    yearless: true,
};
