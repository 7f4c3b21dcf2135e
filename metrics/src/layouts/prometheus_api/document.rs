//! One answer of the HTTP API: what it holds, walked through once; damage ends the walk and keeps what stood before it.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::text::seconds;

/// Labels of a series as they stand, `__name__` among them.
pub(super) type Metric = Vec<(String, String)>;

/// Points of a series.
pub(super) struct Points<'p> {
    pub metric: &'p Metric,
    pub at: &'p [i64],
    pub values: &'p [f64],
}

impl Points<'_> {
    /// Stamps with values.
    pub(super) fn all(&self) -> Vec<(i64, f64)> {
        self.at.iter().copied().zip(self.values.iter().copied()).collect()
    }
}

/// What an answer holds beside its points.
#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    pub step: Option<String>,
    /// `start` and `end` of a range query stand there.
    pub range: bool,
    /// The points came as lists (`values`), not one a series (`value`).
    pub lists: bool,
    pub vectors: bool,
    /// The questions that are stored with the answers.
    pub queries: BTreeSet<String>,
    /// Elements of a `data` that is a list: exemplars, series, metadata of targets.
    pub items: Vec<&'a RawValue>,
    pub targets: Vec<&'a RawValue>,
    /// Metadata: family and what is said of it.
    pub families: Vec<(String, &'a RawValue)>,
    /// How many series there are.
    pub series: u64,
    pub odd: Odd,
}

/// The question of an answer, and what was wrong with it.
#[derive(Debug, Default)]
pub(super) struct Odd {
    /// Where whoever stored the answer kept it; `None` where there are several.
    pub query: Option<String>,
    /// The API's own error.
    pub error: Option<String>,
    pub warnings: Vec<String>,
    /// Points and series that are no such thing.
    pub points: u64,
    pub series: u64,
    /// Series of native histograms, which have no one value.
    pub native: u64,
    /// A query that found no series.
    pub empty: bool,
    /// Why the document breaks off.
    pub damage: Option<String>,
}

/// Walks through an answer, or several one after another, and gives each series' points to `each`.
pub(super) fn walk<'a>(bytes: &'a [u8], each: &mut dyn FnMut(Points<'_>)) -> Contents<'a> {
    let mut state = State { contents: Contents::default(), each, metric: None, at: Vec::new(), values: Vec::new() };
    let mut input = serde_json::Deserializer::from_slice(bytes);
    // A script may have written one answer after another.
    loop {
        if let Err(e) = Top(&mut state).deserialize(&mut input) {
            state.flush();
            state.contents.odd.damage = Some(e.to_string());
            break;
        }
        if input.end().is_ok() {
            break;
        }
    }
    if state.contents.queries.len() < 2 {
        state.contents.odd.query = state.contents.queries.first().cloned();
    }
    state.contents
}

struct State<'a, 'e> {
    contents: Contents<'a>,
    each: &'e mut dyn FnMut(Points<'_>),
    metric: Option<Metric>,
    at: Vec<i64>,
    values: Vec<f64>,
}

impl State<'_, '_> {
    /// Hands over the series that was read, whole or cut.
    fn flush(&mut self) {
        if let Some(metric) = self.metric.take() {
            self.contents.series += 1;
            (self.each)(Points { metric: &metric, at: &self.at, values: &self.values });
        } else {
            self.contents.odd.points += self.at.len() as u64;
        }
        self.at.clear();
        self.values.clear();
    }

    fn point(&mut self, raw: &str) {
        match point(raw) {
            Some((at, value)) => {
                self.at.push(at);
                self.values.push(value);
            }
            None => self.contents.odd.points += 1,
        }
    }
}

/// `[1795976926.574, "7"]`: the stamp is read as text; values of some proxies are bare numbers.
pub(super) fn point(raw: &str) -> Option<(i64, f64)> {
    let (at, value) = raw.trim().strip_prefix('[')?.strip_suffix(']')?.split_once(',')?;
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
    Some((seconds(at.trim())?, value.parse().ok()?))
}

/// Labels of a series; `None` where one is no text.
pub(super) fn metric(raw: &str) -> Option<Metric> {
    let mut input = serde_json::Deserializer::from_str(raw);
    input.deserialize_map(Pairs).ok()
}

/// An object of texts.
struct Pairs;

impl<'a> Visitor<'a> for Pairs {
    type Value = Metric;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut input: A) -> Result<Metric, A::Error> {
        let mut out = Metric::new();
        while let Some(pair) = input.next_entry()? {
            out.push(pair);
        }
        Ok(out)
    }
}

/// A scalar as text: a string without its quotes.
fn scalar(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_string())
}

/// The outermost object, or the answer inside what a script wrapped around it.
struct Top<'s, 'a, 'e>(&'s mut State<'a, 'e>);

/// `data`: a result, targets, metadata, or a list.
struct Data<'s, 'a, 'e>(&'s mut State<'a, 'e>);

