//! Which pages of a column can hold a time? Their smallest and largest values say so without a page being read.

use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use super::rowset::RowSet;

/// Rows, of `len`, of the pages of a column of whole numbers (`column`: its place) of which `may_hold` says that they can hold a value, given their smallest and
/// largest. Pages without a value are left out; where the file does not say what a page holds, its rows are in.
pub fn rows(file: &ParquetMetaData, column: usize, len: usize, may_hold: impl Fn(i64, i64) -> bool) -> RowSet {
    let mut rows = RowSet::none(len);
    let mut from = 0usize;
    for (group, info) in file.row_groups().iter().enumerate() {
        let count = usize::try_from(info.num_rows()).unwrap_or(0);
        let end = from.saturating_add(count);
        let pages = file.offset_index().and_then(|index| index.get(group)?.get(column));
        let bounds = file.column_index().and_then(|index| index.get(group)?.get(column));
        match (pages, bounds) {
            (Some(pages), Some(ColumnIndexMetaData::INT64(bounds))) => {
                let pages = pages.page_locations();
                let mut start = from;
                for i in 0..pages.len() {
                    let next = pages.get(i + 1).map_or(count, |next| usize::try_from(next.first_row_index).unwrap_or(count).min(count));
                    let page = start..from.saturating_add(next);
                    start = page.end;
                    let said = (i as u64) < bounds.num_pages();
                    let wanted = !said
                        || !bounds.is_null_page(i)
                            && bounds.min_value(i).zip(bounds.max_value(i)).is_none_or(|(least, most)| may_hold(*least, *most));
                    if wanted {
                        rows.insert_all(page);
                    }
                }
            }
            _ => rows.insert_all(from..end),
        }
        from = end;
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};

    use super::*;

    #[test]
    fn pages_of_two_groups() {
        // Row n holds n; rows 8 to 11, one page, hold nothing.
        let values: Int64Array = (0..40).map(|n| (!(8..12).contains(&n)).then_some(n)).collect();
        let batch = RecordBatch::try_from_iter_with_nullable([("n", Arc::new(values) as ArrayRef, true)]).unwrap();
        let said = |statistics: EnabledStatistics| {
            let properties = WriterProperties::builder()
                .set_max_row_group_row_count(Some(24))
                .set_data_page_row_count_limit(4)
                .set_write_batch_size(4)
                .set_statistics_enabled(statistics)
                .build();
            let mut file = tempfile::tempfile().unwrap();
            let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
            let metadata = ArrowReaderMetadata::load(&file, options).unwrap();
            rows(metadata.metadata(), 0, 40, |least, most| least < 27 && most >= 6).iter().collect::<Vec<_>>()
        };
        assert_eq!(said(EnabledStatistics::Page), (4..8).chain(12..28).collect::<Vec<_>>());
        // A file that does not say what its pages hold leaves nothing out.
        assert_eq!(said(EnabledStatistics::None), (0..40).collect::<Vec<_>>());
    }
}
