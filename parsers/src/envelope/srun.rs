//! `srun -l`: the number of the task that wrote the line.

use super::{digits, every_line, keep};
use crate::format::{Entry, Envelope};

/// `3: line`, `08: line`.
pub static SRUN: Envelope = Envelope {
    name: "srun",
    about: "srun -l: the task's number before every line",
    shape: "`TASK: ` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, labelled),
    // A numbered list looks like it.
    least: 20,
    respells: false,
    marks: None,
    cuts: false,
    yearless: false,
};

fn labelled(line: &[u8], entry: &mut Entry) -> Option<()> {
    // Zeros or, in some releases, blanks before the number make all labels of one width.
    let padding = line.iter().take(6).take_while(|b| **b == b' ').count();
    let rest = &line[padding..];
    let len = digits(rest, 7);
    if len == 0 || len > 6 || rest.get(len) != Some(&b':') {
        return None;
    }
    let text = match rest.get(len + 1) {
        None => &[][..],
        Some(b' ') => &rest[len + 2..],
        Some(_) => return None,
    };
    let zeros = rest[..len - 1].iter().take_while(|b| **b == b'0').count();
    keep(entry, "task", &rest[zeros..len]);
    entry.text.extend_from_slice(text);
    Some(())
}
