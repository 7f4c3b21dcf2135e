//! The naive scheme that corr's index is measured against: each line is a tantivy document with its text stored, the default tokenizer, positions.

use std::path::Path;

use tantivy::schema::{STORED, Schema, TEXT};
use tantivy::{Index, TantivyDocument};

/// Indexes every line of `log` into `dir` with two threads and commits. Returns how many documents there are.
pub fn index(log: &Path, dir: &Path) -> anyhow::Result<u64> {
    let mut schema = Schema::builder();
    let text = schema.add_text_field("text", TEXT | STORED);
    std::fs::create_dir_all(dir)?;
    let index = Index::create_in_dir(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(2, 128 << 20)?;
    let mut lines = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(log)?);
    let mut line = Vec::new();
    let mut count = 0;
    loop {
        line.clear();
        if std::io::BufRead::read_until(&mut lines, b'\n', &mut line)? == 0 {
            break;
        }
        let mut document = TantivyDocument::default();
        document.add_text(text, String::from_utf8_lossy(&line).trim_end());
        writer.add_document(document)?;
        count += 1;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(count)
}
