//! Series by family: which type, who says so, and which series belong together.

use std::collections::{BTreeMap, HashMap};

use crate::known;
use crate::model::{Capture, EndpointId, Family, Kind, Labels, Origin, SeriesId, Typed};

/// The families of a capture.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// By canonical name.
    pub families: Vec<Group>,
    /// Place of each series' family.
    of: Vec<usize>,
}

/// A family: series of one name, or of one histogram or summary.
#[derive(Clone, Debug)]
pub struct Group {
    /// Canonical name, without `_bucket`, `_sum`, `_count`.
    pub name: String,
    pub typed: Typed,
    pub help: Option<String>,
    pub unit: Option<String>,
    /// One for each endpoint and set of labels, `le` and `quantile` left out.
    pub members: Vec<Member>,
}

/// The series of one endpoint and one set of labels.
#[derive(Clone, Debug)]
pub struct Member {
    pub endpoint: EndpointId,
    /// Without `le` and `quantile`.
    pub labels: Labels,
    pub parts: Parts,
}

/// What a member is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Parts {
    /// A counter, a gauge, or what has no type.
    One(SeriesId),
    /// By upper bound; the last is `+Inf` where it is there.
    Histogram { buckets: Vec<(f64, SeriesId)>, sum: Option<SeriesId>, count: Option<SeriesId> },
    /// By quantile.
    Summary { quantiles: Vec<(f64, SeriesId)>, sum: Option<SeriesId>, count: Option<SeriesId> },
}

impl Parts {
    /// Every series.
    pub fn series(&self) -> Vec<SeriesId> {
        match self {
            Parts::One(id) => vec![*id],
            Parts::Histogram { buckets: by, sum, count } | Parts::Summary { quantiles: by, sum, count } => {
                by.iter().map(|(_, id)| *id).chain(*sum).chain(*count).collect()
            }
        }
    }
}

/// A family while its series are found: its type by name, if a name says it, and their roles.
type Found = (Option<Typed>, Vec<(SeriesId, Role)>);

/// What one series is of its family.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Value,
    Bucket(f64),
    Quantile(f64),
    Sum,
    Count,
}

impl Catalogue {
    /// Catalogues a capture. `siblings` is what other captures of the run say of families.
    pub fn new(capture: &Capture, siblings: &BTreeMap<String, Family>) -> Catalogue {
        let names = Names::new(capture, siblings);
        let mut groups: BTreeMap<String, Found> = BTreeMap::new();
        for (i, series) in capture.series.iter().enumerate() {
            let (family, typed, role) = names.place(series.name.canonical(), &series.labels);
            let group = groups.entry(family).or_default();
            group.0 = group.0.max_by_trust(typed);
            group.1.push((SeriesId(i as u32), role));
        }
        let mut catalogue = Catalogue { families: Vec::with_capacity(groups.len()), of: vec![0; capture.series.len()] };
        for (name, (typed, series)) in groups {
            for (id, _) in &series {
                if let Some(of) = catalogue.of.get_mut(id.0 as usize) {
                    *of = catalogue.families.len();
                }
            }
            let typed = typed.unwrap_or_else(|| inferred(capture, &series));
            let said = names.said(&name);
            catalogue.families.push(Group {
                help: said.and_then(|f| f.help.clone()),
                unit: said.and_then(|f| f.unit.clone()),
                members: members(capture, typed.kind, series),
                name,
                typed,
            });
        }
        catalogue
    }

    /// The family of a series.
    pub fn family(&self, series: SeriesId) -> Option<&Group> {
        self.of.get(series.0 as usize).and_then(|&i| self.families.get(i))
    }

    /// A family by its canonical name.
    pub fn named(&self, name: &str) -> Option<&Group> {
        self.families.binary_search_by(|g| g.name.as_str().cmp(name)).ok().and_then(|i| self.families.get(i))
    }
}

trait Trust {
    fn max_by_trust(self, other: Option<Typed>) -> Option<Typed>;
}

