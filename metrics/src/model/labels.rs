//! The labels of a series.

use std::sync::Arc;

/// Labels, sorted by name; no name twice; no empty value, which means the label is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Labels(Arc<[(Arc<str>, Arc<str>)]>);

impl Labels {
    /// Sorts, drops empty values. Of a name given twice the first stays; readers that must refuse those look before.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Labels {
        let mut kept: Vec<(Arc<str>, Arc<str>)> =
            pairs.into_iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| (k.into(), number(k, v))).collect();
        kept.sort_by(|a, b| a.0.cmp(&b.0));
        kept.dedup_by(|later, first| later.0 == first.0);
        Labels(kept.into())
    }

    /// Labels that [`Labels::iter`] gave, in their order.
    pub(crate) fn of_pairs(pairs: Vec<(Arc<str>, Arc<str>)>) -> Labels {
        Labels(pairs.into())
    }

    /// The value of a label.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.binary_search_by(|(k, _)| (**k).cmp(name)).ok().and_then(|i| self.0.get(i)).map(|(_, v)| &**v)
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (&**k, &**v))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same without some labels.
    pub fn without(&self, names: &[&str]) -> Labels {
        Labels(self.0.iter().filter(|(k, _)| !names.contains(&&**k)).cloned().collect())
    }
}

/// Bounds are compared as numbers: `le="1"` and `le="1.0"` are one bucket. Prometheus 3 writes `1.0`, 2.x what was served.
fn number(name: &str, value: &str) -> Arc<str> {
    if name != "le" && name != "quantile" {
        return value.into();
    }
    match value.parse::<f64>() {
        Ok(n) if n == f64::INFINITY => "+Inf".into(),
        Ok(n) if n.is_finite() => n.to_string().into(),
        _ => value.into(),
    }
}

impl std::fmt::Display for Labels {
    /// `{a="b",c="d"}` with `\`, `"` and line ends escaped; nothing for no labels.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        for (i, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}=\"", if i == 0 { '{' } else { ',' })?;
            for c in value.chars() {
                match c {
                    '\\' => f.write_str("\\\\")?,
                    '"' => f.write_str("\\\"")?,
                    '\n' => f.write_str("\\n")?,
                    c => write!(f, "{c}")?,
                }
            }
            f.write_str("\"")?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_sorted_and_an_empty_value_is_absent() {
        let labels = Labels::new([("b", "2"), ("a", "x\"y"), ("empty", "")]);
        assert_eq!(labels.to_string(), r#"{a="x\"y",b="2"}"#);
        assert_eq!(labels.get("b"), Some("2"));
        assert_eq!(labels.get("empty"), None);
        assert_eq!(Labels::default().to_string(), "");
    }

    #[test]
    fn bounds_are_numbers() {
        assert_eq!(Labels::new([("le", "1.0")]), Labels::new([("le", "1")]));
        assert_eq!(Labels::new([("le", "Inf")]).get("le"), Some("+Inf"));
        assert_eq!(Labels::new([("v", "1.0")]).get("v"), Some("1.0"), "other labels are text");
    }
}
