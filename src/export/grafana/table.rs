//! The panels that a dashboard may have.

use serde::Deserialize;

/// A panel of `panels.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    pub row: String,
    pub title: String,
    pub show: Show,
    pub unit: String,
    pub families: Vec<String>,
    #[serde(default)]
    pub split: Vec<String>,
    /// Not where the run has this family.
    pub unless: Option<String>,
}

/// What a panel shows of its families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    Gauge,
    Rate,
    Quantiles,
    Occupied,
}

#[derive(Deserialize)]
struct Table {
    panel: Vec<Panel>,
}

/// All of them, in their order.
///
/// # Errors
/// If the table that was built in is none: a test reads it.
pub fn panels() -> Result<Vec<Panel>, toml::de::Error> {
    Ok(toml::from_str::<Table>(include_str!("panels.toml"))?.panel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corr_metrics::known;
    use corr_metrics::model::Kind;

    #[test]
    fn families_are_known_and_of_the_type_that_their_panel_shows() {
        for panel in panels().expect("the table") {
            assert!(!panel.families.is_empty(), "{}", panel.title);
            for family in &panel.families {
                assert!(known::families().any(|known| known == family), "{}: no family {family}", panel.title);
                let fits = match panel.show {
                    Show::Gauge | Show::Occupied => Some(Kind::Gauge),
                    Show::Rate => Some(Kind::Counter),
                    Show::Quantiles => Some(Kind::Histogram),
                };
                // Of those that differ between versions a run says what they are.
                let kind = known::kind(family);
                assert!(kind.is_none() || kind == fits, "{}: {family} is {kind:?}", panel.title);
            }
            assert_eq!(panel.show == Show::Occupied, panel.show == Show::Occupied && panel.families.len() == 2);
        }
    }
}
