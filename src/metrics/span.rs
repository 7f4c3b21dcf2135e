//! A window of UTC on the clock of a capture.

use corr_metrics::window::Window;

use super::asked::Captured;

/// A stretch of UTC, in nanoseconds; `None` is without an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub since: Option<i64>,
    pub until: Option<i64>,
}

/// A window on a capture's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    pub window: Window,
    /// What the window can be instead, if it is not known exactly where it lies.
    pub error: Option<Slack>,
    pub coverage: Coverage,
}

/// The windows that a window lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slack {
    /// Nanoseconds by which each edge can be off.
    pub by: i64,
    /// Surely inside; `None` if nothing surely is.
    pub inner: Option<Window>,
    /// Surely around.
    pub outer: Window,
}

/// How the samples of a capture lie to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// From its start to its end.
    Whole,
    /// The capture begins or ends inside it, by so many nanoseconds.
    Part { late: i64, early: i64 },
    /// Nothing of it.
    Outside,
}

impl Coverage {
    /// For JSON.
    pub fn word(self) -> &'static str {
        match self {
            Coverage::Whole => "whole",
            Coverage::Part { .. } => "part",
            Coverage::Outside => "outside",
        }
    }
}

/// Why a window cannot be laid on a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    #[error("its clock counts from its own start, and where that lies is unknown")]
    NoWallClock,
    #[error("it has no samples")]
    Empty,
}

impl Span {
    /// The window as times of the capture's own clock.
    pub fn on_own(self, captured: &Captured<'_>) -> Result<Placed, Misplaced> {
        self.laid(captured, (0, 0))
    }

    /// The window on the capture's clock; open ends are the capture's own.
    pub fn on(self, captured: &Captured<'_>) -> Result<Placed, Misplaced> {
        let clock = match captured.dial().to_utc() {
            Some(known) => known,
            None if self == Span::default() => (0, 0),
            None => return Err(Misplaced::NoWallClock),
        };
        self.laid(captured, clock)
    }

    /// On a clock whose zero lies `offset` nanoseconds after that of the span, give or take `error`.
    fn laid(self, captured: &Captured<'_>, (offset, error): (i64, i64)) -> Result<Placed, Misplaced> {
        let (first, last) = captured.extent().ok_or(Misplaced::Empty)?;
        let from = self.since.map_or(first, |at| at.saturating_sub(offset));
        let to = self.until.map_or(last, |at| at.saturating_sub(offset));
        let window = Window::new(from, to).or_else(|| Window::new(from.min(to), from.max(to))).ok_or(Misplaced::Empty)?;
        let slack = |by: i64| {
            let (in_from, out_from) = if self.since.is_some() { (from.saturating_add(by), from.saturating_sub(by)) } else { (from, from) };
            let (in_to, out_to) = if self.until.is_some() { (to.saturating_sub(by), to.saturating_add(by)) } else { (to, to) };
            Window::new(out_from, out_to).map(|outer| Slack { by, inner: Window::new(in_from, in_to), outer })
        };
        let coverage = if last < from || first > to {
            Coverage::Outside
        } else if first <= from && last >= to {
            Coverage::Whole
        } else {
            Coverage::Part { late: first.saturating_sub(from).max(0), early: to.saturating_sub(last).max(0) }
        };
        Ok(Placed { window, error: if error > 0 { slack(error) } else { None }, coverage })
    }
}
