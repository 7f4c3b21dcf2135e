//! What a family of series measures, and who says so.

/// The type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Only grows, until its process starts anew.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Cumulative buckets, sum and count.
    Histogram,
    /// Buckets of current values, which may fall.
    GaugeHistogram,
    /// Quantiles that the server computed, sum and count.
    Summary,
    /// Facts as labels; the value is 1.
    Info,
    /// One of several states.
    StateSet,
    /// Nothing says.
    Unknown,
}

/// Who says of what type a family is; the order is that of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The values alone: never falls but at resets.
    Inferred,
    /// The name's ending: `_total`, `_bucket`, `_created`.
    Suffix,
    /// Another capture of the run that has a TYPE line for it.
    Sibling,
    /// corr's table of SGLang and Dynamo metrics.
    Known,
    /// The capture itself: a TYPE line or a type column.
    Declared,
}

/// A type with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Typed {
    pub kind: Kind,
    pub origin: Origin,
}

impl Kind {
    /// As in a TYPE line.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::GaugeHistogram => "gaugehistogram",
            Kind::Summary => "summary",
            Kind::Info => "info",
            Kind::StateSet => "stateset",
            Kind::Unknown => "unknown",
        }
    }

    /// From the word of a TYPE line, a type column or a metadata API; `None` for words that name no type.
    pub fn from_word(word: &str) -> Option<Kind> {
        Some(match word {
            "counter" => Kind::Counter,
            "gauge" => Kind::Gauge,
            "histogram" => Kind::Histogram,
            "gaugehistogram" => Kind::GaugeHistogram,
            "summary" => Kind::Summary,
            "info" => Kind::Info,
            "stateset" => Kind::StateSet,
            "unknown" | "untyped" => Kind::Unknown,
            _ => return None,
        })
    }
}

impl Origin {
    /// For output.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Inferred => "inferred",
            Origin::Suffix => "by its name",
            Origin::Sibling => "from another capture",
            Origin::Known => "known",
            Origin::Declared => "declared",
        }
    }
}
