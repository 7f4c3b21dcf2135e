//! How far the clocks of captures are apart.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use crate::render::safe::terminal;

/// What the clock of `b` shows less what that of `a` shows, at one instant; nanoseconds.
pub struct ClockOffset {
    pub a: String,
    pub b: String,
    pub low: i64,
    pub high: i64,
    /// So many of so many comparisons agree; `None` where the rule cannot check itself.
    pub holds: Option<(u64, u64)>,
    pub how: String,
    pub notes: Vec<String>,
}

impl ClockOffset {
    /// A sentence, and a line for each note.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let seconds = |ns: i64| format!("{:.3} s", ns as f64 / 1e9);
        let holds = self.holds.map_or_else(String::new, |(n, of)| format!("; holds for {n} of {of}"));
        writeln!(
            out,
            "clock of {} less that of {}: between {} and {} ({}{holds})",
            terminal(&self.b),
            terminal(&self.a),
            seconds(self.low),
            seconds(self.high),
            terminal(&self.how)
        )?;
        for note in &self.notes {
            writeln!(out, "  {}", terminal(note))?;
        }
        Ok(())
    }

    /// The same for JSON.
    pub fn json(&self) -> Json {
        json!({
            "a": self.a,
            "b": self.b,
            "low_ns": self.low,
            "high_ns": self.high,
            "holds": self.holds.map(|h| h.0),
            "of": self.holds.map(|h| h.1),
            "how": self.how,
            "notes": self.notes,
        })
    }
}
