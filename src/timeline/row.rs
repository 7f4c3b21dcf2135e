//! A row of a timeline: one event, the same event several times, or a run of lines of one kind.

use crate::render::shown::Shown;

use super::kinds::Mark;

/// How many events a row stands for, and how alike they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    /// One event.
    No,
    /// Events of one kind with one message.
    Repeats,
    /// Events of one kind, of which the row says the least and the greatest of each number.
    Run,
}

impl Folded {
    /// The word in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Folded::No => "event",
            Folded::Repeats => "repeats",
            Folded::Run => "run",
        }
    }
}

/// Of a row that is no event but was worked out from records: how well its instant is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its record says it and was written then.
    Exact,
    /// It had happened by its record.
    By,
    /// Between its two records.
    Within,
    /// From its one record to the other: it lasted.
    Lasting,
}

impl Known {
    /// The word in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Known::Exact => "exact",
            Known::By => "by",
            Known::Within => "within",
            Known::Lasting => "lasting",
        }
    }

    /// The word in a row's status, where its time does not say it.
    fn word(self) -> &'static str {
        match self {
            Known::Exact | Known::Lasting => "",
            Known::By => "upper bound",
            Known::Within => "interval",
        }
    }
}

/// How well a row's place among the rows of other sources is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// No row of another source overlaps it.
    Known,
    /// The stamp of a row of another source overlaps its own: which came first is not known.
    Unknown,
    /// It has no stamp: it stands where the stamped event before it in its source stands.
    Unstamped,
    /// The zone of its stamp was assumed, and other sources are shown.
    ZoneAssumed,
}

impl Order {
    /// The words in every output; nothing where the order is known.
    pub fn words(self) -> &'static str {
        match self {
            Order::Known => "",
            Order::Unknown => "order unknown",
            Order::Unstamped => "no stamp",
            Order::ZoneAssumed => "zone assumed",
        }
    }
}

/// The least and the greatest of a number over the events of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    pub name: String,
    pub min: serde_json::Number,
    pub max: serde_json::Number,
    /// Events that have it.
    pub count: u64,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its event, or the first of them.
    pub first: Shown,
    /// The last of them, if there are several.
    pub last: Option<Box<Shown>>,
    pub count: u64,
    pub folded: Folded,
    /// What a run's lines are, beside their kind: `of health probes`.
    pub of: &'static str,
    pub ranges: Vec<Range>,
    pub mark: Option<Mark>,
    pub order: Order,
    /// Place of its first event in the order of time.
    pub number: u64,
    /// It is no event: `first` and `last` are the records that it was worked out from, and `count` is 0.
    pub known: Option<Known>,
}

impl Row {
    /// One event.
    pub fn new(event: Shown, number: u64, of: &'static str, mark: Option<Mark>) -> Row {
        Row {
            first: event,
            last: None,
            count: 1,
            folded: Folded::No,
            of,
            ranges: Vec::new(),
            mark,
            order: Order::Known,
            number,
            known: None,
        }
    }

    /// What was worked out from a record, or from two.
    pub fn derived(known: Known, mark: Mark, first: Shown, last: Option<Shown>) -> Row {
        let last = last.map(Box::new);
        Row { last, count: 0, known: Some(known), ..Row::new(first, 0, "", Some(mark)) }
    }

    /// When it began, as far as is known, UTC ns half open: of a bound the open side is endless. `None` without a stamp.
    pub fn interval(&self) -> Option<(i64, i64)> {
        let first = self.first.stamp;
        let last = self.last.as_ref().and_then(|last| last.stamp);
        Some(match self.known {
            None | Some(Known::Exact | Known::Lasting) => (first?.start, first?.end),
            Some(Known::By) => (i64::MIN, first?.end),
            Some(Known::Within) => (first?.start, last?.end.max(first?.end)),
        })
    }

    /// The status in words: mark, level, order.
    pub fn status(&self) -> String {
        let level = self.first.level.filter(|l| matches!(*l, "warn" | "error" | "fatal"));
        // That a zone was assumed the time itself says, by its `?`.
        let order = if self.order == Order::ZoneAssumed { "" } else { self.order.words() };
        let known = self.known.map_or("", Known::word);
        let parts = [self.mark.map_or("", Mark::name), known, level.unwrap_or(""), order];
        parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(", ")
    }

    /// `path:line`, or of several events that of the first and of the last.
    pub fn citation(&self) -> String {
        match &self.last {
            None => self.first.locator(),
            Some(last) if last.locator() == self.first.locator() => last.locator(),
            Some(last) => format!("{} … {}", self.first.locator(), last.locator()),
        }
    }

    /// What happened, on one line and whole.
    pub fn words(&self) -> String {
        match self.folded {
            Folded::No => self.first.brief(),
            Folded::Repeats => format!("×{} {}", self.count, self.first.brief()),
            Folded::Run => {
                let of = if self.of.is_empty() { String::new() } else { format!(" {}", self.of) };
                let mut text = format!("{} lines{of}", crate::render::number::grouped(self.count));
                for (i, range) in self.ranges.iter().enumerate() {
                    text.push_str(if i == 0 { ": " } else { ", " });
                    text.push_str(&range.words());
                }
                text
            }
        }
    }
}

impl Range {
    /// `token_usage 0.1..0.9`, or the one value that all have.
    pub fn words(&self) -> String {
        if self.min == self.max { format!("{} {}", self.name, self.min) } else { format!("{} {}..{}", self.name, self.min, self.max) }
    }
}