impl Trust for Option<Typed> {
    fn max_by_trust(self, other: Option<Typed>) -> Option<Typed> {
        match (self, other) {
            (Some(a), Some(b)) => Some(if b.origin > a.origin { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// What is known of names.
struct Names<'c> {
    capture: &'c BTreeMap<String, Family>,
    siblings: &'c BTreeMap<String, Family>,
    /// Bases that have `_bucket` series with bounds, and those that have quantiles.
    shaped: HashMap<String, Kind>,
}

impl<'c> Names<'c> {
    fn new(capture: &'c Capture, siblings: &'c BTreeMap<String, Family>) -> Names<'c> {
        let mut shaped = HashMap::new();
        for series in &capture.series {
            let name = series.name.canonical();
            if let Some(base) = name.strip_suffix("_bucket")
                && series.labels.get("le").is_some()
                && series.labels.get("gt").is_none()
            {
                shaped.insert(base.to_string(), Kind::Histogram);
            } else if series.labels.get("quantile").is_some() {
                shaped.entry(name.to_string()).or_insert(Kind::Summary);
            }
        }
        Names { capture: &capture.families, siblings, shaped }
    }

    fn said(&self, family: &str) -> Option<&Family> {
        let total = || format!("{family}_total");
        self.capture
            .get(family)
            .or_else(|| family.strip_suffix("_total").and_then(|base| self.capture.get(base)))
            .or_else(|| self.capture.get(&total()))
            .or_else(|| self.siblings.get(family))
    }

    /// Type of a family by name, with its origin; not by shape.
    fn typed(&self, family: &str) -> Option<Typed> {
        let of = |families: &BTreeMap<String, Family>| families.get(family).and_then(|f| f.kind).filter(|k| *k != Kind::Unknown);
        of(self.capture)
            .map(|kind| Typed { kind, origin: Origin::Declared })
            .or_else(|| known(family).map(|kind| Typed { kind, origin: Origin::Known }))
            .or_else(|| of(self.siblings).map(|kind| Typed { kind, origin: Origin::Sibling }))
    }

    /// Family, type and role of a series.
    fn place(&self, name: &str, labels: &Labels) -> (String, Option<Typed>, Role) {
        let bound = |label: &str| labels.get(label).and_then(|v| v.parse::<f64>().ok());
        if let Some(typed) = self.typed(name) {
            let role = match typed.kind {
                Kind::Histogram | Kind::GaugeHistogram => bound("le").map_or(Role::Value, Role::Bucket),
                Kind::Summary => bound("quantile").map_or(Role::Value, Role::Quantile),
                _ => Role::Value,
            };
            return (name.to_string(), Some(typed), role);
        }
        for (suffix, kinds) in [
            ("_bucket", &[Kind::Histogram, Kind::GaugeHistogram][..]),
            ("_sum", &[Kind::Histogram, Kind::Summary]),
            ("_gsum", &[Kind::GaugeHistogram]),
            ("_count", &[Kind::Histogram, Kind::Summary]),
            ("_gcount", &[Kind::GaugeHistogram]),
        ] {
            let Some(base) = name.strip_suffix(suffix) else { continue };
            let shape = || self.shaped.get(base).map(|kind| Typed { kind: *kind, origin: Origin::Suffix });
            let Some(typed) = self.typed(base).filter(|t| kinds.contains(&t.kind)).or_else(shape).filter(|t| kinds.contains(&t.kind))
            else {
                continue;
            };
            let role = match (suffix, bound("le")) {
                ("_bucket", Some(le)) => Role::Bucket(le),
                ("_bucket", None) => continue,
                ("_sum" | "_gsum", _) => Role::Sum,
                _ => Role::Count,
            };
            return (base.to_string(), Some(typed), role);
        }
        if self.shaped.get(name) == Some(&Kind::Summary) {
            let typed = Typed { kind: Kind::Summary, origin: Origin::Suffix };
            return (name.to_string(), Some(typed), bound("quantile").map_or(Role::Value, Role::Quantile));
        }
        // OpenMetrics names the family without the ending of its samples.
        for (suffix, kind) in [("_total", Kind::Counter), ("_info", Kind::Info), ("_created", Kind::Gauge)] {
            if let Some(base) = name.strip_suffix(suffix) {
                let declared = self.capture.get(base).and_then(|f| f.kind).is_some_and(|k| k == kind);
                let origin = if declared { Origin::Declared } else { Origin::Suffix };
                return (name.to_string(), Some(Typed { kind, origin }), Role::Value);
            }
        }
        (name.to_string(), None, Role::Value)
    }
}

/// The type that corr's table has for a family, also of a counter whose `_total` was cut.
fn known(family: &str) -> Option<Kind> {
    let cut = || known::kind(&format!("{family}_total")).filter(|k| *k == Kind::Counter);
    known::kind(family).or_else(cut)
}

/// The type by the values alone: a counter never falls but at resets, to less than half.
fn inferred(capture: &Capture, series: &[(SeriesId, Role)]) -> Typed {
    let mut moved = false;
    for (id, _) in series {
        let resets = capture.samples.falls(id.0).is_some_and(|falls| falls.iter().all(|f| f.after.value < f.before.value / 2.0));
        let (first, last) = (capture.samples.first(id.0), capture.samples.last(id.0));
        if !resets || first.is_some_and(|s| s.value < 0.0) {
            return Typed { kind: Kind::Gauge, origin: Origin::Inferred };
        }
        moved |= first.map(|s| s.value) != last.map(|s| s.value) || capture.samples.fall_count(id.0) > 0;
    }
    Typed { kind: if moved { Kind::Counter } else { Kind::Unknown }, origin: Origin::Inferred }
}

fn members(capture: &Capture, kind: Kind, series: Vec<(SeriesId, Role)>) -> Vec<Member> {
    let mut by_labels: BTreeMap<(EndpointId, Labels), Vec<(SeriesId, Role)>> = BTreeMap::new();
    for (id, role) in series {
        let Some(one) = capture.get(id) else { continue };
        let labels = match role {
            Role::Value => one.labels.clone(),
            _ => one.labels.without(&["le", "quantile"]),
        };
        by_labels.entry((one.endpoint, labels)).or_default().push((id, role));
    }
    let mut out = Vec::new();
    for ((endpoint, labels), parts) in by_labels {
        let whole = parts.iter().any(|(_, role)| *role != Role::Value);
        if whole && matches!(kind, Kind::Histogram | Kind::GaugeHistogram | Kind::Summary) {
            out.push(Member { endpoint, labels, parts: compound(kind, &parts) });
        } else {
            out.extend(parts.iter().map(|(id, _)| Member { endpoint, labels: labels.clone(), parts: Parts::One(*id) }));
        }
    }
    out
}

fn compound(kind: Kind, parts: &[(SeriesId, Role)]) -> Parts {
    let mut by: Vec<(f64, SeriesId)> = parts
        .iter()
        .filter_map(|(id, role)| match role {
            Role::Bucket(x) | Role::Quantile(x) => Some((*x, *id)),
            _ => None,
        })
        .collect();
    by.sort_by(|a, b| a.0.total_cmp(&b.0));
    let find = |wanted: Role| parts.iter().find(|(_, role)| *role == wanted).map(|(id, _)| *id);
    let (sum, count) = (find(Role::Sum), find(Role::Count));
    if kind == Kind::Summary { Parts::Summary { quantiles: by, sum, count } } else { Parts::Histogram { buckets: by, sum, count } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::{Clock, Precision, StampOf};

    /// Name, labels, values.
    type Rows<'t> = &'t [(&'t str, &'t [(&'t str, &'t str)], &'t [f64])];

    fn capture(rows: Rows<'_>, declared: &[(&str, Kind)]) -> Capture {
        let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
        let endpoint = builder.endpoint("e");
        for (name, labels, values) in rows {
            let id = builder.series(endpoint, name, &Labels::new(labels.iter().copied()), Precision::F64);
            for (at, value) in values.iter().enumerate() {
                builder.push(id, at as i64, *value);
            }
        }
        for (name, kind) in declared {
            builder.family(name).kind = Some(*kind);
        }
        builder.finish()
    }

    fn types(capture: &Capture) -> Vec<(String, Kind, Origin, usize)> {
        let catalogue = Catalogue::new(capture, &BTreeMap::new());
        catalogue.families.iter().map(|g| (g.name.clone(), g.typed.kind, g.typed.origin, g.members.len())).collect()
    }

    #[test]
    fn a_histogram_is_one_member_for_each_set_of_labels() {
        let capture = capture(
            &[
                ("h_bucket", &[("le", "1"), ("w", "a")], &[1.0]),
                ("h_bucket", &[("le", "+Inf"), ("w", "a")], &[2.0]),
                ("h_sum", &[("w", "a")], &[3.5]),
                ("h_count", &[("w", "a")], &[2.0]),
                ("h_bucket", &[("le", "+Inf"), ("w", "b")], &[0.0]),
                ("lonely_count", &[], &[1.0]),
            ],
            &[],
        );
        let catalogue = Catalogue::new(&capture, &BTreeMap::new());
        let h = catalogue.named("h").unwrap();
        assert_eq!((h.typed.kind, h.typed.origin, h.members.len()), (Kind::Histogram, Origin::Suffix, 2));
        let buckets = vec![(1.0, SeriesId(0)), (f64::INFINITY, SeriesId(1))];
        assert_eq!(h.members[0].parts, Parts::Histogram { buckets, sum: Some(SeriesId(2)), count: Some(SeriesId(3)) });
        assert_eq!(catalogue.family(SeriesId(2)).unwrap().name, "h");
        assert_eq!(catalogue.named("lonely_count").unwrap().typed.origin, Origin::Inferred, "no histogram of that name is here");
    }

    #[test]
    fn a_gauge_with_bounds_is_no_histogram() {
        let labels: &[(&str, &str)] = &[("gt", "0"), ("le", "1")];
        let capture = capture(&[("sglang:routing_key_running_req_count", labels, &[1.0, 0.0])], &[]);
        assert_eq!(types(&capture), [("sglang:routing_key_running_req_count".into(), Kind::Gauge, Origin::Known, 1)]);
    }

    #[test]
    fn the_declared_type_is_trusted_most() {
        let capture = capture(
            &[
                ("sglang_cached_tokens_total", &[], &[1.0]),
                ("own_total", &[], &[2.0, 1.0]),
                ("odd_total", &[], &[2.0, 1.0]),
                ("grows", &[], &[1.0, 2.0, 0.0, 5.0]),
                ("waves", &[], &[5.0, 4.0]),
                ("flat", &[], &[5.0, 5.0]),
            ],
            &[("own", Kind::Counter), ("odd_total", Kind::Gauge)],
        );
        let want = [
            ("flat", Kind::Unknown, Origin::Inferred),
            ("grows", Kind::Counter, Origin::Inferred),
            ("odd_total", Kind::Gauge, Origin::Declared),
            ("own_total", Kind::Counter, Origin::Declared),
            ("sglang:cached_tokens_total", Kind::Counter, Origin::Known),
            ("waves", Kind::Gauge, Origin::Inferred),
        ];
        assert_eq!(types(&capture), want.map(|(n, k, o)| (n.to_string(), k, o, 1)));
    }
}
