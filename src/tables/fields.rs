//! Columns that come of the fields of records.

use super::columns::{EVENT, FIELDS};
use crate::metrics::units;

/// A field's column in SQL: its name, with one `_` more behind it where that, without the `_` at its end, is a column of every event: no two fields
/// have one column. Letter case and dots stay: such names are quoted in a question.
pub fn column(field: &str) -> String {
    let bare = field.trim_end_matches('_');
    let fixed = bare == FIELDS.name || EVENT.iter().any(|c| c.name == bare);
    if fixed || field.starts_with('_') { format!("{field}_") } else { field.to_string() }
}

/// The unit of a field, by its name; empty where that says none.
pub fn unit(field: &str) -> &'static str {
    units::of_name(field).map_or("", |unit| unit.word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_never_takes_the_name_of_a_fixed_column() {
        assert_eq!(column("cached_tokens"), "cached_tokens");
        assert_eq!(column("worker"), "worker_");
        assert_eq!(column("fields"), "fields_");
        assert_eq!(column("_x"), "_x_");
        assert_eq!(column("worker_"), "worker__");
        assert_eq!(column("other_"), "other_");
        assert_eq!(unit("ttft_ms"), "milliseconds");
        assert_eq!(unit("gen_throughput"), "tokens per second");
        assert_eq!(unit("rid"), "");
    }

    #[test]
    fn no_kind_is_called_as_a_table() {
        for kind in corr_parsers::built_in_kinds() {
            assert!(super::super::Table::named(kind.name).is_none(), "{}", kind.name);
        }
    }
}