/// `result`: series, or a scalar point.
struct Results<'s, 'a, 'e>(&'s mut State<'a, 'e>);

/// A series with its points.
struct Series<'s, 'a, 'e>(&'s mut State<'a, 'e>);

/// `values` of a series.
struct Values<'s, 'a, 'e>(&'s mut State<'a, 'e>);

/// A list whose elements are kept as they stand.
struct Kept<'s, 'a>(&'s mut Vec<&'a RawValue>);

macro_rules! seed {
    ($($name:ident),*) => {$(
        impl<'a> DeserializeSeed<'a> for $name<'_, 'a, '_> {
            type Value = ();
            fn deserialize<D: Deserializer<'a>>(self, input: D) -> Result<(), D::Error> {
                input.deserialize_any(self)
            }
        }
    )*};
}
seed!(Top, Data, Results, Values);

impl<'a> Visitor<'a> for Top<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer of the Prometheus HTTP API")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        let state = self.0;
        while let Some(key) = input.next_key::<String>()? {
            match key.as_str() {
                "data" => input.next_value_seed(Data(state))?,
                "response" => input.next_value_seed(Top(state))?,
                "result" => input.next_value_seed(Results(state))?,
                _ => {
                    let value = input.next_value::<&RawValue>()?;
                    let contents = &mut state.contents;
                    match key.as_str() {
                        "query" => {
                            contents.queries.insert(scalar(value));
                        }
                        "step" => contents.step = Some(scalar(value)),
                        "start" | "end" => contents.range = true,
                        "error" | "errorType" if value.get() != "null" => {
                            let text = scalar(value);
                            match &mut contents.odd.error {
                                Some(error) => *error = format!("{error}: {text}"),
                                None => contents.odd.error = Some(text),
                            }
                        }
                        "warnings" | "infos" => {
                            contents.odd.warnings.extend(serde_json::from_str::<Vec<String>>(value.get()).unwrap_or_default());
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'a> Visitor<'a> for Data<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("data of an answer")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, input: A) -> Result<(), A::Error> {
        Kept(&mut self.0.contents.items).visit_seq(input)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        let state = self.0;
        while let Some(key) = input.next_key::<String>()? {
            match key.as_str() {
                "result" => input.next_value_seed(Results(state))?,
                "activeTargets" => input.next_value_seed(Kept(&mut state.contents.targets))?,
                _ => {
                    let value = input.next_value::<&RawValue>()?;
                    if value.get().starts_with('[') {
                        state.contents.families.push((key, value));
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'a> Visitor<'a> for Results<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of series")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        // A scalar is one point without a series: its two parts come as elements, and count as bad.
        while input.next_element_seed(Element(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// An element of `result`: a series; anything else is counted as bad.
struct Element<'s, 'a, 'e>(&'s mut State<'a, 'e>);
seed!(Element);

impl<'a> Visitor<'a> for Element<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a series")
    }

    fn visit_map<A: MapAccess<'a>>(self, input: A) -> Result<(), A::Error> {
        Series(self.0).visit_map(input)
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        self.0.contents.odd.series += 1;
        while input.next_element::<&RawValue>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.contents.odd.series += 1;
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.visit_bool(true)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.visit_bool(true)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.visit_bool(true)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.visit_bool(true)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.visit_bool(true)
    }
}

impl<'a> Visitor<'a> for Series<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a series")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        let state = self.0;
        while let Some(key) = input.next_key::<String>()? {
            match key.as_str() {
                "values" => {
                    state.contents.lists = true;
                    input.next_value_seed(Values(state))?;
                }
                _ => {
                    let value = input.next_value::<&RawValue>()?;
                    match key.as_str() {
                        "metric" => state.metric = metric(value.get()),
                        "value" => {
                            state.contents.vectors = true;
                            state.point(value.get());
                        }
                        "histogram" | "histograms" => state.contents.odd.native += 1,
                        _ => {}
                    }
                }
            }
        }
        if state.metric.is_none() {
            state.contents.odd.series += 1;
        }
        state.flush();
        Ok(())
    }
}

impl<'a> Visitor<'a> for Values<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of points")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        while let Some(raw) = input.next_element::<&RawValue>()? {
            self.0.point(raw.get());
        }
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for Kept<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Kept<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut input: A) -> Result<(), A::Error> {
        while let Some(raw) = input.next_element()? {
            self.0.push(raw);
        }
        Ok(())
    }
}

/// For the rest of this layout: an object of an answer that is kept as it stands.
pub(super) fn object<T: serde::de::DeserializeOwned>(raw: &RawValue) -> Result<T, serde_json::Error> {
    serde_json::from_str(raw.get())
        .map_err(|e| serde_json::Error::custom(format!("{e} in {}", raw.get().chars().take(60).collect::<String>())))
}
